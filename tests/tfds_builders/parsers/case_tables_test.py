# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mammograms by tables of cases."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import case_tables
from tfds_builders.parsers import fixtures

_IMAGE = fixtures.jpeg((4, 4, 1), 0)
_ARGS = {"tables": {"calc_train.csv": "train", "mass_train.csv": "train", "calc_test.csv": "test"},
         "info": "dicom_info.csv"}
_HEAD = "patient_id,pathology,image file path\n"
_CALC, _MASS, _TEST = ("Calc-Training_P_00005_LEFT_CC", "Mass-Training_P_00005_RIGHT_MLO",
                       "Calc-Test_P_00007_LEFT_CC")
_INFO = ("file_path,image_path,PatientID\n"
         f"x,CBIS-DDSM/jpeg/1.9/1-1.jpg,{_MASS}\n"
         f"x,CBIS-DDSM/jpeg/1.8/1-1.jpg,{_CALC}_1\n"
         f"x,CBIS-DDSM/jpeg/1.7/1-2.jpg,{_CALC}\n"
         f"x,CBIS-DDSM/jpeg/1.6/1-1.jpg,{_TEST}\n")


def _members(**changes):
  members = {
      "csv/calc_train.csv": f"{_HEAD}P_5,BENIGN,{_CALC}/1/2/0.dcm\nP_5,MALIGNANT,{_CALC}/1/2/0.dcm",
      "csv/mass_train.csv": f'{_HEAD}P_5,MALIGNANT,"{_MASS}/1/2/0.dcm\n"\n',
      "csv/calc_test.csv": f"{_HEAD}P_7,BENIGN_WITHOUT_CALLBACK,{_TEST}/1/2/0.dcm\n",
      "csv/dicom_info.csv": _INFO, "csv/meta.csv": "not read"}
  members.update({f"jpeg/{name}.jpg": _IMAGE for name in ("1.6/1-1", "1.7/1-2", "1.9/1-1")})
  members["jpeg/1.8/1-1.jpg"] = b"a crop, not read"
  members.update(changes)
  return {name: data.encode() if isinstance(data, str) else data
          for name, data in members.items() if data is not None}


def _parse(tmp_path, members, **args):
  fixtures.write_archive(tmp_path / "a.zip", members)
  return list(case_tables.parse({"a.zip": tmp_path / "a.zip"}, **{**_ARGS, **args}))


def test_an_image_has_its_first_pathology_in_the_order_of_the_tables(tmp_path):
  found = _parse(tmp_path, _members())
  assert [(e.split, e.key, e.label, e.group) for e in found] == [
      ("train", "1.7/1-2", "BENIGN", "P_00005"), ("train", "1.9/1-1", "MALIGNANT", "P_00005"),
      ("test", "1.6/1-1", "BENIGN_WITHOUT_CALLBACK", "P_00007")]
  assert all(e.image == _IMAGE for e in found)


def test_the_order_does_not_depend_on_the_archive_nor_on_batches(tmp_path, monkeypatch):
  monkeypatch.setattr(case_tables, "_AT_ONCE", 1)
  members = dict(reversed(list(_members().items())))
  assert [e.key for e in _parse(tmp_path, members)] == ["1.7/1-2", "1.9/1-1", "1.6/1-1"]


@pytest.mark.parametrize("changes, message", [
    ({"jpeg/1.7/1-2.jpg": None}, r"images that the tables name are missing, such as \['1.7/1-2.jp"),
    ({"copy/jpeg/1.7/1-2.jpg": _IMAGE}, "holds '1.7/1-2.jpg' twice"),
    ({"csv/dicom_info.csv": _INFO.replace(_TEST, "?")}, "no image of 1 cases, such as .'Calc-Test"),
    ({"csv/calc_test.csv": "patient_id,pathology\n"}, r"not \['image file path'\]"),
    ({"csv/calc_test.csv": f"{_HEAD}P_7,,{_TEST}/1/2/0.dcm\n"}, "record 1 is incomplete"),
    ({"csv/calc_test.csv": f"{_HEAD}P_7,BENIGN,x/1/2/0.dcm\n"}, "has a case 'x'; PREFIX_P_NUMBER"),
    ({"csv/calc_test.csv": None}, r"are missing the lists \['calc_test.csv'\]"),
])
def test_incomplete_archives(tmp_path, changes, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, _members(**changes))


def test_a_few_cases_may_lack_their_image(tmp_path):
  members = _members(**{"csv/dicom_info.csv": _INFO.replace(_TEST, "?")})
  assert len(_parse(tmp_path, members, max_missing=1)) == 2

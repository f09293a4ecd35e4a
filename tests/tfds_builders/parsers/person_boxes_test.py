# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""People cut out of photographs."""

import io

import numpy as np
from PIL import Image
import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import person_boxes

_PHOTO = fixtures.jpeg((8, 6, 3), 0)
_ARGS = {"name": "trainval", "split": "trainval", "listed": ("running", "reading"),
         "actions": ("running", "reading", "other")}
_TOP = "VOCdevkit/VOC2012"


def _person(actions, box=(2, 3, 5.7, 8)):
  flags = "".join(f"<{name}>{flag}</{name}>" for name, flag in actions.items())
  sides = "".join(f"<{side}>{value}</{side}>"
                  for side, value in zip(("xmin", "ymin", "xmax", "ymax"), box))
  return f"<object><actions>{flags}</actions><bndbox>{sides}</bndbox></object>"


def _annotation(*people):
  return f"<annotation>{''.join(people)}</annotation>".encode()


def _members(**changes):
  members = {
      "Annotations/a.xml": _annotation(
          _person({"reading": 1, "running": 1, "other": 0}), "<object><name>dog</name></object>",
          _person({"running": 0}, (1, 1, 6, 8))),
      "Annotations/b.xml": _annotation(_person({"other": 1}, (-3, 1, 99, 2))),
      "Annotations/c.xml": b"of another task",
      "ImageSets/Action/running_trainval.txt": b"a  1  1\na  3 -1\n",
      "ImageSets/Action/reading_trainval.txt": b"a 1 1\nb  1 -1\n",
      "ImageSets/Action/reading_val.txt": b"another set", "ImageSets/Main/trainval.txt": b"c\n",
      "JPEGImages/c.jpg": b"not read", "JPEGImages/b.jpg": _PHOTO, "JPEGImages/a.jpg": _PHOTO}
  members.update(changes)
  return {f"{_TOP}/{name}": data for name, data in members.items() if data is not None}


def _parse(tmp_path, members, **args):
  fixtures.write_archive(tmp_path / "a.tar", members)
  return list(person_boxes.parse({"a.tar": tmp_path / "a.tar"}, **{**_ARGS, **args}))


def test_each_person_is_an_example_with_all_its_actions(tmp_path):
  found = _parse(tmp_path, _members())
  assert [(e.split, e.key, e.label, e.group) for e in found] == [
      ("trainval", "b/1", ("other",), "b"), ("trainval", "a/1", ("running", "reading"), "a"),
      ("trainval", "a/3", (), "a")]
  assert [e.group for e in _parse(tmp_path, _members(), by_photo=False)] == [None] * 3


def test_boxes_count_from_one_and_end_at_the_border(tmp_path):
  pixels = np.asarray(Image.open(io.BytesIO(_PHOTO)))
  wide, one, whole = (np.asarray(Image.open(io.BytesIO(e.image)))
                      for e in _parse(tmp_path, _members()))
  assert (one == pixels[2:8, 1:5]).all() and one.shape == (6, 4, 3)
  assert (whole == pixels).all() and (wide == pixels[:2]).all()


def test_a_photograph_that_does_not_decode_is_left_to_be_counted(tmp_path):
  found = _parse(tmp_path, _members(**{"JPEGImages/a.jpg": _PHOTO[:200]}))
  assert [e.image == _PHOTO[:200] for e in found] == [False, True, True]


@pytest.mark.parametrize("changes, message", [
    ({"JPEGImages/a.jpg": None}, r"is missing 1 of 2 listed photographs, such as \['a'\]"),
    ({"Annotations/b.xml": None}, r"annotations of photographs that they name, such as \['b'\]"),
    ({"ImageSets/Action/reading_trainval.txt": None}, r"such as \['reading'\]"),
    ({"ImageSets/Action/reading_trainval.txt": b"a 1\n"}, "line 1 is 'a 1'; a photograph, a per"),
    ({"Annotations/b.xml": b"<annotation><object>"},
     "b.xml' is not an XML document: no element found"),
    ({"Annotations/b.xml": b""}, "is not an XML document"),
    ({"Annotations/b.xml": _annotation("<object/>")}, "has no person with actions"),
    ({"Annotations/b.xml": _annotation(_person({"flying": 1}))}, r"actions \['flying'\]; allowed"),
    ({"Annotations/b.xml": _annotation(_person({"other": 1}, (1, 2, "x", 3)))},
     "object 1 has the box .*'xmax': 'x'"),
    ({"Annotations/b.xml": _annotation(_person({"other": 1}, (9, 1, 12, 4)))},
     r"box \(8, 0, 12, 4\), outside the photograph of 6 x 8 pixels"),
])
def test_incomplete_archives(tmp_path, changes, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, _members(**changes))


@pytest.mark.parametrize("declared", ['<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">',
                                      '<!ENTITY b SYSTEM "file:///etc/passwd">'])
def test_entities_are_refused(tmp_path, declared):
  document = f"<!DOCTYPE x [{declared}]><annotation>&b;</annotation>".encode()
  with pytest.raises(errors.DataError, match="b.xml' has a document type"):
    _parse(tmp_path, _members(**{"Annotations/b.xml": document}))

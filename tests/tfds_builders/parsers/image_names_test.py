# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives whose file names tell the label."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import image_names

_IMAGE = fixtures.jpeg((4, 4, 3), 0)


def _parse(directory, archives, **args):
  for name, names in archives.items():
    fixtures.write_archive(directory / name, dict.fromkeys(names, _IMAGE))
  paths = {name: directory / name for name in archives}
  return [(e.split, e.key, e.label) for e in image_names.parse(
      paths, **{"extensions": ("jpg",), **args})]


def test_a_field_is_as_short_as_possible(tmp_path):
  names = ["top/sea_fish-10.jpg", "sea_fish-1-b.JPG", "readme.txt"]
  assert _parse(tmp_path, {"a.zip": names}, template="{label}-{item}") == [
      ("all", "sea_fish-10", "sea_fish"), ("all", "sea_fish-1-b", "sea_fish")]


def test_label_of_two_pieces_and_split_folders(tmp_path):
  names = ["n/play/harp/train/1.jpg", "n/with/harp/test/1.jpg"]
  assert _parse(tmp_path, {"a.zip": names}, template="{act}/{what}/{split}/{item}",
                label="{act}/{what}", split_folders={"train": "train", "test": "test"}) == [
                    ("train", "play/harp/train/1", "play/harp"),
                    ("test", "with/harp/test/1", "with/harp")]


def test_files_are_splits_and_folders_are_known_by_their_beginning(tmp_path):
  archives = {"1.tar": ["V1/Graz_car_b/x/1.jpg", "V1/other/1.jpg"],
              "2.tar": ["V2/velo/1.jpg", "V2/car.jpg"]}
  args = {"template": "{label}{rest}", "others": True,
          "split_files": {"1.tar": "train", "2.tar": "test"},
          "labels": {"V1/Graz_car": "car", "V2/car": "car", "V2/velo": "bike"}}
  assert _parse(tmp_path, archives, **args) == [
      ("train", "V1/Graz_car_b/x/1", "car"), ("test", "V2/velo/1", "bike"),
      ("test", "V2/car", "car")]


def test_each_known_label_must_occur(tmp_path):
  with pytest.raises(errors.DataError, match=r"a.zip have no images in \['G2'\]"):
    _parse(tmp_path, {"a.zip": ["G1/1.jpg"]}, template="{label}/{item}",
           labels={"G1": "normal", "G2": "ill"})


def test_what_is_ignored_wins_over_what_matches(tmp_path):
  names = ["pos-1.jpg", "Test/neg-1.jpg", "neg-2.jpg", "Test/test-1.jpg"]
  args = {"template": "{label}{rest}", "labels": {"pos": "car", "neg": "none"}, "ignore": "Test/"}
  assert _parse(tmp_path, {"a.zip": names}, **args) == [
      ("all", "pos-1", "car"), ("all", "neg-2", "none")]


def test_images_that_fit_nowhere_are_an_error(tmp_path):
  with pytest.raises(errors.DataError, match=r"a.zip has another layout than '{label}/{item}': 1 "
                     r"image files match, 2 do not, such as \['a/2.png', 'x.jpg'\]"):
    _parse(tmp_path, {"a.zip": ["a/1.jpg", "a/2.png", "x.jpg"]}, template="{label}/{item}")
  with pytest.raises(errors.DataError, match="b.zip has another layout .*: 0 image files m"):
    _parse(tmp_path, {"a.zip": ["a/1.jpg"], "b.zip": ["readme"]}, template="{label}/{item}")


def test_a_label_that_is_not_known_fits_nowhere(tmp_path):
  with pytest.raises(errors.DataError, match=r"1 do not, such as \['G3/1.jpg'\]"):
    _parse(tmp_path, {"a.zip": ["G1/1.jpg", "G3/1.jpg"]}, template="{label}/{item}",
           labels={"G1": "normal"})


def test_truncated_archive_is_named(tmp_path):
  fixtures.write_archive(tmp_path / "a.tar", {"a/1.jpg": _IMAGE})
  (tmp_path / "a.tar").write_bytes((tmp_path / "a.tar").read_bytes()[:900])
  with pytest.raises(errors.DataError, match="a.tar.* truncated or damaged"):
    list(image_names.parse({"a.tar": tmp_path / "a.tar"}, template="{label}/{item}",
                           extensions=("jpg",)))


def test_fields_of_a_form_and_people_with_two_names(tmp_path):
  names = ["anna1.jpg", "annag2.jpg", "bob_b10b.jpg"]
  assert _parse(tmp_path, {"a.zip": names}, template="{label}{rest}",
                fields={"label": "[a-z_]+", "rest": "[0-9].*"}, renamed={"annag": "anna"}) == [
                    ("all", "anna1", "anna"), ("all", "annag2", "anna"),
                    ("all", "bob_b10b", "bob_b")]


def test_listed_numbers_are_the_test_split(tmp_path):
  names = ["zebra/zeb006.jpg", "zebra/zeb007.jpg", "moth/mot006.jpg"]
  assert _parse(tmp_path, {"a.zip": names}, template="{label}/{prefix}{number}",
                fields={"prefix": "[a-z]*", "number": r"\d+"}, test_numbers={"zebra": (6,)}) == [
                    ("test", "zebra/zeb006", "zebra"), ("train", "zebra/zeb007", "zebra"),
                    ("train", "moth/mot006", "moth")]

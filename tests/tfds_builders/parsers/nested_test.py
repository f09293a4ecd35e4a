# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.


import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import nested

_ARGS = {"inner": {"Cars.zip": "cars.tar"}, "labels": {"Cars.zip": "car"}, "split": "all"}


def _parse(tmp_path, members):
  fixtures.write_archive(tmp_path / "Cars.zip", members)
  return list(nested.parse({"Cars.zip": tmp_path / "Cars.zip"}, **_ARGS))


def test_images_of_the_inner_archive_have_the_label_of_the_file(tmp_path):
  image = fixtures.jpeg((4, 4, 3), 0)
  found = _parse(tmp_path, {"x/cars.tar": fixtures.tar_bytes({"image_1.jpg": image, "ReadMe": b""}),
                            "x/other.tar": fixtures.tar_bytes({"image_2.jpg": image})})
  assert [(one.key, one.label, one.split) for one in found] == [("Cars/image_1", "car", "all")]
  assert found[0].image == image


def test_inner_archives_are_checked_like_outer_ones(tmp_path):
  with pytest.raises(errors.DataError, match="'../image_1.jpg' has an unsafe name"):
    _parse(tmp_path, {"cars.tar": fixtures.tar_bytes({"../image_1.jpg": b"x"})})


def test_a_missing_inner_archive_is_named(tmp_path):
  with pytest.raises(errors.DataError, match="no JPEG image in an archive named 'cars.tar'"):
    _parse(tmp_path, {"image_1.jpg": fixtures.jpeg((4, 4, 3), 0)})

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Chars74K's folders of samples."""

import pytest

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import sampled_characters

_ARGS = {"kinds": {"a.tgz": ("Img/GoodImg/Bmp", "Img/BadImag/Bmp"), "b.tgz": ("Fnt",)}}


def test_samples_are_numbered_from_1_and_masks_are_no_images(tmp_path):
  fixtures.write_archive(tmp_path / "a.tgz", {
      "English/Img/GoodImg/Bmp/Sample001/img001-00001.png": b"x",
      "English/Img/GoodImg/Msk/Sample001/img001-00001.png": b"x",
      "English/Img/BadImag/Bmp/Sample062/img062-00003.png": b"x"})
  fixtures.write_archive(tmp_path / "b.tgz", {"English/Fnt/Sample011/img011-00001.png": b"x"})
  paths = {name: tmp_path / name for name in ("a.tgz", "b.tgz")}
  found = [(one.key, one.label) for one in sampled_characters.parse(paths, **_ARGS)]
  assert found == [("Img/GoodImg/Bmp/Sample001/img001-00001", 0),
                   ("Img/BadImag/Bmp/Sample062/img062-00003", 61),
                   ("Fnt/Sample011/img011-00001", 10)]
  with pytest.raises(errors.DataError, match="another layout"):
    list(sampled_characters.parse({"a.tgz": paths["b.tgz"], "b.tgz": paths["b.tgz"]}, **_ARGS))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What reviewers see of an image file is what is packed."""

from __future__ import annotations

import base64
import io
import zipfile

import numpy as np
from PIL import Image
import pytest

from suite.beside.curation import errors
from suite.beside.curation import pictures
from suite.beside.curation.steps import exporting


def _stored_sideways(path):
  pixels = np.zeros([24, 40, 3], np.uint8)
  pixels[:, :20] = 255
  exif = Image.Exif()
  exif[0x0112] = 6  # Turned clockwise, the white half is above.
  Image.fromarray(pixels).save(path, exif=exif)
  return path


@pytest.mark.parametrize("ending", ["jpg", "png", "tif", "webp"])
def test_reviewers_and_archives_have_the_same_upright_image(ending, tmp_path):
  path = _stored_sideways(tmp_path / f"a.{ending}")
  shown = pictures.data_uri(path, 40).partition(",")[2]
  archive = tmp_path / "a.zip"
  exporting.write_archive(archive, exporting.labeled(
      [exporting.Picture(1, "bus", "7", path, {})], ["bus"], exporting.TRAIN))
  with zipfile.ZipFile(archive) as packed:
    content = packed.read("train/labeled_images/1/bus/7.png")
  for data in (base64.b64decode(shown), content, pictures.packed(path, lambda pixels: content)):
    with Image.open(io.BytesIO(data)) as image:
      assert image.size == (24, 40) and not image.getexif()
      pixels = np.asarray(image.convert("L"))
      assert pixels[:18].min() > 240 and pixels[-18:].max() < 15
  assert pictures.is_linkable(path) == (ending in ("jpg", "png"))


def test_an_upright_jpeg_is_packed_as_it_is(tmp_path):
  path = tmp_path / "a.jpg"
  Image.new("RGB", (8, 8)).save(path)
  members = exporting.labeled([exporting.Picture(1, "bus", "7", path, {})], ["bus"], "train")
  assert members["train/labeled_images/1/bus/7.jpg"] == path
  assert pictures.packed(path, lambda pixels: b"") == path.read_bytes()
  with pytest.raises(errors.CurationError, match="none.jpg cannot be read: No such file"):
    pictures.packed(tmp_path / "none.jpg", lambda pixels: b"")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files that are cut off, empty or no images are told from whole ones without decoding."""

from __future__ import annotations

import io

import numpy as np
from PIL import Image
import pytest

from suite.data.images import file_damage

IMAGE = Image.fromarray(np.random.default_rng(0).integers(0, 256, [20, 30, 3]).astype(np.uint8))
FORMATS = {"jpeg": ("JPEG", {}), "progressive": ("JPEG", {"progressive": True}),
           "thumbnail": ("JPEG", {}), "png": ("PNG", {}), "gif": ("GIF", {}), "bmp": ("BMP", {}),
           "webp": ("WEBP", {}), "tiff": ("TIFF", {}), "lzw": ("TIFF", {"compression": "tiff_lzw"})}


def _encoded(case):
  name, options = FORMATS[case]
  data = io.BytesIO()
  IMAGE.save(data, name, **options)
  if case == "thumbnail":  # A whole JPEG in the header, as cameras write it.
    inner = data.getvalue()
    return inner[:2] + b"\xff\xe1" + (len(inner) + 2).to_bytes(2, "big") + inner + inner[2:]
  return data.getvalue()


@pytest.mark.parametrize("case", FORMATS)
def test_whole_files_pass_and_cut_ones_do_not(case):
  data = _encoded(case)
  assert file_damage.problem(data) == ""
  assert file_damage.problem(data + bytes(40)) == ""  # Cameras pad.
  for end in (len(data) - 2, len(data) // 2, 40, 16):
    assert "cut off" in file_damage.problem(data[:end]), end
  assert file_damage.problem(data[:4])


@pytest.mark.parametrize("case", ["jpeg", "png"])
def test_a_copy_that_was_interrupted_may_end_in_zeros(case):
  data = _encoded(case)
  assert file_damage.problem(data[:len(data) // 2] + bytes(len(data) - len(data) // 2))


@pytest.mark.parametrize("data, what", [
    (b"", "it is empty (0 bytes)"), (bytes(30), "all its 30 bytes are zero"),
    (b"<!DOCTYPE html><title>404", "it is text, not an image: '<!doctype html>"),
    (b"\0\5\x16\7\0\2\0\0Mac OS X", "not an image that can be read"),
    (b"\xff\xd8\xff\xd9", "it has no pixels"),
    (b"\x89PNG\r\n\x1a\n" + b"\0\0\0\rIHDR" + bytes(100), "its header gives no size")])
def test_what_is_no_image_is_described(data, what):
  assert what in file_damage.problem(data)


def test_a_refusal_names_the_files():
  files = [("a.jpg", _encoded("jpeg")), *((f"{i}.jpg", b"") for i in range(7))]
  with pytest.raises(ValueError, match="7 of the 8 image files of 'mine' are damaged: '0.jpg': it "
                                       r"is empty \(0 bytes\); '1.jpg.*; and 2 more. Do this"):
    file_damage.check("mine", files, "Do this.")
  file_damage.check("mine", files[:1], "")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data check`: every image of a folder or a prepared data set is decoded."""

from __future__ import annotations

import numpy as np
from PIL import Image

from suite import cli


def _photos(root):
  rng = np.random.default_rng(0)
  for number, name in enumerate(("cat/0.webp", "cat/1.jpg", "dog/0.png")):
    (root / name).parent.mkdir(exist_ok=True, parents=True)
    Image.fromarray(rng.integers(0, 256, [8 + number, 9, 3]).astype(np.uint8)).save(root / name)
  return root


def test_flipped_bytes_and_cut_files_of_a_folder_are_named(tmp_path, capsys):
  root = _photos(tmp_path / "photos")
  assert cli.main(["data", "check", str(root)]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert lines[0].split() == ["folder", "images", "classes", "damaged", "shapes"]
  assert lines[1].split(maxsplit=3) == ["cat", "2", "0", "2 shapes, 8..9 x 9..9 x 3"]
  assert lines[-1] == f"{root}: 3 images, 0 of them damaged."
  png, jpg = root / "dog/0.png", root / "cat/1.jpg"
  data = bytearray(png.read_bytes())
  data[60] ^= 1  # Among the pixels: header and end are whole.
  png.write_bytes(data)
  jpg.write_bytes(jpg.read_bytes()[:-50])
  assert cli.main(["data", "check", str(root)]) == 1
  out = capsys.readouterr().out
  assert "cat/1.jpg: it is cut off" in out and "dog/0.png: it cannot be decoded: " in out
  assert "2 of them damaged" in out and "from_directory refuses" not in out


def test_formats_that_tensorflow_does_not_read_are_decoded_as_from_directory_does(tmp_path, capsys):
  for name in ("cat/a.tif", "cat/b.webp", "dog/c.jp2", "dog/d.pgm"):
    (tmp_path / name).parent.mkdir(exist_ok=True)
    Image.new("L", (9, 8), 77).save(tmp_path / name)
  (tmp_path / "dog/e.webp").write_bytes((tmp_path / "cat/b.webp").read_bytes()[:20] + bytes(99))
  assert cli.main(["data", "check", str(tmp_path)]) == 1
  out = capsys.readouterr().out
  assert "5 images, 1 of them damaged" in out and "dog/e.webp: it " in out


def test_a_folder_that_is_none_of_classes_is_decoded_and_explained(tmp_path, capsys):
  _photos(tmp_path / "train")
  _photos(tmp_path / "val")
  assert cli.main(["data", "check", str(tmp_path)]) == 0
  out = capsys.readouterr().out
  assert "6 images, 0 of them damaged" in out
  assert "refuses it as it is: " in out and "holds train, val, which are splits" in out


def test_the_splits_of_a_prepared_data_set(pictures_dir, capsys):
  name = "suite_test_pictures/mixed"
  assert cli.main(["data", "check", name, "--data_dir", pictures_dir]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert [line.split(maxsplit=4) for line in lines[1:3]] == [
      [split, "23", "4", "0", "3 shapes, 6..8 x 7..7 x 3"] for split in ("test", "train")]


def test_what_is_neither_is_one_line(tmp_path, capsys):
  (tmp_path / "a.zip").write_bytes(b"PK")
  assert cli.main(["data", "check", str(tmp_path / "a.zip")]) == 2
  assert "is a file; give a folder of images" in capsys.readouterr().err
  assert cli.main(["data", "check", "nevis/mnits", "--data_dir", str(tmp_path)]) == 1
  assert "no data set 'nevis/mnits', neither of TFDS nor prepared in" in capsys.readouterr().err

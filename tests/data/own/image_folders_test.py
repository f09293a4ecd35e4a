# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Folders that are nearly folders of classes: what is left out, reported and refused."""

from __future__ import annotations

import io
import os
import unicodedata

import numpy as np
from PIL import Image
import pytest

from suite.data.own import image_sources


def _png(value):
  data = io.BytesIO()
  Image.fromarray(np.full([2, 2, 3], value, np.uint8)).save(data, "PNG")
  return data.getvalue()


def _folder(root, *names):
  """A different PNG at each path."""
  for number, name in enumerate(names):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(_png(number))
  return root


def _photos(root, *names):
  return _folder(root, "cat/0.png", "cat/1.png", "dog/0.png", *names)


def _debris(root):
  _photos(root)
  for name in ("__MACOSX/cat/._0.png", "cat/._0.png", "cat/.DS_Store", "cat/Thumbs.db",
               "dog/desktop.ini", "dog/@eaDir/0.png/SYNOPHOTO_THUMB_M.png",
               "cat/.ipynb_checkpoints/0-checkpoint.png", ".ipynb_checkpoints/x", ".git/config"):
    (root / name).parent.mkdir(parents=True, exist_ok=True)
    (root / name).write_bytes(b"\0\5\x16\7")
  return root


def test_what_systems_leave_is_left_out_and_said(tmp_path, caplog):
  found = image_sources.from_directory(_debris(tmp_path))
  assert found.ids.tolist() == ["cat/0.png", "cat/1.png", "dog/0.png"]
  assert found.class_names == ("cat", "dog")
  assert "left out what systems leave in folders, 9 in all: .git, .ipynb_checkpoi" in caplog.text


def test_files_that_are_not_read_are_counted(tmp_path, caplog):
  _photos(tmp_path, "loose.png")
  for name in ("cat/a.heic", "cat/b.HEIC", "dog/notes.txt", "dog/scan", "README.md"):
    (tmp_path / name).write_bytes(b"x")
  assert image_sources.from_directory(tmp_path).size == 3
  assert "5 files are not read: 2 x .heic, 1 x .md, 1 x .txt, 1 x without an" in caplog.text
  assert "1 images beside the class folders are not read, such as loose.png" in caplog.text


@pytest.mark.parametrize("paths, message", [
    (["train/cat/0.png", "train/dog/0.png", "val/cat/1.png"],
     r"holds train, val, which are splits and not classes \(class folders such as 'cat' are in th"
     r".*from_directory\('.*/train'\), from_directory\('.*/val'\)"),
    (["Train/0.png", "TEST/1.png"], r"holds TEST, Train, .* \(there are no class folders in them"),
    (["train/cat/0.png", "test/cat/1.png", "plots/x.png"], "holds test, train, which are splits"),
    (["cat/0.png", "dog/0.png", "test/cat/1.png", "test/dog/1.png"], "holds test, which are spl"),
    (["0.png", "1.png"], "has 2 images, such as '0.png', and no class folder"),
    (["000.tar", "001.tar"], "holds .tar files, such as '000.tar', .*WebDataset, see docs"),
    (["photos/cat/0.png", "photos/dog/0.png"], "one class folder, 'photos', which holds 'cat', "),
    (["cat/0.heic", "cat/0.txt"], r"none of images \(.png.*, but 1 x .heic, 1 x .txt"),
])
def test_near_misses_are_refused(tmp_path, paths, message):
  with pytest.raises(ValueError, match=message):
    image_sources.from_directory(_folder(tmp_path, *paths))


def test_names_that_look_like_splits_may_be_classes(tmp_path, caplog):
  found = image_sources.from_directory(
      _folder(tmp_path, "bus/0.png", "train/0.png", "train/a/1.png"))
  assert found.class_names == ("bus", "train") and found.size == 3
  both = image_sources.from_directory(
      _folder(tmp_path / "b", "test/0.png", "train/0.png"), classes=["train", "test"])
  assert both.class_names == ("train", "test") and both.labels.tolist() == [0, 1]
  one = image_sources.from_directory(_folder(tmp_path / "c", "cat/0.png"))
  assert one.class_names == ("cat",) and "there is one class folder, 'cat'" in caplog.text


@pytest.mark.skipif(os.name != "posix", reason="Names are text elsewhere.")
def test_names_that_are_no_text_are_named(tmp_path):
  _photos(tmp_path)
  with open(os.path.join(os.fsencode(tmp_path), b"cat", b"caf\xe9.png"), "wb") as file:
    file.write(_png(9))
  with pytest.raises(ValueError, match=r"names that are not UTF-8: 'cat/caf\\xe9.png'. Rename"):
    image_sources.from_directory(tmp_path)


def test_a_class_has_one_name_on_all_systems(tmp_path):
  names = [unicodedata.normalize(form, "caf\u00e9") for form in ("NFC", "NFD")]
  sets = [image_sources.from_directory(_folder(tmp_path / str(i), f"{name}/0.png", "bar/0.png"))
          for i, name in enumerate(names)]
  assert names[0] != names[1] and sets[0].class_names == sets[1].class_names


def test_what_looks_wrong_is_reported(tmp_path, caplog):
  _folder(tmp_path, "Dog/a/0.png", "Dog/b/0.png", "dog/a/1.png", "dog/b/1.png")
  (tmp_path / "dog/b/2.png").write_bytes((tmp_path / "Dog/a/0.png").read_bytes())
  image_sources.from_directory(tmp_path)
  assert "the classes 'Dog', 'dog' differ only in case" in caplog.text
  assert "the classes 'Dog', 'dog' hold the same folders, 'a', 'b'" in caplog.text
  assert ("1 of 5 image files are copies of others, 1 of them of an image of another class, such as"
          " Dog/a/0.png and dog/b/2.png") in caplog.text


@pytest.mark.parametrize("same_size", [True, False])
def test_damaged_files_are_found_when_the_folder_is_read(tmp_path, same_size):
  _photos(tmp_path)
  if not same_size:
    Image.new("RGB", (5, 7)).save(tmp_path / "dog/1.jpg")
  whole = (tmp_path / "cat/1.png").read_bytes()
  (tmp_path / "cat/1.png").write_bytes(whole[:-20])
  (tmp_path / "dog/0.png").write_bytes(b"")
  with pytest.raises(ValueError, match="2 of the . image files of '.*' are damaged: 'cat/1.png': it"
                                       " is cut off .*; 'dog/0.png': it is empty .*data check"):
    image_sources.from_directory(tmp_path)

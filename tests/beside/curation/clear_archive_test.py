# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Archives in CLEAR's layout: the parser reads them, and their bytes are repeatable."""

import os
import zipfile

import numpy as np
from PIL import Image
import pytest

from suite.beside.curation import errors
from suite.beside.curation.steps import exporting
from tfds_builders.parsers import archives
from tfds_builders.parsers import clear_images
from tfds_builders.parsers import clear_metadata
from tfds_builders.parsers import images


def _pictures(tmp_path):
  """A PNG, a JPEG and a GIF."""
  found = []
  for number, suffix in enumerate((".png", ".jpg", ".gif")):
    path = tmp_path / f"file{number}{suffix}"
    Image.fromarray(np.full((4, 5, 3), 40 * number, np.uint8)).save(path)
    found.append(exporting.Picture(
        10 - number, ("bus", "BACKGROUND", "bus")[number], f"id {number}é", path,
        {"TITLE": f"<{number}>", "DATE_UPLOADED": f"{1.2e9 + number:.0f}"}))
  return found


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_the_parser_reads_images_and_metadata(tmp_path, suffix):
  path = tmp_path / f"a{suffix}"
  exporting.write_archive(path, exporting.labeled(_pictures(tmp_path), ["bus", "BACKGROUND"],
                                                   exporting.TRAIN))
  found = {one.key: one for one in clear_images.parse({"a": path}, edition="present")}
  assert {key: (one.split, one.label) for key, one in found.items()} == {
      "10/bus/id 0é": ("bucket_10", "bus"), "09/BACKGROUND/id 1é": ("bucket_09", "BACKGROUND"),
      "08/bus/id 2é": ("bucket_08", "bus")}
  assert found["09/BACKGROUND/id 1é"].image == (tmp_path / "file1.jpg").read_bytes()
  assert found["08/bus/id 2é"].image.startswith(images.PNG)  # The GIF.
  facts = {one.key: one.extra for one in clear_metadata.parse({"a": path}, edition="present")}
  assert facts["10/bus/id 0é"]["title"] == "<0>"
  assert facts["08/bus/id 2é"]["uploaded"] == 1_200_000_002


@pytest.mark.parametrize("suffix", [".zip", ".tar"])
def test_the_same_content_is_the_same_bytes(tmp_path, suffix):
  made = _pictures(tmp_path)
  contents = []
  for number, order in enumerate((made, made[::-1])):
    for path in tmp_path.glob("file*"):
      os.utime(path, (number, number))
    archive = tmp_path / f"{number}{suffix}"
    members = exporting.labeled(order, ["bus", "BACKGROUND"][::1 - 2 * number], "train")
    exporting.write_archive(archive, dict(reversed(list(members.items()))) if number else members)
    contents.append(archive.read_bytes())
  assert contents[0] == contents[1]
  names = list(archives.names(archive))
  assert names == sorted(names) and names[0] == "train/class_names.txt"
  assert (dict(archives.members(archive))["train/class_names.txt"]) == b"BACKGROUND\nbus"


def test_members_are_stored_and_of_1980(tmp_path):
  path = tmp_path / "a.zip"
  exporting.write_archive(path, {"b": b"x", "a": b"y"})
  with zipfile.ZipFile(path) as archive:
    assert [(one.filename, one.date_time, one.compress_type) for one in archive.infolist()] == [
        (name, (1980, 1, 1, 0, 0, 0), zipfile.ZIP_STORED) for name in "ab"]


def test_an_archive_is_whole_or_not_there(tmp_path):
  with pytest.raises(errors.CurationError, match="missing.jpg cannot be read"):
    exporting.labeled([exporting.Picture(1, "a", "i", tmp_path / "missing.jpg", {})], "a",
                           "train")
  (tmp_path / "text.jpg").write_text("no image")
  members = exporting.labeled(
      [exporting.Picture(1, "a", "i", tmp_path / "text.jpg", {})], ["a"], "train")
  with pytest.raises(errors.CurationError, match="text.jpg is no image"):
    exporting.write_archive(tmp_path / "a.zip", members)
  assert [path.name for path in tmp_path.iterdir()] == ["text.jpg"]
  with pytest.raises(errors.CurationError, match="a.rar is none of .zip, .tar"):
    exporting.write_archive(tmp_path / "a.rar", {})


def test_test_images_depend_on_ids_alone():
  ids = [f"{i}" for i in range(20)]
  found = exporting.held_out(ids, 5)
  assert found == exporting.held_out(ids[::-1], 5) and len(set(found)) == 5
  assert set(exporting.held_out(ids, 4)) < set(found)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The sets of a protocol from one word: a folder, folders of splits or periods, a table, a name."""

from __future__ import annotations

import csv
import pathlib

import numpy as np
from PIL import Image
import pytest

from suite.data.own import named_data
from suite.data.streams import buckets


def _write(folder, classes, num):
  for label, name in enumerate(classes):
    place = pathlib.Path(folder, name)
    place.mkdir(parents=True)
    for i in range(num):
      value = np.uint8((7 * len(folder) + i) % 50 + 50 * label)
      Image.fromarray(np.full([4, 4, 3], value, np.uint8)).save(place / f"{i}.png")


@pytest.fixture(name="photos")
def _photos(tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  _write("photos", ["cat", "dog", "eel", "fox"], 10)
  return tmp_path


def _table(name, further=()):
  rows = sorted(pathlib.Path("photos").rglob("*.png"))
  with open(name, "w", newline="") as file:
    csv.writer(file).writerows([["path", "label", *(column for column, _ in further)], *(
        [str(path), path.parent.name, *(values(i) for _, values in further)]
        for i, path in enumerate(rows))])


@pytest.mark.usefixtures("photos")
def test_a_share_of_a_folder_or_of_a_table_is_tested_on():
  _table("photos.csv")
  for data in ("photos", "photos.csv"):
    train, test = named_data.pair(data)
    assert (train.size, test.size) == (28, 12)
    assert train.class_names == test.class_names == ("cat", "dog", "eel", "fox")


@pytest.mark.usefixtures("photos")
def test_splits_of_a_folder_and_of_a_table_are_used_as_they_are(caplog):
  for split, num in (("train", 4), ("Val", 2), ("test", 3)):
    _write(f"divided/{split}", ["cat", "dog"], num)
  train, test = named_data.pair("divided")
  assert (train.size, test.size) == (8, 6) and "not used: validation" in caplog.text
  _table("photos.csv", [("split", lambda i: "train" if i % 2 else "test")])
  train, test = named_data.pair("photos.csv")
  assert (train.size, test.size) == (20, 20)
  _table("photos.csv", [("split", lambda i: "train" if i % 2 else "other")])
  with pytest.raises(ValueError, match="has the splits .*; needed are train, and test"):
    named_data.pair("photos.csv")


def test_test_classes_that_differ_are_refused_or_reported(tmp_path, monkeypatch, caplog):
  monkeypatch.chdir(tmp_path)
  _write("more/train", ["cat", "dog", "eel", "fox"], 4)
  _write("more/test", ["cat", "dog", "eel"], 2)
  buckets.of_classes(named_data.pair("more"), num_tasks=2, seed=None)
  assert "has no image of the classes 'fox', which are trained on" in caplog.text
  with pytest.raises(ValueError, match="has no image of a whole task, the classes 'fox'"):
    buckets.of_classes(named_data.pair("more"), num_tasks=4, seed=None)
  _write("other/train", ["cat", "dog"], 4)
  _write("other/test", ["cat", "eel"], 2)
  with pytest.raises(ValueError, match="tests class 'eel', of which there is no training image"):
    buckets.of_classes(named_data.pair("other"), num_tasks=2, seed=None)


@pytest.mark.usefixtures("photos")
def test_periods_are_years_or_months_of_a_table_or_folders():
  _table("photos.csv", [("time", lambda i: f"{2012 + i % 2}-05-03")])
  assert list(named_data.periods("photos.csv")) == ["2012", "2013"]
  _table("photos.csv", [("time", lambda i: f"2012-{1 + i % 3:02d}-03")])
  assert list(named_data.periods("photos.csv")) == ["2012-01", "2012-02", "2012-03"]
  for period in ("2012", "2013"):
    _write(f"dated/{period}", ["cat", "dog"], 2)
  assert list(named_data.periods("dated")) == ["2012", "2013"]
  _table("photos.csv")
  for data in ("photos.csv", "photos"):
    with pytest.raises(ValueError, match=f"{data} has no dates"):
      named_data.periods(data)


@pytest.mark.usefixtures("photos")
def test_a_sequence_shares_no_image_with_its_base_classes():
  base, images = named_data.base("photos"), named_data.sequence_images("photos")
  assert base.class_names == ("cat", "dog") and base.size == 10 and images.size == 30
  assert not set(base.ids) & set(images.ids)


@pytest.mark.usefixtures("photos")
def test_the_images_that_a_table_names_are_found():
  _table("photos.csv")
  assert len(named_data.named_files(pathlib.Path("photos.csv"))) == 40
  pathlib.Path("numbers.csv").write_text("a,b\n1,2\n")
  assert named_data.named_files(pathlib.Path("numbers.csv")) == []
  assert named_data.named_files(pathlib.Path("photos/cat/0.png")) == []


@pytest.mark.parametrize("data, message", [
    ("gone.csv", "There is no file or folder 'gone.csv'"), ("./gone", "There is no file or folder"),
    ("notes.txt", "notes.txt is no table: the names of tables end with .csv, .tsv, .parquet")])
def test_what_is_no_data_is_refused(data, message, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  pathlib.Path("notes.txt").write_text("x")
  with pytest.raises((ValueError, OSError), match=message):
    named_data.pair(data)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Six own classes by the documented commands: curation, archive, data set, table and report."""

import csv
import json
import pathlib
import sys

import cells_here
import numpy as np
from PIL import Image

from suite import cli
from suite.beside.curation.steps import exporting
from suite.beside.curation.steps import reviewing
from suite.data.streams import timeline_buckets
from suite.system import processes

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "tools"))

import doc_blocks

CLASSES = ["bus", "car", "ferry", "plane", "train", "tram"]
NUM = 12 * 6 * 4  # Twelve of each class in each of four buckets.


def _write(path, rows):
  with open(path, "w", encoding="utf-8", newline="") as file:
    csv.writer(file).writerows(rows)


def _images(folder):
  """Images of one color, a table of them, and features that tell the classes apart."""
  rng = np.random.default_rng(0)
  (folder / "photos").mkdir()
  for i in range(NUM):
    pixels = rng.integers(0, 30, [8, 8, 3]) + 35 * (i % 6)
    Image.fromarray(pixels.astype(np.uint8)).save(folder / f"photos/{i:03d}.png")
  _write(folder / "images.csv", [["id", "timestamp", "path"], *(
      [f"{i:03d}", 1e9 + 1e5 * i, f"photos/{i:03d}.png"] for i in range(NUM))])
  features = np.eye(6)[np.arange(NUM) % 6] + 0.1 * rng.normal(size=[NUM, 6])
  np.save(folder / "features.npy", features.astype(np.float32))
  _write(folder / "queries.csv", [["class", "id"], *([CLASSES[i], f"{i:03d}"] for i in range(6))])


def _vote(work, folder):
  """Three reviewers who know the classes; one of them takes a ferry for none."""
  folder.mkdir()
  for reviewer in ("ann", "bob", "cid"):
    rows = [["sheet", "reviewer", "bucket", "class", "id", "vote"]]
    for sheet in reviewing.finished(work).sheets:
      rows += [[sheet.key, reviewer, sheet.bucket, sheet.label, name, "accept" if (
          CLASSES[int(name) % 6] == sheet.label and (reviewer, sheet.label) != ("cid", "ferry"))
                else "reject"] for name in sheet.ids]
    _write(folder / f"{reviewer}.csv", rows)


def _do(*words):
  assert cli.main(list(map(str, words))) == 0


def _commands():
  """The commands of docs/own/data.md from images to a report."""
  block, = (one for one in doc_blocks.blocks(doc_blocks.ROOT / "docs/own/data.md")
            if "suite curate sheets" in one.code)
  return [words[1:] for words in block.commands()]


# What makes the commands small, and keeps the data here.
SMALL = {"data": ["--data_dir", "data"],
         "run": ["--gin_file", "gin/debug/short.gin", "--gin_param",
                 "experiment.run.only=('er',)", "--gin_param", "IMAGE_SIZE=8",
                 "--gin_param", "conv4.conv4.blocks=1", "--gin_param",
                 "conv4.conv4.filters=4", "--data_dir", "data", "--only",
                 "small net/iid"]}


def test_six_own_classes_from_images_to_a_report(tmp_path, monkeypatch, capsys):
  monkeypatch.chdir(tmp_path)
  monkeypatch.setattr(processes, "run_all", cells_here.run_all)
  _images(tmp_path)
  said = {}
  for words in _commands():
    if words[:2] == ["curate", "votes"]:
      _vote(tmp_path / "work", tmp_path / "votes")
    capsys.readouterr()
    _do(*words, *SMALL.get(words[0], ()))
    said[words[1] if words[0] == "curate" else words[0]] = capsys.readouterr().out
  assert list(said) == ["buckets", "queries", "sheets", "votes", "export", "status", "data", "run",
                        "report"]
  assert "next: suite data timeline work/export/six-train-image-only.zip --test" in said["status"]
  buckets = timeline_buckets.load("timeline/six", protocol="challenge", data_dir="data")
  assert [bucket.name for bucket in buckets] == ["bucket_01", "bucket_02", "bucket_03"]
  assert buckets.task.num_classes == 6
  for bucket in buckets:
    assert np.bincount(bucket.test.labels).tolist() == [2] * 6
    assert (np.bincount(bucket.train.labels) >= 4).all()
    ids = [int(one.rsplit("/", 1)[1]) for one in bucket.train.ids]
    assert [i % 6 for i in ids] == bucket.train.labels.tolist()  # Classes are in sorted order.
  assert "small net" in said["report"] and "iid In" in said["report"]
  summary = json.loads(next(tmp_path.glob("runs/clear/table/*/iid/0/er/summary.json")).read_text())
  assert np.shape(summary["matrix"]) == (3, 3)
  assert summary["stream"] == "timeline/six, 3 buckets, iid"


def test_archives_may_have_more_buckets_than_clear(tmp_path):

  Image.fromarray(np.zeros([4, 4, 3], np.uint8)).save(tmp_path / "x.png")
  members = exporting.labeled(
      [exporting.Picture(bucket, label, f"{bucket}{label}{i}", tmp_path / "x.png", {})
       for bucket in (1, 7, 12) for label in ("bus", "tram") for i in range(4)],
      ["bus", "tram"], exporting.TRAIN)
  exporting.write_archive(tmp_path / "mine.zip", members)
  _do("data", "timeline", tmp_path / "mine.zip", "--name", "mine", "--data_dir", tmp_path)
  buckets = timeline_buckets.load("timeline/mine", data_dir=str(tmp_path))
  assert [(bucket.name, bucket.train.size, bucket.test.size) for bucket in buckets] == [
      ("bucket_01", 6, 2), ("bucket_07", 6, 2), ("bucket_12", 6, 2)]
  assert timeline_buckets.bucket_size("timeline/mine", data_dir=str(tmp_path)) == round(8 * 0.7)

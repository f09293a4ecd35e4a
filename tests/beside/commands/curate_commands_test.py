# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite curate` from generated images to a data set that our builder reads, and what it refuses.

440 images of 16 x 16 pixels, 40 a bucket: of each of 10 classes three of its own hue, which drifts
in time, and ten grey ones. Features are histograms of hue, queries the hues.
"""

from __future__ import annotations

import colorsys
import csv
import functools
import json
import pathlib
import re
import shutil

import numpy as np
from PIL import Image
import pytest
import tensorflow_datasets as tfds

from suite import cli
from suite.beside.commands import curate_commands
from suite.beside.curation import encoders
from suite.models.clip import weight_files
import tfds_builders
from tfds_builders.parsers import clear_images
from tfds_builders.parsers import clear_metadata

NAMES = ["baseball", "bus", "camera", "cosplay", "dress", "hockey", "laptop", "racing", "soccer",
         "sweater"]
BINS, PER_CLASS, GREY, BUCKETS = 40, 3, 10, 11
CLEAR_10 = ["BACKGROUND", *NAMES]


def _pixels(label, bucket, number):
  """uint8 [16, 16, 3]: a hue of the class that drifts by a bin in ten buckets, or grey."""
  rng = np.random.default_rng([NAMES.index(label) if label else 99, bucket, number])
  if not label:
    return np.repeat(rng.integers(0, 256, (16, 16, 1)), 3, axis=2).astype(np.uint8)
  hue = (NAMES.index(label) + 0.25 + bucket / 40) / len(NAMES)
  base = np.array(colorsys.hsv_to_rgb(hue, 1, 1)) * 215
  return np.clip(base + rng.integers(0, 40, (16, 16, 3)), 0, 255).astype(np.uint8)


def _histogram(pixels):
  """float32 [BINS + 1]: shares of hues, and of what has none."""
  values = pixels.reshape(-1, 3) / 255.0
  hues = np.array([colorsys.rgb_to_hsv(*one)[:2] for one in values[::4]])
  coloured = hues[:, 1] > 0.1
  bins = np.minimum((hues[coloured, 0] * BINS).astype(int), BINS - 1)
  return np.append(np.bincount(bins, minlength=BINS), (~coloured).sum()).astype(np.float32)


def _queries():
  """[10, BINS + 1]: the four bins of each hue; grey is least like all, by a little."""
  found = np.full((len(NAMES), BINS + 1), 0.001, np.float32)
  for number in range(len(NAMES)):
    found[number, 4 * number:4 * number + 4] = 1
  found[:, -1] = -0.01
  return found


@pytest.fixture(name="source", scope="module")
def _source(tmp_path_factory):
  """A folder of images, their table and features, and queries; lines are in no order of time."""
  folder = tmp_path_factory.mktemp("source")
  (folder / "photos").mkdir()
  rows, features = [], []
  for bucket in range(BUCKETS):
    for place, label in enumerate([*NAMES * PER_CLASS, *[""] * GREY]):
      name, pixels = f"{bucket}{place:02d}", _pixels(label, bucket, place)
      file = f"photos/{name}.{'png' if place % 2 else 'jpg'}"
      Image.fromarray(pixels).save(folder / file, quality=95)
      rows.append([name, 1_072_915_200 + bucket * 30_000_000 + place, file, f"a {label} & more"])
      features.append(_histogram(pixels))
  order = np.random.default_rng(0).permutation(len(rows))
  with open(folder / "images.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows([["id", "timestamp", "path", "TITLE"], *(rows[i] for i in order)])
  np.save(folder / "a.npy", np.stack(features)[order[:300]])
  np.save(folder / "b.npy", np.stack(features)[order[300:]])
  np.save(folder / "queries.npy", _queries())
  (folder / "queries.csv").write_text(
      "class,prompt\n" + "".join(f'{name},"{name}, a photo"\n' for name in NAMES))
  return folder


def _run(work, step, *arguments):
  return cli.main(["curate", step, str(work), *map(str, arguments)])


def _select(work, source):
  assert not _run(work, "buckets", "--table", source / "images.csv", "--features",
                  source / "a.npy", source / "b.npy")
  assert not _run(work, "queries", "--queries", source / "queries.csv", "--query-features",
                  source / "queries.npy", "--share", 3 / 40, "--background", 1)


def _lines(path):
  with open(path, encoding="utf-8", newline="") as file:
    return list(csv.DictReader(file))


def _sheets(work):
  """What a reviewer's browser reads: the data of the page."""
  text = (work / "sheets" / "index.html").read_text(encoding="utf-8")
  return json.loads(re.search('id="data">(.*?)</script>', text, re.S).group(1))


def _vote(work, folder, reviewer, vote_of):
  """Writes a reviewer's file as the page does; `vote_of(bucket, class, id)`."""
  folder.mkdir(exist_ok=True)
  with open(folder / f"{reviewer}.csv", "w", newline="", encoding="utf-8") as file:
    csv.writer(file).writerows(
        [["sheet", "reviewer", "bucket", "class", "id", "vote"],
         *([one["key"], reviewer, one["bucket"], one["label"], name,
            vote_of(one["bucket"], one["label"], name)]
           for one in _sheets(work)["sheets"] for name in one["ids"])])


@pytest.fixture(name="reviewed", scope="module")
def _reviewed(source, tmp_path_factory):
  """A curation up to the votes: one soccer image is rejected by two, one laptop flagged by one."""
  work = tmp_path_factory.mktemp("curation") / "work"
  _select(work, source)
  assert not _run(work, "sheets", "--pixels", 32)
  first = {place: next(line["id"] for line in _lines(work / "queries" / "candidates.csv")
                       if (line["bucket"], line["class"]) == place)
           for place in (("4", "soccer"), ("5", "laptop"))}
  for reviewer in ("ann", "bob", "cid"):
    def vote_of(bucket, label, name, reviewer=reviewer):
      if name == first["4", "soccer"] and reviewer != "ann":
        return "reject"
      return "flag" if name == first["5", "laptop"] and reviewer == "cid" else "accept"

    _vote(work, work.parent / "votes", reviewer, vote_of)
  assert not _run(work, "votes", work.parent / "votes")
  return work, first


def test_buckets_and_candidates_are_what_was_painted(reviewed):
  work, _ = reviewed
  assert [(line["bucket"], line["size"], line["first_id"], line["last_id"])
          for line in _lines(work / "buckets" / "ranges.csv")] == [
              (f"{bucket}", "40", f"{bucket}00", f"{bucket}39") for bucket in range(BUCKETS)]
  found = {}
  for line in _lines(work / "queries" / "candidates.csv"):
    found.setdefault((int(line["bucket"]), line["class"]), []).append(line["id"])
  assert sorted(found) == [(bucket, name) for bucket in range(1, 11) for name in CLEAR_10]
  for (bucket, name), ids in found.items():
    places = sorted(int(one[len(str(bucket)):]) for one in ids)
    if name == "BACKGROUND":
      assert places == list(range(30, 40))
    else:
      assert places == [NAMES.index(name) + 10 * copy for copy in range(3)]
  assert not _lines(work / "queries" / "ambiguous.csv")


def test_sheets_hold_the_candidates_and_their_pictures(reviewed):
  work, _ = reviewed
  data = _sheets(work)
  assert len(data["sheets"]) == 110 and data["sheets"][-1]["label"] == "BACKGROUND"
  bus, = (one for one in data["sheets"] if (one["bucket"], one["label"]) == (10, "bus"))
  assert sorted(bus["ids"]) == ["1001", "1011", "1021"]
  assert all(one.startswith("data:image/jpeg;base64,") for one in data["pictures"].values())


def test_votes_are_composed(reviewed):
  work, first = reviewed
  rejected, = _lines(work / "votes" / "rejected.csv")
  assert rejected == {"bucket": "4", "class": "soccer", "id": first["4", "soccer"], "accept": "1",
                      "reject": "2", "flag": "0", "votes": "ann:accept bob:reject cid:reject"}
  flagged, = _lines(work / "votes" / "another_look.csv")
  assert (flagged["id"], flagged["flag"]) == (first["5", "laptop"], "1")
  assert len(_lines(work / "votes" / "accepted.csv")) == 10 * (30 + 10) - 2
  counts = json.loads((work / "votes" / "manifest.json").read_text())["counts"]
  assert counts["reviewers"] == ["ann", "bob", "cid"] and counts["unanimous"] == 398
  assert counts["pairwise"] == round((398 + 2 / 3) / 400, 6)


def test_our_builder_reads_the_archives(reviewed, tmp_path):
  work, first = reviewed
  assert not _run(work, "export", "--test-per-class", 1, "--bucket-0", "--again")
  before = tfds_builders.mirror.state()
  tfds_builders.mirror.use(work / "export", trust=True)  # Ours is not the published archive.
  try:
    builder = tfds_builders.build("clear10/images", tmp_path)
  finally:
    tfds_builders.mirror.restore(before)
  assert builder.info.features["label"].names == CLEAR_10
  sizes = {split: found.num_examples for split, found in builder.info.splits.items()}
  assert sizes["bucket_00"] == 40
  for bucket in range(1, 11):
    lost = (bucket == 4) + (bucket == 5)
    assert sizes[f"bucket_{bucket:02d}"] == 40 - lost - 11
    assert sizes[f"test_bucket_{bucket:02d}"] == 11
  unlabelled, fifth = (list(tfds.as_numpy(builder.as_dataset(split=split)))
                       for split in ("bucket_00", "bucket_05"))
  assert len(unlabelled) == 40 and {int(one["label"]) for one in unlabelled} == {-1}
  laptops = [one for one in fifth if int(one["label"]) == CLEAR_10.index("laptop")]
  assert len(laptops) == 1 and not laptops[0]["id"].decode().endswith(first["5", "laptop"])
  image = np.asarray(laptops[0]["image"], np.float64).mean(axis=(0, 1))
  number = int(laptops[0]["id"].decode().rsplit("/", 1)[1][1:])
  np.testing.assert_allclose(image, _pixels("laptop", 5, number).mean(axis=(0, 1)), atol=3)


def test_the_parsers_read_what_is_known_of_images(reviewed):
  work, _ = reviewed
  assert not _run(work, "export", "--again")
  path = work / "export" / "clear10-train-image-only.zip"
  facts = {one.key: one for one in clear_metadata.parse({"a": path}, edition="present")}
  found = {one.key: one for one in clear_images.parse({"a": path}, edition="present")}
  assert len(found) == len(facts) == 398
  bus = facts["03/bus/301"]
  assert bus.extra["uploaded"] == 1_072_915_200 + 3 * 30_000_000 + 1
  assert bus.extra["title"] == "a bus & more" and bus.extra["place"] == found["03/bus/301"].extra[
      "place"]


def test_the_same_curation_is_the_same_bytes(source, reviewed, tmp_path):
  work, _ = reviewed
  assert not _run(work, "export", "--again")
  second = tmp_path / "elsewhere"
  _select(second, source)
  assert not _run(second, "sheets", "--pixels", 32)
  assert not _run(second, "votes", work.parent / "votes")
  assert not _run(second, "export")
  for step in ("buckets", "queries", "sheets", "votes", "export"):
    ours, theirs = (json.loads((one / step / "manifest.json").read_text())["outputs"]
                    for one in (work, second))
    assert ours == theirs


def test_steps_are_not_done_twice_and_status_says_what_is_done(reviewed, source, capsys):
  work, _ = reviewed
  before = (work / "queries" / "manifest.json").stat().st_mtime_ns
  _select(work, source)
  assert (work / "queries" / "manifest.json").stat().st_mtime_ns == before
  capsys.readouterr()
  assert not _run(work, "status")
  lines = capsys.readouterr().out.splitlines()
  assert lines[:3] == [
      "encode       not done, or not needed", 'buckets      done {"images": 440, "width": 41}',
      'queries      done {"candidates": 400, "ambiguous": 0}']


def _fails(capsys, work, step, *arguments):
  capsys.readouterr()
  assert _run(work, step, *arguments) == 1
  return capsys.readouterr().err


def test_steps_refuse_what_does_not_match(reviewed, source, tmp_path, capsys):
  work, _ = reviewed
  text = _fails(capsys, tmp_path / "new", "sheets")
  assert "Step 'queries' is not done" in text and "suite curate queries" in text
  shutil.copytree(work, tmp_path / "moved" / "work")  # Paths are as seen from the folder.
  text = _fails(capsys, tmp_path / "moved" / "work", "export", "--again", "--bucket-0")
  assert "images.csv cannot be read" in text
  text = _fails(capsys, work, "queries", "--queries", source / "queries.csv",
                "--query-features", source / "queries.npy", "--share", "0.1")
  assert "share=0.075 (now 0.1)" in text and "--again" in text


def test_changes_behind_the_back_are_noticed(source, tmp_path, capsys):
  shutil.copytree(source, tmp_path / "source")
  source, work = tmp_path / "source", tmp_path / "work"
  _select(work, source)
  assert not _run(work, "sheets", "--pixels", 8)
  for reviewer in ("a", "b", "c"):
    _vote(work, tmp_path / "votes", reviewer, lambda *_: "accept")
  assert not _run(work, "votes", tmp_path / "votes")
  victim = _lines(work / "votes" / "accepted.csv")[0]["id"]
  path, = (source / "photos").glob(f"{victim}.*")
  shutil.copy(next((source / "photos").glob("000.*")), path)
  text = _fails(capsys, work, "export")
  assert f"{path} is not the image that was reviewed" in text and not (work / "export").exists()
  path.unlink()
  assert "image files are not there" in _fails(capsys, work, "sheets", "--again", "--links")
  with open(source / "images.csv", "a", encoding="utf-8") as file:
    file.write("x,2001,photos/x.png,\n")
  assert "images.csv is not what step 'buckets' was made from" in _fails(
      capsys, work, "sheets", "--again", "--links")
  assert "441 images, but there are 440 feature vectors" in _fails(
      capsys, tmp_path / "other", "buckets", "--table", source / "images.csv", "--features",
      source / "a.npy", source / "b.npy")
  assert [path.name for path in (tmp_path / "other").iterdir()] == [".lock"]


def test_a_class_that_nobody_accepts_is_an_error(source, tmp_path, capsys):
  work = tmp_path / "work"
  _select(work, source)
  assert not _run(work, "sheets", "--links")
  assert all(one.startswith("../") for one in _sheets(work)["pictures"].values())
  for reviewer in ("a", "b", "c"):
    _vote(work, tmp_path / "votes", reviewer, lambda bucket, label, _: (
        "reject" if label == "bus" or (bucket, label) == (3, "dress") else "accept"))
  assert not _run(work, "votes", tmp_path / "votes")
  text = _fails(capsys, work, "export")
  assert "Nothing was accepted of the classes 'bus'. Rephrase their queries" in text
  assert "fewer than 4 reviewers" in _fails(
      capsys, work, "votes", tmp_path / "votes", "--minimum", 4, "--again")
  (tmp_path / "votes" / "c.csv").unlink()
  text = _fails(capsys, work, "votes", tmp_path / "votes", "--again")
  assert "400 of 400 images have fewer than 3 reviewers" in text


def test_flagged_images_come_back_by_a_decision(reviewed, source, tmp_path):
  work, first = reviewed
  second = tmp_path / "work"
  _select(second, source)
  assert not _run(second, "sheets", "--links")
  decisions = tmp_path / "decisions.csv"
  decisions.write_text(f"bucket,class,id,decision\n5,laptop,{first['5', 'laptop']},accept\n")
  assert not _run(second, "votes", work.parent / "votes", "--decisions", decisions)
  assert not _lines(second / "votes" / "another_look.csv")
  assert len(_lines(second / "votes" / "accepted.csv")) == 399
  assert not _run(second, "export", "--format", "tar")
  found = clear_images.parse({"a": second / "export" / "clear10-train-image-only.tar"},
                             edition="present")
  assert sum(1 for _ in found) == 399


def test_features_of_a_keras_model_serve_as_well(source, tmp_path):
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  inputs = tf.keras.Input((16, 16, 3))
  tf.keras.Model(inputs, tf.keras.layers.GlobalAveragePooling2D()(inputs)).save(
      tmp_path / "mean.keras")
  work = tmp_path / "work"
  arguments = ("--table", source / "images.csv", "--weights", tmp_path / "mean.keras")
  assert not _run(work, "encode", *arguments)
  assert not _run(work, "buckets", "--table", source / "images.csv", "--num", 2)
  (tmp_path / "q.csv").write_text("class,id\nbus,001\ncamera,002\ncamera,012\n")
  assert not _run(work, "queries", "--queries", tmp_path / "q.csv", "--share", 0.02,
                  "--background", 0, "--first", 0)
  found = _lines(work / "queries" / "candidates.csv")
  assert {line["class"] for line in found} == {"bus", "camera"}
  best = next(line for line in found if line["class"] == "bus" and line["bucket"] == "0")
  assert best["id"] == "001" and best["score"] == "1.000000000"


def test_text_queries_by_clip(source, tmp_path, monkeypatch, capsys):
  monkeypatch.setattr(weight_files, "load", functools.cache(weight_files.load))  # Builds two nets.
  clip = pathlib.Path(__file__).parents[2] / "models/clip/small_clip"
  work = tmp_path / "work"
  assert not _run(work, "encode", "--table", source / "images.csv", "--clip", clip)
  assert not _run(work, "buckets", "--table", source / "images.csv", "--num", 2)
  asked = ["--text", "cat", "--text", "lap=a laptop", "--template", "a photo of a {}",
           "--template", "{}", "--share", 0.05]
  assert not _run(work, "queries", "--clip", clip, *asked)
  encoder = encoders.load_clip(clip, templates=["a photo of a {}", "{}"])
  wanted = encoder.encode_text(["cat"])[0]
  features = np.load(work / "encode" / "features.npy").astype(np.float64)
  scores = features @ wanted / np.linalg.norm(features, axis=1)
  ids = [line["id"] for line in _lines(source / "images.csv")]
  for line in _lines(work / "queries" / "candidates.csv"):
    if line["class"] == "cat":
      assert abs(float(line["score"]) - scores[ids.index(line["id"])]) < 1e-6
  (tmp_path / "q.csv").write_text("class,prompt\nmug,a cat\n")
  other = tmp_path / "other"
  shutil.copytree(clip, other)
  content = bytearray((other / "model.safetensors").read_bytes())
  content[-2] ^= 1
  (other / "model.safetensors").write_bytes(content)
  assert "weights of another CLIP than the one that encoded" in _fails(
      capsys, work, "queries", "--clip", other, "--queries", tmp_path / "q.csv")
  assert not _run(work, "queries", "--clip", clip, "--queries", tmp_path / "q.csv",
                  "--share", 0.05, "--again")
  assert "need --clip DIR" in _fails(capsys, work, "queries", "--text", "cat")
  assert "need one {} each" in _fails(capsys, work, "queries", "--clip", clip, "--text", "cat",
                                      "--template", "a cat")


def test_the_scales_are_those_of_encoders():
  assert curate_commands.SCALES == encoders.SCALES

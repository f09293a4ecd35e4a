# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A resized copy has the examples of its split, is made once, and survives a kill."""

from __future__ import annotations

import json
import pathlib
import shutil
import threading

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import prepared_sets
from suite.data.images import resized_copy
from suite.data.images import tfds_source

SIDE = 4  # The pictures have 6 to 8 x 7 pixels.


@pytest.fixture(name="data_dir")
def _data_dir(pictures_dir, tmp_path, monkeypatch):
  monkeypatch.setattr(resized_copy, "SHARD_SIZE", 8)  # 23 pictures: 8, 8, 7.
  return shutil.copytree(pictures_dir, tmp_path / "data")


def _source(data_dir, config="mixed", side=SIDE):
  return prepared_sets.open_source(f"suite_test_pictures/{config}", "train", data_dir=data_dir,
                                   resized_side=side)


def _folder(data_dir, config="mixed", side=SIDE):
  version = pathlib.Path(data_dir, "suite_test_pictures", config, "1.0.0")
  return version / "resized" / str(side) / "train"


@pytest.mark.parametrize("config", ["mixed", "multi_hot"])
def test_examples_are_those_of_the_split_with_smaller_images(data_dir, config):
  images, labels, ids = _source(data_dir, config).read()
  originals, wanted_labels, wanted_ids = _source(data_dir, config, side=None).read()
  np.testing.assert_array_equal(labels, wanted_labels)
  assert labels.dtype == wanted_labels.dtype and ids == wanted_ids
  for image, original in zip(images, originals):
    pixels = tf.io.decode_png(image, 3)
    before = tf.io.decode_image(original, 3)
    height, width = before.shape[:2]
    shorter = min(height, width)
    sides = [round(height * SIDE / shorter), round(width * SIDE / shorter)]
    assert list(pixels.shape[:2]) == sides and min(sides) == SIDE
    # An oracle: each new pixel is a triangle-weighted mean of the old ones, first along y, then x.
    rows = _triangle(height, sides[0]) @ np.asarray(before, np.float64).reshape(height, -1)
    found = np.einsum("xw,hwc->hxc", _triangle(width, sides[1]),
                      rows.reshape(sides[0], width, 3))
    np.testing.assert_allclose(pixels, found, atol=0.51)


def _triangle(old, new):
  """Weights [new, old] of antialiased bilinear resizing."""
  scale = old / new
  centers = (np.arange(new) + 0.5) * scale
  weights = np.maximum(0, 1 - np.abs(np.arange(old)[None] + 0.5 - centers[:, None]) / scale)
  return weights / weights.sum(1, keepdims=True)


def test_smaller_images_keep_their_bytes_and_records_say_how_many_do_not(data_dir):
  source = _source(data_dir, side=6)
  images, originals = source.read()[0], _source(data_dir, side=None).read()[0]
  sides = [min(tf.io.decode_image(one).shape[:2]) for one in originals]
  assert [a == b for a, b in zip(images, originals)] == [side <= 6 for side in sides]
  about = source.describe()
  assert about["side"] == 6 and about["resized"] == sum(side > 6 for side in sides) > 0
  assert about == _source(data_dir, side=6).describe() and len(about["sha256"]) == 16


def test_a_copy_is_made_once_and_again_if_the_data_changed(data_dir, monkeypatch):
  before = _source(data_dir).read()
  calls = []
  made = resized_copy._write_shard
  monkeypatch.setattr(resized_copy, "_write_shard", lambda *a: calls.append(a) or made(*a))
  assert _source(data_dir).read()[0] == before[0] and not calls
  path = _folder(data_dir) / resized_copy.MANIFEST
  manifest = json.loads(path.read_text())
  manifest["of"]["num_bytes"] += 1
  path.write_text(json.dumps(manifest))
  (_folder(data_dir) / "of.json").write_text(json.dumps(manifest["of"]))
  assert _source(data_dir).read()[0] == before[0] and len(calls) == 3


def test_a_killed_process_leaves_whole_shards_and_the_next_resumes(data_dir, monkeypatch):
  whole = _source(data_dir).describe()
  shutil.rmtree(_folder(data_dir))
  made, calls = resized_copy._write_shard, []

  def until(stop):
    def write(*arguments):
      if len(calls) == stop:
        raise KeyboardInterrupt
      calls.append(arguments[1].name)
      return made(*arguments)
    return write

  monkeypatch.setattr(resized_copy, "_write_shard", until(2))
  with pytest.raises(KeyboardInterrupt):
    _source(data_dir)
  # Killed between a shard and its facts: the shard is written again.
  (_folder(data_dir) / "00001.json").unlink()
  monkeypatch.setattr(resized_copy, "_write_shard", until(99))
  assert _source(data_dir).describe() == whole
  assert calls == ["00000.tfrecord", "00001.tfrecord", "00001.tfrecord", "00002.tfrecord"]


def test_runs_that_start_together_make_one_copy(data_dir, monkeypatch):
  calls, made = [], resized_copy._write_shard
  monkeypatch.setattr(resized_copy, "_write_shard", lambda *a: calls.append(a) or made(*a))
  found = []
  threads = [threading.Thread(target=lambda: found.append(_source(data_dir).describe()))
             for _ in range(3)]
  for thread in threads:
    thread.start()
  for thread in threads:
    thread.join()
  assert len(calls) == 3 and found[0] == found[1] == found[2]


def test_a_changed_shard_is_refused(data_dir):
  _source(data_dir)
  path = _folder(data_dir) / "00001.tfrecord"
  data = bytearray(path.read_bytes())
  data[-1] ^= 1
  path.write_bytes(data)
  with pytest.raises(ValueError, match="00001.tfrecord is missing or was changed.*Delete .*train"):
    _source(data_dir)


def test_a_copy_can_be_streamed_and_cut(data_dir):
  source = _source(data_dir)
  streamed = prepared_sets.StreamedSet(source)
  held = prepared_sets.read_source(source)
  np.testing.assert_array_equal(streamed.ids, held.ids)
  transform = image_ops.Nevis(3)
  for a, b in zip(streamed.eval_batches(7, transform=transform),
                  held.eval_batches(7, transform=transform)):
    np.testing.assert_array_equal(a["image"], b["image"])
  first, last = streamed.split(0.3, seed=0)
  assert [*first.ids, *last.ids] == list(held.ids) and last.size == 7
  batch = next(iter(streamed.train_batches(23, seed=(0, 1), transform=transform)))
  assert sorted(batch["id"].numpy().tolist()) == sorted(i.encode() for i in held.ids)


def test_an_image_that_cannot_be_decoded_is_named(data_dir, monkeypatch):
  read = tfds_source.SplitSource.examples

  def broken(self):
    return read(self).map(lambda e: {
        **e, "image": tf.where(e["id"] == "picture_11", "no image", e["image"])})

  monkeypatch.setattr(tfds_source.SplitSource, "examples", broken)
  with pytest.raises(ValueError, match="Image 'picture_11' of data set .* cannot be decoded"):
    _source(data_dir, "same_shape")


def test_least_side_is_eight_sevenths():
  assert [resized_copy.least_side(size) for size in (7, 32, 64, 224)] == [8, 37, 74, 256]
  with pytest.raises(ValueError, match="resized_side=0"):
    resized_copy.open_split(None, 0)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An image that one task is scored on is not trained on in another."""

from __future__ import annotations

import dataclasses
import functools
import pathlib

import numpy as np
import pytest

from suite.data.images import prepared_sets
from suite.data.images import tfds_source
from suite.data.streams import streams
import tfds_builders
from tfds_builders import testing
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.object import cifar10
from tfds_builders.rows.nevis.ocr import mnist


class _Parser:
  """Two source splits; `train` and `test` are lists of seeds, one an image."""

  @staticmethod
  def parse(paths, *, train, test):
    del paths
    for split, seeds in (("train", train), ("test", test)):
      for seed in seeds:
        yield example.Example(split, f"{split}/{seed}", seed % 2,
                              images.png(fixtures.pixels((4, 4), seed)), f"image {seed}")


def _build(row, data_dir, mirror_dir, **seeds):
  (mirror_dir / "x").write_text("")
  layout = row_lib.Layout(_Parser, (row_lib.File("x"),), args=seeds)
  row = dataclasses.replace(row, layouts=(layout,), num_classes=row.num_classes, tfds=None)
  with testing.installed(row, mirror_dir):
    tfds_builders.build(f"nevis/{row.name}", data_dir)


@pytest.fixture(scope="module", name="data_dir")
def _data_dir(tmp_path_factory):
  """MNIST's test images 100..104 are among the training images of "CIFAR-10"."""
  data_dir, mirror_dir = tmp_path_factory.mktemp("data"), tmp_path_factory.mktemp("mirror")
  _build(mnist.ROW, data_dir, mirror_dir, train=range(50), test=range(100, 120))
  _build(cifar10.ROW, data_dir, mirror_dir, train=[*range(200, 240), *range(100, 105)],
         test=range(300, 310))
  return str(data_dir)


def _delivered(data_dir, **options):
  stream = streams.nevis(["mnist", "cifar10"], data_dir=data_dir, **options)
  event = next(e for e in stream.events() if (e.kind, e.task_key) == ("train", "cifar10"))
  experience = stream.deliver(event)
  ids = {*experience.train.ids, *experience.dev.ids,
         *stream.held_out(event, "validation").ids}
  return ids, stream.shared(event)


def test_shared_images_leave_training_and_validation_and_are_counted(data_dir):
  ids, shared = _delivered(data_dir)
  assert ids == {f"train/{seed}" for seed in range(200, 240)}
  assert sum(part["removed"] for part in shared.values()) == 5


def test_they_leave_sets_that_are_read_from_disk_too(data_dir, monkeypatch):
  held, shared = _delivered(data_dir)
  monkeypatch.setattr(prepared_sets, "read_source", functools.partial(
      prepared_sets.read_source, memory_limit_bytes=0))
  assert _delivered(data_dir) == (held, shared)
  # All records were read for it once; a file of other data is not believed.
  folder = pathlib.Path(tfds_source.folder("nevis/cifar10", data_dir=data_dir))
  path = folder / "record_digests" / "train.npy"
  stored = np.load(path)
  assert stored.dtype == np.uint64
  np.save(path, stored[::-1] + np.uint64(1))
  np.testing.assert_array_equal(
      streams.record_digests("nevis/cifar10", "train", data_dir=data_dir), stored)


def test_they_can_be_kept(data_dir):
  ids, shared = _delivered(data_dir, shared_images="keep")
  assert len(ids) == 45
  assert shared == {split: {"removed": 0} for split in ("train", "dev", "validation")}
  with pytest.raises(ValueError, match="shared_images='no'; allowed are 'remove' and 'keep'"):
    streams.nevis("small", shared_images="no")


def test_a_repeated_data_set_does_not_lose_its_own_images(data_dir):
  scored = streams.ScoredImages(["nevis/mnist", "nevis/mnist"], data_dir=data_dir)
  assert scored.of_others("nevis/mnist", "train").size == 0
  # 20 test images, and .15 of the 50 training images, 25 a class, are MNIST's validation.
  assert scored.of_others("nevis/cifar10", "validation").size == 20
  num_validation = streams.digests("nevis/mnist", "validation", data_dir=data_dir).size
  assert 6 <= num_validation <= 8
  for split in ("train", "dev"):
    assert scored.of_others("nevis/cifar10", split).size == 20 + num_validation


def test_digests_of_what_is_not_prepared_are_none(tmp_path):
  found = streams.digests("nevis/mnist", "test", data_dir=str(tmp_path))
  assert found.dtype == np.uint64 and found.size == 0

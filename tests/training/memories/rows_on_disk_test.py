# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows on disk are those of an array; whole runs: tests/learners/examples_on_disk_test.py."""

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import rehearsal
from suite.data.images import image_ops
from suite.state import snapshots
from suite.state import weight_store
from suite.training.memories import rows_on_disk

IMAGES = np.random.default_rng(0).integers(0, 256, [9, 4, 4, 3]).astype(np.uint8)
ORDER = [7, 0, 8, 8, 3]


def opened(folder, event=3):
  form = image_ops.AsEvaluated(image_ops.Nevis(4))
  rows = rows_on_disk.RowsOnDisk(form, tf.uint8)
  rows.open(weight_store.WeightStore(folder, event))
  return rows


def test_rows_of_all_events_are_read_in_any_order_and_in_a_graph(tmp_path):
  rows = opened(tmp_path)
  numbers = [rows.keep([IMAGES[:2], IMAGES[2:3]]), rows.keep([IMAGES[3:5]])]
  rows.open(weight_store.WeightStore(tmp_path, 5))
  numbers = np.concatenate([*numbers, rows.keep([IMAGES[5:]])])
  assert numbers.dtype == np.int64 and len(set(numbers.tolist())) == 9 and 0 not in numbers
  for found in (rows, opened(tmp_path, event=7)):  # A new process has the same rows.
    np.testing.assert_array_equal(found.read(numbers[ORDER]), IMAGES[ORDER])
  seeds = tf.constant(range(5), tf.uint64)
  train = tf.function(rows.train, autograph=False)(tf.constant(numbers[ORDER]), seeds)
  np.testing.assert_array_equal(train, rows.form.train(tf.constant(IMAGES[ORDER]), seeds))
  np.testing.assert_array_equal(rows.evaluate(tf.constant([0, numbers[1]])),
                                [np.zeros([4, 4, 3]), IMAGES[1]])


def test_an_event_that_begins_again_writes_the_same_files(tmp_path):
  def write():
    rows = opened(tmp_path)
    numbers = rows.keep([IMAGES[:4]])
    return numbers.tolist(), {p.name: p.read_bytes() for p in (tmp_path / "examples").iterdir()}

  assert write() == write()


def test_a_failed_write_leaves_no_file_and_a_lost_or_cut_one_is_named(tmp_path):
  rows = opened(tmp_path)

  def breaking():
    yield IMAGES[:1]
    raise OSError("No space left on device")

  with pytest.raises(snapshots.SaveError, match="training examples.*No space left"):
    rows.keep(breaking())
  assert not list((tmp_path / "examples").iterdir())
  numbers = opened(tmp_path).keep([IMAGES])
  path, = (tmp_path / "examples").iterdir()
  path.write_bytes(path.read_bytes()[:-5])
  with pytest.raises(snapshots.DamagedError, match=f"{path.name}.*Restore it from a copy"):
    opened(tmp_path).read(numbers)
  path.unlink()
  with pytest.raises(snapshots.DamagedError, match=f"{path.name}.*Restore it from a copy"):
    opened(tmp_path).read(numbers)


def test_a_rehearsal_makes_files_of_the_same_size_without_content(tmp_path):
  rows = opened(tmp_path)
  with rehearsal.begun():
    numbers = rows.keep([IMAGES[:4], IMAGES[4:]])
  path, = (tmp_path / "examples").iterdir()
  assert len(numbers) == 9 and path.stat().st_size == IMAGES.nbytes
  np.testing.assert_array_equal(rows.read(numbers), np.zeros_like(IMAGES))

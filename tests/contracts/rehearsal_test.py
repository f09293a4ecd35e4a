# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A rehearsal takes fewer steps; that it charges what the run charges: method_matrix_test.py."""

from __future__ import annotations

import resource
import time
import weakref

import matrix_runs
import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.compute import flops
from suite.configs import methods
from suite.contracts import rehearsal
from suite.data.images import tfds_source
from suite.training.memories import gss
from suite.training.memories import memory
from suite.training.memories import reservoir

METHODS = {method.name: method for method in methods.load()}


class _Owner:
  pass


def test_steps_are_measured_once_and_left_out():
  owner, calls = _Owner(), []

  def run(num):
    calls.append(num)
    time.sleep(0.001 * num)
    return num

  assert rehearsal.few(owner, "a", 100, run) == 100 and calls == [100]
  with rehearsal.begun() as found:
    first = rehearsal.few(owner, "a", 100, run)
    taken = list(calls)
    assert rehearsal.few(owner, "a", 1000, run) == first
    assert rehearsal.few(owner, "a", 1, run) == 1
  assert sum(taken[1:]) < 20 and calls[:-1] == taken and calls[-1] == 1
  assert found.skipped_seconds > 0
  assert isinstance(found._known, weakref.WeakKeyDictionary)


@pytest.mark.parametrize("blank, taken", [(None, [1]), (lambda: "blank", [])])
def test_without_measuring_no_step_is_taken_that_is_not_needed(blank, taken):
  owner, calls = _Owner(), []
  with rehearsal.begun(measures=False) as found:
    for num in (100, 1000):
      result = rehearsal.few(owner, "a", num, calls.append, blank=blank)
  assert calls == taken and found.skipped_seconds == 0
  assert result == (blank and blank())


def test_without_measuring_rows_are_zeros_of_the_shape_of_one():
  def one():
    return np.ones([1, 3], np.float16)

  with rehearsal.begun(measures=False):
    found = rehearsal.rows(_Owner(), "a", 5, 2, lambda num: pytest.fail("taken"), one)
    like = rehearsal.rows(_Owner(), "a", 2, 2, lambda num: np.ones([num, 4], np.int8))
  assert found.tolist() == [[0, 0, 0]] * 5 and found.dtype == np.float16
  assert like.tolist() == [[0] * 4] * 2 and like.dtype == np.int8


def test_what_each_event_writes_is_written_at_the_first_and_counted_at_all(monkeypatch):
  clock, calls, owner = [0.0], [], _Owner()
  monkeypatch.setattr(rehearsal.time, "monotonic", lambda: clock[0])

  def write():
    calls.append(clock[0])
    clock[0] += 3.0

  for _ in range(3):
    rehearsal.save(owner, write)
  assert len(calls) == 3
  with rehearsal.begun() as found:
    for _ in range(7):
      rehearsal.save(owner, write)
    assert len(calls) == 5 and found.skipped_seconds == 5 * 3.0
    rehearsal.save(_Owner(), write)
  assert len(calls) == 6


def test_a_rehearsed_run_saves_its_last_event(tmp_path):
  run = matrix_runs.CellRun(tmp_path, METHODS["finetune"], "clear", "")
  with rehearsal.begun(), stopped_runs.state(tmp_path / "x") as state:
    run._run(state)
    done = state.done
    state.flush()
  with stopped_runs.state(tmp_path / "x") as state:
    assert state.done == done > 3


def test_rows_repeat_the_first_ones():
  with rehearsal.begun():
    found = rehearsal.rows(_Owner(), "a", 5, 2, lambda num: np.arange(3 * num).reshape(num, 3))
  assert found.tolist() == [[0, 1, 2], [3, 4, 5]] * 2 + [[0, 1, 2]]


def test_batches_of_rows_take_as_long_as_those_that_were_measured(monkeypatch):
  clock = [0.0]
  monkeypatch.setattr(rehearsal.time, "monotonic", lambda: clock[0])

  def run(num):
    clock[0] += 0.1 * num
    return np.zeros([num, 3])

  with rehearsal.begun() as found:
    rehearsal.rows(_Owner(), "a", 2000, 2, run)
  assert clock[0] + found.skipped_seconds == pytest.approx(200.0)


def test_missing_data_is_stood_in_for_and_named(tmp_path):
  with rehearsal.begun() as found:
    train = tfds_source.open_split("cfsl_omniglot/images", "train", data_dir=str(tmp_path))
    test = tfds_source.open_split("cfsl_omniglot/images", "test[:40]", data_dir=str(tmp_path))
    encoded, labels, ids = test.read()
    bucket = tfds_source.open_split("clear10/moco_b0", "bucket_03", data_dir=str(tmp_path))
  assert train.size == 24_000  # 1,200 characters with 20 drawings each.
  assert len(encoded) == 40 and labels.min() == 1411 and len(set(ids)) == 40
  assert bucket.size == 3300 and bucket.num_classes == 11
  assert found.missing["cfsl_omniglot/images"][1].startswith("suite data build cfsl_omniglot")
  with pytest.raises(FileNotFoundError, match="is not prepared"):
    tfds_source.open_split("cfsl_omniglot/images", "train", data_dir=str(tmp_path))


def test_alike_rehearsals_count_what_they_share_once():
  counted = []

  def ask(size, alike, **options):
    with rehearsal.begun(**{"measures": False, **options}, alike=alike) as found:
      cost = rehearsal.counted("step", (1, size), lambda: (
          counted.append(size), flops.Cost(100 + 10 * size, size))[1])
    return cost.flops, cost.macs, found.num_followed

  one, other = ((("", "f"), "a", "1"),), ((("", "f"), "a", "2"),)
  asked = [ask(size, one) for size in (1, 2, 2, 3, 7)]
  # 3 follows from 1 and 2, and is counted to confirm it; 7 follows.
  assert asked == [(110, 1, 0), (120, 2, 0), (120, 2, 0), (130, 3, 0), (170, 7, 1)]
  assert counted == [1, 2, 3]
  for alike, options in ((other, {}), (None, {}), (one, {"measures": True})):
    assert ask(7, alike, **options) == (170, 7, 0)
  assert counted == [1, 2, 3, 7, 7, 7]


def test_a_setting_that_is_a_size_of_the_terms_is_no_difference():
  counted = []

  def ask(size, *settings):
    alike = tuple((("", "f"), name, str(value)) for name, value in settings)
    with rehearsal.begun(measures=False, alike=alike):
      return rehearsal.counted("sized", (1, size), lambda: (
          counted.append(size), flops.Cost(10 * size, size))[1], {"sets": size}).flops

  assert [ask(3, ("sets", 3)), ask(3, ("sets", 3)), ask(5, ("sets", 5))] == [30, 30, 50]
  assert counted == [3, 5]
  # Another value, another name, and none at all are differences.
  for settings in ([("sets", 4)], [("steps", 3)], []):
    assert ask(3, *settings) == 30
  assert counted == [3, 5, 3, 3, 3]


def test_alike_rehearsals_count_graphs_of_the_same_shapes_once():
  counted, variables = [], [tf.Variable([1.0, 2.0])]

  def ask(rows, **options):
    with rehearsal.begun(measures=False, alike=((("", "rows"), "a", "1"),), **options):
      return rehearsal.traced("step", variables, tf.TensorSpec([rows, 3]), lambda: (
          counted.append(rows), flops.Cost(rows, rows))[1]).flops

  assert [ask(rows) for rows in (2, 2, 3, 4)] == [2, 2, 3, 4] and counted == [2, 3, 4]
  variables.append(tf.Variable([0, 1]))
  assert ask(2) == 2 and counted == [2, 3, 4, 2]


def test_data_is_read_once_and_noted_in_each_rehearsal():
  reads, data = [], {}

  def read(name):
    def make():
      reads.append(name)
      rehearsal.holds(3)
      rehearsal.current().missing[name] = "it is not prepared", "build it"
      return [name]

    return rehearsal.shared("reader", name, make)

  for name in ("a", "a", "b", "a"):
    with rehearsal.begun(measures=False, data=data) as found:
      found.missing["other"] = "why", ""
      rehearsal.holds(1)
      assert read(name) == read(name) == [name]
    assert set(found.missing) == {"other", name} and found.array_bytes == 7
  assert reads == ["a", "b", "a"]  # A reader's last data is kept.
  with rehearsal.begun(measures=False):  # Alone.
    assert read("a") == ["a"]
  with rehearsal.begun(data=data):  # Reading is measured.
    assert read("a") == ["a"]
  assert reads == ["a", "b", "a", "a", "a"]


def test_data_that_cannot_be_read_is_noted_and_not_kept():
  data = {}

  def fails():
    rehearsal.current().missing["name"] = "why", ""
    raise ValueError("no")

  with rehearsal.begun(measures=False, data=data) as found, pytest.raises(ValueError, match="no"):
    rehearsal.shared("reader", "key", fails)
  assert list(found.missing) == ["name"] and not data


def test_without_measuring_large_variables_take_no_memory_and_are_not_written():
  def make():
    return tf.eye(4), tf.eye(3000, batch_shape=[20])  # 720 MB.

  with rehearsal.begun(measures=False) as found:
    before = _resident_bytes()
    few, many = map(tf.Variable, rehearsal.blanked(make))
    assert list(rehearsal.unwritten([few, many])) == ["0"]
    assert found.disk_bytes == 4 * 16 + 2 * 720_000_000  # Of the last two states.
    assert _resident_bytes() - before < 100_000_000 and many.shape == [20, 3000, 3000]
    assert not many[3, 3].numpy().any()
  assert rehearsal.blanked(lambda: tf.eye(2)).numpy().tolist() == [[1, 0], [0, 1]]


def _resident_bytes():
  with open("/proc/self/statm", encoding="utf-8") as file:
    return int(file.read().split()[1]) * resource.getpagesize()


def test_without_measuring_rows_that_a_run_holds_take_no_memory():
  shape = [6000, 200, 200, 3]  # 720 MB.
  before = _resident_bytes()
  with rehearsal.begun(measures=False) as found:
    images = rehearsal.large(shape, tf.uint8, lambda: pytest.fail("made"))
    both = rehearsal.joined([images, images])
    kept = memory.Memory(3000, gss.Gss())
    kept.build(shape[1:], tf.uint8, seed=(1, 2), num_classes=2)
    for size in (2000, 3000):  # Gradients are not compared.
      kept.add(images[:2000], tf.zeros([2000], tf.int64), compare=lambda *_: pytest.fail("done"))
      held = kept.held()
      assert [*held.codes.shape] == [size, *shape[1:]] and held.labels.shape == [size]
    numbered = memory.Memory(3000, reservoir.Reservoir())  # With 720 MB of logits.
    numbered.build([], tf.int64, seed=(1, 2), num_classes=60_000, with_logits=True)
    logits = rehearsal.large([3000, 60_000], tf.float32, lambda: pytest.fail("made"))
    numbered.add(tf.range(3000, dtype=tf.int64), tf.zeros([3000], tf.int64), logits)
    held = numbered.held()
    assert held.logits.shape == [3000, 60_000] and len(np.unique(held.codes)) == 3000
    assert rehearsal.stored(both).shape == [0, *shape[1:]]
    assert found.disk_bytes == 2 * 720_000_000 and both.shape == [12_000, *shape[1:]]
    assert rehearsal.large([2, 3], tf.uint8, lambda: 5) == 5  # Few rows are made, and stored.
    for rows in (tf.ones([2, 3], tf.uint8), tf.zeros([200_000], tf.int64)):
      assert rehearsal.stored(rows) is rows
    rows = rehearsal.zeros(shape, np.uint8)
    assert rehearsal.large([200_000], tf.int64, lambda: 5) == 5
    shared, part = rehearsal.tensor(rows), rehearsal.tensor(rows[1:4, 1:, 1:])
    rows[2, 3, 4] = 7  # A tensor of a part that is not contiguous is a copy.
    assert shared[2, 3, 4, 0] == 7 and not part.numpy().any()
  assert _resident_bytes() - before < 100_000_000
  assert not images[0].numpy().any()
  assert rehearsal.large(shape, tf.uint8, lambda: 5) == 5
  assert rehearsal.stored(images) is images


def test_variables_that_are_made_where_nothing_is_measured_take_no_memory():
  def drawn(shape, dtype=None):
    return pytest.fail("drawn")

  held = _resident_bytes()
  with rehearsal.blank_variables():
    layers = [tf.keras.layers.Dense(2000, kernel_initializer=drawn) for _ in range(20)]
    for layer in layers:
      layer.build([None, 2000])
    optimizer = tf.keras.optimizers.SGD(momentum=0.9, jit_compile=False)
    optimizer.build([layer.kernel for layer in layers])
    small = tf.Variable(tf.ones([3]))
    number = tf.Variable(tf.ones([2**20], tf.int64))
    halved = tf.Variable(tf.ones([2**20], tf.bfloat16))
  # 320 MB of weights and as many of momentum.
  assert _resident_bytes() - held < 100_000_000
  kernel = layers[0].kernel
  assert kernel.shape == (2000, 2000) and kernel.dtype == tf.float32
  assert not kernel[:2, :2].numpy().any()
  assert small.numpy().all() and number.numpy().all()
  assert halved.dtype == tf.bfloat16 and not halved.numpy().any()
  kernel[:1].assign(tf.ones([1, 2000]))  # They can be changed.
  assert kernel[0, 0].numpy() == 1 and not optimizer.variables[-1][0, 0].numpy()
  made = tf.keras.layers.Dense(2, kernel_initializer="ones")
  made.build([None, 2**19])
  assert made.kernel.numpy().all()  # As before.

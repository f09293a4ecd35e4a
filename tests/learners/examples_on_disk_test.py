# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets and memories on disk give the records of those on the device, byte by byte."""

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf
import unconverted

from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import clear_transform
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.protocols import clear
from suite.training.episodic import fomaml
from suite.training.gradient import class_heads
from suite.training.gradient import trainable_parts
from suite.training.memories import gss
from suite.training.memories import memory
from suite.training.objectives import ewc

# All ways to read stored rows: replayed, in a memory's rule; of past buckets, of the first
# validation split, which an objective observes.
COMPOSITIONS = {
    "gss": lambda: {"memory": memory.Memory(12, gss.Gss(subset=2)), "replay_batch": 4},
    "ewc_all": lambda: {"objective": ewc.Ewc(anchor="first"), "train_on": "all", "reset": True},
}


def buckets(several_sizes):
  """Two buckets of images that are stored uncropped."""
  def images(name, seed, num):
    rng = np.random.default_rng(seed)
    if not several_sizes:
      return image_set.ImageSet.from_arrays(
          name, rng.integers(0, 256, [num, 8, 13, 3]).astype(np.uint8), np.arange(num) % 2,
          kind=tasks.SINGLE_LABEL, num_classes=2)
    encoded = [tf.io.encode_png(rng.integers(0, 256, [8, side, 3]).astype(np.uint8)).numpy()
               for side in rng.integers(8, 14, num)]
    return image_set.ImageSet.from_encoded(name, encoded, np.arange(num) % 2,
                                           kind=tasks.SINGLE_LABEL, num_classes=2)

  return buckets_lib.Buckets(tasks.Task("t", tasks.SINGLE_LABEL, 2), tuple(
      buckets_lib.Bucket(f"b{i}", images(f"train{i}", i, 20), images(f"test{i}", 9 + i, 6))
      for i in range(2)))


def make(**arguments):
  return gradient.GradientLearner(
      transform=clear_transform.Clear(8), epochs=2, batch_size=8, learning_rate=0.01,
      net=trainable_parts.AllLayers(two_units), **arguments)


@unconverted.unconverted
def two_units(image_shape):
  return tf.keras.Sequential([
      tf.keras.layers.Rescaling(1 / 255, input_shape=image_shape), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(2)])


def run(folder, learner, stop=None, several_sizes=False):
  with stopped_runs.state(folder, stop_before=stop) as state:
    return clear.run(learner, state=state, buckets=buckets(several_sizes), validation_share=0.2)


@pytest.mark.parametrize("name, several_sizes", [("gss", False), ("ewc_all", True)])
def test_records_are_the_same_and_a_stopped_run_goes_on(name, several_sizes, tmp_path):
  wanted = run(tmp_path / "device", make(**COMPOSITIONS[name]()), several_sizes=several_sizes)
  if name == "gss":  # Stopped and resumed.
    with pytest.raises(stopped_runs.Stop):
      run(tmp_path / "disk", make(examples_on="disk", **COMPOSITIONS[name]()), stop=3)
  on_disk = make(examples_on="disk", **COMPOSITIONS[name]())
  assert run(tmp_path / "disk", on_disk, several_sizes=several_sizes) == wanted
  assert stopped_runs.records(tmp_path / "disk") == stopped_runs.records(tmp_path / "device")
  files = list((tmp_path / "disk/weights/examples").iterdir())
  row = 17 * 8 * 3  # A line of facts, and twice as many lines as a square has.
  assert sum(path.stat().st_size for path in files) >= 2 * 16 * row
  if on_disk.memory is not None:
    assert on_disk.memory.codes.shape == [12]  # Numbers.


@pytest.mark.parametrize("arguments, message", [
    ({"examples_on": "tape"}, "examples_on is 'tape'; allowed are 'device', 'disk'"),
    ({"examples_on": "disk", "net": trainable_parts.HeadOnly()}, "Take the net AllLayers"),
    ({"examples_on": "disk", "meta": fomaml.FirstOrder(),
      "head": class_heads.Linear(start="zeros")}, "Leave examples_on or meta out")])
def test_what_cannot_be_on_disk_is_refused(arguments, message, tmp_path):
  with pytest.raises((ValueError, refusals.RefusedError), match=message):
    run(tmp_path, gradient.GradientLearner(**{
        "transform": clear_transform.Clear(8), "learning_rate": 0.1,
        "net": trainable_parts.AllLayers(two_units),
        **arguments}))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images that live on the device give the records of the host's input pipeline, byte by byte.

Without a GPU the device is the CPU: `Distribution.holds` is told to agree.
"""

from __future__ import annotations

import json

import matrix_runs
import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.configs import methods
from suite.data.images import contrastive_views
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import packed_images


@pytest.mark.parametrize("first_step", [0, 3])
def test_completed_batches_are_training_batches(first_step):
  rng = np.random.default_rng(0)
  images = image_set.ImageSet.from_arrays(
      "set", rng.integers(0, 256, [9, 6, 7, 3]).astype(np.uint8), np.arange(9) % 2,
      kind="single_label", num_classes=2)
  transform = image_ops.Nevis(4)
  before, asked = image_store.resident_bytes(), []
  assert images.on_device("CPU:0", transform, lambda size: asked.append(size)) is None
  assert asked == [9 * 126 + before]
  complete = images.on_device("CPU:0", transform, lambda size: True)
  assert images.on_device("CPU:0", transform, lambda size: False) is complete
  assert image_store.resident_bytes() == before + 9 * 126
  wanted = images.train_batches(4, seed=(1, 2), transform=transform, first_step=first_step)
  found = images.place_batches(4, seed=(1, 2), first_step=first_step)
  for a, b in zip(found.take(4), wanted):
    made = complete(a)
    assert made.keys() | {"id"} == b.keys()
    for key in made:
      np.testing.assert_array_equal(made[key], b[key])


def test_what_the_device_holds():
  one = distribution.build()
  assert not one.holds(0, 100)  # No GPU here, or the device is one.
  one.__class__ = type("OnGpu", (distribution.Distribution,), {"devices": ("/GPU:0",)})
  assert one.holds(2**31, 0.5) and not one.holds(2**31 + 1, 0.5)
  one.memory_bytes = 80 * 2**30
  assert one.holds(28 * 10**9, 0.5) and not one.holds(41 * 2**30, 0.5)


@pytest.mark.parametrize("name, protocol, extra", [
    ("indep", "nevis", "STEPS = 6\nVALIDATE_EVERY = 3\ndigits.nevis_stream.num_tasks = 1"),
    ("protonet", "cfsl", "UPDATES = 3\ncfsl.run.updates_per_event = 3\n"
     "cfsl.run.tasks_per_update = 2\ncfsl.run.test_episodes = 2\nNUM_SUPPORT_SETS = 1")])
def test_records_are_the_same(name, protocol, extra, tmp_path, monkeypatch):
  method, = (m for m in methods.load() if m.name == name)
  cell = matrix_runs.CellRun(tmp_path / "cell", method, protocol, extra)
  wanted = cell.on(distribution.build(), "host")
  calls, made = [], image_store.ResidentImages.__call__
  monkeypatch.setattr(image_store.ResidentImages, "__call__",
                      lambda *a: calls.append("nevis") or made(*a))
  monkeypatch.setattr(distribution.Distribution, "holds",
                      lambda self, size, share: calls.append("cfsl") or 0 < share < 1 < size)
  found = cell.on(distribution.build(), "device")
  assert protocol in calls and json.dumps(found) == json.dumps(wanted)


def test_sets_that_are_decoded_as_they_are_used_stay_on_the_host():
  encoded = [tf.io.encode_png(tf.zeros(shape, tf.uint8)).numpy() for shape in
             ([2, 3, 3], [3, 2, 3])]
  images = image_set.ImageSet.from_encoded("set", encoded, [0, 1], kind="single_label",
                                           num_classes=2)
  assert images.on_device("CPU:0", image_ops.Nevis(2), lambda size: True) is None


@pytest.mark.parametrize("transform", [
    image_ops.Nevis(1, uniform_in="area", area=(0.01, 1.0)),
    contrastive_views.Views((image_ops.Nevis(8), image_ops.Nevis(8, uniform_in="area")))])
def test_packed_images_are_cropped_on_the_device_pixel_by_pixel(transform):
  """Images of several sizes, in a file whose length is no multiple of a word."""
  rng = np.random.default_rng(0)
  every = [rng.integers(0, 256, [*rng.integers(1, 40, 2), 3]).astype(np.uint8) for _ in range(30)]
  sides = np.array([one.shape[:2] for one in every], np.int32)
  pixels = np.concatenate([packed_images.bordered(one).reshape(-1) for one in every])
  assert len(pixels) % 4
  store = packed_images.PackedStore(
      tf.constant(pixels), packed_images.offsets_of(sides), sides).take(np.arange(29, 3, -1))
  images = image_set.ImageSet("set", store, np.arange(26) % 2, kind="single_label", num_classes=2)
  complete = images.on_device("CPU:0", transform, lambda size: size >= len(pixels))
  step = tf.function(complete, autograph=False)
  found = images.place_batches(13, seed=(1, 2), first_step=1)
  wanted = images.train_batches(13, seed=(1, 2), transform=transform, first_step=1)
  for a, b in zip(found.take(8), wanted):
    np.testing.assert_array_equal(step(a)["image"], b["image"])
  assert images.on_device("CPU:0", image_ops.Plain(4), lambda size: True) is None

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Images far inside a file larger than 2^31 bytes are found, and the file is not read into memory.
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import packed_images

IMAGES = [np.random.default_rng(i).integers(0, 256, sides + (3,), dtype=np.uint8)
          for i, sides in enumerate([(5, 9), (12, 4), (7, 7)])]


def test_offsets_above_two_to_the_31(tmp_path):
  offsets = np.array([0, 2**31 + 5, 5 * 2**30 + 1])
  path = tmp_path / "pixels.bin"
  with open(path, "wb") as file:  # Holes take no room on the disk.
    for offset, image in zip(offsets, IMAGES):
      file.seek(offset)
      file.write(packed_images.bordered(image).tobytes())
  pixels = packed_images.mapped(path)
  assert pixels.shape == (5 * 2**30 + 1 + 9 * 9 * 3,) and pixels.dtype == tf.uint8
  store = packed_images.PackedStore(pixels, offsets, np.array([i.shape[:2] for i in IMAGES],
                                                              np.int32))
  for place, image in enumerate(IMAGES):
    np.testing.assert_array_equal(store.image(place), image)
  images = image_set.ImageSet("big", store, [0, 1, 2], kind="single_label", num_classes=3)
  before = _own_memory()
  transform = image_ops.Nevis(4)
  [batch] = images.eval_batches(4, transform=transform)
  want = [transform.evaluate(tf.constant(image[None]))[0] for image in IMAGES]
  np.testing.assert_array_equal(batch["image"], [*want, np.zeros([4, 4, 3])])
  complete = images.on_device("CPU:0", transform, lambda size: size == len(pixels))
  placed = {"place": tf.constant([2, 0, 1], tf.int64), "seed": tf.zeros([3], tf.uint64)}
  want = [transform.train(tf.constant(image[None]), placed["seed"][:1])[0] for image in IMAGES]
  np.testing.assert_array_equal(
      complete(placed)["image"], [want[place] for place in placed["place"]])
  assert _own_memory() - before < 2**29


def _own_memory():
  with open("/proc/self/status", encoding="utf-8") as file:
    return next(int(line.split()[1]) * 1024 for line in file if line.startswith("RssAnon"))


def test_offsets_are_those_of_images_with_a_border():
  sides = np.array([[2, 3], [1, 1], [40_000, 30_000], [5, 5]])
  assert packed_images.offsets_of(sides).tolist() == [
      0, 4 * 5 * 3, 60 + 27, 87 + 40_002 * 30_002 * 3]

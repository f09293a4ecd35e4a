# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np

from suite.data.images import image_ops
from suite.data.sequences import with_crop


def test_both_views_are_stacked_and_the_random_one_follows_the_sample_alone():
  images = np.random.default_rng(0).integers(0, 256, [5, 12, 12, 3], np.uint8)
  crops = image_ops.Nevis(6, area=(0.3, 0.9))
  made = with_crop.WithCrop(crops)
  found = made.evaluate(images).numpy()
  assert found.shape == (5, *made.shape) == (5, 6, 6, 6)
  np.testing.assert_array_equal(found[..., :3], crops.evaluate(images))
  assert np.any(found[..., :3] != found[..., 3:], axis=(1, 2, 3)).all()
  for i in range(5):
    np.testing.assert_array_equal(made.evaluate(images[i:i + 1])[0], found[i])
  other = with_crop.WithCrop(crops, seed=1).evaluate(images).numpy()
  assert np.any(other[..., 3:] != found[..., 3:])

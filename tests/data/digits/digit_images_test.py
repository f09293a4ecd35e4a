# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is done to digits."""

from __future__ import annotations

import numpy as np

from suite.data.digits import digits


def test_source_is_scaled_to_bytes_and_read_only():
  images, labels = digits.load()
  assert images.shape == (1797, 8, 8, 1) and images.dtype == np.uint8 and images.max() == 255
  assert images[0, 0, 2, 0] == 80  # 5 of 16.
  assert labels[:10].tolist() == list(range(10)) and not images.flags.writeable


def test_a_quarter_turn_is_counter_clockwise():
  image = np.asarray([[1, 2], [3, 4]], np.uint8)[None, ..., None]
  assert digits.quarter_turn(image)[0, ..., 0].tolist() == [[2, 4], [1, 3]]


def test_no_lean_and_no_fade_change_nothing():
  images, _ = digits.load()
  np.testing.assert_array_equal(digits.lean_and_fade(images, degrees=0, fade=0), images)
  faded = digits.lean_and_fade(images, degrees=0, fade=0.5)
  np.testing.assert_array_equal(faded, np.round(images / 2).astype(np.uint8))
  turned = digits.lean_and_fade(images, degrees=90, fade=0)
  np.testing.assert_array_equal(turned, digits.quarter_turn(images))


def test_noise_is_the_same_each_time():
  images, _ = digits.load()
  first, second = (digits.noisy_negative(images) for _ in range(2))
  np.testing.assert_array_equal(first, second)


def test_mosaics_are_laid_out_by_rows():
  parts = np.arange(4, dtype=np.uint8).reshape(1, 4, 1, 1, 1)
  assert digits.mosaics(parts)[0, ..., 0].tolist() == [[0, 1], [2, 3]]

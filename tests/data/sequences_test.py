# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences: labels follow their samples, and counts have a long tail."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data import sequences

IMAGES = np.arange(5, dtype=np.uint8)[:, None, None, None] * np.ones([1, 2, 2, 3], np.uint8)


def _sequence(**values):
  return sequences.Sequence(IMAGES, [0, 2, 1, 2, 0], list("abcde"), num_base_classes=1, **values)


def test_a_label_is_revealed_after_its_sample_only():
  made = _sequence()
  with pytest.raises(sequences.NotDeliveredError, match="label of sample 0 .* 0 samples have been"):
    made.reveal(0)
  assert made.deliver(0)[0, 0, 0] == 0 and made.reveal(0) == 0
  with pytest.raises(sequences.NotDeliveredError, match="1 samples have been delivered so far"):
    made.reveal(1)
  assert made.deliver(1)[0, 0, 0] == 1 and made.reveal(1) == 2 and made.reveal(0) == 0
  with pytest.raises(sequences.NotDeliveredError):
    made.reveal(-1)


def test_a_run_that_resumes_may_look_back():
  made = _sequence()
  made.deliver(3)
  assert [made.reveal(t) for t in range(4)] == [0, 2, 1, 2]
  with pytest.raises(IndexError, match="Sample 5 of a sequence of 5"):
    made.deliver(5)


def test_sizes():
  assert len(_sequence()) == 5 and _sequence().num_classes == 3
  assert _sequence(num_classes=4).class_counts().tolist() == [2, 1, 2, 0]
  with pytest.raises(ValueError, match="5 images, 1 labels and 1 ids"):
    sequences.Sequence(IMAGES, [0], ["a"], 1)


def test_counts_follow_the_law():
  # 1 / (2 + r) for r = 1, 2, 3: 20/47, 15/47, 12/47 of the 47 left after one for each class.
  assert sequences.zipf_mandelbrot_counts(3, 50).tolist() == [21, 16, 13]
  counts = sequences.zipf_mandelbrot_counts(10, 300)
  assert counts.sum() == 300 and list(counts) == sorted(counts, reverse=True) and counts.min() > 0
  with pytest.raises(ValueError, match="2 samples are too few for 3 classes"):
    sequences.zipf_mandelbrot_counts(3, 2)


def test_long_tailed_draws_have_no_image_twice_and_follow_the_seed():
  labels = np.arange(200) % 4
  drawn = sequences.long_tailed(labels, 60, seed=1)
  assert len(set(drawn)) == 60
  assert sorted(np.bincount(labels[drawn])) == sorted(sequences.zipf_mandelbrot_counts(4, 60))
  np.testing.assert_array_equal(drawn, sequences.long_tailed(labels, 60, seed=1))
  assert list(drawn) != list(sequences.long_tailed(labels, 60, seed=2))
  with pytest.raises(ValueError, match="has 50 images, .* Ask for a shorter one"):
    sequences.long_tailed(labels, 190, seed=1)

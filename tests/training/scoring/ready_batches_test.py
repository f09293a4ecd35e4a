# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The second pass over prepared batches reads nothing, and gives the same ones."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import tensorflow as tf

from suite.training.scoring import scoring

IMAGES = np.arange(10 * 3, dtype=np.float32).reshape(10, 1, 1, 3)
NUM_BYTES = IMAGES.nbytes


def _made():
  """Batches of up to 4 of the images, and a list that counts the images read."""
  read = []

  def each():
    for image in IMAGES:
      read.append(1)
      yield {"image": image}

  batches = tf.data.Dataset.from_generator(
      each, output_signature={"image": tf.TensorSpec([1, 1, 3])}).batch(4)
  return batches, read


@pytest.mark.parametrize("max_bytes, expected", [(NUM_BYTES, 10), (NUM_BYTES - 1, 30)])
def test_images_are_read_once_if_they_fit(max_bytes, expected):
  batches, read = _made()
  ready = scoring.ReadyBatches(batches, 10, max_bytes)
  assert ready.element_spec == batches.element_spec
  for _ in range(3):
    passed = np.concatenate([batch["image"].numpy() for batch in ready])
    assert np.array_equal(passed, IMAGES)
  assert len(read) == expected


def test_a_pass_that_stopped_leaves_no_part():
  batches, _ = _made()
  ready = scoring.ReadyBatches(batches, 10)
  assert len(list(itertools.islice(ready, 2))) == 2
  assert [len(batch["image"]) for batch in ready] == [4, 4, 2]
  assert [len(batch["image"]) for batch in ready] == [4, 4, 2]

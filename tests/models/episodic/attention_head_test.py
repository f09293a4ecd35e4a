# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The adapted head: its sizes, a forward pass by hand, statistics."""

import numpy as np
import pytest
import tensorflow as tf

from suite.models import norms
from suite.models.episodic import dense_attention
from suite.models.episodic import functional_conv4

NET = dense_attention.AttentionHead(filters=2, dtype="float64")


def _weights(seed=0, shape=(3, 3, 2), classes=3):
  rng = np.random.default_rng(seed)
  return {name: tf.constant(value + 0.3 * rng.normal(size=value.shape))
          for name, value in NET.initial(seed, shape, classes).items()}


def _codes(count, seed=0):
  return tf.constant(np.random.default_rng(seed).normal(size=[count, 3, 3, 2]))


def _row(seed=1):
  rng = np.random.default_rng(seed)
  return functional_conv4.Norms(tf.constant(rng.normal(size=[1, 2])),
                                tf.constant(rng.normal(size=[1, 2])))


@pytest.mark.parametrize("classes, floats", [(5, 243_605), (15, 244_095), (50, 245_810)])
def test_the_sizes_of_the_paper(classes, floats):
  net = dense_attention.AttentionHead()
  assert sum(w.size for w in net.initial(0, (5, 5, 320), classes).values()) == floats
  # CFSL's code prints 245,237: it adds 10 * NSS + 7 rows of norms.
  if classes == 5:
    assert floats + sum(part.size for part in net.initial_norms(17)) == 245_237


def test_logits_by_hand():
  weights, codes, row = _weights(), _codes(4), _row()
  w, x = {name: value.numpy() for name, value in weights.items()}, codes.numpy()
  sigmoid = lambda z: 1.0 / (1.0 + np.exp(-z))
  x = x * sigmoid(x.mean(axis=(1, 2)) @ w["gate/kernel"] + w["gate/bias"])[:, None, None]
  padded = np.pad(x, [(0, 0), (1, 1), (1, 1), (0, 0)])
  y = sum(padded[:, i:i + 3, j:j + 3] @ w["conv/kernel"][i, j] for i in range(3) for j in range(3))
  y = y + w["conv/bias"]
  y = (y - y.mean(axis=(0, 1, 2))) / np.sqrt(y.var(axis=(0, 1, 2)) + norms.EPSILON)
  y = y * row.scale[0] + row.offset[0]
  y = np.where(y > 0, y, 0.01 * y)[:, :2, :2].max(axis=(1, 2))  # 3x3 pools to one place.
  y = y * sigmoid(y @ w["late_gate/kernel"] + w["late_gate/bias"])
  np.testing.assert_allclose(NET.apply(weights, row, codes),
                             y @ w["head/kernel"] + w["head/bias"], rtol=1e-9)


def test_given_statistics_of_the_batch_change_nothing():
  weights, codes, row = _weights(), _codes(4), _row()
  statistics = NET.measure(weights, row, codes)
  assert statistics.mean.shape == (1, 2)
  np.testing.assert_allclose(NET.apply(weights, row, codes, statistics),
                             NET.apply(weights, row, codes), rtol=1e-9)
  # With them each code is answered by itself.
  np.testing.assert_allclose(NET.apply(weights, row, codes[:1], statistics),
                             NET.apply(weights, row, codes, statistics)[:1], rtol=1e-9)


def test_float32_is_the_same():
  narrow = dense_attention.AttentionHead(filters=2)
  cast = lambda structure: tf.nest.map_structure(lambda v: tf.cast(v, tf.float32), structure)
  got = narrow.apply(cast(_weights()), cast(_row()), narrow.prepare(_codes(4)))
  np.testing.assert_allclose(got, NET.apply(_weights(), _row(), _codes(4)), rtol=1e-3, atol=1e-4)


def test_codes_of_one_place_are_refused():
  with pytest.raises(ValueError, match="1x1 positions are too small.*DenseAttention.size"):
    NET.initial(0, (1, 1, 2), 3)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.models import heads
from suite.models import initial
from suite.training.gradient import class_heads


def test_linear_is_features_times_kernel_plus_bias():
  head = heads.linear(2, 3)
  head.set_weights([np.array([[1.0, 0.0], [0.0, 1.0], [2.0, 0.0]]), np.array([0.5, -0.5])])
  np.testing.assert_allclose(head(np.array([[1.0, 2.0, 3.0]])), [[7.5, 1.5]])


def test_logits_are_float32_even_from_half_precision_features():
  assert heads.linear(2, 3)(tf.ones([1, 3], tf.bfloat16)).dtype == tf.float32


@pytest.mark.parametrize("init", heads.INITIALIZERS)
def test_the_layer_alone_has_the_weights_of_the_model(init):
  model, layer = (initial.initial_weights(lambda made=made: made(3, 5, init=init), 7)
                  for made in (heads.linear, heads.dense))
  for value, other in zip(model, layer):
    np.testing.assert_array_equal(value, other)


@pytest.mark.parametrize("module", [heads, class_heads])
def test_weights_by_name(module):
  # D = 16, C = 32: ±sqrt(6 / 48) and no bias, or ±1 / 4 for both.
  def drawn(seed, **init):
    return initial.initial_weights(lambda: module.linear(32, 16, **init), seed)

  glorot = [drawn(seed) for seed in range(4)]
  largest = np.abs([kernel for kernel, _ in glorot]).max()
  assert 0.35 < largest <= np.sqrt(1 / 8) and not np.any([bias for _, bias in glorot])
  pytorch = [drawn(seed, init="pytorch") for seed in range(4)]
  for part in zip(*pytorch):
    assert -0.25 <= np.min(part) < -0.23 and 0.23 < np.max(part) <= 0.25
    np.testing.assert_allclose(np.var(part), 0.25**2 / 3, rtol=0.25)
  np.testing.assert_array_equal(drawn(3, init="pytorch")[0], pytorch[3][0])
  with pytest.raises(ValueError, match="a head 'he'; allowed are glorot, pytorch"):
    module.linear(32, 16, init="he")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Modulated attention against loops over cells, and around backbones."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.models import conv4
from suite.models import initial
from suite.models import mlp
from suite.models import modulated_attention
from suite.models import resnet


def softmax(x):
  exps = np.exp(x - x.max())
  return exps / exps.sum()


def test_it_is_that_of_a_loop_over_cells():
  inputs = tf.keras.Input([2, 3, 4])
  model = tf.keras.Model(inputs, modulated_attention.modulated(inputs))
  rng = np.random.default_rng(0)
  for variable in model.weights:
    variable.assign(rng.normal(size=variable.shape))
  w = {v.name.split(":")[0]: v.numpy() for v in model.weights}
  images = rng.normal(size=[2, 2, 3, 4]).astype(np.float32)
  found = model(images).numpy()
  for image, result in zip(images, found):
    cells = image.reshape(6, 4)
    theta, phi, g = (cells @ w[f"attention_{n}/kernel"][0, 0] + w[f"attention_{n}/bias"]
                     for n in ("theta", "phi", "g"))
    where = softmax(image.reshape(-1) @ w["attention_where/kernel"] + w["attention_where/bias"])
    for i in range(6):
      context = softmax(np.array([theta[i] @ phi[j] for j in range(6)])) @ g
      expected = cells[i] + where[i] * (context @ w["attention_mask/kernel"][0, 0])
      np.testing.assert_allclose(result.reshape(6, 4)[i], expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("backbone", [
    functools.partial(conv4.conv4, filters=4, blocks=2),
    functools.partial(resnet.resnet18, stem="small", width=1 / 32, blocks=(1, 1))])
def test_features_begin_as_those_of_the_backbone_whose_weights_come_first(backbone):
  def build():
    return modulated_attention.attended((8, 8, 3), backbone=backbone)

  plain, model = backbone((8, 8, 3)), build()
  model.set_weights(initial.initial_weights(build, 0))
  num = len(plain.weights)
  assert [w.shape for w in plain.weights] == [w.shape for w in model.weights[:num]]
  plain.set_weights(model.get_weights()[:num])
  images = np.random.default_rng(0).integers(0, 256, [3, 8, 8, 3]).astype(np.uint8)
  np.testing.assert_allclose(model(images), plain(images), rtol=1e-6)
  model.get_layer("attention_mask").kernel.assign_add(
      tf.ones_like(model.get_layer("attention_mask").kernel))
  assert not np.allclose(model(images), plain(images))


def test_a_backbone_without_a_map_is_refused():
  with pytest.raises(ValueError, match="modulated attention needs a map"):
    modulated_attention.attended(backbone=lambda shape: mlp.mlp(feature_size=4, hidden=(3,)))

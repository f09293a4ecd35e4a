# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Simple CNAPS within episodes: its loss in numpy, what meta-training changes, support sets."""

from __future__ import annotations

import functools
import types

import numpy as np
import pixel_embedding
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.learners import simple_cnaps
from suite.models import conv4
from suite.models.episodic import film
from suite.models.episodic import proto_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import meta_schedules

WAY = 3


def pixel_net(image_shape):
  """Features are normalized pixels, rectified after a shift: [B, 1, 1, 3] -> [B, 3]."""
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.BatchNormalization(epsilon=0.0),
      tf.keras.layers.LeakyReLU(0.5), tf.keras.layers.Flatten()])


small = functools.partial(conv4.conv4, filters=8, blocks=2)


def begun(learner, num_classes=WAY, seed=0):
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, num_classes), types.SimpleNamespace(
      distribution=distribution.build(), seeds=seeds.Seeds(seed)))
  return learner


def on_pixels(**settings):
  return begun(simple_cnaps.SimpleCnaps(
      pixel_net, set_encoder=pixel_embedding.Pixels(),
      adaptation=film.AdaptationNet(depth=1, penalty=0.01),
      transform=image_ops.Plain(1), **settings))


def on_digits(num_classes=2, rate=0.01, backbone=small, **settings):
  return begun(simple_cnaps.SimpleCnaps(
      backbone, set_encoder=film.SetEncoder(proto_conv4.ProtoConv4(filters=4, blocks=2)),
      adaptation=film.AdaptationNet(), transform=image_ops.Plain(8),
      training=meta_schedules.MetaTraining(learning_rate=rate), **settings), num_classes)


def strengthened(learner, seed=1):
  """The learner with FiLM layers that change features."""
  rng = np.random.default_rng(seed)
  for values in learner._adaptation._norms:
    values["strengths"].assign(rng.normal(size=values["strengths"].shape))
  return learner


def episode(num_sets=2, seed=0):
  """Support images [S, 4, 1, 1, 3] of three classes and 6 targets."""
  rng = np.random.default_rng(seed)
  labels = np.array([[0, 1, 2, 1], [2, 0, 1, 0]])[:num_sets]
  centers = np.array([[0, 1, 2], [2, -1, 0], [1, 0, -2]])
  images = centers[labels] + rng.normal(size=[num_sets, 4, 3])
  target_labels = np.array([0, 1, 2, 2, 1, 0])
  targets = centers[target_labels] + rng.normal(size=[6, 3])
  return (images.astype(np.float32)[:, :, None, None], labels,
          targets.astype(np.float32)[:, None, None], target_labels)


def by_numpy(learner, given, ridge=1.0):
  """The targets' logits and the loss, in float64."""
  images, labels, targets, target_labels = (np.asarray(part) for part in given)
  images, targets = images.reshape(-1, 3).astype(np.float64), targets.reshape(-1, 3)
  z = images[:labels.shape[1]].mean(0)  # Of the first set.
  values = {k: v.numpy().astype(np.float64) for k, v in learner._adaptation._norms[0].items()}
  h = np.maximum(z @ values["shared_kernel"] + values["shared_bias"], 0)
  gamma, beta = (s * (h + h @ kernel + bias) for s, kernel, bias in zip(
      values["strengths"], values["kernels"][0], values["biases"][0]))

  def features(x):
    x = x * (1 + gamma) + beta
    return np.where(x > 0, x, 0.5 * x)

  support, queries, labels = features(images), features(targets), labels.reshape(-1)
  logits, whole = [], np.cov(support.T)
  for k in range(WAY):
    own = support[labels == k]
    share = len(own) / (len(own) + 1)
    spread = np.cov(own.T) if len(own) > 1 else 0.0
    q = share * spread + (1 - share) * whole + ridge * np.eye(3)
    away = queries - own.mean(0)
    logits.append(-0.5 * np.einsum("bi,ij,bj->b", away, np.linalg.inv(q), away))
  logits = np.stack(logits, 1)
  wrong = np.log(np.exp(logits).sum(1)) - logits[np.arange(6), target_labels]
  return logits, wrong.mean() + 0.01 * np.sum(values["strengths"] ** 2)


@pytest.mark.parametrize("num_sets", [1, 2])
def test_logits_and_loss_are_those_of_numpy(num_sets):
  learner, given = strengthened(on_pixels(ridge=0.5)), episode(num_sets)
  logits, loss = by_numpy(learner, given, ridge=0.5)
  found, seen = learner.meta_loss(tuple(map(tf.constant, given)))
  assert float(found) == pytest.approx(loss, rel=1e-5) and float(seen.count) == 0
  state = learner.initial_state(WAY)
  for images, labels in zip(*given[:2]):
    state = learner.adapt(state, tf.constant(images), tf.constant(labels))
  np.testing.assert_allclose(
      learner.logits(state, tf.constant(given[2])), logits, rtol=1e-4, atol=1e-5)


def test_the_gradient_of_the_loss_is_that_of_differences():
  learner, given = strengthened(on_pixels()), episode()
  variables = learner.trainable_variables
  with tf.GradientTape() as tape:
    loss, _ = learner.meta_loss(tuple(map(tf.constant, given)))
  rng = np.random.default_rng(4)
  for variable, gradient in zip(variables, tape.gradient(loss, variables)):
    way, value = rng.normal(size=variable.shape), variable.numpy()
    found = []
    for step in (1e-3, -1e-3):
      variable.assign(value + step * way)
      found.append(by_numpy(learner, given)[1])
    variable.assign(value)
    assert np.sum(gradient * way) == pytest.approx(
        (found[0] - found[1]) / 2e-3, rel=2e-2, abs=1e-4), variable.name


def test_at_first_it_is_the_head_on_the_backbone():
  learner, given = on_pixels(), episode(1)
  state = learner.adapt(
      learner.initial_state(WAY), tf.constant(given[0][0]), tf.constant(given[1][0]))
  np.testing.assert_array_equal(state.film.scale, np.ones(3))
  np.testing.assert_array_equal(state.film.offset, np.zeros(3))
  pixels = given[0][0].reshape(-1, 3)
  np.testing.assert_allclose(
      state.statistics.sums[1], np.where(pixels > 0, pixels, 0.5 * pixels)[[1, 3]].sum(0),
      rtol=1e-6)


def test_the_first_support_set_makes_the_film_layers_which_stay():
  learner, given = strengthened(on_pixels()), episode(2)
  first, second = (learner.adapt(learner.initial_state(WAY), tf.constant(images),
                                 tf.constant(labels)) for images, labels in zip(*given[:2]))
  after = learner.adapt(first, tf.constant(given[0][1]), tf.constant(given[1][1]))
  np.testing.assert_array_equal(after.film.scale, first.film.scale)
  np.testing.assert_array_equal(after.film.offset, first.film.offset)
  assert not np.allclose(second.film.scale, first.film.scale)
  expected = learner.film(tf.reduce_mean(learner.embed(tf.constant(given[0][0])), 0))
  np.testing.assert_array_equal(first.film.scale, expected.scale)


def batches(count, num_sets=1, way=2):
  source = digits.episodes(way=way, shot=2, targets=3, num_support_sets=num_sets,
                           class_change_interval=num_sets, classes=(0, 1, 2, 3, 4, 5))
  return list(source.batches(1).take(count))


def test_meta_training_changes_adaptation_network_and_set_encoder_alone():
  learner = on_digits()
  backbone = learner._filmed._call.model
  names = {v.name.split("/")[0].split("_")[0] for v in learner.trainable_variables}
  assert names == {"film0", "film1", "block1", "block2", "norm"}
  before = [v.numpy() for v in learner.trainable_variables]
  frozen = backbone.get_weights()
  graphs = episode_graphs.Graphs(learner, 2)
  for batch in batches(3, num_sets=2):
    graphs.update(batch)
  for a, b in zip(frozen, backbone.get_weights()):
    np.testing.assert_array_equal(a, b)
  for variable, value in zip(learner.trainable_variables, before):
    assert not np.array_equal(variable, value), variable.name
  saved = {id(v) for v in learner.variables}
  assert not saved & {id(v) for v in backbone.weights}


def test_a_model_that_is_given_is_neither_trained_nor_saved():
  model = small((8, 8, 3))
  learner = on_digits(backbone=model)
  assert not {id(v) for v in learner.variables} & {id(v) for v in model.weights}


def test_wrong_use_is_named():
  with pytest.raises(ValueError, match="SimpleCnaps.backbone, 'conv4', has no BatchNormalization"):
    on_digits(backbone=lambda image_shape: conv4.conv4(image_shape, filters=4, blocks=2,
                                                       norm="group"))
  with pytest.raises(ValueError, match="Images are 8x8x1, .* learner's channels = 1"):
    on_digits().embed(tf.zeros([1, 8, 8, 1]))
  with pytest.raises(ValueError, match="ridge is 0"):
    on_digits(ridge=0)
  learner = simple_cnaps.SimpleCnaps(
      pixel_net, set_encoder=pixel_embedding.Pixels(), adaptation=film.AdaptationNet(),
      transform=image_ops.Plain(1))
  with pytest.raises(RuntimeError, match=r"call begin\(task, context\) first"):
    learner.initial_state(2)
  with pytest.raises(ValueError, match="'m' is multi_label; SimpleCnaps counts each image for one"):
    learner.begin(tasks.Task("m", tasks.MULTI_LABEL, 3), None)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""OLTR: a phase against a loop by its formulas, the memory's refreshes, and what they cost."""

from __future__ import annotations

import matrix_runs
import numpy as np
import pytest
import tensorflow as tf
import unconverted

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.configs import gin_parse
from suite.configs import methods
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import oltr
from suite.protocols import fluid
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import trainable_parts
from suite.training.sequence import update_strategies

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 4)
CENTERS = np.array([[3.0, 0.0], [0.0, 3.0], [-2.0, -2.0]])


@unconverted.unconverted
def first_two(images):
  """Two features: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


@unconverted.unconverted
def two_units(image_shape):
  """A net of one trained layer on all pixels."""
  return tf.keras.Sequential([
      tf.keras.layers.Rescaling(1 / 255, input_shape=image_shape), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(2)])


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.SEQUENCE)


def make(folder, net=None, **settings):
  learner = oltr.Oltr(
      transform=image_ops.Plain(2), net=net or trainable_parts.HeadOnly(first_two),
      **{**dict(batch_size=64, epochs=2), **settings})
  learner.begin(TASK, here(folder))
  return learner


def tune(learner, codes, labels, folder, num_old=0):
  """An offline phase; its record, and the totals of its ledger."""
  now, known = here(folder), np.isin(np.arange(4), labels)
  record = learner.learn_stored(
      deliveries.Stored(np.asarray(codes), np.asarray(labels), known, num_old), now)
  return record, now.ledger.totals()


def samples(num=40, seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  return ((CENTERS[labels] + rng.normal(size=[num, 2])).astype(np.float32),
          labels.astype(np.int64))


def plain_step(weights, codes, labels, keys):
  """The loss and its gradients, in float64, by the formulas as printed; keys: the centroids."""
  present = np.isin(np.arange(4), labels)
  keys = tf.constant(keys)
  with tf.GradientTape() as tape:
    tape.watch([*weights.values()])
    shares = tf.nn.softmax(tf.where(present, codes @ weights["hallucinator_kernel"]
                                    + weights["hallucinator_bias"], -np.inf))
    v = codes + tf.tanh(codes @ weights["selector_kernel"] + weights["selector_bias"]) * (
        shares @ keys)
    pairs = tf.norm(codes[:, None] - keys[present], axis=2)
    x = 10.0 / tf.reduce_min(pairs, axis=1, keepdims=True) * v
    length = tf.norm(x, axis=1, keepdims=True)
    rows = weights["cosine_kernel"] / tf.norm(weights["cosine_kernel"], axis=1, keepdims=True)
    logits = tf.where(present, 16.0 * (length / (1 + length) * x / length) @ tf.transpose(rows),
                      -np.inf)
    entropy = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(labels, logits))
  gradients = dict(zip(weights, tape.gradient(entropy, [*weights.values()])))
  own = keys.numpy()[labels]
  attract = np.mean(np.sum((codes - own) ** 2, 1)) / 2
  counts = np.bincount(labels, minlength=4)
  pulled = np.zeros([4, 2])
  np.add.at(pulled, labels, (own - codes) / (1 + counts[labels])[:, None] / len(labels))
  squares = np.sum((codes[:, None] - keys.numpy()[present]) ** 2, 2)
  mean = (squares.sum() - np.sum((codes - own) ** 2)) / squares.size
  for c in np.flatnonzero(present):
    others = codes[labels != c] - keys.numpy()[c]
    pulled[c] += 0.01 * (mean < 10) * 2 * others.sum(0) / squares.size
  gradients["centroids"] = 0.01 * pulled
  return float(entropy) + 0.01 * (attract + 0.01 * max(0, 10 - mean)), gradients


def test_a_phase_is_gradient_descent_at_two_rates(tmp_path):
  codes, labels = samples()
  learner = make(tmp_path, epochs=3, learning_rate=0.2, slow_rate=0.05, momentum=0.5,
                 weight_decay=0.1)
  names = ("hallucinator_kernel", "hallucinator_bias", "selector_kernel", "selector_bias",
           "cosine_kernel")
  weights = {n: tf.constant(getattr(learner.head.memory, n).numpy(), tf.float64) for n in names}
  record, totals = tune(learner, codes, labels, tmp_path)
  keys = np.stack([codes[labels == c].mean(0, np.float64) for c in range(3)] + [np.zeros(2)])
  velocity, losses = dict.fromkeys((*names, "centroids"), 0.0), []
  for _ in range(3):
    loss, gradients = plain_step(weights, codes.astype(np.float64), labels, keys)
    losses.append(loss)
    for n, gradient in gradients.items():
      value = keys if n == "centroids" else weights[n].numpy()
      velocity[n] = 0.5 * velocity[n] + np.asarray(gradient) + 0.1 * value
    weights = {n: w - 0.2 * velocity[n] for n, w in weights.items()}
    keys = keys - 0.05 * velocity["centroids"]
  for name in names:
    np.testing.assert_allclose(getattr(learner.head.memory, name), weights[name], rtol=2e-4,
                               atol=1e-5, err_msg=name)
  np.testing.assert_allclose(learner.head.memory.centroids, keys, rtol=1e-4, atol=1e-5)
  assert record["train_loss"] == pytest.approx(np.mean(losses), rel=1e-4)
  assert totals["steps_train"] == 3 and record["passes"] == totals["examples_train"] == 120


def test_new_samples_refresh_the_memory_until_it_is_closed(tmp_path):
  codes = np.array([[1, 0], [3, 0], [0, 5], [9, 9], [0, 1]], np.float32)
  labels = np.array([0, 0, 1, 0, 2])
  learner = make(tmp_path, refresh_until=4, slow_rate=1e-9)
  memory = learner.head.memory
  assert tune(learner, codes[:3], labels[:3], tmp_path)[0]["refreshed"] == 3
  np.testing.assert_allclose(memory.centroids[:2], [[2, 0], [0, 5]], atol=1e-4)
  assert tune(learner, codes[:4], labels[:4], tmp_path, num_old=3)[0]["refreshed"] == 1
  np.testing.assert_allclose(memory.centroids[0], [13 / 3, 3], atol=1e-4)
  assert learner.answer(tf.constant(codes))[0, 2] == -np.inf
  assert tune(learner, codes, labels, tmp_path, num_old=4)[0]["refreshed"] == 0
  # The third class comes too late for a mean; its key is near zero, and it is answered.
  np.testing.assert_allclose(memory.centroids[2], [0, 0], atol=1e-4)
  np.testing.assert_array_equal(memory.counts, [3, 1, 0, 0])
  assert np.isfinite(learner.answer(tf.constant(codes))[:, :3]).all()
  assert (learner.answer(tf.constant(codes))[:, 3] == -np.inf).numpy().all()


def test_it_learns_at_the_cost_its_layers_say_and_a_far_sample_has_a_small_logit(tmp_path):
  codes, labels = samples(90)
  learner = make(tmp_path, epochs=20, batch_size=16)
  expected = learner.stored_macs(90)
  record, totals = tune(learner, codes, labels, tmp_path)
  assert np.mean(np.argmax(learner.answer(tf.constant(codes)), 1) == labels) > 0.85
  near, far = learner.answer(tf.constant([[0.0, 3.0], [0.0, 30.0]])).numpy().max(1)
  assert far < near
  # Of 4 classes and 2 features: forward four products of 8 and one of 4; gradients of three
  # kernels, of the classifier's input and of the shares.
  each = (4 * 8 + 4) + (8 + 4 + 8) + (8 + 8)
  assert totals["macs"] == expected == 20 * 90 * each
  assert record["teacher_passes"] == 0 and totals["flops"] > 2 * totals["macs"]
  backbone, head = learner.mac_layers()
  found = mac_views.views(backbone, head, num_samples=90, num_passes=1800)
  assert found["macs_exact_cached"] == 90 * 36 + totals["macs"]


def test_base_classes_fill_the_memory_first(tmp_path):
  images = np.zeros([30, 2, 2, 3], np.uint8)
  labels = np.arange(30) % 2
  images[:, 0, :2, 0] = np.array([[60, 5], [5, 60]])[labels]
  data = image_set.ImageSet.from_arrays(
      "t", images, labels, kind=TASK.kind, num_classes=TASK.num_classes)
  learner, now = make(tmp_path, slow_rate=1e-9), here(tmp_path)
  record = learner.learn(deliveries.Experience(TASK, data, data, deliveries.History()), now)
  assert record["classes_with_a_centroid"] == 2 and record["trained_on"] == 30
  np.testing.assert_allclose(learner.head.memory.centroids[:2], [[60, 5], [5, 60]], atol=1e-3)
  tune(learner, learner.encode(tf.constant(images[:2])) * 0 + 4.0, labels[:2], tmp_path)
  # One sample at (4, 4) to fifteen.
  np.testing.assert_allclose(
      learner.head.memory.centroids[0], [(15 * 60 + 4) / 16, 79 / 16], atol=1e-3)


def test_a_refresh_of_a_whole_net_is_a_pass_for_each_new_sample(tmp_path):
  learner = make(tmp_path, net=trainable_parts.AllLayers(two_units), epochs=1, batch_size=8)
  images = np.random.default_rng(0).integers(0, 256, [24, 2, 2, 3]).astype(np.uint8)
  labels = np.arange(24) % 3
  expected = learner.stored_macs(24)
  record, totals = tune(learner, images, labels, tmp_path)
  assert record["teacher_passes"] == record["refreshed"] == 24
  layer, head = 12 * 2, (4 * 8 + 4)
  # The first layer has no gradient of its input; the head has: distances, hallucinator, selector.
  each = 2 * layer + head + (8 + 4 + 8) + (8 + 8) + (8 + 8 + 4)
  assert totals["macs"] == expected == 24 * (each + layer)


def test_the_strategy_of_the_paper_trains_early_and_then_seldom(tmp_path):
  method = {method.name: method for method in methods.load()}["oltr"]
  matrix_runs.CellRun(tmp_path, method, "fluid", "STRATEGY = 'early'\nCOUNT = 5000\n")
  strategy, due = gin_parse.gin.get_bindings(fluid.run)["update"], []
  for step in range(1, 20_001):
    if strategy.decide(update_strategies.Observed(step, True, False)).update:
      due.append(step)
      strategy.updated(step)
  assert due == [*range(200, 10_001, 200), 15_000, 20_000]


def test_wrong_settings_are_named(tmp_path):
  with pytest.raises(ValueError, match="Oltr.net is Drifting"):
    make(tmp_path, net=trainable_parts.Drifting(two_units))
  with pytest.raises(ValueError, match="slow_rate=0; both must be above 0"):
    make(tmp_path, slow_rate=0)

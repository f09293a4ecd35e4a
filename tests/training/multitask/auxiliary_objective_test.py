# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A step with auxiliary batches, against gradients that a model for each task gives."""

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.models import heads
from suite.training.gradient import gradient_loop
from suite.training.multitask import auxiliary

RATE, WEIGHT, SMOOTHING = 0.5, 0.3, 0.1
SIZES = (2, 4)  # Classes of the auxiliary tasks.
SHAPE = auxiliary.Shape(num_classes=6, groups=2, batch_size=5)


def _backbone():
  return tf.keras.Sequential([
      tf.keras.Input((4, 4, 3)), tf.keras.layers.Conv2D(3, 3),
      tf.keras.layers.BatchNormalization(momentum=0.5), tf.keras.layers.Flatten()])


def _batch(rng, num, classes):
  return {"image": tf.constant(rng.normal(size=[num, 4, 4, 3]), tf.float32),
          "label": tf.constant(rng.integers(0, classes, num)), "mask": tf.ones([num], tf.bool)}


def _coded(batches):
  """The auxiliary part of a step's batch."""
  codes, first = np.zeros([2, 5, 6], np.uint8), 0
  for k, size in enumerate(SIZES):
    codes[k, :, first:first + size] = 1
    codes[k, np.arange(5), first + batches[k]["label"].numpy()] = 2
    first += size
  return {"image": tf.stack([b["image"] for b in batches]), "label": tf.constant(codes)}


@pytest.fixture(name="step", scope="module")
def _step():
  """A step without and one with auxiliary batches, from the same weights; what it changed."""
  rng = np.random.default_rng(0)
  tf.keras.utils.set_random_seed(0)
  device = distribution.build()
  with device.scope():
    backbone, head = _backbone(), heads.linear(3, 12)
    model = tf.keras.Model(backbone.inputs, head(backbone.outputs[0]))
  own, others = _batch(rng, 7, 3), [_batch(rng, 5, size) for size in SIZES]
  first, at_first = model.get_weights(), [heads.linear(size, 12) for size in SIZES]
  joined = [np.concatenate([h.get_weights()[0] for h in at_first], 1), np.zeros([6], np.float32)]

  def run(shape, batch):
    model.set_weights(first)
    loop = gradient_loop.GradientLoop(
        model, tasks.SINGLE_LABEL, momentum=0.0, weight_decay=0.0,
        distribution=device, backbone=backbone, auxiliary=shape)
    loop.configure(peak_rate=RATE, warmup_steps=0, total_steps=10**9, label_smoothing=SMOOTHING)
    if shape is not None:
      loop.begin_auxiliary(joined, WEIGHT)
    spec = tf.nest.map_structure(lambda t: tf.TensorSpec(t.shape, t.dtype), batch)
    loop.run(iter(tf.data.Dataset.from_tensors(batch)), 1)
    return loop, loop.cost(spec)

  plain, cost = run(None, own)
  weights = model.get_weights()
  loop, its_cost = run(SHAPE, {**own, "auxiliary": _coded(others)})
  return dict(backbone=backbone, model=model, first=first, at_first=at_first, others=others,
              plain=weights, found=model.get_weights(), loop=loop, cost=cost, its_cost=its_cost)


def test_gradients_of_auxiliary_batches_are_added_with_their_weight(step):
  backbone, model = step["backbone"], step["model"]
  model.set_weights(step["first"])
  added = [np.zeros(v.shape, np.float32) for v in backbone.trainable_variables]
  for batch, head, place in zip(step["others"], step["at_first"], (slice(0, 2), slice(2, 6))):
    with tf.GradientTape() as tape:
      logits = head(backbone(batch["image"], training=True))
      soft = tf.one_hot(batch["label"], logits.shape[1]) * (1 - SMOOTHING) + (
          SMOOTHING / logits.shape[1])
      loss = tf.reduce_mean(tf.nn.softmax_cross_entropy_with_logits(soft, logits))
    found = tape.gradient(loss, [*backbone.trainable_variables, *head.trainable_variables])
    added = [a + WEIGHT * g for a, g in zip(added, found)]
    trained = step["loop"].state()[len(model.variables)][:, place]  # The auxiliary head's kernel.
    np.testing.assert_allclose(
        trained, head.get_weights()[0] - RATE * WEIGHT * found[-2], atol=1e-5)
  model.set_weights(step["plain"])
  plain = [v.numpy() for v in backbone.trainable_variables]
  model.set_weights(step["found"])
  for variable, before, gradient in zip(backbone.trainable_variables, plain, added):
    np.testing.assert_allclose(variable.numpy(), before - RATE * gradient, atol=1e-5)
    assert "kernel" not in variable.name or np.abs(gradient).max() > 1e-3


def test_statistics_of_norms_are_those_of_a_step_without_auxiliary_batches(step):
  names = [v.name for v in step["model"].weights]
  moved = [i for i, name in enumerate(names) if "moving" in name]
  assert len(moved) == 2
  for i in moved:
    np.testing.assert_array_equal(step["found"][i], step["plain"][i])
    assert np.abs(step["found"][i] - step["first"][i]).max() > 0.01


def test_the_task_s_own_head_is_left_to_its_own_batch(step):
  for found, plain in zip(step["found"][-2:], step["plain"][-2:]):
    np.testing.assert_array_equal(found, plain)


def test_auxiliary_batches_are_counted(step):
  # Convolution and dense layer of 2 batches of 5 images, forward and backward to the weights (and
  # to the features); no gradient to the images.
  conv, dense = 2 * 2 * 3 * 27, 12 * 6
  assert step["its_cost"].macs - step["cost"].macs == 2 * 5 * (2 * conv + 3 * dense)
  assert step["its_cost"].flops > step["cost"].flops

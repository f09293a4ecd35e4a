# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretexts: who is normalized with whom, what a step changes, what it costs."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.learners import pretrainer
from suite.models import conv4
from suite.training.pretraining import pretexts

BATCH = 8
DISTRIBUTION = distribution.build()


def _backbone(norm, blocks):
  return functools.partial(conv4.conv4, (8, 8, 3), filters=4, blocks=blocks, norm=norm)


def _built(pretext, norm="batch", num_classes=1, blocks=1):
  with DISTRIBUTION.scope():
    pretext.build(_backbone(norm, blocks), num_classes=num_classes, batch_size=BATCH,
                  distribution=DISTRIBUTION, seeds=seeds.Seeds(3))
  return pretext


def _batch():
  rng = np.random.default_rng(0)
  views = rng.integers(0, 256, [2, BATCH, 8, 8, 3]).astype(np.uint8)
  return {"view0": tf.constant(views[0]), "view1": tf.constant(views[1]),
          "label": tf.constant(np.arange(BATCH) % 3)}


def _loop(pretext, **arguments):
  values = dict(batch_size=BATCH, learning_rate=0.1, warmup=0, momentum=0.9, weight_decay=0.0)
  return pretrainer.PretextUpdates(pretext, DISTRIBUTION, **{**values, **arguments})


STEP = tf.constant(5, tf.int64)


def test_keys_come_back_in_the_order_of_their_images():
  pretext = _built(pretexts.Moco(queue_size=16, dim=6, norm_groups=1), norm="group")
  _, kept = pretext.losses(_batch(), STEP)
  want = pretexts.normalized(pretext.key_model(_batch()["view1"], training=True))
  np.testing.assert_allclose(kept, want, atol=1e-6)
  # Without batch norm groups change nothing: shuffling is undone.
  grouped = _built(pretexts.Moco(queue_size=16, dim=6, norm_groups=4), norm="group")
  np.testing.assert_allclose(grouped.losses(_batch(), STEP)[1], want, atol=1e-6)


def test_a_key_is_normalized_with_its_group_of_shuffled_images():
  pretext = _built(pretexts.Moco(queue_size=16, dim=6, norm_groups=2))
  _, kept = pretext.losses(_batch(), STEP)
  order = pretexts.order_of(STEP, BATCH, seeds.Seeds(3).pair("key order")).numpy()
  for half in (order[:4], order[4:]):
    images = tf.gather(_batch()["view1"], half)
    want = pretexts.normalized(pretext.key_model(images, training=True))
    np.testing.assert_allclose(tf.gather(kept, half), want, atol=1e-5)


def test_one_update_of_moco_in_the_order_of_the_paper():
  pretext = _built(pretexts.Moco(queue_size=16, dim=6, momentum=0.5, norm_groups=2))
  followers = pretext.key_model.trainable_variables
  followers[0].assign(followers[0] + 1.0)
  before = [v.numpy() for v in pretext.model.trainable_variables]
  old_keys = [v.numpy() for v in followers]
  queue = pretext.queue.keys.numpy()
  _loop(pretext).update(_batch(), STEP)
  # The key encoder follows the query encoder as it was before this update.
  np.testing.assert_allclose(followers[0], 0.5 * old_keys[0] + 0.5 * before[0], rtol=1e-6)
  assert all((v.numpy() != b).any() for v, b in zip(pretext.model.trainable_variables, before)
             if v.name != "hidden/bias:0" and b.ndim > 1)
  assert int(pretext.queue.place) == BATCH
  np.testing.assert_array_equal(pretext.queue.keys[BATCH:], queue[BATCH:])
  assert (pretext.queue.keys[:BATCH].numpy() != queue[:BATCH]).any()


def test_sgd_under_a_cosine_by_hand():
  pretext = _built(pretexts.Supervised(), num_classes=3)
  loop = _loop(pretext, momentum=0.5, weight_decay=0.1)
  batch, before = _batch(), [v.numpy() for v in pretext.variables_to_train]
  with tf.GradientTape() as tape:
    loss = tf.reduce_mean(pretext.losses(batch, STEP)[0])
  gradients = tape.gradient(loss, pretext.variables_to_train)
  dataset = tf.data.Dataset.from_tensors(batch).repeat()
  got = loop.run(iter(dataset), 0, 1, total=4)
  assert got == pytest.approx(float(loss), rel=1e-5)
  for variable, old, gradient in zip(pretext.variables_to_train, before, gradients):
    np.testing.assert_allclose(variable, old - 0.1 * (gradient + 0.1 * old), atol=1e-5)
  rates = [0.1, 0.1 * (1 + np.sqrt(0.5)) / 2, 0.05, 0.1 * (1 - np.sqrt(0.5)) / 2, 0.0]
  assert [loop.rate(step) for step in range(5)] == pytest.approx(rates, abs=1e-7)


@pytest.mark.parametrize("pretext", [
    pretexts.Moco(queue_size=16, dim=6, norm_groups=2), pretexts.SimClr(dim=6),
    pretexts.Supervised()])
def test_a_step_is_counted_whole(pretext):
  loop = _loop(_built(pretext, num_classes=3, blocks=2))
  spec = {key: tf.TensorSpec(value.shape, value.dtype) for key, value in _batch().items()}
  cost = loop.cost(spec)
  assert cost.flops is not None and not cost.uncounted
  # Convolutions 8x8x(3x4) and 4x4x(4x4), 9 taps each; features 2 x 2 x 4.
  forward = BATCH * 9 * (64 * 12 + 16 * 16)
  heads = {"Moco": 16 * 16 + 16 * 6, "SimClr": 16 * 16 + 16 * 6, "Supervised": 16 * 3}
  forward += BATCH * heads[type(pretext).__name__]
  backward = 2 * forward - BATCH * 9 * 64 * 12  # Nobody wants the gradient of the pixels.
  extra = {"Moco": forward + 2 * BATCH * 16 * 6, "SimClr": forward + backward
           + 2 * (2 * BATCH) ** 2 * 6 + (2 * BATCH) ** 2 * 6, "Supervised": 0}
  assert cost.macs == forward + backward + extra[type(pretext).__name__]


def test_bad_numbers_are_said():
  with pytest.raises(ValueError, match="norm_groups is 3; it must divide the batch size 8 and"):
    _built(pretexts.Moco(queue_size=16, norm_groups=3))
  with pytest.raises(ValueError, match="norm_groups is 1, but the backbone has batch norm"):
    _built(pretexts.Moco(queue_size=16, norm_groups=1))
  with pytest.raises(ValueError, match="A queue of 12 keys is no multiple of the batch size 8"):
    _built(pretexts.Moco(queue_size=12, norm_groups=2))

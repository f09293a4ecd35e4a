# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Losses of offline phases against numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import tensorflow as tf

from suite.models import feature_head
from suite.training.sequence import objectives

LOG2, LOG3 = math.log(2.0), math.log(3.0)


def classes(known=(1, 1, 1), seen=(1, 1, 1), base=(0, 0, 0)):
  return objectives.Classes(*(tf.constant(np.array(m, bool)) for m in (known, seen, base)))


def batch(logits, labels, replayed=None, images=None, **masks):
  logits = tf.constant(logits, tf.float32)
  return objectives.Batch(
      logits if images is None else images, logits, tf.constant(labels, tf.int64), replayed,
      classes(**masks))


def replayed(logits, labels, stored):
  return objectives.Replayed(tf.constant(logits, tf.float32), tf.constant(labels, tf.int64),
                                tf.constant(stored, tf.float32))


def linear(kernel, bias=(0, 0, 0)):
  model = feature_head.linear(3, 2)
  model.set_weights([np.array(kernel, np.float32), np.array(bias, np.float32)])
  return model


def test_a_softmax_is_over_known_classes():
  # Logits log 1, log 3 and a third class that is not known: -log(1 / 4).
  loss = objectives.CrossEntropy()(batch([[0, LOG3, 50]], [0], known=(1, 1, 0)))
  assert float(loss) == pytest.approx(2 * LOG2, rel=1e-6)


def test_replayed_rows_count_as_much_as_incoming_ones():
  old = replayed([[0, 0, 0]] * 2, [1, 2], np.zeros([2, 0]))
  loss = objectives.CrossEntropy()(batch([[0, LOG3, 50]], [0], old, known=(1, 1, 0)))
  # Class 2 is not known: no sample of it is ever replayed, and its loss is beyond all measure.
  assert float(loss) > 1e8
  loss = objectives.CrossEntropy()(batch([[0, 0, 0]], [0], old))
  assert float(loss) == pytest.approx(LOG3, rel=1e-6)


def test_der_is_the_mean_square_over_classes_known_on_entry():
  # Row 1: differences 1 and 2 over two classes: 2.5. Row 2: 3 over one: 9. The mean is 5.75.
  old = replayed([[1, 2, 7], [3, 8, 9]], [0, 0], [[0, 4, np.nan], [0, np.nan, np.nan]])
  loss = objectives.Dark(alpha=0.5)(batch([[0, 0, 0]], [1], old))
  assert float(loss) == pytest.approx(LOG3 + 0.5 * 5.75, rel=1e-6)


def test_der_plus_plus_adds_the_labels_of_the_memory():
  old = replayed([[0, LOG3, 0]], [1], [[0, LOG3, np.nan]])  # At rest; probability 3 / 5.
  loss = objectives.Dark(alpha=0.5, beta=2.0)(batch([[0, 0, 0]], [1], old))
  assert float(loss) == pytest.approx(LOG3 + 2 * math.log(5 / 3), rel=1e-6)


def test_der_by_divergence():
  # Stored (1/2, 1/2), now (1/4, 3/4): KL = log 2 / 2 + log(2 / 3) / 2.
  old = replayed([[0, LOG3, 50]], [0], [[0, 0, np.nan]])
  loss = objectives.Dark(alpha=1.0, divergence="kl")(batch([[0, 0, 0]], [1], old))
  assert float(loss) == pytest.approx(LOG3 + (2 * LOG2 - LOG3) / 2, rel=1e-6)


def test_the_gradient_of_logits_that_were_not_stored_is_zero():
  logits = tf.constant([[1.0, 2.0, 7.0]])
  with tf.GradientTape() as tape:
    tape.watch(logits)
    old = objectives.Replayed(
        logits, tf.constant([0], tf.int64), tf.constant([[0.0, 4.0, np.nan]]))
    loss = objectives.Dark(alpha=1.0)(batch([[0, 0, 0]], [1], old))
  np.testing.assert_allclose(tape.gradient(loss, logits), [[1, -2, 0]], rtol=1e-6)


@pytest.mark.parametrize("current, allowed", [("batch", 1), ("novel", 2)])
def test_er_ace_compares_incoming_rows_with_classes_of_now(current, allowed):
  # Class 0 is a base class, 1 and 2 are novel; the batch has 1 only. All logits are equal.
  loss = objectives.ErAce(current)(batch([[0, 0, 0]], [1], base=(1, 0, 0)))
  assert float(loss) == pytest.approx(math.log(allowed), abs=1e-6)
  old = replayed([[0, 0, 0]], [0], np.zeros([1, 0]))
  loss = objectives.ErAce(current)(batch([[0, 0, 0]], [1], old, base=(1, 0, 0)))
  assert float(loss) == pytest.approx(math.log(allowed) + LOG3, rel=1e-6)


def test_er_ace_pushes_no_absent_class_down():
  logits = tf.constant([[0.0, 1.0, 2.0]])
  with tf.GradientTape() as tape:
    tape.watch(logits)
    loss = objectives.ErAce()(batch([[0, 0, 0]], [1])._replace(
        logits=tf.concat([logits, logits], 0), labels=tf.constant([0, 1], tf.int64)))
  gradient = tape.gradient(loss, logits).numpy()[0]
  assert gradient[2] == 0.0 and gradient[0] != 0.0


def test_lwf_stays_near_the_base_classes_that_were_seen():
  model = linear([[0, 2 * LOG3, 0], [0, 0, 0]])
  loss = objectives.Lwf(strength=0.2, temperature=2.0)
  loss.build(model)
  loss.remember()
  model.set_weights([np.zeros([2, 3], np.float32), np.zeros(3, np.float32)])
  images = tf.constant([[1.0, 0.0]])
  masks = dict(images=images, base=(1, 1, 0))
  # The teacher at T = 2: (1/4, 3/4); the net: (1/2, 1/2). KL = -log 2 + 3/4 log 3.
  found = loss(batch([[0, 0, 0]], [0], **masks))
  assert float(found) == pytest.approx(LOG3 + 0.2 * 4 * (0.75 * LOG3 - LOG2), rel=1e-5)
  # With one class left, or none, there is nothing to compare.
  for seen in ((0, 1, 1), (0, 0, 1)):
    assert float(loss(batch([[0, 0, 0]], [0], seen=seen, **masks))) == pytest.approx(LOG3, rel=1e-6)


def test_ewc_pulls_towards_the_base_weights_by_importance():
  model = linear(np.zeros([2, 3]))
  loss = objectives.Ewc(strength=0.1, share=0.9, fisher="example")
  loss.build(model)
  images, label = tf.constant([[2.0, 0.0]]), tf.constant([1], tf.int64)

  def losses_of(x, y):
    return objectives.cross_entropy(tf.constant([True, True, False]), model(x), y)

  loss.penalty.observe(losses_of, images, label)
  loss.remember()
  # p = (1/2, 1/2): gradients of the kernel's first row +-2 * 1/2, squared 1; of biases 1/4.
  model.layers[-1].kernel.assign([[3.0, 0, 5.0], [7.0, 0, 0]])
  model.layers[-1].bias.assign([0.0, 2.0, 0])
  expected = 0.9 * LOG3 + 0.1 / 2 * (1 * 9 + 0.25 * 4)
  assert float(loss(batch([[0, 0, 0]], [0], images=images))) == pytest.approx(expected, rel=1e-5)
  # Once more, at the present weights, which do not become those to stay near to.
  model.layers[-1].kernel.assign(np.zeros([2, 3]))
  loss.penalty.observe(losses_of, images, label)
  loss.refresh()
  importance = loss.penalty.importance[0].numpy()
  assert importance[0, 2] == importance[1, 0] == 0.0 and importance[0, 0] != 1.0
  np.testing.assert_array_equal(loss.penalty.anchors[1], [0, 0, 0])


def test_wrong_names_are_refused():
  with pytest.raises(ValueError, match="ErAce.current is 'old'; allowed are batch, novel"):
    objectives.ErAce("old")
  with pytest.raises(ValueError, match="Dark.divergence is 'l2'; allowed are mse, kl"):
    objectives.Dark(divergence="l2")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math
import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.data import image_ops
from suite.data import tasks
from suite.learners import protonet
from suite.models import conv4


def _pixels(image_shape):
  """Features are the pixels: [B, H, W, 3] -> [B, H * W * 3]."""
  return tf.keras.Sequential([tf.keras.Input(image_shape), tf.keras.layers.Flatten()])


def _dense(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])


def _learner(backbone=_pixels, num_classes=3, seed=0, size=1):
  learner = protonet.ProtoNet(backbone, transform=image_ops.Plain(size))
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, num_classes), context)
  return learner


def _images(*pixels):
  """One image of one pixel for each (r, g, b): [B, 1, 1, 3]."""
  return tf.constant(pixels, tf.float32)[:, None, None, :]


def _after(learner, *sets):
  state = learner.initial_state(3)
  for pixels, labels in sets:
    state = learner.adapt(state, _images(*pixels), tf.constant(labels, tf.int64))
  return state


def test_prototypes_and_logits_by_hand():
  learner = _learner()
  state = _after(learner, ([(2, 0, 0), (4, 0, 0)], [0, 0]), ([(0, 1, 0)], [1]))
  np.testing.assert_array_equal(state["sums"], [[6, 0, 0], [0, 1, 0], [0, 0, 0]])
  np.testing.assert_array_equal(state["counts"], [2, 1, 0])
  # Prototypes (3, 0, 0) and (0, 1, 0): (3, 1, 0) is 1 from the first, 9 from the second. Class 2
  # was not shown.
  logits = learner.logits(state, _images((3, 1, 0), (0, 0, 2)))
  np.testing.assert_allclose(logits, [[-1, -9, -1e9], [-13, -5, -1e9]])


def test_the_first_support_set_still_counts_after_the_second():
  learner = _learner()
  second = [(4, 0, 0), (0, 8, 0)], [0, 2]
  query = _images((3, 0, 0))
  before = learner.logits(_after(learner, ([(2, 0, 0), (0, 1, 0)], [0, 1]), second), query)
  after = learner.logits(_after(learner, ([(0, 0, 0), (0, 5, 0)], [0, 1]), second), query)
  # Class 0 is in both sets: its prototype is (3, 0, 0), then (2, 0, 0). Class 1 is in set 1 only.
  np.testing.assert_allclose(before, [[0, -10, -73]])
  np.testing.assert_allclose(after, [[-1, -34, -73]])


def test_the_order_of_support_sets_does_not_matter():
  learner = _learner(_dense)
  sets = ([(2, 7, 1), (4, 0, 9)], [0, 1]), ([(1, 5, 2), (6, 3, 3)], [2, 1])
  query = _images((3, 1, 4), (1, 5, 9))
  np.testing.assert_allclose(learner.logits(_after(learner, *sets), query),
                             learner.logits(_after(learner, *sets[::-1]), query), rtol=1e-5)


def test_the_meta_loss_by_hand():
  learner = _learner()
  support = tf.stack([_images((3, 0, 0)), _images((0, 1, 0))])  # [S=2, B=1, 1, 1, 3]
  episode = support, tf.constant([[0], [1]]), _images((3, 1, 0)), tf.constant([0])
  # Logits -1, -9 and "not shown": -log(e^-1 / (e^-1 + e^-9)).
  assert float(learner.meta_loss(episode)) == pytest.approx(math.log1p(math.exp(-8)), rel=1e-4)


def test_a_class_that_was_not_shown_spoils_no_gradient():
  learner = _learner(_dense)
  episode = _images((3, 0, 0))[None], tf.constant([[0]]), _images((3, 1, 0)), tf.constant([2])
  with tf.GradientTape() as tape:
    loss = learner.meta_loss(episode)
  gradients = tape.gradient(loss, learner.trainable_variables)
  assert all(np.isfinite(g).all() for g in [loss, *gradients])


def test_initial_weights_are_the_seeds_and_begin_keeps_them():
  one, same, other = _learner(_dense), _learner(_dense), _learner(_dense, seed=1)
  kernel, same_kernel, other_kernel = (
      learner.trainable_variables[0].numpy() for learner in (one, same, other))
  np.testing.assert_array_equal(kernel, same_kernel)
  assert not np.array_equal(kernel, other_kernel)
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(7))
  one.begin(tasks.Task("next", tasks.SINGLE_LABEL, 2), context)
  np.testing.assert_array_equal(kernel, one.trainable_variables[0])


def test_a_checkpoint_holds_weights_and_moments(tmp_path):
  learner = _learner(_dense)
  variables = learner.trainable_variables
  learner.optimizer.apply_gradients([(tf.ones_like(v), v) for v in variables])
  path = tf.train.Checkpoint(learner=learner).write(str(tmp_path / "learner"))
  restored = _learner(_dense, seed=5)
  tf.train.Checkpoint(learner=restored).read(path).assert_consumed()
  for expected, got in zip([*variables, *learner.optimizer.variables],
                           [*restored.trainable_variables, *restored.optimizer.variables]):
    np.testing.assert_array_equal(expected, got)
  assert int(restored.optimizer.iterations) == 1


def test_running_statistics_are_refused_and_the_nets_of_the_suite_will_do():
  def net(norm):
    return lambda image_shape: conv4.conv4(image_shape, filters=4, blocks=2, norm=norm)

  with pytest.raises(ValueError, match="'conv4' keeps running statistics .*norm = 'group'"):
    _learner(net("batch"), size=4)
  learner = _learner(net("group"), size=4)
  state = learner.adapt(learner.initial_state(3), tf.zeros([2, 4, 4, 3]), tf.constant([0, 1]))
  assert learner.logits(state, tf.zeros([5, 4, 4, 3])).shape == [5, 3]

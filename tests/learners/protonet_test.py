# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math
import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.learners import protonet
from suite.models import conv4
from suite.models.episodic import embedding
from suite.models.episodic import proto_conv4


def _pixels(image_shape):
  """Features are the pixels: [B, H, W, 3] -> [B, H * W * 3]."""
  return tf.keras.Sequential([tf.keras.Input(image_shape), tf.keras.layers.Flatten()])


def _dense(image_shape):
  return tf.keras.Sequential([
      tf.keras.Input(image_shape), tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)])


def _learner(backbone=_pixels, num_classes=3, seed=0, size=1, **settings):
  learner = protonet.ProtoNet(
      embedding.KerasEmbedding(backbone), transform=image_ops.Plain(size), **settings)
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, num_classes), context)
  return learner


def _images(*pixels):
  """One image of one pixel for each (r, g, b): [B, 1, 1, 3]."""
  return tf.constant(pixels, tf.float32)[:, None, None, :]


def _after(learner, *sets):
  state = learner.initial_state(3)
  for pixels, labels in sets:
    state = learner.adapt(state, learner.encode(_images(*pixels)), tf.constant(labels, tf.int64))
  return state


def _logits(learner, state, images):
  return learner.logits(state, learner.encode(images))


def test_prototypes_and_logits_by_hand():
  learner = _learner()
  state = _after(learner, ([(2, 0, 0), (4, 0, 0)], [0, 0]), ([(0, 1, 0)], [1]))
  np.testing.assert_array_equal(state.sums, [[6, 0, 0], [0, 1, 0], [0, 0, 0]])
  np.testing.assert_array_equal(state.counts, [2, 1, 0])
  # Prototypes (3, 0, 0) and (0, 1, 0): (3, 1, 0) is 1 from the first, 9 from the second. Class 2
  # was not shown.
  logits = _logits(learner, state, _images((3, 1, 0), (0, 0, 2)))
  np.testing.assert_allclose(logits, [[-1, -9, -1e9], [-13, -5, -1e9]])


def test_the_first_support_set_still_counts_after_the_second():
  learner = _learner()
  second = [(4, 0, 0), (0, 8, 0)], [0, 2]
  query = _images((3, 0, 0))
  before = _logits(learner, _after(learner, ([(2, 0, 0), (0, 1, 0)], [0, 1]), second), query)
  after = _logits(learner, _after(learner, ([(0, 0, 0), (0, 5, 0)], [0, 1]), second), query)
  # Class 0 is in both sets: its prototype is (3, 0, 0), then (2, 0, 0). Class 1 is in set 1 only.
  np.testing.assert_allclose(before, [[0, -10, -73]])
  np.testing.assert_allclose(after, [[-1, -34, -73]])


def test_the_order_of_support_sets_does_not_matter():
  learner = _learner(_dense)
  sets = ([(2, 7, 1), (4, 0, 9)], [0, 1]), ([(1, 5, 2), (6, 3, 3)], [2, 1])
  query = _images((3, 1, 4), (1, 5, 9))
  np.testing.assert_allclose(_logits(learner, _after(learner, *sets), query),
                             _logits(learner, _after(learner, *sets[::-1]), query), rtol=1e-5)


def test_the_meta_loss_by_hand():
  learner = _learner()
  support = tf.stack([_images((3, 0, 0)), _images((0, 1, 0))])  # [S=2, B=1, 1, 1, 3]
  episode = support, tf.constant([[0], [1]]), _images((3, 1, 0)), tf.constant([0])
  # Logits -1, -9 and "not shown": -log(e^-1 / (e^-1 + e^-9)).
  assert float(learner.meta_loss(episode)[0]) == pytest.approx(math.log1p(math.exp(-8)), rel=1e-4)


def test_a_class_that_was_not_shown_spoils_no_gradient():
  learner = _learner(_dense)
  episode = _images((3, 0, 0))[None], tf.constant([[0]]), _images((3, 1, 0)), tf.constant([2])
  with tf.GradientTape() as tape:
    loss, _ = learner.meta_loss(episode)
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
  codes = learner.encode(tf.zeros([2, 4, 4, 3]))
  state = learner.adapt(learner.initial_state(3), codes, tf.constant([0, 1]))
  assert _logits(learner, state, tf.zeros([5, 4, 4, 3])).shape == [5, 3]


def test_dot_products_and_the_papers_defect_by_hand():
  sets = ([(2, 0, 0), (4, 0, 0)], [0, 1]), ([(0, 1, 0), (0, 6, 0)], [0, 1])
  query = _images((1, 2, 0))
  dots = _learner(similarity="dot")
  # Prototypes (1, .5, 0) and (2, 3, 0).
  np.testing.assert_allclose(_logits(dots, _after(dots, *sets), query), [[2, 8, -1e9]])
  defect = _learner(similarity="dot", last_set_only=True)
  # The last set's images over the number of sets: (0, .5, 0) and (0, 3, 0).
  np.testing.assert_allclose(_logits(defect, _after(defect, *sets), query), [[1, 6, -1e9]])


def test_with_the_defect_only_the_last_set_counts_and_without_it_all_do():
  first = [([(9, 0, 3), (4, 4, 0)], [0, 1]), ([(1, 1, 1), (0, 0, 8)], [0, 1])]
  last = [(0, 1, 0), (0, 6, 0)], [0, 1]
  query = _images((1, 2, 0))
  for is_defect in (True, False):
    learner = _learner(last_set_only=is_defect)
    one, other = (_logits(learner, _after(learner, before, last), query) for before in first)
    assert np.array_equal(one, other) == is_defect


def test_meta_baselines_loss_and_the_gradient_of_its_temperature_by_hand():
  learner = _learner(num_classes=2, similarity="cosine", scale=1.0)
  # Sums after two sets: (3, 4, 0) and (5, 0, 0). The target has the cosines 0.8 and 0 with them.
  support = tf.stack([_images((3, 0, 0), (2, 0, 0)), _images((0, 4, 0), (3, 0, 0))])
  labels = tf.constant([[0, 1], [0, 1]], tf.int64)
  with tf.GradientTape() as tape:
    loss, _ = learner.meta_loss((support, labels, _images((0, 7, 0)), tf.constant([0], tf.int64)))
  other = math.exp(-0.8) / (1.0 + math.exp(-0.8))  # The probability of class 1.
  assert float(loss) == pytest.approx(-math.log(1.0 - other), rel=1e-6)
  assert float(tape.gradient(loss, learner.log_scale)) == pytest.approx(-0.8 * other, rel=1e-5)


def test_an_unknown_similarity_is_refused():
  with pytest.raises(ValueError, match="'l1'; allowed are euclidean, cosine, dot"):
    _learner(similarity="l1")


def test_norms_see_every_support_set_and_the_targets_apart():
  net = proto_conv4.ProtoConv4(filters=2, blocks=1)
  learner = protonet.ProtoNet(embedding.Embedding(net), transform=image_ops.Plain(4))
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(0))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, 2), context)
  images = tf.random.stateless_uniform([2, 2, 4, 4, 3], (1, 2), maxval=255.0)
  targets = tf.random.stateless_uniform([3, 4, 4, 3], (3, 4), maxval=255.0)
  labels = tf.constant([[0, 1], [0, 1]])
  _, seen = learner.meta_loss((images, labels, targets, tf.constant([0, 1, 1])))
  parts = [learner._embedding.train(x)[1] for x in (images[0], images[1], targets)]
  np.testing.assert_allclose(seen.mean, sum(part.mean for part in parts), rtol=1e-5)
  assert float(seen.count) == 2 + 2 + 3

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An update takes each episode's gradient by itself, to the same result as one over all of them."""

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import flops
from suite.contracts import refusals
from suite.data.episodes import episodes
from suite.training.episodic import episode_graphs


class Scale(tf.Module):
  """Remembers a sum of images; its loss is smooth in two of its three variables."""

  def __init__(self):
    super().__init__()
    self.kernel = tf.Variable([[1.0, -0.5], [0.25, 2.0]])
    self.rows = tf.Variable([0.5, -1.0, 3.0])
    self.unused = tf.Variable(7.0)
    self.seen_sum = tf.Variable(0.0, trainable=False)
    self.seen_count = tf.Variable([0.0, 0.0], trainable=False)
    self.optimizer = tf.keras.optimizers.SGD(0.1, jit_compile=False)
    self.optimizer.build(self.trainable_variables)

  def initial_state(self, num_classes):
    return tf.zeros([num_classes])

  def adapt(self, state, images, labels):
    return 2.0 * state + tf.reduce_sum(images, axis=(0, 1, 2))

  def logits(self, state, images):
    return tf.reduce_sum(images, axis=(1, 2)) @ self.kernel + state * tf.gather(self.rows, [0, 2])

  def meta_loss(self, episode):
    state = self.initial_state(2)
    for s in range(episode.support_images.shape[0]):
      state = self.adapt(state, episode.support_images[s], episode.support_labels[s])
    seen = tf.reduce_sum(episode.target_images), tf.ones([2])
    return tf.reduce_mean(tf.square(self.logits(state, episode.target_images))), seen

  def zero_statistics(self):
    return tf.constant(0.0), tf.zeros([2])

  def update_statistics(self, seen):
    self.seen_sum.assign(seen[0])
    self.seen_count.assign(seen[1])


def _batch(size, sets=3):
  rng = np.random.default_rng(0)
  make = lambda *shape: tf.constant(rng.normal(size=[size, *shape]), tf.float32)
  return episodes.Episode(make(sets, 2, 1, 1, 2), tf.zeros([size, sets, 2], tf.int64),
                          make(4, 1, 1, 2), tf.zeros([size, 4], tf.int64))


def _one(batch, i):
  return episodes.Episode(*(part[i] for part in batch))


@pytest.mark.parametrize("size", [1, 5])
def test_an_update_is_a_step_down_the_mean_loss(size):
  learner, expected, batch = Scale(), Scale(), _batch(size)
  with tf.GradientTape() as tape:
    losses = [expected.meta_loss(_one(batch, i))[0] for i in range(size)]
    loss = tf.add_n(losses) / size
  gradients = tape.gradient(loss, expected.trainable_variables, unconnected_gradients="zero")
  expected.optimizer.apply_gradients(zip(gradients, expected.trainable_variables))
  got = episode_graphs.Graphs(learner, 2).update(batch)
  assert float(got) == pytest.approx(float(loss), rel=1e-5)
  for a, b in zip(learner.trainable_variables, expected.trainable_variables):
    np.testing.assert_allclose(a, b, rtol=1e-5)
  # What was seen comes to `update_statistics` as the sum over episodes.
  total = float(tf.reduce_sum(batch.target_images))
  assert float(learner.seen_sum) == pytest.approx(total, rel=1e-4)
  assert learner.seen_count.numpy().tolist() == [size, size]
  assert float(learner.unused) == 7.0 and int(learner.optimizer.iterations) == 1


@pytest.mark.parametrize("sets, unrolled", [(1, False), (3, False), (3, True)])
def test_answers_are_those_of_the_sets_one_by_one(sets, unrolled):
  learner, batch = Scale(), _batch(4, sets)
  got = episode_graphs.Graphs(learner, 2).answer(batch[:3], unrolled)
  for i in range(4):
    state = learner.initial_state(2)
    for s in range(sets):
      state = learner.adapt(state, batch.support_images[i, s], batch.support_labels[i, s])
    np.testing.assert_allclose(got[i], learner.logits(state, batch.target_images[i]), rtol=1e-5)


def test_an_unrolled_graph_has_the_same_cost():
  graphs, batch = episode_graphs.Graphs(Scale(), 2), _batch(4)[:3]
  spec = tuple(tf.TensorSpec(part.shape, part.dtype) for part in batch)
  assert graphs.cost(graphs.answer, spec, True) == graphs.cost(graphs.answer, spec, False)


def test_the_model_is_all_but_the_optimizer():
  learner = Scale()
  assert [v.shape.rank for v in episode_graphs.Graphs(learner, 2).model] == [2, 1, 1, 0, 0]


def _endless(size=2):
  """Batches of `_batch`'s shapes that differ from each other."""
  def numbered(i):
    return episodes.Episode(*(part * tf.cast(i + 1, part.dtype) for part in _batch(size)))

  return tf.data.Dataset.range(100).map(numbered)


def test_many_updates_in_a_call_are_the_same_as_single_ones():
  found, learner = [], Scale()
  graphs, before = episode_graphs.Graphs(learner, 2), [v.numpy() for v in learner.variables]
  for calls in ([], [1, 4], [5], [2, 1, 2]):
    for variable, value in zip(learner.variables, before):
      variable.assign(value)
    batches = iter(_endless())
    if calls:
      losses = np.concatenate([graphs.updates(batches, tf.constant(n)) for n in calls])
    else:
      losses = np.array([graphs.update(next(batches)) for _ in range(5)])
    found.append([losses, *(v.numpy() for v in learner.variables)])
  assert len(set(found[0][0])) == 5
  for others in found[1:]:
    for a, b in zip(found[0], others):
      np.testing.assert_array_equal(a, b)


def test_many_updates_have_the_cost_of_their_number():
  graphs, spec = episode_graphs.Graphs(Scale(), 2), _endless().element_spec
  one = graphs.update_cost(spec)
  assert one == graphs.cost(graphs.update, spec) and one.flops > 0
  three = flops.count(graphs.updates.get_concrete_function(
      tf.data.IteratorSpec(spec), tf.TensorSpec([], tf.int32)), {"number": 3})
  assert three == one * 3


def test_what_xla_compiles_is_the_same_and_costs_the_same():
  found, costs = [], []
  for compiled in (False, True):
    learner, batch = Scale(), _batch(2)
    graphs = episode_graphs.Graphs(learner, 2, compiled=compiled)
    found.append([graphs.update(batch), graphs.answer(batch[:3]),
                  graphs.updates(iter(_endless()), tf.constant(3)), *learner.variables])
    spec = tf.nest.map_structure(lambda part: tf.TensorSpec(part.shape, part.dtype), batch)
    costs.append([graphs.update_cost(spec), graphs.cost(graphs.answer, tuple(spec[:3]))])
  for plain, by_xla in zip(*found):
    np.testing.assert_allclose(by_xla, plain, rtol=1e-5)
  assert costs[0] == costs[1]


def test_several_devices_are_not_compiled_for():
  several = types.SimpleNamespace(is_single=False)
  with pytest.raises(refusals.RefusedError, match="cfsl.Compute.compiled = True .*one_device"):
    episode_graphs.Graphs(Scale(), 2, compiled=True, distribution=several)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML++ high-end and SCA: among others, the meta-gradient against finite differences."""

import types

import gin
import numpy as np
import pytest
import tensorflow as tf
import unconverted

from suite.compute import distribution
from suite.compute import seeds
from suite.configs import gin_parse
from suite.contracts import tasks
from suite.learners import embedded_maml
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique

WAY, SIZE, CHANNELS = 2, 8, 1


@unconverted.unconverted
class Linear(tf.Module):
  """An embedding in float64: every pixel of [B, 3, 3, 1] becomes two channels."""

  def make(self, seed, image_shape):
    self._kernel = tf.Variable([[0.7, -0.4]], dtype=tf.float64, name="embedding")

  def encode(self, images):
    return tf.cast(images, tf.float64) / 100.0 @ self._kernel

  def train(self, images):
    return self.encode(images), self.zero_statistics()

  def zero_statistics(self):
    return embedding.Seen(tf.zeros([0]), tf.zeros([0]), tf.constant(1.0))


def _learner(*, sets=2, seed=0, exact=False, critic_steps=0, training=None, joint_norms=False,
             size=SIZE, **inner):
  """Dense blocks of 2 filters and a head of 3 (`exact`: a linear embedding, all in float64)."""
  net = dense_attention.DenseAttention(filters=2, stages=1, blocks=1, size=2)
  made = Linear() if exact else embedding.Embedding(net)
  learner = embedded_maml.EmbeddedMaml(
    made,
    dense_attention.AttentionHead(filters=3, dtype="float64" if exact else "float32"),
    inner=inner_loop.InnerLoop(**{"steps": 2, "num_support_sets": sets, "rate": 0.3, **inner}),
    transform=types.SimpleNamespace(size=3 if exact else size),
    channels=CHANNELS,
    training=meta_schedules.MetaTraining(**(training or {})),
    joint_norms=joint_norms,
    critique=self_critique.SelfCritique(
      self_critique.Critic(sizes=(3,)), steps=critic_steps, epochs=4
    )
    if critic_steps
    else None,
  )
  context = types.SimpleNamespace(distribution=distribution.build(), seeds=seeds.Seeds(seed))
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, WAY * sets), context)
  rng = np.random.default_rng(seed)
  for variable in learner.trainable_variables:  # Off 0 and 1, so that every derivative matters.
    variable.assign_add(0.1 * rng.normal(size=variable.shape))
  return learner


def _episode(seed=0, sets=2, targets=3, size=SIZE):
  """S sets of one image for each of 2 classes of their own, 3 targets a class; pixels."""
  rng = np.random.default_rng(seed)
  shape = [size, size, CHANNELS]
  return (tf.constant(rng.integers(0, 256, [sets, WAY, *shape])),
          tf.constant(np.arange(WAY * sets).reshape(sets, WAY)),
          tf.constant(rng.integers(0, 256, [WAY * sets * targets, *shape])),
          tf.constant(np.repeat(np.arange(WAY * sets), targets)))


def _gradients(learner, episode):
  """The meta-loss, its gradients and what was seen; eagerly."""
  with tf.GradientTape() as tape:
    loss, seen = learner.meta_loss(episode)
  gradients = tape.gradient(loss, learner.trainable_variables, unconnected_gradients="zero")
  return loss, [tf.convert_to_tensor(g) for g in gradients], seen


def _logits(learner, episode):
  images, labels, targets, _ = episode
  state = learner.initial_state(WAY * images.shape[0])
  for s in range(images.shape[0]):
    state = learner.adapt(state, learner.encode(images[s]), labels[s])
  return learner.logits(state, learner.encode(targets)).numpy()


@pytest.mark.parametrize("sets, critic_steps, settings, training", [
    (2, 0, dict(steps=1), {}),
    (1, 1, dict(steps=1, transductive=True), dict(multi_step_epochs=10)),
])
def test_the_meta_gradient_is_right(sets, critic_steps, settings, training, step=1e-6):
  learner = _learner(sets=sets, exact=True, critic_steps=critic_steps, training=training,
                     **settings)
  episode, rng = _episode(sets=sets, size=3), np.random.default_rng(1)
  loss, gradients, _ = _gradients(learner, episode)
  # Of a single step the loss of all steps is that of the last, without branches to be traced.
  learner._adapted.training = meta_schedules.MetaTraining()
  loss_of = tf.function(lambda: learner.meta_loss(episode)[0], autograph=False)
  assert float(loss) == pytest.approx(float(loss_of()), rel=1e-12)
  names = set()
  # One variable at a time: embedding, head, rates, norms and critic each have a right gradient.
  for variable, gradient in zip(learner.trainable_variables, gradients):
    before, direction = variable.numpy(), rng.normal(size=variable.shape)
    losses = []
    for sign in (1, -1):
      variable.assign(before + sign * step * direction)
      losses.append(float(loss_of()))
    variable.assign(before)
    got = float(tf.reduce_sum(gradient * direction))
    assert got == pytest.approx((losses[0] - losses[1]) / (2 * step), rel=1e-5, abs=2e-8), (
        variable.name)
    if "conv/bias" not in variable.name:  # The norm takes it out again.
      assert np.abs(gradient).max() > 1e-6, variable.name
    names.add(variable.name.split(":")[0])
  assert {"embedding", "gate/kernel", "inner_rates", "norm_scale"} <= names
  assert ("critic/layer1" in names) == bool(critic_steps)


def test_first_order_passes_less_gradient_to_the_head():
  """Which epochs have it: tests/training/episodic/meta_schedules_test.py."""
  def gradients(**training):
    learner = _learner(sets=1, steps=1, exact=True, training=training)
    loss, parts, _ = _gradients(learner, _episode(sets=1, size=3))
    return np.concatenate([[loss], *(np.ravel(p) for p in parts)])

  second, first = gradients(), gradients(second_order=False)
  assert second[0] == pytest.approx(first[0])
  assert np.linalg.norm(first - second) > 1e-3 * np.linalg.norm(second)


@pytest.mark.parametrize("critic_steps", [0, 1])
def test_all_support_sets_count(critic_steps):
  images, labels, targets, _ = _episode()
  learner = _learner(critic_steps=critic_steps)
  whole = _logits(learner, (images, labels, targets, None))
  other = tf.concat([255 - images[:1], images[1:]], axis=0)
  assert np.abs(_logits(learner, (other, labels, targets, None)) - whole).max() > 1e-4


def test_their_order_counts():
  images, labels, targets, _ = _episode()
  learner = _learner()
  turned = _logits(learner, (images[::-1], labels[::-1], targets, None))
  assert np.abs(turned - _logits(learner, (images, labels, targets, None))).max() > 1e-4


@pytest.mark.parametrize("settings", [{}, dict(transductive=True), dict(critic_steps=1)])
def test_an_answer_depends_on_other_targets_only_if_it_says_so(settings):
  learner, (images, labels, targets, _) = _learner(**settings), _episode()
  whole = _logits(learner, (images, labels, targets, None))
  other = tf.concat([255 - targets[:1], targets[1:]], axis=0)
  moved = np.abs(_logits(learner, (images, labels, other, None)) - whole)[1:].max()
  assert learner.transductive == bool(settings)
  assert (moved > 1e-5) if learner.transductive else (moved < 1e-6)


def test_in_meta_training_targets_meet_the_supports_norms_only_if_joint():
  images, _, targets, _ = _episode()
  for joint_norms in (False, True):
    learner = _learner(joint_norms=joint_norms)
    support, codes, seen = learner._embedded(images, targets)
    other = learner._embedded(images, 255 - targets)[0]
    assert support.shape == (2, WAY, 2, 2, 4) and codes.shape == (12, 2, 2, 4)
    assert np.allclose(support, other) != joint_norms
    assert float(seen.count) == 2 * WAY + 12


def test_the_meta_loss_is_that_of_the_sets_one_by_one():
  # The linear embedding has no norms, so that training and answering are the same.
  for critic_steps in (0, 1):
    learner = _learner(exact=True, critic_steps=critic_steps, training=dict(updates_per_epoch=1))
    episode = _episode(size=3)
    learner.optimizer.iterations.assign(3)  # The fourth epoch: only answers after the critic count.
    logits = _logits(learner, episode)
    expected = inner_loop.cross_entropy(episode[3], tf.constant(logits))
    assert float(learner.meta_loss(episode)[0]) == pytest.approx(float(expected), rel=1e-10)


def test_before_the_critic_counts_for_half_at_first():
  learner = _learner(exact=True, critic_steps=1, training=dict(updates_per_epoch=1))
  images, labels, targets, target_labels = episode = _episode(size=3)
  after = inner_loop.cross_entropy(target_labels, tf.constant(_logits(learner, episode)))
  state = learner.initial_state(4)
  for s in range(2):
    state = learner.adapt(state, learner.encode(images[s]), labels[s])
  before = inner_loop.cross_entropy(
      target_labels, learner._adapted.logits(state, learner.encode(targets)))
  # Epoch 0 of 4: 3/8 and 5/8.
  expected = 0.375 * float(before) + 0.625 * float(after)
  assert float(learner.meta_loss(episode)[0]) == pytest.approx(expected, rel=1e-10)


def test_what_is_seen_moves_what_encodes_and_nothing_else_does():
  learner, episode = _learner(), _episode()
  before = learner.encode(episode[2]).numpy()
  _, seen = learner.meta_loss(episode)
  np.testing.assert_array_equal(learner.encode(episode[2]), before)
  tf.nest.assert_same_structure(seen, learner.zero_statistics())
  learner.update_statistics(seen)
  assert np.abs(learner.encode(episode[2]) - before).max() > 1e-4


@pytest.mark.parametrize("sets, omniglot, slimagenet", [
    (1, 62.1, 3.97), (3, 20.8, 1.32), (5, 12.5, 0.80), (10, 6.3, 0.40)])
def test_the_papers_across_task_memory(sets, omniglot, slimagenet):
  """Task type B, 5 classes and images a set. (3.97 is 3.965, which the paper rounds up.)"""
  parameters = dense_attention.AttentionHead().initial(0, (5, 5, 320), 5 * sets)
  inner = inner_loop.InnerLoop(num_support_sets=sets, transductive=True)
  rows = dense_attention.AttentionHead().initial_norms(inner.num_norm_rows)
  state = inner.begin(dense_attention.AttentionHead(), inner_loop.Parameters(
      {k: tf.constant(v) for k, v in parameters.items()}, tf.zeros([]), rows))
  held = sum(part.shape.num_elements() * part.dtype.size for part in tf.nest.flatten(state))
  support = 4 * 5 * sets
  assert round(held / (support * 28 * 28), 1) == omniglot
  assert held / (support * 64 * 64 * 3) == pytest.approx(slimagenet, abs=0.0051)


def test_what_does_not_fit_is_refused():
  learner = _learner()
  with pytest.raises(ValueError, match="task has 6 classes, but the head was made for 4"):
    learner.initial_state(6)
  message = r"Images have 3 channels, the net was made for 1. Set EmbeddedMaml.channels = 3"
  with pytest.raises(ValueError, match=message):
    learner.encode(tf.zeros([1, 8, 8, 3]))
  with pytest.raises(ValueError, match=message):
    learner.meta_loss((tf.zeros([1, 2, 8, 8, 3]), None, tf.zeros([1, 8, 8, 3]), None))
  with pytest.raises(ValueError, match="shows support set 3, .*extend_rows = True"):
    learner.meta_loss(_episode(sets=3))


@pytest.mark.parametrize("macro", ["MAML_HIGH", "SCA"])
def test_the_shipped_settings(tmp_path, macro):
  path = tmp_path / "run.gin"
  path.write_text("\n".join([
      "from __gin__ import dynamic_registration", "from suite.data.images import image_ops",
      "from suite import experiment", "include 'gin/learners/maml.gin'", "NUM_SUPPORT_SETS = 2",
      "CHANNELS = 1", "TRANSFORM = @image_ops.Plain()", "image_ops.Plain.size = 28",
      f"experiment.run.learners = {{'maml': %{macro}}}"]))
  gin_parse.parse([path])
  learner = gin.query_parameter("experiment.run.learners")["maml"].scoped_configurable_fn()()
  inner = learner._adapted.inner
  assert (inner.steps, inner.rate, inner.num_support_sets, inner.transductive) == (5, 0.01, 2, True)
  assert learner._adapted.net == dense_attention.AttentionHead(filters=48)
  assert learner._joint_norms and (learner._critique is None) == (macro == "MAML_HIGH")
  assert learner._embedding._net == dense_attention.DenseAttention(pixel_range=(0.0, 1.0))

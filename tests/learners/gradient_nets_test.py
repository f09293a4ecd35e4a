# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cross-entropy on what is stored: against numpy, against a plain Keras step, and what it costs."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import ledger
from suite.compute import mac_views
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.learners import gradient
from suite.models import conv4
from suite.state import context
from suite.state import journal
from suite.state import weight_store
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts

TASK, SIZE = tasks.Task("t", tasks.SINGLE_LABEL, 4), 8
KNOWN = np.array([True, True, True, False])


def first_two(images):
  """Two features that can be worked by hand: the red channel of the first two pixels."""
  return tf.cast(images[:, 0, :2, 0], tf.float32)


def conv(image_shape):
  return conv4.conv4(image_shape, filters=3, blocks=2)


def backbone():
  return frozen_backbone.FrozenBackbone(conv, SIZE, seed=3)


def here(folder):
  account = ledger.Ledger()
  return context.Context(
      event=0, ledger=account, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder, 0), journal=journal.Journal(0, account),
      delivery=deliveries.SEQUENCE)


def make(folder, net=None, head=None, momentum=0.9, weight_decay=1e-4, **settings):
  learner = gradient.GradientLearner(
      transform=image_ops.Plain(SIZE), net=net or trainable_parts.HeadOnly(first_two),
      head=head or class_heads.Linear("zeros"),
      optimizer=optimizers.Momentum(momentum, weight_decay, keep=True),
      **{**dict(batch_size=64, train_on="all", learning_rate=0.1, base=composition.Base()),
         **settings})
  learner.begin(TASK, here(folder))
  return learner


def stored(num=50, num_features=2, seed=0):
  rng = np.random.default_rng(seed)
  labels = rng.integers(0, 3, num)
  centers = rng.normal(size=[3, num_features]) * 2
  codes = (centers[labels] + rng.normal(size=[num, num_features])).astype(np.float32)
  return deliveries.Stored(codes, labels, KNOWN, 0)


def stored_images(num=20, seed=0):
  rng = np.random.default_rng(seed)
  return deliveries.Stored(
      rng.integers(0, 256, [num, SIZE, SIZE, 3]).astype(np.uint8), rng.integers(0, 3, num), KNOWN,
      0)


def softmax(logits):
  exps = np.exp(logits - logits.max(1, keepdims=True))
  return exps / exps.sum(1, keepdims=True)


def test_one_full_batch_is_gradient_descent_with_momentum_among_known_classes(tmp_path):
  data = stored()
  learner = make(tmp_path, epochs=3, learning_rate=0.2, momentum=0.5, weight_decay=0.1)
  now = here(tmp_path)
  record = learner.learn_stored(data, now)
  codes = np.c_[data.codes.astype(np.float64), np.ones(50)]  # The bias is one more feature.
  weights, velocity, losses = np.zeros([3, 4]), np.zeros([3, 4]), []
  for _ in range(3):
    p = softmax(np.where(KNOWN, codes @ weights, -np.inf))
    losses.append(-np.mean(np.log(p[np.arange(50), data.labels])))
    velocity = 0.5 * velocity + codes.T @ (p - np.eye(4)[data.labels]) / 50 + 0.1 * weights
    weights -= 0.2 * velocity
  np.testing.assert_allclose(learner.head.kernel, weights[:2], rtol=1e-4, atol=1e-6)
  np.testing.assert_allclose(learner.head.bias, weights[2], rtol=1e-4, atol=1e-6)
  assert (weights[:, 3] == 0).all()  # Not known.
  assert record["train_loss"] == pytest.approx(np.mean(losses), rel=1e-5)
  assert (record["passes"], now.ledger.totals()["steps_train"]) == (150, 3)
  np.testing.assert_allclose(
      learner.answer(tf.constant(data.codes)), codes @ weights, rtol=1e-4, atol=1e-5)


def test_velocities_go_on_from_phase_to_phase_but_not_from_the_base_classes(tmp_path):
  data = stored()
  images = np.zeros([30, SIZE, SIZE, 3], np.uint8)
  labels = np.arange(30) % 2
  images[:, 0, :2] = (np.array([[2, 0], [0, 2]])[labels])[:, :, None]
  base = image_set.ImageSet.from_arrays("b", images, labels, kind=TASK.kind, num_classes=4)
  learner, now = make(tmp_path, epochs=1, base=composition.Base(40)), here(tmp_path)
  record = learner.learn(deliveries.Experience(TASK, base, base, deliveries.History()), now)
  assert now.ledger.totals()["examples_train"] == 40 * 30 and record["train_loss"] < 0.1
  assert now.ledger.totals()["macs"] == 40 * 30 * 2 * (2 * 4)
  assert np.argmax(learner.predict(tf.constant(images)), 1).tolist() == labels.tolist()
  assert (learner.head.kernel.numpy()[:, 2:] == 0).all()
  assert all((v.numpy() == 0).all() for v in learner.optimizer.velocities)
  learner.learn_stored(data, now)
  assert all((v.numpy() != 0).any() for v in learner.optimizer.velocities)


def test_a_split_head_trains_the_columns_of_new_classes_alone(tmp_path):
  learner, base = make(tmp_path, head=class_heads.Split()), stored()
  learner._learn_base((tf.constant(base.codes), tf.constant(base.labels % 2, tf.int64)),
                      here(tmp_path))
  layer = learner.composed.top.layers[-1]
  before = layer.base_kernel.numpy()
  assert (before[:, :2] != 0).all()
  learner.learn_stored(stored(), here(tmp_path))
  np.testing.assert_array_equal(layer.base_kernel, before)
  kernel = learner.head.kernel.numpy()
  assert (kernel[:, [0, 1, 3]] == 0).all() and (kernel[:, 2] != 0).all()
  # The first two logits are those of the base classes, for good.
  x = np.array([[1.0, 2.0]], np.float32)
  np.testing.assert_allclose(learner.answer(tf.constant(x))[0, :2],
                             (x @ before + layer.base_bias.numpy())[0, :2], rtol=1e-5)


def reference_step(data, rate, trained_names, weights):
  """One step on the whole net by Keras alone, norms as in evaluation."""
  model = backbone().model
  model.set_weights(weights)
  model.trainable = True
  kernel = tf.Variable(tf.random.stateless_normal([2 * 2 * 3, 4], [1, 2]))
  for layer in model.layers:
    layer.trainable = layer.name in trained_names
  variables = [*model.trainable_variables, kernel]
  with tf.GradientTape() as tape:
    logits = tf.matmul(model(tf.cast(data.codes, tf.float32), training=False), kernel)
    loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
        data.labels, logits[:, :3]))
  for variable, step in zip(variables, tape.gradient(loss, variables)):
    variable.assign_sub(rate * step)
  return model, kernel


@pytest.mark.parametrize("net, trained", [
    (lambda: trainable_parts.AllLayers(conv, norms="fixed"), ["block1_conv", "block2_conv"]),
    (lambda: trainable_parts.LastLayers(backbone, 2), ["block1_conv", "block2_conv"]),
    (lambda: trainable_parts.LastLayers(backbone, 1), ["block2_conv"])])
def test_a_step_on_layers_is_that_of_a_plain_model(net, trained, tmp_path):
  data = stored_images()
  learner = make(tmp_path, net(), epochs=1, learning_rate=0.1, weight_decay=0.0)
  learner.head.kernel.assign(tf.random.stateless_normal([12, 4], [1, 2]))
  own = (learner.composed.upper if isinstance(learner.net, trainable_parts.AllLayers)
         else learner.net._backbone.model)
  first = [w.numpy() for w in own.weights]
  codes = learner.encode(tf.constant(data.codes)).numpy()
  learner.learn_stored(data._replace(codes=codes), here(tmp_path))
  model, kernel = reference_step(data, 0.1, trained, first)
  np.testing.assert_allclose(learner.head.kernel, kernel, rtol=1e-3, atol=1e-4)
  for one, other, before in zip(own.weights, model.weights, first):
    np.testing.assert_allclose(one, other, rtol=1e-3, atol=1e-4)
    is_trained = any(f"{name}/" in other.name for name in trained)
    assert np.allclose(one, before, atol=1e-6) != is_trained, one.name


NETWORKS = {
    "head": lambda: trainable_parts.HeadOnly(backbone()),
    "last_norms": lambda: trainable_parts.LastLayers(backbone, 1, norms="trained"),
    "all": lambda: trainable_parts.AllLayers(conv),
}


@pytest.fixture(name="phase", scope="module")
def _phase(tmp_path_factory):
  """Returns a function from a net's name to its learner, data, record and costs after a phase."""
  @functools.cache
  def phase(name):
    folder = tmp_path_factory.mktemp(name)
    learner, now = make(folder, NETWORKS[name](), epochs=3, batch_size=8), here(folder)
    data = stored_images(20)
    data = data._replace(codes=learner.encode(tf.constant(data.codes)).numpy())
    return learner, data, learner.learn_stored(data, now), now.ledger.totals()

  return phase


def test_batch_statistics_are_followed_if_the_whole_net_is_trained(phase):
  model = phase("all")[0].composed.upper  # The first step is the head's: it was 0.
  assert (model.get_layer("block1_norm").moving_mean.numpy() != 0).all()
  assert (model.get_layer("block2_norm").beta.numpy() != 0).any()


@pytest.mark.parametrize("name", NETWORKS)
def test_an_offline_phase_is_charged_as_the_formula_says(name, phase):
  learner, _, record, totals = phase(name)
  assert record["passes"] == totals["examples_train"] == 60 and totals["steps_train"] == 9
  # 3 x 3 kernels: 3 to 3 channels at 8 x 8, then at 4 x 4; 12 features to 4 classes.
  first, second, head = 9 * 9 * 64, 9 * 9 * 16, 48
  each = {"head": 2 * head, "last_norms": 2 * second + 3 * head,
          "all": 2 * first + 3 * second + 3 * head}[name]
  assert totals["macs"] == learner.stored_macs(20) == 60 * each
  views = mac_views.views(*learner.mac_layers(), num_samples=0, num_passes=60)
  assert views["macs_exact_cached"] == 60 * each


def test_a_checkpoint_holds_what_training_changes(phase, tmp_path):
  """The other nets: tests/contracts/method_matrix_test.py."""
  whole, data, *_ = phase("last_norms")
  path = tf.train.Checkpoint(learner=whole).write(str(tmp_path / "learner"))
  expected = whole.learn_stored(data, here(tmp_path))
  again = make(tmp_path, NETWORKS["last_norms"](), epochs=3, batch_size=8)
  tf.train.Checkpoint(learner=again).read(path).assert_consumed()
  assert again.learn_stored(data, here(tmp_path)) == expected
  np.testing.assert_array_equal(again.answer(data.codes), whole.answer(data.codes))


def test_wrong_use_is_named(tmp_path):
  with pytest.raises(ValueError, match="norms is 'all'; allowed are fixed, trained"):
    trainable_parts.AllLayers(conv, norms="all")

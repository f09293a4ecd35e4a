# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.penalties import ewc

# Two parameters w; the loss of an example (x, y) is (w . x - y)^2 / 2, its gradient (w . x - y) x.
X = np.array([[1, 0], [0, 2], [1, 1]], np.float32)
Y = np.array([0, 0, 1], np.float32)
W = [1.0, 2.0]  # So the errors are 1, 4, 2 and the gradients (1, 0), (0, 8), (2, 2).


def make(**options):
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  layer.kernel.assign(np.array(W)[:, None])
  penalty = ewc.Ewc(**options)
  penalty.build(model)

  def losses_of(images, labels):
    return tf.square(model(images)[:, 0] - labels) / 2

  return penalty, layer.kernel, losses_of


def observe(penalty, losses_of, batches, graph=False):
  call = tf.function(lambda x, y, m: penalty.observe(losses_of, x, y, m)) if graph else (
      lambda x, y, m: penalty.observe(losses_of, x, y, m))
  for rows in batches:
    call(tf.constant(X[rows]), tf.constant(Y[rows]), tf.ones([len(rows)], tf.bool))
  penalty.after_bucket()


@pytest.mark.parametrize("graph", [False, True])
@pytest.mark.parametrize("limit", [0, 2**20])
def test_fisher_of_examples_by_hand(graph, limit, monkeypatch):
  monkeypatch.setattr(ewc, "_MAX_BYTES", limit)
  penalty, _, losses_of = make(fisher="example")
  observe(penalty, losses_of, [[0, 1], [2]], graph)
  np.testing.assert_allclose(penalty.importance[0][:, 0], [(1 + 4) / 3, (64 + 4) / 3], rtol=1e-6)


@pytest.mark.parametrize("graph", [False, True])
def test_fisher_of_minibatches_by_hand(graph):
  # Means (1/2, 4) and (2, 2): squares (1/4, 16) and (4, 4); the short batch counts as much.
  penalty, _, losses_of = make(fisher="minibatch")
  observe(penalty, losses_of, [[0, 1], [2]], graph)
  np.testing.assert_allclose(penalty.importance[0][:, 0], [2.125, 10.0], rtol=1e-6)


@pytest.mark.parametrize("limit", [0, 2**20])
@pytest.mark.parametrize("fisher", ewc.FISHERS)
def test_padding_does_not_count(fisher, limit, monkeypatch):
  monkeypatch.setattr(ewc, "_MAX_BYTES", limit)
  results = []
  for rows, mask in [([0, 1], [True, True]), ([0, 2, 1], [True, False, True])]:
    penalty, _, losses_of = make(fisher=fisher)
    penalty.observe(losses_of, tf.constant(X[rows]), tf.constant(Y[rows]), tf.constant(mask))
    penalty.observe(losses_of, tf.constant(X[rows]), tf.constant(Y[rows]),
                    tf.zeros([len(rows)], tf.bool))
    penalty.after_bucket()
    results.append(penalty.importance[0].numpy())
  np.testing.assert_allclose(*results)


def test_loss_and_decay_by_hand():
  penalty, kernel, losses_of = make(strength=0.4, decay=0.1, fisher="minibatch")
  assert penalty.loss(None, None).numpy() == 0
  observe(penalty, losses_of, [[0, 1], [2]])
  kernel.assign([[2.0], [1.0]])
  # 0.4 * (2.125 * 1^2 + 10 * 1^2); its gradient is 0.8 * F * difference.
  with tf.GradientTape() as tape:
    loss = penalty.loss(None, None)
  np.testing.assert_allclose(loss, 4.85, rtol=1e-6)
  np.testing.assert_allclose(tape.gradient(loss, kernel)[:, 0], [1.7, -8.0], rtol=1e-6)
  # Second bucket: w = (2, 1), only example 0, gradient (2, 0): F = 0.1 * F + (4, 0), w* = w.
  observe(penalty, losses_of, [[0]])
  np.testing.assert_allclose(penalty.importance[0][:, 0], [4.2125, 1.0], rtol=1e-6)
  assert penalty.loss(None, None).numpy() == 0


def test_it_goes_on_from_a_checkpoint(tmp_path):
  penalty, kernel, losses_of = make()
  observe(penalty, losses_of, [[0, 1, 2]])
  kernel.assign([[3.0], [3.0]])
  path = tf.train.Checkpoint(penalty=penalty, kernel=kernel).save(str(tmp_path / "c"))
  again, weights, _ = make()
  tf.train.Checkpoint(penalty=again, kernel=weights).restore(path).assert_consumed()
  assert again.loss(None, None).numpy() == penalty.loss(None, None).numpy() > 0


def test_bad_input_says_what_to_do():
  with pytest.raises(ValueError, match="fisher is 'full'; allowed are minibatch, example"):
    ewc.Ewc(fisher="full")
  with pytest.raises(ValueError, match="observed no example of the bucket. Call observe"):
    make()[0].after_bucket()

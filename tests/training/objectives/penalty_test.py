# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One loop, in a graph, with every penalty."""

import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.objectives import losses
from suite.training.penalties import agem
from suite.training.penalties import ewc
from suite.training.penalties import lwf
from suite.training.penalties import penalty as penalty_lib
from suite.training.penalties import si

PENALTIES = {
    "none": penalty_lib.Penalty,
    "ewc": lambda: ewc.Ewc(strength=20.0),
    "ewc_example": lambda: ewc.Ewc(strength=20.0, fisher="example"),
    "si": lambda: si.Si(strength=1.0, epsilon=0.01, max_importance=None),
    "lwf": lambda: lwf.Lwf([0.0, 4.0]),
    "agem": agem.Agem,
}


def two_buckets(penalty, folder=None):
  """Class = sign of the first feature, then of the second; logits on the first bucket at the end.

  With a folder, everything is saved after the first bucket and goes on in new objects.
  """
  rng = np.random.default_rng(0)
  images = rng.normal(size=[2, 64, 2]).astype(np.float32)
  labels = np.stack([images[0, :, 0] > 0, images[1, :, 1] > 0]).astype(np.int64)
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(
      2, kernel_initializer="zeros")])
  optimizer = tf.keras.optimizers.SGD(0.3)
  optimizer.build(model.trainable_variables)
  memory = memory_lib.Memory(16, reservoir.Reservoir())
  memory.build([2], tf.float32, seed=(0, 0), num_classes=2)

  def losses_of(x, y):
    return losses.softmax_cross_entropy(y, model(x, training=True))

  penalty.build(model, losses_of=losses_of, memory=memory, seed=(1, 2))

  @tf.function
  def steps(x, y):
    for _ in tf.range(30):
      with tf.GradientTape() as tape:
        logits = model(x, training=True)
        loss = tf.reduce_mean(losses.softmax_cross_entropy(y, logits)) + penalty.loss(x, logits)
      gradients = penalty.gradients(tape.gradient(loss, model.trainable_variables))
      penalty.before_update()
      optimizer.apply_gradients(zip(gradients, model.trainable_variables))
      penalty.after_update(gradients)

  everything = tf.train.Checkpoint(
      model=model, optimizer=optimizer, memory=memory, penalty=penalty)
  buckets = [0, 1]
  if folder is not None and list(folder.iterdir()):
    everything.restore(str(folder / "c-1"))
    buckets = [1]
  for bucket in buckets:
    x, y = tf.constant(images[bucket]), tf.constant(labels[bucket])
    penalty.before_bucket()
    steps(x, y)
    if penalty.observes:
      penalty.observe(losses_of, x, y)
    penalty.after_bucket()
    memory.add(x, y)
    if folder is not None and bucket == 0:
      everything.save(str(folder / "c"))
  return np.mean(losses_of(images[0], labels[0])), model.get_weights()


@pytest.mark.parametrize("name", [n for n in PENALTIES if n != "none"])
def test_each_forgets_less_than_no_penalty(name):
  assert two_buckets(PENALTIES[name]())[0] < 0.9 * two_buckets(PENALTIES["none"]())[0]


@pytest.mark.parametrize("name", PENALTIES)
def test_stopped_between_buckets_the_end_is_the_same(name, tmp_path):
  _, whole = two_buckets(PENALTIES[name](), tmp_path)
  _, again = two_buckets(PENALTIES[name](), tmp_path)
  for a, b in zip(whole, again):
    np.testing.assert_array_equal(a, b)

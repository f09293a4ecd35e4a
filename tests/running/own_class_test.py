# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A method as a class that Mammoth's users would write: it runs, or a line says what to write."""

from __future__ import annotations

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

import suite
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.data.images import image_ops
from suite.data.own import image_sources
from suite.data.streams import buckets
from suite.protocols import incremental
from suite.state import learner_state

SHAPE = (4, 4, 3)


def _buckets():
  """Two tasks of two classes each, by brightness."""
  def images(num, classes, seed):
    labels = np.arange(num) % 2 + classes
    noise = np.random.default_rng(seed).integers(0, 30, [num, *SHAPE])
    return image_sources.from_arrays((60 * labels[:, None, None, None] + noise).astype(np.uint8),
                                     labels, name="bright", num_classes=4)
  return buckets.of([(images(24, first, first), images(8, first, first + 1)) for first in (0, 2)])


class Er:
  """Net, optimizer and memory in `__init__`, and no base class."""

  transform = image_ops.Plain(size=4)
  builds = True

  def __init__(self):
    self.net = tf.keras.Sequential([
        tf.keras.layers.Rescaling(1 / 255, input_shape=SHAPE), tf.keras.layers.Flatten(),
        tf.keras.layers.Dense(8, "relu"), tf.keras.layers.Dense(4)])
    self.opt = tf.keras.optimizers.SGD(0.1, momentum=0.9)
    self.memory = {"images": tf.Variable(tf.zeros([8, *SHAPE])),
                   "labels": tf.Variable(tf.zeros([8], tf.int64))}

  def begin(self, task, context):
    if self.builds:
      self.opt.build(self.net.trainable_variables)

  def learn(self, experience, context):
    batches = experience.train.train_batches(
        8, seed=context.seeds.pair("order"), transform=self.transform)
    for batch in batches.take(12):
      images = tf.concat([tf.cast(batch["image"], tf.float32), self.memory["images"]], 0)
      labels = tf.concat([batch["label"], self.memory["labels"]], 0)
      with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.nn.sparse_softmax_cross_entropy_with_logits(
            labels, self.net(images, training=True)))
      weights = self.net.trainable_variables
      self.opt.apply_gradients(zip(tape.gradient(loss, weights), weights))
    self.memory["images"].assign(images[:8])
    self.memory["labels"].assign(labels[:8])
    return {}

  def predict(self, images):
    return self.net(images)


def _run(folder, outputs="all", make=Er, **settings):
  with stopped_runs.state(folder, **settings) as state:
    return incremental.run(make(), state=state, buckets=_buckets(), outputs=outputs)


def test_what_init_has_made_is_learned_saved_and_resumed(tmp_path, caplog):
  tf.keras.utils.set_random_seed(0)
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "stopped", stop_before=3)
  tf.keras.utils.set_random_seed(1)  # First weights that a resumed run must not have.
  _run(tmp_path / "stopped")
  tf.keras.utils.set_random_seed(0)
  found = _run(tmp_path / "whole")
  assert stopped_runs.records(tmp_path / "stopped") == stopped_runs.records(tmp_path / "whole")
  assert found["final_average_accuracy"] > 0.4 and found["flops_train"] is None
  assert not any("no variables" in line for line in caplog.messages)


class Growing(Er):
  """With an output for each class so far: the learner is copied when classes come."""

  def __init__(self):
    super().__init__()
    self.scores = None

  def begin(self, task, context):
    super().begin(task, context)
    if self.scores is None:
      self.scores = tf.Variable(tf.zeros([task.num_classes]))

  def predict(self, images):
    return self.net(images)[:, :self.scores.shape[0]] + self.scores


def test_a_net_and_an_optimizer_in_init_are_copied_when_classes_come(tmp_path):
  tf.keras.utils.set_random_seed(0)
  found = _run(tmp_path, "all_so_far", Growing)
  assert found["matrix"][0][0] > 0.5 and len(found["matrix"][1]) == 2


class Buffer:
  def __init__(self):
    self.rows = []


class Plain:
  """Its memory is Python's, which no snapshot holds."""

  transform = image_ops.Plain(size=4)

  def __init__(self):
    self.buffer, self.sums, self.net, self.kept = Buffer(), np.zeros(4), None, [tf.Variable(0.0)]

  def begin(self, task, context):
    self.task, self.calls = task, context.event

  def learn(self, experience, context):
    self.buffer.rows.append(experience.train.images[0])
    self.sums[experience.train.labels] += 1
    self.kept[0].assign_add(1.0)
    self.net = tf.function(lambda x: x)  # A cache.
    return {}

  def predict(self, images):
    return tf.zeros([images.shape[0], 4])


def test_a_memory_that_is_no_variable_is_named_once(tmp_path, caplog):
  _run(tmp_path, make=Plain)
  lines = [line for line in caplog.messages if "no variables" in line]
  assert len(lines) == 1 and lines[0].startswith(
      "Plain.learn changes buffer, sums, which are no variables: a run that is stopped")
  assert "Make them tf.Variables in begin" in lines[0]


class Subclassed(tf.keras.Model):
  """A net whose copy is another one."""

  def __init__(self):
    super().__init__()
    self.top, self.scale = tf.keras.layers.Dense(4), 1.0

  def call(self, x):
    return self.top(tf.reshape(x, [-1, 48]) * self.scale)


class Other(Er):
  def __init__(self):
    super().__init__()
    self.net = Subclassed()
    self.net(tf.zeros([1, *SHAPE]))
    self.net.scale = 3.0


class Late(Er):
  builds = False


class LateNet(Late):
  """Its optimizer is new in each training, its net is built by the first images."""

  def __init__(self):
    super().__init__()
    self.net, self.opt = tf.keras.Sequential([
        tf.keras.layers.Flatten(), tf.keras.layers.Dense(4)]), None

  def learn(self, experience, context):
    self.net(tf.zeros([1, *SHAPE]))
    return {}

  def predict(self, images):
    return tf.zeros([images.shape[0], 4])


class Loader(Er):
  def learn(self, experience, context):
    for images, labels in experience.train.batches(32):
      del images, labels


class Numpy(Er):
  def predict(self, images):
    return self.net(images.numpy())


class Bare:
  def learn(self, experience, context):
    del experience, context


@pytest.mark.parametrize("make, outputs, message", [
    (Late, "all", r"Late.opt has no variables after begin; .* Write in begin\(self, task, context\)"
     r": self.opt.build\(self.net.trainable_variables\)"),
    (LateNet, "all", r"LateNet.learn made 2 variables that begin did not make \(net/.* built by a "
     r"call on tf.zeros\(\[1, \*self.transform.shape\]\)"),
    (Loader, "all", r"ImageSet has no 'batches'. In memory: .images .* and .labels. Batches in "
     r"random order, .*: .train_batches\(32, seed=context.seeds.pair\('order'\), transform="),
    (Numpy, "all", "Numpy.predict is traced into a graph, .* attribute 'numpy'.* suite.external"),
    (Er, "all_so_far", r"Er.predict returns logits \[1, 4\] for one image; expected \[1, 2\], .* "
     "if incremental is given outputs='all'"),
    (Other, "all_so_far", "Other.net, 'subclassed.*': its copy has other outputs in evaluation"),
    (Bare, "all", r"it has no transform, begin, predict. .* write in its class: transform = "
     r"image_ops.Plain\(size=32\) of suite.data.images, def begin\(self, task, context\), def p"),
])
def test_what_cannot_run_is_refused_by_a_line_with_the_remedy(make, outputs, message, tmp_path):
  with pytest.raises((ValueError, AttributeError), match=message):
    _run(tmp_path, outputs, make)


def test_an_optimizer_that_scales_losses_is_built_by_its_inner_one():
  er, late = Er(), Late()
  for one in (er, late):
    one.opt = tf.keras.mixed_precision.LossScaleOptimizer(one.opt)
    one.begin(None, None)
  own_costs._check_optimizers(er)
  with pytest.raises(refusals.RefusedError, match="Late.opt has no variables after begin"):
    own_costs._check_optimizers(late)
  copied = learner_state.blank_copy(er)
  assert copied.opt.inner_optimizer is not er.opt.inner_optimizer
  copied.begin(None, None)


class Model(tf.keras.Model):
  learn = Er.learn


@pytest.mark.parametrize("given", [Model, Model()])
def test_a_model_that_is_a_learner_is_refused(given, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  with pytest.raises(ValueError, match="'mine' is a Keras model that has learn, which nothing would"
                     " call: .* Give a class that holds the model, self.net"):
    suite.run(protocol="incremental", buckets=_buckets(), learners=given)

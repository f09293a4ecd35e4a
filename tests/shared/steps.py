# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps of objectives on logits and gradients that are given, in place of those of a net."""

from __future__ import annotations

import types

import numpy as np
import tensorflow as tf

from suite.contracts import tasks
from suite.training.gradient import train_step
from suite.training.memories import step_rows


class Given(train_step.StepNet):
  """A net whose outputs and gradients are given; instead of an update it adds `change`."""

  def __init__(self, logits, features=None, *, variables=(), gradients=None, change=None,
               model=None, kind=tasks.SINGLE_LABEL, heads=None, **settings):
    step = types.SimpleNamespace(variables=list(variables), kind=kind, heads=heads, model=model)
    super().__init__(step, **settings)
    self._outputs = (logits if features is None else features, logits)
    self._given, self._change = gradients, change

  def answers(self, rows):
    return tuple(outputs[:rows.num] for outputs in self._outputs)

  def gradients(self, loss):
    self.loss = loss
    return [None for _ in self.variables] if self._given is None else list(self._given)

  def follow(self, gradients, then=None):
    self.num_updates, self.followed = self.num_updates + 1, gradients
    before = [tf.convert_to_tensor(v) for v in self.variables]
    for variable, change in zip(self.variables, self._change or ()):
      variable.assign_add(change)
    if then is not None and self._change is not None:
      then(before)


def batch(logits, labels, draws=(), stored=None, images=None, **settings):
  """What a step is about: rows, of which the last ones are drawn, `draws` of them each time."""
  logits = tf.convert_to_tensor(logits)
  labels = tf.convert_to_tensor(np.asarray(labels))
  labels = tf.cast(labels, tf.int64) if labels.shape.rank == 1 else labels
  return dict(logits=logits, labels=labels, draws=tuple(draws), stored=stored,
              images=logits if images is None else images, **settings)


def taken(objective, *, logits, labels, draws, stored, images, features=None, **settings):
  """The net and the memory after a step of the objective on a `batch`."""
  num = labels.shape[0] - sum(draws)
  rows, *drawn = step_rows.split(
      tf.convert_to_tensor(images), labels, [num, *draws],
      None if stored is None else tf.convert_to_tensor(stored, tf.float32))
  memory = step_rows.StepMemory(rows, draws[0] if draws else 0, not draws, drawn)
  net = Given(logits, features, **settings)
  with net:
    objective.step(rows, net, memory)
  assert net.num_updates == 1 and len(memory.drawn) == len(draws)
  return net, memory


def loss_of(objective, given):
  """The loss whose gradient a step follows."""
  return taken(objective, **given)[0].loss


class Following(train_step.StepNet):
  """Two parameters w; an example x costs w . x, so that its gradient is x."""

  def __init__(self, *gradient):
    super().__init__(types.SimpleNamespace(variables=[tf.zeros([2]) for _ in gradient]))
    self._given, self.asked = gradient, []

  def logits(self, *sets):
    return tf.zeros([1, 2])

  def cross_entropy(self, logits, labels, smoothing=None):
    return tf.zeros([])

  def gradients(self, loss):
    return [None if g is None else tf.constant(g, tf.float32) for g in self._given]

  def mean_gradient(self, memory, places, chunk):
    rows = memory.rows_at(places)
    self.asked.append(rows.images.numpy())
    return [tf.reduce_mean(rows.images, 0), *(tf.zeros_like(v) for v in self.variables[1:])]

  def follow(self, gradients, then=None):
    self.followed = [g.numpy() for g in gradients]


def followed(objective, held, gradient, groups=None):
  """The net after a step from gradients, with a memory of rows of two numbers; see `Following`."""
  held = np.reshape(np.array(held, np.float32), [-1, 2])
  rows = step_rows.Rows(tf.fill([1, 2], 1e3), tf.zeros([1], tf.int64), sizes=(1,))
  every = tf.concat([rows.images, held], 0)  # Nobody may follow the first one.
  memory = step_rows.StepMemory(
      rows, places=tf.range(1, len(held) + 1, dtype=tf.int64) if len(held) else None,
      groups=None if groups is None else tf.constant(groups, tf.int64),
      rows_at=lambda places: step_rows.Rows(tf.gather(every, places), places))
  net = Following(*gradient)
  objective.step(rows, net, memory)
  return net

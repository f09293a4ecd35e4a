# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A linear model in the compiled loop, and data for it."""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.objectives import der
from suite.training.objectives import er_ace
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import lwf
from suite.training.objectives import mas
from suite.training.objectives import mir
from suite.training.objectives import objective as objective_lib
from suite.training.objectives import si

D, C = 3, 2
N, K = 8, 6  # Rows that came, and behind them those of the memory.


def data(held=0, stored=False, classes=None):
  rng = np.random.default_rng(1)
  labels = np.arange(N + held) % C
  logits = rng.normal(size=[held, C if stored else 0])
  return objective_lib.Data(
      tf.constant(rng.normal(size=[N + held, D]), tf.float32), tf.constant(labels),
      N + tf.range(held, dtype=tf.int64), tf.constant(logits, tf.float32), classes)


def make(objective=None, momentum=0.0, augment=None, replay_batch=0, weights=None, devices=(),
         ahead=False):
  model = class_heads.linear(C, D)
  model.set_weights(weights or [np.zeros([D, C]), np.zeros([C])])
  objective = objective or objective_lib.Objective()
  step = train_step.TrainStep(
    model,
    objective=objective,
    optimizer=optimizers.Sgd(model.trainable_variables, momentum=momentum),
  )
  objective.build(model, seed=(5, 6))
  return array_loop.ArrayLoop(
      step, augment=augment, replay_batch=replay_batch, devices=devices, ahead=ahead)


def rows(places, width=None):
  places = np.array(places, np.int64).reshape([-1, width] if width else np.shape(places))
  seeds = 100 + np.arange(places.size).reshape(places.shape)
  return array_loop.Rows(places, seeds.astype(np.uint64))


def part(places, slots=None, is_rest=False, first=0):
  replayed = rows(np.zeros([len(places), 0])) if slots is None else rows(slots)
  widths = [len(step) for step in places]
  return array_loop.Part(first, rows(np.concatenate(places)), np.cumsum([0, *widths]), replayed,
                       None if is_rest else widths[0])


def random_weights(seed=0):
  rng = np.random.default_rng(seed)
  return [rng.normal(size=[D, C]), rng.normal(size=[C])]


OBJECTIVES = {
    "plain": objective_lib.Objective,
    "ewc": lambda: ewc.Ewc(strength=0.5),
    "mas": lambda: mas.Mas(strength=0.5),
    "si": lambda: si.Si(strength=0.5, epsilon=0.1, max_importance=None),
    "lwf": lambda: lwf.Lwf(0.7, 2.0),
    "agem": lambda: gem.Agem(None, chunk=4),
    "agem_sample": lambda: gem.Agem(sample_size=3),
    "er_ace": er_ace.ErAce,
    "er_ace_novel": lambda: er_ace.ErAce("novel"),
    "der": lambda: der.Der(alpha=0.4, beta=0.3),
    "der_kl": lambda: der.Der(alpha=0.4, divergence="kl"),
    "mir": lambda: mir.Mir(5),
}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cross-entropy among the classes of a phase.

  loss = CE(rows; classes that came for the phase)

Methods on frozen transformers leave logits of earlier classes out of the loss, so that these are
not pushed down (L2P, DualPrompt, CODA-Prompt). Classes of a batch always take part; where an image
has several labels, all classes do.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.contracts import tasks
from suite.training.memories import step_rows
from suite.training.objectives import objective


class PhaseClasses(objective.Objective):
  """See the module. A layer of the net that has a `begin_phase` is told of each phase."""

  needs = frozenset({objective.TASKS})

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    # In a function: the model's variables are no part of the objective's.
    phased: list[Any] = [layer for layer in model.submodules if hasattr(layer, "begin_phase")]
    self._phased = lambda: phased
    # A net with a head for each task has other classes in each.
    self.now = tf.Variable(tf.zeros([0], tf.bool), trainable=False, shape=[None],
                           name="classes_now")

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    if now is None:
      return
    self.now.assign(now)
    for layer in self._phased():
      layer.begin_phase()

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    batch = net.batch(net.logits(both), both.labels)
    if net.kind == tasks.SINGLE_LABEL:
      num = batch.logits.shape[1]
      here = tf.reduce_any(tf.one_hot(both.labels, num, on_value=True, off_value=False), axis=0)
      allowed = here | tf.ensure_shape(self.now, [num])
      batch = batch._replace(classes=objective.Classes(allowed, allowed, allowed))
    net.update(objective.cross_entropy(batch))
    memory.store(rows)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Training on images that stay on disk: rows of the next step read ahead, and not.

The compiled loop of an offline phase, with stand-ins for both of its halves: a read and a step that
each wait for a tenth of a second, as for a disk and for a GPU. Waiting takes no CPU, so a busy
machine changes little. Rounds alternate.
"""

from __future__ import annotations

import statistics
import time

import numpy as np
import tensorflow as tf

from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import objective

WAIT, BATCH = 0.1, 8


class Waiting(objective.Objective):
  """Cross-entropy that waits as for a GPU."""

  def step(self, rows: step_rows.Rows, net: train_step.StepNet, memory: step_rows.StepMemory
           ) -> None:
    tf.numpy_function(lambda images: time.sleep(WAIT), [rows.images], [])
    super().step(rows, net, memory)


def _read(rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
  def wait(found: np.ndarray) -> np.ndarray:
    time.sleep(WAIT)
    return found

  del seeds
  return tf.ensure_shape(tf.numpy_function(wait, [rows], tf.float32, stateful=False), rows.shape)


def _loop(ahead: bool) -> array_loop.ArrayLoop:
  model = class_heads.linear(2, 3)
  step = train_step.TrainStep(
      model, objective=Waiting(), optimizer=optimizers.Sgd(model.trainable_variables))
  return array_loop.ArrayLoop(step, augment=_read, ahead=ahead)


def run(rounds: int, steps: int = 20) -> None:
  """Prints seconds a step of both, medians of rounds."""
  data = objective.Data(tf.zeros([BATCH, 3]), tf.zeros([BATCH], tf.int64), tf.zeros([0], tf.int64),
                        tf.zeros([0, 0]), None)
  part = next(array_loop.PhaseRows(BATCH, steps, BATCH, (0, 0)).parts())
  loops = {ahead: _loop(ahead) for ahead in (False, True)}
  seconds: dict[bool, list[float]] = {False: [], True: []}
  for number in range(rounds + 1):
    for ahead, loop in loops.items():
      began = time.monotonic()
      loop.train(data, part, np.zeros([steps], np.float32))
      if number:  # The first one is traced.
        seconds[ahead].append((time.monotonic() - began) / steps)
  print("| read | seconds a step |\n|---|---:|")
  for ahead, name in ((False, "before its step"), (True, "during the step before it")):
    print(f"| {name} | {statistics.median(seconds[ahead]):.3f} |")

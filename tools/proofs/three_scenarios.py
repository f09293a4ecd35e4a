# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Split-MNIST in the three scenarios (van de Ven, Tuytelaars & Tolias, 2022).

The settings are those of the authors' code (github.com/GMvandeVen/continual-learning, e6d795a,
params/param_values.py, compare.py). Their penalty of EWC has a factor of 1/2, that of SI none.
Their class-incremental nets have an output for each digit from the first task on
(`--active-classes=all`), but for iCaRL.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import numpy as np
import proof
import tensorflow as tf

from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.protocols import incremental
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.memories import step_rows
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import icarl
from suite.training.objectives import lwf
from suite.training.objectives import objective
from suite.training.objectives import si

NUM_TASKS, BATCH, STEPS = 5, 128, 2000
SLOTS = 800  # 100 of each class in the last task; before, more, as the memory is always full.
_ABOUT = """Five tasks of two digits, {how}; a network of two layers of 400; 2,000 steps of Adam
on 128 images in each task; 100 stored images of each class (van de Ven, Tuytelaars & Tolias, 2022;
settings of the authors' `params/param_values.py` and `compare.py`). The order of the digits is
drawn from the seed. The numbers are read off the curves of the authors'
`figures/splitMNIST_results_tutorial.png` to about 0.3 points: means over 20 orders of digits. Its
bands are 1.96 standard errors (`NeurIPStutorial/compare_for_tutorial.py`); ± is the deviation
between seeds that follows, 2.28 times the band, where it can be told from others."""


class ShareOfTasks(objective.Objective):
  """In task t, 1 / t times the loss of incoming rows, and the rest times that of replayed rows."""

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del model, backbone, seed
    self.task = tf.Variable(0.0, trainable=False, name="task")

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    self.task.assign_add(1.0)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    drawn = memory.draw()
    now, again = net.logits(rows, drawn)
    loss = net.cross_entropy(now, rows.labels)
    if not memory.is_empty:
      share = 1.0 / self.task
      loss = share * loss + (1.0 - share) * net.cross_entropy(again, drawn.labels)
    net.update(loss)
    memory.store(rows)


def adam() -> tf.keras.optimizers.Optimizer:
  return tf.keras.optimizers.Adam(1e-3, epsilon=1e-8)


def learner(scenario: str, parts: Callable[[], dict[str, Any]] = dict) -> gradient.GradientLearner:
  head = class_heads.MultiHead if scenario == incremental.TASK else class_heads.Linear
  return gradient.GradientLearner(**{
      "transform": proof.PLAIN, "head": head("pytorch"),
      "net": trainable_parts.AllLayers(functools.partial(
          proof.perceptron, hidden=(400, 400), normalized=False)),
      "optimizer": optimizers.Keras(adam, keep=True), "steps": STEPS, "batch_size": BATCH,
      "learning_rate": 1e-3, **parts()})


def slots(scenario: str) -> memory.Memory:
  by = "bucket" if scenario == incremental.DOMAIN else "class"
  return memory.Memory(SLOTS, reservoir.GroupBalanced(by))


def methods(scenario: str, ewc_lambda: float, si_c: float
            ) -> dict[str, Callable[[], gradient.GradientLearner]]:
  """The learners of a scenario, each with the strengths that its authors chose for it."""
  # In task t they add LwF's divergence t - 1 times, where classes come once.
  strength = (0.0, 1.0, 2.0, 3.0, 4.0) if scenario in (
      incremental.TASK, incremental.DOMAIN) else 1.0
  parts: dict[str, Callable[[], dict[str, Any]]] = {
      "none": dict,
      "ewc": lambda: {"objective": ewc.Ewc(
          strength=ewc_lambda / 2, anchor="each", fisher="all"), "observe_batch": 100},
      "si": lambda: {"objective": si.Si(strength=2 * si_c, epsilon=0.1, path="whole")},
      "lwf": lambda: {"objective": lwf.Lwf(strength, temperature=2.0)},
      "er": lambda: {"objective": ShareOfTasks(), "memory": slots(scenario),
                     "replay_batch": BATCH, "remember": "each_phase"},
      "agem": lambda: {"objective": gem.Agem(sample_size=BATCH, chunk=BATCH),
                       "memory": slots(scenario)}}
  return {name: functools.partial(learner, scenario, chosen) for name, chosen in parts.items()}


def with_exemplars() -> dict[str, Any]:
  """The parts of iCaRL, whose net has an output for each digit so far."""
  return {"objective": icarl.Icarl(), "head": class_heads.NearestExemplars("pytorch"),
          "train_on": "both",
          "memory": memory.Memory(1000, reservoir.GroupBalanced("class", keep="herding"))}


def split(pair: proof.Pair, seed: int) -> buckets_lib.Buckets:
  return buckets_lib.of_classes(pair, num_tasks=NUM_TASKS, seed=seed)


def split_domain(pair: proof.Pair, seed: int) -> buckets_lib.Buckets:
  """The same tasks of two digits; which of the two is what is asked in each."""
  def numbered(part: Any) -> image_set.ImageSet:
    return image_set.ImageSet.from_arrays(
        part.name, part.pixels(), np.asarray(part.labels) % 2, kind=tasks.SINGLE_LABEL,
        num_classes=2)

  return buckets_lib.Buckets(
      tasks.Task("split mnist, first or second", tasks.SINGLE_LABEL, 2),
      tuple(buckets_lib.Bucket(b.name, numbered(b.train), numbered(b.test))
            for b in split(pair, seed)))


BENCHMARKS = {
    "split_mnist_task": proof.Benchmark(
        "Split-MNIST, task-incremental", _ABOUT.format(
            how="the task of an image being known, so that the net has a head for each"),
        split, incremental.TASK, methods(incremental.TASK, 1e5, 10.0)),
    "split_mnist_domain": proof.Benchmark(
        "Split-MNIST, domain-incremental", _ABOUT.format(
            how="in each of which the first is to be told from the second"),
        split_domain, incremental.DOMAIN, methods(incremental.DOMAIN, 1e10, 50000.0)),
    "split_mnist_class": proof.Benchmark(
        "Split-MNIST, class-incremental, outputs of the digits so far", _ABOUT.format(
            how="answered among all digits so far, the only ones that the net has an output for "
            "(the authors' nets have all ten from the start, but for iCaRL)"),
        split, incremental.CLASS, {
            **methods(incremental.CLASS, 1e9, 5000.0),
            "icarl": functools.partial(learner, incremental.CLASS, with_exemplars)}),
    "split_mnist_all_outputs": proof.Benchmark(
        "Split-MNIST, class-incremental, ten outputs", _ABOUT.format(
            how="answered among all ten, each with an output from the first task on, which learns "
            "to be low until its digit comes (`incremental.run.outputs = 'all'`; with outputs of "
            "the digits so far SI and LwF, the latter weighted by the share of old classes, had "
            "19.9 with two seeds each)"),
        split, incremental.CLASS, methods(incremental.CLASS, 1e9, 5000.0), incremental.ALL),
}

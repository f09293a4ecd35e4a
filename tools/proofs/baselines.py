# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbers of ContinualAI's continual-learning-baselines: references that the library has to reach.

The settings are those of its scripts (github.com/ContinualAI/continual-learning-baselines, 4900462,
experiments/), the numbers those of its README.md and tests/target_results.csv. A replay that adds
two means of losses is one of the mean at twice the rate.
"""

from __future__ import annotations

from collections.abc import Callable
import functools
from typing import Any

import numpy as np
import proof
import tensorflow as tf

from suite.compute import seeds
from suite.data.streams import buckets as buckets_lib
from suite.learners import gradient
from suite.protocols import incremental
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.memories import gss
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.memories import step_rows
from suite.training.objectives import lwf
from suite.training.objectives import mir
from suite.training.objectives import objective
from suite.training.objectives import rwalk
from suite.training.objectives import si

_IN_FEW = 1000  # Training images of each task of the short series.
_MIR_NET = {"hidden": (400,), "dropout": 0.5, "normalized": False}
_SOURCE = ("(`experiments/`, `README.md` and the `target_results.csv` of the tests of "
           "ContinualAI's continual-learning-baselines; ± is the tolerance of its own tests).")


def learner(net: dict[str, Any], parts: Callable[[], dict[str, Any]]) -> gradient.GradientLearner:
  return gradient.GradientLearner(**{
      "transform": proof.PLAIN, "head": class_heads.Linear("pytorch"),
      "net": trainable_parts.AllLayers(functools.partial(proof.perceptron, **net)),
      "optimizer": optimizers.Momentum(0.0), **parts()})


def replayed(slots: int, rule: Any, **further: Any) -> dict[str, Any]:
  return {"memory": memory.Memory(slots, rule), "batch_size": 10, "replay_batch": 10, "epochs": 1,
          "remember": "each_step", **further}


def adam() -> tf.keras.optimizers.Optimizer:
  return tf.keras.optimizers.Adam(1e-3, epsilon=1e-8)


def with_heads(made: Callable[[], objective.Objective]) -> gradient.GradientLearner:
  return learner({"hidden": (256, 256)}, lambda: {
      "head": class_heads.MultiHead("pytorch"), "objective": made(), "epochs": 10,
      "batch_size": 64, "optimizer": optimizers.Keras(adam, keep=True), "learning_rate": 0.001})


class LwfOfTasks(lwf.Lwf):
  """In task t, 1 / t times the cross-entropy, and the divergence with the weights of the script."""

  def __init__(self) -> None:
    weights = (0.0, 0.5, 1.33333, 2.25, 3.2)
    super().__init__([t * weight for t, weight in enumerate(weights, start=1)], temperature=2.0)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    logits = net.logits(rows)
    distance = lwf.divergence(net.at_rest(self.previous, rows), logits, self.temperature,
                              self.taught, net.heads)
    loss = net.cross_entropy(logits, rows.labels) + self.strength * distance
    net.update(loss / tf.cast(self.phase + 1, tf.float32))


def few(made: buckets_lib.Buckets, seed: int) -> buckets_lib.Buckets:
  """The same tasks with 1,000 training images each."""
  def drawn(part: Any, t: int) -> Any:
    return part.subset(np.sort(seeds.generator(seed, "few", t).permutation(part.size)[:_IN_FEW]))

  return buckets_lib.Buckets(made.task, tuple(
      buckets_lib.Bucket(b.name, drawn(b.train, t), b.test) for t, b in enumerate(made)))


def split(pair: proof.Pair, seed: int, *, is_short: bool = False) -> buckets_lib.Buckets:
  made = buckets_lib.of_classes(pair, num_tasks=5, seed=seed)
  return few(made, seed) if is_short else made


def permuted(pair: proof.Pair, seed: int) -> buckets_lib.Buckets:
  return few(buckets_lib.permuted(pair, num_tasks=10, seed=seed), seed)


_MIR: Callable[[], dict[str, Any]] = lambda: replayed(
    500, reservoir.GroupBalanced("class"), objective=mir.Mir(candidates=50), learning_rate=0.1)
BENCHMARKS = {
    "baselines_split": proof.Benchmark(
        "Split-MNIST of continual-learning-baselines, class-incremental",
        f"Five tasks of two digits; each method with its own net and passes {_SOURCE}",
        split, incremental.CLASS, {
            "gdumb": functools.partial(learner, {"hidden": (400, 400)}, lambda: {
                "memory": memory.Memory(4400, reservoir.GroupBalanced("class")),
                "train_on": "memory", "reset": True, "epochs": 10, "batch_size": 16,
                "learning_rate": 0.1}),
            "er": functools.partial(learner, {"hidden": (512,), "dropout": 0.5}, lambda: replayed(
                1000, reservoir.GroupBalanced("class"), learning_rate=0.1)),
            "lwf": functools.partial(learner, {"hidden": (200,), "activation": "tanh"}, lambda: {
                "objective": LwfOfTasks(), "epochs": 21,
                "batch_size": 128, "learning_rate": 0.001})}),
    "baselines_split_short": proof.Benchmark(
        "Short Split-MNIST of continual-learning-baselines, class-incremental",
        f"Five tasks of two digits, 1,000 training images each {_SOURCE}",
        functools.partial(split, is_short=True), incremental.CLASS, {
            "mir": functools.partial(learner, _MIR_NET, _MIR),
            "gss": functools.partial(learner, {"hidden": (100, 100)}, lambda: {
                **replayed(300, gss.Gss(subset=10, block=10), learning_rate=0.05), "epochs": 3})}),
    "baselines_split_task": proof.Benchmark(
        "Split-MNIST of continual-learning-baselines, task-incremental",
        f"Five tasks of two digits, a head for each; two layers of 256, ten passes {_SOURCE}",
        split, incremental.TASK, {
            "si": functools.partial(with_heads, lambda: si.Si(strength=2.0, epsilon=0.1)),
            "rwalk": functools.partial(
                with_heads, lambda: rwalk.Rwalk(strength=0.1, alpha=0.9, interval=10))}),
    "baselines_permuted_short": proof.Benchmark(
        "Short Permuted MNIST of continual-learning-baselines",
        f"Ten tasks, 1,000 training images each {_SOURCE}", permuted, incremental.DOMAIN,
        {"mir": functools.partial(learner, _MIR_NET, _MIR)}),
}

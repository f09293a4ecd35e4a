# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""SLCA: a slow backbone, and a head aligned by the Gaussians of all classes (Zhang et al., 2023).

Slow learner (section 3.2): a phase trains all of the net among its own classes, the backbone at a
hundredth of the head's rate (`backbone_factor`). Classifier alignment (section 3.3): features of
the phase's classes c, in the net as it is then, give m_c and S_c, their mean and covariance plus
1e-4 I. From the second phase on a copy of the head is trained on samples of N(a_c m_c, S_c) of all
classes, equally many, by the cross-entropy of

    logits / (n T)        n = mean over phases of |logits of the phase's classes|

at a rate that falls along half a cosine from epoch to epoch, and answers are the copy's. The head
itself stays as the phase left it: the next phase goes on with it. For classes of phase t_c after
phase t the authors' code, not the paper, has a_c = 0.9 + 0.1 (t_c + 1) / (t + 1). A class that
comes again has the Gaussian of its last phase.

Samples and factors are charged as D^2 multiply-adds a sample and D^3 / 3 a class, besides the
steps.
"""

from __future__ import annotations

import math
import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import spending
from suite.contracts import tasks
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.state import context as context_lib
from suite.training.gradient import array_loop
from suite.training.gradient import composition
from suite.training.gradient import optimizers
from suite.training.gradient import phase
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective
from suite.training.scoring import scoring

_RIDGE = 1e-4  # Added to each covariance, as in the authors' code.
_UNKNOWN = -1


class Slca(learner.Learner):
  """A slow learner with classifier alignment; see the module.

  Args:
    tuned: trains the net; the head has one linear layer for all classes.
    transform: image preparation of the features that Gaussians are of; that of `tuned` may augment.
    epochs: of the alignment; 0: none.
    learning_rate: its highest.
    samples: of each class in an epoch, and rows of a step.
    temperature: T; None: plain logits.
    weight_decay: of the alignment.
    batch_size: images whose features are computed at once.
  """

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS)
  kinds = (tasks.SINGLE_LABEL,)
  shares_updates = keeps_budget = True

  def __init__(self, tuned: gradient.GradientLearner, *, transform: examples.Transform,
               epochs: int = 5, learning_rate: float = 0.01, samples: int = 256,
               temperature: float | None = 0.1, weight_decay: float = 5e-4, batch_size: int = 256):
    super().__init__()
    if tuned.head.reads_exemplars or tuned.head.start == "prototypes":
      raise ValueError(f"Slca.tuned has the head {type(tuned.head).__name__}; a linear one is "
                       "aligned. Take class_heads.Linear.")
    composition.check_numbers(samples=samples, learning_rate=learning_rate,
                              temperature=1.0 if temperature is None else temperature)
    self.tuned, self.transform = tuned, transform
    self._epochs, self._rate, self._samples = epochs, learning_rate, samples
    self._batch_size = batch_size
    self._objective = NormedLogits(temperature)
    self._optimizer = optimizers.Momentum(weight_decay=weight_decay)
    self._task: tasks.Task | None = None

  @override
  def form(self, delivery: str) -> learner.BaseLearner:
    """Returns a learner for each task where tasks are separate; else this one."""
    return learner_each_task.of(self) if delivery == deliveries_lib.TASKS else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.tuned.begin(task, context)  # Refuses another task.
    if self._task is not None:
      return
    top, num = self.tuned.composed.top, task.num_classes
    width = int(top.input_shape[-1])

    def zeros(shape: list[int], name: str) -> tf.Variable:
      return tf.Variable(tf.zeros(shape), trainable=False, name=name)

    self.means = zeros([num, width], "means")
    self.covariances = zeros([num, width, width], "covariances")
    self.phase_of = tf.Variable(
        np.full([num], _UNKNOWN, np.int64), trainable=False, name="phase_of")
    self.aligned = [tf.Variable(w, trainable=False, name="aligned") for w in top.weights]
    self._answers = lambda features: tf.matmul(features, self.aligned[0]) + self.aligned[1]
    self._task = task

  def _features(self, images: tf.Tensor) -> tf.Tensor:
    return tf.cast(self.tuned.composed.features(self.tuned.encode(images)), tf.float32)

  @override
  @spending.event
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Trains the phase; then aligns a copy of the head."""
    if context.is_over:
      return dict(gradient.UNTRAINED)
    number = int(self.phase_of.numpy().max()) + 1
    record = self.tuned.learn(experience, context)
    values, labels = scoring.extract_all(
        self._features, experience.fitted, transform=self.transform, batch_size=self._batch_size,
        context=context)
    began, width = time.monotonic(), values.shape[1]
    now = np.unique(labels)
    means, covariances = self.means.numpy(), self.covariances.numpy()
    for c in now:
      means[c], covariances[c] = gaussian(values[labels == c])
    phases = self.phase_of.numpy()
    phases[now] = number
    for variable, value in ((self.means, means), (self.covariances, covariances),
                            (self.phase_of, phases)):
      variable.assign(value)
    macs = len(labels) * width ** 2  # Covariances.
    cost, loss = flops.Cost(2 * macs, macs), None
    top = self.tuned.composed.top
    before = top.get_weights()
    if number and self._epochs:
      spent, loss = self._align(top, context)
      cost += spent
    for variable, weight in zip(self.aligned, top.weights):
      variable.assign(weight)
    top.set_weights(before)
    context.charge(cost, began=began)
    return {**record, "alignment_loss": loss}

  def _align(self, top: tf.keras.Model, context: context_lib.Context) -> tuple[flops.Cost, float]:
    """Trains the head on samples; returns the cost and the mean loss of the last epoch."""
    phases, cost = self.phase_of.numpy(), flops.ZERO
    shown = np.flatnonzero(phases != _UNKNOWN)
    means = self.means.numpy()[shown] * scales(phases[shown])[:, None]
    factors = np.linalg.cholesky(self.covariances.numpy()[shown].astype(np.float64))
    known = tf.constant(phases != _UNKNOWN)
    self._objective.phases = tf.one_hot(phases, int(phases.max()) + 1)  # None for unknown classes.
    step = train_step.TrainStep(top, objective=self._objective,
                                optimizer=self._optimizer.build(top.trainable_variables))
    loop, rng = array_loop.ArrayLoop(step), context.seeds.generator("alignment")
    num, width = self._samples, means.shape[1]
    loss = float("nan")
    for epoch in range(self._epochs):
      drawn = rng.standard_normal([len(shown), num, width])
      rows = (means[:, None] + drawn @ factors.transpose(0, 2, 1)).reshape(-1, width)
      data = phase.data_of(
          tf.constant(rows, tf.float32), tf.constant(np.repeat(shown, num), tf.int64),
          objective.Classes(known, known, known))
      plan = array_loop.PhaseRows(
          len(rows), 1, num, context.seeds.pair("order of samples", epoch), seeded=False)
      rate = self._rate * (1 + math.cos(math.pi * epoch / self._epochs)) / 2
      loss = sum(loop.train(data, part, np.full([part.num_steps], rate, np.float32))
                 for part in plan.parts()) / plan.num_steps
      cost += loop.cost(data, plan)
    macs = len(shown) * (width ** 3 // 6 + self._epochs * num * width ** 2)
    return cost + flops.Cost(2 * macs, macs), loss

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return tf.where(self.phase_of != _UNKNOWN, self._answers(self._features(images)), -float("inf"))


class NormedLogits(objective.Objective):
  """Cross-entropy of logits divided by their mean norm over phases; see the module.

  Args:
    temperature: T; None: plain logits.

  Attributes:
    phases: float32 [C, P], 1 where a class is of a phase; 0 for classes that take no part.
  """

  def __init__(self, temperature: float | None):
    super().__init__()
    self._temperature, self.phases = temperature, tf.zeros([0, 0])

  def step(self, rows: step_rows.Rows, net: train_step.StepNet, memory: step_rows.StepMemory
           ) -> None:
    logits = tf.cast(net.logits(rows), tf.float32)
    if self._temperature is not None:
      logits = normed(logits, self.phases, self._temperature)
    net.update(tf.reduce_mean(losses.hard_cross_entropy(
        rows.labels, losses.among(net.known, logits))))


def normed(logits: tf.Tensor, phases: tf.Tensor, temperature: float) -> tf.Tensor:
  """Logits [B, C] divided by T times the mean over phases, [C, P], of the norms of their parts."""
  norms = tf.sqrt(tf.maximum(tf.matmul(tf.square(logits), phases), 1e-14))
  return logits / (temperature * tf.reduce_mean(norms, axis=1, keepdims=True))


def gaussian(features: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
  """The mean [D] of features [N, D], and their unbiased covariance [D, D] plus 1e-4 I."""
  mean = np.mean(features, axis=0, dtype=np.float64)
  away = features - mean
  return mean, away.T @ away / max(len(features) - 1, 1) + _RIDGE * np.eye(len(mean))


def scales(phases: np.ndarray) -> np.ndarray:
  """a_c of classes that came with phases int64 [K], the last of which is the present one."""
  return 0.9 + 0.1 * (phases + 1) / (phases.max() + 1)


def backbone_factor(variable: tf.Variable, share: float = 0.01) -> float:
  """The factor of the learning rate of a variable, for `optimizers.Momentum.factor_of`.

  Args:
    variable: of a net with a linear head.
    share: of the head's rate that the backbone has.
  """
  return 1.0 if "logits/" in variable.name else share

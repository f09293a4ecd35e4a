# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Learning without forgetting (Li & Hoiem, 2016): stay near the answers of an earlier model.

  loss = cross-entropy
         + strength * mean over rows of KL(softmax(earlier logits / T) || softmax(logits / T))

T is 2 in the paper (section 3), which has no factor T^2: where a paper has one, it is part of the
strength. In CLEAR's experiments
T = 1, and the strength rises from bucket to bucket: linspace(0, 2, number of buckets). In FLUID's,
T = 2 and the strength is 0.2 T^2 throughout.

With the strength `Shares` it is the loss of WA (Zhao et al., 2020) and of BiC (Wu et al., 2019),
which weigh both terms by the share s of old classes among all, at T = 2:

  loss = (1 - s) cross-entropy + s * mean over rows of KL(...) over the old classes

The earlier model is a frozen copy, made after the first phase ("first") or after every phase
("last"). It is asked about the classes that it knew then and that the data has shown since.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.contracts import refusals
from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective

TEACHERS = ("last", "first")


def ramp(num_buckets: int, end: float = 2.0) -> list[float]:
  """CLEAR's strengths: from 0 to `end` in equal steps."""
  if num_buckets < 1:
    raise ValueError(f"A ramp over {num_buckets} buckets; there must be at least 1.")
  return [float(a) for a in np.linspace(0.0, end, num_buckets)]


@dataclasses.dataclass(frozen=True)
class Growing:
  """Strengths that rise from 0 by `step` each phase, for any number of phases.

  CLEAR's, `ramp(10)`, are the first ten of the default.
  """

  step: float = 2 / 9


@dataclasses.dataclass(frozen=True)
class Shares:
  """The strength of each phase is its share of old classes; see the module."""


class Lwf(objective.Objective):
  """Distillation from an earlier model; see the module.

  Args:
    strength: a number, used from the second phase on; or one for each phase, the first of them 0
      (there is no earlier model yet); or `Growing`; or `Shares`.
    temperature: T.
    teacher: one of `TEACHERS`.
  """

  needs = frozenset({objective.ONE_HEAD})

  def __init__(self, strength: float | Sequence[float] | Growing | Shares = 1.0,
               temperature: float = 2.0, teacher: str = "last"):
    super().__init__()
    self._growing = strength if isinstance(strength, Growing) else None
    self._by_shares = isinstance(strength, Shares)
    if isinstance(strength, Growing):
      strength = (0.0, strength.step)
    if isinstance(strength, Shares):
      strength = (0.0, 1.0)
    self._is_constant = isinstance(strength, (int, float))
    if isinstance(strength, (int, float)):
      strength = (0.0, strength)
    self.strengths = tuple(float(s) for s in strength)
    self.temperature, self._teacher = temperature, teacher
    if not self.strengths or self.strengths[0]:
      raise ValueError(f"Lwf.strength begins with {list(self.strengths[:1])}; the first must be 0, "
                       "since the first phase has no earlier model. See `lwf.ramp`.")
    if not temperature > 0:
      raise ValueError(f"Lwf.temperature is {temperature}; it must be above 0.")
    if teacher not in TEACHERS:
      raise ValueError(f"Lwf.teacher is {teacher!r}; allowed are {', '.join(TEACHERS)}.")

  @override
  def in_episodes(self) -> EpisodeDistillation:
    if not self._is_constant or self._teacher != "last":
      raise refusals.RefusedError(
          "Lwf has a strength for each phase, or the teacher 'first'; within few-shot episodes it "
          "has one strength, and the teacher 'last'. Set these.")
    return EpisodeDistillation(self.strengths[1], self.temperature)

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone, seed
    self.previous, self._pairs = objective.frozen_copy(model)
    num_classes = model.output_shape[-1]
    # The classes that the earlier model has learned; of a head that has grown, not all of them.
    self.taught = tf.Variable(tf.zeros([num_classes], tf.bool), trainable=False, name="lwf_taught")
    self._is_partly_taught = False
    if self._by_shares:
      self.classes = objective.OldClasses(num_classes)
    self.phase = tf.Variable(0, trainable=False, name="lwf_phase")
    self.strength = tf.Variable(0.0, trainable=False, name="lwf_strength")

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    if self._by_shares:
      if now is not None:
        self.classes.begin(now)
      self.strength.assign(self.classes.share)
      return
    phase, taught = int(self.phase), self.taught.numpy()
    self._is_partly_taught = bool(taught.any() and not taught.all())
    if self._growing is not None:
      self.strength.assign(phase * self._growing.step)
      return
    if self._is_constant:
      phase = min(phase, 1)
    if phase >= len(self.strengths):
      raise ValueError(f"Phase {phase + 1} begins, but Lwf.strength has {len(self.strengths)} "
                       "values; give one for each phase, or one number.")
    self.strength.assign(self.strengths[phase])

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    logits = net.logits(both)
    loss, teacher = net.cross_entropy(logits, both.labels), net.at_rest(self.previous, both)
    if self._by_shares:
      asked = self.classes.old
      loss *= 1.0 - self.strength
    elif net.classes is not None:
      asked = self.taught & net.classes.seen
    else:
      asked = self.taught if self._is_partly_taught else None
    net.update(loss + self.strength * divergence(
        teacher, logits, self.temperature, asked, net.heads))
    memory.store(rows)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    if self._teacher == "last" or not int(self.phase):
      for copy, variable in self._pairs:
        copy.assign(variable)
      self.taught.assign(tf.ones_like(self.taught) if known is None else known)
    if self._by_shares:
      self.classes.end(known)
    self.phase.assign_add(1)


def divergence(previous: tf.Tensor, logits: tf.Tensor, temperature: float = 1.0,
               asked: tf.Tensor | None = None, heads: tf.Tensor | None = None) -> tf.Tensor:
  """Mean over the batch of KL(previous || present), from logits [B, C]; [].

  Args:
    previous, logits: of the earlier model and of the present one.
    temperature: T.
    asked: the classes that both are about, bool [C]; None: all.
    heads: int64 [C], the head of each class: KL is the mean over the heads that are asked; None:
      all classes are of one.
  """
  if heads is not None:
    return _divergence_of_heads(previous, logits, temperature, asked, heads)
  if asked is not None:
    previous, logits = losses.among(asked, previous), losses.among(asked, logits)
  old = tf.nn.log_softmax(tf.cast(previous, tf.float32) / temperature)
  new = tf.nn.log_softmax(tf.cast(logits, tf.float32) / temperature)
  return tf.reduce_mean(tf.reduce_sum(tf.exp(old) * (old - new), axis=-1))


def _divergence_of_heads(previous: tf.Tensor, logits: tf.Tensor, temperature: float,
                         asked: tf.Tensor | None, heads: tf.Tensor) -> tf.Tensor:
  """`divergence` within each head; a head is asked as a whole, or not at all."""
  together = tf.equal(heads[:, None], heads)  # [C, C]

  def log_softmax(answers: tf.Tensor) -> tf.Tensor:
    answers = tf.cast(answers, tf.float32) / temperature
    return answers - tf.reduce_logsumexp(
        losses.among(together, tf.tile(answers[:, None], [1, tf.shape(heads)[0], 1])), -1)

  old, new = log_softmax(previous), log_softmax(logits)
  weights = tf.ones_like(old[0]) if asked is None else tf.cast(asked, tf.float32)
  sizes = tf.math.count_nonzero(together, 1, dtype=tf.float32)
  each = tf.reduce_sum(weights * tf.exp(old) * (old - new), -1)
  return tf.math.divide_no_nan(tf.reduce_mean(each), tf.reduce_sum(weights / sizes))


@dataclasses.dataclass(frozen=True)
class EpisodeDistillation(objective.EpisodeTerm):
  """`Lwf` within an episode: the earlier model is the weights before each support set.

  The state is float32 [W], 1 for classes that a set has shown; these are the classes that the
  earlier model is asked about.
  """

  strength: float
  temperature: float

  @override
  def zero(self, weights: objective.Weights, num_classes: int) -> tf.Tensor:
    return tf.zeros([num_classes])

  @override
  def begin_set(self, weights: objective.Weights,
                logits_of: Callable[[objective.Weights], tf.Tensor]) -> tf.Tensor:
    return tf.stop_gradient(logits_of(weights))

  @override
  def add(self, loss: tf.Tensor, state: tf.Tensor, begun: tf.Tensor, weights: objective.Weights,
          logits_of: Callable[[objective.Weights], tf.Tensor]) -> tf.Tensor:
    return loss + self.strength * divergence(
        begun, logits_of(weights), self.temperature, state > 0.0)

  @override
  def end_set(self, state: tf.Tensor, weights: objective.Weights, answers_of: Callable[..., Any],
              codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    return tf.maximum(state, tf.reduce_max(tf.one_hot(labels, state.shape[0]), axis=0))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The accuracy of a model on samples that it did not answer, from those that it did.

A sample that a share p of the known models solve is solved with the log odds logit(p) + a + b: a is
the ability of the model, b its deviation on the task of the sample. Both have a normal prior, that
of a from the known models, and the answers that there are determine them. The errors are honest:
each known model is treated as if it had the same answers only, without its part in p, and its
answers to the other samples are compared with what is predicted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

_DEVIATION = 0.5  # Standard deviation of the prior of b.
WIDE, _NARROW = 2.0, 0.5  # Bounds of the standard deviation of the prior of a.
_STEPS = 10  # Of Newton's method.
_LEAST = 3  # Least number of models.
_CORRECTED = 8  # Least number of models whose errors correct a prediction.
_SLOPE = 0.5  # Standard deviation of the prior of the slope of errors.


class Part(NamedTuple):
  """n samples on one side: those that the model answered, or those that it did not.

  Attributes:
    answers: [M, n] of the known models, 0/1 or graded.
    seen: uint8 [M, n], whether they were evaluated; None: they were on all.
    tasks: int [n], number of the task of each.
    sizes: int [T], number of samples of each task on this side, of which the n are some.
    families: int [M], number of the family of each model; None: each is one of its own.
  """

  answers: np.ndarray
  seen: np.ndarray | None
  tasks: np.ndarray
  sizes: np.ndarray
  families: np.ndarray | None = None

  def known(self) -> np.ndarray:
    return np.ones_like(self.answers) if self.seen is None else self.seen

  def logits(self, models: np.ndarray) -> np.ndarray:
    """Log odds of each sample [1 + R, n]: by all models, and without each of R models.

    Of families, each counts as one model, and is left out as a whole.
    """
    if self.families is not None:
      shares = 1.0 / np.bincount(self.families)[self.families]
      members = shares * np.concatenate([
          np.zeros([1, len(shares)]), self.families[models][:, None] == self.families])
      left = shares - members
      share = (left @ self.answers + 0.5) / (left @ self.known() + 1.0)
      return np.log(share / (1.0 - share))
    solved = self.answers.sum(axis=0, dtype=np.float64)
    num = self.known().sum(axis=0, dtype=np.int64)
    without = np.concatenate([np.zeros_like(self.answers[:1]), self.answers[models]])
    missed = np.concatenate([np.zeros_like(self.answers[:1]), self.known()[models]])
    share = (solved - without + 0.5) / (num - missed + 1.0)
    return np.log(share / (1.0 - share))

  def weights(self) -> np.ndarray:
    """Number of samples that each of the n stands for."""
    drawn = np.bincount(self.tasks, minlength=len(self.sizes))
    return (self.sizes / np.maximum(1, drawn))[self.tasks]


def predict(answers: np.ndarray, inside: Part, outside: Part, models: np.ndarray
            ) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
  """Predicts the means of a model's missing answers.

  Args:
    answers: 0/1 [n], of the model to the samples inside.
    inside, outside: the samples with an answer, and those without.
    models: int [R], the known models that the prediction is tried on.

  Returns:
    (predicted mean of the missing answers to each task [T]; errors of such means [R', T] for the
    known models that have answers on both sides; variance factor [T] of one more error), 0 where no
    answer is missing; None if the models are fewer than three.
  """
  num_tasks = len(inside.sizes)
  enough = [2 * part.known()[models].sum(axis=1) >= part.answers.shape[1]
            for part in (inside, outside)]
  models = models[enough[0] & enough[1]]
  if len(models) < _LEAST:
    return None
  rows = np.concatenate([answers[None], inside.answers[models]]).astype(np.float64)
  weights = np.concatenate([np.ones([1, len(answers)]), inside.known()[models]]) * inside.weights()
  offsets = _fitted(rows, inside.logits(models), weights, inside.tasks, num_tasks)
  here = np.zeros([len(outside.tasks), num_tasks])
  here[np.arange(len(outside.tasks)), outside.tasks] = 1.0
  chance = sigmoid(outside.logits(models) + offsets[:, outside.tasks])
  known = outside.known()[models].astype(np.float64)
  predicted = chance[0] @ here / np.maximum(1.0, here.sum(axis=0))
  num = np.maximum(1.0, known @ here)
  errors = ((outside.answers[models] - chance[1:]) * known) @ here / num
  return _corrected(predicted, errors, (chance[1:] * known) @ here / num)


def _corrected(predicted: np.ndarray, errors: np.ndarray, of_models: np.ndarray
               ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """Takes out of predictions [T] what the errors [R, T] of predictions [R, T] have in common.

  That is their mean and their slope with the prediction, whose prior is normal around 0. Returns
  the arrays of `predict`.
  """
  num = len(errors)
  if num < _CORRECTED:
    return predicted, errors, np.full(len(predicted), 1.0 + 1.0 / num)
  middle, mean = of_models.mean(axis=0), errors.mean(axis=0)
  apart, rest = of_models - middle, errors - mean
  spread = np.sum(apart**2, axis=0) + np.var(errors, axis=0) / _SLOPE**2 + 1e-12
  slope = np.sum(apart * rest, axis=0) / spread
  away = predicted - middle
  left = (rest - slope * apart) * np.sqrt(num / (num - 2.0))
  return predicted + mean + slope * away, left, 1.0 + 1.0 / num + away**2 / spread


def _fitted(answers: np.ndarray, logits: np.ndarray, weights: np.ndarray, tasks: np.ndarray,
            num_tasks: int) -> np.ndarray:
  """Ability plus deviation of each row on each task: [R, T], from answers and log odds [R, n]."""
  first = abilities(answers, logits, weights, 0.0, WIDE)
  middle, width = float(first[1:].mean()), float(np.clip(1.5 * first[1:].std(), _NARROW, WIDE))
  ability = abilities(answers, logits, weights, middle, width)[:, None]
  if num_tasks == 1:
    return ability
  here = np.zeros([len(tasks), num_tasks])
  here[np.arange(len(tasks)), tasks] = 1.0
  found = np.zeros([len(answers), num_tasks])
  for _ in range(_STEPS):
    chance = sigmoid(logits + ability + found[:, tasks])
    slope = (weights * (answers - chance)) @ here - found / _DEVIATION**2
    curve = (weights * chance * (1.0 - chance)) @ here + 1.0 / _DEVIATION**2
    found += np.clip(slope / curve, -1.0, 1.0)
  return ability + found


def abilities(answers: np.ndarray, logits: np.ndarray, weights: np.ndarray, middle: float,
               width: float) -> np.ndarray:
  """Ability of each row [R] with the largest posterior, by Newton's method."""
  found = np.full(len(answers), middle)
  for _ in range(_STEPS):
    chance = sigmoid(logits + found[:, None])
    slope = np.sum(weights * (answers - chance), axis=1) - (found - middle) / width**2
    curve = np.sum(weights * chance * (1.0 - chance), axis=1) + 1.0 / width**2
    found = found + np.clip(slope / curve, -1.0, 1.0)
  return found


def sigmoid(values: np.ndarray) -> np.ndarray:
  return 1.0 / (1.0 + np.exp(-values))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The accuracy of a model on samples that it did not answer, from those that it did.

A sample that a share p of the known models solve is solved with the log odds logit(p) + a + b: a is
the ability of the model, b its deviation on the task of the sample. Both have a normal prior, that
of a from the known models, and the answers that there are determine them. The errors are honest:
each known model is treated as if it had the same answers only, without its part in p, and its
answers to the other samples are compared with what is predicted. Models of one family, which answer
alike, count as one: each has a share of its family in all means.
"""

from __future__ import annotations

from collections.abc import Sequence
import hashlib
from typing import NamedTuple

import numpy as np

_DEVIATION = 0.5  # Standard deviation of the prior of b.
WIDE, _NARROW = 2.0, 0.5  # Bounds of the standard deviation of the prior of a.
_STEPS = 10  # Of Newton's method.
_LEAST = 3  # Least number of families.
_CORRECTED = 8  # Least number of families whose errors correct a prediction.
_SLOPE = 0.5  # Standard deviation of the prior of the slope of errors.


class Part(NamedTuple):
  """n samples on one side: those that the model answered, or those that it did not.

  Attributes:
    answers: [M, n] of the known models, 0/1 or graded.
    seen: uint8 [M, n], whether they were evaluated; None: they were on all.
    tasks: int [n], number of the task of each.
    sizes: int [T], number of samples of each task on this side, of which the n are some.
    families: int [M], number of the family of each model; None: each is a family by itself.
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

  def shares(self, models: np.ndarray) -> np.ndarray:
    """Share of each of R models among those of its family; they add up to the number of families.
    """
    if self.families is None:
      return np.ones(len(models))
    members = np.unique(self.families[models], return_inverse=True)[1]
    return 1.0 / np.bincount(members)[members]

  def weights(self) -> np.ndarray:
    """Number of samples that each of the n stands for."""
    drawn = np.bincount(self.tasks, minlength=len(self.sizes))
    return (self.sizes / np.maximum(1, drawn))[self.tasks]


class Prediction(NamedTuple):
  """Predicted means of a model's missing answers.

  Attributes:
    means: [T], of each task.
    errors: [R, T], errors of such means of the known models that have answers on both sides, 0
      where no answer is missing. The mean of their squares is that of families.
    factors: [T], the variance of one more error over that mean.
    num_families: of these models.
  """

  means: np.ndarray
  errors: np.ndarray
  factors: np.ndarray
  num_families: int


def balanced(names: Sequence[str], families: np.ndarray, most: int) -> np.ndarray:
  """Places of at most `most` models, of all families as many as there are, in ascending order.

  The choice depends on names alone, not on the order in which models were added.

  Args:
    names: [M]. families: int [M], the family of each.
  """
  by_name = sorted(range(len(names)), key=lambda i: hashlib.sha256(names[i].encode()).digest())
  met: dict[int, int] = {}
  turn = {}
  for place in by_name:
    turn[place] = met[families[place]] = met.get(families[place], -1) + 1
  return np.sort(np.array(sorted(by_name, key=turn.__getitem__)[:most], np.int64))


def predict(answers: np.ndarray, inside: Part, outside: Part, models: np.ndarray
            ) -> Prediction | None:
  """Predicts the means of a model's missing answers.

  Args:
    answers: 0/1 [n], of the model to the samples inside.
    inside, outside: the samples with an answer, and those without.
    models: int [R], the known models that the prediction is tried on.

  Returns:
    The prediction; None if the models are of fewer than three families.
  """
  num_tasks = len(inside.sizes)
  enough = [2 * part.known()[models].sum(axis=1) >= part.answers.shape[1]
            for part in (inside, outside)]
  models = models[enough[0] & enough[1]]
  shares = inside.shares(models)
  if round(float(shares.sum())) < _LEAST:
    return None
  rows = np.concatenate([answers[None], inside.answers[models]]).astype(np.float64)
  weights = np.concatenate([np.ones([1, len(answers)]), inside.known()[models]]) * inside.weights()
  offsets = _fitted(rows, inside.logits(models), weights, inside.tasks, num_tasks, shares)
  here = np.zeros([len(outside.tasks), num_tasks])
  here[np.arange(len(outside.tasks)), outside.tasks] = 1.0
  chance = sigmoid(outside.logits(models) + offsets[:, outside.tasks])
  known = outside.known()[models].astype(np.float64)
  predicted = chance[0] @ here / np.maximum(1.0, here.sum(axis=0))
  num = np.maximum(1.0, known @ here)
  errors = ((outside.answers[models] - chance[1:]) * known) @ here / num
  return _corrected(predicted, errors, (chance[1:] * known) @ here / num, shares)


def _corrected(predicted: np.ndarray, errors: np.ndarray, of_models: np.ndarray,
               shares: np.ndarray) -> Prediction:
  """Takes out of predictions [T] what the errors [R, T] of predictions [R, T] have in common.

  That is their mean and their slope with the prediction, whose prior is normal around 0; `shares`
  [R] are those of the models in their families.
  """
  num = round(float(shares.sum()))
  weight = shares[:, None]
  scale = np.sqrt(weight * len(errors) / num)  # To rows whose plain mean is that of families.
  if num < _CORRECTED:
    return Prediction(predicted, errors * scale, np.full(len(predicted), 1.0 + 1.0 / num), num)
  middle, mean = (np.sum(weight * of_models, axis=0) / num, np.sum(weight * errors, axis=0) / num)
  apart, rest = of_models - middle, errors - mean
  spread = (np.sum(weight * apart**2, axis=0)
            + np.sum(weight * rest**2, axis=0) / num / _SLOPE**2 + 1e-12)
  slope = np.sum(weight * apart * rest, axis=0) / spread
  away = predicted - middle
  left = (rest - slope * apart) * np.sqrt(num / (num - 2.0))
  return Prediction(predicted + mean + slope * away, left * scale,
                    1.0 + 1.0 / num + away**2 / spread, num)


def _fitted(answers: np.ndarray, logits: np.ndarray, weights: np.ndarray, tasks: np.ndarray,
            num_tasks: int, shares: np.ndarray) -> np.ndarray:
  """Ability plus deviation of each row on each task: [1 + R, T], from answers and log odds.

  Args:
    answers, logits, weights: [1 + R, n], of the model and the known ones. tasks: int [n].
    shares: [R], of the known models in their families.
  """
  first = abilities(answers, logits, weights, 0.0, WIDE)
  middle = float(np.average(first[1:], weights=shares))
  deviation = float(np.sqrt(np.average((first[1:] - middle) ** 2, weights=shares)))
  width = float(np.clip(1.5 * deviation, _NARROW, WIDE))
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

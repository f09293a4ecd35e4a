# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The interface of methods that estimate all answers of a model from a few of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
import functools
from typing import Any, Protocol

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.answers import random_sample


@dataclasses.dataclass(frozen=True, eq=False)
class Estimate:
  """Estimate of a model's answers to N samples.

  Attributes:
    answers: uint8 [N], the estimated answer to each sample; computed on first use.
    cut: estimated number of samples that the model solves.
    accuracy: the estimated share of correct answers.

  Optional attributes:
    interval: 95% interval of the accuracy, (low, high).
    supported: whether the sample supports per-sample predictions; False: use the accuracy only.
    reason: the reason, as text.
    observed: int64 [m], the samples with a known answer, in the order of asking. A larger budget
      asks these first if the method's questions are nested.
    observed_answers: [m]; `answers` and `probabilities` contain them.
    probabilities: function of samples int64 [n] that returns probabilities [n] of correct answers.
    sample: which of the observed answers are a random sample; the interval follows from these.
    order: int64 [N], samples from easy to hard, if `answers` are a step: 1 for the `cut` first.
    bounds: the range of scores, (low, high); accuracy, interval, observed answers and probabilities
      are in it: means of scores.
  """

  every: np.ndarray | Callable[[], np.ndarray]
  known_cut: int | None
  accuracy: float
  interval: tuple[float, float] | None = None
  supported: bool | None = None
  reason: str = ""
  observed: np.ndarray | None = None
  observed_answers: np.ndarray | None = None
  probabilities: Callable[[np.ndarray], np.ndarray] | None = None
  sample: random_sample.RandomSample | None = None
  order: np.ndarray | None = None
  bounds: tuple[float, float] = (0.0, 1.0)

  @functools.cached_property
  def answers(self) -> np.ndarray:
    return self.every() if callable(self.every) else self.every

  @property
  def cut(self) -> int:
    return int(self.answers.sum(dtype=np.int64)) if self.known_cut is None else self.known_cut


  def in_range(self, low: float, high: float) -> Estimate:
    """What is known as shares of a range, as scores of this range."""
    if (low, high) == (0.0, 1.0):
      return self

    def scores(shares: Any) -> Any:
      return low + (high - low) * shares

    probabilities = self.probabilities
    return dataclasses.replace(
        self, accuracy=scores(self.accuracy), bounds=(low, high),
        interval=None if self.interval is None else (scores(self.interval[0]),
                                                     scores(self.interval[1])),
        observed_answers=None if self.observed_answers is None else scores(np.asarray(
            self.observed_answers, np.float64)),
        probabilities=None if probabilities is None else (
            lambda samples: scores(probabilities(samples))))


class Estimator(Protocol):
  """Estimator of all answers of a model from a few of them."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> Estimate:
    """Estimates the answers of one more model.

    Args:
      known: uint8 [M, N], answers of the models evaluated before, 1 for correct. Protocols give
        `known_answers.KnownAnswers`, bits that are used like the array.
      ask: evaluates the new model: indices int64 [n] of samples -> its answers [n].
      budget: largest number of samples to ask.
    """


class LastResult:
  """A cache of one result, keyed by the identity of arrays.

  Most of the work of an estimate is preparation that depends on the known models alone.
  """

  def __init__(self) -> None:
    self._key: tuple[Any, ...] = ()
    self._value: Any = None

  def get(self, key: Sequence[np.ndarray], prepare: Callable[[], Any]) -> Any:
    """Returns the stored value if `key` holds the same objects, else calls `prepare`."""
    if len(key) != len(self._key) or any(a is not b for a, b in zip(key, self._key)):
      self._value = prepare()
      self._key = tuple(key)
    return self._value


def make_estimate(
    answers: np.ndarray, asked: answer_sampling.Asked, accuracy: intervals.Interval,
    probabilities: Callable[[np.ndarray], np.ndarray]
) -> Estimate:
  """Builds an `Estimate`; its `cut` is the number of answers that are estimated as correct."""
  return Estimate(answers, None, accuracy.value, (accuracy.low, accuracy.high),
                  observed=asked.samples, observed_answers=asked.answers,
                  probabilities=probabilities)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of methods that estimate all answers of a model from a few of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable, NamedTuple, Protocol

import numpy as np

from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals


class Estimate(NamedTuple):
  """What an estimator says of a model that it asked a few times. N samples.

  Attributes:
    answers: uint8 [N], the estimated answer to each sample.
    cut: how many of the easiest samples the model is thought to solve.
    accuracy: the estimated share of correct answers.

  A method that has more to say fills in:
    interval: 95% interval of the accuracy, (low, high).
    supported: whether the sample supports per-sample predictions; False: use the accuracy only.
    reason: why, in words.
    observed: int64 [m], the samples asked, in the order of asking. A larger budget asks these first
      if the method's questions are nested.
    observed_answers: uint8 [m]; `answers` and `probabilities` repeat them.
    probabilities: chances of a correct answer [n] to samples int64 [n]; made on demand.
  """

  answers: np.ndarray
  cut: int
  accuracy: float
  interval: tuple[float, float] | None = None
  supported: bool | None = None
  reason: str = ""
  observed: np.ndarray | None = None
  observed_answers: np.ndarray | None = None
  probabilities: Callable[[np.ndarray], np.ndarray] | None = None


class Estimator(Protocol):
  """Estimates all answers of a model from a few of them. It is a `tf.Module`, too."""

  def estimate(
      self, known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], budget: int
  ) -> Estimate:
    """Estimates the answers of one more model.

    Args:
      known: uint8 [M, N], answers of the models evaluated before, 1 for correct.
      ask: evaluates the new model: indices int64 [n] of samples to its answers [n].
      budget: how many answers may be asked for.
    """


class Kept:
  """What was prepared last, kept for as long as it is asked for the very same arrays.

  Most of an estimate is preparation that depends on the known models alone.
  """

  def __init__(self) -> None:
    self._key: tuple[Any, ...] = ()
    self._value: Any = None

  def get(self, key: Sequence[np.ndarray], prepare: Callable[[], Any]) -> Any:
    """The same value while `key` holds the same objects, else a new one."""
    if len(key) != len(self._key) or any(a is not b for a, b in zip(key, self._key)):
      self._value = prepare()
      self._key = tuple(key)
    return self._value


def finished(
    answers: np.ndarray, asked: answer_sampling.Asked, accuracy: intervals.Interval,
    probabilities: Callable[[np.ndarray], np.ndarray],
    verdict: tuple[bool | None, str] = (None, "")
) -> Estimate:
  """An estimate from its parts; `cut` is how many samples the model is thought to solve."""
  return Estimate(answers, int(answers.sum(dtype=np.int64)), accuracy.value,
                  (accuracy.low, accuracy.high), *verdict, asked.samples, asked.answers,
                  probabilities)

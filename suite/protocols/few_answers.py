# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Evaluation that learns: a test set is asked some answers, and the rest is estimated.

Most cells of a matrix R[i, j] repeat what earlier models have said of the same test images. With
`test_answers` in `clear`, `incremental` or `nevis`, a test set that enough earlier models have
answered in full is asked a few images only, and its accuracy is that of `suite lifelong estimate`
(`suite.lifelong.estimators.factor_model`): logistic regressions on the answers of the known models,
corrected by the answers asked, which are a random sample. The interval follows from this sample, so
it holds whatever the known models are. Known models are

  the first models of the run      rows of the matrix, which are asked in full
  those of other runs              `known_runs`, such as other seeds and methods on the same images

All models of a run are asked the same images of a test set, so their differences are more accurate
than each alone. Multi-label test sets are asked in full: their score is no mean of answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math
from typing import Any, TypeAlias

import numpy as np

from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.lifelong.answers import answer_sampling
from suite.lifelong.answers import intervals
from suite.lifelong.estimators import factor_model
from suite.metrics import schema
from suite.protocols import run_state
from suite.state import answer_tables
from suite.state import predictions
from suite.training.scoring import evaluation

_LEAST = 2  # Models that an estimate by factors needs.
_ROUNDING = 1e-9  # Of N times an accuracy.


@dataclasses.dataclass(frozen=True)
class FewAnswers:
  """How test sets are asked.

  Attributes:
    answers: largest number of images of a test set that a model is asked.
    full_models: models that must have answered a test set in full before others are asked a part
      of it; 0: none, and an estimate without known models is the mean of the answers.
    known_runs: work directories of runs with saved predictions; test sets are matched by ids and
      labels.
  """

  answers: int
  full_models: int = 2
  known_runs: tuple[str, ...] = ()

  def __post_init__(self) -> None:
    for name, least in (("answers", 1), ("full_models", 0)):
      value = getattr(self, name)
      if isinstance(value, bool) or not isinstance(value, int) or value < least:
        raise ValueError(f"{name} of test_answers is {value!r}; allowed are whole numbers from "
                         f"{least}.")

  @property
  def knows_others(self) -> bool:
    """Whether the first model of a run that meets a test set is asked a part of it."""
    return bool(self.known_runs) or not self.full_models


Given: TypeAlias = None | int | Mapping[str, Any]


def parsed(given: Given) -> FewAnswers | None:
  """The setting of a run: a number of answers, or `FewAnswers` as a mapping; None: all answers."""
  if given is None or isinstance(given, FewAnswers):
    return given
  values = dict(given) if isinstance(given, Mapping) else {"answers": given}
  names = [field.name for field in dataclasses.fields(FewAnswers)]
  if unknown := sorted(set(map(str, values)) - set(names)):
    raise ValueError(f"test_answers has no {', '.join(unknown)}; allowed are {', '.join(names)}, "
                     "such as {'answers': 256, 'full_models': 3}.")
  if "answers" not in values:
    raise ValueError("test_answers has no number of answers; give test_answers=256, or "
                     "{'answers': 256, ...}.")
  runs: Any = values.get("known_runs", ())
  return FewAnswers(**{**values, "known_runs": (runs,) if isinstance(runs, str) else tuple(runs)})


def estimate(known: np.ndarray, ask: Callable[[np.ndarray], np.ndarray], num: int, *, seed: int,
             search: factor_model.FactorSearch | None = None) -> intervals.Interval:
  """The accuracy on N images, from the answers of one model to some of them, with its interval.

  Args:
    known: uint8 [M, N], answers of other models to all images.
    ask: images int64 [num] -> answers 0/1 of the model.
    num: number of images that are asked, from N on all.
    seed: of the choice.
    search: an estimator with this seed, which keeps what it finds out about one array `known`.

  Returns:
    The estimate. Its bounds are multiples of 1 / N, as every accuracy on N images is.
  """
  size = known.shape[1]
  if num >= size:
    share = float(np.mean(answer_sampling.checked_answers(ask(np.arange(size)), size)))
    return intervals.Interval(share, share, share)
  if len(known) >= _LEAST:
    search = search or factor_model.FactorSearch(seed=seed)
    found = search.estimate(known, ask, num)
    assert found.interval is not None
    value, (low, high) = found.accuracy, found.interval
  else:  # In the order of the test set, which may have its classes one after the other.
    asked = answer_sampling.ask_nested(lambda ranks: ranks, size, ask, num, seed=seed)
    mean = intervals.accuracy(asked.by_rank()[1], size)
    value, low, high = mean.value, mean.low, mean.high
  return intervals.Interval(
      value, min(value, math.floor(low * size + _ROUNDING) / size),
      max(value, math.ceil(high * size - _ROUNDING) / size))


class TestSets:
  """Asks a learner for the test sets of one run, in full or in part.

  Args:
    given: how; None: in full.
    state: of the run, whose records say which of its models were asked in full.
    key: name of the value of records that names a test set.

  Raises:
    ValueError: the run has metrics of its own, or other known answers than when it began.
  """

  def __init__(self, given: FewAnswers | None, state: run_state.RunState, key: str):
    if given is not None and state.metrics.names:
      raise refusals.RefusedError(
          f"Metrics of your own ({', '.join(state.metrics.names)}) are of all answers, and "
          f"test_answers asks {given.answers} of a test set. Leave one of the two out.")
    self._given, self._state, self._key = given, state, key
    self._known: dict[str, tuple[int, np.ndarray]] = {}
    self._searches: dict[str, factor_model.FactorSearch] = {}
    runs = () if given is None else given.known_runs
    self._tables = answer_tables.of_predictions(runs) if runs else []
    self._fingerprint = answer_tables.fingerprint(self._tables) if runs else None
    before = next((r[schema.KNOWN_ANSWERS] for r in state.records if schema.KNOWN_ANSWERS in r),
                  self._fingerprint)
    if before != self._fingerprint:
      raise ValueError(
          f"The answers in {', '.join(runs)} have changed since this run began "
          f"({before} then, {self._fingerprint} now). Start again with another --workdir, or put "
          "the old ones back.")

  def evaluate(self, name: str, learner: learner_lib.Learner, images: Any, **how: Any
               ) -> evaluation.Evaluation:
    """Scores a test set, see `evaluation.evaluate`; an estimate if it is asked in part.

    Args:
      name: of the test set, in records.
      learner, images: the model and the test set.
      **how: further arguments of `evaluation.evaluate`.

    Returns:
      The record has, where some test sets may be asked in part: "estimated"; "test_size" N, of
      which "seen" images were asked; "error_interval", [low, high] with 95%; "known_models", and
      "saved_flops" at the mean cost of the answers asked.
    """
    state, given = self._state, self._given
    state.keep_samples(name, images)

    def scored(images: Any) -> evaluation.Evaluation:
      return evaluation.evaluate(
          learner.predict, images, transform=learner.transform, ledger=state.ledger,
          distribution=state.distribution, metrics=state.metrics, **how)

    if given is None:
      return scored(images)
    size, num = images.size, given.answers
    known = (self._answers(name, images, given.full_models)
             if images.kind == tasks.SINGLE_LABEL else None)
    kept = {} if self._fingerprint is None else {schema.KNOWN_ANSWERS: self._fingerprint}
    if known is None or len(known) < given.full_models or num >= size:
      found = scored(images)
      error = found.record[schema.ERROR]
      found.record.update({
          schema.ESTIMATED: False, schema.TEST_SIZE: size, schema.ERROR_INTERVAL: [error, error],
          schema.KNOWN_MODELS: 0, schema.SAVED_FLOPS: 0, **kept})
      return found
    asked: list[evaluation.Evaluation] = []
    before = state.ledger.totals().get("flops_predict", 0)

    def ask(places: np.ndarray) -> np.ndarray:
      asked.append(scored(images.subset(places)))
      return asked[-1].predictions["correct"]

    seed = state.seeds.integer("few_answers", name)
    search = self._searches.setdefault(name, factor_model.FactorSearch(seed=seed))
    accuracy = estimate(known, ask, num, seed=seed, search=search)
    after, (found,) = state.ledger.totals().get("flops_predict", 0), asked
    found.record.update({
        schema.ERROR: 1.0 - accuracy.value, schema.ESTIMATED: True, schema.TEST_SIZE: size,
        schema.ERROR_INTERVAL: [(size - round(bound * size)) / size
                                for bound in (accuracy.high, accuracy.low)],
        schema.KNOWN_MODELS: len(known), schema.SAVED_FLOPS: None if None in (after, before) else
        round((after - before) * (size - num) / num), **kept})
    return found

  def _answers(self, name: str, images: Any, full_models: int) -> np.ndarray:
    """Answers to all images of the models that are known, uint8 [M, N]; other runs come first.

    It is the same array as long as no model is added.
    """
    own = [record[schema.PREDICTIONS] for record in schema.of_tests(self._state.records)
           if record[self._key] == name and not record[schema.ESTIMATED]][:full_models]
    number, known = self._known.get(name, (-1, np.zeros([0, images.size], np.uint8)))
    if number < 0:
      order = np.argsort(images.ids)
      key = tuple(images.ids[order].tolist()), tuple(images.labels[order].tolist())
      for table in self._tables:
        if (table.ids, table.labels) == key:
          known = np.empty([len(table.models), images.size], np.uint8)
          known[:, order] = np.stack([table.answers.row(m) for m in range(len(table.models))])
    if number < len(own):
      saved = [predictions.load(self._state.folder / path) for path in own[max(number, 0):]]
      known = np.concatenate([known, *(one.correct[None].astype(np.uint8) for one in saved)])
      self._known[name] = len(own), known
    return self._known.setdefault(name, (len(own), known))[1]


def summary(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """What a summary says of the test sets of a run that may ask them in part."""
  tested = schema.of_tests(records)
  saved = [record[schema.SAVED_FLOPS] for record in tested]
  return {"estimated_tests": sum(record[schema.ESTIMATED] for record in tested),
          "answers_asked": sum(record[schema.SEEN] for record in tested),
          "answers_of": sum(record[schema.TEST_SIZE] for record in tested),
          "saved_flops": None if None in saved else sum(saved)}

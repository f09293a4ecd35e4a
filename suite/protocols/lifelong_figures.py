# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The experiments of Sort & Search (Prabhu et al., 2024, section 4), for any estimator.

The models of an answer table are divided at random: the answers of the sort models are known, the
test models are estimated one by one, each from the others' answers and `budget` of its own. Each
learner of the run is one estimator, and gives the curves of its errors:

  models        error against the budget for several numbers of sort models (figures 3, 4b to 4d),
                its aleatoric and epistemic part (figure 5), and how well estimated accuracies rank
                the test models (figure 8)
  samples       the same on the transpose: new samples are estimated from the answers of m' models
                (figure 4a, section 3.3)
  repeated      each estimate is taken for an observation before the next one (appendix F)
  correlations  of the models' answers (figure 7); it does not depend on the estimator

No network runs, so FLOPs are 0; "examples" counts answers. If some models have confidences, the
sort models are drawn among them, so that all ways to sort know the same models.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import time
from typing import Any, cast

import numpy as np

from suite.compute import ledger
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.lifelong.answers import known_answers
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator
from suite.metrics import budget_curves
from suite.metrics import schema
from suite.protocols import run_state
from suite.state import answer_tables

PAPER_BUDGETS = (8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768)
MODELS, SAMPLES, REPEATED, CORRELATIONS = "models", "samples", "repeated", "correlations"
_BLOCK = 1 << 14
_MOST_CORRELATED = 1000  # Models whose correlations are computed; of more, evenly spaced ones.
_MOST_REPEATED = 60  # Models that are inserted one after the other.
_GROUPS = 20  # Of models by accuracy, in the matrix of mean correlations.

DESCRIPTION = descriptions.ProtocolDescription(
    "lifelong_figures",
    measures=(
        descriptions.Measure("mean_absolute_error", "MAE", descriptions.LOWER),
        descriptions.Measure("aleatoric", "aleatoric error", descriptions.LOWER),
        descriptions.Measure("rank_correlation", "rank correlation", unit=descriptions.NUMBER)),
    panels=(descriptions.BUDGETS,), identity=("cache", "sort_models", "test_models", "budgets"),
    keepers=descriptions.WITHOUT_PREDICTIONS)


@dataclasses.dataclass(frozen=True)
class Split:
  """How the models are divided.

  Attributes:
    sort_models: number of the models whose answers are known; the paper has 50 of 167 and 6,000 of
      31,250.
    test_models: number of the models that are estimated; None: all others.
    splits: number of random divisions.
    fewer: further numbers of sort models (figure 4b), the first ones of the same draw.
  """

  sort_models: int = 50
  test_models: int | None = None
  splits: int = 3
  fewer: Sequence[int] = (10, 30)

  def draw(self, table: answer_tables.AnswerTable, rng: np.random.Generator
           ) -> tuple[np.ndarray, np.ndarray]:
    """Returns (sort models, test models), in the order of drawing."""
    num = len(table.models)
    among = table.with_confidence if len(table.with_confidence) else np.arange(num)
    if not 2 <= self.sort_models <= len(among) or self.sort_models >= num or not all(
        2 <= count < self.sort_models for count in self.fewer):
      raise ValueError(
          f"Got sort_models={self.sort_models} and fewer={list(self.fewer)} for {table.name}, "
          f"{len(among)} of whose models can be sort models; expected 2 or more, some left to "
          "test, and smaller numbers in fewer. Set lifelong_figures.Split.")
    sort = rng.permutation(among)[:self.sort_models]
    rest = rng.permutation(np.setdiff1d(np.arange(num), sort))
    wanted = len(rest) if self.test_models is None else self.test_models
    if not 1 <= wanted <= len(rest):
      raise ValueError(f"Got test_models={wanted}; {len(rest)} are left beside {len(sort)} sort "
                       "models.")
    return sort, rest[:wanted]


@dataclasses.dataclass(frozen=True)
class NewSamples:
  """Which samples are inserted (figure 4a).

  Attributes:
    domain: the name of a domain that is held out, as CIFAR-10-W is in the paper; "": random ones.
    held_out: number of random samples that are held out, where no domain is named.
    tested: number of the held-out samples that are estimated.
    budgets: numbers of models to ask; larger ones than the table allows are left out.
  """

  domain: str = ""
  held_out: int = 10_000
  tested: int = 2_000
  budgets: Sequence[int] = (8, 16, 32, 64, 128, 256, 512, 1024, 2048)

  def draw(self, table: answer_tables.AnswerTable, rng: np.random.Generator
           ) -> tuple[np.ndarray, np.ndarray]:
    """Returns (known samples, new samples)."""
    num = len(table.ids)
    if self.domain:
      if self.domain not in table.domains:
        raise ValueError(f"Got domain={self.domain!r}; {table.name} has "
                         f"{', '.join(table.domains) or 'no domains'}. Leave "
                         "lifelong_figures.NewSamples.domain out for random samples.")
      new = rng.permutation(table.domains[self.domain])
    else:
      new = rng.permutation(num)[:min(self.held_out, num // 2)]
    return np.setdiff1d(np.arange(num), new), new[:self.tested]


@descriptions.describes(DESCRIPTION)
def run(
    method: estimator.Estimator,
    *,
    state: run_state.RunState,
    answers: str | Sequence[str] = "runs/quickstart",
    budgets: Sequence[int] = PAPER_BUDGETS,
    split: Split = Split(),
    new_samples: NewSamples = NewSamples(),
    repeated_budget: int = 1024,
    costs: str | None = None,
) -> dict[str, Any]:
  """Runs all experiments with one estimator; returns the summary.

  Args:
    method: the estimator.
    state: of the run.
    answers: complete answers of many models to one test set: an npz, an accuracy cache, or work
      directories with saved predictions (`answer_tables`); of several test sets the one with the
      most models.
    budgets: numbers of answers to ask; larger ones than there are samples are left out.
    split: how the models are divided.
    new_samples: which samples are inserted.
    repeated_budget: of the repeated insertion; at most the number of samples.
    costs: csv with the columns model, flops and gpu_seconds of one answer (model *: of all others).
      Records then say what each budget saves.
  """
  refusals.check_no_budget(state.ledger.budget, DESCRIPTION.name)
  refusals.check_one_device(state.distribution, DESCRIPTION.name, "no network is run")
  refusals.check_method(method, ("estimate",), "SumSearch")
  table = max(answer_tables.load(answers, 3)[0], key=lambda one: len(one.models))
  prices = answer_tables.load_costs(costs) if costs else None
  cache = answer_tables.fingerprint([table])
  before = state.records[0][schema.CACHE] if state.records else cache
  if before != cache:
    raise ValueError(f"The answers have changed since this run began ({before} then, {cache} now). "
                     "Start again with another --workdir, or put the old ones back.")
  state.resume(method)
  work = _Study(method, table, state, prices)
  allowed = [budget for budget in budgets if budget <= len(table.ids)]
  events: list[tuple[str, int, int]] = [
      *((MODELS, number, count) for number in range(split.splits)
        for count in (split.sort_models, *split.fewer)),
      *((SAMPLES, number, 0) for number in range(split.splits)), (REPEATED, 0, 0),
      (CORRELATIONS, 0, 0)]
  for figure, number, count in events[state.done:]:
    state.begins(f"{figure}, split {number + 1}", total=len(events), unit="experiment")
    began, work.asked = time.monotonic(), 0
    sort, test = split.draw(table, state.seeds.generator("models", number))
    if figure == MODELS:
      found = work.models(sort[:count], test, allowed)
    elif figure == SAMPLES:
      known, new = new_samples.draw(table, state.seeds.generator("samples", number))
      found = work.samples(known, new, new_samples.budgets)
    elif figure == REPEATED:
      found = work.repeated(sort, test[:_MOST_REPEATED], min(repeated_budget, len(table.ids)))
    else:
      found = work.correlations()
    state.ledger.charge("predict", flops=0, macs=0, examples=work.asked,
                        seconds=time.monotonic() - began)
    state.commit({
        schema.PROTOCOL: DESCRIPTION.name, schema.KIND: deliveries.PREDICT, "figure": figure,
        schema.SPLIT: number, schema.TABLE: table.name, schema.CACHE: cache, **found})
  return summarize(state.records)


def summarize(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """Means over splits with the first number of sort models, at the largest budget."""
  first, last = records[0], records[-1]
  main = [one for one in records if one["figure"] == MODELS
          and one["sort_models"] == first["sort_models"]]
  errors = np.mean([one["mae"] for one in main], axis=0)
  parts = [one["aleatoric"] for one in main]
  return {
      "protocol": DESCRIPTION.name, "stream": first[schema.TABLE], "splits": len(main),
      "sort_models": first["sort_models"], "test_models": first["test_models"],
      "largest_budget": first["budgets"][-1], "mean_absolute_error": float(errors[-1]),
      "aleatoric": None if None in parts else float(np.mean(parts)),
      "rank_correlation": _mean_or_none([one["rank_correlation"][-1] for one in main]),
      "cache": first[schema.CACHE], **ledger.costs(last)}


class _Study:
  """The experiments with one estimator on one table.

  Attributes:
    asked: number of answers asked since it was set.
  """

  def __init__(self, method: estimator.Estimator, table: answer_tables.AnswerTable,
               state: run_state.RunState, prices: Mapping[str, answer_tables.AnswerCost] | None):
    self._method, self._table, self._state, self._prices = method, table, state, prices
    self.asked = 0

  def models(self, sort: np.ndarray, test: np.ndarray, budgets: Sequence[int]) -> dict[str, Any]:
    """Errors of the test models at each budget: means of them."""
    known = self._table.answers.chosen(sort)
    shape = len(budgets), len(test)
    mae, unseen, epistemic, by_answers, by_cut = (np.zeros(shape) for _ in range(5))
    truth, oracle = np.zeros(len(test)), np.zeros(len(test))
    aleatoric, array_bytes = np.full(len(test), np.nan), 0
    for column, model in enumerate(test.tolist()):
      row, best = self._table.answers.row(model), None
      # The oracle has as many ones as the row, all at its beginning (section 2.1): an estimate of
      # the accuracy may be perfect and say nothing of the samples.
      num = int(row.sum(dtype=np.int64))
      oracle[column] = (num - row[:num].sum(dtype=np.int64)) * 2 / len(row)
      truth[column] = row.mean()
      for place, budget in enumerate(budgets):
        found, asked = self._estimate(known, row, budget)
        wrong = found.answers != row
        mae[place, column] = wrong.mean()
        unseen[place, column] = ((wrong.sum() - wrong[asked].sum()) / (len(row) - len(asked))
                                 if len(asked) < len(row) else np.nan)
        by_answers[place, column], by_cut[place, column] = found.accuracy, found.cut / len(row)
        if found.order is not None:
          array_bytes = max(array_bytes, found.order.nbytes + found.answers.nbytes)
          if best is None:  # Equation 3: the best cut of the order of the sort models.
            best = ranking.step_predictions(found.order, ranking.dp_threshold(row[found.order]))
            aleatoric[column] = np.mean(best != row)
          epistemic[place, column] = np.mean(best != found.answers)
    has_order = not np.isnan(aleatoric).any()
    costs = {} if self._prices is None else {"saved": [
        self._saved(test, len(self._table.ids) - budget) for budget in budgets]}
    return {
        "sort_models": len(sort), "test_models": len(test), "budgets": list(budgets),
        "num_samples": len(self._table.ids), "mae": _means(mae), "unseen": _means(unseen),
        "constant": float(np.mean(np.minimum(truth, 1.0 - truth))),
        "oracle": float(oracle.mean()), "array_bytes": array_bytes or None,
        "aleatoric": float(aleatoric.mean()) if has_order else None,
        "epistemic": _means(epistemic) if has_order else None,
        "accuracy_error": _means(np.abs(by_answers - truth)),
        "cut_error": _means(np.abs(by_cut - truth)),
        "rank_correlation": [budget_curves.rank_correlation(one, truth) for one in by_answers],
        "rank_correlation_by_cut": [budget_curves.rank_correlation(one, truth) for one in by_cut],
        **costs}

  def samples(self, known: np.ndarray, new: np.ndarray, budgets: Sequence[int]) -> dict[str, Any]:
    """Errors of new samples at each number of models asked (section 3.3): the transpose.

    Only for estimators of one order: others compare a new sample with each of the known ones.
    """
    among = (self._table.with_confidence if len(self._table.with_confidence) else
             np.arange(len(self._table.models)))
    models = self._table.answers.chosen(among)
    transposed = known_answers.KnownAnswers(known_answers.TransposedRows(models, known))
    allowed = [budget for budget in budgets if budget <= len(among)]
    columns, mae = models.columns(new).T, np.zeros((len(allowed), len(new)))
    about = {"known_samples": len(known), "new_samples": len(new), "num_models": len(among),
             "budgets": allowed}
    if not allowed or self._estimate(transposed, columns[0], allowed[0])[0].order is None:
      return {**about, "mae": None}
    for column, row in enumerate(np.ascontiguousarray(columns)):
      for place, budget in enumerate(allowed):
        found, _ = self._estimate(transposed, row, budget)
        mae[place, column] = np.mean(found.answers != row)
    rates = columns.mean(axis=1)
    return {**about, "mae": _means(mae),
            "constant": float(np.mean(np.minimum(rates, 1.0 - rates)))}

  def repeated(self, sort: np.ndarray, test: np.ndarray, budget: int) -> dict[str, Any]:
    """Errors of the test models, each estimated alone, and with the estimates before it known."""
    known = self._table.answers.chosen(sort)
    growing, first, changes, same = known, None, 0, 0
    alone, in_turn = [], []
    before = [self._estimate(known, self._table.answers.row(model), budget)[0].answers
              for model in test.tolist()]
    for model, estimate in zip(test.tolist(), before):
      row = self._table.answers.row(model)
      found, _ = self._estimate(growing, row, budget)
      first = found.order if first is None else first
      if found.order is not None:
        changes += int(np.any(found.order != first))
      same += int(np.array_equal(found.answers, estimate))
      alone.append(float(np.mean(estimate != row)))
      in_turn.append(float(np.mean(found.answers != row)))
      growing = growing.with_row(found.answers)
    return {"budget": budget, "alone": alone, "in_turn": in_turn, "same_estimates": same,
            "order_changes": None if first is None else changes}

  def correlations(self) -> dict[str, Any]:
    """Correlations of the answers of all models, in groups by accuracy."""
    answers, num = self._table.answers, len(self._table.ids)
    sums = np.array([answers.row(model).sum(dtype=np.int64) for model in range(len(answers))])
    chosen = ranking.order_by_count(sums)
    if len(chosen) > _MOST_CORRELATED:
      chosen = chosen[ranking.sample_positions(len(chosen), _MOST_CORRELATED)]
    some, products = answers.chosen(chosen), np.zeros((len(chosen), len(chosen)))
    for start in range(0, num, _BLOCK):  # Whole numbers below 2^24 are exact in float32.
      block = some.columns(np.arange(start, min(num, start + _BLOCK))).astype(np.float32)
      products += block @ block.T
    matrix = budget_curves.correlations(sums[chosen], products, num)
    pairs = matrix[np.triu_indices(len(chosen), 1)]
    pairs = pairs[~np.isnan(pairs)]
    if not len(pairs):
      return {"correlated_models": len(chosen), "quantiles": None}
    groups = np.array_split(np.arange(len(chosen)), min(_GROUPS, len(chosen)))
    np.fill_diagonal(matrix, np.nan)  # A model with itself.
    means = [[_mean_or_none(matrix[np.ix_(one, other)].reshape(-1)) for other in groups]
             for one in groups]
    return {"correlated_models": len(chosen), "pairs": len(pairs),
            "negative_pairs": int(np.sum(pairs < 0)),
            "quantiles": np.quantile(pairs, (0.0, 0.01, 0.25, 0.5, 0.75, 0.99, 1.0)).tolist(),
            "group_accuracies": [float(sums[chosen[one]].mean() / num) for one in groups],
            "group_correlations": means}

  def _estimate(self, known: known_answers.KnownAnswers, row: np.ndarray, budget: int
                ) -> tuple[estimator.Estimate, np.ndarray]:
    """The estimate of a row of answers, and the samples that were asked for it."""
    seen: list[np.ndarray] = []

    def ask(samples: np.ndarray) -> np.ndarray:
      seen.append(np.asarray(samples))
      return row[samples]

    found = self._method.estimate(cast(np.ndarray, known), ask, budget)
    asked = np.concatenate(seen)
    if len(asked) > budget:
      raise ValueError(f"The method asked for {len(asked)} answers; its budget is {budget}.")
    self.asked += len(asked)
    return found, asked

  def _saved(self, test: np.ndarray, answers: int) -> dict[str, Any]:
    """What the test models save that are not asked so many answers each."""
    assert self._prices is not None
    each = [answer_tables.cost_of(self._prices, self._table.models[model]).saved(answers)
            for model in test.tolist()]
    return {name: None if any(one[name] is None for one in each) else sum(one[name] for one in each)
            for name in each[0]}


def _means(values: np.ndarray) -> list[float]:
  return values.mean(axis=1).tolist()


def _mean_or_none(values: Sequence[float | None]) -> float | None:
  """The mean of the known values; None without any."""
  known = [value for value in values if value is not None and not np.isnan(value)]
  return float(np.mean(known)) if known else None

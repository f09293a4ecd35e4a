# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong benchmarks (Prabhu et al., 2024): a model enters an accuracy cache for a few answers.

The cache is saved by earlier runs: for each model, whether it answered each sample of a test set
correctly. A model is one Predict event of one learner; the models of a table answered the same
samples. Each model in turn is held out and treated as new: a method knows the answers of all
others, may ask for `budget` answers of this one, and estimates the rest.

The scores are the per-sample error (mean |answer - estimate|) and the error of the estimated
accuracy, against the number of answers asked for. No network runs, so FLOPs are 0; "examples"
counts answers. Models with equal answers, such as models of learners with the same initial weights,
make a method look better: "identical_models" counts the known models whose answers equal the
held-out model's.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import time
from typing import Any, cast

import numpy as np
import tensorflow as tf

from suite.compute import ledger as ledger_lib
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.lifelong.answers import ranking
from suite.lifelong.estimators import estimator
from suite.metrics import schema
from suite.protocols import run_state
from suite.state import answer_tables

DESCRIPTION = descriptions.ProtocolDescription(
    "lifelong",
    measures=(
        descriptions.Measure("mean_per_sample_error", "per-sample error", descriptions.LOWER),
        descriptions.Measure("mean_accuracy_error", "error of the accuracy", descriptions.LOWER),
        descriptions.Measure("mean_constant_error", "constant answer", descriptions.LOWER)),
    curve=descriptions.RecordCurve(
        "Held-out model", "Per-sample error", schema.EVENT, schema.PER_SAMPLE_ERROR, first=1),
    keepers=descriptions.WITHOUT_PREDICTIONS)


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    method: estimator.Estimator,
    *,
    state: run_state.RunState,
    predictions: str | Sequence[str] = "runs/quickstart",
    budget: int = 32,
    min_models: int = 5,
    last_of_run: bool = False,
    costs: str | None = None,
) -> dict[str, Any]:
  """Holds out each model of each table once; returns the summary.

  Args:
    method: estimates the held-out model's answers.
    state: of the run.
    predictions: the work directory (or several) of runs with saved predictions, or an accuracy
      cache (`suite lifelong`), whose models evaluated on every sample are used, or an npz.
    budget: greatest number of answers that the method may ask for.
    min_models: test sets with fewer models are left out, and records name them.
    last_of_run: use only the last model of a run and learner on the same samples; earlier ones, as
      after each bucket of CLEAR, are nearly equal.
    costs: csv with the columns model, flops and gpu_seconds of one answer (model *: of all others).
      Records and summary then say what the answers that were not asked save.
  """
  refusals.check_no_budget(state.ledger.budget, DESCRIPTION.name)
  refusals.check_one_device(state.distribution, DESCRIPTION.name, "no network is run")
  refusals.check_method(method, ("estimate",), "OrderSearch")
  # A method has no variables; what it computes of known answers is computed again.
  state.resume(method if isinstance(method, tf.Module) else tf.Module())
  tables, left_out = answer_tables.load(predictions, min_models, last_of_run)
  prices = answer_tables.load_costs(costs) if costs else {}
  fingerprint = answer_tables.fingerprint(tables)
  before = state.records[0][schema.CACHE] if state.records else fingerprint
  if before != fingerprint:
    raise ValueError(
        f"The saved predictions have changed since this run began ({before} then, {fingerprint} "
        "now). Start again with another --workdir, or put the old ones back.")
  digests = [[hashlib.sha256(table.answers.row(m).tobytes()).digest()
              for m in range(len(table.models))] for table in tables]
  held_out = [(table, m, of_rows) for table, of_rows in zip(tables, digests)
              for m in range(len(table.models))]
  for table, m, of_rows in held_out[state.done:]:
    state.begins(f"estimate {table.models[m]}", total=len(held_out), unit="model")
    began, answers = time.monotonic(), table.answers.row(m)
    known, asked = table.answers.without(m), HeldOutModel(answers, budget)
    estimate = method.estimate(cast(np.ndarray, known), asked, budget)
    asked.charge(state.ledger, time.monotonic() - began)
    state.commit({
        schema.PROTOCOL: DESCRIPTION.name, schema.KIND: deliveries.PREDICT,
        schema.TABLE: table.name, schema.MODEL: table.models[m],
        schema.KNOWN_MODELS: len(known), schema.NUM_ASKED: asked.count, **score(answers, estimate),
        schema.IDENTICAL_MODELS: of_rows.count(of_rows[m]) - 1,
        schema.CACHE: fingerprint, schema.LEFT_OUT: left_out,
        **(answer_tables.cost_of(prices, table.models[m]).saved(len(answers) - asked.count)
           if costs else {})})
  return summarize(state.records)


class HeldOutModel:
  """A held-out model, as a method sees it: a function of sample indices [n] to answers [n]."""

  def __init__(self, answers: np.ndarray, budget: int):
    self._answers, self._budget = answers, budget
    self.count = 0

  def __call__(self, indices: np.ndarray) -> np.ndarray:
    self.count += len(indices)
    if self.count > self._budget:
      raise ValueError(f"The method asked for {self.count} answers; its budget is {self._budget}. "
                       "Raise lifelong.run.budget, or let the method ask less.")
    return self._answers[indices]

  def charge(self, ledger: ledger_lib.Ledger, seconds: float) -> None:
    ledger.charge("predict", flops=0, macs=0, examples=self.count, seconds=seconds)


def score(answers: np.ndarray, estimate: estimator.Estimate) -> dict[str, Any]:
  """Scores of the estimate of one model, given all its answers [N]."""
  accuracy = float(np.mean(answers))
  return {
      schema.NUM_SAMPLES: len(answers),
      schema.PER_SAMPLE_ERROR: ranking.per_sample_error(answers, estimate.answers),
      # The error of the best constant answer.
      schema.CONSTANT_ERROR: min(accuracy, 1.0 - accuracy),
      schema.CUT: estimate.cut, schema.ACCURACY: accuracy,
      schema.ESTIMATED_ACCURACY: estimate.accuracy,
      schema.ACCURACY_ERROR: ranking.aggregate_error(answers, estimate.accuracy)}


def summarize(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """Means over the held-out models, from records alone."""
  last = records[-1]
  means = {f"mean_{name}": float(np.mean([r[name] for r in records]))
           for name in (schema.PER_SAMPLE_ERROR, schema.CONSTANT_ERROR, schema.ACCURACY_ERROR)}
  saved = {name: [record[name] for record in records]
           for name in ("saved_answers", "saved_flops", "saved_gpu_hours") if name in last}
  return {
      "protocol": DESCRIPTION.name,
      "stream": ", ".join(sorted({r[schema.MODEL].split("/")[0] for r in records})),
      "num_models": len(records), **means,
      schema.NUM_ASKED: sum(r[schema.NUM_ASKED] for r in records),
      "num_answers": sum(r[schema.NUM_SAMPLES] for r in records),
      # None if a part is not known.
      **{name: None if None in values else sum(values) for name, values in saved.items()},
      **ledger_lib.costs(last), "left_out": last[schema.LEFT_OUT]}

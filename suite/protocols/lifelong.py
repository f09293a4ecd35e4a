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

import dataclasses
import hashlib
import pathlib
import time
from typing import Any, Dict, List, Mapping, Sequence, Tuple, Union

import numpy as np

from suite.compute import ledger as ledger_lib
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.lifelong.answers import ranking
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.estimators import estimator
from suite.protocols import run_state
from suite.state import predictions as predictions_lib

DESCRIPTION = descriptions.ProtocolDescription(
    "lifelong",
    measures=(
        descriptions.Measure("mean_per_sample_error", "per-sample error", descriptions.LOWER),
        descriptions.Measure("mean_accuracy_error", "error of the accuracy", descriptions.LOWER),
        descriptions.Measure("mean_constant_error", "constant answer", descriptions.LOWER)),
    curve=descriptions.RecordCurve(
        "Held-out model", "Per-sample error", "event", "per_sample_error", first=1))


@dataclasses.dataclass(frozen=True, eq=False)
class AnswerTable:
  """One test set: names of M models, ids of N samples, answers uint8 [M, N], 1 for correct."""

  models: Tuple[str, ...]
  ids: Tuple[str, ...]
  answers: np.ndarray

  @property
  def name(self) -> str:
    first = self.models[0] if self.models else "none"
    return f"{first} ({len(self.models)} models, {len(self.ids)} samples)"


@descriptions.describes(DESCRIPTION)
def run(
    method: estimator.Estimator,
    *,
    state: run_state.RunState,
    predictions: Union[str, Sequence[str]] = "runs/quickstart",
    budget: int = 32,
    min_models: int = 5,
    last_of_run: bool = False,
) -> Dict[str, Any]:
  """Holds out each model of each table once; returns the summary.

  Args:
    method: estimates the held-out model's answers.
    state: of the run.
    predictions: the work directory (or several) of runs with saved predictions, or an accuracy
      cache (`suite lifelong`), whose models evaluated on every sample are used.
    budget: greatest number of answers that the method may ask for.
    min_models: test sets with fewer models are left out, and records name them.
    last_of_run: use only the last model of a run and learner on the same samples; earlier ones, as
      after each bucket of CLEAR, are nearly equal.
  """
  refusals.check_one_device(state.distribution, DESCRIPTION.name, "no network is run")
  refusals.check_method(method, ("estimate",), "OrderSearch")
  tables, left_out = load(predictions, min_models, last_of_run)
  digest = hashlib.sha256()
  for table in tables:
    digest.update("\n".join([*table.models, *table.ids]).encode())
    digest.update(table.answers.tobytes())
  fingerprint = digest.hexdigest()[:16]
  before = state.records[0]["cache"] if state.records else fingerprint
  if before != fingerprint:
    raise ValueError(
        f"The saved predictions have changed since this run began ({before} then, {fingerprint} "
        "now). Start again with another --workdir, or put the old ones back.")
  state.resume(method)
  held_out = [(table, m) for table in tables for m in range(len(table.models))]
  for table, m in held_out[state.done:]:
    state.begins(f"estimate {table.models[m]}", total=len(held_out), unit="model")
    began = time.monotonic()
    known, asked = np.delete(table.answers, m, axis=0), HeldOutModel(table.answers[m], budget)
    estimate = method.estimate(known, asked, budget)
    asked.charge(state.ledger, time.monotonic() - began)
    state.commit({
        "protocol": DESCRIPTION.name, "kind": "predict", "table": table.name,
        "model": table.models[m],
        "known_models": len(known), "num_asked": asked.count, **score(table.answers[m], estimate),
        "identical_models": int(np.sum(np.all(known == table.answers[m], axis=1))),
        "cache": fingerprint, "left_out": left_out})
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


def score(answers: np.ndarray, estimate: estimator.Estimate) -> Dict[str, Any]:
  """Scores of the estimate of one model, given all its answers [N]."""
  accuracy = float(np.mean(answers))
  return {
      "num_samples": len(answers),
      "per_sample_error": ranking.per_sample_error(answers, estimate.answers),
      # The error of the best constant answer.
      "constant_error": min(accuracy, 1.0 - accuracy),
      "cut": estimate.cut, "accuracy": accuracy, "estimated_accuracy": estimate.accuracy,
      "accuracy_error": ranking.aggregate_error(answers, estimate.accuracy)}


def summarize(records: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
  """Means over the held-out models, from records alone."""
  last = records[-1]
  means = {f"mean_{name}": float(np.mean([r[name] for r in records]))
           for name in ("per_sample_error", "constant_error", "accuracy_error")}
  return {
      "protocol": DESCRIPTION.name,
      "stream": ", ".join(sorted({r["model"].split("/")[0] for r in records})),
      "num_models": len(records), **means,
      "num_asked": sum(r["num_asked"] for r in records),
      "num_answers": sum(r["num_samples"] for r in records),
      **ledger_lib.costs(last), "left_out": last["left_out"]}


def load(
    predictions: Union[str, Sequence[str]], min_models: int, last_of_run: bool = False
) -> Tuple[List[AnswerTable], List[str]]:
  """Saved predictions of runs as tables, one for each test set, and the names of those left out.

  Args:
    predictions: work directories, or run directories: all that have predictions/*.parquet; or
      accuracy caches.
    min_models: least number of models of a table.
    last_of_run: see `run`.
  """
  folders = [predictions] if isinstance(predictions, str) else list(predictions)
  caches = [folder for folder in folders if accuracy_cache.is_cache(folder)]
  groups: Dict[Any, Dict[str, np.ndarray]] = {}
  for name, path in sorted(_files([one for one in folders if one not in caches]).items()):
    saved = predictions_lib.load(path)
    order = np.argsort(saved.id)
    # Many data sets have the ids 0, 1, 2, ..., so the labels are compared, too.
    labels = tuple(tuple(label.tolist()) if isinstance(label, np.ndarray) else int(label)
                   for label in (saved.label[i] for i in order))
    rows = groups.setdefault((tuple(saved.id[order].tolist()), labels), {})
    if last_of_run:  # Events have numbers of fixed width, and files come in order.
      for other in [other for other in rows if _run_of(other) == _run_of(name)]:
        del rows[other]
    rows[name] = saved.correct[order].astype(np.uint8)
  every = [AnswerTable(tuple(rows), ids, np.stack(list(rows.values())))
           for (ids, _), rows in groups.items()]
  for cache in map(accuracy_cache.AccuracyCache, caches):
    models = cache.complete_models()
    every.append(AnswerTable(tuple(models), tuple(cache.ids.tolist()),
                             cache.columns(np.arange(cache.num_samples), models)))
  tables = [table for table in every if len(table.models) >= max(2, min_models)]
  if not tables:
    sizes = sorted((len(table.models) for table in every), reverse=True)
    raise ValueError(
        f"{', '.join(folders)}: no {min_models} saved predictions are of the same test samples; "
        f"got {sizes} models for {len(every)} test sets. Add runs of more learners on the same "
        "data, such as those of suite run quickstart, or lower lifelong.run.min_models.")
  return tables, [table.name for table in every if table not in tables]


def _files(folders: Sequence[str]) -> Dict[str, pathlib.Path]:
  """{"quickstart/indep/0003": path} of every predictions file in the folders, at any depth."""
  found: Dict[str, pathlib.Path] = {}
  for folder in folders:
    root = pathlib.Path(folder).resolve()
    paths = sorted(root.rglob("predictions/*.parquet"))
    if not paths:
      raise FileNotFoundError(
          f"There are no saved predictions in {folder} (looked for predictions/*.parquet in it and "
          "in all of its folders). Make some with: suite run quickstart, or set "
          "lifelong.run.predictions to the --workdir of another run.")
    for path in paths:
      inside = path.relative_to(root).parts[:-2]  # LEARNER; ROW/COLUMN/SEED/LEARNER of a table.
      name = "/".join((*(() if inside else (root.parent.name,)), root.name, *inside, path.stem))
      if found.setdefault(name, path) != path:
        raise ValueError(f"{found[name]} and {path} would both be called {name!r}. "
                         "Rename a work directory.")
  return found


def _run_of(name: str) -> str:
  return name.rpartition("/")[0]

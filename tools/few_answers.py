# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""How often intervals of `test_answers` hold, on stored runs that asked every answer.

  python tools/few_answers.py runs/digits/clear_table --answers 32,64 --full 2 --draws 3

Each stored matrix (CLEAR, incremental learning) is asked again cell by cell, as
`suite.protocols.few_answers` asks: the first models of a column in full, of later ones some of the
stored answers; with --others the models of all other runs are known, and none is asked in full.
A test set of NEVIS'22 is answered once in a run, so its runs need --others; their score is the mean
over tasks. With --other_methods runs of the same method are not among the known ones. Beside it
stands the mean of as many answers to the same number of random images.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Mapping, Sequence
import pathlib
import sys
import time

import numpy as np

from suite.contracts import deliveries
from suite.lifelong.answers import intervals
from suite.lifelong.estimators import factor_model
from suite.metrics import matrix
from suite.protocols import few_answers
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.state import predictions

_HEADER = ("answers a cell", "full models", "cells estimated", "answers asked, %", "covered, %",
           "error", "half width", "covered, mean alone, %", "its error", "its half width",
           "scores covered, %", "their error")
_ONCE = -1  # Number of the model of a test set that is answered once in a run.
Column = list[tuple[int, np.ndarray]]  # Number of the model and its answers uint8 [N], in order.


def columns(run: run_dir.Run) -> dict[int, Column]:
  """The stored answers of a run, by the bucket, or the task of a stream, that was tested."""
  found: dict[int, Column] = collections.defaultdict(list)
  for record in run.records:
    if record["kind"] == deliveries.PREDICT and record.get("metric", "error") == "error":
      saved = predictions.load(run.folder / record["predictions"])
      is_cell = "bucket" in record
      found[record["bucket"] if is_cell else record["event"]].append(
          (record["trained_bucket"] if is_cell else _ONCE, saved.correct.astype(np.uint8)))
  return found


class Tally:
  """What one setting gave on all runs."""

  def __init__(self) -> None:
    self.cells: list[tuple[bool, float, float]] = []  # Covered, error, half of the width.
    self.means: list[tuple[bool, float, float]] = []
    self.scores: list[tuple[bool, float]] = []
    self.asked = self.every = 0

  def add(self, run: Mapping[int, Column], answers: int, full: int, seed: int,
          others: Sequence[Mapping[int, Column]] = ()) -> None:
    """Asks the cells of a run again; `others` are known runs."""
    is_stream = all(number == _ONCE for column in run.values() for number, _ in column)
    size = 1 + max(max(run), max(number for column in run.values() for number, _ in column))
    truth = np.full([1, len(run)] if is_stream else [size, size], np.nan)
    value, low, high = truth.copy(), truth.copy(), truth.copy()
    for place_of_set, (number_of_set, column) in enumerate(run.items()):
      tested = place_of_set if is_stream else number_of_set
      known = np.array([row for other in others for _, row in other[number_of_set]]
                       or [row for _, row in column[:full]])
      full = 0 if others else full
      search = factor_model.FactorSearch(seed=seed)
      for place, (trained, row) in enumerate(column):
        trained = 0 if is_stream else trained
        truth[trained, tested] = row.mean()
        is_full = place < full or answers >= len(row)
        found = few_answers.estimate(
            known, row.__getitem__, len(row) if is_full else answers, seed=seed, search=search)
        self.asked += len(row) if is_full else answers
        self.every += len(row)
        value[trained, tested], low[trained, tested] = found.value, found.low
        high[trained, tested] = found.high
        if not is_full:
          mean = few_answers.estimate(known[:0], row.__getitem__, answers, seed=seed)
          self.cells.append(_outcome(found, row.mean()))
          self.means.append(_outcome(mean, row.mean()))
    for score in [_mean] if is_stream else matrix.scores().values():
      exact = score(truth)
      if np.isfinite(exact):
        bounds = matrix.interval(score, value, low, high)
        self.scores.append((bounds[0] - 1e-9 <= exact <= bounds[1] + 1e-9,
                            abs(score(value) - exact)))

  def row(self, answers: int, full: int) -> list[object]:
    def shares(outcomes: Sequence[Sequence[float]]) -> list[object]:
      return [f"{100 * one:.{digits}f}" for one, digits in zip(
          np.mean(np.array(outcomes, float), axis=0), (1, 2, 2))]

    return [str(answers), str(full), f"{len(self.cells):,}",
            f"{100 * self.asked / self.every:.0f}", *shares(self.cells), *shares(self.means),
            *shares(self.scores)]


def _mean(acc: np.ndarray) -> float:
  """The mean over the tasks of a stream: acc is [1, T]."""
  return float(np.mean(acc))


def _outcome(found: intervals.Interval, truth: float) -> tuple[bool, float, float]:
  return found.low - 1e-9 <= truth <= found.high + 1e-9, abs(found.value - truth), found.width / 2


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
  parser.add_argument("dirs", nargs="+")
  parser.add_argument("--answers", default="256", help="numbers of answers a cell")
  parser.add_argument("--full", default="2", help="numbers of models that are asked in full")
  parser.add_argument("--others", action="store_true",
                      help="the known models are those of all other runs, in place of the first "
                      "models of the run")
  parser.add_argument("--other_methods", action="store_true",
                      help="as --others, but runs of the same method are not known")
  parser.add_argument("--draws", type=int, default=1, help="choices of images")
  args = parser.parse_args(arguments)
  began = time.process_time()
  loaded = [run for run in run_dir.load(map(pathlib.Path, args.dirs)) if run.is_finished]
  runs, methods = [columns(run) for run in loaded], [run.learner for run in loaded]
  use_others = args.others or args.other_methods
  if not use_others and any(number == _ONCE for run in runs for column in run.values()
                            for number, _ in column):
    parser.error("a test set of NEVIS'22 is answered once in a run: give --others")
  rows = []
  for answers in map(int, args.answers.split(",")):
    for full in [0] if use_others else map(int, args.full.split(",")):
      tally = Tally()
      for place, run in enumerate(runs):
        others = [other for i, other in enumerate(runs) if use_others and i != place and not (
            args.other_methods and methods[i] == methods[place])]
        for seed in range(args.draws):
          tally.add(run, answers, full, seed, others)
      if tally.cells:
        rows.append(tally.row(answers, full))
  sizes = sorted({len(row) for run in runs for column in run.values() for _, row in column})
  print(quantities.TextTable(
      f"{len(runs)} runs, test sets of {sizes[0]:,} to {sizes[-1]:,} images", _HEADER, rows,
      num_left=0).markdown())
  print(f"{time.process_time() - began:.0f} s of CPU.")
  return 0


if __name__ == "__main__":
  sys.exit(main())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search: the suite's orders, cuts and errors beside the published script.

Inputs are answers of simulated models (skill minus difficulty, logistic) and, with --data_dir, the
answers of real models from a `cifar10_matrix.npz` there. Half of the models are known or 50; the
others are searched. numpy suffices for the authors' side.
"""

from __future__ import annotations

from collections.abc import Iterator
import itertools
import pathlib
from typing import NamedTuple

import authors as authors_lib
import numpy as np
import parity_rows

from suite.lifelong.answers import ranking

BUDGETS = (8, 32, 128, 512, 1024, 4096, 16384)
FLOOR = 0.1  # Points of error that are allowed where the models hardly differ.
LONGEST = 12  # Of the rows whose thresholds are checked exhaustively.
Row = parity_rows.Row

_CUT = ("The script's index i of the largest sum means that the first i + 1 samples are solved, "
        "but it predicts i; and an index of 0 means both 0 and 1 solved samples.")
_HEAD = ("Where the budget does not divide the number of samples, the script puts all that is left "
         "over before the first sample asked, so that the easiest samples are never asked.")
_LEAK = ("The script gives the second sort the rows of the models that it is later tested on. With "
         "the known models' rows alone both agree (row above).")
_TIES = ("numpy's default sort is not stable, so the script's order of tied samples depends on the "
         "processor; here ties keep their order. The counts along both orders are equal.")


class Matrix(NamedTuple):
  """Answers int8 [M, N], the known rows, and how to print them."""

  name: str
  answers: np.ndarray
  known: np.ndarray

  @property
  def searched(self) -> np.ndarray:
    return np.delete(self.answers, self.known, axis=0)

  @property
  def budgets(self) -> list[int]:
    return [budget for budget in BUDGETS if budget <= self.answers.shape[1]]


def simulated(models: int = 60, samples: int = 8192) -> Matrix:
  rng = np.random.default_rng(0)
  chance = rng.normal(size=(models, 1)) - rng.normal(size=samples)
  answers = (rng.logistic(size=(models, samples)) < 2 * chance).astype(np.int8)
  known = np.sort(rng.choice(models, models // 2, replace=False))
  return Matrix(f"{models} simulated models, {samples:,} samples", answers, known)


def real(folder: pathlib.Path) -> Matrix:
  with np.load(folder / "cifar10_matrix.npz") as stored:
    answers = np.unpackbits(stored["A_packed"], axis=1, count=int(stored["n_samples"]))
  known = np.sort(np.random.default_rng(0).choice(len(answers), 50, replace=False))
  return Matrix(f"{len(answers)} real models, {answers.shape[1]:,} samples of CIFAR-10",
                answers.astype(np.int8), known)


def cuts_from(index: np.ndarray, rows: np.ndarray) -> np.ndarray:
  """The script's indices [S] as cuts: i + 1, or 0 where no first part has a positive sum."""
  sums = np.cumsum(2 * rows.astype(np.int64) - 1, axis=1)
  return np.where(sums.max(axis=1) > 0, index + 1, 0)


def errors_of(rows: np.ndarray, cuts: np.ndarray) -> np.ndarray:
  """Wrong predictions of each of S rows [S, n] in rank order by its cut."""
  return np.sum(rows != (np.arange(rows.shape[1]) < cuts[:, None]), axis=1)


def _order_rows(authors: authors_lib.Authors, matrix: Matrix) -> tuple[list[Row], np.ndarray]:
  """Rows about the orders; also returns our sum order."""
  said = authors.ask("public_lifelong_search", {"answers": matrix.answers, "known": matrix.known},
                     what="orders")
  known = matrix.answers[matrix.known]
  order, counts = ranking.sum_order(known), known.sum(axis=0, dtype=np.int64)
  second = ranking.recursive_order(known)
  rows = matrix.searched

  def error(chosen: np.ndarray) -> float:
    """Mean error of the best cuts, in percent: what the order can do at best."""
    ordered = rows[:, chosen]
    return 100 * float(np.mean(errors_of(ordered, ranking.dp_thresholds(ordered)))) / rows.shape[1]

  def error_row(what: str, theirs: np.ndarray, mine: np.ndarray, reason: str = "") -> Row:
    pair = error(theirs), error(mine)
    return Row(f"{what}: error with all answers known", matrix.name, f"{pair[0]:.3f}%",
               f"{pair[1]:.3f}%", abs(pair[0] - pair[1]), "points", 0.05, reason)

  def edges(chosen: np.ndarray) -> str:
    return f"{counts[chosen[0]]} models to {counts[chosen[-1]]}"

  return [
      Row("sum sort: number of models that solve the sample at each rank", matrix.name,
          edges(said["sum"]), edges(order),
          float(np.sum(counts[said["sum"]] != counts[order])), "ranks that differ"),
      Row("sum sort: the sample at each rank", matrix.name, f"sample {said['sum'][0]} first",
          f"sample {order[0]} first", float(np.sum(said["sum"] != order)), "ranks that differ",
          reason=_TIES),
      error_row("sum sort", said["sum"], order),
      error_row("recursive sort, the known models' rows", said["recursive_known"], second),
      error_row("recursive sort as published", said["recursive"], second, _LEAK)], order


def _threshold_rows(authors: authors_lib.Authors) -> list[Row]:
  """All 0/1 rows of up to LONGEST answers."""
  counts = np.zeros(5, np.int64)
  for length in range(1, LONGEST + 1):
    rows = np.array(list(itertools.product((0, 1), repeat=length)), np.int8)
    index = authors.ask("public_lifelong_search", {"answers": rows}, what="cuts")["index"]
    mine = ranking.dp_thresholds(rows)
    cuts = cuts_from(index, rows)
    counts += (len(rows), np.sum(cuts != mine),
               np.sum(errors_of(rows, index) != errors_of(rows, mine)), cuts.sum(), mine.sum())
  inputs = f"all {counts[0]:,} rows of 1 to {LONGEST} answers"
  return [
      Row("threshold of a row, the script's index i read as a cut: i + 1, or 0", inputs,
          f"sum of cuts {counts[3]:,}", f"sum of cuts {counts[4]:,}", float(counts[1]),
          "cuts that differ"),
      Row("threshold of a row as published: wrong predictions", inputs,
          f"{counts[0] - counts[2]:,} optimal", f"{counts[0]:,} optimal", float(counts[2]),
          "rows with more wrong predictions than the best cut", reason=_CUT)]


def _search_rows(authors: authors_lib.Authors, matrix: Matrix, order: np.ndarray) -> list[Row]:
  """The searched models on the same order, by budget."""
  rows, budgets = matrix.searched, matrix.budgets
  said = authors.ask("public_lifelong_search", {"answers": rows, "order": order}, what="search",
                     budgets=budgets)
  ordered, found, different = rows[:, order], [], np.zeros(3, np.int64)
  num = rows.shape[1]
  for budget in budgets:
    asked = ordered[:, ranking.sample_positions(num, budget)]
    cuts = np.array([ranking.extrapolate_cut(cut, budget, num)
                     for cut in ranking.dp_thresholds(asked)])
    mine, theirs = 100 * errors_of(ordered, cuts) / num, said[f"errors_{budget}"]
    spread = 3 * float(np.std(theirs - mine, ddof=1)) / len(rows)**0.5
    head = int(said[f"positions_{budget}"][0]) - int(ranking.sample_positions(num, budget)[0])
    loses_head = head > num // 50
    found.append(Row(
        f"search with {budget:,} answers: error of the predicted answers", matrix.name,
        f"{theirs.mean():.2f}%", f"{mine.mean():.2f}%", float(abs(np.mean(theirs - mine))),
        "points", max(FLOOR, spread),
        f"{_HEAD} {head / num:.0%} of the samples here." if loses_head else ""))
    same = ordered[:, said[f"positions_{budget}"]]
    index = authors.ask("public_lifelong_search", {"answers": same}, what="cuts")["index"]
    pair = cuts_from(index, same), ranking.dp_thresholds(same)
    different += (np.sum(pair[0] != pair[1]), pair[0].sum(), pair[1].sum())
  return [Row(f"search with the same answers: {len(rows) * len(budgets):,} cuts", matrix.name,
              f"sum of cuts {different[1]:,}", f"sum of cuts {different[2]:,}",
              float(different[0]), "cuts that differ"), *found]


def compare(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows, in about a quarter of a minute."""
  yield from _threshold_rows(authors)
  for matrix in [simulated(), *([real(pathlib.Path(data_dir))] if data_dir else [])]:
    rows, order = _order_rows(authors, matrix)
    yield from rows
    yield from _search_rows(authors, matrix, order)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tested differences of methods: what each test image adds to a score, the test, its tables.

The tables have intervals, ranks and groups of methods, and p-values of all pairs.
docs/statistics.md says what is tested and what may be concluded.

What an image adds is read from the saved predictions of runs. A score is taken apart only if the
parts add up to the value in the run's summary, to 1e-6. So a measure that is no mean of answers,
such as a mean average precision, a maximum or a mean over classes, is reported as not tested.

A unit is a test image with all answers to it, of one model or of the models of all buckets; in
continual few-shot learning it is an episode, whose images were answered by one adapted model. Seeds
that divide the same images into other test sets, as other orders of classes do, share the units.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.contracts import descriptions
from suite.metrics import episodic
from suite.metrics import matrix
from suite.metrics import paired_tests
from suite.metrics import schema
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import table_dir

_CLOSE = 1e-6
_META_TEST = "meta_test"
# The linear scores of suite/protocols/incremental.py, by the names of its summaries.
_INCREMENTAL: Mapping[str, Callable[[np.ndarray], float]] = {
    "final_average_accuracy": matrix.final_average_accuracy,
    "average_incremental_accuracy": matrix.average_incremental_accuracy,
    "backward_transfer": matrix.lopez_paz_backward_transfer}
MARK = "*"
MARK_NOTE = (f"{MARK} in the group of the best: no method of the column is better beyond chance "
             "(5% for all pairs of a column together).")
_FEW_SEEDS = 5
_LEAST = 0.0001


class UnitSet(NamedTuple):
  """One test set: names of its units (a column of Arrow) and what each adds to the score [U]."""

  ids: Any
  adds: np.ndarray


@dataclasses.dataclass(frozen=True)
class Tested:
  """The comparison of the methods of one stream.

  Attributes:
    names: of the methods that are compared, in order.
    comparison: of them.
    ranks: their possible ranks, 95%, of all at once.
    groups: letters of their groups.
    measure: the score.
    num_units: number of test images, or of episodes.
    left_out: method -> why it is not compared.
  """

  names: Sequence[str]
  comparison: paired_tests.Comparison
  ranks: Sequence[tuple[int, int]]
  groups: Sequence[str]
  measure: descriptions.Measure
  num_units: int
  left_out: Mapping[str, str]

  @property
  def best(self) -> list[str]:
    """The group of the best: no method is better than one of them beyond chance."""
    return [name for name, (first, _) in zip(self.names, self.ranks) if first == 1]

  @property
  def order(self) -> list[int]:
    """Numbers of the methods, best mean score first."""
    sign = 1 if self.measure.better == descriptions.LOWER else -1
    return sorted(range(len(self.names)),
                  key=lambda i: sign * round(self.comparison.parts[i].mean, 9))

  def is_worse(self, name: str, other: str) -> bool:
    """Whether a method is worse than another one beyond chance; False if one is not compared."""
    if name not in self.names or other not in self.names:
      return False
    i, j = self.names.index(name), self.names.index(other)
    difference = self.comparison.difference[i, j]
    return self.comparison.is_apart(i, j) and (
        difference > 0 if self.measure.better == descriptions.LOWER else difference < 0)


def test(learners: Mapping[str, run_streams.LearnerRuns], measure: descriptions.Measure
         ) -> Tested | None:
  """Compares methods by their finished runs; None if fewer than two can be compared.

  Args:
    learners: the methods of one stream.
    measure: a score of their summaries.
  """
  if measure.unit != descriptions.SHARE or sum(
      bool(learner.finished) for learner in learners.values()) < 2:
    return None
  answers: dict[str, dict[str, dict[str, UnitSet]]] = {}  # By method, seed and test set.
  left_out: dict[str, str] = {}
  for name, learner in learners.items():
    for run in learner.finished:
      try:
        answers.setdefault(name, {})[run_streams.seed_of(run)] = units_of(run, measure.key)
      except ValueError as error:
        left_out[name] = str(error)
        answers.pop(name, None)
        break
  if len(answers) < 2:
    return None
  answers = _divided_alike(answers)
  references: dict[str, dict[str, UnitSet]] = {}  # By seed, whose images may be its own.
  sizes: dict[str, int] = {}  # Of all seeds.
  aligned: dict[str, dict[str, list[np.ndarray]]] = {}
  for name, by_seed in answers.items():
    for seed, found in by_seed.items():
      reference = references.setdefault(seed, found)
      sizes = sizes or {one: len(units.adds) for one, units in reference.items()}
      rows = _in_order(found, reference)
      if rows is None or [len(row) for row in rows] != list(sizes.values()):
        left_out[name] = "its test images are not those of the other methods"
        aligned.pop(name, None)
        break
      aligned.setdefault(name, {})[seed] = rows
  if len(aligned) < 2:
    return None
  strata = np.repeat(np.arange(len(sizes)), list(sizes.values()))
  comparison = paired_tests.compare(
      [np.stack([np.concatenate(rows) for rows in by_seed.values()])
       for by_seed in aligned.values()], [list(by_seed) for by_seed in aligned.values()], strata)
  ranks = paired_tests.rank_intervals(
      comparison, lower_is_better=measure.better == descriptions.LOWER)
  tested = Tested(list(aligned), comparison, ranks, (), measure, len(strata), left_out)
  return dataclasses.replace(tested, groups=paired_tests.groups(comparison, tested.order))


def _divided_alike(answers: dict[str, dict[str, dict[str, UnitSet]]]
                   ) -> dict[str, dict[str, dict[str, UnitSet]]]:
  """The answers in test sets that are the same for all seeds.

  Seeds with different orders of classes have the same images in different tasks. Compared task by
  task, an image of one seed would stand for another image of the next, and the variance of a mean
  over seeds would lack what the seeds' common images add. The sets returned are the intersections
  of the seeds' sets. Nothing changes if all seeds have the same sets, or other images.
  """
  import pyarrow as pa  # pylint: disable=import-outside-toplevel
  firsts: dict[str, dict[str, UnitSet]] = {}
  for by_seed in answers.values():
    for seed, found in by_seed.items():
      firsts.setdefault(seed, found)
  if len({tuple(found) for found in firsts.values()}) > 1 or not all(
      found for found in firsts.values()):
    return answers
  joined = {seed: _joined(found) for seed, found in firsts.items()}
  images = next(iter(joined.values()))[0]
  if len(np.unique(images)) < len(images) or not all(
      np.array_equal(ids, images) for ids, _, _ in joined.values()):
    return answers
  of_seeds = np.stack([sets for _, sets, _ in joined.values()], axis=1)
  if np.all(of_seeds == of_seeds[:, :1]):
    return answers
  _, cells = np.unique(of_seeds, axis=0, return_inverse=True)
  places = [np.flatnonzero(cells.ravel() == cell) for cell in range(cells.max() + 1)]

  def divided(found: dict[str, UnitSet]) -> dict[str, UnitSet]:
    ids, _, adds = _joined(found)
    if not np.array_equal(ids, images):
      return found  # Of other images: it is left out.
    return {str(i): UnitSet(pa.array(ids[place]), adds[place]) for i, place in enumerate(places)}

  return {name: {seed: divided(found) for seed, found in by_seed.items()}
          for name, by_seed in answers.items()}


def _joined(found: Mapping[str, UnitSet]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
  """The ids of all units, the number of each unit's set and what it adds, in the order of ids."""
  ids = np.concatenate([units.ids.to_numpy(zero_copy_only=False) for units in found.values()])
  sets = np.repeat(np.arange(len(found)), [len(units.adds) for units in found.values()])
  order = np.argsort(ids, kind="stable")
  return ids[order], sets[order], np.concatenate([u.adds for u in found.values()])[order]


def _in_order(found: Mapping[str, UnitSet], reference: Mapping[str, UnitSet]
              ) -> list[np.ndarray] | None:
  """What the units add, in the reference's order; None if they are others."""
  from pyarrow import compute  # pylint: disable=import-outside-toplevel
  if list(found) != list(reference):
    return None
  rows = []
  for name, units in found.items():
    if units.ids.equals(reference[name].ids):
      rows.append(units.adds)
      continue
    places = compute.index_in(reference[name].ids, value_set=units.ids)
    if places.null_count or len(places) != len(units.ids):
      return None
    rows.append(units.adds[places.to_numpy()])
  return rows


def units_of(run: run_dir.Run, key: str) -> dict[str, UnitSet]:
  """Returns what each unit adds to a score of a finished run, by test set.

  Args:
    run: with saved predictions.
    key: name of the score in the summary.

  Raises:
    ValueError: predictions are missing, or the answers do not add up to the score.
  """
  value = table_dir.value(run.summary, key)
  tested = schema.of_tests(run.records)
  if not isinstance(value, (int, float)) or not math.isfinite(value):
    raise ValueError(f"it has no {key.replace('_', ' ')}")
  if not tested or any(not r.get(schema.PREDICTIONS) for r in tested):
    raise ValueError("it has no saved predictions")
  if parts := sum(bool(record.get(schema.ESTIMATED)) for record in tested):
    raise ValueError(f"{parts} of its {len(tested)} test sets were asked a part of the answers, "
                     "and a paired test needs all")
  for shares in _ways(run, key, tested):
    if abs(sum(share.total(r) for share, r in zip(shares, tested)) - value) <= _CLOSE:
      return _units(run, tested, shares)
  raise ValueError(f"its {key.replace('_', ' ')} is no mean of saved answers")


class _Share(NamedTuple):
  """How the answers of one event enter a score.

  Attributes:
    test_set: name of the units' set.
    weight: of the share of correct answers, or of errors.
    is_error: whether a wrong answer adds.
  """

  test_set: str
  weight: float
  is_error: bool = False

  def total(self, record: Mapping[str, Any]) -> float:
    share = record[schema.CORRECT] / record[schema.SEEN]
    return self.weight * (1 - share if self.is_error else share)


def _ways(run: run_dir.Run, key: str, tested: Sequence[Mapping[str, Any]]) -> list[list[_Share]]:
  """The ways in which a score may be a mean of the answers of its events; the totals decide."""
  if any(not isinstance(r.get(schema.CORRECT), int) or not r.get(schema.SEEN) for r in tested):
    return []
  kinds = run.description.panels
  if descriptions.BUCKETS in kinds and all(schema.TRAINED_BUCKET in r for r in tested):
    return _of_matrix(key, tested)
  if descriptions.TASKS in kinds:
    is_mean = [r.get(schema.METRIC, "error") == "error" for r in tested]  # No average precision.
    chosen = [[r.get(schema.ROLE) == _META_TEST for r in tested], [True] * len(tested)]
    return [[_Share(str(r.get(schema.TASK_KEY, i)), one / sum(those), is_error=True)
             for i, (r, one) in enumerate(zip(tested, those))] for those in chosen
            if any(those) and all(mean for mean, one in zip(is_mean, those) if one)]
  total = sum(r[schema.SEEN] for r in tested)
  return [[_Share("", r[schema.SEEN] / total, is_error) for r in tested]
          for is_error in (False, True)]


def _of_matrix(key: str, tested: Sequence[Mapping[str, Any]]) -> list[list[_Share]]:
  """Weights of the cells of an accuracy matrix: the score of a matrix with a 1 in that cell.

  One name may be of two scores, CLEAR's and one of the incremental protocol.
  """
  size = 1 + max(max(r[schema.BUCKET], r[schema.TRAINED_BUCKET]) for r in tested)
  blank = np.full([size, size], np.nan)
  for record in tested:
    blank[record[schema.TRAINED_BUCKET], record[schema.BUCKET]] = 0.0
  ways = []
  for name, score in (*matrix.scores().items(), *_INCREMENTAL.items()):
    if name != key or score(blank) != 0.0:
      continue
    shares = []
    for record in tested:
      cell = blank.copy()
      cell[record[schema.TRAINED_BUCKET], record[schema.BUCKET]] = 1.0
      shares.append(_Share(str(record[schema.BUCKET]), score(cell)))
    ways.append(shares)
  return ways


def _units(run: run_dir.Run, tested: Sequence[Mapping[str, Any]], shares: Sequence[_Share]
           ) -> dict[str, UnitSet]:
  """Adds up the answers of each unit; events of weight 0 are not read."""
  import pyarrow as pa  # pylint: disable=import-outside-toplevel
  from pyarrow import compute  # pylint: disable=import-outside-toplevel
  from pyarrow import parquet  # pylint: disable=import-outside-toplevel
  parts: dict[str, list[tuple[Any, np.ndarray]]] = {}
  for record, share in zip(tested, shares):
    if not share.weight:
      continue
    path = run.folder / record[schema.PREDICTIONS]
    try:
      with parquet.ParquetFile(path) as file:
        table = file.read(columns=["id", "correct"], use_threads=False)
    except Exception as error:  # Arrow raises errors of many kinds on missing and damaged files.
      raise ValueError(f"{path.name} of its saved predictions cannot be read (suite verify says "
                       "more)") from error
    ids = table.column("id").combine_chunks()
    correct = table.column("correct").to_numpy()
    if len(correct) != record[schema.SEEN] or int(correct.sum()) != record[schema.CORRECT]:
      raise ValueError(f"{path.name} of its saved predictions is not what its record counted")
    adds = share.weight * (~correct if share.is_error else correct) / len(correct)
    episodes = episodic.num_episodes(record)
    if episodes and len(adds) % episodes == 0:  # Images of an episode are one unit.
      adds = adds.reshape(episodes, -1).sum(axis=1)
      ids = pa.array([f"episode {i}" for i in range(episodes)])
    parts.setdefault(share.test_set, []).append((ids, adds))
  found = {}
  for name, several in parts.items():
    first = several[0][0]
    if all(ids.equals(first) for ids, _ in several):
      found[name] = UnitSet(first, np.sum([adds for _, adds in several], axis=0))
      continue
    joined = pa.concat_arrays([ids for ids, _ in several])
    units = compute.unique(joined)
    places = compute.index_in(joined, value_set=units).to_numpy()
    found[name] = UnitSet(units, np.bincount(
        places, np.concatenate([adds for _, adds in several]), minlength=len(units)))
  return found


def mark(tested: Tested | None, name: str) -> str:
  """The mark of a method in the group of the best, "" for others and where nothing was tested."""
  return MARK if tested is not None and name in tested.best else ""


def of_table(table: table_dir.TableDir) -> list[panels.Panel]:
  """Builds the panels of each column and measure of a table as in a paper; its rows are methods."""
  folders = [folder for row, column in table.pairs() for seed in table.seeds
             if table_dir.is_finished(folder := table.cell(row, column, seed))]
  by_cell: dict[tuple[pathlib.Path, str], list[run_dir.Run]] = {}
  for run in run_dir.load(folders) if folders else ():
    by_cell.setdefault((run.folder.parents[1], run.learner), []).append(run)
  found = []
  for column in table.columns:
    learners = {}
    for row in table.rows:
      home = table.cell(row, column, "").resolve()
      names = [name for folder, name in by_cell if folder == home]
      learners.update({row if len(names) == 1 else f"{row} {name}": run_streams.LearnerRuns(
          row, by_cell[home, name]) for name in names})
    runs = [run for learner in learners.values() for run in learner.runs]
    for key, heading in table.measures.items() if len(learners) > 1 else ():
      tested = test(learners, runs[0].description.measure(key))
      if tested:
        found += build(tested, f"{table.title}: {column} {heading}",
                       f"{table_dir.folder_name(column)}_{key}".lower())
  return found


def build(tested: Tested, title: str, suffix: str = "") -> list[panels.Panel]:
  """Builds the panel of methods and that of pairs.

  Args:
    tested: of the methods.
    title: of the score.
    suffix: of the panels' names, where a section has several.
  """
  name = f"_{suffix}" if suffix else ""
  order = tested.order
  lower = tested.measure.better == descriptions.LOWER
  rows = [[tested.names[i], *(
      _nothing() if i == j else _p_value(tested.comparison.p_value[i, j]) for j in order)]
          for i in order]
  return [_methods(tested, title, f"significance{name}"), panels.Panel(
      f"pairs{name}", f"{title}, p-values of all pairs", [
          panels.Column("method"),
          *(panels.Column(tested.names[i], panels.MIXED) for i in order)], rows,
      ["Two-sided, corrected by Holm over all pairs; methods from the "
       f"{'lowest' if lower else 'highest'} score on."])]


def _methods(tested: Tested, title: str, name: str) -> panels.Panel:
  found, order = tested.comparison, tested.order
  first = order[0]
  rows = []
  for i in order:
    parts = found.parts[i]
    rows.append([
        tested.names[i], parts.num_seeds,
        quantities.Quantity(parts.mean, quantities.PERCENT, note=mark(tested, tested.names[i])),
        panels.plain(found.half_widths[i]), panels.plain(_root(parts.seeds)), _root(parts.units),
        *tested.ranks[i], tested.groups[i],
        *([None, None, _nothing(), _nothing()] if i == first else
          [found.difference[i, first], panels.plain(found.margin[i, first]),
           _p_value(found.p_value[i, first]),
           quantities.words(f"{found.seeds_apart[i, first]}/{found.num_seeds[i, first]}")])])
  notes = [
      f"{MARK} and rank from 1: in the group of the best, no method is better beyond chance. No "
      "two methods that share a letter differ beyond chance. Both hold for all pairs at once at 5% "
      "(Holm).",
      "Errors are standard errors of the mean: by seeds of training, and by the "
      f"{tested.num_units:,} test images or episodes. \"Minus the first\": against "
      f"{tested.names[first]}. Seeds apart: within how many seeds the two models differ by "
      "McNemar's test, or a z-test of weighted images; that is of these models, not of the "
      "methods."]
  fewest = min(parts.num_seeds for parts in found.parts)
  if fewest < 2:
    notes.append("One seed: intervals and p-values are of the test images alone, and say nothing "
                 "of other seeds of training.")
  elif fewest < _FEW_SEEDS:
    notes.append(f"{fewest} seeds: where training differs from seed to seed, only large "
                 f"differences can be shown; {_FEW_SEEDS} to 10 seeds show smaller ones.")
  notes += [f"Not compared: {one}: {why}." for one, why in tested.left_out.items()]
  return panels.Panel(
      name, f"{title}, tested", [
          panels.Column("method"), panels.Column("seeds", panels.COUNT),
          panels.Column("score", panels.MIXED), panels.Column("± 95%", panels.PERCENT),
          panels.Column("error by seeds", panels.PERCENT),
          panels.Column("error by images", panels.PERCENT),
          panels.Column("rank from", panels.COUNT), panels.Column("rank to", panels.COUNT),
          panels.Column("groups"), panels.Column("minus the first", panels.PERCENT),
          panels.Column("± 95% of it", panels.PERCENT), panels.Column("p, Holm", panels.MIXED),
          panels.Column("seeds apart", panels.MIXED)],
      rows, notes, best=frozenset(
          (k, 2) for k, i in enumerate(order) if tested.names[i] in tested.best))


def _p_value(value: float) -> quantities.Quantity:
  return quantities.Quantity(
      panels.plain(value), quantities.NUMBER,
      printed=f"< {_LEAST}" if value < _LEAST else None)


def _nothing() -> quantities.Quantity:
  return quantities.words(quantities.NOTHING)


def _root(variance: float) -> float:
  return math.sqrt(variance) if variance == variance else math.nan

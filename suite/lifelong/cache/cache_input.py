# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Validation and packing of names, ids and answers for an accuracy cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
import itertools
from typing import Any

import numpy as np

from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids

NOT_EVALUATED = -1
CacheError = piece_files.CacheError
_SHOWN = 3  # Number of bad ids in a message.


def checked_names(names: Sequence[str], known: Collection[str]) -> list[str]:
  """Returns the names as strings; raises an error if one is known or given twice."""
  names = [str(name) for name in names]
  if any(not name.strip() or "\n" in name for name in names):
    raise CacheError(f"Model {[not name.strip() or chr(10) in name for name in names].index(True)} "
                     f"of {len(names)} has an empty name, or one with a line break. Name each.")
  taken = sorted({name for name in names if name in known})
  if taken or len(set(names)) < len(names) or not names:
    raise CacheError(f"Model names must be new and each given once; already there: {taken[:5]}, "
                     f"given: {len(names)}, different: {len(set(names))}. Further answers of known "
                     "models: suite lifelong add.")
  return names


def paired(names: Sequence[str], answers: Iterable[np.ndarray]
           ) -> Iterator[tuple[str, np.ndarray]]:
  """Yields (name, row) of each model; raises an error if their numbers differ."""
  rows = iter(answers)
  for name in names:
    row = next(rows, None)
    if row is None:
      raise CacheError(f"There is no row of answers for model {name!r}.")
    yield name, row
  if next(rows, None) is not None:
    raise CacheError(f"There are more rows of answers than the {len(names)} names.")


def checked(answers: np.ndarray, what: str) -> np.ndarray:
  """Returns answers as int8; raises an error unless all are 0, 1 or -1."""
  answers = np.asarray(answers)
  if answers.dtype == bool:
    return answers.view(np.int8)
  good = (answers == 1) | (answers == 0) | (answers == NOT_EVALUATED)
  if not good.all():
    wrong = np.unique(answers[~good])
    raise CacheError(f"Answers of {what} must be 1 (correct), 0 (wrong) or -1 (not evaluated); got "
                     f"{wrong[:5].tolist()} too. Graded scores take a threshold (--threshold).")
  return answers.astype(np.int8, copy=False)


def checked_values(scores: np.ndarray, what: str) -> np.ndarray:
  """Returns scores as float32, NaN where not evaluated; an error if one is infinite."""
  found = np.asarray(scores, np.float64)
  if np.isinf(found).any():
    raise CacheError(f"Scores of {what} must be finite numbers, or NaN where it was not evaluated; "
                     f"got {found[np.isinf(found)][0]:g} at place {np.argwhere(np.isinf(found))[0]}"
                     ".")
  return found.astype(piece_files.CELLS[piece_files.VALUE])


def packed(row: np.ndarray, order: np.ndarray | None, size: int, name: str,
           middle: float | None = None) -> dict[str, np.ndarray]:
  """The bytes of a row of a model's answers to `size` samples, see `piece_files.packed`.

  With a `middle` the answers are scores that are kept, and correct from the middle on.
  """
  row = (checked(row, f"model {name!r}") if middle is None else
         checked_values(row, f"model {name!r}"))
  missing = np.int8(NOT_EVALUATED) if middle is None else np.float32(np.nan)
  row = _ordered(row, order, size, name, missing)
  seen = row != NOT_EVALUATED if middle is None else ~np.isnan(row)
  cells = {piece_files.RIGHT: row == 1 if middle is None else row >= middle, piece_files.SEEN: seen}
  if middle is not None:
    cells[piece_files.VALUE] = np.ascontiguousarray(row)
  return piece_files.packed(cells)


def numbered(packed_row: dict[str, np.ndarray], numbers: np.ndarray, order: np.ndarray | None,
             size: int, name: str) -> dict[str, np.ndarray]:
  """A packed row with the numbers of generations that its scores are means of."""
  numbers = np.asarray(numbers)
  if numbers.dtype.kind not in "iu" or np.any((numbers < 0) | (numbers >= 1 << 16)):
    raise CacheError(f"Numbers of generations of model {name!r} must be whole, from 0 to 65,535; "
                     f"got {numbers.dtype} from {numbers.min()} to {numbers.max()}.")
  found = _ordered(numbers, order, size, name, 0).astype(piece_files.CELLS[piece_files.NUMBER])
  return {**packed_row, piece_files.NUMBER: found.view(np.uint8)}


def _ordered(row: np.ndarray, order: np.ndarray | None, size: int, name: str, missing: Any
             ) -> np.ndarray:
  """A row in the order of the cache."""
  expected = size if order is None else int((order >= 0).sum())
  if row.shape != (expected,):
    raise CacheError(f"Model {name!r} has answers of shape {list(row.shape)}; expected "
                     f"[{expected}], one for each sample.")
  return row if order is None else np.where(order >= 0, row[np.maximum(order, 0)], missing)


def new_ids(ids: Sequence[str] | None, known: sample_ids.SampleIds) -> Sequence[str]:
  """Returns ids (a list of strings, or a `range`) of new samples; an error if one is not new."""
  if ids is None:
    raise CacheError("An empty cache takes its samples from the first models: give their ids.")
  if not isinstance(ids, range):
    ids = [str(one) for one in ids]
  bad: list[str] = []
  hashed = None
  if not isinstance(ids, range):
    hashed = sample_ids.hashes(ids)
    # Some of the ids that are given twice; equal ids have equal hashes.
    order = np.argsort(hashed, kind="stable")
    same = hashed[order][1:] == hashed[order][:-1]
    met: set[str] = set()
    found: list[str] = []
    for place in order[np.append(same, False) | np.insert(same, 0, False)].tolist():
      if ids[place] in met and len(found) < _SHOWN:
        found.append(ids[place])
      met.add(ids[place])
    bad = [*found, *[one for one in ids if not one or "\n" in one][:_SHOWN]]
  places = known.find(ids, hashed)
  bad += [ids[index] for index in np.flatnonzero(places >= 0)[:_SHOWN].tolist()]
  if bad or not len(ids):
    raise CacheError(
        f"Of {len(ids)} sample ids, some are in the cache already, given twice, empty or have "
        f"line breaks: {[str(one) for one in bad[:3]]}. Each sample has one id; a corrected label "
        "makes a new sample, with a new id such as 'x@2'.")
  return ids


def columns(ids: Sequence[str] | None, known: sample_ids.SampleIds) -> np.ndarray | None:
  """Column of the rows for each sample of the cache, -1 for none; None: the same order."""
  if ids is None or len(ids) == len(known) and all(
      str(mine) == one for mine, one in zip(ids, itertools.chain.from_iterable(known.chunks()))):
    return None
  if not isinstance(ids, range):
    ids = [str(one) for one in ids]
  places = known.find(ids)
  unknown = np.flatnonzero(places < 0)
  if unknown.size:
    raise CacheError(f"{unknown.size} ids are not in the cache, such as "
                     f"{[str(ids[place]) for place in unknown[:3].tolist()]}: add these samples "
                     "first (suite lifelong add-samples, or add_samples), or with the models: "
                     "suite lifelong add.")
  order = np.full(len(known), -1, np.int64)
  order[places] = np.arange(len(ids))
  twice = np.flatnonzero(order[places] != np.arange(len(ids)))
  if twice.size:
    raise CacheError(f"{twice.size} of the {len(ids)} ids are given twice, such as "
                     f"{[str(ids[place]) for place in twice[:_SHOWN].tolist()]}.")
  return order

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Validation and packing of names, ids and answers for an accuracy cache."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence

import numpy as np

from suite.lifelong.cache import bit_rows

NOT_EVALUATED = -1
_ALLOWED = (NOT_EVALUATED, 0, 1)


class CacheError(ValueError):
  """The cache, or the data to be added to it, is invalid; the message names the remedy."""


def checked_names(names: Sequence[str], known: Collection[str]) -> list[str]:
  """Returns the names as strings; raises an error if one is known or given twice."""
  names = [str(name) for name in names]
  taken = sorted({name for name in names if name in known})
  if taken or len(set(names)) < len(names) or not names:
    raise CacheError(f"Model names must be new and each given once; already there: {taken[:5]}, "
                     f"given: {len(names)}, different: {len(set(names))}.")
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
    return answers.astype(np.int8)
  wrong = np.unique(answers[~np.isin(answers, _ALLOWED)])
  if wrong.size:
    raise CacheError(f"Answers of {what} must be 1 (correct), 0 (wrong) or -1 (not evaluated); got "
                     f"{wrong[:5].tolist()} too.")
  return answers.astype(np.int8)


def packed(row: np.ndarray, order: np.ndarray | None, sizes: Sequence[int], name: str
           ) -> list[tuple[np.ndarray, np.ndarray | None]]:
  """Packs (correct, seen) bits of a model for each sample batch; seen is None if complete."""
  row = checked(row, f"model {name!r}")
  expected = sum(sizes) if order is None else int((order >= 0).sum())
  if row.shape != (expected,):
    raise CacheError(f"Model {name!r} has answers of shape {list(row.shape)}; expected "
                     f"[{expected}], one for each sample.")
  if order is not None:
    row = np.where(order >= 0, row[np.maximum(order, 0)], np.int8(NOT_EVALUATED))
  parts, start = [], 0
  for size in sizes:
    part = row[start:start + size]
    seen = part != NOT_EVALUATED
    parts.append((bit_rows.pack(part == 1), None if seen.all() else bit_rows.pack(seen)))
    start += size
  return parts

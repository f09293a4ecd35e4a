# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Answers as a list of (model, id, score), and the matrix that they make.

A score is 1 (correct), 0 (wrong) or in between; a missing one was not evaluated. Several scores of
one model on one sample are repeated runs, or a mistake: only equal ones are taken unless their mean
is asked for.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Callable

import numpy as np
import pyarrow as pa
from pyarrow import compute

from suite.lifelong.cache import cache_input

REFUSE, MEAN = "refuse", "mean"
_WORDS = {"": np.nan, "nan": np.nan, "null": np.nan, "none": np.nan, "na": np.nan, "n/a": np.nan,
          "<na>": np.nan, "true": 1.0, "false": 0.0, "correct": 1.0, "wrong": 0.0,
          "incorrect": 0.0, "-1": np.nan, "-1.0": np.nan}


@dataclasses.dataclass(frozen=True, eq=False)
class Entries:
  """n entries of one file.

  Attributes:
    models, ids: pyarrow strings [n].
    scores: float64 [n], NaN where not evaluated.
    path: the file; `first_line`: the line of the first entry.
  """

  models: pa.Array
  ids: pa.Array
  scores: np.ndarray
  path: str
  first_line: int = 1

  def where(self, index: int) -> str:
    return f"{self.path}, line {index + self.first_line}"


def scores(column: pa.ChunkedArray | pa.Array, where: Callable[[int], str]) -> np.ndarray:
  """Reads a column of numbers, booleans or text as scores in [0, 1], NaN for missing: [n].

  `where` says where an entry is, for messages.
  """
  if isinstance(column, pa.ChunkedArray):
    column = column.combine_chunks()
  if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type) or (
      pa.types.is_floating(column.type)):
    found = np.array(column.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False))
    found[found == cache_input.NOT_EVALUATED] = np.nan
    values, places, texts = found, None, None
  else:
    coded = compute.dictionary_encode(compute.fill_null(column.cast(pa.string()), ""))
    texts = coded.dictionary.to_pylist()
    values = np.array([_score(text) for text in texts], np.float64)
    places = coded.indices.to_numpy()
    found = values[places]
  bad = np.flatnonzero(np.isinf(found) | (found < 0) | (found > 1))
  if bad.size:
    shown = found[bad[0]] if texts is None or places is None else texts[places[bad[0]]]
    raise cache_input.CacheError(
        f"{where(int(bad[0]))}: {shown!r} is no answer; expected 1, 0, true, "
        "false, a score between 0 and 1, or nothing for what was not evaluated. Correct the line.")
  return found


def matrix(entries: Sequence[Entries], repeats: str = REFUSE
           ) -> tuple[list[str], list[str], np.ndarray]:
  """Returns (M models, N ids, scores float64 [M, N], NaN where not evaluated).

  Models and ids are in the order of their first entry.
  """
  models, model_of = _coded([one.models for one in entries])
  ids, id_of = _coded([one.ids for one in entries])
  for name, values, places in (("model", models, model_of), ("id", ids, id_of)):
    empty = [index for index, value in enumerate(values) if not value.strip()]
    if empty:
      raise cache_input.CacheError(f"{_where(entries, int(np.argmax(places == empty[0])))}: an "
                                   f"empty {name}. Fill it in, or remove the line.")
  found = np.concatenate([one.scores for one in entries])
  keys = model_of.astype(np.int64) * len(ids) + id_of
  known = ~np.isnan(found)
  size = len(models) * len(ids)
  sums, nums = np.zeros(size), np.zeros(size, np.int64)
  np.add.at(sums, keys[known], found[known])
  np.add.at(nums, keys[known], 1)
  means = np.divide(sums, nums, out=np.full(size, np.nan), where=nums > 0)
  if repeats == REFUSE:
    differing = np.flatnonzero(known & (np.abs(means[keys] - found) > 1e-12))
    if differing.size:
      later = int(differing[0])
      same = np.flatnonzero(known & (keys == keys[later]))
      raise cache_input.CacheError(
          f"{_where(entries, int(same[-1]))}: model {models[model_of[later]]!r} and id "
          f"{ids[id_of[later]]!r} have another answer than in {_where(entries, int(same[0]))}. "
          "Remove one; or, if these are repeated runs, take their mean: --repeats mean.")
  return models, ids, means.reshape(len(models), len(ids))


def _where(entries: Sequence[Entries], index: int) -> str:
  for one in entries:
    if index < len(one.scores):
      return one.where(index)
    index -= len(one.scores)
  raise IndexError(index)


def _coded(columns: Sequence[pa.Array]) -> tuple[list[str], np.ndarray]:
  """Different values in the order of their first appearance, and the index of each entry."""
  coded = compute.dictionary_encode(pa.concat_arrays([
      compute.fill_null(one.cast(pa.string()), "") for one in columns]))
  return coded.dictionary.to_pylist(), coded.indices.to_numpy()


def _score(text: str) -> float:
  text = text.strip().lower()
  if text in _WORDS:
    return _WORDS[text]
  try:
    return float(text)
  except ValueError:
    return np.inf

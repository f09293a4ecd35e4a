# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Answers as a list of (model, sample, score), and the matrix that they make.

The key of an answer is (task, document) of one model; a sample's id is TASK/DOCUMENT, or DOCUMENT
where no task is known. Metric and filter are a selection that is made before. The hash of a
document is a check: two hashes under one key are two questions under one name, which is refused.

A score is 1 (correct), 0 (wrong) or in between; a missing one was not evaluated. Lines that are
given twice are merged if they are equal, and counted; different answers of one model to one sample
are refused, or, if they are repeated runs, averaged.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
import contextlib
import dataclasses
import hashlib
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import compute

from suite.lifelong.cache import cache_input

REFUSE, MEAN, FOLDER = "refuse", "mean", "folder"
_WORDS = {"": np.nan, "nan": np.nan, "null": np.nan, "none": np.nan, "na": np.nan, "n/a": np.nan,
          "<na>": np.nan, "true": 1.0, "false": 0.0, "correct": 1.0, "wrong": 0.0,
          "incorrect": 0.0, "-1": np.nan, "-1.0": np.nan}
_NAMED = 3  # Number of columns or samples that a message names.


@dataclasses.dataclass(frozen=True, eq=False)
class Entries:
  """n entries of one file.

  Attributes:
    models, ids: pyarrow strings [n].
    scores: float64 [n], NaN where not evaluated.
    path: the file; `first_line`: the line of the first entry.
    places: int64 [n], the line or place of each entry, if they are not consecutive lines.
    hashes: uint64 [n], hash of each document; 0: not known; None: none is known.
    repeats: pyarrow strings [n] that tell repeated runs apart (trial, epoch); None: nothing does.
    others: the columns of the table that were not read, [n], to say what tells lines apart.
    unit: what a place counts.
    of_folder: whether the model is the folder's name, since nothing names it.
  """

  models: pa.Array
  ids: pa.Array
  scores: np.ndarray
  path: str
  first_line: int = 1
  places: np.ndarray | None = None
  hashes: np.ndarray | None = None
  repeats: pa.Array | None = None
  others: pa.Table | None = None
  unit: str = "line"
  of_folder: bool = False

  def where(self, index: int) -> str:
    place = index + self.first_line if self.places is None else int(self.places[index])
    return f"{self.path}, {self.unit} {place}"


@dataclasses.dataclass(frozen=True, eq=False)
class Joined:
  """The matrix of entries.

  Attributes:
    models, ids: M and N names, in the order of their first entry.
    scores: float64 [M, N], NaN where not evaluated.
    hashes: uint64 [N], hash of each document, 0 if unknown; None: none is known.
    sources: int64 [N], index of the `Entries` that has the hash of a document.
    num_merged: number of lines that repeat another one.
    num_averaged: number of answers that are means of repeated runs.
    numbers: int64 [M, N], runs of each answer; None: no answer is a mean.
  """

  models: list[str]
  ids: list[str]
  scores: np.ndarray
  hashes: np.ndarray | None
  sources: np.ndarray | None
  num_merged: int
  num_averaged: int
  numbers: np.ndarray | None


def document_hash(text: str) -> int:
  """A hash of a document, or the beginning of the SHA-256 that a log has of it: 1 to 2^64 - 1."""
  if len(text) == 64:
    with contextlib.suppress(ValueError):
      return int(text[:16], 16) or 1
  return int.from_bytes(hashlib.sha256(text.encode("utf-8", "replace")).digest()[:8], "big") or 1


def scores(column: pa.ChunkedArray | pa.Array, where: Callable[[int], str],
           any_number: bool = False) -> np.ndarray:
  """Reads a column of numbers, booleans or text as scores in [0, 1], NaN for missing: [n].

  Args:
    column: of a table or a log.
    where: says where an entry is, for messages.
    any_number: scores are finite numbers of any range. -1 is one of them then, and a NaN that is
      written out is refused: it is no score, and not what was left empty.
  """
  if isinstance(column, pa.ChunkedArray):
    column = column.combine_chunks()
  if pa.types.is_boolean(column.type) or pa.types.is_integer(column.type) or (
      pa.types.is_floating(column.type)):
    found = np.array(column.cast(pa.float64()).fill_null(np.nan).to_numpy(zero_copy_only=False))
    if any_number:
      if pa.types.is_floating(column.type):
        found[compute.fill_null(compute.is_nan(column), False).to_numpy(
            zero_copy_only=False)] = np.inf
    else:
      found[found == cache_input.NOT_EVALUATED] = np.nan
    values, places, texts = found, None, None
  else:
    coded = compute.dictionary_encode(compute.fill_null(column.cast(pa.string()), ""))
    texts = coded.dictionary.to_pylist()
    values = np.array([score(text) for text in texts], np.float64)
    if any_number:
      for place, text in enumerate(texts):
        word = text.strip().lower()
        values[place] = {"-1": -1.0, "-1.0": -1.0, "nan": np.inf}.get(word, values[place])
    places = coded.indices.to_numpy()
    found = values[places] if len(texts) else np.zeros(0)
  outside = ~np.isnan(found) & ((found < 0) | (found > 1)) & (not any_number)
  bad = np.flatnonzero(np.isinf(found) | outside)
  if bad.size:
    shown = found[bad[0]] if texts is None or places is None else texts[places[bad[0]]]
    if any_number:
      shown = column[int(bad[0])].as_py() if texts is None else shown
      raise cache_input.CacheError(
          f"{where(int(bad[0]))}: {shown!r} is no score; expected a finite number, or nothing for "
          "what was not evaluated. Correct it.")
    raise cache_input.CacheError(
        f"{where(int(bad[0]))}: {shown!r} is no answer; expected 1, 0, true, "
        "false, a score between 0 and 1, or nothing for what was not evaluated. Correct the line, "
        "or keep scores of any range: --values.")
  return found


def score(value: Any) -> float:
  """A value as a score, NaN for missing; infinite if it is no number."""
  if isinstance(value, str):
    word = value.strip().lower()
    if word in _WORDS:
      return _WORDS[word]
    with contextlib.suppress(ValueError):  # A comma, as spreadsheets of some countries write.
      return float(word.replace(",", ".") if word.count(",") == 1 else word)
    return np.inf
  if value is None:
    return np.nan
  return float(value) if isinstance(value, (bool, int, float)) else np.inf


def join(entries: Sequence[Entries], repeats: str = REFUSE) -> Joined:
  """Makes the matrix of entries.

  Args:
    entries: of all files.
    repeats: `REFUSE` different answers of one model to one sample, take their `MEAN`, or by
      `FOLDER` also that of logs of which nothing but their folder says that they are of one model.

  Raises:
    CacheError: an empty name, two documents under one id, or different answers of one model to one
      sample; it names the lines. Also files of one folder that may be of several models.
  """
  models, model_of = _coded([one.models for one in entries])
  ids, id_of = _coded([one.ids for one in entries])
  for name, values, places in (("model", models, model_of), ("id", ids, id_of)):
    empty = [index for index, value in enumerate(values) if not value.strip()]
    if empty:
      raise cache_input.CacheError(f"{_where(entries, int(np.argmax(places == empty[0])))}: an "
                                   f"empty {name}. Fill it in, or remove the line.")
  hashes, sources = _hashes(entries, ids, id_of)
  found = np.concatenate([one.scores for one in entries])
  keys = model_of.astype(np.int64) * len(ids) + id_of
  known = ~np.isnan(found)
  size = len(models) * len(ids)
  sums, nums = np.zeros(size), np.zeros(size, np.int64)
  np.add.at(sums, keys[known], found[known])
  np.add.at(nums, keys[known], 1)
  means = np.divide(sums, nums, out=np.full(size, np.nan), where=nums > 0)
  num_merged = num_averaged = 0
  if int(known.sum()) > int((nums > 0).sum()):
    num_merged, num_averaged = _checked_repeats(
        entries, models, ids, found, keys, known, nums, repeats)
  shape = len(models), len(ids)
  return Joined(models, ids, means.reshape(shape), hashes, sources, num_merged, num_averaged,
                nums.reshape(shape) if num_averaged else None)


def _checked_repeats(entries: Sequence[Entries], models: Sequence[str], ids: Sequence[str],
                     found: np.ndarray, keys: np.ndarray, known: np.ndarray, nums: np.ndarray,
                     repeats: str) -> tuple[int, int]:
  """Refuses answers that may not be joined; (merged lines, averaged answers) of the others."""
  later = np.flatnonzero(known & (nums[keys] > 1))
  # The first entry of each key comes first: pairs of a repeated entry and the first of its key.
  order = later[np.argsort(keys[later], kind="stable")]
  starts = np.flatnonzero(np.diff(keys[order], prepend=-1))
  firsts = np.repeat(order[starts], np.diff(np.append(starts, len(order))))
  pairs = np.stack([firsts, order], axis=1)[firsts != order]
  pairs = pairs[np.argsort(pairs[:, 1], kind="stable")]
  differ = np.abs(found[pairs[:, 0]] - found[pairs[:, 1]]) > 1e-12
  recognised = _are_repeats(entries, pairs)
  file_of = np.repeat(np.arange(len(entries)), [len(one.scores) for one in entries])[pairs]
  of_folder = np.array([one.of_folder for one in entries])[file_of].all(1)
  may_be_two = of_folder & (file_of[:, 0] != file_of[:, 1]) & (repeats != FOLDER)
  if repeats != REFUSE and recognised is not False and not may_be_two.any():
    return 0, int((nums > 1).sum())
  columns = _differing_columns(entries, pairs)
  if not recognised and not differ.any() and not columns:
    return len(pairs), 0  # The same lines again.
  first, second = pairs[int(np.argmax(both if (both := differ & may_be_two).any() else differ))]
  model, sample = models[keys[second] // len(ids)], ids[keys[second] % len(ids)]
  what = "another answer than" if differ.any() else "an answer, as"
  text = (f"{_where(entries, int(second))}: model {model!r} and id {sample!r} have {what} in "
          f"{_where(entries, int(first))}. ")
  if may_be_two.any():
    raise cache_input.CacheError(
        f"{text}These may be two models: no results beside the logs name them, and {model!r} is "
        "their folder. Move the logs of each model to a folder of its name. If they are repeated "
        f"runs of one model, {_mean_by(FOLDER)}")
  if recognised:
    raise cache_input.CacheError(f"{text}These are repeated runs: {_mean_by(MEAN)} Or leave all "
                                 "but one out.")
  if columns:
    names = " and ".join(repr(name) for name in columns[:_NAMED])
    raise cache_input.CacheError(
        f"{text}Such lines differ in column {names}: is it a part of the key (--task "
        f"{columns[0]}, --id COLUMN, --model COLUMN)? Otherwise keep one line of each.")
  raise cache_input.CacheError(f"{text}Remove one.")


def _mean_by(repeats: str) -> str:
  """Advice to take the mean; a cache of right and wrong asks at once from where on one is right."""
  return (f"take their mean, right from a half on: --repeats {repeats} --threshold 0.5; or keep it "
          f"as it is: --repeats {repeats} --values.")


def _are_repeats(entries: Sequence[Entries], pairs: np.ndarray) -> bool | None:
  """Whether both entries of all pairs are of runs that are told apart; None: nothing says so."""
  labels = []
  for one in entries:
    labels.append(one.repeats if one.repeats is not None else pa.nulls(len(one.ids), pa.string()))
  every = pa.concat_arrays(labels)
  first, second = (every.take(pa.array(pairs[:, side])) for side in (0, 1))
  if first.null_count == second.null_count == len(pairs):
    return None
  return bool(compute.all(compute.fill_null(compute.not_equal(first, second), False)).as_py())


def _differing_columns(entries: Sequence[Entries], pairs: np.ndarray) -> list[str]:
  """Columns of a table, beside those that were read, that tell the entries of pairs apart."""
  found, start = [], 0
  for one in entries:
    here = pairs[(pairs[:, 0] >= start) & (pairs[:, 1] < start + len(one.scores))] - start
    start += len(one.scores)
    if one.others is None or not len(here):
      continue
    for name in one.others.column_names:
      column = one.others[name]
      values = [column.take(pa.array(here[:, side])).cast(pa.string()) for side in (0, 1)]
      if compute.any(compute.not_equal(*(compute.fill_null(v, "") for v in values))).as_py():
        found.append(name)
  return list(dict.fromkeys(found))


def _hashes(entries: Sequence[Entries], ids: Sequence[str], id_of: np.ndarray
            ) -> tuple[np.ndarray | None, np.ndarray | None]:
  """The hash of each id, and which entries have it; refuses two hashes of one id."""
  if all(one.hashes is None for one in entries):
    return None, None
  every = np.concatenate([
      np.zeros(len(one.scores), np.uint64) if one.hashes is None else one.hashes
      for one in entries])
  known = np.flatnonzero(every)
  places, first = np.unique(id_of[known], return_index=True)
  found, at = np.zeros(len(ids), np.uint64), np.full(len(ids), -1)
  found[places], at[places] = every[known[first]], known[first]
  differing = known[every[known] != found[id_of[known]]]
  if differing.size:
    second = int(differing[0])
    raise cache_input.CacheError(
        f"{_where(entries, second)} and {_where(entries, int(at[id_of[second]]))}: "
        f"{ids[id_of[second]]!r} is not the same document; {len(np.unique(id_of[differing])):,} of "
        f"{len(places):,} documents differ. The logs are of different versions or orders of the "
        "task: evaluate again with one version, or give one of them another task name.")
  ends = np.cumsum([len(one.scores) for one in entries])
  return found, np.where(at >= 0, np.searchsorted(ends, at, side="right"), -1)


def _where(entries: Sequence[Entries], index: int) -> str:
  for one in entries:
    if index < len(one.scores):
      return one.where(index)
    index -= len(one.scores)
  raise IndexError(index)


def _coded(columns: Iterable[pa.Array]) -> tuple[list[str], np.ndarray]:
  """Different values in the order of their first appearance, and the index of each entry."""
  coded = compute.dictionary_encode(pa.concat_arrays([
      compute.fill_null(one.cast(pa.string()), "") for one in columns]))
  return coded.dictionary.to_pylist(), coded.indices.to_numpy()

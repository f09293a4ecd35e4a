# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Assigns the images of a table to the splits of a timeline.

Time buckets are by calendar year, by calendar month, of equal size, or as they are given.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import pathlib
from typing import Any, NamedTuple

import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import time_buckets
from suite.beside.curation.timelines import dated_table
from suite.compute import seeds
from suite.data.images import image_set

YEAR, MONTH, EQUAL, GIVEN = BY = ("year", "month", "equal", "bucket")
SEEDS = (0, 1, 2, 3, 4)  # Of the iid splits, as CLEAR's.
_FLAGS = tuple(f"iid_test_{seed}" for seed in SEEDS)
_UNITS = {YEAR: "datetime64[Y]", MONTH: "datetime64[M]"}


@dataclasses.dataclass(frozen=True, eq=False)
class Periods:
  """The rule by which a time has a bucket; buckets count from 1.

  Attributes:
    by: one of `BY`.
    names: of each bucket, in words: "2012", "2012-03 to 2012-05", or the times of its first and
      last image.
    periods: the years or months of each bucket; of equal size, the time of the first image; none
      if they are given.
  """

  by: str
  names: list[str]
  periods: list[np.ndarray]

  def of(self, times: np.ndarray) -> np.ndarray:
    """The bucket of each time [N]: int64 [N]; 0 if none has it.

    Times after the last image of buckets of equal size are in the last bucket.
    """
    if self.by == EQUAL:
      return np.searchsorted(np.concatenate(self.periods), times, side="right").astype(np.int64)
    keys, found = _keys(times, self.by), np.zeros(len(times), np.int64)
    for number, own in enumerate(self.periods, start=1):
      found[np.isin(keys, own)] = number
    return found


def divide(times: np.ndarray, ids: np.ndarray, by: str, num: int | None = None
           ) -> tuple[np.ndarray, Periods]:
  """Divides images by time; returns (bucket of each image: int64 [N] from 1, the rule).

  Args:
    times: float64 [N], seconds since 1970.
    ids: str [N], to order images of equal times.
    by: "year" or "month": calendar years or months (UTC) that have images; "equal": buckets whose
      sizes differ by at most one.
    num: number of buckets. By year and month, neighboring ones are joined, equally many for each
      bucket within one; None: a bucket for each.
  """
  if by not in BY:
    raise errors.CurationError(f"Unknown by={by!r}; allowed are {', '.join(BY)}.")
  if num is not None and num < 1:
    raise errors.CurationError(f"Got {num} buckets; at least 1 is needed.")
  if by == EQUAL:
    if num is None:
      raise errors.CurationError("Buckets of equal size need a number of them: --num N.")
    buckets = time_buckets.split(times, ids, num, most=None).astype(np.int64)
    spans = time_buckets.ranges(buckets, times, ids)
    firsts = [np.array([times[buckets == span.bucket].min()]) for span in spans]
    return buckets + 1, Periods(by, [f"{s.first_time} to {s.last_time}" for s in spans], firsts)
  keys = np.unique(_keys(times, by))
  if num is not None and num > len(keys):
    raise errors.CurationError(f"The images are of {len(keys)} {by}s, which cannot fill {num} "
                               f"buckets. Ask for at most {len(keys)}, or --by equal.")
  parts = np.array_split(keys, num or len(keys))
  names = [str(p[0]) if len(p) == 1 else f"{p[0]} to {p[-1]}" for p in parts]
  rule = Periods(by, names, parts)
  return rule.of(times), rule


def given(numbers: np.ndarray) -> tuple[np.ndarray, Periods]:
  """Returns (bucket of each image, the rule) of numbers that a table gives, int64 [N].

  They count from 1 without a gap, so that "bucket_03" is that of another data set, too.
  """
  found = np.unique(numbers)
  if found[0] != 1 or found[-1] != len(found):
    raise errors.CurationError(
        f"The table has the buckets {', '.join(map(str, found[:20]))}; they must count from 1 "
        "without a gap. Number them so, or leave images out.")
  return numbers, Periods(GIVEN, [f"bucket {number}" for number in found], [])


def _keys(times: np.ndarray, by: str) -> np.ndarray:
  return np.floor(times).astype(np.int64).astype("datetime64[s]").astype(_UNITS[by])


class PlannedImage(NamedTuple):
  """One image: its split, id, class (None: none), file, words for messages, and features."""

  split: str
  id: str
  label: str | None
  path: pathlib.Path
  where: str
  features: dict[str, Any]


class TimelinePlan(NamedTuple):
  """All images of a timeline.

  Attributes:
    images: in the order of ids.
    class_names: sorted; whole numbers by their values.
    files: the tables.
    facts: plain values for the metadata: how it was made, and what each bucket has.
  """

  images: list[PlannedImage]
  class_names: list[str]
  files: list[pathlib.Path]
  facts: dict[str, Any]


def make(table: dated_table.DatedTable, *, by: str, num: int | None = None,
         test: dated_table.DatedTable | None = None, test_share: float = 0.3) -> TimelinePlan:
  """Divides the images of a table by time.

  Labeled images of bucket b have the split "bucket_0b", and five random draws of a share of each
  class for testing; images without a label "unlabelled_bucket_0b", or "bucket_0b" if none of the
  bucket has a label. The order of the lines does not matter.

  Args:
    table: the images.
    by, num: see `divide`.
    test: images for testing only, in the splits "test_bucket_0b".
    test_share: share of the labeled images of a bucket that each draw has for testing.
  """
  if not 0 < test_share < 1:
    raise errors.CurationError(f"test_share={test_share}; allowed is a number between 0 and 1.")
  if by == GIVEN:
    if num is not None:
      raise errors.CurationError(f"Got --num {num} with --by bucket, which are as many as the "
                                 "table has. Leave it out.")
    buckets, rule = given(_given(table))
  else:
    buckets, rule = divide(table.times, table.ids, by, num)
  class_names = sorted({str(label) for label in table.labels if label})
  if all(name.isdecimal() for name in class_names):
    class_names.sort(key=lambda name: (int(name), name))  # "10" after "9".
  images: list[PlannedImage] = []
  known: list[dict[str, Any]] = []
  for number, name in enumerate(rule.names, start=1):
    rows = _in_order(table, np.flatnonzero(buckets == number))
    labeled = rows[table.labels[rows] != ""]
    others = rows[table.labels[rows] == ""]
    num_test = min(max(1, round(test_share * len(labeled))), len(labeled) - 1)
    draws = np.zeros([len(labeled), len(SEEDS)], bool)  # Whether an image tests in a draw.
    for column, seed in enumerate(SEEDS if num_test > 0 else ()):
      chosen = image_set.stratified_draw(table.labels[labeled], num_test,
                                         seeds.derive(seed, "timeline", number)[0])
      draws[chosen, column] = True
    end = f"bucket_{number:02d}"
    images += _planned(table, labeled, end, draws)
    images += _planned(table, others, f"unlabelled_{end}" if len(labeled) else end)
    known.append({"bucket": number, "name": name, "images": len(labeled),
                  "unlabelled": len(others), "test_images": 0,
                  "classes": sorted(set(table.labels[labeled].tolist()))})
  if test is not None:
    images += _tests(table, test, rule, class_names, known)
  facts = {"by": by, "num": len(rule.names), "test_share": test_share,
           "undated_left_out": table.num_undated, "buckets": known,
           "unlabelled_buckets": [one["bucket"] for one in known if not one["images"]]}
  return TimelinePlan(sorted(images, key=lambda one: (one.split, one.id)), class_names,
                      [one.path for one in (table, test) if one is not None], facts)


def _tests(table: dated_table.DatedTable, test: dated_table.DatedTable, rule: Periods,
           class_names: Sequence[str], known: Sequence[dict[str, Any]]) -> list[PlannedImage]:
  """Images of the test table, after checks against the other."""
  trained = {file.resolve() for file in table.files}
  both = [row for row, file in enumerate(test.files) if file.resolve() in trained]
  unlabelled = np.flatnonzero(test.labels == "").tolist()
  other = np.flatnonzero(~np.isin(test.labels, [*class_names, ""])).tolist()
  buckets = _given(test) if rule.by == GIVEN else rule.of(test.times)
  outside = np.flatnonzero((buckets < 1) | (buckets > len(rule.names))).tolist()
  for rows, what in ((both, f"are in {table.path}, too"), (unlabelled, "have no label"),
                     (other, f"have a label that no image of {table.path} has"),
                     (outside, f"are of a time that no bucket of {table.path} has")):
    if rows:
      raise errors.CurationError(f"{test.path}: {len(rows)} test images {what}: {test.say(rows)}. "
                                 "Leave them out.")
  images: list[PlannedImage] = []
  for facts in known:
    rows = _in_order(test, np.flatnonzero(buckets == facts["bucket"]))
    facts["test_images"] = len(rows)
    images += _planned(test, rows, f"test_bucket_{facts['bucket']:02d}", prefix="test/")
  return images


def _given(table: dated_table.DatedTable) -> np.ndarray:
  assert table.buckets is not None, "the table was read without its buckets"
  return table.buckets


def _in_order(table: dated_table.DatedTable, rows: np.ndarray) -> np.ndarray:
  """Rows in the order of time; images of one time in that of their ids."""
  return rows[np.lexsort((table.ids[rows], table.times[rows]))]


def _planned(table: dated_table.DatedTable, rows: np.ndarray, split: str,
             draws: np.ndarray | None = None, prefix: str = "") -> list[PlannedImage]:
  if draws is None:
    draws = np.zeros([len(rows), len(SEEDS)], bool)
  return [PlannedImage(
      split, f"{prefix}{table.ids[row]}", str(table.labels[row]) or None, table.files[row],
      f"{table.path.name}: {table.files[row]}",
      {"time": int(np.floor(table.times[row])), "place": -1 if prefix else place,
       **dict(zip(_FLAGS, draws[place].tolist()))}) for place, row in enumerate(rows.tolist())]

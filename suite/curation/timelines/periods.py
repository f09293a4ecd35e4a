# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Time buckets by calendar year, by calendar month, of equal size, or as they are given."""

from __future__ import annotations

import dataclasses

import numpy as np

from suite.curation import errors
from suite.curation import time_buckets

YEAR, MONTH, EQUAL, GIVEN = BY = ("year", "month", "equal", "bucket")
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

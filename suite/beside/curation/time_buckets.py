# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Time buckets of equal size, as in CLEAR (section 3, "Stream recreation")."""

from __future__ import annotations

import datetime
from typing import NamedTuple

import numpy as np

from suite.beside.curation import errors

NUM = 11  # CLEAR: bucket 0 for learning features, buckets 1 to 10 with labels.


class Range(NamedTuple):
  """One bucket: its number of images, and the first and last of them in time."""

  bucket: int
  size: int
  first_time: str
  last_time: str
  first_id: str
  last_id: str


def split(times: np.ndarray, ids: np.ndarray, num: int = NUM, *, most: int | None = NUM
          ) -> np.ndarray:
  """Computes the bucket of each image: int16 [N]; 0 is the oldest.

  Sizes differ by at most one; the first N mod `num` buckets are the larger ones. Images with equal
  times are ordered by id.

  Args:
    times: float [N].
    ids: str [N].
    num: number of buckets.
    most: greatest number of buckets; None: any.
  """
  if most is not None and not 1 <= num <= most:
    raise errors.CurationError(f"Got {num} buckets; CLEAR's layout has at most {most}.")
  if len(times) < num:
    raise errors.CurationError(f"{len(times)} images cannot fill {num} buckets: some would be "
                               f"empty. Ask for at most {len(times)}.")
  found = np.empty(len(times), np.int16)
  parts = np.array_split(np.lexsort((ids, times)), num)
  for bucket, rows in enumerate(parts):
    found[rows] = bucket
  return found


def ranges(buckets: np.ndarray, times: np.ndarray, ids: np.ndarray) -> list[Range]:
  """Computes the range of each bucket."""
  found = []
  for bucket in range(int(buckets.max()) + 1):
    rows = np.flatnonzero(buckets == bucket)
    rows = rows[np.lexsort((ids[rows], times[rows]))]
    first, last = rows[0], rows[-1]
    found.append(Range(bucket, len(rows), clock(times[first]), clock(times[last]), str(ids[first]),
                       str(ids[last])))
  return found


def clock(seconds: float) -> str:
  """Formats seconds since 1970: 1176089237 -> "2007-04-09T03:27:17Z"."""
  when = datetime.datetime(1970, 1, 1) + datetime.timedelta(seconds=float(seconds))
  return when.isoformat(timespec="seconds") + "Z"

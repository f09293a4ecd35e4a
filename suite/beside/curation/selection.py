# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Selection of candidates for review: the unambiguous top of each query, and background.

CLEAR, section 3, "Visio-linguistic curation", and figure 2: the images with the highest scores of
each bucket and query (the top 0.1%), each bucket by itself. An image in the top of two or more
queries belongs to none (the released code assigns it to the highest score). The background class
has the images with the lowest scores, a few for each query.
"""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
import fractions
import math
from typing import Any, NamedTuple

from absl import logging
import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import nearest_images
from suite.beside.curation import queries as queries_lib

_FINEST = 10**7  # Shares are converted to fractions: 0.29 of 100 are 29, and 1 / 3 of 3 is 1.
BACKGROUND_SHARE = fractions.Fraction(1, 10)  # Of the size of a class, from each query.


@dataclasses.dataclass(frozen=True)
class SelectionRule:
  """Numbers of images to select.

  Attributes:
    share: share of a bucket that is the top of each query.
    keep: number of the best unambiguous images to keep; None: all.
    background: number of images from the low end of each query; None: a tenth of a class; 0: no
      background class.
    first: first bucket to search; CLEAR's bucket 0 has no labels.
  """

  share: float = 0.001
  keep: int | None = None
  background: int | None = None
  first: int = 1

  def __post_init__(self) -> None:
    if not 0 < self.share <= 1:
      raise errors.CurationError(f"share={self.share}; a share is above 0 and at most 1: 0.001 is "
                                 "the top 0.1%.")
    if (self.keep is not None and self.keep < 1) or (self.background or 0) < 0 or self.first < 0:
      raise errors.CurationError(f"keep={self.keep}, background={self.background}, first="
                                 f"{self.first}; numbers of images cannot be negative, keep not 0.")

  def top(self, size: int) -> int:
    """Number of images in the top of a bucket of this size."""
    return int(fractions.Fraction(self.share).limit_denominator(_FINEST) * size)

  def low(self, top: int) -> int:
    """Number of background images from each query."""
    if self.background is not None:
      return self.background
    return max(1, int(BACKGROUND_SHARE * (self.keep or top)))


class Candidate(NamedTuple):
  """An image on a class's review sheet; rank 1 is the best, score the cosine to the query."""

  bucket: int
  label: str
  rank: int
  row: int
  score: float


class Ambiguous(NamedTuple):
  """An image in the top of several queries."""

  bucket: int
  row: int
  labels: list[str]


class Selection(NamedTuple):
  """Candidates by bucket, class and rank; ambiguous images; numbers by bucket."""

  candidates: list[Candidate]
  ambiguous: list[Ambiguous]
  counts: list[dict[str, Any]]


def select(features: feature_files.FeatureFiles, buckets: np.ndarray, order: np.ndarray,
           queries: queries_lib.Queries, rule: SelectionRule, by_faiss: bool | None = None
           ) -> Selection:
  """Searches all buckets from `rule.first` on.

  Args:
    features: [N, D].
    buckets: int [N].
    order: int [N]; of two images with equal scores the one with the lower value is first.
    queries: the Q queries.
    rule: numbers of images to select.
    by_faiss: see `nearest_images.search`.
  """
  sizes = np.bincount(buckets)
  numbers = _tops(sizes, rule)
  task = nearest_images.SearchTask(queries.vectors, buckets, numbers, order)
  found = nearest_images.search(features, task, by_faiss=by_faiss)
  lows = _background(features, task, found, rule, by_faiss)
  result = Selection([], [], [])
  for bucket in range(rule.first, len(sizes)):
    kept, ambiguous = _unambiguous(bucket, found[bucket], queries.names)
    chosen: list[Candidate] = []
    for name, best in zip(queries.names, kept):
      if rule.keep is not None and len(best.rows) < rule.keep:
        raise errors.CurationError(
            f"Class {name!r} has {len(best.rows)} unambiguous images in bucket {bucket}, fewer "
            f"than keep={rule.keep}. Keep fewer, give a larger share, or a query that sets it "
            "apart.")
      chosen += _ranked(bucket, name, nearest_images.Best(*(part[:rule.keep] for part in best)))
    chosen += _ranked(bucket, queries_lib.BACKGROUND, lows[bucket])
    by_class = {name: sum(one.label == name for one in chosen)
                for name in class_names(queries.names, rule)}
    result.candidates.extend(sorted(chosen, key=lambda one: (one.label, one.rank)))
    result.ambiguous.extend(sorted(ambiguous, key=lambda one: order[one.row]))
    result.counts.append({"bucket": bucket, "images": int(sizes[bucket]),
                          "top": int(numbers[bucket]), "ambiguous": len(ambiguous),
                          "candidates": by_class})
  empty = [name for name in queries.names
           if not any(one["candidates"][name] for one in result.counts)]
  if empty:
    raise errors.CurationError(f"Classes {errors.some(empty)} have no candidates: all of their top "
                               "is in the top of other queries, too. Rephrase the queries.")
  for one in result.counts:
    lacking = [name for name in queries.names if not one["candidates"][name]]
    if lacking:
      logging.warning("Bucket %d has no candidates of %s.", one["bucket"], ", ".join(lacking))
  return result


def class_names(names: Sequence[str], rule: SelectionRule) -> list[str]:
  """Names of the queries' classes and the background, in the order of labels (sorted)."""
  return sorted([*names, *([] if rule.background == 0 else [queries_lib.BACKGROUND])])


def _tops(sizes: np.ndarray, rule: SelectionRule) -> np.ndarray:
  """Number of images in the top of each bucket: int [B]; 0 for buckets that are not searched."""
  if rule.first >= len(sizes):
    raise errors.CurationError(f"first={rule.first}, but there are {len(sizes)} buckets, 0 to "
                               f"{len(sizes) - 1}. Ask for one of these.")
  numbers = np.array([0 if bucket < rule.first else rule.top(size)
                      for bucket, size in enumerate(sizes.tolist())])
  searched = numbers[rule.first:]
  smallest = int(sizes[rule.first:].min())
  if not searched.all():
    raise errors.CurationError(
        f"A share of {rule.share} of {smallest} images is not one image. Give a share of at least "
        f"{math.ceil(1e6 / smallest) / 1e6}, or make fewer buckets.")
  if rule.keep is not None and searched.min() < rule.keep:
    raise errors.CurationError(
        f"keep={rule.keep}, but the top {rule.share:.3%} of a bucket is {int(searched.min())} "
        "images. Keep fewer, or give a larger share.")
  return numbers


def _unambiguous(bucket: int, found: Sequence[nearest_images.Best], names: Sequence[str]) -> Any:
  """Returns ({class number: its Best without ambiguous rows}, [Ambiguous])."""
  claims: dict[int, list[str]] = {}
  for name, best in zip(names, found):
    for row in best.rows.tolist():
      claims.setdefault(row, []).append(name)
  ambiguous = [Ambiguous(bucket, row, labels) for row, labels in claims.items() if len(labels) > 1]
  several = np.array([one.row for one in ambiguous], np.int64)
  kept = []
  for best in found:
    alone = ~np.isin(best.rows, several)
    kept.append(nearest_images.Best(best.scores[alone], best.rows[alone]))
  return kept, ambiguous


def _ranked(bucket: int, name: str, best: nearest_images.Best) -> list[Candidate]:
  return [Candidate(bucket, name, rank, row, score) for rank, (score, row) in
          enumerate(zip(best.scores.tolist(), best.rows.tolist()), 1)]


def _background(features: feature_files.FeatureFiles, task: nearest_images.SearchTask,
                found: Sequence[Sequence[nearest_images.Best]], rule: SelectionRule,
                by_faiss: bool | None) -> list[nearest_images.Best]:
  """Takes, for each bucket, the lowest unused images of each query in turn."""
  lows = [rule.low(number) if number else 0 for number in task.numbers.tolist()]
  if not any(lows):
    return [nearest_images.Best(np.zeros(0), np.zeros(0, np.int64))] * len(lows)
  buckets = task.buckets.copy()
  for best in (one for of_bucket in found for one in of_bucket):
    buckets[best.rows] = -1  # Images in the top of a query are never background.
  depth = np.array(lows) * len(task.queries)  # Suffices even if all queries share their lowest.
  lowest = nearest_images.search(
      features, task._replace(queries=-task.queries, buckets=buckets, numbers=depth),
      by_faiss=by_faiss)
  chosen = []
  for bucket, low in enumerate(lows):
    taken: dict[int, float] = {}
    for best in lowest[bucket]:
      fresh = [(row, score) for row, score in zip(best.rows.tolist(), best.scores.tolist())
               if row not in taken][:low]
      if len(fresh) < low:
        raise errors.CurationError(
            f"Bucket {bucket} has too few images outside the top of every query for {low} "
            f"background images from each of {len(lowest[bucket])} queries. Give --background a "
            "smaller number (0: no such class) or a smaller share.")
      taken.update((row, 0.0 - score) for row, score in fresh)  # The search was for -query.
    chosen.append(nearest_images.Best(np.array(list(taken.values())),
                                      np.array(list(taken), np.int64)))
  return chosen

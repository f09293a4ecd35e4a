# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ranks of methods under several protocols, whose scores have no common scale.

Rank 1 is the best; equal scores share the mean of their ranks. A method without a score, because
the protocol refuses it or its runs are not finished, has no rank there and takes none from others.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import math
from typing import NamedTuple, Optional


class Point(NamedTuple):
  """A method's score and what it cost, None if that is unknown."""

  name: str
  score: float
  cost: Optional[float]


class MeanRank(NamedTuple):
  """A mean over `num` protocols; None over none."""

  mean: Optional[float]
  num: int


def ranks(scores: Mapping[str, Optional[float]], *, lower_is_better: bool = False
          ) -> dict[str, Optional[float]]:
  """Returns the rank of each method by name, 1 to the number of scores; None without a score."""
  known = {name: score if lower_is_better else -score
           for name, score in scores.items() if score is not None and not math.isnan(score)}
  from scipy import stats  # pylint: disable=import-outside-toplevel
  found = dict(zip(known, stats.rankdata(list(known.values())).tolist()))
  return {name: found.get(name) for name in scores}


def mean_ranks(by_protocol: Sequence[Mapping[str, Optional[float]]]) -> dict[str, MeanRank]:
  """Returns the mean of each method's ranks over the protocols where it has one."""
  names = dict.fromkeys(name for found in by_protocol for name in found)
  known = {name: [rank for found in by_protocol if (rank := found.get(name)) is not None]
           for name in names}
  return {name: MeanRank(sum(values) / len(values) if values else None, len(values))
          for name, values in known.items()}


def common(by_protocol: Sequence[Mapping[str, Optional[float]]]) -> list[str]:
  """Returns the methods that have a score under every protocol."""
  names = dict.fromkeys(name for found in by_protocol for name in found)
  return [name for name in names
          if all(ranks(found).get(name) is not None for found in by_protocol)]


def best_within(points: Sequence[Point], budget: float, *, lower_is_better: bool = False
                ) -> list[Point]:
  """Returns the best of the points that cost at most `budget`, all of them if several are equal.

  A point of unknown cost is none of them.
  """
  fitting = [p for p in points if p.cost is not None and p.cost <= budget]
  if not fitting:
    return []
  best = (min if lower_is_better else max)(p.score for p in fitting)
  return [p for p in fitting if p.score == best]


def budgets(costs: Sequence[Optional[float]]) -> list[float]:
  """Returns 1, 3, 10, 30, ...: from the largest that is at most the least cost above 0, to the
  smallest that is at least the greatest cost; [] if no cost is above 0.
  """
  known = [cost for cost in costs if cost is not None and cost > 0]
  if not known:
    return []
  steps = [factor * 10.0 ** power for power in range(
      math.floor(math.log10(min(known))), math.ceil(math.log10(max(known))) + 1)
      for factor in (1, 3)]
  first = max(i for i, step in enumerate(steps) if step <= min(known))
  last = min(i for i, step in enumerate(steps) if step >= max(known))
  return steps[first:last + 1]

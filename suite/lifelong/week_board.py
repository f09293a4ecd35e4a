# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The board of a week: what is known of each model, and what is still to be asked.

It joins what other modules find: scores and their errors (`standings`), ranks that tests leave open
(`paired_standings`), alarms (`watching`).
"""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import NamedTuple

import numpy as np

from suite.lifelong import drift
from suite.lifelong import paired_standings
from suite.lifelong import standings
from suite.lifelong import watching
from suite.lifelong.cache import accuracy_cache

_COMPARED = 60  # Largest number of models that are compared in pairs, the best ones.


class Row(NamedTuple):
  """A model of the board.

  Attributes:
    model: its score.
    ranks: (best, worst) rank that the tests leave open; None: it is not among the best ones.
    needed: answers that are missing for an interval of the wanted width; 0: it is narrow enough.
    alarms: about this model.
  """

  model: standings.RankedModel
  ranks: tuple[int, int] | None
  needed: int
  alarms: list[drift.Test]


def rows(cache: accuracy_cache.AccuracyCache, scale: standings.Scale, *,
         clusters: np.ndarray | None = None, updates: Sequence[watching.Update] = (),
         target_width: float = 0.04) -> tuple[standings.Standings, list[Row]]:
  """Makes the board; the best model first.

  Args:
    cache: the cache. scale: what a score is.
    clusters: int [N], of samples, for standard errors and tests.
    updates: of the folder that is watched.
    target_width: of intervals, as a share of the range of scores.
  """
  found = standings.Standings(cache, scale, clusters=clusters)
  ranked = found.ranked()
  ranks: dict[str, tuple[int, int]] = {}
  if len(ranked) > 1:
    compared = paired_standings.compare(cache, scale, top=_COMPARED, clusters=clusters)
    ranks = {one.name: both for one, both in zip(compared.models, compared.ranks)}
  alarms = watching.alarms(updates)
  wanted = target_width * (found.bounds[1] - found.bounds[0])
  return found, [Row(one, ranks.get(one.name), _needed(one, wanted, cache.num_samples),
                     alarms.get(one.name, [])) for one in ranked]


def _needed(one: standings.RankedModel, width: float, num_samples: int) -> int:
  """Answers at random that make the interval of a score as narrow, at most those that are missing.

  The square of the width falls with the number of answers.
  """
  now, left = one.score_interval[1] - one.score_interval[0], num_samples - one.num_evaluated
  if not left or now <= width:
    return 0
  return min(left, max(1, math.ceil(one.num_evaluated * ((now / width) ** 2 - 1.0))))

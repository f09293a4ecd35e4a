# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Agreement of reviewers: statistics for a report; no decision depends on them."""

from __future__ import annotations

import collections
from collections.abc import Mapping
import itertools
from typing import Any

from suite.curation import votes as votes_lib

_DECIMALS = 6


def statistics(ballots: votes_lib.Ballots) -> dict[str, Any]:
  """Computes agreement over all images, by class and by reviewer.

  "pairwise": the share of pairs of an image's reviewers with the same vote, averaged over the
  images. "kappa": Fleiss' kappa, which corrects this for the agreement of random votes with equal
  frequencies; None if all votes are equal. Images with a single vote are not counted.
  """
  labels = sorted({item.label for item in ballots})
  return {
      "images": len(ballots), **_agreement(ballots),
      "unanimous": sum(len(set(votes.values())) == 1 for votes in ballots.values()),
      "votes": dict(sorted(_shares(ballots).items())),
      "by_class": {label: _agreement({item: votes for item, votes in ballots.items()
                                      if item.label == label}) for label in labels},
      "by_reviewer": _by_reviewer(ballots)}


def pairwise(votes: Mapping[str, str]) -> float | None:
  """Pairwise agreement on one image; None with fewer than two votes."""
  num = len(votes)
  same = sum(count * (count - 1) for count in collections.Counter(votes.values()).values())
  return same / (num * (num - 1)) if num > 1 else None


def _agreement(ballots: votes_lib.Ballots) -> dict[str, float | None]:
  found = [one for one in map(pairwise, ballots.values()) if one is not None]
  if not found:
    return {"pairwise": None, "kappa": None}
  mean = sum(found) / len(found)
  shares = _shares(ballots)
  total = sum(shares.values())
  chance = sum((count / total) ** 2 for count in shares.values())
  kappa = (mean - chance) / (1 - chance) if chance < 1 else None
  return {"pairwise": round(mean, _DECIMALS),
          "kappa": None if kappa is None else round(kappa, _DECIMALS)}


def _shares(ballots: votes_lib.Ballots) -> dict[str, int]:
  """Number of each kind of vote on images with two or more votes."""
  return collections.Counter(vote for votes in ballots.values() if len(votes) > 1
                             for vote in votes.values())


def _by_reviewer(ballots: votes_lib.Ballots) -> dict[str, dict[str, Any]]:
  """Votes of each reviewer, and the share of equal votes among pairs with other reviewers."""
  cast: dict[str, list[str]] = {}
  same: dict[str, list[bool]] = {}
  for votes in ballots.values():
    for reviewer, vote in votes.items():
      cast.setdefault(reviewer, []).append(vote)
    for (one, first), (other, second) in itertools.combinations(votes.items(), 2):
      same.setdefault(one, []).append(first == second)
      same.setdefault(other, []).append(first == second)
  return {reviewer: {
      **{vote: cast[reviewer].count(vote) for vote in votes_lib.VOTES},
      "agrees": round(sum(same[reviewer]) / len(same[reviewer]), _DECIMALS)
                if same.get(reviewer) else None} for reviewer in sorted(cast)}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The step `votes`: the result of the reviewers' votes, and their agreement.

The agreement is for the report; no decision depends on it.
"""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
import itertools
import json
import pathlib
from typing import Any

from absl import logging

from suite.beside.curation import collection
from suite.beside.curation import errors
from suite.beside.curation import manifest
from suite.beside.curation import storage
from suite.beside.curation import votes as votes_lib
from suite.beside.curation.steps import reviewing
from suite.system import atomic_files

ACCEPTED, REJECTED, ANOTHER_LOOK = "accepted.csv", "rejected.csv", "another_look.csv"
DISPUTED, AGREEMENT = "disputed.csv", "agreement.json"
_DECIMALS = 6


def votes(work: pathlib.Path, files: Sequence[pathlib.Path], *,
          decisions: pathlib.Path | None = None, minimum: int = votes_lib.MIN_REVIEWERS,
          min_gold: float = 0.0, again: bool = False) -> manifest.Manifest:
  """Combines files of votes: WORK/votes/{accepted, rejected, another_look, disputed, agreement}.

  Args:
    work: folder of the curation.
    files: CSV files of the review page and JSON exports of Label Studio.
    decisions: a CSV of decisions on flagged images.
    minimum: least number of reviewers of every image.
    min_gold: least share of right answers to the gold questions; the votes of reviewers with less
      are left out.
    again: whether to replace a step that was done with other inputs.
  """
  if not files:
    raise errors.CurationError("No files of votes are given. Name the files that reviewers "
                               "downloaded from the page, or folders of them.")
  if minimum < 1:
    raise errors.CurationError(f"minimum={minimum}; at least one reviewer is needed.")
  before = manifest.verified(work, collection.SHEETS)

  def write(folder: pathlib.Path) -> manifest.Counts:
    plan = reviewing.finished(work)
    cast = votes_lib.read(files, plan.keys(), plan.items())
    if min_gold and not plan.gold:
      raise errors.CurationError("--min-gold needs gold questions: make the sheets with --gold.")
    scored = votes_lib.scores(cast, plan.gold)
    left_out = votes_lib.unreliable(scored, min_gold)
    for name in left_out:
      logging.warning("The votes of %s are left out: %d of %d gold questions are answered right, "
                      "--min-gold is %g.", name, scored[name]["right"], scored[name]["asked"],
                      min_gold)
    everyone = {item: cast[item] for item in plan.candidates}
    ballots = votes_lib.without(everyone, left_out)
    votes_lib.check_reviewers(ballots, minimum)
    decided = votes_lib.read_decisions(decisions, ballots) if decisions else {}
    outcome = votes_lib.compose(ballots, decided)
    disputed = votes_lib.disputed(ballots)
    for name, found in ((ACCEPTED, outcome.accepted), (REJECTED, outcome.rejected),
                        (ANOTHER_LOOK, outcome.flagged), (DISPUTED, disputed)):
      storage.write_csv(folder / name, ["bucket", "class", "id", *votes_lib.VOTES, "votes"],
                        ([*item, *(list(ballots[item].values()).count(vote)
                                   for vote in votes_lib.VOTES),
                          " ".join(f"{reviewer}:{vote}" for reviewer, vote in
                                   sorted(ballots[item].items()))] for item in found))
    numbers = statistics(ballots)
    gold = {name: {**score, "left_out": name in left_out} for name, score in scored.items()}
    text = json.dumps({**numbers, "gold": gold}, indent=1, ensure_ascii=False)
    atomic_files.write(folder / AGREEMENT, (text + "\n").encode("utf-8"))
    ties = sum(votes_lib.is_tie(ballots[item]) for item in disputed)
    if disputed:
      logging.info("Reviewers disagree on %d images, which the majority decides; %d are ties, "
                   "which are rejected%s. See %s.", len(disputed), ties,
                   " unless one more reviewer votes on them" if ties else "", DISPUTED)
    if outcome.flagged:
      logging.warning("%d flagged images are excluded until they are decided on; see %s.",
                      len(outcome.flagged), ANOTHER_LOOK)
    return {"accepted": len(outcome.accepted), "rejected": len(outcome.rejected),
            "flagged": len(outcome.flagged), "decided": len(decided), "disputed": len(disputed),
            "ties": ties, "reviewers": sorted(numbers["by_reviewer"]), "left_out": left_out,
            "pairwise": numbers["pairwise"], "kappa": numbers["kappa"],
            "unanimous": numbers["unanimous"]}

  return manifest.run(
      work, collection.VOTES, parameters={"minimum": minimum, "min_gold": min_gold}, again=again,
      write=write, inputs={collection.SHEETS: [before.path], "votes": sorted(files),
                           "decisions": [decisions] if decisions else []})


def accepted(work: pathlib.Path) -> list[votes_lib.Item]:
  """Reads the accepted items."""
  path = manifest.verified(work, collection.VOTES).folder / ACCEPTED
  return [votes_lib.Item(int(line["bucket"]), line["class"], line["id"])
          for line in storage.read_csv(path, ["bucket", "class", "id"])]


def statistics(ballots: votes_lib.Ballots) -> dict[str, Any]:
  """Computes agreement over all images, by class and by reviewer.

  "pairwise": the share of pairs of an image's reviewers with the same vote, averaged over the
  images. "kappa": Fleiss' kappa, which corrects this for the agreement of random votes with equal
  frequencies; None if all votes are equal. Images with a single vote are not counted.
  """
  labels = sorted({item.label for item in ballots})
  cast: dict[str, list[str]] = {}
  same: dict[str, list[bool]] = {}  # Whether each pair with another reviewer has equal votes.
  for votes in ballots.values():
    for reviewer, vote in votes.items():
      cast.setdefault(reviewer, []).append(vote)
    for (one, first), (other, second) in itertools.combinations(votes.items(), 2):
      same.setdefault(one, []).append(first == second)
      same.setdefault(other, []).append(first == second)
  return {
      "images": len(ballots), **_agreement(ballots),
      "unanimous": sum(len(set(votes.values())) == 1 for votes in ballots.values()),
      "votes": dict(sorted(_shares(ballots).items())),
      "by_class": {label: _agreement({item: votes for item, votes in ballots.items()
                                      if item.label == label}) for label in labels},
      "by_reviewer": {reviewer: {
          **{vote: cast[reviewer].count(vote) for vote in votes_lib.VOTES},
          "agrees": round(sum(same[reviewer]) / len(same[reviewer]), _DECIMALS)
                    if same.get(reviewer) else None} for reviewer in sorted(cast)}}


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

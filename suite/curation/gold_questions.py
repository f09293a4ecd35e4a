# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gold questions: images with known answers on the review sheets, by which reviewers are checked.

    class,id,vote
    bus,3001,accept
    bus,0017,reject

An image is asked about on the sheet of the class in its own bucket, at a place that follows from
the ids. The page does not hold the answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import hashlib
import pathlib
from typing import Any

from suite.curation import errors
from suite.curation import storage
from suite.curation import votes as votes_lib

Answers = Mapping[votes_lib.Item, str]


def read(path: pathlib.Path, buckets: Mapping[str, int], sheets: Sequence[tuple[int, str]]
         ) -> dict[votes_lib.Item, str]:
  """Reads item -> "accept" or "reject".

  Args:
    path: a CSV of class, id, vote.
    buckets: id -> bucket of all images.
    sheets: (bucket, class) of the sheets.
  """
  found: dict[votes_lib.Item, str] = {}
  for number, line in enumerate(storage.read_csv(path, ["class", "id", "vote"]), 2):
    where = f"{path}, record {number}"
    if line["id"] not in buckets:
      raise errors.CurationError(f"{where} asks about {line['id']!r}, which is not in the "
                                 "collection. Use ids of the table of images.")
    item = votes_lib.Item(buckets[line["id"]], line["class"], line["id"])
    if (item.bucket, item.label) not in sheets:
      raise errors.CurationError(
          f"{where} asks about {item}, but there is no such sheet. Use a class of the queries, and "
          "an image of a bucket that is searched.")
    if line["vote"] not in (votes_lib.ACCEPT, votes_lib.REJECT) or item in found:
      raise errors.CurationError(f"{where} has the vote {line['vote']!r} on {item}; accept or "
                                 "reject is needed, once an image.")
    found[item] = line["vote"]
  return found


def mixed(ids: Sequence[str], gold: Sequence[str]) -> list[str]:
  """Puts the gold images that are not among `ids` between them, at places that do not depend on
  their order."""
  found = list(ids)
  for name in sorted(set(gold) - set(ids)):
    place = int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "big")
    found.insert(place % (len(found) + 1), name)
  return found


def scores(ballots: votes_lib.Ballots, answers: Answers) -> dict[str, dict[str, Any]]:
  """Computes reviewer -> {"asked", "right"}: gold questions that were answered, and as known."""
  found: dict[str, dict[str, Any]] = {}
  for item, answer in answers.items():
    for reviewer, vote in ballots[item].items():
      score = found.setdefault(reviewer, {"asked": 0, "right": 0})
      score["asked"] += 1
      score["right"] += int(vote == answer)
  return dict(sorted(found.items()))


def unreliable(scored: Mapping[str, Mapping[str, Any]], share: float) -> list[str]:
  """Lists the reviewers with less than this share of right answers."""
  if not 0 <= share <= 1:
    raise errors.CurationError(f"A share of right answers is from 0 to 1, got {share}.")
  return [name for name, score in scored.items() if score["right"] < share * score["asked"]]

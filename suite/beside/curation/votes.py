# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Combination of several reviewers' votes: a majority accepts, one flag requires a decision.

CLEAR has at least three workers for an image, and flags for inappropriate ones (section 3,
"Crowd-sourced validation"); its rule for disagreement is in the supplement.

Reviews in Label Studio: tasks in its JSON format, and votes from its JSON export.

A task's data name the sheet, bucket, class and id; the votes are choices of the control "vote".

Gold questions: images with known answers on the review sheets, by which reviewers are checked.

    class,id,vote
    bus,3001,accept
    bus,0017,reject

An image is asked about on the sheet of the class in its own bucket, at a place that follows from
the ids. The page does not hold the answers.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import hashlib
import json
import pathlib
from typing import Any, NamedTuple

from suite.beside.curation import errors
from suite.beside.curation import storage

ACCEPT, REJECT, FLAG = VOTES = ("accept", "reject", "flag")
COLUMNS = ("sheet", "reviewer", "bucket", "class", "id", "vote")
MIN_REVIEWERS = 3
FACTS = ("sheet", "bucket", "class", "id")
CONTROL = "vote"


class Item(NamedTuple):
  """An image on a review sheet."""

  bucket: int
  label: str
  id: str

  def __str__(self) -> str:
    return f"{self.id} ({self.label}, bucket {self.bucket})"


Ballots = Mapping[Item, Mapping[str, str]]  # Item -> reviewer -> vote


class VoteResult(NamedTuple):
  """All items in three lists, in the order of the sheets."""

  accepted: list[Item]
  rejected: list[Item]
  flagged: list[Item]


def read(paths: Sequence[pathlib.Path], sheets: Mapping[tuple[int, str], str],
         items: Sequence[Item]) -> dict[Item, dict[str, str]]:
  """Reads the votes of all files.

  Args:
    paths: CSV files downloaded from the page or JSON exports of Label Studio, in any order.
    sheets: (bucket, class) -> key of the sheet.
    items: all images of the sheets.

  Raises:
    errors.CurationError: a vote, its image or its sheet is unknown, or a reviewer voted twice on an
      image.
  """
  ballots: dict[Item, dict[str, str]] = {item: {} for item in items}
  origins: dict[tuple[Item, str], pathlib.Path] = {}
  for path in sorted(paths):
    for where, line in _lines(path):
      try:
        found = Item(int(line["bucket"]), line["class"], line["id"])
      except ValueError:
        raise errors.CurationError(
            f"{where} has the bucket {line['bucket']!r}, which is no number. Use the file as it "
            "was downloaded from the sheets.") from None
      key = sheets.get((found.bucket, found.label))
      if key is None:
        raise errors.CurationError(f"{where}: there is no sheet of class {found.label!r} in bucket "
                                   f"{found.bucket}. Use votes of these sheets only.")
      if line["sheet"] != key:
        raise errors.CurationError(
            f"{where} was cast on sheet {line['sheet']!r} of {found.label!r} in bucket "
            f"{found.bucket}, but the present one is {key!r}: the candidates have changed. Vote on "
            "the new sheet.")
      item, reviewer = found, line["reviewer"].strip()
      if item not in ballots:
        raise errors.CurationError(f"{where} votes on {line['id']!r}, which is not on the sheet of "
                                   f"{item.label!r} in bucket {item.bucket}. Use votes of these "
                                   "sheets only.")
      if not reviewer or line["vote"] not in VOTES:
        raise errors.CurationError(f"{where} has the reviewer {reviewer!r} and the vote "
                                   f"{line['vote']!r}; a name and one of {', '.join(VOTES)} are "
                                   "needed.")
      if reviewer in ballots[item]:
        raise errors.CurationError(
            f"{where}: {reviewer!r} votes on {item} a second time; the first is in "
            f"{origins[item, reviewer]}. Keep the reviewer's last file of the sheet only.")
      ballots[item][reviewer] = line["vote"]
      origins[item, reviewer] = path
  return ballots


def _lines(path: pathlib.Path) -> Iterator[tuple[str, Mapping[str, str]]]:
  """Yields the votes of a file with their places in it."""
  if path.suffix == ".json":
    yield from votes(path)
    return
  for number, line in enumerate(storage.read_csv(path, COLUMNS), 2):
    yield f"{path}, record {number}", line


def check_reviewers(ballots: Ballots, minimum: int = MIN_REVIEWERS) -> None:
  """Raises an error that names missing votes if an image has fewer than `minimum` reviewers."""
  everyone: set[str] = {reviewer for votes in ballots.values() for reviewer in votes}
  short = [item for item, votes in ballots.items() if len(votes) < minimum]
  if short:
    names = ", ".join(sorted(everyone - set(ballots[short[0]])))
    raise errors.CurationError(
        f"{len(short)} of {len(ballots)} images have fewer than {minimum} reviewers: "
        f"{errors.some(short)}. Reviewers so far: {', '.join(sorted(everyone)) or 'none'}"
        f"{f'; of these {names} did not vote on the first' if names else ''}. Have the sheets "
        "finished, ask more people, or set --minimum lower.")


def compose(ballots: Ballots, decisions: Mapping[Item, str]) -> VoteResult:
  """Accepts items that more than half of their reviewers accept and no one flags; a tie rejects.

  Args:
    ballots: item -> reviewer -> vote.
    decisions: decisions on flagged items, "accept" or "reject".
  """
  found = VoteResult([], [], [])
  for item, votes in ballots.items():
    cast = list(votes.values())
    if FLAG in cast and item not in decisions:
      found.flagged.append(item)
    elif FLAG in cast:
      (found.accepted if decisions[item] == ACCEPT else found.rejected).append(item)
    else:
      (found.accepted if 2 * cast.count(ACCEPT) > len(cast) else found.rejected).append(item)
  return found


def disputed(ballots: Ballots) -> list[Item]:
  """Lists the items on which the reviewers' votes differ."""
  return [item for item, votes in ballots.items() if len(set(votes.values())) > 1]


def is_tie(votes: Mapping[str, str]) -> bool:
  """Whether half of the reviewers of an item accept it, and half reject it."""
  cast = list(votes.values())
  return bool(cast) and 2 * cast.count(ACCEPT) == len(cast) == 2 * cast.count(REJECT)


def without(ballots: Ballots, reviewers: Sequence[str]) -> dict[Item, dict[str, str]]:
  """Removes the votes of some reviewers."""
  return {item: {name: vote for name, vote in votes.items() if name not in reviewers}
          for item, votes in ballots.items()}


def read_decisions(path: pathlib.Path, ballots: Ballots) -> dict[Item, str]:
  """Reads a CSV of bucket, class, id, decision (accept or reject) on flagged images."""
  found: dict[Item, str] = {}
  known = {(str(item.bucket), item.label, item.id): item for item in ballots}
  for number, line in enumerate(storage.read_csv(path, ["bucket", "class", "id", "decision"]), 2):
    where, decision = f"{path}, record {number}", line["decision"]
    item = known.get((line["bucket"], line["class"], line["id"]))
    if item is None or FLAG not in ballots[item].values():
      raise errors.CurationError(f"{where} decides on {line['id']!r} of {line['class']!r} in "
                                 f"bucket {line['bucket']}, which nobody flagged. Decide on images "
                                 "of another_look.csv only.")
    if decision not in (ACCEPT, REJECT) or item in found:
      raise errors.CurationError(f"{where} decides {decision!r} on {item}; {ACCEPT} or {REJECT} is "
                                 "needed, once an image.")
    found[item] = decision
  return found


def task(facts: Mapping[str, Any], image: str, question: str, about: str) -> dict[str, Any]:
  """Returns a task; `facts` has sheet, bucket, class and id, `image` is an address."""
  return {"data": {"image": image, "question": question, "about": about,
                   **{name: facts[name] for name in FACTS}}}


def votes(path: pathlib.Path) -> Iterator[tuple[str, dict[str, str]]]:
  """Yields (place in the file, vote) of an export; a vote has the columns of a CSV file of votes.

  Annotations that the reviewer skipped (`was_cancelled`) are left out. The reviewer is the e-mail
  address or number in `completed_by`.
  """
  try:
    found = json.loads(path.read_text(encoding="utf-8"))
  except (OSError, ValueError) as error:
    raise errors.CurationError(f"{path} cannot be read as JSON in UTF-8: {error}.") from error
  if not isinstance(found, list) or not all(
      isinstance(one, dict) and isinstance(one.get("data"), dict)
      and isinstance(one.get("annotations"), list) for one in found):
    raise errors.CurationError(f"{path} is no list of tasks with data and annotations. Export the "
                               "project from Label Studio as JSON (not JSON-MIN or CSV).")
  for number, one in enumerate(found):
    where = f"{path}, task {one.get('id', number)}"
    data = one["data"]
    lacking = [name for name in FACTS if name not in data]
    if lacking:
      raise errors.CurationError(f"{where} has no {', '.join(lacking)} in its data. Use the export "
                                 "of a project whose tasks are those of `suite curate "
                                 "label-studio`.")
    for annotation in one["annotations"]:
      if not annotation.get("was_cancelled"):
        by = annotation.get("completed_by")
        if isinstance(by, dict):
          by = by.get("email") or by.get("id")
        chosen = [choice for result in annotation.get("result", ())
                  if result.get("from_name") == CONTROL
                  for choice in result.get("value", {}).get("choices", ())]
        if len(chosen) != 1:
          raise errors.CurationError(f"{where}, annotation {annotation.get('id')} has the votes "
                                     f"{chosen}; one is needed. Submit it again, or skip it.")
        yield where, {**{name: str(data[name]) for name in FACTS},
                      "reviewer": "" if by is None else str(by), "vote": chosen[0]}


Answers = Mapping[Item, str]


def read_gold(path: pathlib.Path, buckets: Mapping[str, int], sheets: Sequence[tuple[int, str]]
         ) -> dict[Item, str]:
  """Reads item -> "accept" or "reject".

  Args:
    path: a CSV of class, id, vote.
    buckets: id -> bucket of all images.
    sheets: (bucket, class) of the sheets.
  """
  found: dict[Item, str] = {}
  for number, line in enumerate(storage.read_csv(path, ["class", "id", "vote"]), 2):
    where = f"{path}, record {number}"
    if line["id"] not in buckets:
      raise errors.CurationError(f"{where} asks about {line['id']!r}, which is not in the "
                                 "collection. Use ids of the table of images.")
    item = Item(buckets[line["id"]], line["class"], line["id"])
    if (item.bucket, item.label) not in sheets:
      raise errors.CurationError(
          f"{where} asks about {item}, but there is no such sheet. Use a class of the queries, and "
          "an image of a bucket that is searched.")
    if line["vote"] not in (ACCEPT, REJECT) or item in found:
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


def scores(ballots: Ballots, answers: Answers) -> dict[str, dict[str, Any]]:
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

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The steps `sheets` and `votes`: review sheets, and the result of the reviewers' votes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import functools
import json
import os
import pathlib
import urllib.parse

from absl import logging

from suite.curation import agreement
from suite.curation import collection
from suite.curation import errors
from suite.curation import image_table
from suite.curation import manifest
from suite.curation import pictures
from suite.curation import queries
from suite.curation import storage
from suite.curation import votes as votes_lib
from suite.curation.sheets import sheet_page
from suite.system import atomic_files

ACCEPTED, REJECTED, ANOTHER_LOOK = "accepted.csv", "rejected.csv", "another_look.csv"
AGREEMENT = "agreement.json"

Groups = Mapping[tuple[int, str], list[collection.SavedCandidate]]


def sheets(work: pathlib.Path, *, images: pathlib.Path | None = None, pixels: int = 192,
           links: bool = False, again: bool = False) -> manifest.Manifest:
  """Writes WORK/sheets: a page per class and bucket, an index, digests of the image files.

  Args:
    work: folder of the curation.
    images: root folder of the paths; None: the table's folder.
    pixels: longer edge of the embedded thumbnails.
    links: whether pages link to the image files instead, which keeps them small; the pages and
      images must then not be moved.
    again: whether to replace a step that was done with other parameters.
  """
  before = manifest.verified(work, collection.QUERIES)

  def write(folder: pathlib.Path) -> manifest.Counts:
    table, groups = collection.table(work), grouped(collection.candidates(work))
    rows = table.rows()
    files = _files(table, rows, groups, images)
    address = functools.partial(_link, work) if links else functools.partial(
        pictures.data_uri, size=pixels)
    spans, prompts = collection.spans(work), before.counts["prompts"]
    others = f"none of {', '.join(sorted(prompts))}"
    made = []
    for (bucket, label), members in groups.items():
      sheet = sheet_page.Sheet(
          bucket, label, prompts.get(label, others), spans[bucket],
          [(one.id, address(files[one.id])) for one in members],
          is_background=label == queries.BACKGROUND)
      atomic_files.write(folder / sheet.file_name, sheet_page.page(sheet).encode("utf-8"))
      made.append(sheet._replace(images=[(one.id, "") for one in members]))
    atomic_files.write(folder / "index.html", sheet_page.index(made).encode("utf-8"))
    storage.write_csv(folder / collection.IMAGE_FILE, ["id", "bytes", "blake2b"], (
        (name, files[name].stat().st_size, storage.digest(files[name])) for name in sorted(files)))
    return {"sheets": len(made), "images": len(files)}

  return manifest.run(
      work, collection.SHEETS, again=again, write=write, inputs={collection.QUERIES: [before.path]},
      parameters={"images": collection.from_work(work, images), "links": links,
                  "pixels": None if links else pixels})


def votes(work: pathlib.Path, files: Sequence[pathlib.Path], *,
          decisions: pathlib.Path | None = None, minimum: int = votes_lib.MIN_REVIEWERS,
          again: bool = False) -> manifest.Manifest:
  """Combines the reviewers' CSV files: WORK/votes/{accepted, rejected, another_look, agreement}."""
  if not files:
    raise errors.CurationError("No files of votes are given. Name the CSV files that reviewers "
                               "downloaded from their sheets, or folders of them.")
  if minimum < 1:
    raise errors.CurationError(f"minimum={minimum}; at least one reviewer is needed.")
  before = manifest.verified(work, collection.SHEETS)

  def write(folder: pathlib.Path) -> manifest.Counts:
    groups = grouped(collection.candidates(work))
    items = [item_of(one) for members in groups.values() for one in members]
    ballots = votes_lib.read(files, {place: sheet_page.key(*place, [one.id for one in members])
                                     for place, members in groups.items()}, items)
    votes_lib.check_reviewers(ballots, minimum)
    decided = votes_lib.read_decisions(decisions, ballots) if decisions else {}
    outcome = votes_lib.compose(ballots, decided)
    for name, found in ((ACCEPTED, outcome.accepted), (REJECTED, outcome.rejected),
                        (ANOTHER_LOOK, outcome.flagged)):
      storage.write_csv(folder / name, ["bucket", "class", "id", *votes_lib.VOTES, "votes"],
                        (_line(item, ballots[item]) for item in found))
    numbers = agreement.statistics(ballots)
    atomic_files.write(folder / AGREEMENT, (json.dumps(numbers, indent=1, ensure_ascii=False) + "\n"
                                       ).encode("utf-8"))
    if outcome.flagged:
      logging.warning("%d flagged images are excluded until they are decided on; see %s.",
                      len(outcome.flagged), ANOTHER_LOOK)
    return {"accepted": len(outcome.accepted), "rejected": len(outcome.rejected),
            "flagged": len(outcome.flagged), "decided": len(decided),
            "reviewers": sorted(numbers["by_reviewer"]), "pairwise": numbers["pairwise"],
            "kappa": numbers["kappa"], "unanimous": numbers["unanimous"]}

  return manifest.run(
      work, collection.VOTES, parameters={"minimum": minimum}, again=again, write=write,
      inputs={collection.SHEETS: [before.path], "votes": sorted(files),
              "decisions": [decisions] if decisions else []})


def grouped(candidates: Sequence[collection.SavedCandidate]) -> dict[
    tuple[int, str], list[collection.SavedCandidate]]:
  """Groups candidates by (bucket, class), in the order of ranks."""
  found: dict[tuple[int, str], list[collection.SavedCandidate]] = {}
  for one in candidates:
    found.setdefault((one.bucket, one.label), []).append(one)
  return found


def item_of(one: collection.SavedCandidate) -> votes_lib.Item:
  return votes_lib.Item(one.bucket, one.label, one.id)


def accepted(work: pathlib.Path) -> list[votes_lib.Item]:
  """Reads the accepted items."""
  path = manifest.verified(work, collection.VOTES).folder / ACCEPTED
  return [votes_lib.Item(int(line["bucket"]), line["class"], line["id"])
          for line in storage.read_csv(path, ["bucket", "class", "id"])]


def _files(table: image_table.ImageTable, rows: Mapping[str, int], groups: Groups,
           images: pathlib.Path | None) -> dict[str, pathlib.Path]:
  ids = [one.id for members in groups.values() for one in members]
  return dict(zip(ids, collection.check_files(table, [rows[name] for name in ids], images)))


def _link(work: pathlib.Path, path: pathlib.Path) -> str:
  """Address of an image file relative to a page."""
  place = pathlib.PurePath(os.path.relpath(path, work / collection.SHEETS)).as_posix()
  return urllib.parse.quote(place)


def _line(item: votes_lib.Item, cast: Mapping[str, str]) -> list[object]:
  """Line of a CSV file: numbers of votes, and the reviewers of each kind."""
  all_votes = list(cast.values())
  return [*item, *(all_votes.count(vote) for vote in votes_lib.VOTES),
          " ".join(f"{reviewer}:{vote}" for reviewer, vote in sorted(cast.items()))]



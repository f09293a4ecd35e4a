# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reviews in Label Studio: tasks in its JSON format, and votes from its JSON export.

A task's data name the sheet, bucket, class and id; the votes are choices of the control "vote".
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import json
import pathlib
from typing import Any

from suite.curation import errors

FACTS = ("sheet", "bucket", "class", "id")
CONTROL = "vote"


def task(facts: Mapping[str, Any], image: str, question: str, about: str) -> dict[str, Any]:
  """Returns a task; `facts` has sheet, bucket, class and id, `image` is an address."""
  return {"data": {"image": image, "question": question, "about": about,
                   **{name: facts[name] for name in FACTS}}}


def votes(path: pathlib.Path) -> Iterator[tuple[str, dict[str, str]]]:
  """Yields (place in the file, vote) of an export; a vote has the columns of a CSV file of votes.

  Annotations that the reviewer skipped (`was_cancelled`) are left out. The reviewer is the e-mail
  address or number in `completed_by`.
  """
  for number, one in enumerate(_tasks(path)):
    where = f"{path}, task {one.get('id', number)}"
    data = one["data"]
    lacking = [name for name in FACTS if name not in data]
    if lacking:
      raise errors.CurationError(f"{where} has no {', '.join(lacking)} in its data. Use the export "
                                 "of a project whose tasks are those of `suite curate "
                                 "label-studio`.")
    for annotation in one["annotations"]:
      if not annotation.get("was_cancelled"):
        yield where, {**{name: str(data[name]) for name in FACTS},
                      "reviewer": _reviewer(annotation), "vote": _choice(where, annotation)}


def _tasks(path: pathlib.Path) -> list[Mapping[str, Any]]:
  try:
    found = json.loads(path.read_text(encoding="utf-8"))
  except (OSError, ValueError) as error:
    raise errors.CurationError(f"{path} cannot be read as JSON in UTF-8: {error}.") from error
  if not isinstance(found, list) or not all(
      isinstance(one, dict) and isinstance(one.get("data"), dict)
      and isinstance(one.get("annotations"), list) for one in found):
    raise errors.CurationError(f"{path} is no list of tasks with data and annotations. Export the "
                               "project from Label Studio as JSON (not JSON-MIN or CSV).")
  return found


def _reviewer(annotation: Mapping[str, Any]) -> str:
  by = annotation.get("completed_by")
  if isinstance(by, dict):
    by = by.get("email") or by.get("id")
  return "" if by is None else str(by)


def _choice(where: str, annotation: Mapping[str, Any]) -> str:
  chosen = [choice for result in annotation.get("result", ())
            if result.get("from_name") == CONTROL
            for choice in result.get("value", {}).get("choices", ())]
  if len(chosen) != 1:
    raise errors.CurationError(f"{where}, annotation {annotation.get('id')} has the votes "
                               f"{chosen}; one is needed. Submit it again, or skip it.")
  return chosen[0]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which run a file belongs to, and which folder a run belongs in.

A run's identity is what its results depend on and its user can change (`running/run_parts.py`).
The first run of a learner has the folder WORKDIR/er, one of another identity WORKDIR/er~3f2a91c0,
after the digest of its identity. So nothing is overwritten: the same identity resumes its run or
reads it, and another one is computed beside it.

  WORKDIR/config.gin, environment.json    of the runs that the first command began
  WORKDIR/latest.json                     the folder of the latest run of each learner
  WORKDIR/er/identity.json                the identity of a run: texts by name
  WORKDIR/er~3f2a91c0/config.gin, ...     of this run alone

A folder is claimed by its first record or state; what was written before that is replaced.

The digest of a run's configuration and folder is the first link of its chain of digests. The first
record and the predictions have it, each later record the digest of the one before, the saved states
and the summary that of the last record at that time. So a file of another seed, configuration or
learner is found, although it is intact. Files of suite 0.1 have no identity and are read as what
they are.
"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib
import json
import os
import pathlib
from typing import Any, NamedTuple

from suite.state import snapshots

RECORDS = "records.jsonl"
CONFIG = "config.gin"  # As it was written before the first event; a resumed run leaves it.
IDENTITY, LATEST = "identity.json", "latest.json"
MARK = "~"  # Between the label of a run and its digest.
_DIGITS = 8
# What a run has once it has begun.
_BEGUN = (RECORDS, "summary.json", "state", "predictions", "weights")
_MOST_SHOWN, _LONGEST = 3, 60  # Differences, and letters of each value.


def home(folder: pathlib.Path) -> pathlib.Path:
  """The folder of a run's configuration and environment: its own, or the work directory."""
  folder = pathlib.Path(folder).absolute()
  return folder if (folder / CONFIG).is_file() else folder.parent


def label(folder: pathlib.Path) -> str:
  """The learner's name: "er" of WORKDIR/er~3f2a91c0."""
  return pathlib.Path(folder).name.partition(MARK)[0]


def of(folder: pathlib.Path) -> str:
  """The first link of a run's chain, hexadecimal digits; "" if there is no configuration.

  Args:
    folder: of the run.
  """
  folder = pathlib.Path(folder).absolute()
  config = home(folder) / CONFIG
  if not config.is_file():
    return ""
  return hashlib.sha256(config.read_bytes() + b"\0" + folder.name.encode()).hexdigest()


def problem(found: str, folder: pathlib.Path) -> str:
  """Says that a file with the identity `found` is of another run than its folder; "" if not."""
  expected = of(folder)
  if not found or not expected or found == expected:
    return ""
  return (f"belongs to another run: another configuration than {home(folder) / CONFIG}, or a "
          f"learner of another name than {folder.name!r}")


class Place(NamedTuple):
  """Where a run belongs.

  Attributes:
    folder: of the run.
    is_known: whether the folder holds a run of this identity that has begun.
    difference: the folder of the label's latest other run, and what differs; "": there is none.
  """

  folder: pathlib.Path
  is_known: bool
  difference: str = ""


def place(workdir: pathlib.Path, name: str, texts: Mapping[str, str], config_text: str) -> Place:
  """Finds the folder of a learner's run; nothing is written.

  Args:
    workdir: of the command.
    name: of the learner.
    texts: the identity.
    config_text: the configuration, which the runs of an earlier version are compared by.
  """
  first, digest = workdir / name, digest_of(texts)
  others = []
  for folder in folders(workdir, name):
    if not has_begun(folder):
      continue
    known = read(folder)
    config = home(folder) / CONFIG
    if known == dict(texts) or (not known and config.is_file() and config.read_text(
        encoding="utf-8") == config_text):
      return Place(folder, True)
    others.append((folder, known))
  if not others:
    return Place(first, False)
  latest_folder = latest(workdir, name)
  folder, known = next((one for one in others if one[0] == latest_folder), others[-1])
  said = f"{folder}: {difference(known, texts)}"
  if not has_begun(first):
    return Place(first, False, said)
  beside = next(path for length in range(_DIGITS, len(digest) + 1) if not has_begun(
      path := workdir / f"{name}{MARK}{digest[:length]}"))
  return Place(beside, False, said)


def has_begun(folder: pathlib.Path) -> bool:
  """Whether a run's folder holds a record, or a part of its state."""
  for name in _BEGUN:
    path = folder / name
    files = [path] if path.is_file() else path.rglob("*") if path.is_dir() else []
    if any(one.is_file() and one.stat().st_size for one in files):
      return True
  return False


def folders(workdir: pathlib.Path, name: str) -> list[pathlib.Path]:
  """The folders of all runs of a learner, the first one first, then by name."""
  if not workdir.is_dir():
    return []
  return sorted(path for path in workdir.iterdir() if path.is_dir() and label(path) == name)


def latest(workdir: pathlib.Path, name: str) -> pathlib.Path:
  """The folder of the latest run of a learner, of which there may be none."""
  path = workdir / LATEST
  try:
    found = json.loads(path.read_text(encoding="utf-8")).get(name, name) if path.exists() else name
  except (OSError, ValueError, AttributeError):
    found = name  # It is written again with the next command.
  folder = workdir / str(found or f"{name}{MARK}")
  if not found:
    return folder  # See `forget_latest`.
  if label(folder) == name and folder.is_dir() and folder.parent == workdir:
    return folder
  return workdir / name


def is_latest(folder: pathlib.Path) -> bool:
  """Whether a run is the latest one of its learner, or none is known that has begun."""
  found = latest(folder.parent, label(folder))
  return found == folder or not (found.name.endswith(MARK) or has_begun(found))


def save_latest(workdir: pathlib.Path, chosen: Mapping[str, pathlib.Path]) -> None:
  """Notes the latest run of each learner; nothing is written while these are the first ones."""
  path = workdir / LATEST
  names = {label(one) for one in workdir.iterdir() if one.is_dir() and MARK in one.name}
  known = {name: latest(workdir, name).name for name in sorted({*names, *chosen})}
  known.update({name: folder.name for name, folder in chosen.items()})
  if path.exists() or any(MARK in name for name in known.values()):
    snapshots.save_text(path, json.dumps(known, indent=1) + "\n")


def forget_latest(workdir: pathlib.Path) -> None:
  """Notes that the runs there are not those that were asked for; the next command notes which are.
  """
  names = {label(path) for path in workdir.iterdir() if has_begun(path)}
  snapshots.save_text(workdir / LATEST, json.dumps(dict.fromkeys(sorted(names), ""), indent=1))


def save(folder: pathlib.Path, texts: Mapping[str, str]) -> None:
  """Writes the identity of a run."""
  snapshots.save_text(folder / IDENTITY, json.dumps(
      {"digest": digest_of(texts), "parts": dict(sorted(texts.items()))}, indent=1) + "\n")


def read(folder: pathlib.Path) -> dict[str, str]:
  """The identity of a run; {} if there is none, as in folders of an earlier version."""
  path = folder / IDENTITY
  if not os.path.lexists(path):
    return {}
  with snapshots.reading("the identity", path):
    values: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if digest_of(values["parts"]) != values["digest"]:
      raise ValueError("its digest differs from its parts")
  return dict(values["parts"])


# (name, text after a run of this process) -> text before it.
_before: dict[tuple[str, str], str] = {}


def remember(before: Mapping[str, str], after: Mapping[str, str]) -> None:
  """Notes what a run of this process has changed in code and learners, such as a module's list.

  The identity of a run is that of its beginning, also where it is asked for again.
  """
  _before.update({(name, text): before[name] for name, text in after.items()
                  if before.get(name, text) != text})


def at_first(texts: Mapping[str, str]) -> dict[str, str]:
  """An identity without what runs of this process have changed."""
  return {name: _before.get((name, text), text) for name, text in texts.items()}


def digest_of(texts: Mapping[str, str]) -> str:
  """The digest of an identity, 64 hexadecimal digits."""
  return hashlib.sha256(json.dumps(sorted(texts.items())).encode()).hexdigest()


def difference(before: Mapping[str, str], now: Mapping[str, str]) -> str:
  """Says in which parts two identities differ; those that follow from others come last."""
  if not before:
    return "an earlier version of the suite made that run, and did not note its identity"
  changed = [name for name in dict.fromkeys([*now, *before]) if before.get(name) != now.get(name)]
  shown = [f"{name[-_LONGEST:]} {_change(before.get(name), now.get(name))}"
           for name in changed[:_MOST_SHOWN]]
  return "; ".join(shown) + (f"; and {len(changed) - _MOST_SHOWN} more"
                             if len(changed) > _MOST_SHOWN else "")


def _change(before: str | None, now: str | None) -> str:
  if before is None:
    return "is new"
  if now is None:
    return "is gone"
  if "#" in before and "#" in now:
    return "has changed"
  return f"was {before[:_LONGEST]} and is {now[:_LONGEST]}"

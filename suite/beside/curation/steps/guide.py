# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The order of a curation: which steps are done, and the command of the next one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
import json
import pathlib
import shlex
from typing import NamedTuple

from suite.beside.curation import collection
from suite.beside.curation import errors
from suite.beside.curation import manifest
from suite.beside.curation.steps import reviewing
from suite.beside.curation.steps import voting

DONE, MISSING, STALE = "done", "not done", "to be done again"


class State(NamedTuple):
  """State of a step; `found` is its manifest if it is done, `reason` why it must be done again."""

  step: str
  state: str
  found: manifest.Manifest | None = None
  reason: str = ""

  def __str__(self) -> str:
    if self.found:
      return f"{self.step:12} {self.state} {summary(self.found)}"
    if self.step == collection.ENCODE and self.state == MISSING:
      return f"{self.step:12} {self.state}, or not needed"
    return f"{self.step:12} {self.state}" + (f": {self.reason}" if self.reason else "")


def summary(found: manifest.Manifest) -> str:
  """Formats the counts of a step that are single values."""
  return json.dumps({key: value for key, value in found.counts.items()
                     if not isinstance(value, (dict, list))})


def states(work: pathlib.Path) -> list[State]:
  """Returns the states of the steps in their order; Label Studio's is listed if it is there."""
  steps = [*collection.STEPS]
  if (work / collection.LABEL_STUDIO / manifest.NAME).exists():
    steps.insert(steps.index(collection.VOTES), collection.LABEL_STUDIO)
  found = []
  for step in steps:
    try:
      found.append(State(step, DONE, manifest.verified(work, step))
                   if (work / step / manifest.NAME).exists() else State(step, MISSING))
    except errors.CurationError as error:
      found.append(State(step, STALE, reason=str(error)))
  return found


def next_command(work: pathlib.Path) -> str:
  """Returns what to do next, with the paths that earlier steps know; words in capitals are open."""
  found = {one.step: one for one in states(work)}
  done = {step: one.found for step, one in found.items() if one.found}
  for step in collection.STEPS:
    state = found[step].state
    if state == STALE:
      return _COMMANDS[step](work, done) + " --again" + _note(step, work)
    if state == MISSING and step != collection.ENCODE:
      if step == collection.BUCKETS and collection.ENCODE not in done:
        return (f"{_command('encode', work)} --table TABLE.csv --weights MODEL.keras, or with "
                f"features: {_COMMANDS[step](work, done)}")
      if step == collection.EXPORT and done[collection.VOTES].counts["flagged"]:
        return (f"decide on {work / collection.VOTES / voting.ANOTHER_LOOK}: "
                f"{_votes(work, done)} --decisions DECISIONS.csv --again; or leave those images "
                f"out: {_export(work, done)}")
      return _COMMANDS[step](work, done) + _note(step, work)
  exported = done[collection.EXPORT]
  name = exported.parameters["name"]
  train, test = (sorted(one for one in exported.outputs if part in one)
                 for part in ("-train-image-only.", "-test."))
  held_out = f" --test {work / collection.EXPORT / test[0]}" if test else ""
  return f"suite data timeline {work / collection.EXPORT / train[0]}{held_out} --name {name}"


Done = Mapping[str, manifest.Manifest]


def _command(step: str, work: pathlib.Path) -> str:
  return f"suite curate {step} {shlex.quote(str(work))}"


def _encode(work: pathlib.Path, done: Done) -> str:
  return f"{_command('encode', work)} --table TABLE.csv --weights MODEL.keras"


def _buckets(work: pathlib.Path, done: Done) -> str:
  encoded = done.get(collection.ENCODE)
  if encoded is None:
    given = "TABLE.csv --features FEATURES.npy"
  else:
    path = collection.from_manifest(work, encoded.inputs["table"][0]["path"])
    given = shlex.quote(str(path))
  return f"{_command('buckets', work)} --table {given}"


def _queries(work: pathlib.Path, done: Done) -> str:
  encoded = done.get(collection.ENCODE)
  if encoded and "clip_model" in encoded.parameters:
    return f"{_command('queries', work)} --clip DIR --text PROMPT"
  return f"{_command('queries', work)} --queries QUERIES.csv"


def _sheets(work: pathlib.Path, done: Done) -> str:
  return _command("sheets", work)


def _votes(work: pathlib.Path, done: Done) -> str:
  return f"{_command('votes', work)} VOTES"


def _note(step: str, work: pathlib.Path) -> str:
  """Explanation of the placeholders of a command, such as VOTES."""
  if step != collection.VOTES:
    return ""
  page = work / collection.SHEETS / reviewing.PAGE
  return f" (the files that reviewers download from {page})"


def _export(work: pathlib.Path, done: Done) -> str:
  return f"{_command('export', work)} --name NAME"


_COMMANDS: Mapping[str, Callable[[pathlib.Path, Done], str]] = {
    collection.ENCODE: _encode, collection.BUCKETS: _buckets, collection.QUERIES: _queries,
    collection.SHEETS: _sheets, collection.VOTES: _votes, collection.EXPORT: _export}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the log of an accuracy cache has committed, and how it grows: files first, then a line.

A line has the digests of its files and names the state before it. Small additions are joined
(`compaction`): the joined file is written, the log is replaced, the old files are removed.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import functools
import hashlib
import itertools
import json
import pathlib
from typing import Any

from absl import logging

from suite.lifelong.cache import commit_log
from suite.lifelong.cache import compaction
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids

COMMITS = "commits.jsonl"
_TRIES = 3  # A reader may meet a log that is being replaced, but not again and again.


class Committed:
  """The additions of a cache, of models and of samples, and the pieces that they make.

  Attributes:
    models: names of the M models, in the order in which they were added; `places`: name to index.
    model_sizes: number of models of each addition of models; `sample_sizes`: of samples.
    pieces: by (addition of models, addition of samples).
    problem: what is damaged, so that what follows it was not read; "" if nothing is.
  """

  _log: commit_log.Log
  _lines: list[dict[str, Any]]  # Those of the log whose files are as they should be.

  def __init__(self, folder: pathlib.Path):
    self._folder = folder
    self._forget()
    self.refresh()

  def refresh(self) -> None:
    """Reads the lines that were committed since."""
    for _ in range(_TRIES):
      log = commit_log.read(self._folder / COMMITS, self._log)
      if log.lines[:len(self._log.lines)] != self._log.lines:
        self._forget()  # It was replaced.
      self._log, self.problem = log, ""
      for line in log.lines[len(self._lines):]:
        self.problem = self._take(line)
        if self.problem:
          break
      else:
        self.problem = log.damage or self._lost()
        break
      if commit_log.read(self._folder / COMMITS, log) == log:
        break  # Nobody has replaced the log since: the file is gone, or damaged.
    if self.problem:
      logging.warning("%s: the cache is opened as it was before that.", self.problem)

  def _lost(self) -> str:
    """Says that the log is gone; the first addition's file may be there without it."""
    if self._lines or {path.stem for path in self._folder.glob("[0-9]*.bits")} <= {"0001"}:
      return ""
    return f"{self._folder / COMMITS} is missing or empty although there are files of additions"

  def _forget(self) -> None:
    self._log = commit_log.Log([], [], b"", "")
    self._lines = []
    self.problem = ""
    self.models: list[str] = []
    self.places: dict[str, int] = {}
    self.model_sizes: list[int] = []
    self.sample_sizes: list[int] = []
    self.pieces: dict[tuple[int, int], piece_files.Piece] = {}
    self.__dict__.pop("ids", None)

  def remedy(self) -> str:
    """Says what can be done about the problem."""
    return remedy(self._folder, self._log, len(self._lines))

  def states(self) -> dict[tuple[int, int], str]:
    """Digest of each state that the cache has had, by its numbers of models and of samples.

    Equal digests stand for equal answers. Every addition adds models or samples, so there is one
    state at most of each size.
    """
    found, models, samples = {}, 0, 0
    for line in self._lines:
      for num, state in line.get("parts", [[compaction.size(line), line["state"]]]):
        is_samples = compaction.kind(line) == "samples"
        models, samples = models + num * (not is_samples), samples + num * is_samples
        found[models, samples] = state
    return found

  @functools.cached_property
  def ids(self) -> sample_ids.SampleIds:
    """Ids of the samples; nothing is read before it is used."""
    return sample_ids.SampleIds(sample_ids.read(self._folder, line) for line in self._lines
                                if compaction.kind(line) == "samples")

  @property
  def is_early(self) -> bool:
    """Whether an early version wrote some of the ids, without an index."""
    return any(line.get("ids") and "id_text_bytes" not in line for line in self._lines)

  def upgrade(self) -> None:
    """Writes the ids that have no index again, with one; answers stay as they are."""
    new, old, number = [], [], self._next()
    for line in self._lines:
      if line.get("ids") and "id_text_bytes" not in line:
        old.append(self._folder / line["ids"])
        batch = sample_ids.read(self._folder, line)
        found = sample_ids.write(self._folder / f"{number:04d}{sample_ids.SUFFIX}",
                                 sample_ids.SampleIds([batch]).chunks())
        line = {key: value for key, value in line.items() if not key.startswith("id")}
        line.update(found)
        number += 1
      new.append(line)
    commit_log.replace(self._folder / COMMITS, new)
    for path in old:
      path.unlink(missing_ok=True)
    self.refresh()

  def add(self, line: dict[str, Any], pieces: Sequence[piece_files.Piece],
          ids: Iterable[Sequence[str]] = ()) -> None:
    """Writes the files of an addition, then the line that commits it; joins what is small."""
    line = self._linked(self._written(line, self._next(), pieces, ids))
    commit_log.append(self._folder / COMMITS, line, at=self._log.ends[-1] if self._lines else 0)
    self.refresh()
    num = compaction.tail(self._lines)
    if num:
      self._join(num)
    if compaction.is_scattered(len(self._lines), len(self.models), sum(self.sample_sizes)):
      self._rewrite()

  def _take(self, line: Mapping[str, Any]) -> str:
    """Applies one line; returns what is wrong with it or its files, or ""."""
    line = self._linked(line)
    if line["after"] != self._state():
      return (f"{self._folder / COMMITS} has lost the line before line {len(self._lines) + 1}, or "
              "lines have changed places")
    for path, num_bytes, digest in files(self._folder, line, "spot"):
      problem = piece_files.damage(path, num_bytes, digest, whole=False)
      if problem:
        return problem
    if compaction.kind(line) == "samples":
      self.sample_sizes.append(line["samples"])
      places = [(batch, len(self.sample_sizes) - 1) for batch in range(len(self.model_sizes))]
      self.__dict__.pop("ids", None)
    else:
      self.places.update(zip(line["models"], itertools.count(len(self.models))))
      self.models += line["models"]
      self.model_sizes.append(len(line["models"]))
      places = [(len(self.model_sizes) - 1, i) for i in range(len(self.sample_sizes))]
    shapes = [(self.model_sizes[batch], self.sample_sizes[i]) for batch, i in places]
    self.pieces.update(zip(places, piece_files.read(self._folder / line["bits"], line, shapes)))
    self._lines.append(line)
    return ""

  def _state(self) -> str:
    return self._lines[-1]["state"] if self._lines else ""

  def _linked(self, line: Mapping[str, Any]) -> dict[str, Any]:
    """Returns the line with the states before and after it, which early versions did not write."""
    if "state" in line:
      return dict(line)
    state = hashlib.sha256((self._state() + json.dumps(line)).encode()).hexdigest()[:16]
    return {**line, "after": self._state(), "state": state}

  def _next(self) -> int:
    """Number of the next files; those of lines never have it."""
    return 1 + max((int(pathlib.Path(one["bits"]).stem) for one in self._lines), default=0)

  def _written(self, line: dict[str, Any], number: int, pieces: Iterable[piece_files.Piece],
               ids: Iterable[Sequence[str]]) -> dict[str, Any]:
    """Writes the files of a line; returns the line with their names and digests."""
    line = {**line, **piece_files.write(self._folder / f"{number:04d}.bits", pieces)}
    if compaction.kind(line) == "samples":
      line.update(sample_ids.write(self._folder / f"{number:04d}{sample_ids.SUFFIX}", ids))
    return line

  def _join(self, num: int) -> None:
    """Makes one of the last `num` additions, which are all of models or all of samples."""
    kept, old = self._lines[:-num], self._lines[-num:]
    sizes = [compaction.size(line) for line in old]
    ids: Iterable[Sequence[str]] = ()
    if compaction.kind(old[0]) == "models":
      batches = range(len(self.model_sizes) - num, len(self.model_sizes))
      pieces = (piece_files.below([self.pieces[batch, index] for batch in batches], size)
                for index, size in enumerate(self.sample_sizes))
    else:
      columns = range(len(self.sample_sizes) - num, len(self.sample_sizes))
      pieces = (piece_files.beside([self.pieces[batch, index] for index in columns], sizes)
                for batch in range(len(self.model_sizes)))
      ids = self.ids.chunks(len(self.ids) - sum(sizes))
    self._replace(kept, [self._written(compaction.joined(old), self._next(), pieces, ids)])

  def _rewrite(self) -> None:
    """Makes one addition of all samples, and a few of all models."""
    number, end, sizes = self._next(), self._state(), self.sample_sizes
    place = [(batch, row) for batch, num in enumerate(self.model_sizes) for row in range(num)]
    chunk = compaction.rows_a_file(sum(sizes))
    lines = [self._written({"samples": sum(sizes), "after": "", "state": f"{end}/0"}, number, [],
                           self.ids.chunks())]
    for first in range(0, len(place), chunk):
      here, names = place[first:first + chunk], self.models[first:first + chunk]
      rows = [piece_files.beside(
          [self.pieces[batch, index].row(row) for index in range(len(sizes))], sizes)
              for batch, row in here]
      state = end if first + chunk >= len(place) else f"{end}/{len(lines)}"
      lines.append(self._written(
          {"models": names, "after": lines[-1]["state"], "state": state}, number + len(lines),
          [piece_files.below(rows, sum(sizes))], []))
    self._replace([], lines)

  def _replace(self, kept: list[dict[str, Any]], new: list[dict[str, Any]]) -> None:
    """Replaces the lines after those that are kept, and removes their files."""
    old = self._lines[len(kept):]
    commit_log.replace(self._folder / COMMITS, [*kept, *new])
    for path in [path for line in old for path, *_ in files(self._folder, line, "spot")]:
      path.unlink(missing_ok=True)
    self.refresh()


def files(folder: pathlib.Path, line: Mapping[str, Any], digest: str
          ) -> list[tuple[pathlib.Path, int, str | None]]:
  """Returns (path, bytes, "spot" or "sha256" as `digest` says) of each file of a line."""
  found = [(folder / line["bits"], line["bytes"], line.get(digest))]
  if line.get("ids"):
    found.append((folder / line["ids"], line["id_bytes"], line.get(f"id_{digest}")))
  return found


def remedy(folder: pathlib.Path, log: commit_log.Log, num: int) -> str:
  """Says what can be done about a problem of what follows the first `num` lines."""
  num_bytes = log.ends[num - 1] if num else 0
  return ("Put the file back; or give up what was added since by cutting "
          f"{folder / COMMITS} to its first {num} lines (truncate -s {num_bytes}).")

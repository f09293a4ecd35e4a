# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What the log of an accuracy cache has committed, and how it grows: files first, then a line.

A line has the digests of its files and names the state before it. Small additions are joined
: the joined file is written, the log is replaced, the old files are removed.

Which additions of an accuracy cache are joined to one file, so that few files remain.

Additions of one kind at the end of the log (models without samples after them, or samples without
models after them) are joined in levels: as soon as 16 of fewer than 16^(l + 1) rows or columns are
last, they become one. An answer is rewritten about once a level, so n additions cost O(n log n)
and leave at most 16 files a level. Additions of both kinds in alternation form no such row; as soon
as there are `MOST`, the whole cache is written again.

An append-only file of JSON lines; a last line that a crash cut short is ignored.

Each line begins with a digest of its body, which detects changed lines. Files that a line names are
written and synced before it. A line that ends with a line break was committed: if it is damaged,
what follows it was, too, and nothing may be written over it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
import functools
import hashlib
import itertools
import json
import logging
import math
import pathlib
from typing import Any, NamedTuple

from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids
from suite.system import atomic_files

_LOGGER = logging.getLogger(__name__)
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

  _log: Log
  _lines: list[dict[str, Any]]  # Those of the log whose files are as they should be.

  def __init__(self, folder: pathlib.Path):
    self._folder = folder
    self._forget()
    self.refresh()

  def refresh(self) -> None:
    """Reads the lines that were committed since."""
    for _ in range(_TRIES):
      log = read(self._folder / COMMITS, self._log)
      if log.lines[:len(self._log.lines)] != self._log.lines:
        self._forget()  # It was replaced.
      self._log, self.problem = log, ""
      for line in log.lines[len(self._lines):]:
        self.problem = self._take(line)
        if self.problem:
          break
      else:
        self.problem = log.damage
        if not (log.damage or self._lines):
          numbers = {path.stem for path in self._folder.glob("[0-9]*.bits")}
          if not numbers <= {"0001"}:  # The first addition's file may be there without the log.
            self.problem = (f"{self._folder / COMMITS} is missing or empty although there are "
                            "files of additions")
        break
      if read(self._folder / COMMITS, log) == log:
        break  # Nobody has replaced the log since: the file is gone, or damaged.
    if self.problem:
      _LOGGER.warning("%s: the cache is opened as it was before that.", self.problem)

  def _forget(self) -> None:
    self._log = Log([], [], b"", "")
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
      for num, state in line.get("parts", [[size(line), line["state"]]]):
        is_samples = kind(line) == "samples"
        models, samples = models + num * (not is_samples), samples + num * is_samples
        found[models, samples] = state
    return found

  @functools.cached_property
  def ids(self) -> sample_ids.SampleIds:
    """Ids of the samples; nothing is read before it is used."""
    return sample_ids.SampleIds(sample_ids.read(self._folder, line) for line in self._lines
                                if kind(line) == "samples")

  @property
  def _bits(self) -> int:
    """Largest number of bits of an answer."""
    return 34 if any(piece.values is not None for piece in self.pieces.values()) else 2

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
    replace(self._folder / COMMITS, new)
    for path in old:
      path.unlink(missing_ok=True)
    self.refresh()

  def add(self, line: dict[str, Any], pieces: Sequence[piece_files.Piece],
          ids: Iterable[Sequence[str]] = ()) -> None:
    """Writes the files of an addition, then the line that commits it; joins what is small."""
    line = self._linked(self._written(line, self._next(), pieces, ids))
    append(self._folder / COMMITS, line, at=self._log.ends[-1] if self._lines else 0)
    self.refresh()
    num = tail(self._lines)
    if num:
      self._join(num)
    if is_scattered(len(self._lines), len(self.models), sum(self.sample_sizes), self._bits):
      self._rewrite()

  def change(self, pieces: Mapping[tuple[int, int], piece_files.Piece],
             before: Callable[[str], None]) -> None:
    """Replaces pieces, by (addition of models, addition of samples), at the same sizes.

    The files that hold them are written again. States from the first of them on are new ones:
    what was made from the earlier answers is of no state any more. `before` is called with the
    state that the cache will have, before it has it.
    """
    lines: list[dict[str, Any]] = []
    old, number = [], self._next()
    batches = columns = 0
    salt = ""
    for line in self._lines:
      if kind(line) == "samples":
        places = [(batch, columns) for batch in range(batches)]
        columns += 1
      else:
        places = [(batches, column) for column in range(columns)]
        batches += 1
      if not pieces.keys().isdisjoint(places):
        old.append(self._folder / line["bits"])
        line = {**line, **piece_files.write(self._folder / f"{number:04d}.bits", (
            pieces.get(place, self.pieces[place]) for place in places))}
        number += 1
        salt = hashlib.sha256((salt + line["sha256"]).encode()).hexdigest()
      if salt:
        state = hashlib.sha256((line["state"] + salt).encode()).hexdigest()[:16]
        line = {key: value for key, value in line.items() if key != "parts"}
        line.update(after=lines[-1]["state"] if lines else "", state=state)
      lines.append(line)
    before(lines[-1]["state"])
    replace(self._folder / COMMITS, lines)
    for path in old:
      path.unlink(missing_ok=True)
    self.refresh()

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
    if kind(line) == "samples":
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
    if kind(line) == "samples":
      line.update(sample_ids.write(self._folder / f"{number:04d}{sample_ids.SUFFIX}", ids))
    return line

  def _join(self, num: int) -> None:
    """Makes one of the last `num` additions, which are all of models or all of samples."""
    kept, old = self._lines[:-num], self._lines[-num:]
    sizes = [size(line) for line in old]
    ids: Iterable[Sequence[str]] = ()
    if kind(old[0]) == "models":
      batches = range(len(self.model_sizes) - num, len(self.model_sizes))
      pieces = (piece_files.below([self.pieces[batch, index] for batch in batches], size)
                for index, size in enumerate(self.sample_sizes))
    else:
      columns = range(len(self.sample_sizes) - num, len(self.sample_sizes))
      pieces = (piece_files.beside([self.pieces[batch, index] for index in columns], sizes)
                for batch in range(len(self.model_sizes)))
      ids = self.ids.chunks(len(self.ids) - sum(sizes))
    self._replace(kept, [self._written(joined(old), self._next(), pieces, ids)])

  def _rewrite(self) -> None:
    """Makes one addition of all samples, and a few of all models."""
    number, end, sizes = self._next(), self._state(), self.sample_sizes
    place = [(batch, row) for batch, num in enumerate(self.model_sizes) for row in range(num)]
    chunk = rows_a_file(sum(sizes), self._bits)
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
    replace(self._folder / COMMITS, [*kept, *new])
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


def remedy(folder: pathlib.Path, log: Log, num: int) -> str:
  """Says what can be done about a problem of what follows the first `num` lines."""
  num_bytes = log.ends[num - 1] if num else 0
  return ("Put the file back; or give up what was added since by cutting "
          f"{folder / COMMITS} to its first {num} lines (truncate -s {num_bytes}).")


FANOUT = 16
MOST = 512
# Joined files stay below this, so that no addition waits long for the disk.
LARGEST_BYTES = 1 << 28


def rows_a_file(num_samples: int, bits: int = 2) -> int:
  """Number of models whose answers to all samples go to one file of a cache that is rewritten."""
  return max(1, LARGEST_BYTES // (bits * (num_samples + 7) // 8))


def is_scattered(num_lines: int, num_models: int, num_samples: int, bits: int = 2) -> bool:
  """Whether the additions are too many to join: the whole cache is written again."""
  files = 1 + math.ceil(num_models / rows_a_file(num_samples, bits))
  return num_lines > MOST and 2 * files <= num_lines


def kind(line: Mapping[str, Any]) -> str:
  """What a line of the log adds: "models" or "samples"."""
  return "samples" if line.get("samples") else "models"


def size(line: Mapping[str, Any]) -> int:
  """Number of models or samples that a line adds."""
  return line.get("samples") or len(line["models"])


def tail(lines: Sequence[Mapping[str, Any]]) -> int:
  """Number of lines at the end of the log that become one; 0: none."""
  level = 0
  while True:
    limit, num, num_bytes = FANOUT**(level + 1), 0, 0
    for line in reversed(lines):
      if kind(line) != kind(lines[-1]) or size(line) >= limit:
        break
      num_bytes += line["bytes"]
      if num_bytes > LARGEST_BYTES:
        break
      num += 1
    if num >= FANOUT:
      return num
    if num == len(lines) or num_bytes > LARGEST_BYTES or kind(lines[-num - 1]) != kind(lines[-1]):
      return 0
    level += 1


def joined(lines: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """Returns the line of the log, without files, that replaces several lines of one kind.

  Its `parts` are the number of entries and the state of each replaced line, so that counts that
  were made at these states stay valid.
  """
  parts = [part for line in lines for part in line.get("parts", [[size(line), line["state"]]])]
  made = {"after": lines[0]["after"], "state": lines[-1]["state"], "parts": parts}
  if kind(lines[0]) == "samples":
    return {"samples": sum(map(size, lines)), **made}
  return {"models": [name for line in lines for name in line["models"]], **made}


class Log(NamedTuple):
  """What a file holds.

  Attributes:
    lines: the valid lines, up to the first damaged one.
    ends: byte offset of the end of each.
    last: the last of them as it stands in the file.
    damage: says which line is damaged; "" if none is.
  """

  lines: list[dict[str, Any]]
  ends: list[int]
  last: bytes
  damage: str


def read(path: pathlib.Path, known: Log | None = None) -> Log:
  """Reads a file; `known` is what an earlier call returned, whose lines are not read again.

  A file that was replaced since (its last known line is not where it was) is read from its start.
  """
  if not path.exists():
    return Log([], [], b"", "")
  if not path.is_file():
    return Log([], [], b"", f"{path} is no file")
  lines: list[dict[str, Any]] = []
  ends: list[int] = []
  last, end = b"", 0
  with open(path, "rb") as file:
    if known is not None and known.ends and not known.damage:
      file.seek(known.ends[-1] - len(known.last))
      if file.read(len(known.last)) == known.last:
        lines, ends, last, end = [*known.lines], [*known.ends], known.last, known.ends[-1]
    file.seek(end)
    for raw in file:
      if not raw.endswith(b"\n"):
        _LOGGER.warning("%s has an incomplete last line: it is read up to there.", path)
        break
      digest, _, body = raw.decode("utf-8", "replace").rstrip("\n").partition(" ")
      if digest != _digest(body):
        return Log(lines, ends, last, f"{path} is damaged in line {len(lines) + 1}")
      end += len(raw)
      lines.append(json.loads(body))
      ends.append(end)
      last = raw
  return Log(lines, ends, last, "")


def append(path: pathlib.Path, line: Mapping[str, Any], *, at: int) -> None:
  """Writes one line at byte `at`, over any incomplete line that a crash has left there."""
  is_new = not path.exists()
  with open(path, "ab") as file:
    file.truncate(at)
    file.write(_raw(line))
    atomic_files.sync_file(file)
  if is_new:
    atomic_files.sync_folder(path.parent)


def replace(path: pathlib.Path, lines: Iterable[Mapping[str, Any]]) -> None:
  """Replaces the whole file; readers see either the old or the new lines."""
  atomic_files.write(path, b"".join(map(_raw, lines)))


def _raw(line: Mapping[str, Any]) -> bytes:
  body = json.dumps(line)
  return f"{_digest(body)} {body}\n".encode()


def _digest(body: str) -> str:
  return hashlib.sha256(body.encode()).hexdigest()[:16]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Values that papers print, from `paper/*.csv`, to stand below ours.

A file of scores has the columns row, column, measure, value, std and convention, in percent, as
printed ("" where nothing is stated). A file of a matrix has a line of values a bucket trained up
to, and no heading. Lines that begin with # say where the numbers are from, for the reader of a
table, too.
"""

from __future__ import annotations

from collections.abc import Iterator
import csv
import dataclasses
import pathlib
from typing import NamedTuple

_FOLDER = pathlib.Path(__file__).parent / "paper"


class Value(NamedTuple):
  """As printed: the mean in percent, its spread over seeds, the convention of its tasks."""

  value: str
  std: str
  convention: str

  def __str__(self) -> str:
    return f"{self.value} ±{self.std}" if self.std else self.value


@dataclasses.dataclass(frozen=True)
class Scores:
  """notes: where they are from. values: by (row, column, measure)."""

  notes: list[str]
  values: dict[tuple[str, str, str], Value]


def names() -> list[str]:
  """Of all files."""
  return sorted(path.stem for path in _FOLDER.glob("*.csv"))


def scores(name: str) -> Scores:
  notes, lines = _read(name)
  values = {(line["row"], line["column"], line["measure"]):
            Value(line["value"], line["std"], line["convention"])
            for line in csv.DictReader(lines) if line["value"]}
  return Scores(notes, values)


def matrix(name: str) -> tuple[list[str], list[list[str]]]:
  """Its notes, and its lines."""
  notes, lines = _read(name)
  return notes, list(csv.reader(lines))


def _read(name: str) -> tuple[list[str], list[str]]:
  lines = (_FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
  return list(_notes(lines)), [line for line in lines if line and not line.startswith("#")]


def _notes(lines: list[str]) -> Iterator[str]:
  return (line.lstrip("#").strip() for line in lines if line.startswith("#"))

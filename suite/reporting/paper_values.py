# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Values printed in papers, from `paper/*.csv`, for comparison.

A file of scores has the columns row, column, measure, value, std and convention, in percent, as
printed ("" where nothing is stated). A file of a matrix has a line of values for each bucket
trained up to, and no header. A file of another table has columns named in its first line. Lines
that begin with # state the source of the numbers and are printed below the table.
"""

from __future__ import annotations

import csv
import dataclasses
import pathlib
from typing import NamedTuple

_FOLDER = pathlib.Path(__file__).parent / "paper"


class Value(NamedTuple):
  """A printed value: mean in percent, spread over seeds, convention of the tasks."""

  value: str
  std: str
  convention: str

  def __str__(self) -> str:
    return f"{self.value} ±{self.std}" if self.std else self.value


@dataclasses.dataclass(frozen=True)
class PaperScores:
  """Scores of a paper. notes: their source. values: by (row, column, measure)."""

  notes: list[str]
  values: dict[tuple[str, str, str], Value]


def names() -> list[str]:
  """Names of all files."""
  return sorted(path.stem for path in _FOLDER.glob("*.csv"))


def scores(name: str) -> PaperScores:
  notes, lines = _read(name)
  values = {(line["row"], line["column"], line["measure"]):
            Value(line["value"], line["std"], line["convention"])
            for line in csv.DictReader(lines) if line["value"]}
  return PaperScores(notes, values)


def matrix(name: str) -> tuple[list[str], list[list[str]]]:
  """Reads a matrix: (notes, lines of values)."""
  notes, lines = _read(name)
  return notes, list(csv.reader(lines))


def table(name: str) -> tuple[list[str], list[dict[str, str]]]:
  """Reads a table whose first line names its columns: (notes, lines by column)."""
  notes, lines = _read(name)
  return notes, list(csv.DictReader(lines))


def _read(name: str) -> tuple[list[str], list[str]]:
  lines = (_FOLDER / f"{name}.csv").read_text(encoding="utf-8").splitlines()
  notes = [line.lstrip("#").strip() for line in lines if line.startswith("#")]
  return notes, [line for line in lines if line and not line.startswith("#")]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A panel's table as cells with text and value; a wide one is transposed."""

from __future__ import annotations

from collections.abc import Sequence
import math
import re
from typing import Any, NamedTuple

from suite.reporting import panel as panel_lib
from suite.reporting import text_table

# More columns than this are read more easily as rows.
WIDE = 14
_NUMBER = re.compile(r"^(-?[\d,]*\.?\d+)(?: ([kMGTPEZY]?)(?:FLOP|MAC|B)| [±[(].*)?$")
_DURATION = re.compile(r"([\d.]+) (h|min|s)\b")
_PREFIXES = " kMGTPEZY"
_SECONDS = {"h": 3600, "min": 60, "s": 1}


class Cell(NamedTuple):
  """A cell: as printed, for sorting and computing (None: unknown), and the file it leads to."""

  text: str
  value: Any
  is_number: bool
  link: str = ""


class Table(NamedTuple):
  """Headings and rows of cells."""

  header: Sequence[str]
  rows: Sequence[Sequence[Cell]]

  def transposed(self) -> Table:
    """The table with a column for each row; the first column becomes the headings."""
    header = [self.header[0], *(row[0].text for row in self.rows)]
    rows = [[Cell(name, name, False), *(row[i] for row in self.rows)]
            for i, name in enumerate(self.header) if i]
    return Table(header, rows)

  def text_table(self, panel: panel_lib.Panel) -> text_table.TextTable:
    """The table for a terminal or Markdown."""
    columns = list(zip(*self.rows)) or [()] * len(self.header)
    num_left = next((i for i, column in enumerate(columns) if any(c.is_number for c in column)),
                    len(columns))
    return text_table.TextTable(panel.title, list(self.header), [
        [cell.text for cell in row] for row in self.rows], num_left, notes=list(panel.notes))


def table(panel: panel_lib.Panel, *, is_fitted: bool = True) -> Table:
  """The table of a panel; transposed if it is wider than long, where `is_fitted`."""
  header = [panel_lib.heading(column) for column in panel.columns]
  rows = [[_cell(value, column.kind) for value, column in zip(row, panel.columns)]
          for row in panel.rows]
  found = Table(header, rows)
  is_wide = len(header) > WIDE and len(header) > len(rows) + 1
  return found.transposed() if is_fitted and is_wide else found


def number(text: str) -> float | None:
  """The number of a printed value, such as "1.26 TFLOP" or "86.12 ±0.31"; None for no number."""
  match = _NUMBER.match(text)
  if match:
    return float(match[1].replace(",", "")) * 1000.0 ** _PREFIXES.index(match[2] or " ")
  parts = _DURATION.findall(text)
  return sum(float(value) * _SECONDS[unit] for value, unit in parts) if parts else None


def _cell(value: Any, kind: str) -> Cell:
  text = panel_lib.cell(value, kind)
  if kind == panel_lib.LINK:
    return Cell(text, text, False, text)
  if kind == panel_lib.SHOWN:
    return Cell(text, number(text), True)
  if kind == panel_lib.TEXT:
    return Cell(text, value, False)
  known = isinstance(value, (int, float)) and math.isfinite(value)
  return Cell(text, value if known else None, True)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A table of text, printed for a terminal or as Markdown."""

from __future__ import annotations

from collections.abc import Sequence
import dataclasses
from typing import Any


@dataclasses.dataclass
class TextTable:
  """A table of text.

  Attributes:
    title: title of the table.
    header: names of the columns.
    rows: cells, one list per row; each is text, or a `quantities.Quantity`, which becomes text when
      the table is rendered.
    num_left: number of text columns, aligned left; the others are numbers, aligned right.
    best: cells (row, column) to highlight in Markdown.
    notes: lines below the table.
  """

  title: str
  header: Sequence[str]
  rows: list[list[Any]]
  num_left: int = 1
  best: frozenset[tuple[int, int]] = frozenset()
  notes: Sequence[str] = ()

  def text(self) -> str:
    """Renders the table with fixed widths, for a terminal."""
    rows = [list(map(str, row)) for row in self.rows]
    widths = [max(map(len, column)) for column in zip(self.header, *rows)]
    rule = ["-" * width for width in widths]
    lines = []
    for cells in (self.header, rule, *rows):
      padded = [cell.ljust(width) if i < self.num_left else cell.rjust(width)
                for i, (cell, width) in enumerate(zip(cells, widths))]
      lines.append("  ".join(padded).rstrip())
    return "\n".join([self.title, "", *lines, *(["", *self.notes] if self.notes else [])]) + "\n"

  def markdown(self) -> str:
    rule = ["---" if i < self.num_left else "---:" for i in range(len(self.header))]
    body = [[f"**{_escape(str(cell))}**" if (r, c) in self.best else _escape(str(cell))
             for c, cell in enumerate(row)] for r, row in enumerate(self.rows)]
    lines = [f"| {' | '.join(cells)} |" for cells in (map(_escape, self.header), rule, *body)]
    notes = ["", *(f"- {_escape(note)}" for note in self.notes)] if self.notes else []
    return "\n".join([f"**{_escape(self.title)}**", "", *lines, *notes]) + "\n"


def _escape(cell: str) -> str:
  return cell.replace("|", "\\|")

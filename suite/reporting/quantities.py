# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Numbers with a unit, and tables of them: 1.23e9 FLOPs is "1.23 GFLOP", None is "not counted".

Tables hold a `Quantity` in each cell. It becomes text when the table is rendered, so that a page
sorts, and a CSV file has, the number itself. `TextTable` renders for a terminal and as Markdown.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import math
import statistics
from typing import Any
import unicodedata

import numpy as np

UNKNOWN, NOT_COUNTED = "unknown", "not counted"
NOTHING = "-"
_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")

TEXT, LINK, COUNT, PERCENT, NUMBER = "text", "link", "count", "percent", "number"
FLOPS, MACS, BYTES, SECONDS = "flops", "macs", "bytes", "seconds"
GAIN, RANK, LARGE = "gain", "rank", "large"
# A cost that is not known was spent all the same: never a dash.
_COSTS = (FLOPS, MACS, SECONDS)


def si(value: float | None, unit: str) -> str:
  """Formats three digits with an SI prefix; None is "not counted" for FLOPs and MACs, or "unknown".
  """
  if value is None or not math.isfinite(value):
    return NOT_COUNTED if unit in ("FLOP", "MAC") else UNKNOWN
  if abs(value) < 1000 and float(value).is_integer():
    return f"{int(value)} {unit}"
  # Rounded before choosing the prefix: 999,999 is 1.00 M, not 1000 k.
  rounded = float(f"{value:.2e}")
  power = min(max(math.floor(math.log10(abs(rounded))), 0) // 3, len(_PREFIXES) - 1)
  scaled = rounded / 1000 ** power
  digits = 2 - min(max(math.floor(math.log10(abs(scaled))), 0), 2)
  return f"{scaled:.{digits}f} {_PREFIXES[power]}{unit}"


def mean(values: Sequence[float]) -> float:
  """The mean of at least one number; of integers it is exact, and one itself if it is whole.

  Floats have 53 bits, and streams of large models cost more FLOPs than that.
  """
  if all(isinstance(value, int) for value in values):
    return statistics.mean(values)
  return float(np.mean(values))


def duration(seconds: float | None) -> str:
  """Formats a duration: "42 s", "3 min 20 s", "5 h 07 min"."""
  if seconds is None or not math.isfinite(seconds):
    return UNKNOWN
  whole = round(seconds)
  if whole < 60:
    return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
  if whole < 3600:
    return f"{whole // 60} min {whole % 60:02d} s"
  minutes = round(seconds / 60)
  return f"{minutes // 60} h {minutes % 60:02d} min"


def _percent(share: float) -> str:
  # Nine decimals first: equal shares print equally, however they were computed. And without the
  # sign of a zero.
  return f"{round(round(100 * share, 9), 2) + 0.0:.2f}"


# Unit: the text of a known value.
_TEXTS: Mapping[str, Callable[[Any], str]] = {
    TEXT: str, LINK: str, COUNT: lambda value: f"{value:,}", PERCENT: _percent,
    NUMBER: lambda value: f"{value:.4f}", LARGE: lambda value: f"{value:.4g}",
    FLOPS: lambda value: si(value, "FLOP"), MACS: lambda value: si(value, "MAC"),
    BYTES: lambda value: si(value, "B"), SECONDS: duration,
    GAIN: lambda share: f"{100 * share:+.2f}",
    RANK: lambda value: f"{value:.2f}".rstrip("0").rstrip(".")}
UNITS = tuple(_TEXTS)


@dataclasses.dataclass(frozen=True)
class Quantity:
  """A value with its unit; `str` renders it.

  Attributes:
    value: a number, or the text or path of units "text" and "link"; None or NaN: unknown. Of
      "percent" and "gain" it is a share: 0.25 is printed as 25.00 and +25.00.
    unit: one of `UNITS`.
    deviation, interval: of a share, over seeds, and half of its 95% interval; None: not shown.
    note: follows the number, such as "(2/3)".
    printed: text in place of the number's own; None: none.
  """

  value: Any
  unit: str
  deviation: float | None = None
  interval: float | None = None
  note: str = ""
  printed: str | None = None

  @property
  def is_number(self) -> bool:
    return self.unit not in (TEXT, LINK)

  @property
  def plain(self) -> Any:
    """The number, or the text or path; None if the number is unknown."""
    known = isinstance(self.value, (int, float)) and math.isfinite(self.value)
    return self.value if known or not self.is_number else None

  def estimated(self, low: float, high: float) -> Quantity:
    """This share as an estimate, with a mark and its bounds."""
    half = max(high - self.value, self.value - low)
    return dataclasses.replace(self, interval=half, printed=f"~{_TEXTS[self.unit](self.value)}")

  def __str__(self) -> str:
    known = self.value is not None and not (
        isinstance(self.value, float) and not math.isfinite(self.value))
    own = _TEXTS[self.unit](self.value) if known or self.unit in _COSTS else NOTHING
    parts = [own if self.printed is None else self.printed]
    if self.deviation is not None:
      parts.append(f"±{_percent(self.deviation)}")
    if self.interval is not None:
      parts.append(f"[{_percent(self.interval)}]")
    return printable(" ".join([*parts, *([self.note] if self.note else [])]))


def printable(text: str) -> str:
  """Text for a terminal or a file: control and direction characters and line ends are escaped.

  "a\\x1b[2Jb" in place of a name that clears the screen.
  """
  def is_plain(letter: str) -> bool:
    kind = unicodedata.category(letter)
    return kind[0] != "C" and kind not in ("Zl", "Zp")

  return "".join(letter if is_plain(letter) else letter.encode("unicode_escape").decode()
                 for letter in text)


def words(text: str) -> Quantity:
  """Text in a column of numbers."""
  return Quantity(None, NUMBER, printed=text)


def by_name(name: str, value: Any) -> Quantity:
  """Returns a value of a summary with the unit that its name says."""
  first = name.split(".")[-1].removeprefix("budget_").removeprefix("saved_").split("_")[0]
  if first in ("flops", "macs", "cflop"):
    return Quantity(value, MACS if first == "macs" else FLOPS)
  if first == "seconds":
    return Quantity(value, SECONDS)
  if value is None:
    return Quantity(None, NUMBER)
  if first == "peak" or (name.endswith("_bytes") and isinstance(value, int)):
    return Quantity(value, BYTES)
  if isinstance(value, bool):
    return words(str(value))
  if isinstance(value, int):
    return Quantity(value, COUNT)
  if isinstance(value, float):
    return Quantity(value, NUMBER if abs(value) < 1000 else LARGE)
  if isinstance(value, list):
    return words(", ".join(str(item) for item in value) or NOTHING)
  return words(str(value))


@dataclasses.dataclass
class TextTable:
  """A table of text.

  Attributes:
    title: title of the table.
    header: names of the columns.
    rows: cells, one list per row; each is text or a `Quantity`.
    num_left: number of text columns, aligned left; the others are numbers, aligned right.
    best: cells (row, column) to highlight in Markdown.
    notes: lines below the table.
    chart: what a figure of it shows, see `panels`; None: nothing.
  """

  title: str
  header: Sequence[str]
  rows: list[list[Any]]
  num_left: int = 1
  best: frozenset[tuple[int, int]] = frozenset()
  notes: Sequence[str] = ()
  chart: Any = None

  def text(self, most: int | None = None) -> str:
    """Renders the table with fixed widths, for a terminal.

    Args:
      most: columns of the terminal. A wider table is divided into several, each with the columns of
        text; None: it stays whole.
    """
    header, *rows = ([printable(str(cell)) for cell in row] for row in (self.header, *self.rows))
    widths = [max(map(len, column)) for column in zip(header, *rows)]
    rule = ["-" * width for width in widths]
    # The columns of each of the tables that are at most so wide.
    left = list(range(self.num_left))
    parts = [list(left)]
    for i in range(self.num_left, len(widths)):
      if most is not None and len(parts[-1]) > len(left) and sum(
          widths[j] + 2 for j in parts[-1]) + widths[i] > most:
        parts.append(list(left))
      parts[-1].append(i)
    lines: list[str] = []
    for shown in parts:
      lines += [""] if lines else []
      for cells in (header, rule, *rows):
        padded = [cells[i].ljust(widths[i]) if i < self.num_left else cells[i].rjust(widths[i])
                  for i in shown]
        lines.append("  ".join(padded).rstrip())
    notes = ["", *map(printable, self.notes)] if self.notes else []
    return "\n".join([printable(self.title), "", *lines, *notes]) + "\n"

  def markdown(self) -> str:
    rule = ["---" if i < self.num_left else "---:" for i in range(len(self.header))]
    body = [[f"**{_escape(str(cell))}**" if (r, c) in self.best else _escape(str(cell))
             for c, cell in enumerate(row)] for r, row in enumerate(self.rows)]
    lines = [f"| {' | '.join(cells)} |" for cells in (map(_escape, self.header), rule, *body)]
    notes = ["", *(f"- {_escape(note)}" for note in self.notes)] if self.notes else []
    return "\n".join([f"**{_escape(self.title)}**", "", *lines, *notes]) + "\n"


def _escape(cell: str) -> str:
  return printable(cell).replace("|", "\\|")

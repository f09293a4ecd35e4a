# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One analysis of runs: a title, a table of plain values, and what its figures show.

A chart is plain values. The page draws it with Plotly and `--figures` with matplotlib: Plotly needs
a browser to write a file, and matplotlib's figures are not interactive.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import math
import re
from typing import Any, NamedTuple

from suite.reporting import quantities

TEXT, LINK, COUNT = quantities.TEXT, quantities.LINK, quantities.COUNT
PERCENT, NUMBER = quantities.PERCENT, quantities.NUMBER
FLOPS, SECONDS, BYTES = quantities.FLOPS, quantities.SECONDS, quantities.BYTES
MIXED = "mixed"
KINDS = (*quantities.UNITS, MIXED)
LINE, POINTS, STEP, REFERENCE = "line", "points", "step", "reference"
WIDE = 14  # More columns than this are read more easily as rows.
# A label and what is said of it, which is too long for a table: "er (selected on ...), paper".
_LONG_LABEL = re.compile(r"(?P<label>.+?) \((?P<said>.{33,})\)(?P<end>(?:, [^()]*)?)")


class Column(NamedTuple):
  """A column of plain values; `kind`, one of `KINDS`, is their unit.

  Values of kind "percent" are shares: 0.25 is printed as 25.00. Those of kind "link" are paths.
  Those of kind "mixed" are `quantities.Quantity` with a unit each, or text among numbers.
  """

  name: str
  kind: str = TEXT


class CellTable(NamedTuple):
  """Headings and rows of cells."""

  header: Sequence[str]
  rows: Sequence[Sequence[quantities.Quantity]]

  def transposed(self) -> CellTable:
    """The table with a column for each row; the first column becomes the headings."""
    header = [self.header[0], *(str(row[0]) for row in self.rows)]
    rows = [[quantities.Quantity(name, TEXT), *(row[i] for row in self.rows)]
            for i, name in enumerate(self.header) if i]
    return CellTable(header, rows)


@dataclasses.dataclass(frozen=True)
class Panel:
  """One analysis.

  Attributes:
    name: short name, unique within a report of one stream.
    title: what is shown.
    columns: columns of the table.
    rows: plain values, a list a row; None is unknown.
    notes: lines below the table: what is left out, and why.
    arrays: further plain values that the figure shows, such as matrices.
    chart: what its figure shows; None for none.
    best: cells (row, column) to mark.
    group: the name to ask for, of which there are several panels; "": the panel's own.
  """

  name: str
  title: str
  columns: Sequence[Column]
  rows: Sequence[Sequence[Any]]
  notes: Sequence[str] = ()
  arrays: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  chart: Chart | None = None
  best: frozenset[tuple[int, int]] = frozenset()
  group: str = ""

  def __post_init__(self) -> None:
    unknown = sorted({column.kind for column in self.columns} - set(KINDS))
    if unknown:
      raise ValueError(f"Panel {self.name!r} has columns of kind {', '.join(unknown)}; allowed are "
                       f"{', '.join(KINDS)}.")
    wrong = [len(row) for row in self.rows if len(row) != len(self.columns)]
    if wrong:
      raise ValueError(f"Panel {self.name!r} has {len(self.columns)} columns and a row of "
                       f"{wrong[0]} values; give each row a value for each column.")

  @property
  def is_wide(self) -> bool:
    """Whether the table is read more easily with a column for each row."""
    return len(self.columns) > max(WIDE, len(self.rows) + 1)

  def short(self) -> Panel:
    """The panel with short labels, "er (a)", and a line below for what each (a) stands for."""
    marks: dict[str, str] = {}

    def shown(label: Any) -> Any:
      found = _LONG_LABEL.fullmatch(label) if isinstance(label, str) else None
      if found is None:
        return label
      mark = marks.setdefault(found["said"], _mark(len(marks)))
      return f"{found['label']} ({mark}){found['end']}"

    columns = [column._replace(name=shown(column.name)) for column in self.columns]
    rows = [[*map(shown, row[:1]), *row[1:]] for row in self.rows]
    return dataclasses.replace(self, columns=columns, rows=rows, notes=[
        *self.notes, *(f"({mark}) {said}" for said, mark in marks.items())])

  def table(self, *, is_fitted: bool = True) -> CellTable:
    """The table as cells; transposed if it is wider than long, where `is_fitted`."""
    found = CellTable([heading(column) for column in self.columns], [
        [cell(value, column.kind) for value, column in zip(row, self.columns)]
        for row in self.rows])
    return found.transposed() if is_fitted and self.is_wide else found

  def text_table(self, *, is_fitted: bool = False) -> quantities.TextTable:
    """The table for a terminal or Markdown."""
    short = self.short()
    found = short.table(is_fitted=is_fitted)
    columns = list(zip(*found.rows)) or [()] * len(found.header)
    num_left = next((i for i, column in enumerate(columns) if any(c.is_number for c in column)),
                    len(columns))
    return quantities.TextTable(self.title, list(found.header), [list(row) for row in found.rows],
                                num_left, notes=list(short.notes), best=(
                                    frozenset() if is_fitted and self.is_wide else self.best))


class Section(NamedTuple):
  """The panels of one stream.

  Attributes:
    title: names protocol and stream.
    panels: those that a page shows at once come first.
    num_main: how many these are; None: all.
    about: what was run, in words: (name, text).
  """

  title: str
  panels: Sequence[Panel]
  num_main: int | None = None
  about: Sequence[tuple[str, str]] = ()


def _mark(number: int) -> str:
  letter = chr(ord("a") + number % 26)
  return f"{letter}{number // 26}" if number >= 26 else letter


def short_label(label: str) -> str:
  """A label for a title: without what is too long for a table, which `Panel.short` says below."""
  found = _LONG_LABEL.fullmatch(label)
  return f"{found['label']}{found['end']}" if found else label


def plain(value: float | None) -> float | None:
  """The value as a Python number; NaN becomes None."""
  return None if value is None or not math.isfinite(value) else float(value)


def percent(share: float | None) -> float | None:
  """The share in percent as a Python number; NaN becomes None."""
  known = plain(share)
  return None if known is None else 100 * known


def plain_list(values: Any) -> Any:
  """An array as nested lists of plain values."""
  return [plain_list(v) for v in values] if hasattr(values, "__len__") else plain(values)


def heading(column: Column) -> str:
  """The name of a column with its unit."""
  return f"{column.name}, %" if column.kind == PERCENT else column.name


def cell(value: Any, kind: str) -> quantities.Quantity:
  """A value of a column with its unit."""
  if isinstance(value, quantities.Quantity):
    return value
  if kind == MIXED:
    return quantities.words(quantities.NOTHING if value is None else str(value))
  unknown = kind == SECONDS and (value is None or not math.isfinite(value))
  return quantities.Quantity(value, kind, printed=quantities.NOTHING if unknown else None)


class PlotSeries(NamedTuple):
  """One learner in a plot.

  Attributes:
    name: in the legend.
    x, y: of equal length; None leaves a gap.
    texts: a line of the tooltip of each point; empty for none.
    deviation: over seeds, of each y; empty for none.
    shape: "line", "points", "step", or "reference": a thin line that is not in the legend.
    labels: a text beside each point; empty for none.
    is_front: the Pareto front, drawn black.
    place: number of its color and symbol; None: its place among the series.
  """

  name: str
  x: Sequence[Any]
  y: Sequence[Any]
  texts: Sequence[str] = ()
  deviation: Sequence[float | None] = ()
  shape: str = LINE
  labels: Sequence[str] = ()
  is_front: bool = False
  place: int | None = None


@dataclasses.dataclass(frozen=True)
class Plot:
  """Series over one axis.

  Attributes:
    x_label, y_label: of the axes.
    series: what is drawn.
    log_x, log_y: whether an axis is logarithmic.
    y_unit: "%" or ""; values are in that unit.
    x_unit: with `log_x`.
    ticks: texts of the axis by x; {}: at round numbers.
    marks: vertical lines, with a text or "", by x.
  """

  x_label: str
  y_label: str
  series: Sequence[PlotSeries]
  log_x: bool = False
  y_unit: str = ""
  x_unit: str = "FLOP"
  log_y: bool = False
  ticks: Mapping[Any, str] = dataclasses.field(default_factory=dict)
  marks: Mapping[Any, str] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(frozen=True)
class Plots:
  """Plots by name: the page shows one at a time, a file all of them, in `columns`."""

  choices: Mapping[str, Plot]
  columns: int = 4


@dataclasses.dataclass(frozen=True)
class Matrices:
  """Matrices of one meaning; a figure shows one at a time.

  Attributes:
    choices: by name, rows of values; None is unknown.
    columns, rows: names by choice.
    x_label, y_label, value_label: of the axes and the colors.
    is_diverging: whether 0 is in the middle of the colors.
  """

  choices: Mapping[str, Sequence[Sequence[float | None]]]
  columns: Mapping[str, Sequence[str]]
  rows: Mapping[str, Sequence[str]]
  x_label: str
  y_label: str
  value_label: str
  is_diverging: bool = False


def accuracy_matrix(found: Mapping[str, Any], part: str) -> Matrices:
  """Accuracies [T, T] in [0, 1] by name; rows are of training. `part`: the word for a bucket."""
  columns, rows = ({name: [str(i + 1) for i in range(acc.shape[axis])]
                    for name, acc in found.items()} for axis in (1, 0))
  return Matrices({name: plain_list(100 * acc) for name, acc in found.items()}, columns, rows,
                  f"Tested on {part}", f"Trained up to {part}", "Accuracy, %")


@dataclasses.dataclass(frozen=True)
class Bars:
  """Stacked bars: a bar for each name, a part for each key of `parts`."""

  names: Sequence[str]
  parts: Mapping[str, Sequence[float | None]]
  label: str
  unit: str = ""


@dataclasses.dataclass(frozen=True)
class Graph:
  """A graph from left to right.

  Attributes:
    places: of each node, (column, row from the top).
    groups: of each node, for its color.
    edges: (source, target).
    texts: further lines of a node's tooltip.
  """

  places: Mapping[str, tuple[float, float]]
  groups: Mapping[str, str]
  edges: Sequence[tuple[str, str]]
  texts: Mapping[str, str] = dataclasses.field(default_factory=dict)


class Picture(NamedTuple):
  """A small image, PNG, with a line of text; `is_good` decides its frame, None: no frame."""

  png: bytes
  text: str
  is_good: bool | None = None


@dataclasses.dataclass(frozen=True)
class Gallery:
  """Rows of pictures by the names of the rows."""

  rows: Mapping[str, Sequence[Picture]]


Chart = Plot | Plots | Matrices | Bars | Graph | Gallery

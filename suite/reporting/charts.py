# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What an interactive figure shows, as plain values; a format draws it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
from typing import Any, NamedTuple, Union

LINE, POINTS, STEP = "line", "points", "step"


class Series(NamedTuple):
  """One learner in a plot.

  Attributes:
    name: in the legend.
    x, y: of equal length; None leaves a gap.
    texts: a line of the tooltip of each point; empty for none.
    deviation: over seeds, of each y; empty for none.
    shape: "line", "points" or "step".
    is_front: the Pareto front, drawn black.
    place: number of its color and symbol; None: its place among the series.
  """

  name: str
  x: Sequence[Any]
  y: Sequence[float | None]
  texts: Sequence[str] = ()
  deviation: Sequence[float | None] = ()
  shape: str = LINE
  is_front: bool = False
  place: int | None = None


@dataclasses.dataclass(frozen=True)
class Plot:
  """Series over one axis. y_unit: "%" or ""; values are in that unit."""

  x_label: str
  y_label: str
  series: Sequence[Series]
  log_x: bool = False
  y_unit: str = ""


@dataclasses.dataclass(frozen=True)
class Matrices:
  """Matrices of one meaning, of which one is shown at a time.

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


Chart = Union[Plot, Matrices, Bars, Graph]

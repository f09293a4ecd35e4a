# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A report as one page that needs no other file and no network; the template is in page/."""

from __future__ import annotations

from collections.abc import Sequence
import os
import pathlib
import re
from typing import Any
import urllib.parse

import suite
from suite.reporting import panel as panel_lib
from suite.reporting.formats import cells
from suite.reporting.formats import plotly_charts

_PAGE = pathlib.Path(__file__).parent / "page"
# Panels that are closed at first: long, and looked up rather than read.
_CLOSED = ("tasks", "pareto", "curves", "matrix", "configuration", "runs")


def render(sections: Sequence[panel_lib.Section], out: pathlib.Path | None = None) -> str:
  """Renders the page; paths are relative to the folder of `out` where that is given."""
  import jinja2
  from plotly import offline
  template = jinja2.Environment(
      loader=jinja2.FileSystemLoader(_PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
      undefined=jinja2.StrictUndefined).get_template("report.html")
  library = offline.get_plotlyjs() if any(p.chart for s in sections for p in s.panels) else ""
  return template.render(
      version=suite.__version__, sections=[_section(s, out) for s in _numbered(sections)],
      style=_read("report.css"), script=_read("report.js"), library=_inline(library))


def _numbered(sections: Sequence[panel_lib.Section]) -> list[tuple[str, panel_lib.Section]]:
  """Each section with an id."""
  return [(f"s{i}_{re.sub(r'[^a-z0-9]+', '_', section.title.lower())}".rstrip("_"), section)
          for i, section in enumerate(sections, 1)]


def _section(numbered: tuple[str, panel_lib.Section], out: pathlib.Path | None) -> dict[str, Any]:
  name, section = numbered
  return {"id": name, "title": section.title, "panels": [
      _panel(f"{name}_{i}", panel, section.title, out)
      for i, panel in enumerate(section.panels, 1)]}


def _panel(name: str, panel: panel_lib.Panel, stream: str, out: pathlib.Path | None
           ) -> dict[str, Any]:
  table = cells.table(panel)
  title = panel.title[len(stream):].lstrip(": ") if panel.title.startswith(stream) else panel.title
  chart = plotly_charts.draw(panel.chart).to_plotly_json() if panel.chart else None
  return {
      "id": name, "name": panel.name, "title": title[:1].upper() + title[1:] or stream,
      "header": [{"text": name, "is_number": any(row[i].is_number for row in table.rows)}
                 for i, name in enumerate(table.header)],
      "kind": type(panel.chart).__name__.lower(), "notes": list(panel.notes),
      "chart": _plain(chart),
      "is_closed": panel.name in _CLOSED,
      "rows": [[{"text": cell.text, "is_number": cell.is_number, "link": _href(cell.link, out),
                 "value": "" if cell.value is None else cell.value,
                 "is_partial": cell.text.startswith("partial")} for cell in row]
               for row in table.rows]}


def _plain(value: Any) -> Any:
  """A figure as what JSON has."""
  if isinstance(value, dict):
    return {key: _plain(item) for key, item in value.items()}
  if isinstance(value, (list, tuple)):
    return [_plain(item) for item in value]
  return panel_lib.plain(value) if isinstance(value, float) else value


def _href(path: str, out: pathlib.Path | None) -> str:
  if not path:
    return ""
  if out is None:
    return pathlib.Path(path).absolute().as_uri()
  relative = os.path.relpath(path, out.absolute().parent)
  return urllib.parse.quote(pathlib.PurePath(relative).as_posix())


def _read(name: str) -> str:
  return _inline((_PAGE / name).read_text(encoding="utf-8"))


def _inline(program: str) -> str:
  """A program or a style for the inside of its element, which it must not end."""
  if re.search("</(script|style)", program, re.IGNORECASE):
    raise ValueError("A program of the page would end its own element: it holds "
                     "</script or </style.")
  return program

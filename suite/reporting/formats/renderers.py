# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A report in each format, from the sections of panels.

Of these html is one page that needs no other file and no network; its template is in page/. Charts
of panels become interactive figures by Plotly, with the colors and line styles of `figures`.
"""

from __future__ import annotations

import base64
from collections.abc import Callable, Mapping, Sequence
import gzip
import html
import json
import os
import pathlib
import re
import textwrap
from typing import Any
import urllib.parse

import numpy as np

import suite
from suite.reporting import figures
from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import tables

FORMATS = ("text", "html", "markdown", "csv", "latex")
_LONG = 40  # Rows of a table of LaTeX that no page holds.
_PAGE = pathlib.Path(__file__).parent / "page"
# Panels whose tables are closed at first: they have the numbers of the figure above them.
_CLOSED = ("pareto", "curves", "loss", "matrix", "samples")
# Of panels whose title is the section's.
_TITLES = {"headline": "Methods", "summary": "Every value of the summaries"}
_FEW = 4  # Methods that stand beside each other; more have a row each.
_TITLE = 34  # Letters of an axis's title in a line.
_MARKERS = {"o": "circle", "s": "square", "^": "triangle-up", "D": "diamond", "v": "triangle-down",
            "P": "cross", "X": "x", "*": "star", "<": "triangle-left", ">": "triangle-right",
            "h": "hexagon", "p": "pentagon"}
_DASHES = {"-": "solid", "--": "dash", ":": "dot", "-.": "dashdot"}
_PATTERNS = ("", "/", "x", "-", ".", "\\", "+", "|")
_GRID = "#dddddd"
_HEIGHT = 440
_RED_BLUE = [[0, "#b2182b"], [0.5, "#ffffff"], [1, "#2166ac"]]


def render(sections: Sequence[panels.Section], form: str, out: pathlib.Path | None = None
           ) -> str:
  """Renders a report.

  Args:
    sections: of `report_sections.load`.
    form: one of `FORMATS`.
    out: the file that the text is for: links of a page are relative to it.
  """
  if form == "html":
    return html_page(sections, out)
  makers = {"text": tables.text, "markdown": markdown, "csv": csv, "latex": latex}
  if form not in makers:
    raise ValueError(f"Unknown format {form!r}; allowed are {', '.join(FORMATS)}.")
  return makers[form](sections)


def markdown(sections: Sequence[panels.Section]) -> str:
  """A heading for each section, and the tables."""
  return "\n".join(part for section in sections for part in (
      f"## {quantities.printable(section.title)}\n",
      *(panel.text_table(is_fitted=True).markdown() for panel in section.panels)))


def csv(sections: Sequence[panels.Section]) -> str:
  """A line for each cell: section, panel, row number, name of the row, column, value, text.

  Values are unrounded, shares are not in percent; an unknown one is empty. A text that a
  spreadsheet would take for a formula has an apostrophe before it.
  """
  import pandas
  lines: list[list[Any]] = []
  for section in sections:
    for panel in section.panels:
      found = panel.table(is_fitted=False)
      for i, row in enumerate(found.rows):
        lines += [[_no_formula(section.title), panel.name, i, _no_formula(str(row[0])),
                   _no_formula(column.name),
                   cell.plain if cell.is_number else _no_formula(str(cell)),
                   str(cell) if cell.is_number else _no_formula(str(cell))]
                  for column, cell in zip(panel.columns, row)]
  names = ["section", "panel", "row", "name", "column", "value", "text"]
  return pandas.DataFrame(lines, columns=names, dtype=object).to_csv(index=False,
                                                                     lineterminator="\n")


def _no_formula(text: str) -> str:
  text = quantities.printable(text)
  return f"'{text}" if text[:1] in ("=", "+", "-", "@") and text != quantities.NOTHING else text


def latex(sections: Sequence[panels.Section]) -> str:
  """A table for each panel, which needs the packages booktabs and longtable."""
  import pandas
  parts = ["% Needs \\usepackage{booktabs} and \\usepackage{longtable}."]
  for section in sections:
    for panel in (one.short() for one in section.panels):
      found = panel.table()
      kinds = ["r" if any(row[i].is_number for row in found.rows) else "l"
               for i in range(len(found.header))]
      # By number: headings may be equal.
      frame = pandas.DataFrame([[str(cell) for cell in row] for row in found.rows],
                               columns=range(len(found.header)))
      style = frame.style.hide(axis="index").format(escape="latex").format_index(
          lambda i, header=found.header: _escape(header[i]), axis="columns")
      long = len(found.rows) > _LONG
      parts.append(style.to_latex(
          hrules=True, column_format="".join(kinds), caption=_escape(panel.title),
          environment="longtable" if long else None))
      parts += [f"% {quantities.printable(note)}" for note in panel.notes]
  return "\n".join(parts) + "\n"


def _escape(words: str) -> str:
  """Words for LaTeX; pandas escapes cells by the same rules."""
  codes = {"&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
           "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}",
           "±": r"$\pm$"}
  return "".join(codes.get(letter, letter) for letter in quantities.printable(words))


def html_page(sections: Sequence[panels.Section], out: pathlib.Path | None = None, title: str = "",
              *, texts: Sequence[tuple[str, str]] = (), refresh: int = 0) -> str:
  """Renders the page; paths are relative to the folder of `out` where that is given.

  Args:
    title: of the page; "": its runs, and the day of the last one.
    texts: texts to copy, (title, text); they are folded at first.
    refresh: seconds after which the page reloads itself, unless a text is open; 0: never.
  """
  import jinja2
  from plotly import offline
  template = jinja2.Environment(
      loader=jinja2.FileSystemLoader(_PAGE), autoescape=True, trim_blocks=True, lstrip_blocks=True,
      undefined=jinja2.StrictUndefined).get_template("report.html")
  shown: list[dict[str, Any]] = []
  for i, section in enumerate(sections, 1):
    name = f"s{i}_{re.sub(r'[^a-z0-9]+', '_', section.title.lower())}".rstrip("_")
    made = [_panel(f"{name}_{j}", panel.short(), section.title, out)
            for j, panel in enumerate(section.panels, 1)]
    num = len(made) if section.num_main is None else section.num_main
    shown.append({"id": name, "title": section.title, "main": made[:num], "rest": made[num:],
                  "about": list(section.about)})
  charts = {panel["id"]: panel["chart"] for one in shown for panel in (*one["main"], *one["rest"])
            if panel["chart"]}
  library = _packed(f"{offline.get_plotlyjs()};\nconst FIGURES = {json.dumps(charts)};"
                    ) if charts else ""
  about = [dict(section.about) for section in sections]
  runs = list(dict.fromkeys(one["run"] for one in about if "run" in one))
  days = [one["date"].partition(" ")[0] for one in about if one.get("date", "")[:1].isdigit()]
  words = textwrap.shorten(", ".join(runs), 80, placeholder=" ...") or "Report"
  return template.render(
      version=suite.__version__, sections=shown, texts=texts, refresh=refresh,
      title=title or (f"{words}, {max(days)}" if days else words),
      style=_read("report.css"), script=_read("report.js"), library=library)


def _panel(name: str, panel: panels.Panel, stream: str, out: pathlib.Path | None
           ) -> dict[str, Any]:
  is_headline = panel.name == "headline"
  is_turned = panel.is_wide or (is_headline and len(panel.columns) > _FEW + 1)
  table, best = panel.table(is_fitted=False), panel.best
  if is_turned:
    table = table.transposed()
    best = frozenset((column - 1, row + 1) for row, column in best)  # Headings are no cells.
  title = panel.title[len(stream):].lstrip(": ") if panel.title.startswith(stream) else panel.title
  pictures = panel.chart.rows if isinstance(panel.chart, panels.Gallery) else {}
  chart = None
  if panel.chart and not isinstance(panel.chart, panels.Gallery):
    plots = panel.chart.choices.values() if isinstance(panel.chart, panels.Plots) else [panel.chart]
    known = [series for plot in plots if isinstance(plot, panels.Plot) for series in plot.series]
    points = None if not known else {
        (series.name, x) for series in known
        if not series.is_front and series.shape != panels.REFERENCE
        for x, y in zip(series.x, series.y) if x is not None and y is not None}
    if points is None or len(points) > 1:  # Of a single point the table says as much.
      chart = draw_chart(panel.chart).to_plotly_json()
  return {
      "id": name, "name": panel.name,
      "title": title[:1].upper() + title[1:] or _TITLES.get(panel.name, stream),
      "header": [{"text": name or ("value" if i else "method" if is_headline and is_turned else
                                   "name"),
                  "is_number": any(row[i].is_number for row in table.rows)}
                 for i, name in enumerate(table.header)],
      "kind": type(panel.chart).__name__.lower(), "notes": list(panel.notes),
      "chart": _plain(chart),
      "is_closed": bool(chart or pictures) and (panel.name in _CLOSED
                                                or panel.name.startswith("front_")),
      "gallery": [(words, [{
          "source": f"data:image/png;base64,{base64.b64encode(one.png).decode()}",
          "text": one.text, "is_good": one.is_good} for one in row])
                  for words, row in pictures.items()],
      "rows": [[{"text": str(cell), "is_number": cell.is_number,
                 "link": _href(str(cell.value), out) if cell.unit == quantities.LINK else "",
                 "value": (str(cell) if cell.unit == quantities.LINK else
                           "" if cell.plain is None else cell.plain),
                 "is_partial": str(cell).startswith("partial"), "is_best": (i, j) in best}
                for j, cell in enumerate(row)] for i, row in enumerate(table.rows)]}


def _plain(value: Any) -> Any:
  """A figure as what JSON has."""
  if isinstance(value, dict):
    return {key: _plain(item) for key, item in value.items()}
  if isinstance(value, (list, tuple)):
    return [_plain(item) for item in value]
  return panels.plain(value) if isinstance(value, float) else value


def _href(path: str, out: pathlib.Path | None) -> str:
  if not path:
    return ""
  if out is None:
    return pathlib.Path(path).absolute().as_uri()
  relative = os.path.relpath(path, out.absolute().parent)
  return urllib.parse.quote(pathlib.PurePath(relative).as_posix())


def _packed(program: str) -> str:
  """A program as text, for `unpack` of report.js: the size of its gzip, and that in base 85."""
  packed = gzip.compress(program.encode(), 9, mtime=0)
  text = base64.b85encode(packed, pad=True).decode().replace("<", ",")  # No tag begins within.
  return f"{len(packed)}:{text}"


def _read(name: str) -> str:
  return _inline((_PAGE / name).read_text(encoding="utf-8"))


def _inline(program: str) -> str:
  """A program or a style for the inside of its element, which it must not end."""
  if re.search("</(script|style)", program, re.IGNORECASE):
    raise ValueError("A program of the page would end its own element: it holds "
                     "</script or </style.")
  return program


def draw_chart(chart: panels.Chart) -> Any:
  """Draws a chart as `plotly.graph_objects.Figure`."""
  from plotly import graph_objects
  figure = graph_objects.Figure()
  ways: dict[type, Callable[[Any, Any], None]] = {
      panels.Plot: _plot, panels.Plots: _plots, panels.Matrices: _matrices, panels.Bars: _bars,
      panels.Graph: _graph}
  ways[type(chart)](figure, chart)
  figure.update_layout(
      template="none", margin={"l": 64, "r": 44, "t": 40, "b": 56}, hovermode="closest",
      legend={"orientation": "h", "yanchor": "bottom", "y": 1.02, "x": 0}, autosize=True,
      font={"family": "system-ui, sans-serif", "size": 13}, paper_bgcolor="rgba(0,0,0,0)",
      plot_bgcolor="rgba(0,0,0,0)",
      # Upright beside the figure: across, it would lie on the legend.
      modebar={"bgcolor": "rgba(255,255,255,0.8)", "color": "#6e7781", "activecolor": "#000000",
               "orientation": "v"})
  return figure


def look(i: int) -> dict[str, str]:
  """Color, symbol and dash of the i-th series, as Plotly names them."""
  return _as_plotly(figures.look(i))


def _as_plotly(found: Mapping[str, Any]) -> dict[str, str]:
  return {"color": found["color"], "symbol": _MARKERS.get(found["marker"], "circle"),
          "dash": _DASHES.get(found["linestyle"], "solid")}


def _plot(figure: Any, chart: panels.Plot) -> None:
  _plots(figure, panels.Plots({"": chart}))


def _plots(figure: Any, chart: panels.Plots) -> None:
  """A plot is shown at a time; its axes and marks are those of its choice in the menu."""
  layouts: dict[str, dict[str, Any]] = {}
  owners: list[str] = []
  for name, plot in chart.choices.items():
    _add_series(figure, plot, is_visible=not layouts)
    owners += [name] * len(plot.series)
    layouts[name] = {**_axes(plot), "height": _HEIGHT + 16 * max(0, len(plot.series) // 5 - 1),
                     "shapes": [{"type": "line", "x0": x, "x1": x, "y0": 0, "y1": 1,
                                 "yref": "paper", "line": {"color": "#bbbbbb", "width": 1}}
                                for x in plot.marks],
                     "annotations": [{"x": x, "y": 1, "yref": "paper", "text": _safe(text),
                                      "showarrow": False, "xanchor": "left"}
                                     for x, text in plot.marks.items() if text]}
  figure.update_layout(next(iter(layouts.values()), {}))
  _menu(figure, layouts, owners)


def _menu(figure: Any, layouts: Mapping[str, Any], owners: Sequence[str]) -> None:
  """A menu of what is shown: the series with their owner's name, and its layout."""
  if len(layouts) > 1:
    figure.update_layout(updatemenus=[{
        "x": 0, "xanchor": "left", "y": 1.02, "yanchor": "bottom", "buttons": [
            {"label": _safe(name), "method": "update",
             "args": [{"visible": [owner == name for owner in owners]}, *([own] if own else [])]}
            for name, own in layouts.items()]}])


def _add_series(figure: Any, chart: panels.Plot, is_visible: bool) -> None:
  for series, found in figures.series_looks(chart):
    style = _as_plotly(found)
    deviation = [0 if d is None else d for d in series.deviation]
    texts = []
    for i, (x, y) in enumerate(zip(series.x, series.y)):
      x_text = quantities.si(x, chart.x_unit) if chart.log_x else f"{chart.x_label} {x}"
      value = quantities.UNKNOWN if y is None else y if isinstance(y, str) else (
          f"{y:.2f}{chart.y_unit}")
      if series.deviation and series.deviation[i] is not None:
        value += f" ±{series.deviation[i]:.2f}"
      lines = [series.name, x_text, f"{chart.y_label}: {value}", *series.texts[i:i + 1]]
      texts.append("<br>".join(map(_safe, lines)))
    is_reference = series.shape == panels.REFERENCE
    mode = {panels.POINTS: "markers", panels.STEP: "lines", panels.REFERENCE: "lines"}.get(
        series.shape, "lines+markers" if len(series.x) <= 60 else "lines")
    figure.add_scatter(
        x=list(series.x), y=list(series.y), name=_safe(series.name), mode=mode,
        line={"color": style["color"], "dash": style["dash"], "width": 1 if is_reference else 2,
              "shape": "hv" if series.shape == panels.STEP else "linear"},
        marker={"symbol": style["symbol"], "size": 10 if series.shape == panels.POINTS else 6,
                "color": style["color"]}, visible=is_visible,
        showlegend=bool(series.name) and not is_reference,
        error_y={"type": "data", "array": deviation, "thickness": 1, "width": 3} if any(deviation)
        else None, hoverinfo="skip" if is_reference else "text",
        text=None if is_reference else texts)


def _axes(chart: panels.Plot) -> dict[str, Any]:
  """The layout of the axes of a plot."""
  axis: dict[str, Any] = {}
  known = [x for series in chart.series for x in series.x if x]
  if chart.ticks:
    axis = {"tickvals": list(chart.ticks), "ticktext": list(chart.ticks.values())}
  elif chart.log_x and known:  # Ticks such as "20 G"; fewer of them over many powers of ten.
    low, high = (int(np.floor(np.log10(end))) for end in (min(known), max(known)))
    steps = (1, 2, 5) if high - low < 3 else (1,)
    ticks = [step * 10.0 ** power for power in range(low - 1, high + 2) for step in steps]
    if max(known) < 4 * min(known):  # Round numbers would be too few.
      ticks = [float(f"{tick:.1e}") for tick in np.geomspace(min(known), max(known), 5)]
    axis = {"tickvals": ticks, "ticktext": [
        re.sub(r"\.0+ ", " ", quantities.si(tick, "")) for tick in ticks]}
  y_title = chart.y_label + (f", {chart.y_unit}" if chart.y_unit else "")
  common = {"gridcolor": _GRID, "automargin": True}
  return {"xaxis": {"title": {"text": _axis_title(chart.x_label)}, **common, **axis,
                    **({"type": "log"} if chart.log_x else {})},
          "yaxis": {"title": {"text": _axis_title(y_title)}, **common,
                    **({"type": "log", "exponentformat": "SI"} if chart.log_y else {})}}


def _matrices(figure: Any, chart: panels.Matrices) -> None:
  names = list(chart.choices)
  for i, (name, values) in enumerate(chart.choices.items()):
    known = [abs(v) for row in values for v in row if v is not None]
    limit = max(known, default=1) or 1
    ends = {"zmin": -limit, "zmax": limit} if chart.is_diverging else {}
    texts = [[f"{chart.y_label} {_safe(y)}<br>{chart.x_label} {_safe(x)}<br>"
              f"{_safe(chart.value_label)}: {'unknown' if v is None else f'{v:.2f}'}"
              for x, v in zip(chart.columns[name], row)]
             for y, row in zip(chart.rows[name], values)]
    figure.add_heatmap(
        z=[[panels.plain(v) for v in row] for row in values],
        x=[_safe(x) for x in chart.columns[name]],
        y=[_safe(y) for y in chart.rows[name]], visible=i == 0, hoverinfo="text", hovertext=texts,
        # The numbers stand in the cells of a matrix that is small enough.
        text=[["" if v is None else f"{v:.1f}" for v in row] for row in values],
        texttemplate="%{text}" if max(map(len, (values, *values))) <= 12 else None,
        colorscale=_RED_BLUE if chart.is_diverging else "Viridis",
        colorbar={"title": {"text": _axis_title(chart.value_label), "side": "right"}}, **ends)
  _menu(figure, dict.fromkeys(names), names)
  rows = max(map(len, chart.choices.values()))
  figure.update_layout(height=max(_HEIGHT, 160 + 16 * rows))
  figure.update_xaxes(title=_axis_title(chart.x_label), type="category", automargin=True)
  figure.update_yaxes(title=_axis_title(chart.y_label), type="category",
                     autorange="reversed", automargin=True)


def _bars(figure: Any, chart: panels.Bars) -> None:
  for i, (part, values) in enumerate(chart.parts.items()):
    texts = [f"{_safe(name)}<br>{_safe(part)}: {quantities.si(value, chart.unit)}"
             for name, value in zip(chart.names, values)]
    # Patterns tell parts apart without colors.
    figure.add_bar(y=[_safe(name) for name in chart.names], x=list(values), name=_safe(part),
                   orientation="h", marker={"color": look(i)["color"], "pattern": {
                       "shape": _PATTERNS[i % len(_PATTERNS)], "fillmode": "overlay"}},
                   hoverinfo="text", hovertext=texts)
  figure.update_layout(barmode="stack", height=max(280, 140 + 26 * len(chart.names)))
  figure.update_xaxes(title=chart.label, gridcolor=_GRID, exponentformat="SI")
  figure.update_yaxes(autorange="reversed", automargin=True, type="category")


def _graph(figure: Any, chart: panels.Graph) -> None:
  ends = [(chart.places[a], chart.places[b]) for a, b in chart.edges]
  figure.add_scatter(
      x=[x for a, b in ends for x in (a[0], b[0], None)], mode="lines", hoverinfo="skip",
      y=[y for a, b in ends for y in (a[1], b[1], None)], showlegend=False,
      line={"color": "#888888", "width": 1})
  for i, group in enumerate(dict.fromkeys(chart.groups.values())):
    names = [name for name in chart.places if chart.groups[name] == group]
    figure.add_scatter(
        x=[chart.places[name][0] for name in names], y=[chart.places[name][1] for name in names],
        mode="markers+text", text=[_safe(name) for name in names], textposition="top center",
        name=_safe(group), marker={"symbol": look(i)["symbol"], "size": 12,
                                   "color": look(i)["color"]}, hoverinfo="text",
        hovertext=[f"{_safe(name)}<br>{_safe(group)}<br>{_safe(chart.texts.get(name, ''))}"
                   for name in names])
  rows = len({y for _, y in chart.places.values()})
  figure.update_layout(height=max(320, 160 + 40 * rows))
  figure.update_xaxes(title="Models before", dtick=1, zeroline=False, gridcolor=_GRID)
  figure.update_yaxes(autorange="reversed", showticklabels=False, showgrid=False, zeroline=False)


def _axis_title(words: str) -> str:
  """A title in lines that no side of a figure cuts off."""
  return "<br>".join(map(_safe, textwrap.wrap(words, _TITLE)))


def _safe(words: Any) -> str:
  """Words without markup: Plotly reads tags."""
  return html.escape(str(words), quote=False)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A report in each format, from the sections of panels."""

from __future__ import annotations

from collections.abc import Sequence
import pathlib
from typing import Any

from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting import tables
from suite.reporting.formats import html_page

FORMATS = ("text", "html", "markdown", "csv", "latex")
_LONG = 40


def render(sections: Sequence[panels.Section], form: str, out: pathlib.Path | None = None
           ) -> str:
  """Renders a report.

  Args:
    sections: of `report_sections.load`.
    form: one of `FORMATS`.
    out: the file that the text is for: links of a page are relative to it.
  """
  if form == "html":
    return html_page.render(sections, out)
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
    for panel in section.panels:
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

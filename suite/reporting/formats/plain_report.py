# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The report of `suite report DIR` and of report.txt: the panels `summary`, as text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import os

from suite.reporting import panel as panel_lib
from suite.reporting.formats import cells
from suite.reporting.run_panels import summary_panels


def report(dirs: Iterable[str | os.PathLike]) -> str:
  """Renders all runs in the directories as text, one table per stream; whole tables come first."""
  return text(summary_panels.summaries(dirs))


def text(sections: Sequence[panel_lib.Section]) -> str:
  """Tables of fixed widths."""
  return "\n".join(cells.table(panel).text_table(panel).text()
                   for section in sections for panel in section.panels)

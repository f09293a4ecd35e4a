# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Panels of what `suite report DIR` prints: all values of the summaries, and whole tables.

It imports no plotting library: a finished table is reported quickly.
"""

from __future__ import annotations

from collections.abc import Iterable
import dataclasses
import os

from suite.reporting import panel as panel_lib
from suite.reporting import paper_table
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import tables
from suite.reporting import text_table


def summaries(dirs: Iterable[str | os.PathLike]) -> list[panel_lib.Section]:
  """Builds sections of one panel each: every value of a stream's summaries; a table as it is."""
  whole, single = table_dir.split(dirs)
  # Not by `run_streams`: partial runs stand beside each other, whatever they began with.
  made = tables.build(runs_lib.load(single)) if single else []
  return [*(panel_lib.Section(table_dir.read(d).title, of_table(d)) for d in whole),
          *(panel_lib.Section(one.title, [of_text("summary", one)]) for one in made)]


def of_stream(stream: run_streams.Stream) -> panel_lib.Panel:
  """Every value of the summaries of a stream."""
  made = tables.of_stream(stream.runs)
  title = made.title.replace(tables.title(stream.runs[0]), stream.title, 1)
  return of_text("summary", dataclasses.replace(made, title=title))


def of_table(directory: str | os.PathLike) -> list[panel_lib.Panel]:
  """A whole table as in a paper."""
  return [of_text(f"table_{i}", table)
          for i, table in enumerate(paper_table.build(directory), 1)]


def of_text(name: str, table: text_table.TextTable) -> panel_lib.Panel:
  """A table whose cells are texts as a panel."""
  kinds = [panel_lib.TEXT if i < table.num_left else panel_lib.SHOWN
           for i in range(len(table.header))]
  rows, label = [], ""
  for first, *others in table.rows:  # A paper's indented line names its learner: rows get sorted.
    label = label if first.startswith(" ") else first
    rows.append([f"{label}, {first.strip()}" if first.startswith(" ") else first, *others])
  return panel_lib.Panel(name, table.title, [
      panel_lib.Column(heading, kind) for heading, kind in zip(table.header, kinds)],
      rows, table.notes)

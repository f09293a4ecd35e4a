# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of a report, a section for each whole table and each stream."""

from __future__ import annotations

from collections.abc import Iterable
import os
import pathlib

from suite.reporting import leaderboard
from suite.reporting import panel as panel_lib
from suite.reporting import paper_table
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import text_table
from suite.reporting.nevis_panels import panel_list
from suite.reporting.nevis_panels import stream_results
from suite.reporting.run_panels import accuracy_matrices
from suite.reporting.run_panels import compute_phases
from suite.reporting.run_panels import config_differences
from suite.reporting.run_panels import run_list
from suite.reporting.run_panels import run_streams
from suite.reporting.run_panels import scores
from suite.reporting.run_panels import stream_curves


def load(dirs: Iterable[str | os.PathLike]) -> list[panel_lib.Section]:
  """Builds the sections of directories, at any depth; whole tables come first.

  Raises:
    FileNotFoundError: a directory holds no run.
    ValueError: a file is damaged, or another version wrote it.
  """
  dirs = list(dirs)
  tables, _ = table_dir.split(dirs)
  begun = [d for d in dirs if not table_dir.is_table(d)
           or any(pathlib.Path(d).rglob(runs_lib.RECORDS))]
  runs = runs_lib.load(begun)
  return [*map(_of_table, tables), *map(_of_stream, run_streams.build(runs))]


def _of_table(directory: os.PathLike) -> panel_lib.Section:
  table = table_dir.read(directory)
  if table.scores:
    return panel_lib.Section(table.title, leaderboard.build(table))
  found = paper_table.build(directory)
  return panel_lib.Section(table.title, [
      of_text(f"table_{i}", table) for i, table in enumerate(found, 1)])


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


def _of_stream(stream: run_streams.Stream) -> panel_lib.Section:
  own = panel_list.of_streams(stream_results.build(stream.runs))  # [] but for NEVIS'22.
  return panel_lib.Section(stream.title, [
      *scores.build(stream), *own, *stream_curves.build(stream), *accuracy_matrices.build(stream),
      *compute_phases.build(stream), *config_differences.build(stream), *run_list.build(stream)])

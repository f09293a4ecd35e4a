# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All panels of a report, a section for each whole table and each stream."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
import os
import pathlib
import re

from suite.reporting import leaderboard
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting.nevis_panels import panel_list
from suite.reporting.nevis_panels import stream_results
from suite.reporting.nevis_panels import task_facts
from suite.reporting.run_panels import accuracy_matrices
from suite.reporting.run_panels import bucket_panels
from suite.reporting.run_panels import compute_phases
from suite.reporting.run_panels import config_differences
from suite.reporting.run_panels import detection_scores
from suite.reporting.run_panels import run_list
from suite.reporting.run_panels import scores
from suite.reporting.run_panels import stream_curves
from suite.reporting.run_panels import summary_panels

ALL = "all"
# Name to ask for: what it shows; with those of `panel_list.NAMES`.
NAMES = {
    "scores": "headline scores and costs of each learner", "pareto": "score against FLOPs",
    "curves": "the stream event by event",
    detection_scores.NAME: "every novelty score beside the clock", "matrix": "accuracy by bucket",
    "compute": "FLOPs and time by phase", "configuration": "bindings that differ",
    "summary": "every value of the summaries", "runs": "each run with its records",
    "table": "tables of a paper, and leaderboards",
    **bucket_panels.NAMES,
}


def load(dirs: Iterable[str | os.PathLike],
         facts: Mapping[str, task_facts.TaskFacts] | None = None) -> list[panel_lib.Section]:
  """Builds the sections of directories, at any depth; whole tables come first.

  Args:
    dirs: directories.
    facts: domain, size and resolution by task, as of `panel_list.build`.

  Raises:
    FileNotFoundError: a directory holds no run.
    ValueError: a file is damaged, or another version wrote it.
  """
  dirs = list(dirs)
  whole, _ = table_dir.split(dirs)
  begun = [d for d in dirs if not table_dir.is_table(d)
           or any(pathlib.Path(d).rglob(runs_lib.RECORDS))]
  runs = runs_lib.load(begun)
  return [*map(_of_table, whole),
          *(_of_stream(stream, facts) for stream in run_streams.build(runs))]


def chosen(sections: Sequence[panel_lib.Section], names: Sequence[str]
           ) -> list[panel_lib.Section]:
  """The panels of these names, and the sections that have some; all of them for "all".

  Raises:
    ValueError: a name is not known.
  """
  known = {ALL: "", **NAMES, **panel_list.NAMES}
  if unknown := sorted(set(names) - set(known)):
    raise ValueError(f"Unknown panel {', '.join(map(repr, unknown))}; allowed are "
                     f"{', '.join(known)}.")
  if ALL in names:
    return list(sections)
  kept = [section._replace(panels=[
      panel for panel in section.panels if _asked(panel.name) in names]) for section in sections]
  return [section for section in kept if section.panels]


def _asked(name: str) -> str:
  """The name to ask for of "regret_stream2" and "table_1"; panels of a leaderboard are tables."""
  short = re.sub(r"(_stream)?_?\d+$", "", name)
  return short if short in NAMES or short in panel_list.NAMES else "table"


def _of_table(directory: os.PathLike) -> panel_lib.Section:
  table = table_dir.read(directory)
  if table.scores:
    return panel_lib.Section(table.title, leaderboard.build(table))
  return panel_lib.Section(table.title, summary_panels.of_table(directory))


def _of_stream(stream: run_streams.Stream, facts: Mapping[str, task_facts.TaskFacts] | None
               ) -> panel_lib.Section:
  own = panel_list.of_streams(  # [] but for NEVIS'22.
      stream_results.build(stream.runs), facts=facts)
  return panel_lib.Section(stream.title, [
      *scores.build(stream), *own, *stream_curves.build(stream), *accuracy_matrices.build(stream),
      *bucket_panels.build(stream), *detection_scores.build(stream),
      *compute_phases.build(stream), *config_differences.build(stream),
      summary_panels.of_stream(stream), *run_list.build(stream)])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Results of runs as Python objects: records, a pandas table, matplotlib figures."""

from __future__ import annotations

from collections.abc import Iterable
import os
import pathlib
from typing import Any

from suite.reporting import runs as runs_lib
from suite.reporting import table_dir
from suite.reporting import tables


class Result:
  """Runs on disk; `str(result)` is the report of `suite report`.

  Args:
    dirs: work directories of runs or of whole tables.

  Attributes:
    folders: these directories.
    failed: for a table, a line for each cell that failed in this call.
  """

  def __init__(self, dirs: Iterable[str | os.PathLike], failed: Iterable[str] = ()):
    self.folders = [pathlib.Path(d) for d in dirs]
    self.failed = list(failed)
    missing = [str(folder) for folder in self.folders if not folder.is_dir()]
    if missing:
      raise FileNotFoundError(f"No such directory: {', '.join(missing)}. Give the workdir of a run "
                              "(./runs/RUN when none was given).")

  @property
  def runs(self) -> list[runs_lib.Run]:
    """Every learner's run, finished or not."""
    return runs_lib.load([*self._single(), *self._cells()])

  @property
  def records(self) -> list[dict[str, Any]]:
    """The records of all runs, one event each; "run" is the learner's name."""
    return [record for run in self.runs for record in run.records]

  @property
  def summaries(self) -> dict[str, dict[str, Any]]:
    """The summary of each finished run, by its label."""
    return {run.label: dict(run.summary) for run in self.runs if run.is_finished}

  def table(self) -> Any:
    """A pandas DataFrame with a row for each finished run and a column for each number.

    Nested values have names such as "own_metrics.top5".
    """
    import pandas
    rows = []
    for run in self.runs:
      if run.is_finished:
        rows.append({"run": run.label, "protocol": run.protocol,
                     **{name: value for name, value in tables.flatten(run.summary).items()
                        if not isinstance(value, list)}})
    return pandas.DataFrame(rows, columns=None if rows else ["run", "protocol"]).set_index("run")

  def figures(self) -> dict[str, Any]:
    """matplotlib figures by name: error against FLOPs, accuracy matrices, costs of a table."""
    # Imported here, so that a report needs no matplotlib.
    from suite.reporting.run_panels import run_figures
    single = self._single()
    return run_figures.draw(runs_lib.load(single) if single else [], self._tables(),
                            stem=self.folders[0].resolve().name)

  def __str__(self) -> str:
    return tables.report(self.folders)

  def __repr__(self) -> str:
    return f"Result({', '.join(map(str, self.folders))})\n{self}"

  def _repr_html_(self) -> str:
    return self.table().to_html()

  def _tables(self) -> list[pathlib.Path]:
    return [folder for folder in self.folders if table_dir.is_table(folder)]

  def _single(self) -> list[pathlib.Path]:
    return [folder for folder in self.folders if not table_dir.is_table(folder)]

  def _cells(self) -> list[pathlib.Path]:
    """The work directories of tables that have begun: of their cells, and of the last run."""
    return [workdir for folder in self._tables() for workdir in table_dir.read(folder).workdirs()
            if any(workdir.glob(f"*/{runs_lib.RECORDS}"))]

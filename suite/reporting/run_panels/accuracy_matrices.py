# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Accuracy on each bucket after training on each bucket (CLEAR), as means over seeds."""

from __future__ import annotations

import numpy as np

from suite.metrics import stream_groups
from suite.reporting import charts
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting.run_panels import bucket_curves


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel of the finished runs that have a matrix; [] if none has."""
  matrices = {learner.label: mean for learner in stream.learners
              if (mean := _mean(learner)) is not None}
  if not matrices:
    return []
  num = max(len(matrix[0]) for matrix in matrices.values())
  columns = [panel_lib.Column("learner"), panel_lib.Column("trained up to", panel_lib.COUNT),
             *(panel_lib.Column(f"bucket {j + 1}", panel_lib.PERCENT) for j in range(num))]
  rows = [[label, i + 1, *panel_lib.plain_list(values), *[None] * (num - len(values))]
          for label, matrix in matrices.items() for i, values in enumerate(matrix)]
  sizes = {label: [str(i + 1) for i in range(len(matrix[0]))] for label, matrix in matrices.items()}
  return [panel_lib.Panel(
      "matrix", f"{stream.title}: accuracy by bucket", columns, rows,
      [f"{learner.label}: no matrix before the run is finished."
       for learner in stream.learners if not learner.finished],
      chart=charts.Matrices(
          {label: panel_lib.plain_list(100 * matrix) for label, matrix in matrices.items()}, sizes,
          {label: [str(i + 1) for i in range(len(matrix))] for label, matrix in matrices.items()},
          "Tested on bucket", "Trained up to bucket", "Accuracy, %"))]


def _mean(learner: run_streams.LearnerRuns) -> np.ndarray | None:
  """[T, T]; None if no finished seed has a matrix. Seeds of another shape are left out."""
  found = bucket_curves.matrices(learner)
  return stream_groups.seed_mean(np.stack(found)) if found else None

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which novelty score detects new classes in a FLUID sequence: every score beside the clock.

Everything is computed from the records of the steps. The clock scores a step by its number alone;
half of a sequence's new classes come so early that it beats most scores (see
`suite/metrics/novelty_detection.py`), so a score is worth what it has more than the clock.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from suite.contracts import descriptions
from suite.metrics import sequence_log
from suite.metrics import stream_groups
from suite.reporting import panel as panel_lib
from suite.reporting import run_streams
from suite.reporting import runs as runs_lib

NAME = "detection"
_CLOCK = "clock"
_SHOWN = {
    "max_softmax": "max softmax", "max_logit": "max logit (distance, MDT)", "energy": "energy",
    "margin": "margin", "distance_ratio": "distance ratio",
    "class_wise": "max logit, class-wise", "nearest": "k-nearest sample",
    "answer": "answer \"new\""}
_AUROC, _MATCHED, _F1 = "new_class_auroc", "new_class_auroc_time_matched", "new_class_f1"
_MEASURES = ((_AUROC, "AUROC", True), (_MATCHED, "time-matched AUROC", True),
             ("new_class_aupr", "AUPR", False), ("new_class_fpr95", "FPR95", False),
             (_F1, "best F1", True))


def build(stream: run_streams.Stream) -> list[panel_lib.Panel]:
  """Builds the panel; [] unless finished runs of FLUID have new classes."""
  if descriptions.STEPS not in stream.description.panels:
    return []
  columns = [panel_lib.Column("learner"), panel_lib.Column("score"),
             panel_lib.Column("seeds", panel_lib.COUNT)]
  for _, heading, beside_clock in _MEASURES:
    columns.append(panel_lib.Column(heading, panel_lib.PERCENT))
    if beside_clock:
      columns.append(panel_lib.Column(f"clock's {heading}", panel_lib.PERCENT))
  rows = [row for learner in stream.learners for row in _rows(learner)]
  if not rows:
    return []
  notes = [
      "Positives are the first sights of classes; a mean over finished seeds. The clock scores a "
      "step by its number alone.",
      "Max logit: minus the squared distance to the nearest class where logits are distances, "
      "which minimum distance thresholding (MDT) compares with a threshold. Answer \"new\": the "
      "answers that a threshold gave; best F1 is theirs.",
      "Left out: scores that records do not have; a distance ratio where logits are no distances."]
  return [panel_lib.Panel(NAME, f"{stream.title}: detection of new classes", columns, rows,
                          [*notes, *stream.notes])]


def _rows(learner: run_streams.LearnerRuns) -> list[list[Any]]:
  found = [scores for scores in map(_of_run, learner.finished) if scores]
  rows = []
  for name, shown in _SHOWN.items():
    having = [scores for scores in found if name in scores]
    if not having:
      continue
    row: list[Any] = [learner.label, shown, len(having)]
    for measure, _, beside_clock in _MEASURES:
      row.append(_mean(having, name, measure))
      if beside_clock:
        row.append(_mean(having, _CLOCK, measure))
    rows.append(row)
  return rows


def _of_run(run: runs_lib.Run) -> Mapping[str, Mapping[str, float]]:
  """Measures by score, the clock's among them; {} of a run without a new class."""
  steps = [record for record in run.records if "first_step" in record]
  log = sequence_log.from_records(steps)
  if not log.unknown.any():
    return {}
  return sequence_log.detection(log, sequence_log.MAX_LOGIT, run.summary.get("matched_window"),
                                steps[0]["num_classes"])["detection"]


def _mean(found: Sequence[Mapping[str, Mapping[str, float]]], name: str, measure: str
          ) -> float | None:
  return panel_lib.plain(stream_groups.spread([scores[name][measure] for scores in found]).mean)

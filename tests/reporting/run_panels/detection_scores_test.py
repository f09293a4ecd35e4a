# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The table of novelty scores, from the records of runs of four steps."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite.metrics import sequence_log
from suite.reporting.run_panels import report_sections


def fluid_run(folder, seed, max_logits, *, new_below=None, is_finished=True, **more):
  """Writes a run of two records; the first sights of classes are steps 1 and 2 of 0..3."""
  folder.mkdir(parents=True)
  (folder.parent / "config.gin").write_text(f"experiment.run.seed = {seed}\n")
  log = sequence_log.Novelty("max_logit", new_below).log(
      labels=[0, 1, 2, 0], unknown=[False, True, True, False], closed_answers=[0, 0, 0, 0],
      max_logits=max_logits, energies=max_logits, num_classes=3, **more)
  parts = [log.first(2), sequence_log.SequenceLog(*(column[2:] for column in log))]
  records = [{"event": 0, "protocol": "fluid", "kind": "train", "num_classes": 3, "task": "t"}, *(
      {"event": i + 1, "protocol": "fluid", "kind": "predict", "task": "t", "num_classes": 3,
       "first_step": 2 * i, "seconds": 1.0, **part.columns()} for i, part in enumerate(parts))]
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if is_finished:
    (folder / "summary.json").write_text(json.dumps(
        {"protocol": "fluid", "stream": "4 samples", "overall": 0.5, "matched_window": 2}))


def table(folder, names=("detection",)):
  sections = report_sections.chosen(report_sections.load([folder]), names)
  panels = [panel for section in sections for panel in section.panels]
  return {(row[0], row[1]): dict(zip([c.name for c in panel.columns], row))
          for panel in panels for row in panel.rows}, panels


def test_every_score_stands_beside_the_clock(tmp_path):
  fluid_run(tmp_path / "s0" / "ncm", 0, [-1.0, -4.0, -2.0, -3.0], new_below=-3.5,
            second_logits=[-2.0, -5.0, -8.0, -9.0])
  found, panels = table(tmp_path)
  assert [name for _, name in found] == [
      "max softmax", "max logit (distance, MDT)", "energy", "margin", "distance ratio",
      'answer "new"']
  row = found["ncm", "max logit (distance, MDT)"]
  # Newness 4 and 2 of the new against 1 and 3: three of four pairs. The clock's: two of four.
  assert (row["seeds"], row["AUROC"], row["clock's AUROC"]) == (1, 0.75, 0.5)
  # Windows of two steps: 1 against 0 is in order by the distance, and not by the clock; 2 against 3
  # the other way round.
  assert (row["time-matched AUROC"], row["clock's time-matched AUROC"]) == (0.5, 0.5)
  # Ratios 4/5 and 2/8 of the new, 1/2 and 3/9.
  assert found["ncm", "distance ratio"]["AUROC"] == 0.5
  # Step 1 alone is called new: F1 is 2 / (1 + 2).
  assert found["ncm", 'answer "new"']["best F1"] == pytest.approx(2 / 3)
  assert row["clock's best F1"] == pytest.approx(0.8)
  assert "The clock scores a step by its number alone." in panels[0].text_table().text()


def test_curves_of_detection_and_of_thresholds(tmp_path):
  # Answers are class 0; scores -1 and -3 of known steps, both right, -4 and -2 of first sights.
  fluid_run(tmp_path / "s0" / "ncm", 0, [-1.0, -4.0, -2.0, -3.0])
  first, second = table(tmp_path, ("detection", "thresholds"))[1]
  roc = {one.name: list(zip(one.x, one.y)) for one in first.chart.series}
  # The lowest score first: -4 is new, -3 known, -2 new, -1 known.
  assert roc["ncm, max logit (distance, MDT)"] == [(0, 0), (0, 50), (50, 50), (50, 100), (100, 100)]
  known, new = second.chart.series
  assert (known.x, known.y) == ([-4, -3, -2, -1], [100, 100, 50, 50])
  assert (new.x, new.y) == ([-4, -3, -2, -1], [0, 50, 50, 100])
  assert second.rows[0] == ["ncm", "max logit (distance, MDT)", -3, 0.5]


def test_seeds_are_averaged_and_scores_that_records_lack_left_out(tmp_path):
  fluid_run(tmp_path / "s0" / "et", 0, [1.0, 4.0, 2.0, 3.0], neighbors=[-np.inf, -1.0, -9.0, -1.0])
  fluid_run(tmp_path / "s1" / "et", 1, [4.0, 1.0, 2.0, 3.0])
  found, _ = table(tmp_path)
  assert [name for _, name in found] == [
      "max softmax", "max logit (distance, MDT)", "energy", "k-nearest sample"]
  # Seed 0: -4 and -2 against -1 and -3, one of four; seed 1 all four.
  row = found["et", "max logit (distance, MDT)"]
  assert (row["seeds"], row["AUROC"]) == (2, pytest.approx((0.25 + 1.0) / 2))
  assert found["et", "k-nearest sample"]["seeds"] == 1
  # Without an earlier sample a step is as new as can be: 1 and 9 against infinity and 1.
  assert found["et", "k-nearest sample"]["AUROC"] == pytest.approx((0.5 + 1) / 4)


def test_a_run_that_goes_on_or_has_no_new_class_is_left_out(tmp_path):
  fluid_run(tmp_path / "w" / "ncm", 0, [-1.0, -4.0, -2.0, -3.0], is_finished=False)
  assert table(tmp_path) == ({}, [])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search's panels, from records whose curves are known."""

import json

import numpy as np
import pytest

from suite.protocols import lifelong_figures
from suite.reporting import panels
from suite.reporting import paper_values
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting.run_panels import budget_panels
from suite.reporting.run_panels import report_sections

BUDGETS = [8, 64, 128, 512, 1024, 2048, 8192]
FALLING = 0.1 * np.exp(-0.02 * np.array(BUDGETS))
AGREES = {  # Error above its end, by learner: what the paper has.
    "sum": FALLING, "recursive_sum": FALLING - 0.005, "confidence_sum": FALLING + 0.01,
    "random": FALLING + [0.05, 0, 0, 0, 0, 0, 0], "copy_nearest": FALLING + [
        0.1, 0.08, 0.07, 0.05, 0.04, 0.03, 0.01]}


def _models(curve, count, split, **further):
  mae = (0.15 + np.asarray(curve) + 0.001 * split).tolist()
  return {"figure": "models", "kind": "predict", "protocol": "lifelong_figures", "cache": "c",
          "sort_models": count, "test_models": 20, "budgets": BUDGETS, "num_samples": 2_000_000,
          "split": split, "mae": mae, "unseen": mae, "constant": 0.4, "aleatoric": 0.149,
          "oracle": 0.48, "array_bytes": 10_000_000,
          "epistemic": [0.1, 0.05, 0.04, 0.02, 0.004, 0.002, 0.001],
          "rank_correlation": [0.6] * 6 + [0.9], "rank_correlation_by_cut": [0.5] * 7, **further}


def _results(curves, tmp_path, *, negative=0, in_turn=(0.2, 0.3), changes=0):
  for name, curve in curves.items():
    lines = [_models(curve + (0.02 if count == 10 else 0.0), count, split)
             for split in range(2) for count in (50, 10)]
    lines += [
        {"figure": "samples", "budgets": [8, 64], "mae": [0.3, 0.2], "known_samples": 9,
         "new_samples": 4, "num_models": 70, "constant": 0.3},
        {"figure": "repeated", "budget": 8, "alone": [0.2, 0.3], "in_turn": list(in_turn),
         "same_estimates": 2, "order_changes": changes},
        {"figure": "correlations", "correlated_models": 3, "pairs": 3, "negative_pairs": negative,
         "quantiles": [0.1, 0.1, 0.2, 0.2, 0.3, 0.4, 0.4], "group_accuracies": [0.6, 0.5],
         "group_correlations": [[0.2, 0.3], [0.3, 0.1]]}]
    folder = tmp_path / "work" / name
    folder.mkdir(parents=True)
    every = [{**lines[0], **line, "event": event, "run": name} for event, line in enumerate(lines)]
    (folder / "records.jsonl").write_text("".join(json.dumps(one) + "\n" for one in every))
    (folder / "summary.json").write_text(json.dumps(
        {"protocol": "lifelong_figures", "stream": "table", "run": name}))
    (folder / "protocol.json").write_text(run_dir.sealed(
        lifelong_figures.DESCRIPTION.values()))
  stream, = run_streams.build(run_dir.load([tmp_path / "work"]))
  return stream


def _verdicts(stream):
  claims = next(one for one in budget_panels.build(stream) if one.name == "claims")
  keys = [line["key"] for line in paper_values.table("lifelong_claims")[1]]
  return dict(zip(keys, (row[-1] for row in claims.rows)))


def test_every_claim_is_checked_once():
  _, lines = paper_values.table("lifelong_claims")
  assert [line["key"] for line in lines] == list(budget_panels._CHECKS)


def test_records_like_the_papers_agree_with_every_claim(tmp_path):
  found = _verdicts(_results(AGREES, tmp_path))
  assert {key for key, verdict in found.items() if verdict == "-"} == {"level", "samples_level"}
  assert {key for key, verdict in found.items() if verdict == "no"} == set()


def test_records_of_the_opposite_shape_do_not(tmp_path):
  flat = np.zeros(len(BUDGETS))
  rising = np.array([0.0, 0.2, 0.0, 0.2, 0.0, 0.2, 0.1])
  stream = _results({
      "sum": rising, "recursive_sum": rising + 0.01, "confidence_sum": rising - 0.05,
      "random": rising - 0.01, "copy_nearest": flat - 0.05}, tmp_path, negative=2,
                    in_turn=(0.2, 0.4), changes=1)
  found = _verdicts(stream)
  for key in ("decay", "copy_accuracy", "copy_speed", "few_models", "confidence", "recursive",
              "uniform_small", "uniform_large", "saving", "positive", "same_order", "no_drift"):
    assert found[key] == "no", key


def test_learners_of_other_names_are_curves_and_claims_without_learners_are_not_run(tmp_path):
  stream = _results({"mine": FALLING}, tmp_path)
  made = {one.name: one for one in budget_panels.build(stream)}
  assert made["budgets"].rows[0][:2] == ["mine", pytest.approx(0.15 + FALLING[0] + 0.0005)]
  assert set(_verdicts(stream).values()) == {"-", "yes"}  # Correlations alone.
  line, = made["budgets"].chart.series
  assert list(line.x) == BUDGETS and made["budgets"].chart.x_unit == "answers"
  assert line.deviation[0] == pytest.approx(100 * 0.001 / np.sqrt(2))


def test_panels_are_in_reports_and_drawn(tmp_path):
  stream = _results(AGREES, tmp_path)
  section, = report_sections.load([tmp_path / "work"])
  names = [one.name for one in section.panels]
  assert [name for name in names if name in budget_panels.NAMES] == list(
      dict.fromkeys(one.name for one in budget_panels.build(stream)))
  assert set(budget_panels.NAMES) <= set(names)
  made = report_sections.named(report_sections.chosen([section], ["budgets", "decay"]))
  assert list(made) == ["budgets", "decay"]
  assert isinstance(made["budgets"].chart, panels.Plot) and made["decay"].chart is None
  assert made["decay"].rows[0][2] == pytest.approx(0.02, rel=1e-3)
  assert made["decay"].rows[0][5:7] == [512, round(2_000_000 / 512)]
  assert isinstance(section.panels[names.index("correlations")].chart, panels.Matrices)

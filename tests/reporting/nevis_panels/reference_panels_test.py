# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Appendix N: the scores and regret curves that follow from the printed errors."""

import json

import nevis_runs
import numpy as np
import pytest

from suite.metrics import task_stream
from suite.reporting.nevis_panels import reference_panels
from suite.reporting.nevis_panels import stream_results


@pytest.fixture(scope="module", name="paper")
def _paper():
  return reference_panels.printed()


def test_mean_errors_of_the_meta_test_tasks(paper):
  roles = [task.role for task in paper.tasks]
  assert (len(roles), roles.count("meta_test")) == (104, 27)
  means = {}
  for learner in paper.learners:
    means[learner.method] = round(100 * task_stream.mean_error(learner.errors[0], roles), 2)
    assert learner.mean_errors[0] == pytest.approx(means[learner.method] / 100, abs=1e-4)
  assert means == {"indep": 30.37, "ft_prev": 29.50, "ft_d": 27.04, "mt": 26.94}


def test_tasks_without_printed_errors_are_left_out(paper):
  keys = [task.key for task in paper.tasks]
  assert not {"iaprtc12", "voc2012"} & set(keys)
  assert keys[0] == "magellan_venus_volcanoes" and keys[-1] == "synthetic_covid19_xray"
  ft_d = next(learner for learner in paper.learners if learner.method == "ft_d").errors[0]
  # Printed as accuracies: 99.30 (MNIST), 99.24 (again), mAP 97.76 of AWA2 with FT-prev.
  np.testing.assert_allclose([ft_d[keys.index("mnist")], ft_d[keys.index("mnist@2")]],
                             [0.0070, 0.0076], atol=1e-12)


def test_regret_curves_are_those_of_figures_5_and_17(paper):
  curves = {curve.label: curve for curve in reference_panels.curves(paper)}
  ends = {label: (curve.meta_test[0, -1], curve.every[0, -1]) for label, curve in curves.items()}
  # 27 and 104 times the difference of the mean errors.
  assert ends["Indep (paper)"] == (0, 0)
  np.testing.assert_allclose(ends["FT-prev (paper)"], (-0.2341, -1.6590), atol=1e-9)
  np.testing.assert_allclose(ends["FT-d (paper)"], (-0.9004, -4.5598), atol=1e-9)
  np.testing.assert_allclose(ends["MT (paper)"], (-0.9254, -4.4167), atol=1e-9)
  # Figure 5: nearly horizontal over the last nine tasks.
  for curve in curves.values():
    assert np.ptp(curve.meta_test[0, -9:]) < 0.11
  assert np.ptp(curves["FT-d (paper)"].meta_test[0, :-9]) > 0.8


def test_ours_stand_beside_the_printed_ones_by_task(tmp_path):
  tasks = (("mnist", 1, 2004), ("mine", 1, 2005), ("mnist", 2, 2014), ("tiny_imagenet", 1, 2019))
  nevis_runs.write(tmp_path / "ft_d", (0.02, 0.3, 0.01, 0.7), tasks=tasks)
  [results] = stream_results.load([tmp_path])
  [panel] = reference_panels.beside_paper(results)
  rows = {row[0]: row[3:-1] for row in panel.rows}
  assert list(rows) == ["mnist", "mine", "mnist@2", "tiny_imagenet", "mean of 1 tasks, meta-test",
                        "mean of 3 tasks, all"]
  assert rows["mine"] == [0.3, None, None, None, None]
  assert rows["tiny_imagenet"] == pytest.approx([0.7, 0.4824, 0.5110, 0.3112, 0.3329])
  assert rows["mean of 3 tasks, all"][0] == pytest.approx((0.02 + 0.01 + 0.7) / 3)
  [(label, ours, theirs)] = reference_panels.pairs(results, reference_panels.shared(results))
  assert label == "ft_d" and theirs[0] == pytest.approx(0.0070) and np.isnan(theirs[1])
  np.testing.assert_array_equal(ours, [0.02, 0.3, 0.01, 0.7])


def test_landmark_tasks_have_the_errors_of_section_5_5_beside(tmp_path):
  tasks = (("mnist", 1, 2004), ("cifar10", 1, 2010))
  nevis_runs.write(tmp_path / "indep", (0.02, 0.1), tasks=tasks)
  [panel] = reference_panels.beside_paper(stream_results.load([tmp_path])[0])
  assert panel.columns[-1].name == "Indep (section 5.5)"
  assert [row[-1] for row in panel.rows] == [pytest.approx(0.007), pytest.approx(0.068), None]


def test_regret_is_taken_at_equal_compute(tmp_path):
  """Independent at 100 and 1,000 FLOPs, ft_d at 10, 130 and 4,000: 130 and 100 are nearest."""
  for name, cost, error in (("indep", 100, 0.5), ("indep", 1_000, 0.4), ("ft_d", 10, 0.6),
                            ("ft_d", 130, 0.3), ("ft_d", 4_000, 0.1)):
    nevis_runs.write(tmp_path / str(cost) / name, (error,) * 4, flops={"train": cost})
  [results] = stream_results.load([tmp_path])
  [panel] = reference_panels.regret(results)
  rows = {row[0]: row for row in panel.rows}
  assert list(rows) == ["100/indep", "130/ft_d"] or list(rows) == ["indep", "ft_d"]
  # Two meta-test tasks and four in all, 20 points each.
  assert [rows[name][4] for name in rows] == pytest.approx([0, -0.4])
  assert [rows[name][6] for name in rows] == pytest.approx([0, -0.8])
  assert any("130/ft_d (1.30 of 100/indep's)" in note for note in panel.notes)


def test_streams_that_share_no_task_have_no_such_panel(tmp_path):
  nevis_runs.write(tmp_path / "indep", (0.1, 0.2, 0.3, 0.4))
  assert not reference_panels.beside_paper(stream_results.load([tmp_path])[0])


def _stream(tmp_path, *, year):
  """Independent pays 30 a task; the pretrained learner 10, after 45 for its encoder."""
  tasks = tuple((name, 1, 2010 + i) for i, name in enumerate("abcd"))
  for name, cost, pretrained in (("indep", 30, 0), ("pt", 10, 45)):
    folder = nevis_runs.write(tmp_path / name, (0.1,) * 4, tasks=tasks)
    lines = []
    for line in (folder / "records.jsonl").read_text().splitlines():
      record = json.loads(line)
      record["flops_train"] = cost * (record["event"] // 2 + 1)
      if pretrained:
        record["flops_pretrain"] = pretrained
        if year is not None:
          record["pretrained_year"] = year
      lines.append(json.dumps(record) + "\n")
    (folder / "records.jsonl").write_text("".join(lines))
  return stream_results.load([tmp_path])[0]


@pytest.mark.parametrize("year, expected", [
    # 45 <= 20 + 20 + 20: the third task. 40 for the tasks, 85 in all, 11.25 of 45 a task.
    (None, ["unknown", 4, 85, 40, 45, 11.25, 21.25, "3", "c (2012)"]),
    # Three served tasks save 60, the third of them is d. 15 a served task.
    (2011, ["2011", 3, 85, 40, 45, 15, 25, "3", "d (2013)"]),
    # Two served tasks save 40: at 20 a task 45 is paid after 3.
    (2012, ["2012", 2, 85, 40, 45, 22.5, 32.5, "3, beyond the stream", "-"])])
def test_pretraining_is_paid_by_the_tasks_it_serves(tmp_path, year, expected):
  [panel] = reference_panels.pretraining(_stream(tmp_path, year=year))
  assert panel.rows == [["pt", *expected]]


def test_a_pretraining_may_never_be_paid():
  assert task_stream.break_even(45, [30, 30], [30, 30]) == (None, False)
  assert task_stream.break_even(45, [10, None], [30, 30]) == (None, False)
  assert task_stream.break_even(None, [10], [30]) == (None, False)
  assert task_stream.break_even(10 ** 24, [0, 0], [10 ** 24 - 1, 1]) == (2, True)  # Exact.

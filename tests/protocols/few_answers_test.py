# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Test sets that are asked in part: exact where all is asked, and intervals that hold."""

from __future__ import annotations

import math
import shutil

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.streams import buckets as buckets_lib
from suite.lifelong.answers import intervals
from suite.metrics import matrix
from suite.metrics import own_metrics
from suite.protocols import clear
from suite.protocols import few_answers
from suite.protocols import incremental
from suite.reporting import panels
from suite.reporting import records as records_lib
from suite.reporting import run_dir
from suite.reporting import run_streams
from suite.reporting import significance
from suite.reporting import tables
from suite.reporting.formats import renderers
from suite.reporting.run_panels import bucket_panels
from suite.reporting.run_panels import scores
from suite.state import predictions

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)
SIZE, ASKED = 120, 40


class Ability(tf.Module):
  """Right where an image is easier than what it can: 80, 110, 140, ... of 255 after each bucket."""

  transform = image_ops.Plain(2)

  def __init__(self):
    super().__init__()
    self.learned = tf.Variable(0)

  def begin(self, task, context):
    pass

  def learn(self, experience, context):
    self.learned.assign_add(1)
    return {}

  def predict(self, images):
    images = tf.cast(images[:, 0, 0], tf.float32)
    label, hardness, noise = images[:, 0], images[:, 1], images[:, 2] - 128.0
    can = hardness + noise < 50.0 + 30.0 * tf.cast(self.learned, tf.float32)
    return tf.one_hot(tf.cast(tf.where(can, label, 1.0 - label), tf.int32), 2)


def _buckets(num=4):
  rng = np.random.default_rng(0)

  def made(name, size):
    images = np.zeros([size, 2, 2, 3], np.uint8)
    labels = np.arange(size) % 2
    images[..., 0] = labels[:, None, None]
    images[..., 1] = rng.integers(0, 256, size)[:, None, None]
    images[..., 2] = np.clip(rng.normal(128, 15, size), 0, 255)[:, None, None]
    return image_set.ImageSet.from_arrays(name, images, labels, kind=TASK.kind, num_classes=2,
                                          ids=[f"{name}/{i}" for i in range(size)])

  return buckets_lib.Buckets(TASK, tuple(
      buckets_lib.Bucket(f"bucket_{i}", made(f"train {i}", 10), made(f"test {i}", SIZE))
      for i in range(num)))


def _run(folder, stop_before=None, **arguments):
  with stopped_runs.state(folder, stop_before=stop_before) as state:
    return clear.run(Ability(), state=state, buckets=_buckets(), **arguments)


def test_all_answers_give_the_accuracy_itself():
  known, answers = np.eye(2, 5, dtype=np.uint8), np.array([1, 0, 1, 1, 0])
  for num in (5, 6):
    found = few_answers.estimate(known, lambda places: answers[places], num, seed=0)
    assert (found.value, found.low, found.high) == (0.6, 0.6, 0.6)


def test_without_known_models_it_is_the_mean_with_wilsons_interval():
  # Every second image of 100 in the order of the set: 20 of the first half, 20 of the other.
  answers, asked = np.arange(100) < 50, []

  def ask(places):
    asked.extend(places.tolist())
    return answers[places]

  found = few_answers.estimate(np.zeros([0, 100], np.uint8), ask, 40, seed=3)
  assert len(set(asked)) == 40
  share = np.mean(answers[asked])
  assert found.value == share
  effect = intervals.design_effect(answers[np.sort(asked)])
  low, high = intervals.wilson(share, 40 / (effect * 0.6))
  assert found.low == math.floor(100 * low) / 100 and found.high == math.ceil(100 * high) / 100
  assert found.low < 0.5 < found.high


def test_intervals_contain_the_accuracies_of_planted_models():
  # Models of a drifting skill, each asked 64 of 400 images after the first two.
  rng = np.random.default_rng(1)
  covered, widths, plain = [], [], []
  for trial in range(10):
    hard = rng.normal(0.0, 1.5, 400)
    skill = rng.normal(0.0, 1.0, 400)
    rows = []
    for step in range(5):
      skill = 0.9 * skill + 0.44 * rng.normal(0.0, 1.0, 400)
      rows.append((1.0 + 0.2 * step + skill > hard).astype(np.uint8))
    for answers in rows[2:]:
      found = few_answers.estimate(
          np.array(rows[:2]), lambda places, own=answers: own[places], 64, seed=trial)
      covered.append(found.low <= answers.mean() <= found.high)
      widths.append(found.width)
      plain.append(few_answers.estimate(
          np.zeros([0, 400], np.uint8), lambda places, own=answers: own[places], 64,
          seed=trial).width)
  assert np.mean(covered) >= 0.9  # 27 of 30: fewer have a chance of 0.06 at 95%.
  assert np.mean(widths) < 0.9 * np.mean(plain)


@pytest.fixture(name="few", scope="module")
def _few(tmp_path_factory):
  """The folder and the summary of a run whose later models are asked in part."""
  folder = tmp_path_factory.mktemp("work") / "x"
  return folder, _run(folder, test_answers=ASKED)


@pytest.fixture(name="asked_in_full", scope="module")
def _asked_in_full(tmp_path_factory):
  """The folder and the summary of the run whose models are all asked in full."""
  folder = tmp_path_factory.mktemp("work") / "x"
  return folder, _run(folder)


def test_first_models_are_asked_in_full_and_records_say_what_is_an_estimate(asked_in_full, few):
  folder_of_full, full = asked_in_full
  folder, found = few
  assert not {"intervals", "saved_flops", "matrix_low"} & set(full)
  plain, records = (stopped_runs.records(path) for path in (folder_of_full, folder))
  assert "estimated" not in plain[1] and "error_interval" not in plain[1]
  cells = [r for r in records if r["kind"] == "predict"]
  assert [r["estimated"] for r in cells] == [False] * 8 + [True] * 8
  truths = [r["error"] for r in plain if r["kind"] == "predict"]
  for cell, truth in zip(cells, truths):
    low, high = cell["error_interval"]
    assert low <= cell["error"] <= high and cell["test_size"] == SIZE
    assert low - 1e-9 <= truth <= high + 1e-9
    if cell["estimated"]:
      assert (cell["seen"], cell["known_models"]) == (ASKED, 2)
      assert cell["accuracy"] == pytest.approx(1 - cell["error"])
      assert low < high and cell["row"][cell["bucket"]] == cell["accuracy"]
    else:
      assert cell["error"] == truth == low == high
  # 8 sets of 120 in full, 8 asked 40: the ledger has no other answers.
  assert found["examples_predict"] == 8 * SIZE + 8 * ASKED == found["answers_asked"]
  assert full["examples_predict"] == 16 * SIZE == found["answers_of"]
  assert found["estimated_tests"] == 8
  # An image costs 5 FLOPs, and each test set 2 more: 202 for 40, so that 80 others save 404.
  assert found["saved_flops"] == 8 * 404 and full["flops_predict"] == 16 * 602
  assert found["flops_predict"] == 8 * 602 + 8 * 202
  # All rows are asked the same images, of which the answers are saved.
  ids = [set(predictions.load(folder / r["predictions"]).id) for r in cells
         if r["bucket"] == 1 and r["estimated"]]
  assert ids[0] == ids[1] and len(ids[0]) == ASKED
  for name, (low, high) in found["intervals"].items():
    assert low <= found[name] <= high and low - 1e-9 <= full[name] <= high + 1e-9
  assert found["matrix_low"][0] == found["matrix"][0] and (
      found["matrix_low"][3][0] < found["matrix"][3][0] < found["matrix_high"][3][0])
  with pytest.raises(ValueError, match=r"8 of its 16 test sets were asked a part"):
    significance.units_of(run_dir.Run("x", folder, records, found, {}), "accuracy")


def test_a_run_asked_in_part_goes_on_the_same_after_every_stop(few, tmp_path):
  folder, expected = few
  for stop in (9, 13):  # While models answer in full, and amid estimates.
    with pytest.raises(stopped_runs.Stop):
      _run(tmp_path, stop_before=stop, test_answers=ASKED)
  assert _run(tmp_path, test_answers=ASKED) == expected
  whole, stopped = (stopped_runs.records(path) for path in (folder, tmp_path))
  assert whole == stopped
  for record in whole:
    if "predictions" in record:
      whole_bytes, stopped_bytes = (
          (path / record["predictions"]).read_bytes() for path in (folder, tmp_path))
      assert whole_bytes == stopped_bytes


def test_answers_of_other_runs_serve_from_the_first_model_on(asked_in_full, tmp_path):
  shutil.copytree(asked_in_full[0], tmp_path / "other" / "x")
  given = {"answers": ASKED, "known_runs": [str(tmp_path / "other")]}
  _run(tmp_path / "new", test_answers=given)
  cells = [r for r in stopped_runs.records(tmp_path / "new") if r["kind"] == "predict"]
  assert all(r["estimated"] and r["known_models"] == 4 for r in cells)
  assert len({r["known_answers"] for r in cells}) == 1
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "again", stop_before=2, test_answers=given)
  (tmp_path / "other/x/predictions/0019.parquet").unlink()
  with pytest.raises(ValueError, match="have changed since this run began"):
    _run(tmp_path / "again", test_answers=given)


def test_bounds_of_scores_add_up_within_columns_and_by_squares_between_them():
  acc = np.array([[0.5, 0.7], [0.6, 0.8]])
  low, high = acc - [[0.1, 0.0], [0.1, 0.2]], acc + [[0.3, 0.0], [0.1, 0.2]]
  found = matrix.interval(np.mean, acc, low, high)
  # Column 0: 0.2 / 4 down, 0.4 / 4 up; column 1: 0.2 / 4 either way.
  assert found == pytest.approx((0.65 - math.hypot(0.05, 0.05), 0.65 + math.hypot(0.1, 0.05)))
  # A difference within a column grows when one cell falls.
  assert matrix.interval(lambda acc: acc[1, 0] - acc[0, 0], acc, low, high) == pytest.approx(
      (0.1 - 0.4, 0.1 + 0.2))


def test_what_needs_all_answers_is_refused_by_name(tmp_path):
  for wrong, message in (
      (0, "answers of test_answers is 0; allowed are whole numbers from 1"),
      ({"num": 3}, "test_answers has no num; allowed are answers, full_models, known_runs"),
      ({"full_models": 3}, "test_answers has no number of answers")):
    with pytest.raises(ValueError, match=message):
      few_answers.parsed(wrong)
  with stopped_runs.state(tmp_path / "own") as state:
    state.metrics = own_metrics.OwnMetrics({"mine": lambda labels, logits: 0.0})
    with pytest.raises(refusals.RefusedError, match="mine.*few|mine.* of all answers"):
      incremental.run(Ability(), state=state, buckets=_buckets(), scenario="domain",
                      test_answers=8)


def test_tables_mark_estimates_and_show_their_intervals(few):
  folder, summary = few
  run = run_dir.Run("x", folder, records_lib.read(folder / "records.jsonl"), summary, {})
  (stream,) = run_streams.build([run])
  low, high = summary["intervals"]["accuracy"]
  value = 100 * summary["accuracy"]
  half = max(100 * high - value, value - 100 * low)
  (head, matrix_panel) = tables.brief(stream)
  cells = {row[0]: str(row[1]) for row in head.rows}
  assert cells["accuracy, %"] == f"~{value:.2f} [{half:.2f}]"
  assert run_streams.ESTIMATE_NOTE in head.notes
  shown = [[str(cell) for cell in row[1:]] for row in matrix_panel.rows]
  assert shown[0][0] == f"{100 * summary['matrix'][0][0]:.2f}" and shown[3][3].startswith("~")
  page = renderers.html_page([panels.Section(stream.title, [
      *scores.build(stream), *bucket_panels.accuracy_matrices(stream)])], None)
  assert f"~{value:.2f} [{half:.2f}]" in page and page.count("~") > 8

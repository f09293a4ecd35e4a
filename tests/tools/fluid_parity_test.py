# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("fluid_parity")


def test_the_mask_holds_the_classes_of_earlier_labels(tool):
  logits = np.array([[3.0, 2.0, 1.0]] * 4)
  found = tool.masked(logits, np.array([2, 1, 1, 0]))
  assert found.answers.tolist() == [-1, 2, 1, 1]  # Class 0 is known after the last step only.
  assert found.logits.tolist() == [-np.inf, 1.0, 2.0, 2.0]


def test_exemplar_tuning_by_hand_takes_the_step_of_equation_1(tool):
  # One class at (1, 0), one at (0, 1); after two samples a phase of four whole-batch steps.
  stream = tool.Stream("two", np.array([[2, 0], [0, 4], [2, 0]], np.float32), np.array([0, 1, 0]))
  plain = tool.tuning_by_hand(stream, interval=0, rate=0.0, batch=8, seed=0)
  assert plain.answers.tolist() == [-1, 0, 0] and plain.logits.tolist() == [-np.inf, 0.0, 2.0]
  tuned = tool.tuning_by_hand(stream, interval=2, rate=0.1, batch=8, seed=0)
  moved, velocity = np.zeros((2, 2)), np.zeros((2, 2))
  for _ in range(tool.EPOCHS):
    gradient = np.zeros((2, 2))
    for features, label in (((2.0, 0.0), 0), ((0.0, 4.0), 1)):
      powers = np.exp((np.eye(2) + moved) @ features)
      share = powers / powers.sum() - np.eye(2)[label]
      gradient += np.outer(share, features) / 2
    velocity = tool.MOMENTUM * velocity + gradient
    moved -= 0.1 * velocity
  assert tuned.logits[2] == pytest.approx((1 + moved[0, 0]) * 2)


def test_the_suite_answers_the_stream_as_the_hand_made_rule(tool):
  stream = tool.synthetic(num=120, num_classes=12, width=5)
  by_hand = tool.tuning_by_hand(stream, interval=40, rate=tool.TUNING_RATE, batch=tool.WHOLE,
                                seed=0)
  mine = tool.ours(tool._exemplars(stream, tool.WHOLE), stream, interval=40)
  assert mine.answers.tolist() == by_hand.answers.tolist()


def test_by_the_rules_of_the_code_it_answers_as_these_by_hand(tool):
  stream = tool.images_of_digits(200)
  by_hand = tool.tuning_by_hand_as_code(stream, interval=40, rate=tool.TUNING_RATE)
  mine = tool.ours(tool.exemplars_as_code(), stream, interval=40)
  assert mine.answers.tolist() == by_hand.answers.tolist()
  there = np.isfinite(by_hand.logits)
  np.testing.assert_allclose(mine.logits[there], by_hand.logits[there], rtol=1e-3, atol=1e-3)


def test_thresholded_answers_and_scores_are_those_of_a_hand_made_run(tool, load_tool):
  novelty = load_tool("fluid_novelty")
  stream = tool.synthetic(num=150, num_classes=12, width=5)
  features = stream.features.astype(np.float64)
  logits = np.full((150, 12), -np.inf)
  for t in range(150):
    for label in set(stream.labels[:t].tolist()):
      mean = features[:t][stream.labels[:t] == label].mean(axis=0)
      logits[t, label] = -np.sum((features[t] - mean) ** 2)
  best = logits.max(axis=1)
  answers = np.where(np.isfinite(best), logits.argmax(axis=1), -1)

  def run(below):
    found = tool.ours(tool._means(stream), stream, new_below=below)
    return found.open, found.summary

  rows = novelty.rows(stream.name, stream.labels, answers, best, run)
  assert len(rows) == 3 and all(row.verdict in ("equal", "agrees") for row in rows)
  wrong = novelty.rows(stream.name, stream.labels, answers, best, lambda below: run(below - 5))
  assert wrong[0].verdict == "DIFFERS"


def test_the_threshold_lies_in_the_widest_gap_near_the_share(load_tool):
  logits = np.r_[-np.inf, -np.arange(100.0), -200.0]
  logits[80] -= 0.9
  found = load_tool("fluid_novelty").threshold(logits)
  ordered = np.sort(logits[np.isfinite(logits)])[5:25]
  assert np.diff(ordered).max() / 2 == pytest.approx(np.abs(ordered - found).min())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The comparison of float32 with float64, at reduced size on drawings with flat regions."""

import json

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.images import image_ops
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules


@pytest.fixture(name="runs", scope="module")
def _runs(load_tool):
  return load_tool("precision_runs")


@pytest.fixture(name="page_tool", scope="module")
def _page_tool(load_tool):
  return load_tool("precision")


def _drawings(num_sets):
  """An episode of white images of 12x12 with a black stroke each."""
  rng, images = np.random.default_rng(0), []
  for _ in range(num_sets * 3 + 6):
    image = np.full([12, 12, 1], 255, np.uint8)
    row, column = rng.integers(2, 9, 2)
    image[row:row + 2], image[:, column] = 0, 0
    images.append(image)
  labels = np.arange(num_sets * 3 + 6) % 3
  split = num_sets * 3
  return episodes.Episode(np.reshape(images[:split], [num_sets, 3, 12, 12, 1]),
                          labels[:split].reshape(num_sets, 3), np.stack(images[split:]),
                          labels[split:])


@pytest.fixture(name="sides", scope="module")
def _sides(runs):
  def make(dtype):
    made = maml.Maml(functional_conv4.Conv4(filters=4, blocks=1, pixel_range=(0.0, 1.0),
                                            dtype=dtype),
                     inner=inner_loop.InnerLoop(steps=1, num_support_sets=2, transductive=True),
                     transform=image_ops.AsStored(12), channels=1,
                     training=meta_schedules.MetaTraining())
    made.begin(tasks.Task("episode", tasks.SINGLE_LABEL, 3), runs.suite_cfsl.context())
    return made

  return runs.sides_of(make)


@pytest.fixture(name="row", scope="module")
def _row(runs, sides):
  return runs.compare(sides, runs.noisy(_drawings(2), 1.0, 0), 0)


def test_float32_keeps_the_loss_and_the_gradient_of_float64(row, page_tool):
  for name in ("now", "single", "forced"):
    assert abs(row[name].loss) < page_tool.LOSS, name
    assert row[name].gradient < page_tool.GRADIENT, name


def test_which_of_equal_numbers_wins_changes_nothing(runs, sides):
  episode = runs.noisy(_drawings(2), 0.0, 0)
  run = runs.recorded(sides.double, episode)
  several = [np.isin(tied, [0, 1, 2, 4, 8], invert=True) for tied in run.tied]
  assert several[0].mean() > 0.5  # Of the first layer's windows, most are ties.
  # Those of equal numbers that come last: of the tied ones, the highest bit.
  last = [np.where(tied, 1 << np.int64(np.log2(np.maximum(tied, 1))), 0).astype(np.uint8)
          for tied in run.tied]
  assert sum(np.count_nonzero(a != b) for a, b in zip(last, run.decisions)) > 100
  for decisions in (last, run.tied):  # Another winner; the gradient is shared.
    changed = runs.change(runs.replayed(sides.double, episode, decisions), run)
    assert abs(changed.loss) < 1e-9 and changed.gradient < 1e-7


def test_own_decisions_give_the_same_run_and_others_another(runs, sides):
  episode = runs.noisy(_drawings(2), 1.0, 0)
  run = runs.recorded(sides.double, episode)
  again = runs.change(runs.replayed(sides.double, episode, run.decisions), run)
  assert abs(again.loss) < 1e-12 and again.gradient < 1e-10 and again.decisions == 0
  other = [part.copy() for part in run.decisions]
  pooled = other[0].reshape(-1)
  pooled[0] = 1 if pooled[0] != 1 else 2
  forced = runs.replayed(sides.double, episode, other)
  assert runs.change(forced, run).decisions == 0  # A replay has none of its own.
  assert runs.change(forced._replace(decisions=other), run).decisions == 1
  assert runs.change(forced, run).gradient > 1e-6


def test_numbers_of_a_window_and_their_winner_by_hand(runs):
  x = tf.constant([[1.0, 5.0, 9.0], [5.0, 2.0, 9.0], [8.0, 8.0, 8.0]])[None, :, :, None]
  recorder = runs.Recorder()
  np.testing.assert_array_equal(recorder.max_pool(x), [[[[5.0]]]])
  assert recorder.decisions[0].item() == 0b0010  # The first of two, by rows.
  assert recorder.tied[0].item() == 0b0110
  np.testing.assert_allclose(runs.Replay([np.uint8([[[[0b1001]]]])]).max_pool(x), [[[[1.5]]]])
  np.testing.assert_allclose(recorder.rectify(tf.constant([-2.0, 0.0, 3.0])), [-0.02, 0.0, 3.0])
  assert recorder.decisions[1].tolist() == [1, 1, 2] and recorder.tied[1].tolist() == [1, 3, 2]
  replay = runs.Replay([np.uint8([2, 1, 1])])
  np.testing.assert_allclose(replay.rectify(tf.constant([-2.0, 0.0, 3.0])), [-2.0, 0.0, 0.03])


def test_weights_are_moved_by_a_rounding_and_back(runs, sides):
  variable = sides.double.trainable_variables[0]
  before = variable.numpy()
  with runs.rounded_weights(sides.double, 0):
    moved = np.abs(variable.numpy() / before - 1.0)
    np.testing.assert_allclose(moved[before != 0], 2.0 ** -24, rtol=1e-6)
  np.testing.assert_array_equal(variable, before)


def test_a_page_of_rows_and_what_is_missing(page_tool, row, tmp_path):
  path = tmp_path / "rows.jsonl"
  rows = [{**row, "model": "maml", "num_sets": 3, "episode": e, "noise": noise, "onednn": 1}
          for e in (3, 4) for noise in (1.0, 0.0)]
  path.write_text("\n".join(map(json.dumps, rows + rows[:1])), encoding="utf-8")
  assert len(page_tool.read(path)) == 4
  page = page_tool.page(page_tool.read(path))
  assert page.count("| MAML++ low-end | 3 | tie-free |") == 2
  assert "4 comparisons of an episode. With the same decisions 4 keep 0.0001 of the loss" in page
  args = type("Args", (), dict(models=["maml"], sets=[1, 3], onednn=[1], episodes=[3, 4, 5]))
  assert list(page_tool.missing(rows, args)) == [("maml", 1, 1, [3, 4, 5]), ("maml", 3, 1, [5])]


def test_the_page_is_what_its_rows_give(page_tool):
  page = page_tool.page(page_tool.read(page_tool.ROWS))
  assert page_tool.PAGE.read_text(encoding="utf-8") == page

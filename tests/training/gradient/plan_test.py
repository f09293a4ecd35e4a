# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import numpy as np
import pytest

from suite.training.gradient import array_loop
from suite.training.gradient import schedules


def all_rows(plan):
  return np.concatenate([np.ravel(part.incoming.places) for part in plan.parts()]).tolist()


def test_filled_steps_and_epochs_by_hand():
  # 2 epochs of 10 examples in batches of 4: 20 rows are 5 batches; the third begins in epoch 0.
  plan = array_loop.PhaseRows(10, 2, 4, (1, 2))
  assert plan.num_steps == 5 and plan.widths() == {4: 5}
  assert plan.epochs_of(np.arange(5)).tolist() == [0, 0, 0, 1, 1]
  assert array_loop.PhaseRows(10, 1, 4, (1, 2)).num_steps == 3
  assert array_loop.PhaseRows(3, 0.1, 64, (1, 2)).num_steps == 1
  rows = all_rows(plan)
  assert sorted(rows[:10]) == sorted(rows[10:]) == list(range(10))


@pytest.mark.parametrize("last", array_loop.LAST)
def test_a_budget_of_steps_is_the_same_for_any_number_of_rows(last):
  for size in (3, 10, 1000):
    plan = array_loop.PhaseRows(size, 7, 4, (1, 2), last=last, steps=5)
    assert plan.num_steps == 5 and plan.widths() == {4: 5} and plan.num_rows == 20
    counts = np.bincount(all_rows(plan), minlength=size)
    assert counts.sum() == 20 and counts.max() - counts.min() <= 1  # They come equally often.
  assert plan.epochs_of(np.arange(5)).tolist() == [0] * 5


def test_even_batches_by_hand():
  # 2.5 epochs of 10: batches of 3, 3, 4, then 3, 3, 4, then 2, 3.
  plan = array_loop.PhaseRows(10, 2.5, 4, (1, 2), last="even", first=100)
  assert plan.widths() == {3: 5, 4: 2, 2: 1} and plan.num_steps == 8 and plan.num_rows == 25
  (part,) = plan.parts()
  assert part.starts.tolist() == [0, 3, 6, 10, 13, 16, 20, 22, 25] and part.width is None
  assert plan.epochs_of(np.arange(8)).tolist() == [0, 0, 0, 1, 1, 1, 2, 2]
  rows = all_rows(plan)
  assert sorted(rows[:10]) == sorted(rows[10:20]) == list(range(100, 110))
  assert len(set(rows[20:])) == 5


@pytest.mark.parametrize("size, batch, expected", [
    (129, 128, {64: 1, 65: 1}), (256, 128, {128: 2}), (1, 4, {1: 1}), (3, 4, {3: 1})])
def test_no_row_is_alone_in_an_even_batch_unless_there_is_no_other(size, batch, expected):
  assert array_loop.PhaseRows(size, 1, batch, (1, 2), last="even").widths() == expected


def test_the_memory_comes_in_turn():
  plan = array_loop.PhaseRows(
      10, 2, 4, (1, 2), held=6, replay_batch=4, replay_order=(3, 4), last="even")
  slots = np.concatenate([np.ravel(p.replayed.places) for p in plan.parts()])
  assert sorted(slots[:6]) == sorted(slots[6:12]) == list(range(6)) and len(slots) == 6 * 4
  assert plan.num_rows == 20 + 24
  assert array_loop.PhaseRows(10, 2, 4, (1, 2), held=0, replay_batch=4).num_rows == 20


@pytest.mark.parametrize("last", array_loop.LAST)
def test_long_phases_are_laid_out_in_pieces_that_are_the_same(last, monkeypatch):
  plan = array_loop.PhaseRows(
      50, 3, 8, (1, 2), held=5, replay_batch=3, replay_order=(3, 4), last=last)
  def steps(parts):
    return [[np.split(part.incoming.places, part.starts[1:-1]), part.replayed.places.tolist()]
            for part in parts]

  (whole,) = steps(plan.parts())
  monkeypatch.setattr(array_loop, "_ROWS", 16)
  pieces = list(plan.parts())
  assert max(p.num_steps for p in pieces) == 2 and [p.first for p in pieces] == list(
      range(0, plan.num_steps, 2))
  rows, slots = ([step for piece in steps(pieces) for step in piece[i]] for i in (0, 1))
  assert [r.tolist() for r in rows] == [r.tolist() for r in whole[0]] and slots == whole[1]


def test_rows_are_the_same_however_they_are_cut():
  whole = array_loop.rows(10, 4, (1, 2), 0, 5)
  tail = array_loop.rows(10, 4, (1, 2), 3, 2)
  np.testing.assert_array_equal(tail.places, whole.places[3:])
  np.testing.assert_array_equal(tail.seeds, whole.seeds[3:])
  assert len(set(whole.seeds.reshape(-1).tolist())) == 20
  plain = array_loop.rows(10, 4, (1, 2), 0, 5, seeded=False)
  np.testing.assert_array_equal(plain.places, whole.places)
  assert plain.seeds.shape == (5, 4) and not plain.seeds.any()


def test_the_rate_falls_tenfold_every_step_epochs():
  rates = schedules.EpochSteps(step=30).rates(0.01, np.array([0, 29, 30, 59, 60, 69]))
  np.testing.assert_allclose(rates, [1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4], rtol=1e-6)
  assert rates.dtype == np.float32
  with pytest.raises(ValueError, match="step is 0; it must be at least 1 epoch"):
    schedules.EpochSteps(step=0)

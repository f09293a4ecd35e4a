# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import numpy as np
import pytest

from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking


@pytest.fixture(autouse=True)
def _short_runs(monkeypatch):
  monkeypatch.setattr(rank_order, "RUN", 16)
  monkeypatch.setattr(rank_order, "PER_BUCKET", 1)


@pytest.mark.parametrize("seed", range(20))
def test_it_is_the_order_that_sorting_gives(seed):
  rng = np.random.default_rng(seed)
  size, num_models = int(rng.integers(1, 200)), int(rng.integers(1, 12))
  counts = rng.integers(0, num_models + 1, size).astype(np.uint8)
  if seed % 3 == 0:
    counts = counts // 3 * 3  # Empty buckets between full ones.
  order = rank_order.RankOrder(counts)
  slow = ranking.order_by_count(counts)
  np.testing.assert_array_equal(order.samples_at(np.arange(size)), slow)
  some = rng.permutation(size)[:7]
  np.testing.assert_array_equal(order.samples_at(some), slow[some])
  for cut in {0, 1, size // 2, size - 1, size}:
    whole = ranking.step_predictions(slow, cut)
    np.testing.assert_array_equal(order.predicted(cut), whole)
    np.testing.assert_array_equal(order.predicted(cut, 5, 30), whole[5:35])


@pytest.mark.parametrize("seed", range(10))
def test_an_edge_says_of_any_sample_what_its_cut_predicts(seed):
  rng = np.random.default_rng(seed)
  size = int(rng.integers(1, 100))
  order = rank_order.RankOrder((rng.integers(0, 6, size) // 2 * 2).astype(np.uint8))
  for cut in range(size + 1):
    samples = rng.integers(0, size, 20)
    np.testing.assert_array_equal(order.is_solved(samples, order.edge(cut)),
                                  order.predicted(cut)[samples])
    assert order.predicted(cut).sum() == cut


@pytest.mark.parametrize("seed", range(10))
def test_a_grown_order_is_one_built_from_scratch(seed):
  rng = np.random.default_rng(seed)
  counts = rng.integers(0, 5, int(rng.integers(1, 60))).astype(np.uint8)
  order = rank_order.RankOrder(counts)
  for highest in (5, 12, 3):  # More buckets than there were, and fewer.
    counts = np.concatenate([counts, rng.integers(0, highest, int(rng.integers(0, 60)),
                                                  dtype=np.uint8)])
    order = order.grown(counts)
    slow = ranking.order_by_count(counts)
    np.testing.assert_array_equal(order.samples_at(np.arange(len(counts))), slow)
  with pytest.raises(ValueError, match="Got 1 counts for an order of"):
    order.grown(counts[:1])


def test_runs_are_longer_for_many_buckets(monkeypatch):
  monkeypatch.setattr(rank_order, "PER_BUCKET", 64)
  counts = np.random.default_rng(0).integers(0, 1000, 70_000).astype(np.uint16)
  order = rank_order.RankOrder(counts)
  np.testing.assert_array_equal(order.samples_at(np.arange(0, 70_000, 77)),
                                ranking.order_by_count(counts)[::77])


def test_no_ranks_no_samples():
  assert not rank_order.RankOrder(np.ones(3, np.uint8)).samples_at(np.zeros(0, int)).size


def test_by_hand():
  order = rank_order.RankOrder(np.array([0, 2, 1, 2, 0], np.uint8))
  assert order.samples_at(np.arange(5)).tolist() == [1, 3, 2, 0, 4]
  assert order.edge(1) == (2, 3)  # Of the two of count 2, position 1 is solved and 3 is not.
  assert order.edge(2) == (1, 0) and order.edge(5) == (0, 5)
  assert order.predicted(2).tolist() == [False, True, False, True, False]
  assert order.predicted(4).tolist() == [True, True, True, True, False]


def test_bad_input():
  with pytest.raises(ValueError, match="expected uint8 or uint16"):
    rank_order.RankOrder(np.array([1, 2]))
  order = rank_order.RankOrder(np.array([1, 2], np.uint16))
  with pytest.raises(ValueError, match="Ranks run from 0 to 1; got 0 to 2"):
    order.samples_at(np.array([0, 2]))
  with pytest.raises(ValueError, match="cut=3 for 2 samples"):
    order.predicted(3)

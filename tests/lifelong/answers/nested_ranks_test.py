# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.lifelong.answers import rank_order


@pytest.mark.parametrize("size", [1, 2, 3, 7, 8, 100, 1000])
def test_every_budget_is_the_beginning_of_a_sequence_of_all_ranks(size):
  whole = rank_order.nested_ranks(size, size, seed=3)
  assert sorted(whole) == list(range(size))
  for budget in range(1, size + 1, max(1, size // 37)):
    np.testing.assert_array_equal(rank_order.nested_ranks(size, budget, seed=3), whole[:budget])


@pytest.mark.parametrize("seed", range(5))
def test_a_power_of_two_has_one_rank_in_each_stratum(seed):
  for power in range(11):
    num = 1 << power
    ranks = rank_order.nested_ranks(64 * num, num, seed)
    assert sorted(ranks // 64) == list(range(num))


def test_ranks_are_uniform_over_seeds_and_independent_across_strata():
  found = np.array([np.sort(rank_order.nested_ranks(1024, 4, seed)) for seed in range(2000)])
  # Of 2000 uniform places in a stratum of 256 the mean is sure to 4 * 1.65.
  np.testing.assert_allclose((found % 256).mean(axis=0), 127.5, atol=7)
  assert np.max(np.abs(np.corrcoef((found % 256).T) - np.eye(4))) < 0.1


def test_a_billion_samples_take_no_array_of_them():
  ranks = rank_order.nested_ranks(10 ** 9, 1024)
  assert len(set(ranks)) == 1024 and ranks.min() >= 0 and ranks.max() < 10 ** 9


@pytest.mark.parametrize("size, budget", [(5, 0), (5, 6), (1 << 32, 1)])
def test_impossible_budgets(size, budget):
  with pytest.raises(ValueError, match=f"budget of {budget} for {size} samples"):
    rank_order.nested_ranks(size, budget)

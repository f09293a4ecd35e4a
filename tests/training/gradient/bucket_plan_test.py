# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest

from suite.training.gradient import bucket_plan


def test_steps_and_epochs_by_hand():
  # 2 epochs of 10 examples in batches of 4: 20 rows are 5 batches; the third begins in epoch 0.
  assert bucket_plan.num_steps(10, 2, 4) == 5
  assert bucket_plan.num_steps(10, 1, 4) == 3
  assert bucket_plan.num_steps(3, 0.1, 64) == 1
  assert bucket_plan.epochs_of(np.arange(5), 10, 4).tolist() == [0, 0, 0, 1, 1]


def test_the_rate_falls_tenfold_every_so_many_epochs():
  rates = bucket_plan.EpochSteps(step=30).rates(0.01, np.array([0, 29, 30, 59, 60, 69]))
  np.testing.assert_allclose(rates, [1e-2, 1e-2, 1e-3, 1e-3, 1e-4, 1e-4], rtol=1e-6)
  assert rates.dtype == np.float32
  with pytest.raises(ValueError, match="step is 0; it must be at least 1 epoch"):
    bucket_plan.EpochSteps(step=0)


def test_rows_are_permutations_and_the_same_however_they_are_cut():
  whole = bucket_plan.rows(10, 4, (1, 2), 0, 5)
  places = whole.places.numpy().reshape(-1)
  assert sorted(places[:10]) == sorted(places[10:]) == list(range(10))
  assert places[:10].tolist() != places[10:].tolist()
  tail = bucket_plan.rows(10, 4, (1, 2), 3, 2)
  np.testing.assert_array_equal(tail.places, whole.places[3:])
  np.testing.assert_array_equal(tail.seeds, whole.seeds[3:])
  assert len(set(whole.seeds.numpy().reshape(-1).tolist())) == 20


def test_chunks_cover_all_steps():
  parts = list(bucket_plan.chunks(5000, 64))
  assert parts == [(0, 2048), (2048, 2048), (4096, 904)]
  assert list(bucket_plan.chunks(3, 10**9)) == [(0, 1), (1, 1), (2, 1)]


def test_rows_of_a_bucket_and_of_a_memory_behind_it():
  left, right = bucket_plan.rows(4, 2, (1, 2), 0, 3), bucket_plan.rows(5, 2, (3, 4), 0, 3)
  both = bucket_plan.side_by_side(left, right, 4)
  np.testing.assert_array_equal(both.places[:, :2], left.places)
  np.testing.assert_array_equal(both.places[:, 2:], right.places + 4)
  np.testing.assert_array_equal(both.seeds[:, 2:], right.seeds)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Order and randomness of batches: each example once an epoch, a pure function of (seed, step)."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import sampling


def _rows(plan, num_elements):
  rows = tf.range(plan.rows, dtype=tf.int64)
  parts = [plan.form.at(plan.numbers, tf.constant(e, tf.int64), rows) for e in range(num_elements)]
  return [np.stack([part[i].numpy() for part in parts]) for i in range(3)]


@pytest.mark.parametrize("size, batch_size", [(10, 4), (1, 3), (3, 8), (7, 7), (100, 32)])
def test_each_example_comes_once_an_epoch(size, batch_size):
  indices = _rows(sampling.TrainPlan(size, batch_size, (1, 2)), 3 * size)[0].ravel()
  for epoch in range(3):
    assert sorted(indices[epoch * size:(epoch + 1) * size]) == list(range(size))


def test_epochs_and_seeds_have_orders_of_their_own():
  orders = [tuple(_rows(sampling.TrainPlan(50, 50, seed), 2)[0][epoch])
            for seed in ((1, 2), (2, 1), (1 + 2**32, 2), (-1, 2)) for epoch in range(2)]
  assert len(set(orders)) == 8


def test_a_later_first_step_is_the_tail_of_the_sequence():
  whole = _rows(sampling.TrainPlan(10, 4, (1, 2)), 7)
  tail = _rows(sampling.TrainPlan(10, 4, (1, 2), first_step=3), 4)
  for a, b in zip(whole, tail):
    np.testing.assert_array_equal(a[3:], b)


def test_shards_are_slices_of_the_same_batches():
  whole = _rows(sampling.TrainPlan(10, 8, (1, 2)), 3)
  both = _rows(sampling.TrainPlan(10, 8, (1, 2), num_shards=4, shard_index=1, shards_here=2), 6)
  for a, b in zip(whole, both):
    for step in range(3):
      np.testing.assert_array_equal(a[step, 2:4], b[2 * step])
      np.testing.assert_array_equal(a[step, 4:6], b[2 * step + 1])


def test_positions_of_a_host_are_those_of_its_shards():
  plan = sampling.TrainPlan(10, 8, (1, 2), num_shards=4, shard_index=1, shards_here=2)
  is_here = plan.is_here(tf.range(16, dtype=tf.int64)).numpy()
  assert list(np.flatnonzero(is_here)) == [2, 3, 4, 5, 10, 11, 12, 13]


@pytest.mark.parametrize("values, message", [
    (dict(batch_size=6, num_shards=4), "A batch of 6 cannot be cut into 4 equal shards"),
    (dict(batch_size=0), "A batch of 0"),
    (dict(batch_size=4, num_shards=2, shard_index=1, shards_here=2), "not inside num_shards=2"),
    (dict(batch_size=4, first_step=-1), "first_step=-1"),
])
def test_impossible_plans_say_why(values, message):
  with pytest.raises(ValueError, match=message):
    sampling.TrainPlan(size=10, seed=(1, 2), **values)


def test_evaluation_is_in_order_and_padding_is_not_valid():
  indices, _, valid = _rows(sampling.EvalPlan(5, 3), 2)
  assert indices.tolist() == [[0, 1, 2], [3, 4, 4]]
  assert valid.tolist() == [[True, True, True], [True, True, False]]
  assert sampling.EvalPlan(6, 3).num_elements == 2


def test_random_bits_are_those_of_splitmix64():
  # The published first outputs of SplitMix64 seeded with 1234567.
  bits = sampling.derive(tf.constant(1234567, tf.uint64), tf.range(3, dtype=tf.int64))
  assert bits.numpy().tolist() == [6457827717110365317, 3203168211198807973, 9817491932198370423]


def test_root_seeds_in_python_equal_those_of_the_graph():
  derived = tf.constant(0, tf.uint64)
  for value in (3, 5, 1):
    derived = sampling.derive(derived, value)
  assert int(sampling.root_seed((3, 5), 1)) == int(derived)


def test_numbers_of_a_row_do_not_depend_on_the_other_rows():
  seeds = sampling.row_seeds((1, 2), tf.range(100, dtype=tf.int64))
  together = sampling.uniform(seeds, 5)
  alone = sampling.uniform(seeds[37:38], 5)
  np.testing.assert_array_equal(together[37:38], alone)


def test_numbers_are_uniform_and_uncorrelated():
  draws = sampling.uniform(sampling.row_seeds((1, 2), tf.range(20000, dtype=tf.int64)), 4).numpy()
  assert draws.min() >= 0.0 and draws.max() < 1.0
  for column in draws.T:
    counts = np.histogram(column, 20, (0, 1))[0]
    assert ((counts - 1000) ** 2 / 1000).sum() < 44  # Chi-square, 19 degrees: p = 0.001.
  assert np.abs(np.corrcoef(draws.T) - np.eye(4)).max() < 0.03
  assert abs(np.corrcoef(draws[:-1, 0], draws[1:, 0])[0, 1]) < 0.03


@pytest.mark.parametrize("size", [2, 5, 10])
def test_permutations_of_small_sets_are_even(size):
  num = 5000
  keys = sampling.derive(sampling.root_seed((0, 0), 0), tf.range(num, dtype=tf.int64))
  places = np.tile(np.arange(size), num)
  order = sampling.shuffled(tf.constant(places, tf.int64), size, tf.repeat(keys, size)).numpy()
  order = order.reshape(num, size)
  counts = np.stack([np.bincount(column, minlength=size) for column in order.T])
  degrees = (size - 1) ** 2
  chi_square = ((counts - num / size) ** 2 / (num / size)).sum()
  assert chi_square < degrees + 4 * (2 * degrees) ** 0.5
  first_pair = np.unique(order[:, 0] * size + order[:, 1], return_counts=True)[1]
  assert len(first_pair) == size * (size - 1)


def test_draws_without_replacement_are_sorted_and_repeatable():
  drawn = sampling.draw_without_replacement(100, 20, (1, -2))
  assert len(set(drawn)) == 20 and list(drawn) == sorted(drawn)
  np.testing.assert_array_equal(drawn, sampling.draw_without_replacement(100, 20, (1, -2)))
  assert list(drawn) != list(sampling.draw_without_replacement(100, 20, 1))


def test_permutations_of_larger_sets_come_from_the_cipher_and_are_even():
  num, size = 300, 200
  keys = sampling.derive(sampling.root_seed((0, 0), 0), tf.range(num, dtype=tf.int64))
  places = tf.constant(np.tile(np.arange(size), num), tf.int64)
  order = sampling.shuffled(places, size, tf.repeat(keys, size)).numpy().reshape(num, size)
  np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(size), (num, 1)))
  counts = np.stack([np.bincount(column // 10, minlength=20) for column in order.T])
  degrees = 199 * 19
  assert ((counts - 15) ** 2 / 15).sum() < degrees + 4 * (2 * degrees) ** 0.5

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The vectorised draws against a slow one that takes things out of a list, one by one."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.episodes import episode_conventions
from suite.data.episodes import episodes
from suite.data.episodes import task_types

CONVENTIONS = episode_conventions.CONVENTIONS
WORD = 2**64 - 1


def _derive(seed, value):
  """SplitMix64 in Python's integers."""
  bits = (seed + (value + 1) * 0x9E3779B97F4A7C15) & WORD
  bits = (bits ^ bits >> 30) * 0xBF58476D1CE4E5B9 & WORD
  bits = (bits ^ bits >> 27) * 0x94D049BB133111EB & WORD
  return bits ^ bits >> 31


def _pick(key, things, num):
  """The first `num` things of the order that belongs to a key."""
  left = list(things)
  return [left.pop((_derive(key, j) >> 32) * len(left) >> 32) for j in range(num)]


def _slow(source, setting, convention, shared, index):
  """One episode from the words of the conventions: support images, then targets."""
  way, shot, targets = setting.way, setting.shot, setting.targets
  interval = setting.class_change_interval
  class_key = _derive(int(source.class_root), index)
  image_key = _derive(int(source.image_root), index)
  everything = _pick(_derive(class_key, 0), range(len(source.counts)), 0 if convention ==
                     "paper_feb" else setting.num_blocks * way)

  def images(k_in_task, row, num):
    c = everything[k_in_task]
    of_class = source.order[source.first[c]:source.first[c] + source.counts[c]].tolist()
    return _pick(_derive(image_key, row), of_class, num)

  support, target = [], []
  for s in range(setting.num_support_sets):
    block, turn = divmod(s, interval)
    if convention == "paper_feb" and turn == 0:
      everything += _pick(_derive(class_key, block), range(len(source.counts)), way)
    for k in range(way):
      c = block * way + k
      if convention == "paper_feb":
        drawn, begin, end = images(c, s * way + k, shot + targets), 0, shot
      elif convention == "paper_apr":
        drawn, begin, end = images(c, c, shot + targets), 0, shot
      else:
        num = interval * shot + targets * (1 if shared else interval)
        drawn, begin, end = images(c, c, num), turn * shot, interval * shot + turn * targets
      support += drawn[begin:begin + shot]
      target += [] if shared and turn else drawn[end:end + targets]
  return support + target


def _source(rng, num_classes, least, most):
  counts = rng.integers(least, most, num_classes, endpoint=True).astype(np.int32)
  roots = rng.integers(0, WORD, 2, dtype=np.uint64, endpoint=True)
  return episodes.EpisodeSource(rng.permutation(counts.sum()).astype(np.int32),
                              (np.cumsum(counts) - counts).astype(np.int32), counts, *roots)


def _random_case(number):
  rng = np.random.default_rng(number)
  interval, blocks, way = rng.integers(1, 4), rng.integers(1, 4), rng.integers(2, 5)
  shot, targets = rng.integers(1, 4, size=2)
  setting = task_types.Setting(*(int(n) for n in (way, shot, targets, interval * blocks, interval)))
  shared = bool(number % 2)
  least = interval * shot + targets if shared else interval * (shot + targets)
  source = _source(rng, int(way * blocks + rng.integers(0, 6)), least, least + number % 7)
  return source, setting, int(rng.integers(2**60))


@pytest.mark.parametrize("convention", CONVENTIONS)
@pytest.mark.parametrize("number", range(12))
def test_draws_are_those_of_a_slow_sampler(convention, number):
  source, setting, first = _random_case(number)
  layout = episode_conventions.layout(convention, setting, source.counts, "It")
  numbers = np.arange(first, first + 5)
  drawn = episodes.draw(episodes.NUMPY, source, layout.draws, numbers)
  assert drawn.dtype == np.int32
  expected = [_slow(source, setting, convention, bool(layout.fallback), int(n)) for n in numbers]
  assert drawn.tolist() == expected
  graph = tf.function(lambda n: episodes.draw(episodes.GRAPH, source, layout.draws, n))
  np.testing.assert_array_equal(graph(tf.constant(numbers)), drawn)
  if convention == "spec":
    assert all(len(set(row)) == len(row) for row in drawn.tolist())


def test_a_draw_depends_on_its_own_number_only():
  source, setting, first = _random_case(3)
  layout = episode_conventions.layout("spec", setting, source.counts, "It")
  numbers = np.arange(first, first + 9)
  together = episodes.draw(episodes.NUMPY, source, layout.draws, numbers)
  alone = episodes.draw(episodes.NUMPY, source, layout.draws, np.array([first + 4]))
  np.testing.assert_array_equal(together[4:5], alone)


@pytest.mark.parametrize("size, num", [(1, 1), (2, 2), (4, 3), (7, 7)])
def test_every_ordered_draw_is_equally_likely(size, num):
  keys = np.random.default_rng(size).integers(0, WORD, 50_000, dtype=np.uint64)
  drawn = episodes.NUMPY.distinct(keys, size, num)
  assert drawn.shape == (num, 50_000)
  orders, counts = np.unique(drawn, axis=1, return_counts=True)
  num_orders = np.prod(np.arange(size - num + 1, size + 1))
  assert orders.shape[1] == num_orders
  expected = 50_000 / num_orders
  # Chi-squared has mean and half its variance equal to its degrees of freedom.
  chi_squared = ((counts - expected) ** 2 / expected).sum()
  assert chi_squared < num_orders - 1 + 5 * (2 * num_orders) ** 0.5

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Costs of any shape from five counted ones, and of graphs that follow from others."""

from __future__ import annotations

from suite.compute import flops


def _counted(count):
  asked = []
  def counting(rows, classes):
    asked.append((rows, classes))
    return count(rows, classes)
  return flops.ShapeCosts(counting), asked


def test_bilinear_costs_need_five_graphs():
  cost = lambda b, c: flops.Cost(100 + 7 * b + 11 * c + 3 * b * c, 5 * b * c)
  costs, asked = _counted(cost)
  for shape in ((1, 1), (512, 3926), (16, 2), (2, 2), (5, 7)):
    assert costs(*shape) == cost(*shape)
  assert len(asked) == len(set(asked)) == 5
  assert costs(0, 10) == flops.ZERO


def test_other_costs_are_counted_each():
  cost = lambda b, c: flops.Cost(b * b * c, 0)
  costs, asked = _counted(cost)
  assert costs(64, 10) == cost(64, 10) and costs(64, 10) == cost(64, 10)
  assert asked.count((64, 10)) == 1


def test_an_unknown_part_stays_unknown():
  costs, _ = _counted(lambda b, c: flops.Cost(None, b * c, ("Svd",)))
  assert costs(8, 4) == flops.Cost(None, 32, ("Svd",))


def _of_sizes(cost, **settings):
  counted, costs = [], flops.SizeCosts(**settings)
  def ask(s, w):
    def count():
      counted.append((s, w))
      return cost(s, w)
    return costs((1, s, w, s * w), count)
  return ask, counted, costs


def test_what_follows_from_counted_graphs_is_not_counted():
  cost = lambda s, w: flops.Cost(100 + 7 * s + 11 * w + 3 * s * w, 5 * s * w)
  ask, counted, costs = _of_sizes(cost)
  for sizes in ((1, 5), (3, 5), (5, 5), (10, 5), (3, 15), (5, 25), (10, 50), (8, 20), (3, 5)):
    assert ask(*sizes) == cost(*sizes)
  # (5, 5) follows from the two before it, and is counted once to confirm it.
  assert counted == [(1, 5), (3, 5), (5, 5), (3, 15), (5, 25)] and costs.num_followed == 3


def test_a_cost_that_does_not_follow_ends_it():
  cost = lambda s, w: flops.Cost(s**3, None)
  ask, counted, _ = _of_sizes(cost)
  for s in (1, 2, 3, 4, 5):
    assert ask(s, 5) == cost(s, 5)
  assert len(counted) == 5
  bent = lambda s, w: flops.Cost(10**6 * s + s * s, 0)
  for close, number in ((0.0, 4), (1e-3, 3)):  # The last one follows where that is close enough.
    nearly, counted, costs = _of_sizes(bent, close=close)
    assert [nearly(s, 5) for s in (1, 2, 3)] == [bent(s, 5) for s in (1, 2, 3)]
    assert abs(nearly(10, 5).flops - bent(10, 5).flops) <= close * 10**7
    assert len(counted) == number and costs.num_followed == 4 - number

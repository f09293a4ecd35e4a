# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Costs of any shape from five counted ones."""

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

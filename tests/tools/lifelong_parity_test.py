# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import itertools

import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("lifelong_parity")


def test_an_index_of_the_largest_sum_is_one_less_than_its_cut(tool):
  rows = np.array(list(itertools.product((0, 1), repeat=5)))
  sums = np.cumsum(2 * rows - 1, axis=1)
  cuts = tool.cuts_from(np.argmax(sums, axis=1), rows)
  for row, cut in zip(rows, cuts):
    wrong = [sum(row[:k] == 0) + sum(row[k:]) for k in range(6)]
    assert wrong[cut] == min(wrong) and cut == wrong.index(min(wrong))
    assert tool.errors_of(row[None], np.array([cut]))[0] == wrong[cut]


def test_searched_models_are_those_that_are_not_known(tool):
  matrix = tool.simulated(models=6, samples=40)
  assert matrix.answers.shape == (6, 40) and set(np.unique(matrix.answers)) == {0, 1}
  assert len(matrix.known) == 3 and matrix.searched.shape == (3, 40)
  assert matrix.budgets == [8, 32]

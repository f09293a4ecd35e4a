# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What every estimator of the lifelong benchmark keeps to."""

from __future__ import annotations

import functools
import os
import pathlib

import numpy as np
import pytest

from suite.learners.estimators import anchor_search
from suite.learners.estimators import paper_estimators
from suite.lifelong.estimators import factor_model
from suite.lifelong.estimators import irt_search

METHODS = {
    "sum": paper_estimators.SumSearch,
    "factors": lambda: factor_model.FactorSearch(num_factors=(1, 4)),
    "orders": paper_estimators.OrderSearch, "copy": paper_estimators.CopyNearest,
    "anchors": anchor_search.AnchorSearch,
    "medoids": lambda: anchor_search.AnchorSearch("kmedoids"), "irt": irt_search.IrtSearch,
    "random": paper_estimators.RandomMean}


@pytest.fixture(scope="module", name="answers")
def _answers():
  """41 models of two kinds on 600 samples: two directions of difficulty. The last is new."""
  rng = np.random.default_rng(0)
  difficulty = rng.normal(size=(2, 600))
  skill = rng.normal(0.3, 1.0, 41)
  kind = np.arange(41) % 2
  logits = skill[:, None] - 2.0 * difficulty[kind]
  return (rng.random((41, 600)) < 1 / (1 + np.exp(-logits))).astype(np.uint8)


def _ask(row, asked):
  def ask(indices):
    asked.extend(int(i) for i in indices)
    return row[indices]
  return ask


@pytest.fixture(scope="module", name="estimated")
def _estimated(answers):
  """A function: a method and a budget to the samples asked and the estimate, which is made once."""
  @functools.cache
  def estimated(name, budget):
    asked = []
    return asked, METHODS[name]().estimate(answers[:-1], _ask(answers[-1], asked), budget)

  return estimated


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("budget", [1, 64, 600])
def test_an_estimate_asks_no_more_than_its_budget_and_answers_for_every_sample(
    answers, estimated, name, budget):
  row, (asked, found) = answers[-1], estimated(name, budget)
  assert len(asked) <= budget and len(set(asked)) == len(asked)
  assert found.answers.shape == row.shape and set(np.unique(found.answers)) <= {0, 1}
  assert 0.0 <= found.accuracy <= 1.0
  if found.interval is not None:
    assert 0.0 <= found.interval[0] <= found.accuracy <= found.interval[1] <= 1.0
  if name != "sum":  # The paper's step stays a step at observed samples, too.
    np.testing.assert_array_equal(found.answers[asked], row[asked])
  if budget == 600 and name != "sum":
    np.testing.assert_array_equal(found.answers, row)
    assert found.accuracy == pytest.approx(row.mean())


@pytest.mark.parametrize("name", METHODS)
def test_estimates_are_the_same_every_time(answers, estimated, name):
  first = estimated(name, 64)[1]
  second = METHODS[name]().estimate(answers[:-1], _ask(answers[-1], []), 64)
  np.testing.assert_array_equal(first.answers, second.answers)
  assert first.accuracy == second.accuracy and first.interval == second.interval


@pytest.mark.parametrize("name", METHODS)
@pytest.mark.parametrize("value", [0, 1])
def test_models_at_0_and_100_percent(answers, name, value):
  found = METHODS[name]().estimate(answers[:-1], _ask(np.full(600, value, np.uint8), []), 64)
  assert found.accuracy == pytest.approx(value, abs=0.05)
  if found.interval is not None:
    assert found.interval[0] <= value <= found.interval[1]


def test_factors_see_what_one_order_cannot(answers):
  known, row = answers[1:], answers[0]
  errors = {name: np.mean(METHODS[name]().estimate(known, _ask(row, []), 128).answers != row)
            for name in ("sum", "factors")}
  assert errors["factors"] < errors["sum"] - 0.03


def test_the_real_matrix():
  path = pathlib.Path(os.environ.get("LIFELONG_DATA", "../shared/data"),
                      "sort_and_search", "cifar10_matrix.npz")
  if not path.is_file():
    pytest.skip(f"no real data: {path} is not a file")
  with np.load(path, allow_pickle=False) as saved:
    packed = saved["A_packed"]
    chosen = packed[np.random.default_rng(0).permutation(len(packed))[:30]]
    matrix = np.unpackbits(chosen, axis=1, count=int(saved["n_samples"]))
  known = matrix[:24]
  errors = {}
  for name, method in (("sum", paper_estimators.SumSearch()),
                       ("factors", factor_model.FactorSearch())):
    errors[name] = np.mean([np.mean(method.estimate(known, _ask(row, []), 1024).answers != row)
                            for row in matrix[24:]])
  assert errors["factors"] < errors["sum"] - 0.02


def test_item_information_by_hand():
  items = np.array([[2.0, 0.0], [1.0, 3.0]])
  middle = irt_search.ABILITIES.tolist().index(0.0)
  assert irt_search.curves(items)[0, middle] == 0.5
  assert irt_search.information(items)[0, middle] == 1.0  # 4 / 4.
  assert irt_search.curves(items)[1, 0] == pytest.approx(0.5)  # At ability -3.

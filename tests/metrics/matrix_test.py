# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR's scores: a 3 x 3 matrix by hand, then the published matrices."""

from __future__ import annotations

import math
import pathlib
import warnings

import numpy as np
import pytest

from suite.metrics import matrix

DATA = pathlib.Path(__file__).parent / "data"

# Trained on bucket 0, 1, 2 downwards; tested on bucket 0, 1, 2 to the right.
ACC = np.array([
    [0.90, 0.60, 0.30],
    [0.80, 0.70, 0.50],
    [0.60, 0.80, 1.00],
])


def test_scores_worked_by_hand():
  assert matrix.summary(ACC) == pytest.approx({
      "in_domain": (0.9 + 0.7 + 1.0) / 3,
      "next_domain": (0.6 + 0.5) / 2,
      "accuracy": (0.9 + 0.8 + 0.7 + 0.6 + 0.8 + 1.0) / 6,
      "backward_transfer": (0.8 + 0.6 + 0.8) / 3,
      "forward_transfer": (0.6 + 0.3 + 0.5) / 3,
      "challenge_score": ((2.6 / 3) + 0.55 + (2.2 / 3) + (1.4 / 3)) / 4,
      "lopez_paz_backward_transfer": ((0.6 - 0.9) + (0.8 - 0.7)) / 2,
      "chaudhry_forgetting": ((0.9 - 0.6) + (0.7 - 0.8)) / 2,
  })


def test_forgetting_looks_for_the_best_before_training_on_the_bucket_too():
  acc = ACC.copy()
  acc[0, 1] = 0.95  # Better on bucket 1 before training on it than after.
  assert matrix.chaudhry_forgetting(acc) == pytest.approx(((0.9 - 0.6) + (0.95 - 0.8)) / 2)


def test_forgetting_does_without_cells_above_the_diagonal_only():
  acc = np.where(np.triu(np.ones([3, 3], bool), k=1), np.nan, ACC)
  assert matrix.chaudhry_forgetting(acc) == pytest.approx(0.1)
  acc[1, 0] = np.nan
  assert math.isnan(matrix.chaudhry_forgetting(acc))


def test_streaming_has_next_domain_and_forward_transfer_only():
  acc = np.where(np.triu(np.ones([3, 3], bool), k=1), ACC, np.nan)
  found = {name for name, value in matrix.summary(acc).items() if not math.isnan(value)}
  assert found == {"next_domain", "forward_transfer"}


def test_a_score_over_missing_cells_is_nan_not_a_mean_of_the_rest():
  acc = ACC.copy()
  acc[2, 0] = np.nan
  assert math.isnan(matrix.accuracy(acc)) and math.isnan(matrix.backward_transfer(acc))
  assert matrix.forward_transfer(acc) == matrix.forward_transfer(ACC)


def test_one_bucket_has_no_transfer_and_nothing_warns():
  with warnings.catch_warnings():
    warnings.simplefilter("error")
    found = matrix.summary(np.array([[0.5]]))
  assert found.pop("in_domain") == found.pop("accuracy") == 0.5
  assert all(math.isnan(value) for value in found.values())


def test_row_scores_the_newest_model():
  assert matrix.row(ACC, 1) == pytest.approx({
      "in_domain": 0.7, "next_domain": 0.5, "backward_transfer": 0.8, "forward_transfer": 0.5})
  last = matrix.row(ACC, 2)
  assert math.isnan(last["next_domain"]) and math.isnan(last["forward_transfer"])
  assert last["backward_transfer"] == pytest.approx(0.7)


@pytest.mark.parametrize("shape", [(2, 3), (4,), (0, 0)])
def test_a_matrix_that_is_not_square_is_named(shape):
  with pytest.raises(ValueError, match=r"shape \[.*\]; expected \[T, T\]"):
    matrix.summary(np.zeros(shape))


def test_figure_6_of_the_paper():
  acc = np.loadtxt(DATA / "clear_figure6_percent.csv", delimiter=",")
  assert matrix.in_domain(acc) == pytest.approx(91.287, abs=5e-4)
  assert matrix.next_domain(acc) == pytest.approx(90.140, abs=5e-4)
  assert matrix.accuracy(acc) == pytest.approx(91.544, abs=5e-4)
  assert matrix.backward_transfer(acc) == pytest.approx(91.601, abs=5e-4)
  assert matrix.forward_transfer(acc) == pytest.approx(88.248, abs=5e-4)
  assert matrix.lopez_paz_backward_transfer(acc) == pytest.approx(0.310, abs=5e-4)


@pytest.mark.parametrize("name, expected", [
    ("clear10", [0.922813, 0.916818, 0.938742, 0.886584, 0.935845, 0.916239]),
    ("clear100", [0.913457, 0.902333, 0.933383, 0.881580, 0.929760, 0.907688]),
])
def test_published_matrices_of_the_challenge(name, expected):
  acc = np.loadtxt(DATA / f"clear_challenge_{name}.txt")
  found = [matrix.in_domain(acc), matrix.next_domain(acc), matrix.backward_transfer(acc),
           matrix.forward_transfer(acc), matrix.accuracy(acc), matrix.challenge_score(acc)]
  assert found == pytest.approx(expected, abs=5e-7)


def test_scores_of_incremental_learning_worked_by_hand():
  acc = np.where(np.tril(np.ones([3, 3], bool)), ACC, np.nan)
  assert matrix.final_average_accuracy(acc) == pytest.approx((0.6 + 0.8 + 1.0) / 3)
  assert matrix.average_accuracy(acc, 1) == pytest.approx((0.8 + 0.7) / 2)
  assert matrix.average_incremental_accuracy(acc) == pytest.approx((0.9 + 0.75 + 0.8) / 3)
  assert matrix.forgetting_of_each(acc) == pytest.approx([0.3, 0.0, 0.0])
  assert matrix.lopez_paz_forward_transfer(ACC, 0.1) == pytest.approx((0.5 + 0.4) / 2)
  assert math.isnan(matrix.lopez_paz_forward_transfer(acc, 0.1))

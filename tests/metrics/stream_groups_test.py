# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Errors over seeds and groups, worked out by hand."""

import math

import numpy as np
import pytest

from suite.metrics import stream_groups

NAN = float("nan")


def test_spread_is_the_mean_and_deviation_of_the_known_values():
  assert stream_groups.spread([1.0, 3.0, NAN, None]) == (2.0, pytest.approx(math.sqrt(2)), 2)
  mean, deviation, num = stream_groups.spread([0.25])
  assert (mean, num) == (0.25, 1) and math.isnan(deviation)
  assert math.isnan(stream_groups.spread([None]).mean)


def test_spread_takes_integers_beyond_64_bits():
  assert stream_groups.spread([10**20, 3 * 10**20]).mean == 2e20


def test_regret_adds_up_and_skips_what_either_does_not_know():
  errors = np.array([[0.2, 0.5, 0.1, 0.4], [0.2, NAN, 0.1, NAN]])
  reference = np.array([0.3, 0.4, 0.3, 0.2])
  curves = stream_groups.regret_curves(errors, reference)
  np.testing.assert_allclose(curves, [[-0.1, 0.0, -0.2, 0.0], [-0.1, NAN, -0.3, NAN]], atol=1e-12)
  # The second seed misses a task in the middle; the last one is where it ends.
  assert stream_groups.gaps(errors, reference).tolist() == [0, 1]


def test_regret_refuses_another_number_of_tasks():
  with pytest.raises(ValueError, match=r"\[1, 2\] and a reference of shape \[3\]"):
    stream_groups.regret_curves(np.zeros((1, 2)), np.zeros(3))


def test_a_mean_over_tasks_is_unknown_if_one_of_them_is():
  errors = np.array([[0.1, 0.3, 0.5], [0.1, NAN, 0.5]])
  np.testing.assert_allclose(
      stream_groups.mean_over(errors, [True, True, False]), [0.2, NAN])
  np.testing.assert_allclose(stream_groups.mean_over(errors, [True, False, True]), [0.3, 0.3])
  assert np.isnan(stream_groups.mean_over(errors, [False] * 3)).all()


def test_seed_mean_is_over_the_seeds_that_know_a_task():
  errors = np.array([[0.1, 0.3, NAN], [0.3, NAN, NAN]])
  np.testing.assert_allclose(stream_groups.seed_mean(errors), [0.2, 0.3, NAN])


@pytest.mark.parametrize("size, name", [
    (999, "< 1,000"), (1_000, "1,000 to 10,000"), (99_999, "10,000 to 100,000"),
    (100_000, "> 100,000"), (None, "unknown")])
def test_sizes_are_those_of_section_5_9(size, name):
  assert stream_groups.size_class(size) == name


@pytest.mark.parametrize("pixels, name", [
    (3, "up to 64 pixels"), (64, "up to 64 pixels"), (128, "65 to 128 pixels"),
    (130, "129 to 256 pixels"), (400.5, "> 256 pixels"), (None, "unknown")])
def test_resolutions_are_pixels_a_side(pixels, name):
  assert stream_groups.resolution_class(pixels) == name


def test_groups_stand_from_small_to_large_with_unknown_last():
  found = stream_groups.places(["unknown", "> 100,000", "< 1,000", "unknown"])
  assert found == {"unknown": [0, 3], "> 100,000": [1], "< 1,000": [2]}
  assert stream_groups.in_order(found, stream_groups.SIZES) == ["< 1,000", "> 100,000", "unknown"]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""pass@k and maj@k of small numbers, by hand."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from suite.lifelong.answers import generations


def test_two_of_four_by_hand():
  num, right = np.array([4, 4, 4]), np.array([0, 2, 4])
  # Of the 6 pairs of 4 generations, 1 has no right one, and 1 has two.
  np.testing.assert_allclose(generations.reduced(num, right, "pass", 2), [0, 5 / 6, 1], atol=1e-12)
  np.testing.assert_allclose(generations.reduced(num, right, "maj", 2), [0, 1 / 6, 1])
  np.testing.assert_allclose(generations.reduced(num, right, "pass", 1), [0, 0.5, 1])


def test_every_choice_of_k_is_as_likely():
  answers = np.array([1, 0, 0, 1, 1, 0, 0])
  for k in range(1, 8):
    some = [answers[list(places)] for places in itertools.combinations(range(7), k)]
    for kind, value in (("pass", np.mean([one.any() for one in some])),
                        ("maj", np.mean([one.mean() > 0.5 for one in some]))):
      assert generations.reduced(np.array(7), np.array(3), kind, k) == pytest.approx(value)


def test_more_than_there_are_is_refused_and_words_are_parsed():
  with pytest.raises(ValueError, match="Got 3 generations for k = 5"):
    generations.reduced(np.array([8, 3]), np.array([1, 1]), "pass", 5)
  assert generations.parsed("pass@5") == ("pass", 5) and generations.parsed("maj@64") == ("maj", 64)
  assert [generations.parsed(one)[0] for one in ("mean", "pass@0", "pass@", "folder")] == 4 * [
      "mean"]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means of an episode by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.episodic import class_means


def after(*sets, **settings):
  state = class_means.zeros(3, 2)
  for features, labels in sets:
    state = class_means.add(state, tf.constant(features), tf.constant(labels), **settings)
  return state


SETS = ([[2.0, 0.0], [0.0, 8.0]], [0, 1]), ([[4.0, 0.0]], [0])


@pytest.mark.parametrize("similarity, expected", [
    ("euclidean", [-16, -25]), ("dot", [9, 32]), ("cosine", [0.6, 0.8])])
def test_similarities_to_the_means_of_all_sets(similarity, expected):
  found = class_means.logits(after(*SETS), tf.constant([[3.0, 4.0]]), similarity)
  np.testing.assert_allclose(found, [[*expected, -1e9]], rtol=1e-6)


def test_a_scale_multiplies_what_was_shown():
  found = class_means.logits(
      after(*SETS), tf.constant([[3.0, 4.0]]), "cosine", tf.constant(10.0))
  np.testing.assert_allclose(found, [[6, 8, -1e9]], rtol=1e-6)


def test_the_last_set_replaces_the_means_of_its_classes():
  state = after(*SETS, last_set_only=True)
  np.testing.assert_array_equal(state["sums"], [[4, 0], [0, 8], [0, 0]])
  np.testing.assert_array_equal(state["counts"], [2, 1, 0])


def test_an_unknown_similarity_is_named():
  with pytest.raises(ValueError, match="X.similarity is 'l2'; allowed are euclidean, cosine, dot"):
    class_means.check("l2", "X")

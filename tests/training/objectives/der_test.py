# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""DER and DER++ against numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import der
from suite.training.objectives import objective

LOG2, LOG3 = math.log(2.0), math.log(3.0)


def batch(logits, labels, stored=None, known=None, draws=None):
  """Rows of logits, the last ones replayed: as many as there are rows of stored logits."""
  known = None if known is None else objective.Classes(
      *(np.array(m, bool) for m in (known, known, [0, 0, 0])))
  draws = draws or (() if stored is None else (len(stored),))
  return steps.batch(tf.constant(logits, tf.float32), labels, draws, stored, classes=known)


def test_without_replayed_rows_it_is_cross_entropy():
  loss = steps.loss_of(der.Der(alpha=9.0, beta=9.0), batch([[0, LOG3, 50]], [0], known=[1, 1, 0]))
  assert float(loss) == pytest.approx(2 * LOG2, rel=1e-6)


def test_der_is_the_mean_square_over_classes_known_on_entry():
  # Row 1: differences 1 and 2 over two classes: 2.5. Row 2: 3 over one: 9. The mean is 5.75.
  loss = steps.loss_of(der.Der(alpha=0.5), batch(
      [[0, 0, 0], [1, 2, 7], [3, 8, 9]], [1, 0, 0], [[0, 4, np.nan], [0, np.nan, np.nan]]))
  assert float(loss) == pytest.approx(LOG3 + 0.5 * 5.75, rel=1e-6)


def test_der_plus_plus_adds_the_labels_of_another_draw():
  # The first draw is as it was stored; the label of the second has 3 / 5.
  plus_plus = der.Der(alpha=0.5, beta=2.0)
  loss = steps.loss_of(plus_plus, batch(
      [[0, 0, 0], [0, 7, 0], [0, LOG3, 0]], [1, 0, 1], [[0, 7, np.nan], [5, 5, 5]], draws=(1, 1)))
  assert float(loss) == pytest.approx(LOG3 + 2 * math.log(5 / 3), rel=1e-6)


def test_each_term_is_a_mean_over_its_rows():
  # Incoming: log 3 and log(5 / 3). First draw: squares 1 and 4 over three classes; second: log 3.
  rows = [[0, 0, 0], [0, LOG3, 0], [1, 1, 1], [2, 2, 2], [0, 0, 0], [3, 3, 3]]
  net, memory = steps.taken(der.Der(alpha=0.5, beta=2.0), **batch(
      rows, [1, 1, 0, 2, 1, 0], np.zeros([4, 3]), draws=(2, 2)))
  expected = (LOG3 + math.log(5 / 3)) / 2 + 0.5 * (1 + 4) / 2 + 2 * LOG3
  assert float(net.loss) == pytest.approx(expected, rel=1e-6)
  assert memory.keeps_logits


def test_der_by_divergence():
  # Stored (1/2, 1/2), now (1/4, 3/4): KL = log 2 / 2 + log(2 / 3) / 2.
  loss = steps.loss_of(der.Der(alpha=1.0, divergence="kl"), batch(
      [[0, 0, 0], [0, LOG3, 50]], [1, 0], [[0, 0, np.nan]]))
  assert float(loss) == pytest.approx(LOG3 + (2 * LOG2 - LOG3) / 2, rel=1e-6)


@pytest.mark.parametrize("divergence, expected", [
    ("mse", [1, -2, 0]), ("kl", [1 / (1 + math.e) - math.e**-4 / (1 + math.e**-4), None, 0])])
def test_the_gradient_of_logits_that_were_not_stored_is_zero(divergence, expected):
  logits = tf.constant([[0.0, 0.0, 0.0], [1.0, 2.0, 7.0]])
  with tf.GradientTape() as tape:
    tape.watch(logits)
    loss = steps.loss_of(der.Der(alpha=1.0, divergence=divergence), steps.batch(
        logits, [1, 0], [1], [[0.0, 4.0, np.nan]]))
  found = tape.gradient(loss, logits).numpy()[1]
  if expected[1] is None:  # The differences of two probabilities add up to 0.
    expected = [expected[0], -expected[0], 0]
  np.testing.assert_allclose(found, expected, rtol=1e-5, atol=1e-7)


def test_an_unknown_divergence_names_the_known_ones():
  with pytest.raises(ValueError, match="Der.divergence is 'l2'; allowed are mse, kl"):
    der.Der(divergence="l2")

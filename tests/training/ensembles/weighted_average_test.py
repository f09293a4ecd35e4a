# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import math

import numpy as np
import pytest
import tensorflow as tf

from suite.contracts import tasks
from suite.training.ensembles import trial_models


def test_weights_are_a_softmax_of_accuracies_over_a_tenth():
  # exp(8), exp(7), exp(6) over their sum.
  expected = [1 / (1 + math.exp(-1) + math.exp(-2)) * math.exp(-k) for k in (0, 1, 2)]
  np.testing.assert_allclose(trial_models.weights([0.8, 0.7, 0.6]), expected)
  assert trial_models.weights([0.3]) == [1.0]


def test_softmaxes_are_averaged_for_one_label():
  one, two = np.log([[0.8, 0.1, 0.1]]) + 5.0, np.log([[0.2, 0.5, 0.3]]) - 3.0
  found = trial_models.logits([one, two], [0.75, 0.25], tasks.SINGLE_LABEL)
  # 0.75 * 0.8 + 0.25 * 0.2 = 0.65 and so on; not the softmax of mean logits.
  np.testing.assert_allclose(tf.nn.softmax(found), [[0.65, 0.2, 0.15]], rtol=1e-6)


def test_sigmoids_are_averaged_for_several_labels():
  def logit(p):
    return np.log(np.divide(p, np.subtract(1, p)))

  found = trial_models.logits(
      [logit([[0.9, 0.5]]), logit([[0.1, 0.3]])], [0.75, 0.25], tasks.MULTI_LABEL)
  np.testing.assert_allclose(tf.sigmoid(found), [[0.7, 0.45]], rtol=1e-6)


@pytest.mark.parametrize("kind", [tasks.SINGLE_LABEL, tasks.MULTI_LABEL])
def test_large_logits_stay_finite_and_keep_their_order(kind):
  members = [[[800.0, -800.0, 0.0]], [[700.0, 0.0, -900.0]]]
  found = trial_models.logits(members, [0.5, 0.5], kind)
  assert np.all(np.isfinite(found)) and np.argmax(found) == 0

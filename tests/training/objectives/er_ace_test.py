# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ER-ACE against numbers worked by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
import steps
import tensorflow as tf

from suite.training.objectives import er_ace
from suite.training.objectives import objective as objective_lib

LOG3 = math.log(3.0)


def classes(known=(1, 1, 1), seen=(1, 1, 1), base=(0, 0, 0)):
  return objective_lib.Classes(*(np.array(m, bool) for m in (known, seen, base)))


def loss_of(objective, logits, labels, num_replayed=0, **masks):
  return steps.loss_of(objective, steps.batch(
      tf.cast(logits, tf.float32), labels, (num_replayed,) if num_replayed else (),
      classes=classes(**masks) if masks else None))


@pytest.mark.parametrize("current, allowed", [("batch", 1), ("novel", 2)])
def test_incoming_rows_are_compared_with_classes_of_now(current, allowed):
  # Class 0 is a base class, 1 and 2 are novel; the batch has 1 only. All logits are equal.
  objective = er_ace.ErAce(current)
  loss = loss_of(objective, [[0, 0, 0]], [1], base=(1, 0, 0))
  assert float(loss) == pytest.approx(math.log(allowed), abs=1e-6)
  # A replayed row is compared with all known classes, and its class is none of now.
  loss = loss_of(objective, [[0, 0, 0]] * 2, [1, 0], 1, base=(1, 0, 0))
  assert float(loss) == pytest.approx(math.log(allowed) + LOG3, rel=1e-6)


def test_a_novel_class_that_was_not_seen_is_none_of_now():
  loss = loss_of(er_ace.ErAce("novel"), [[0, 0, 0]], [1], seen=(1, 1, 0), base=(1, 0, 0))
  assert float(loss) == pytest.approx(0.0, abs=1e-6)


def test_replayed_rows_are_compared_among_known_classes():
  loss = loss_of(er_ace.ErAce(), [[0, 0, 0], [0, LOG3, 50]], [1, 0], 1, known=(1, 1, 0))
  assert float(loss) == pytest.approx(2 * math.log(2), rel=1e-6)


def test_without_lists_of_classes_it_is_the_batch_and_all():
  for current in er_ace.CURRENT:
    loss = loss_of(er_ace.ErAce(current), [[0, 0, 0]] * 3, [0, 1, 2], 1)
    assert float(loss) == pytest.approx(math.log(2) + LOG3, rel=1e-6)


def test_each_term_is_a_mean_over_its_rows():
  rows = [[0, LOG3, 0], [0, LOG3, 0], [0, LOG3, 0], [0, 0, 0]]
  loss = loss_of(er_ace.ErAce(), rows, [0, 1, 1, 2], 2)
  incoming = (math.log(4) + math.log(4 / 3)) / 2
  assert float(loss) == pytest.approx(incoming + (math.log(5 / 3) + LOG3) / 2, rel=1e-6)


def test_it_pushes_no_absent_class_down():
  logits = tf.constant([[0.0, 1.0, 2.0]])
  with tf.GradientTape() as tape:
    tape.watch(logits)
    loss = loss_of(er_ace.ErAce(), tf.concat([logits, logits], 0), [0, 1])
  gradient = tape.gradient(loss, logits).numpy()[0]
  assert gradient[2] == 0.0 and gradient[0] != 0.0
  np.testing.assert_allclose(gradient[0], 1 / (1 + math.e) - 0.5, rtol=1e-5)


def test_an_unknown_name_is_refused():
  with pytest.raises(ValueError, match="ErAce.current is 'old'; allowed are batch, novel"):
    er_ace.ErAce("old")

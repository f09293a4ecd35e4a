# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of a batch."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.training.statistics import statistic


@pytest.mark.parametrize("num", [1, 2, 4])
def test_parts_are_all_rows_in_order_and_as_equal_as_can_be(num):
  cut = tf.function(
      lambda x: [x[part] for part in statistic.parts(tf.size(x), num)],
      input_signature=[tf.TensorSpec([None], tf.int64)], autograph=False)
  for size in range(10):
    rows = np.arange(size)
    found = [part.numpy() for part in cut(rows)]
    np.testing.assert_array_equal(np.concatenate(found), rows)
    assert len(found) == num
    assert max(map(len, found)) - min(map(len, found)) <= 1


def test_the_sizes_of_two_parts_by_hand():
  found = [np.arange(5)[part].tolist() for part in statistic.parts(tf.constant(5))]
  assert found == [[0, 1], [2, 3, 4]]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.gradient import class_heads


def make(counts_first=True):
  layer = tf.keras.layers.Dense(3)
  model = tf.keras.Sequential([tf.keras.Input([2]), tf.keras.layers.Dense(2), layer])
  head = class_heads.Consolidation(counts_first)
  head.build(layer)
  return head, layer, model


def test_by_hand_over_three_buckets():
  head, layer, _ = make()
  head.before_bucket([4, 4, 0])
  np.testing.assert_array_equal(layer.kernel, np.zeros([2, 3]))
  layer.kernel.assign([[1, 3, 9], [2, 6, 9]])
  head.after_bucket([4, 4, 0])  # The mean is that of all weights of classes 0 and 1: 3.
  np.testing.assert_allclose(layer.kernel, [[-2, 0, 0], [-1, 3, 0]])
  head.before_bucket([1, 0, 5])
  np.testing.assert_allclose(layer.kernel, [[-2, 0, 0], [-1, 0, 0]])
  layer.kernel.assign([[4, 7, 0], [1, 7, 3]])
  head.after_bucket([1, 0, 5])
  # Mean 2. Class 0: p = sqrt(4 / 1) = 2, (2 * (-2, -1) + (2, -1)) / 3. Class 2 is new.
  expected = np.array([[-2 / 3, 0, -2], [-1, 3, 1]])
  np.testing.assert_allclose(layer.kernel, expected, rtol=1e-6)
  head.before_bucket([5, 0, 0])
  np.testing.assert_allclose(layer.kernel[:, 0], expected[:, 0], rtol=1e-6)
  head.after_bucket([5, 0, 0])
  # p = sqrt(5 / 5) = 1: half of the old, half of the new less its mean.
  new = expected[:, 0] - expected[:, 0].mean()
  np.testing.assert_allclose(layer.kernel[:, 0], (expected[:, 0] + new) / 2, rtol=1e-6)


def test_the_first_bucket_may_go_uncounted():
  head, layer, _ = make(counts_first=False)
  for values in ([[1.0] * 3, [3.0] * 3], [[5.0] * 3, [9.0] * 3]):
    head.before_bucket([2, 2, 2])
    layer.kernel.assign(values)
    head.after_bucket([2, 2, 2])
  np.testing.assert_allclose(layer.kernel, [[-2] * 3, [2] * 3])
  np.testing.assert_array_equal(head.past, [2, 2, 2])


def test_everything_below_is_frozen_after_the_first_bucket():
  head, layer, model = make()
  assert head.trainable(model.trainable_variables) == model.trainable_variables
  head.before_bucket([1, 1, 1])
  head.after_bucket([1, 1, 1])
  assert head.is_frozen and len(head.trainable(model.trainable_variables)) == 2
  assert head.trainable(model.trainable_variables)[0] is layer.kernel


def test_it_goes_on_from_a_checkpoint(tmp_path):
  head, layer, model = make()
  head.before_bucket([3, 1, 1])
  head.after_bucket([3, 1, 1])
  path = tf.train.Checkpoint(head=head, model=model).save(str(tmp_path / "c"))
  again, other, copy = make()
  tf.train.Checkpoint(head=again, model=copy).restore(path).assert_consumed()
  for h, dense in ((head, layer), (again, other)):
    h.before_bucket([1, 2, 0])
    dense.kernel.assign([[1, 2, 3], [4, 5, 6]])
    h.after_bucket([1, 2, 0])
  assert again.is_frozen
  np.testing.assert_array_equal(other.kernel, layer.kernel)


@pytest.mark.parametrize("counts", [[1, 1], [0, 0, 0]])
def test_bad_counts_say_what_is_expected(counts):
  with pytest.raises(ValueError, match="give 3 of them, one for each class, not all of them 0"):
    make()[0].before_bucket(counts)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest
import tensorflow as tf

from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.penalties import agem


def make(sample_size=None, chunk=64, capacity=10):
  """Two parameters w; an example x costs w . x, so that its gradient is x."""
  layer = tf.keras.layers.Dense(1, use_bias=False)
  model = tf.keras.Sequential([tf.keras.Input([2]), layer])
  memory = memory_lib.Memory(capacity, reservoir.Reservoir())
  memory.build([2], tf.float32, seed=(0, 0), num_classes=2)
  penalty = agem.Agem(sample_size, chunk)
  penalty.build(model, losses_of=lambda images, labels: model(images)[:, 0], memory=memory,
                seed=(3, 4))
  return penalty, memory


def gradients(penalty, values):
  call = tf.function(lambda g: penalty.gradients([g])[0])
  return call(tf.constant(values, tf.float32)[:, None])[:, 0].numpy()


def test_projection_by_hand():
  # g . r = 1 * 1 - 3 * 1 = -2, r . r = 2: g + r.
  got, = agem.projected([tf.constant([1.0, -3.0])], [tf.constant([1.0, 1.0])])
  np.testing.assert_allclose(got, [2.0, -2.0])
  for reference in ([1.0, 0.0], [3.0, 1.0], [0.0, 0.0]):  # Products 1, 0 and nothing to go by.
    got, = agem.projected([tf.constant([1.0, -3.0])], [tf.constant(reference)])
    np.testing.assert_array_equal(got, [1.0, -3.0])


def test_products_are_over_all_parameters_together():
  g, r = [tf.constant([2.0]), tf.constant([-3.0])], [tf.constant([1.0]), tf.constant([1.0])]
  got = agem.projected(g, r)  # g . r = -1, r . r = 2
  np.testing.assert_allclose([got[0][0], got[1][0]], [2.5, -2.5])


def test_the_projected_gradient_never_goes_against_the_reference():
  rng = np.random.default_rng(0)
  for size in (2, 30):
    for _ in range(200):
      g, r = ([tf.constant(rng.normal(size=size) * 10 ** rng.uniform(-3, 3))] for _ in range(2))
      got = agem.projected(g, r)
      assert agem.dot(got, r) >= -1e-9 * np.linalg.norm(g) * np.linalg.norm(r)
      if agem.dot(g, r) >= 0:
        np.testing.assert_array_equal(got, g)


@pytest.mark.parametrize("chunk", [1, 2, 64])
def test_the_whole_memory_is_the_reference(chunk):
  penalty, memory = make(chunk=chunk)
  np.testing.assert_array_equal(gradients(penalty, [1, -3]), [1, -3])  # Nothing held yet.
  memory.add(np.array([[3, 0], [0, 1], [0, 2]], np.float32), [0, 1, 1])
  np.testing.assert_allclose(penalty.reference(tf.constant(1))[0][:, 0], [1, 1], rtol=1e-6)
  np.testing.assert_allclose(gradients(penalty, [1, -3]), [2, -2], rtol=1e-6)
  np.testing.assert_array_equal(gradients(penalty, [1, 0]), [1, 0])


def test_a_sample_changes_with_the_step_and_resumes(tmp_path):
  penalty, memory = make(sample_size=2, chunk=1)
  memory.add(np.eye(2, dtype=np.float32)[[0, 0, 0, 1, 1, 1]], [0] * 6)
  path = tf.train.Checkpoint(penalty=penalty, memory=memory).save(str(tmp_path / "c"))
  first = [gradients(penalty, [-1, -2]) for _ in range(8)]
  assert len({tuple(g) for g in first}) == 3  # (1, 0), (0, 1) or their mean.
  again, held = make(sample_size=2, chunk=1)
  tf.train.Checkpoint(penalty=again, memory=held).restore(path)
  np.testing.assert_array_equal([gradients(again, [-1, -2]) for _ in range(8)], first)


def test_a_sample_larger_than_what_is_held_is_all_of_it():
  penalty, memory = make(sample_size=5)
  memory.add(np.array([[4, 0], [0, 2]], np.float32), [0, 1])
  np.testing.assert_allclose(penalty.reference(tf.constant(1))[0][:, 0], [2, 1], rtol=1e-6)


def test_bad_input_says_what_is_allowed():
  with pytest.raises(ValueError, match="sample_size is 0; it must be at least 1"):
    agem.Agem(0)
  with pytest.raises(ValueError, match="chunk is 0"):
    agem.Agem(chunk=0)
  with pytest.raises(ValueError, match="needs a memory and the training loss"):
    agem.Agem().build(tf.keras.Sequential())

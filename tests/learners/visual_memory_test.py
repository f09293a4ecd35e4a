# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The classifier of OLTR against its formulas, and its memory by hand."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.learners import oltr
from suite.training.gradient import class_heads


def memory_head(num_features=2, num_classes=3, **settings):
  head = oltr.VisualMemory(**settings)
  model = head.make(num_features, num_classes, is_input=True)
  head.attach(model, num_classes)
  return head, model


def plain(head, features, present, scale=16.0, reach=10.0):
  """The formulas as they are printed, one sample after the other, in float64."""
  m = {name: getattr(head.memory, name).numpy().astype(np.float64) for name in (
      "hallucinator_kernel", "hallucinator_bias", "selector_kernel", "selector_bias",
      "cosine_kernel", "centroids")}
  logits = []
  for f in features.astype(np.float64):
    shares = np.where(present, np.exp(f @ m["hallucinator_kernel"] + m["hallucinator_bias"]), 0.0)
    recalled = shares / shares.sum() @ m["centroids"]
    v = f + np.tanh(f @ m["selector_kernel"] + m["selector_bias"]) * recalled
    nearest = min(np.linalg.norm(f - key) for key in m["centroids"][present])
    x = reach / nearest * v
    length = np.linalg.norm(x)
    x = length / (1 + length) * x / length
    logits.append([scale * x @ w / np.linalg.norm(w) for w in m["cosine_kernel"]])
  return np.array(logits)


@pytest.mark.parametrize("settings", [{}, {"scale": 4.0, "reach": 0.5}])
def test_logits_are_those_of_the_formulas(settings):
  rng = np.random.default_rng(0)
  head, model = memory_head(4, 5, **settings)
  for variable in model.trainable_variables:
    variable.assign(rng.normal(size=variable.shape))
  present = np.array([True, False, True, True, False])
  head.memory.present.assign(present)
  features = rng.normal(size=[7, 4]).astype(np.float32)
  np.testing.assert_allclose(model(features), plain(head, features, present, **settings),
                             rtol=1e-4, atol=1e-5)


def test_a_sample_by_hand_far_from_its_key_and_on_it():
  head, model = memory_head()
  for name in ("selector_kernel", "selector_bias"):  # e = 0: nothing is recalled.
    variable = getattr(head.memory, name)
    variable.assign(tf.zeros_like(variable))
  head.memory.cosine_kernel.assign([[0, 2], [1, 0], [0, -1]])
  head.refresh(tf.constant([[3.0, 0.0]]), tf.constant([1], tf.int64))
  head.before_phase(np.array([0, 1, 0]), [])
  # (3, 4) is 4 from the key and has a length of 5: x = 10 f / (4 + 50).
  x, y = 10 * 3 / 54, 10 * 4 / 54
  np.testing.assert_allclose(
      model(tf.constant([[3.0, 4.0]])), [[16 * y, 16 * x, -16 * y]], rtol=1e-6)
  # On the key: a direction.
  np.testing.assert_allclose(
      model(tf.constant([[3.0, 0.0]])), [[0, 16, 0]], rtol=1e-5, atol=1e-5)


def test_the_largest_logit_falls_with_the_distance_to_the_memory():
  head, model = memory_head()
  head.memory.cosine_kernel.assign([[1, 0], [0, 1], [-1, 0]])
  for name in ("selector_kernel", "selector_bias"):
    getattr(head.memory, name).assign(tf.zeros_like(getattr(head.memory, name)))
  head.refresh(tf.constant([[5.0, 0.0]]), tf.constant([0], tf.int64))
  head.before_phase(np.array([1, 0, 0]), [])
  angles = np.array([0.0, 0.5, 1.5, 3.0])  # At one length.
  logits = model(5 * np.stack([np.cos(angles), np.sin(angles)], 1).astype(np.float32)).numpy()
  lengths = np.hypot(logits[:, 0], logits[:, 1])
  assert (np.diff(lengths) < 0).all() and lengths[0] == pytest.approx(16, rel=1e-4)


def test_a_refresh_counts_what_was_there():
  head, _ = memory_head()
  head.refresh(tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]),
               tf.constant([2, 0, 2], tf.int64))
  np.testing.assert_allclose(head.memory.centroids, [[3, 4], [0, 0], [3, 4]])
  np.testing.assert_array_equal(head.memory.counts, [1, 0, 2])
  head.memory.centroids.assign([[3, 4], [7, 7], [6, 1]])  # Gradients moved them.
  head.refresh(tf.constant([[9.0, 4.0]]), tf.constant([2], tf.int64))
  np.testing.assert_allclose(head.memory.centroids, [[3, 4], [7, 7], [7, 2]])


def test_classes_without_a_key_are_no_answer_and_change_none():
  head, model = memory_head()
  features = tf.constant([[1.0, 2.0]])
  assert (head.answers(model(features)).numpy() == -np.inf).all()
  assert np.isfinite(model(features)).all()
  head.refresh(features, tf.constant([0], tf.int64))
  head.before_phase(np.array([1, 0, 0]), [])
  before = model(tf.constant([[3.0, 1.0]]))
  head.memory.centroids[1].assign([3.0, 1.0])
  np.testing.assert_array_equal(model(tf.constant([[3.0, 1.0]])), before)
  np.testing.assert_array_equal(
      np.isfinite(head.answers(before)), [[True, False, False]])
  head.before_phase(np.array([0, 4, 0]), [])  # It has a key by now.
  assert not np.allclose(model(tf.constant([[3.0, 1.0]])), before)


def test_logits_move_no_centroid_and_all_else_has_a_finite_gradient():
  head, model = memory_head()
  on_key = tf.constant([[3.0, 4.0]])
  head.refresh(on_key, tf.constant([0], tf.int64))
  head.before_phase(np.array([1, 0, 0]), [])
  with tf.GradientTape() as tape:
    tape.watch(on_key)
    loss = tf.reduce_sum(model(on_key)[:, :2] ** 2)
  gradients = dict(zip([v.name.split("/")[-1] for v in model.trainable_variables],
                       tape.gradient(loss, model.trainable_variables)))
  assert gradients.pop("centroids:0") is None and len(gradients) == 5
  assert all(np.isfinite(tf.convert_to_tensor(g)).all() for g in gradients.values())


def test_the_classifier_trains_at_the_full_rate_all_else_at_its_share():
  _, model = memory_head()
  factors = {v.name: oltr.rate_factor(v, others=0.25) for v in model.trainable_variables}
  assert factors == {
      "logits/hallucinator_kernel:0": 1.0, "logits/hallucinator_bias:0": 1.0,
      "logits/selector_kernel:0": 1.0, "logits/selector_bias:0": 1.0,
      "logits/cosine_kernel:0": 1.0, "logits/centroids:0": 0.25}
  assert oltr.rate_factor(tf.Variable(0.0, name="conv/cosine_kernel")) == 0.1


def test_first_weights_differ_and_a_layer_is_made_again_from_its_settings():
  head, model = memory_head(8, 8)
  kernels = [head.memory.hallucinator_kernel, head.memory.selector_kernel,
             head.memory.cosine_kernel]
  assert len({float(k[0, 0]) for k in kernels}) == 3
  assert all(np.abs(k).max() <= 8 ** -0.5 for k in kernels)
  again = tf.keras.Model.from_config(
      model.get_config(), custom_objects={"MetaEmbedding": oltr.MetaEmbedding})
  again.set_weights(model.get_weights())
  x = tf.ones([1, 8])
  np.testing.assert_array_equal(again(x), model(x))


def test_wrong_settings_are_named():
  with pytest.raises(ValueError, match="VisualMemory.reach is 0; it must be above 0"):
    oltr.VisualMemory(reach=0)
  assert issubclass(oltr.VisualMemory, class_heads.Linear)

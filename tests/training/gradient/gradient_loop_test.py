# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop against the same algorithm written out step by step, and what it costs."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.contracts import tasks
from suite.models import precision
from suite.training.gradient import gradient_loop
from suite.training.gradient import schedules

BATCH, CLASSES, MOMENTUM, DECAY = 6, 4, 0.9, 0.05


def _model(traces=None):
  """Convolution, batch norm, dense: a kernel, a scale, an offset and a bias to train."""
  def count(images):
    if traces is not None:
      traces.append(1)  # Python runs only while a graph is traced.
    return images

  return tf.keras.Sequential([
      tf.keras.layers.Input([5, 5, 3]),
      tf.keras.layers.Lambda(count),
      tf.keras.layers.Conv2D(4, 3, strides=2, use_bias=False, kernel_initializer=_spread(0.3)),
      tf.keras.layers.BatchNormalization(momentum=0.8),
      tf.keras.layers.ReLU(),
      tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(CLASSES, kernel_initializer=_spread(0.5), bias_initializer=_spread(0.1))
  ])


def _dense_model():
  return tf.keras.Sequential([
      tf.keras.layers.Input([2, 2, 3]), tf.keras.layers.Flatten(),
      tf.keras.layers.Dense(7, kernel_initializer=_spread(0.3)),
      tf.keras.layers.Dense(CLASSES, kernel_initializer=_spread(0.3))])


def _spread(scale):
  def initial(shape, dtype=None):
    return tf.constant(np.random.default_rng(len(shape)).normal(0, scale, shape), dtype)
  return initial


def _batches(num, size=5, kind=tasks.SINGLE_LABEL, seed=0, mask=True):
  rng = np.random.default_rng(seed)
  shape = [num, BATCH] if kind == tasks.SINGLE_LABEL else [num, BATCH, CLASSES]
  return {"image": rng.normal(size=[num, BATCH, size, size, 3]).astype(np.float32),
          "label": rng.integers(0, CLASSES if len(shape) == 2 else 2, shape),
          "mask": np.full([num, BATCH], mask)}


def _loop(make_model, kind=tasks.SINGLE_LABEL):
  distribution = distribution_lib.build()
  with distribution.scope():
    model = make_model()
  return gradient_loop.GradientLoop(
      model, kind, momentum=MOMENTUM, weight_decay=DECAY, distribution=distribution)


def _run(loop, batches):
  dataset = loop.distribution.dataset(lambda **shard: tf.data.Dataset.from_tensor_slices(batches))
  return loop.run(iter(dataset), len(batches["mask"]))


def _literal(kind, batches, *, peak, warmup, total, smoothing):
  """SGD, Nesterov's momentum, decay of kernels within the gradient: eager, one line a formula."""
  model, velocities, losses = _model(), {}, []
  for step in range(len(batches["mask"])):
    images, labels, mask = (batches[k][step] for k in ("image", "label", "mask"))
    with tf.GradientTape() as tape:
      logits = model(images, training=True)
      if kind == tasks.SINGLE_LABEL:
        targets = np.eye(CLASSES)[labels] * (1 - smoothing) + smoothing / CLASSES
        each = -tf.reduce_sum(targets * tf.nn.log_softmax(logits), axis=1)
      else:
        targets = labels * (1 - smoothing) + smoothing / 2
        each = -tf.reduce_mean(targets * tf.math.log_sigmoid(logits)
                               + (1 - targets) * tf.math.log_sigmoid(-logits), axis=1)
      loss = tf.reduce_sum(each * mask) / BATCH
    rate = schedules.warmup_cosine(step, peak, warmup, total)
    for i, (w, g) in enumerate(zip(model.trainable_variables,
                                   tape.gradient(loss, model.trainable_variables))):
      if i in (0, 3):  # The kernels of the convolution and of the dense layer.
        assert w.shape.rank > 1
        g = g + DECAY * w
      velocities[i] = MOMENTUM * velocities.get(i, 0.0) - rate * g
      w.assign_add(MOMENTUM * velocities[i] - rate * g)
    losses.append(float(loss))
  return model.get_weights(), losses


@pytest.mark.parametrize("kind", tasks.KINDS)
def test_the_compiled_loop_does_what_the_formulas_say(kind):
  batches = _batches(7, kind=kind)
  expected, losses = _literal(kind, batches, peak=0.3, warmup=2, total=7, smoothing=0.2)
  loop = _loop(_model, kind)
  loop.configure(peak_rate=0.3, warmup_steps=2, total_steps=7, label_smoothing=0.2)
  total = _run(loop, batches)
  assert total == pytest.approx(sum(losses), rel=1e-5)
  assert len(expected) == 7  # Moving mean and variance of the norm among them.
  for found, wanted in zip(loop.model.get_weights(), expected):
    np.testing.assert_allclose(found, wanted, rtol=1e-4, atol=1e-6)


def test_one_long_call_is_the_same_as_many_short_ones():
  batches = _batches(5)
  loop, weights = _loop(_model), []
  loop.configure(peak_rate=0.1, warmup_steps=1, total_steps=5, label_smoothing=0.0)
  first = loop.state()
  for parts in ([5], [2, 1, 2]):
    loop.restore(first)
    iterator = iter(loop.distribution.dataset(
        lambda **shard: tf.data.Dataset.from_tensor_slices(batches)))
    for num_steps in parts:
      loop.run(iterator, num_steps)
    weights.append(loop.model.get_weights())
  for one, many in zip(*weights):
    np.testing.assert_array_equal(one, many)


def test_hyper_parameters_change_the_result_but_not_the_graph():
  traces, batches = [], _batches(3)
  loop = _loop(lambda: _model(traces))
  start = loop.model.get_weights()
  results, counts = [], []
  for peak, warmup, total, smoothing in ((0.1, 0, 3, 0.0), (0.1, 0, 3, 0.0), (0.3, 0, 3, 0.0),
                                         (0.1, 2, 3, 0.0), (0.1, 0, 9, 0.0), (0.1, 0, 3, 0.3)):
    loop.model.set_weights(start)
    loop.reset_optimizer()
    loop.configure(peak_rate=peak,
                   warmup_steps=warmup,
                   total_steps=total,
                   label_smoothing=smoothing)
    _run(loop, batches)
    results.append(loop.model.get_weights()[0])
    counts.append(len(traces))
  assert counts[0] > 0 and len(set(counts)) == 1
  np.testing.assert_array_equal(results[0], results[1])  # Nothing is left over from a run.
  for other in results[2:]:
    assert np.abs(other - results[0]).max() > 1e-5


def test_masked_rows_change_nothing():
  loop, results = _loop(_dense_model), []
  loop.configure(peak_rate=0.1, warmup_steps=0, total_steps=3, label_smoothing=0.1)
  first = loop.state()
  for filler in (0.0, 100.0):
    batches = _batches(3, size=2)
    batches["mask"][:, 4:] = False
    batches["image"][:, 4:] = filler
    batches["label"][:, 4:] = 3 if filler else 0
    loop.restore(first)
    results.append([_run(loop, batches), *loop.model.get_weights()])
  for a, b in zip(*results):
    np.testing.assert_array_equal(a, b)


def test_a_batch_of_padding_only_decays_the_kernels():
  loop = _loop(_dense_model)
  kernel, bias = loop.model.get_weights()[:2]
  loop.configure(peak_rate=0.1, warmup_steps=0, total_steps=10, label_smoothing=0.0)
  assert _run(loop, _batches(1, size=2, mask=False)) == 0.0
  found = loop.model.get_weights()
  # velocity = -rate * decay * w; the step is momentum * velocity - rate * decay * w.
  np.testing.assert_allclose(found[0], kernel * (1 - 0.1 * DECAY * (1 + MOMENTUM)), rtol=1e-6)
  np.testing.assert_array_equal(found[1], bias)


def test_a_loss_that_is_not_finite_comes_back_as_such():
  batches = _batches(2, size=2)
  batches["image"][1] = np.nan
  loop = _loop(_dense_model)
  loop.configure(peak_rate=0.1, warmup_steps=0, total_steps=2, label_smoothing=0.0)
  assert np.isnan(_run(loop, batches))


def test_state_goes_back_to_the_middle_of_a_run():
  batches = _batches(4)
  loop = _loop(_model)
  loop.configure(peak_rate=0.1, warmup_steps=1, total_steps=4, label_smoothing=0.1)
  first, second = ({k: v[part] for k, v in batches.items()} for part in (slice(2), slice(2, 4)))
  _run(loop, first)
  saved = loop.state()
  _run(loop, second)
  expected = loop.model.get_weights()
  loop = _loop(_model)
  loop.configure(peak_rate=0.1, warmup_steps=1, total_steps=4, label_smoothing=0.1)
  loop.restore(saved)
  _run(loop, second)
  for a, b in zip(loop.model.get_weights(), expected):
    np.testing.assert_array_equal(a, b)


def test_float16_trains_near_float32_and_its_loss_scale_goes_back_too():
  losses = {}
  for name in ("float32", "mixed_float16"):
    with precision.used(name):
      loop = _loop(_dense_model)
      loop.configure(peak_rate=0.05, warmup_steps=0, total_steps=9, label_smoothing=0.0)
      losses[name] = _run(loop, _batches(4, size=2))
  assert losses["mixed_float16"] == pytest.approx(losses["float32"], rel=0.01)
  assert losses["mixed_float16"] != losses["float32"]
  before = loop.state()
  assert before[-2:] == [2.0 ** 15, 4]  # Four finite steps.
  bad = _batches(1, size=2)
  bad["image"][0, 0] = np.inf
  _run(loop, bad)
  after = loop.state()
  assert after[-2:] == [2.0 ** 14, 0]
  for one, two in zip(before[:-2], after[:-2]):  # Weights, velocities, counts: left out.
    np.testing.assert_array_equal(one, two)
  loop.restore(before)
  assert loop.state()[-2:] == [2.0 ** 15, 4]
  loop.reset_optimizer()
  assert loop.state()[-2:] == [2.0 ** 15, 0]


def test_the_cost_is_that_of_one_traced_step_and_its_products_can_be_counted_by_hand():
  loop = _loop(_dense_model)
  spec = {k: tf.TensorSpec(v.shape[1:], v.dtype) for k, v in _batches(1, size=2).items()}
  cost = loop.cost(spec)
  # Forward and gradient of both kernels; the gradient of the input is for the upper one only.
  assert cost.macs == BATCH * (2 * 12 * 7 + 3 * 7 * CLASSES)
  assert cost == flops.count(tf.function(loop._step, autograph=False).get_concrete_function(spec))
  assert cost.flops > 2 * cost.macs and cost.uncounted == ()

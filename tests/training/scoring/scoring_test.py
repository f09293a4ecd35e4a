# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every example once, whatever the batch size, and each example charged."""

from __future__ import annotations

import types

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.models import conv4
from suite.training.scoring import scoring

TRANSFORM = image_ops.Plain(2)


def _set(num, size=2):
  """Image i is of one colour, i."""
  images = np.repeat(np.arange(num, dtype=np.uint8), size * size * 3).reshape(num, size, size, 3)
  return image_set.ImageSet.from_arrays(
      "colours", images, np.arange(num) % 3, kind="single_label", num_classes=3,
      ids=[f"no. {i}" for i in range(num)])


def _colours(images):
  return tf.cast(images[:, 0, 0, :1], tf.float32) * 2.0  # [B, 1]; one multiplication an image


def _run(forward, made, batch_size, ledger=None, phase="validate"):
  return forward.run(made, transform=TRANSFORM, batch_size=batch_size,
                     ledger=ledger or ledger_lib.Ledger(), phase=phase)


@pytest.mark.parametrize("num, batch_size", [(10, 4), (8, 4), (3, 4), (1, 1), (5, 1)])
def test_every_example_comes_once_in_order(num, batch_size):
  outputs = _run(scoring.Forward(_colours, distribution.build()), _set(num), batch_size)
  assert outputs.ids.tolist() == [f"no. {i}" for i in range(num)]
  assert outputs.labels.tolist() == [i % 3 for i in range(num)]
  assert outputs.values[:, 0].tolist() == [2.0 * i for i in range(num)]


def test_each_example_is_charged_and_no_padding():
  ledger = ledger_lib.Ledger()
  forward = scoring.Forward(_colours, distribution.build())
  _run(forward, _set(10), 4, ledger, "select")
  assert (forward.cost.flops, forward.cost.macs) == (4, 0)
  totals = ledger.totals()
  assert totals["flops_select"] == 10 and totals["examples_select"] == 10
  assert totals["flops"] == totals["flops_select"] and totals["steps"] == 0


@pytest.fixture(name="net", scope="module")
def _net():
  return conv4.conv4((8, 8, 3), filters=2, blocks=1)


@pytest.mark.parametrize("num, batch_size, pads", [
    (42, 256, True), (42, 256, False),  # As the validation split of olivetti_face.
    (64, 32, True), (33, 32, True), (1, 32, True), (3, 2, False), (3, 1, True)])
def test_a_net_costs_what_batches_without_padding_cost(net, num, batch_size, pads):
  def counted(rows):
    graph = tf.function(lambda x: net(x, training=False), autograph=False).get_concrete_function(
        tf.TensorSpec([rows, 8, 8, 3], tf.uint8))
    return flops.count(graph)

  ledger, made = ledger_lib.Ledger(), _set(num, 8)
  forward = scoring.Forward(
      lambda x: net(x, training=False), distribution.build(), pads=pads)
  outputs = forward.run(made, transform=image_ops.Plain(8), batch_size=batch_size, ledger=ledger,
                        phase="validate")
  whole, rest = divmod(num, batch_size)
  cost = counted(batch_size) * whole + (counted(rest) if rest else flops.ZERO)
  totals = ledger.totals()
  assert (totals["flops_validate"], totals["macs_validate"]) == (cost.flops, cost.macs)
  images = np.concatenate([b["image"] for b in made.eval_batches(1, transform=image_ops.Plain(8))])
  np.testing.assert_allclose(outputs.values, net(images), rtol=1e-5, atol=1e-6)


def test_a_function_of_the_whole_batch_sees_no_padding():
  ledger = ledger_lib.Ledger()
  forward = scoring.Forward(
      lambda images: _colours(images) - tf.reduce_mean(_colours(images), axis=0),
      distribution.build(), pads=False)
  outputs = _run(forward, _set(10), 4, ledger)
  # Colours 0 2 4 6, 8 10 12 14, 16 18: each less the mean of its own batch.
  assert outputs.values[:, 0].tolist() == [-3, -1, 1, 3, -3, -1, 1, 3, -1, 1]
  assert outputs.ids.tolist() == [f"no. {i}" for i in range(10)]


def test_an_unknown_cost_stays_unknown():
  ledger = ledger_lib.Ledger()
  forward = scoring.Forward(
      lambda images: tf.linalg.svd(tf.cast(images[..., 0], tf.float32), compute_uv=False),
      distribution.build())
  assert _run(forward, _set(3), 2, ledger).values.shape == (3, 2)
  assert ledger.totals()["flops_validate"] is None and "Svd" in str(forward.cost.uncounted)


def test_a_function_is_traced_once_for_one_shape():
  traces = []

  def fn(images):
    traces.append(images.shape)
    return _colours(images)

  forward = scoring.Forward(fn, distribution.build())
  made = _set(5)
  for one in (made, _set(7), made):
    _run(forward, one, 4)
  # The batch, and one row, from which the cost of the last batches follows.
  assert traces == [(4, 2, 2, 3), (1, 2, 2, 3)]
  _run(forward, made, 2)
  assert traces == [(4, 2, 2, 3), (1, 2, 2, 3), (2, 2, 2, 3)]


def test_a_variable_that_changes_between_passes_is_read_again():
  factor = tf.Variable(1.0)
  forward = scoring.Forward(lambda images: _colours(images) * factor, distribution.build())
  made = _set(3)
  assert _run(forward, made, 2).values[:, 0].tolist() == [0.0, 2.0, 4.0]
  factor.assign(10.0)
  assert _run(forward, made, 2).values[:, 0].tolist() == [0.0, 20.0, 40.0]


def test_a_set_that_is_not_held_tells_ids_and_labels_in_its_batches():
  made = _set(5)
  streamed = types.SimpleNamespace(name="streamed", size=5, eval_batches=made.eval_batches)
  for batch_size in (2, 8):
    got = _run(scoring.Forward(_colours, distribution.build()), streamed, batch_size)
    want = _run(scoring.Forward(_colours, distribution.build()), made, batch_size)
    for one, other in zip(got, want):
      assert one.dtype == other.dtype and one.tolist() == other.tolist()


def test_a_set_that_loses_an_example_is_caught():
  made = _set(6)
  short = types.SimpleNamespace(name="short", size=6, eval_batches=lambda *args, **kwargs:
                                made.eval_batches(*args, **kwargs).take(1))
  with pytest.raises(AssertionError, match="short: scored 4 of 6 examples"):
    _run(scoring.Forward(_colours, distribution.build()), short, 4)

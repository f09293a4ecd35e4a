# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Frozen nets encode each image once, and runs are the same with and without kept codes."""

from __future__ import annotations

import functools

import numpy as np
import pytest
import stopped_runs
import tensorflow as tf

from suite.compute import distribution
from suite.compute import flops
from suite.compute import ledger
from suite.data.digits import digits
from suite.data.images import image_ops
from suite.data.streams import buckets
from suite.learners import gradient
from suite.learners import statistics_learner
from suite.models import conv4
from suite.protocols import incremental
from suite.state import code_store
from suite.training.gradient import frozen_backbone
from suite.training.gradient import trainable_parts
from suite.training.scoring import frozen_codes
from suite.training.scoring import scoring
from suite.training.statistics import ridge_sums

SMALL = functools.partial(conv4.conv4, filters=4, blocks=2)
RNG = np.random.default_rng(0)
IMAGES = RNG.integers(0, 256, [70, 8, 8, 3]).astype(np.uint8)


@pytest.fixture(name="store")
def _store(tmp_path):
  return code_store.CodeStore(tmp_path / "codes", 1 << 20)


@pytest.fixture(name="encoded")
def _encoded(monkeypatch):
  """Numbers of images that nets compute, in calls of `FrozenEncoder._compute`."""
  found, compute = [], frozen_codes.FrozenEncoder._compute

  def counting(self, spec, images):
    found.append(len(images))
    return compute(self, spec, images)

  monkeypatch.setattr(frozen_codes, "_depends", {})
  monkeypatch.setattr(frozen_codes.FrozenEncoder, "_compute", counting)
  return found


TRIAL = 2 * frozen_codes.ROWS


def _net(seed=0):
  return frozen_backbone.FrozenBackbone(SMALL, 8, seed=seed)


def test_each_image_is_computed_once_for_all_nets_that_are_equal(store, encoded):
  wanted = _net().encoder.encode([IMAGES])
  encoded.clear()
  with frozen_codes.keep_in(store):
    first = _net().encoder.encode([IMAGES[:40], IMAGES[40:]])
    assert sum(encoded) == TRIAL + 70
    again = _net().encoder.encode([np.concatenate([IMAGES[::-1], IMAGES])])
    assert sum(encoded) == TRIAL + 70
    another = _net(seed=1).encoder.encode([IMAGES])
  np.testing.assert_array_equal(first, wanted)
  np.testing.assert_array_equal(again, np.concatenate([wanted[::-1], wanted]))
  assert np.abs(another - wanted).max() > 0.01
  np.testing.assert_allclose(wanted, _net().model(IMAGES.astype(np.float32)), rtol=1e-4, atol=1e-5)


def test_changed_images_and_other_arithmetic_are_encoded_again(store, encoded, monkeypatch):
  changed = IMAGES.copy()
  changed[3, 0, 0, 0] ^= 1
  with frozen_codes.keep_in(store):
    _net().encoder.encode([IMAGES])
    encoded.clear()
    _net().encoder.encode([changed])
    assert encoded == [1]
    monkeypatch.setenv("TF_NUM_INTRAOP_THREADS", "7")
    encoded.clear()
    _net().encoder.encode([IMAGES])
    assert sum(encoded) == TRIAL + 70


class ByBatch(tf.keras.layers.Layer):
  """Subtracts the mean of the batch."""

  def call(self, x):
    return tf.reduce_mean(x, [1, 2]) - tf.reduce_mean(x, [0, 1, 2])


class Random(tf.keras.layers.Layer):
  def call(self, x):
    return tf.reduce_mean(x, [1, 2]) + tf.random.uniform([3])


def _encoder(layer):
  return frozen_codes.FrozenEncoder(
      lambda images: layer(tf.cast(images, tf.float32)))


def test_codes_that_depend_on_their_batch_are_kept_in_the_order_without_kept_codes(store, encoded):
  wanted = [_encoder(ByBatch()).encode([part]) for part in (IMAGES, IMAGES[::-1])]
  with frozen_codes.keep_in(store):
    for _ in range(2):
      encoded.clear()
      for part, codes in zip((IMAGES, IMAGES[::-1]), wanted):
        np.testing.assert_array_equal(_encoder(ByBatch()).encode([part]), codes)
  assert not encoded


def test_what_has_a_state_is_not_kept(store, caplog):
  caplog.set_level("INFO")
  with frozen_codes.keep_in(store):
    encoder = _encoder(Random())
    one, two = (encoder.encode([IMAGES]) for _ in range(2))
  assert np.abs(one - two).max() > 0
  assert "not kept, as it has a state: RandomUniform" in caplog.text
  assert not store.folder.exists()


def test_a_changed_layer_is_another_net(store, encoded):
  def made(factor):
    class Mine(tf.keras.layers.Layer):
      def call(self, x):
        return factor * tf.reduce_mean(x, [1, 2])
    return _encoder(Mine())

  with frozen_codes.keep_in(store):
    made(1.0).encode([IMAGES])
    np.testing.assert_array_equal(
        made(2.0).encode([IMAGES]), made(2.0).encode([IMAGES]))
    encoded.clear()
    made(1.0).encode([IMAGES])
  assert not encoded


def _sets():
  train, test = digits.train_and_test()
  return train.take(140, seed=0), test.take(60, seed=0)


def test_a_function_that_begins_with_a_net_costs_as_the_whole_graph():
  net = _net()
  def fn(images):
    return tf.matmul(net(images), tf.ones([16, 5]))
  forward = scoring.Forward(fn, distribution.build())
  whole = tf.function(lambda x: tf.matmul(net._features(x), tf.ones([16, 5])), autograph=False)
  full, rest = (flops.count(whole.get_concrete_function(
      tf.TensorSpec([rows, 8, 8, 3], tf.uint8))) for rows in (50, 40))
  account, expected = ledger.Ledger(), full * 2 + rest
  forward.run(_sets()[0], transform=image_ops.Plain(8), batch_size=50, ledger=account,
              phase="select")
  assert account.spent() == (expected.flops, expected.macs)


class CountedBatches:
  """The batches of a set, which counts the passes over them."""

  def __init__(self, batches):
    self.element_spec, self._batches, self.passes = batches.element_spec, batches, 0

  def __iter__(self):
    self.passes += 1
    return iter(self._batches)


def test_images_whose_codes_are_kept_are_not_read_again(store):
  images, transform = _sets()[0], image_ops.Plain(8)
  batches = CountedBatches(images.eval_batches(50, transform=transform))
  def run(seed):
    return scoring.Forward(_net(seed), distribution.build()).run(
        images, transform=transform, batch_size=50, ledger=ledger.Ledger(), phase="predict",
        batches=batches)
  wanted = run(0)
  with frozen_codes.keep_in(store):
    for seed, passes in ((0, 2), (0, 2), (1, 3), (0, 3)):
      found = run(seed)
      assert batches.passes == passes
      if seed == 0:
        for one, other in zip(found, wanted):
          np.testing.assert_array_equal(one, other)


def _learner(kind):
  if kind == "ranpac":
    return statistics_learner.StatisticsLearner(
        ridge_sums.RidgeSums(strengths=(1e-2, 1.0, 1e2), exact=True),
        transform=image_ops.Plain(8), features=_net(),
        lift=statistics_learner.RandomRelu(size=40))
  return gradient.GradientLearner(
      transform=image_ops.Plain(8), net=trainable_parts.HeadOnly(_net()), epochs=1)


def _run(folder, kind, store, seed=5, **stops):
  with frozen_codes.keep_in(store), stopped_runs.state(folder, seed=seed, **stops) as state:
    return incremental.run(_learner(kind), state=state, buckets=buckets.of_classes(
        _sets(), num_tasks=3), scenario="class")


def _of(folder):
  return (stopped_runs.records(folder),
          [path.read_bytes() for path in sorted(folder.glob("predictions/*"))])


def test_records_are_the_same_with_and_without_kept_codes_and_resumed(store, encoded, tmp_path):
  for kind in ("ranpac", "head"):
    _run(tmp_path / kind / "without", kind, None)
  alone = sum(encoded)
  encoded.clear()
  with pytest.raises(stopped_runs.Stop):
    _run(tmp_path / "ranpac" / "kept", "ranpac", store, stop_uncommitted=3)
  _run(tmp_path / "ranpac" / "kept", "ranpac", code_store.CodeStore(store.folder, 1 << 20))
  _run(tmp_path / "head" / "kept", "head", store)
  _run(tmp_path / "another seed", "ranpac", store, seed=6)
  for kind in ("ranpac", "head"):
    assert _of(tmp_path / kind / "kept") == _of(tmp_path / kind / "without")
  # The images of both sets, a blank one by which learners ask for the width, and a trial.
  assert sum(encoded) == TRIAL + 200 + 1 and alone > 500

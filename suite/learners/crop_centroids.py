# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Centroids from augmented crops, as the code of FLUID's authors has them.

A sample is answered by its features as it is evaluated; what its label moves is a centroid of
features of a random crop, from a second pass through the backbone. Offline phases train on these
features, too: of the one crop that each sample had when it came, where the authors draw another in
each epoch. Steps are taken one by one, since what is added is not what was answered.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf
from typing_extensions import override

from suite.compute import mac_views
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.data.images import sampling
from suite.learners import around
from suite.state import context as context_lib

_PURPOSE = 6  # Of the seed, beside those of sampling.py and prepared_sets.py.


@dataclasses.dataclass(frozen=True)
class WithCrop:
  """Stacks both views of a sample by channels: [B, S, S, 2 C].

  The random view follows from the seed and the sample alone, its number or its pixels, so that it
  is the same in a block of any size and after a resumption.

  Attributes:
    transform: of both views. seed: of the random one.
  """

  transform: examples.Transform
  seed: int = 0

  @property
  def size(self) -> int:
    """S."""
    return self.transform.size

  @property
  def shape(self) -> tuple[int, ...]:
    """(S, S, 2 C)."""
    *sides, channels = self.transform.shape
    return (*sides, 2 * channels)

  def evaluate(self, samples: tf.Tensor) -> tf.Tensor:
    """Samples [B, ...] -> uint8 [B, S, S, 2 C], the evaluated view first."""
    samples = tf.convert_to_tensor(samples)
    root = sampling.root_seed((self.seed, 0), _PURPOSE)
    # A number of each sample, int64 [B]: its own, or a weighted sum of its pixels.
    if samples.shape.rank == 1:
      keys = tf.cast(samples, tf.int64)
    else:
      pixels = tf.cast(tf.reshape(samples, [tf.shape(samples)[0], -1]), tf.int64)
      places = tf.range(1, tf.cast(tf.shape(pixels)[1], tf.int64) + 1)
      keys = tf.reduce_sum(pixels * places, axis=1)
    seeds = sampling.derive(root, keys)
    return tf.concat([self.transform.evaluate(samples), self.transform.train(samples, seeds)], -1)

  def train(self, samples: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Samples [B, ...] and seeds uint64 [B] -> uint8 [B, S, S, 2 C]."""
    return tf.concat(
        [self.transform.evaluate(samples), self.transform.train(samples, seeds)], -1)


class _TwoViews(NamedTuple):
  """The digest of a backbone that makes features of both views."""

  digest: str


class CropCentroids(around.Around):
  """A learner of sequences on frozen features, whose labels teach it crops.

  Args:
    learner: such as `StatisticsLearner` or `ExemplarTuning`; it has `update`.
    seed: of the crops.
  """

  deliveries = (deliveries_lib.SEQUENCE,)
  can_update, can_answer_in_turn, see = True, False, None

  def __init__(self, learner: learner_lib.SequenceLearner, seed: int = 0):
    super().__init__(refusals.check_learner(
        learner, deliveries_lib.SEQUENCE, also=("learn", "update")))
    self.transform = WithCrop(self.learner.transform, seed)

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Learns the base classes, whose images are not augmented."""
    return own_costs.learning(self.learner)(experience, context)

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, 2 D] of both views."""
    return tf.concat([self.learner.encode(view) for view in tf.split(images, 2, axis=-1)], axis=1)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] by the evaluated views of codes [B, 2 D]."""
    return self.learner.answer(_views(codes)[0])

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Learns the crops of codes [B, 2 D] with labels int64 [B]."""
    self.learner.update(_views(codes)[1], labels)

  @override
  def mac_layers(self) -> learner_lib.Layers | None:
    """Returns the backbone's layers twice, and the layers of the head."""
    layers = self.learner.mac_layers()
    return layers and ([*layers[0], *map(_of_crops, layers[0])], layers[1])

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.learner.keeps_budget

  @override
  def learn_stored(self, stored: deliveries_lib.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """Runs an offline phase of the learner inside, on the crops."""
    return own_costs.learning(self.learner, "learn_stored")(
        stored._replace(codes=_views(stored.codes)[1]), context)

  @property
  @override
  def frozen_features(self) -> _TwoViews | None:
    frozen = self.learner.frozen_features
    return None if frozen is None else _TwoViews(f"{frozen.digest} of two views")


def _of_crops(layer: mac_views.Layer) -> mac_views.Layer:
  """The same layer in the second pass."""
  inputs = None if layer.inputs is None else tuple(f"crop_{name}" for name in layer.inputs)
  return dataclasses.replace(layer, name=f"crop_{layer.name}", inputs=inputs)


def _views(codes: Any) -> tuple[Any, Any]:
  """The codes of the evaluated views, and of the crops."""
  width = codes.shape[1] // 2
  return codes[:, :width], codes[:, width:]

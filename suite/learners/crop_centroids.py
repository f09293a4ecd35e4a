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

from suite.compute import mac_views
from suite.contracts import capabilities
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import experience as experience_lib
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.data.sequences import with_crop
from suite.state import context as context_lib


class _TwoViews(NamedTuple):
  """The digest of a backbone that makes features of both views."""

  digest: str


class CropCentroids(tf.Module):
  """A learner of sequences on frozen features, whose labels teach it crops.

  Args:
    learner: such as `NearestMean` or `ExemplarTuning`; it has `update`.
    seed: of the crops.
  """

  deliveries = (deliveries_lib.SEQUENCE,)

  def __init__(self, learner: learner_lib.InstanceLearner, seed: int = 0):
    super().__init__()
    refusals.check_learner(learner, deliveries_lib.SEQUENCE, also=("learn", "update"))
    self.learner, self._can = learner, capabilities.of_sequence_learner(learner)
    self.transform = with_crop.WithCrop(learner.transform, seed)

  def __getattr__(self, name: str) -> Any:
    """Returns an optional method if the learner inside has it."""
    inside = self.__dict__.get("learner")
    if name in _OPTIONAL and inside is not None and getattr(inside, name, None) is not None:
      return getattr(self, f"_{name}")
    raise AttributeError(f"{type(self).__name__} has no attribute {name!r}.")

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Begins the task with the learner inside."""
    self.learner.begin(task, context)

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Learns the base classes, whose images are not augmented."""
    return self.learner.learn(experience, context)

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared samples [B, S, S, 2 C]."""
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns features [B, 2 D] of both views."""
    return tf.concat([self.learner.encode(view) for view in tf.split(images, 2, axis=-1)], axis=1)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] by the evaluated views of codes [B, 2 D]."""
    return self.learner.answer(_views(codes)[0])

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Learns the crops of codes [B, 2 D] with labels int64 [B]."""
    self.learner.update(_views(codes)[1], labels)

  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Returns the backbone's layers twice, and those of the head."""
    assert self._can.mac_layers is not None
    backbone, head = self._can.mac_layers()
    return [*backbone, *map(_of_crops, backbone)], head

  def _learn_stored(self, stored: stored_samples.Stored, context: context_lib.Context
                    ) -> dict[str, Any]:
    assert self._can.learn_stored is not None
    return self._can.learn_stored(stored._replace(codes=_views(stored.codes)[1]), context)

  def _stored_macs(self, num_stored: int) -> int | None:
    assert self._can.stored_macs is not None
    return self._can.stored_macs(num_stored)

  @property
  def _frozen_features(self) -> _TwoViews:
    return _TwoViews(f"{self._can.frozen_features.digest} of two views")


_OPTIONAL = ("learn_stored", "stored_macs", "frozen_features")


def _of_crops(layer: mac_views.Layer) -> mac_views.Layer:
  """The same layer in the second pass."""
  inputs = None if layer.inputs is None else tuple(f"crop_{name}" for name in layer.inputs)
  return dataclasses.replace(layer, name=f"crop_{layer.name}", inputs=inputs)


def _views(codes: Any) -> tuple[Any, Any]:
  """The codes of the evaluated views, and of the crops."""
  width = codes.shape[1] // 2
  return codes[:, :width], codes[:, width:]

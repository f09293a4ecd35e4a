# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The optional methods of a learner, looked up once and handed on as typed objects."""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Optional, cast

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import learner as learner_lib
from suite.contracts import stored_samples
from suite.state import context as context_lib

Layers = tuple[list[mac_views.Layer], list[mac_views.Layer]]


@dataclasses.dataclass(frozen=True)
class SequenceCapabilities:
  """A sequence learner and its optional methods; None where it does not have one.

  Attributes:
    learner: the learner itself.
    update, answer_in_turn: see `InstanceLearner`.
    learn_stored, stored_macs: see `OfflineLearner`.
    mac_layers: see `LayerwiseLearner`.
    new_below: returns the learner's own threshold as of now.
    see, frozen_features, know_base: see `SequenceLearner`.
  """

  learner: learner_lib.SequenceLearner
  update: Optional[Callable[[tf.Tensor, tf.Tensor], None]] = None
  answer_in_turn: Optional[Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = None
  learn_stored: Optional[
      Callable[[stored_samples.Stored, context_lib.Context], dict[str, Any]]] = None
  stored_macs: Optional[Callable[[int], Optional[int]]] = None
  mac_layers: Optional[Callable[[], Layers]] = None
  new_below: Optional[Callable[[], float]] = None
  see: Optional[Callable[[tf.Tensor], tf.Tensor]] = None
  frozen_features: Any = None
  know_base: Optional[Callable[[np.ndarray, context_lib.Context], dict[str, Any]]] = None


_SEQUENCE_METHODS = ("update", "answer_in_turn", "learn_stored", "stored_macs", "mac_layers",
                     "see", "frozen_features", "know_base")


def of_sequence_learner(learner: learner_lib.SequenceLearner) -> SequenceCapabilities:
  """The optional methods that the learner has."""
  found = {name: getattr(learner, name, None) for name in _SEQUENCE_METHODS}
  if hasattr(learner, "new_below"):
    found["new_below"] = lambda: float(learner.new_below)
  return SequenceCapabilities(learner, **found)


@dataclasses.dataclass(frozen=True)
class EpisodicCapabilities:
  """An episodic learner that has begun, and its optional parts; None where it does not have one.

  Attributes:
    learner: the learner itself.
    encode: see `EncodingLearner`.
    meta: the learner, if it has `meta_loss`.
    optimizer: of its meta-training, if it was made for one.
    meta_loss_together: see `MetaLearner`.
  """

  learner: learner_lib.EpisodicLearner
  encode: Optional[Callable[[tf.Tensor], tf.Tensor]] = None
  meta: Optional[learner_lib.MetaLearner] = None
  optimizer: Optional[tf.keras.optimizers.Optimizer] = None
  meta_loss_together: Optional[Callable[[Any], tuple[tf.Tensor, Any]]] = None


def of_episodic_learner(learner: learner_lib.EpisodicLearner | learner_lib.MetaLearner
                        ) -> EpisodicCapabilities:
  """The optional parts that the learner has; call it after `begin`, which builds the optimizer."""
  meta = cast(learner_lib.MetaLearner, learner) if hasattr(learner, "meta_loss") else None
  return EpisodicCapabilities(
      learner, getattr(learner, "encode", None), meta, getattr(learner, "optimizer", None),
      getattr(learner, "meta_loss_together", None))


def keeps_predict(learner: learner_lib.Learner) -> bool:
  """Whether a compiled `predict` is still valid after `learn`."""
  return bool(getattr(learner, "predict_stays", False))


def shares_updates(learner: object) -> bool:
  """Whether several replicas share the learner's updates."""
  return bool(getattr(learner, "shares_updates", hasattr(learner, "meta_loss")))

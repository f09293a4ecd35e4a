# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streaming linear discriminant analysis (SLDA; Hayes & Kanan, 2020) on frozen features.

Means and scatter move with every label. The covariance is inverted after the base classes, and then
in offline phases, which train nothing: an update strategy says how often, `Never` being the paper's
SLDA of a fixed covariance. See `suite/training/sequence/running_discriminant.py`.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.sequence import running_discriminant

_CHUNK = 256  # Base samples added in one call.


class StreamingLda(tf.Module):
  """An `InstanceLearner` and `OfflineLearner` for one sequence, and for base classes before it.

  Args:
    transform: image preparation; its `size` is H = W.
    features: images [B, H, W, 3] to features [B, D]; it never changes.
    shrinkage: the part of the identity in the covariance that is inverted; the paper's 1e-4.
    weights: "steps" as published, or "class"; see `running_discriminant`.
    batch_size: of feature extraction in `learn`.
  """

  def __init__(self, *, transform: Any, features: Callable[[tf.Tensor], tf.Tensor],
               shrinkage: float = 1e-4, weights: str = "steps", batch_size: int = 256):
    super().__init__()
    self.transform = transform
    self._features, self._batch_size = features, batch_size
    self._shrinkage, self._weights = shrinkage, weights
    self._built = False
    self._solve_cost: Optional[flops.Cost] = None

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    del context
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; SLDA adds each image to the mean of one "
                       f"class. Take {tasks.SINGLE_LABEL} tasks.")
    if self._built:
      return
    size = self.transform.size
    self._num_features = int(self.encode(tf.zeros([1, size, size, 3], tf.uint8)).shape[1])
    self.discriminant = running_discriminant.RunningDiscriminant(
        task.num_classes, self._num_features, shrinkage=self._shrinkage, weights=self._weights)
    self._add = tf.function(self.discriminant.add, input_signature=[
        tf.TensorSpec([None, self._num_features]), tf.TensorSpec([None], tf.int64)])
    self._solve = tf.function(self.discriminant.solve, input_signature=[])
    self._built = True

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    """Adds the training split, each image once and not augmented; then inverts."""
    outputs = scoring.Forward(self.encode, context.distribution).run(
        experience.train, transform=self.transform, batch_size=self._batch_size,
        ledger=context.ledger, phase=context.phase)
    codes, labels = tf.cast(outputs.values, tf.float32), tf.cast(outputs.labels, tf.int64)
    began, num = time.monotonic(), len(outputs.labels)
    for start in range(0, num, _CHUNK):
      self._add(codes[start:start + _CHUNK], labels[start:start + _CHUNK])
    cost = self._cost_of_one(self.discriminant.add) * num
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs,
                          seconds=time.monotonic() - began)
    self._invert(context)
    return {"classes_with_a_mean": int(tf.math.count_nonzero(self.discriminant.counts))}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; what was learned plays no part."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]; -inf for classes without a sample."""
    return self.discriminant.answer(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] with labels int64 [B], in their order."""
    self.discriminant.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.discriminant.answer_in_turn(codes, labels)

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> Dict[str, Any]:
    """Inverts the covariance of all labels so far."""
    del stored
    self._invert(context)
    return {"passes": 0}

  def stored_macs(self, num_stored: int) -> Optional[int]:
    del num_stored
    return self._cost_of_solve().macs

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """Layers of the backbone and the means. A label's 2 D^2 MACs and the inversions are in the
    ledger alone: the views know of gradients only."""
    macs = self.discriminant.sums.shape.num_elements()
    return (frozen_backbone.layers(self._features),
            [mac_views.Layer("means", macs, trained=False)])

  def _invert(self, context: context_lib.Context) -> None:
    began, cost = time.monotonic(), self._cost_of_solve()
    self._solve()
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, steps=1,
                          seconds=time.monotonic() - began)

  def _cost_of_solve(self) -> flops.Cost:
    if self._solve_cost is None:
      self._solve_cost = flops.count(self._solve.get_concrete_function())
    return self._solve_cost

  def _cost_of_one(self, add: Callable[..., None]) -> flops.Cost:
    return flops.count(tf.function(add).get_concrete_function(
        tf.TensorSpec([1, self._num_features]), tf.TensorSpec([1], tf.int64)))

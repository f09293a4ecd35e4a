# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""InfLoRA: low-rank changes that earlier phases hardly notice (Liang & Li, 2024).

Each phase changes keys and values by (x A) B, where B alone is trained, so that the change sees
the directions A of the inputs x and no others. For each block, with C the sum of x x' over the
phase's data before it is trained and P the projection on the directions of earlier phases:

  A    the r leading eigenvectors of (I - P) C (I - P)                           equation 8
  after the phase, with C' of the changed net:
  P    grows by the leading eigenvectors u of (I - P) C' (I - P), the fewest for which
       trace(P C') + sum of their eigenvalues >= threshold * trace(C')           GPM, DualGPM

and the change is added to the weights. DualGPM (section 3.3.2) keeps the directions of P or those
of I - P, whichever are fewer; here P itself is kept, [D, D], which gives the same A. The authors'
code compares squares of eigenvalues with the threshold, which rises from task to task by a number
of tasks that must be known; here it stays. It divides A by sqrt(3), a part of the rate.

Both passes over the data for C are charged, eigenvectors as 9 D^3 multiply-adds.
"""

from __future__ import annotations

from collections.abc import Sequence
import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.learners import gradient
from suite.models import vit_hooks
from suite.state import context as context_lib
from suite.training.gradient import hooked_vit


class InfLora(learner.Learner):
  """Low-rank changes in directions that earlier phases did not use; see the module.

  Args:
    tuned: trains the changes; its net is a `HookedVit` of `vit_hooks.GivenLowRank`.
    transform: image preparation of the data that C is of; that of `tuned` may augment.
    threshold: share of the inputs' squares that the directions of a phase hold.
    batch_size: images that pass the net at once for C.
  """

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS)
  predict_stays = True
  shares_updates = keeps_budget = True

  def __init__(self, tuned: gradient.GradientLearner, *, transform: examples.Transform,
               threshold: float = 0.95, batch_size: int = 64):
    super().__init__()
    if not isinstance(tuned.net, hooked_vit.HookedVit):
      raise ValueError(f"InfLora.tuned has the net {type(tuned.net).__name__}; give it a HookedVit "
                       "with vit_hooks.GivenLowRank.")
    if not 0 < threshold <= 1:
      raise ValueError(f"InfLora.threshold is {threshold}; it must be above 0 and at most 1.")
    self.tuned, self.transform = tuned, transform
    self._threshold, self._batch_size = threshold, batch_size
    self.projections: tf.Variable | None = None

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.tuned.begin(task, context)
    if self.projections is not None:
      return
    upper: Any = self.tuned.composed.upper
    layer = upper.layers[-1]
    if not isinstance(layer, vit_hooks.GivenLowRank):
      raise ValueError(f"InfLora.tuned trains {type(layer).__name__}; its HookedVit must have "
                       "vit_hooks.GivenLowRank.")
    self._layer = lambda: layer  # Its variables are of `tuned`.
    # Padding counts nothing.
    self._moments_of = tf.function(
        lambda images, mask: layer.moments(images, tf.cast(mask, tf.float32)), autograph=False)
    depth, width = layer.a.shape[:2]
    self.projections = tf.Variable(
        tf.zeros([depth, width, width]), trainable=False, name="projections")

  @override
  @spending.event
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Chooses directions, trains changes in them, adds these to the weights."""
    if context.is_over:
      return dict(gradient.UNTRAINED)
    assert self.projections is not None
    layer, before = self._layer(), self.projections.numpy()
    moments = self._moments(experience.fitted, context)
    layer.a.assign([directions(p, c, layer.rank) for p, c in zip(before, moments)])
    record = self.tuned.learn(experience, context)
    layer.merge()
    moments = self._moments(experience.fitted, context)
    after = [grown(p, c, self._threshold) for p, c in zip(before, moments)]
    self.projections.assign(after)
    return {**record, "directions": [round(float(np.trace(p))) for p in after]}

  def _moments(self, parts: Sequence[examples.ExampleSet], context: context_lib.Context
               ) -> np.ndarray:
    """Sums of x x' over the inputs of each block, [blocks, D, D]; charged."""
    began, layer = time.monotonic(), self._layer()
    total = np.zeros([layer.a.shape[0], *[layer.a.shape[1]] * 2])
    for part in parts:
      batches = part.eval_batches(self._batch_size, transform=self.transform)
      for batch in () if rehearsal.counts_only() else batches:
        total += self._moments_of(batch["image"], batch["mask"]).numpy()
    spec = batches.element_spec["image"]
    cost = flops.count(self._moments_of.get_concrete_function(
        tf.TensorSpec([1, *spec.shape[1:]], spec.dtype), tf.TensorSpec([1], tf.bool))) * sum(
            part.size for part in parts)
    macs = 9 * total.shape[-1] ** 3 * len(total)
    cost += flops.Cost(2 * macs, macs)
    context.charge(cost, began=began)
    return total

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.tuned.predict(images)


def directions(projection: np.ndarray, moments: np.ndarray, rank: int) -> np.ndarray:
  """A [D, r]: the leading eigenvectors of moments [D, D] outside of a projection [D, D].

  Where fewer directions are left than r, further columns are 0.
  """
  rest = np.eye(len(moments)) - projection
  _, vectors = np.linalg.eigh(rest @ moments @ rest)
  return rest @ vectors[:, :-rank - 1:-1]


def grown(projection: np.ndarray, moments: np.ndarray, threshold: float) -> np.ndarray:
  """The projection [D, D] that holds a share `threshold` of moments [D, D]; see the module."""
  rest = np.eye(len(moments)) - projection
  values, vectors = np.linalg.eigh(rest @ moments @ rest)
  held = np.trace(projection @ moments) + np.concatenate([[0.0], np.cumsum(values[::-1])])
  num = int(np.argmax(held >= threshold * np.trace(moments) * (1 - 1e-7)))
  new = vectors[:, ::-1][:, :num]
  return projection + new @ new.T

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Open Long-Tailed Recognition (OLTR; Liu et al., 2019), as FLUID runs it on a sequence.

A gradient learner with a visual memory as its head (`visual_memory`) and a loss that moves the
memory's centroids (`centroid_loss`). Each offline phase first adds the features of the samples that
came since the last one to their centroids, then trains. FLUID trains 4 epochs every 200 samples up
to 10,000 samples, and from then on every 5,000, when centroids are not refreshed any more; the
update strategy says when (`gin/data/fluid_update.gin`: 'early').

Net and centroids train at a tenth of the rate of the classifier. With a frozen net
(`trainable_parts.HeadOnly`) memory and classifier are trained alone; `AllLayers` trains the
backbone, too, which may end in a modulated attention (`modulated_attention.attended`).
"""

from __future__ import annotations

import functools
from typing import Any, Callable

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import trainable_parts
from suite.training.objectives import centroid_loss
from suite.training.sequence import visual_memory


class Oltr(learner_lib.SequenceLearner):
  """OLTR for buckets and sequences; see the module.

  Args:
    transform: of images, or `feature_set.Features`.
    net: what is trained besides the head; see `trainable_parts`.
    refresh_until: samples of a sequence after which centroids are not refreshed; base classes and
      buckets always refresh them.
    learning_rate: of hallucinator, selector and classifier; SGD.
    slow_rate: of the centroids and of the net.
    momentum, weight_decay: of all; velocities stay from phase to phase.
    epochs, batch_size: of a phase.
    train_on: "current" or "all"; see `gradient.GradientLearner`.
    head: the classifier; None: `VisualMemory()`.
    objective: None: `CentroidLoss()`.
  """

  predict_stays = True
  shares_updates = True

  def __init__(self, *, transform: examples.Transform, net: trainable_parts.TrainablePart,
               refresh_until: int = 10_000, learning_rate: float = 0.1, slow_rate: float = 0.01,
               momentum: float = 0.9, weight_decay: float = 5e-4, epochs: float = 4,
               batch_size: int = 128, train_on: str = "all",
               head: visual_memory.VisualMemory | None = None,
               objective: centroid_loss.CentroidLoss | None = None):
    super().__init__()
    if isinstance(net, trainable_parts.Drifting):
      raise ValueError("Oltr.net is Drifting, whose norms move while the head is trained by "
                       "cross-entropy; take HeadOnly, LastLayers or AllLayers.")
    if min(learning_rate, slow_rate) <= 0:
      raise ValueError(f"Oltr has learning_rate={learning_rate} and slow_rate={slow_rate}; both "
                       "must be above 0.")
    self.transform, self._refresh_until = transform, refresh_until
    self.head = head or visual_memory.VisualMemory()
    self.tuned = gradient.GradientLearner(
      transform=transform,
      net=net,
      head=self.head,
      objective=objective or centroid_loss.CentroidLoss(),
      train_on=train_on,
      epochs=epochs,
      batch_size=batch_size,
      learning_rate=learning_rate,
      optimizer=optimizers.Momentum(
        momentum,
        weight_decay,
        keep=True,
        factor_of=functools.partial(visual_memory.rate_factor, others=slow_rate / learning_rate),
      ),
    )

  @property
  @override
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.tuned.frozen_features

  @property
  @override
  def see(self) -> Callable[[tf.Tensor], tf.Tensor] | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.tuned.see

  @override
  def form(self, delivery: str) -> learner_lib.BaseLearner:
    """Returns a learner for each task where tasks are separate; else this one."""
    return learner_each_task.of(self) if delivery == deliveries.TASKS else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.tuned.begin(task, context)

  @override
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Refreshes the memory with the base classes or a bucket, then trains a phase on it."""
    refusals.check_held(self.see, experience.train)
    read = example_arrays.read([experience.train], experience.task, self.transform)
    labels = tf.constant(read.labels, tf.int64)
    codes = self.tuned.codes(read.images, context)
    self._refresh(codes, labels, context)
    record = self.tuned.learn_codes(codes, labels, context, experience.train.name)
    return {**record, "classes_with_a_centroid": self._num_centroids()}

  def _refresh(self, codes: tf.Tensor, labels: tf.Tensor, context: context_lib.Context) -> int:
    """Adds new codes [N, ...] to the memory; returns how many passed the net for that."""
    features, cost = self.tuned.composed.features_of_all(codes)
    self.head.refresh(features, labels)
    # An addition for each feature; three operations for each feature of each centroid.
    adding = int(tf.size(features)) + 3 * int(tf.size(self.head.memory.centroids))
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs)
    context.ledger.charge(context.phase, flops=adding, macs=0)
    return 0 if self.tuned.composed.upper is None else int(labels.shape[0])

  def _num_centroids(self) -> int:
    return int(np.count_nonzero(self.head.memory.present.numpy()))

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]; what was learned plays no part."""
    return self.tuned.encode(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...]; -inf for classes that no phase has trained."""
    return self.tuned.answer(codes)

  @override
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """An offline phase: refreshes the memory if it is still open, then trains."""
    refreshed = self._refreshed(len(stored.labels), stored.num_old)
    passed = 0
    if refreshed:
      new = slice(stored.num_old, None)
      passed = self._refresh(tf.convert_to_tensor(stored.codes[new]),
                             tf.constant(stored.labels[new], tf.int64), context)
    record = self.tuned.learn_stored(stored, context)
    return {**record, "teacher_passes": record["teacher_passes"] + passed, "refreshed": refreshed}

  def _refreshed(self, num_stored: int, num_old: int) -> int:
    """The samples that the memory is refreshed with in a phase on `num_stored`."""
    return num_stored - num_old if num_stored <= self._refresh_until else 0

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    trained = self.tuned.stored_macs(num_stored)
    if trained is None or self.tuned.composed.upper is None:
      return trained
    passed = self._refreshed(num_stored, int(self.tuned.num_learned))
    return trained + passed * mac_views.costs(self.mac_layers()[0]).cached_forward

  @override
  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Layers of the backbone, and memory with classifier."""
    return self.tuned.mac_layers()

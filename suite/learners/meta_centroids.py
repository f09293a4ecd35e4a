# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means in a sequence, of features that were meta-trained on the base classes (FLUID).

  Prototypical Networks   net = protonet.ProtoNet, from scratch     similarity "euclidean"
  Meta-Baseline           net = meta_baseline.MetaBaseline          similarity "cosine"

After the base classes nothing is trained any more: means move with every label, as in `Centroids`,
and blocks are exact (`suite/training/sequence/running_centroids.py`).
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import experience as experience_lib
from suite.contracts import refusals
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.episodic import episode_graphs
from suite.training.scoring import scoring
from suite.training.sequence import running_centroids


class MetaCentroids(tf.Module):
  """An `InstanceLearner` for one sequence, whose base classes it must be given.

  Args:
    net: an `EpisodicLearner` with `encode`; a `scale` that it learned multiplies logits.
    episodes: of its meta-training.
    transform: image preparation; its `size` is H = W.
    similarity: see `RunningCentroids`.
    batch_size: of feature extraction in `learn`.
  """

  deliveries = (deliveries_lib.SEQUENCE,)
  kinds = (tasks.SINGLE_LABEL,)

  def __init__(self, net: Any, *, episodes: base_episodes.BaseEpisodes,
               transform: transform_lib.Transform,
               similarity: str = "euclidean", batch_size: int = 256):
    super().__init__()
    running_centroids.check(similarity)
    refusals.check_method(net, ("begin", "encode", *refusals.META), "ProtoNet")
    self.net, self.transform, self._episodes = net, transform, episodes
    self._similarity, self._batch_size = similarity, batch_size
    self._task: Optional[tasks.Task] = None

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if self._task is not None:
      return
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; MetaCentroids adds each image to the mean "
                       f"of one class. Take {tasks.SINGLE_LABEL} tasks.")
    self._task = task
    self.net.begin(tasks.Task("episodes", tasks.SINGLE_LABEL, self._episodes.way), context)
    size = self.transform.size
    one = tf.function(self.encode).get_concrete_function(
        tf.TensorSpec([1, size, size, 3], tf.uint8))
    self._encode_macs = flops.count(one).macs or 0
    self.centroids = running_centroids.RunningCentroids(
        task.num_classes, one.structured_outputs.shape[1], self._similarity)

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context
            ) -> Dict[str, Any]:
    """Meta-training on the base classes' training split, then their means."""
    assert self._task is not None
    read = example_arrays.read([experience.train], self._task, self.transform)
    graphs = episode_graphs.Graphs(self.net, self._episodes.way)
    record = self._episodes.run(graphs.update, read.images, read.labels, context)
    outputs = scoring.Forward(self.encode, context.distribution).run(
        experience.train, transform=self.transform, batch_size=self._batch_size,
        ledger=context.ledger, phase=context.phase)
    self.centroids.add(tf.cast(outputs.values, tf.float32), tf.cast(outputs.labels, tf.int64))
    context.ledger.charge(context.phase, flops=outputs.values.size, macs=0)
    return {"classes_with_a_mean": int(tf.math.count_nonzero(self.centroids.counts)), **record}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; no label of the sequence plays a part."""
    return self.net.encode(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]; -inf for classes without a sample."""
    return self._scaled(self.centroids.answer(codes))

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the means of their classes, int64 [B]."""
    self.centroids.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self._scaled(self.centroids.answer_in_turn(codes, labels))

  def _scaled(self, logits: tf.Tensor) -> tf.Tensor:
    return logits * self.net.scale if hasattr(self.net, "scale") else logits

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """The embedding as one layer, and the means."""
    return ([mac_views.Layer("embedding", self._encode_macs, trained=False)],
            [mac_views.Layer("centroids", int(tf.size(self.centroids.sums)), trained=False)])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean (NCM) by distance or angle, exact in blocks of a sequence.

As `NearestMean` with a choice of similarity, for sequences of single samples: `answer_in_turn`
takes a block of samples at once and gives the answers of `answer` and `update` in turn, to within
rounding (see `suite/training/sequence/running_centroids.py`).
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Tuple

import tensorflow as tf

from suite.compute import mac_views
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.sequence import running_centroids


def pixels(images: tf.Tensor) -> tf.Tensor:
  """The plainest features: [B, H, W, 3] of 0..255 to [B, H * W * 3] of 0..1."""
  height, width, channels = images.shape[1:]
  return tf.reshape(tf.cast(images, tf.float32), [-1, height * width * channels]) / 255.0


class Centroids(tf.Module):
  """An `InstanceLearner`. All tasks of the same key add to the same means.

  Args:
    transform: image preparation; its `size` is H = W.
    features: images [B, H, W, 3] to features [B, D]; it never changes.
    similarity: "euclidean" (logits are minus squared distances to the means), "cosine" or "dot".
    normalize: whether means are of directions, features divided by their lengths.
    batch_size: of feature extraction in `learn`.
  """

  def __init__(self, *, transform: Any, features: Callable[[tf.Tensor], tf.Tensor] = pixels,
               similarity: str = "euclidean", normalize: bool = False, batch_size: int = 256):
    super().__init__()
    running_centroids.check(similarity)
    self.transform = transform
    self._features, self._batch_size = features, batch_size
    self._similarity, self._normalize = similarity, normalize
    self._centroids: Dict[str, running_centroids.RunningCentroids] = {}
    self._key = ""

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    del context
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; Centroids adds each image to the mean of "
                       f"one class. Take {tasks.SINGLE_LABEL} tasks, or NearestMean.")
    if task.key not in self._centroids:
      size = self.transform.size
      num_features = self._features(tf.zeros([1, size, size, 3], tf.uint8)).shape[1]
      self._centroids[task.key] = running_centroids.RunningCentroids(
          task.num_classes, num_features, self._similarity, self._normalize)
    self._key = task.key

  @property
  def centroids(self) -> running_centroids.RunningCentroids:
    """Those of the task that has begun."""
    if not self._key:
      raise RuntimeError("No task has begun; call begin(task, context) first.")
    return self._centroids[self._key]

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    """Adds the training split to the means, each image once and not augmented."""
    outputs = scoring.Forward(self.encode, context.distribution).run(
        experience.train, transform=self.transform, batch_size=self._batch_size,
        ledger=context.ledger, phase=context.phase)
    self.centroids.add(tf.cast(outputs.values, tf.float32), tf.cast(outputs.labels, tf.int64))
    # One sum for each feature; a length is two more operations and a division.
    num_flops = outputs.values.size * (4 if self._normalize else 1)
    context.ledger.charge(context.phase, flops=num_flops, macs=0)
    return {"classes_with_a_mean": int(tf.math.count_nonzero(self.centroids.counts))}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.centroids.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; what was learned plays no part."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]; -inf for classes without a sample."""
    return self.centroids.answer(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds features [B, D] to the means of their classes, int64 [B]."""
    self.centroids.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.centroids.answer_in_turn(codes, labels)

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """Layers of the backbone, and the centroids."""
    macs = int(tf.size(self.centroids.sums))
    return (frozen_backbone.layers(self._features),
            [mac_views.Layer("centroids", macs, trained=False)])

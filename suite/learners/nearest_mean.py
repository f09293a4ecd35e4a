# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nearest class mean: a running mean of frozen features for each class; the nearest is the answer.

Nothing is trained by gradient, so the same learner goes through whole tasks (`learn`) and through a
sequence one sample at a time (`encode`, `answer`, `update`).
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict

import numpy as np
import tensorflow as tf

from suite.contracts import experience as experience_lib
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.state import context as context_lib
from suite.training.scoring import scoring


def pixels(images: tf.Tensor) -> tf.Tensor:
  """The plainest features: [B, H, W, 3] of 0..255 to [B, H * W * 3] of 0..1."""
  height, width, channels = images.shape[1:]
  return tf.reshape(tf.cast(images, tf.float32), [-1, height * width * channels]) / 255.0


class NearestMean(tf.Module):
  """Logits are minus the squared Euclidean distances to the class means; -inf for a class without.

  A task that goes on, bucket by bucket or sample by sample, keeps adding to its means; a new task
  starts its own.

  Args:
    transform: image preparation; its `size` is H = W.
    features: images [B, H, W, 3], uint8 as the transform makes them, to features [B, D]; it never
      changes.
    batch_size: of feature extraction in `learn`.
  """

  def __init__(
      self,
      *,
      transform: transform_lib.Transform,
      features: Callable[[tf.Tensor], tf.Tensor] = pixels,
      batch_size: int = 256,
  ):
    super().__init__()
    self.transform = transform
    self._features, self._batch_size = features, batch_size
    self._means: Dict[str, tf.Variable] = {}  # By task key, [C, D].
    self._counts: Dict[str, tf.Variable] = {}  # Samples behind each mean, [C].

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    del context
    self._key = task.key
    if task.key not in self._means:
      size = self.transform.size
      num_features = self._features(tf.zeros([1, size, size, 3], tf.uint8)).shape[1]
      self._means[task.key] = _zeros(task.num_classes, num_features)
      self._counts[task.key] = _zeros(task.num_classes)

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context
            ) -> Dict[str, Any]:
    """Adds the training split to the means, each image once and not augmented."""
    outputs = scoring.Forward(self.encode, context.distribution).run(
        experience.train, transform=self.transform, batch_size=self._batch_size,
        ledger=context.ledger, phase=context.phase)
    start = time.monotonic()
    means, counts = self._means[self._key], self._counts[self._key]
    old = counts.numpy().astype(np.float64)
    sums, new = _class_sums(outputs.values, outputs.labels, len(old))
    total = old + new
    means.assign((means.numpy() * old[:, None] + sums) / np.maximum(total, 1)[:, None])
    counts.assign(total)
    # One sum for each feature of each label; then three operations for each feature of each mean.
    num_flops = int(np.sum(new) + 3 * len(old)) * sums.shape[1]
    context.ledger.charge(
        context.phase, flops=num_flops, macs=0, seconds=time.monotonic() - start)
    return {"classes_with_a_mean": int(np.count_nonzero(total))}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self._logits(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; what was learned plays no part."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]."""
    return self._logits(codes)

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Moves the mean of each class in int64 [B] towards its features of [B, D], one by one."""
    means, counts = self._means[self._key], self._counts[self._key]
    for i in tf.range(tf.size(labels)):
      label = labels[i]
      counts.scatter_add(tf.IndexedSlices(tf.ones([1]), label[None]))
      step = (codes[i] - means[label]) / counts[label]
      means.scatter_add(tf.IndexedSlices(step[None], label[None]))

  def _logits(self, codes: tf.Tensor) -> tf.Tensor:
    """[B, D] -> [B, C]; |x - m|^2 = |x|^2 - 2 x.m + |m|^2 makes it one matrix product."""
    means = self._means[self._key].read_value()
    products = tf.matmul(codes, means, transpose_b=True)
    norms = tf.reduce_sum(codes**2, axis=1, keepdims=True) + tf.reduce_sum(means**2, axis=1)
    distances = tf.maximum(norms - 2.0 * products, 0.0)
    return tf.where(self._counts[self._key] > 0.0, -distances, -np.inf)


def _zeros(*shape: int) -> tf.Variable:
  return tf.Variable(tf.zeros(shape), trainable=False)


def _class_sums(values: np.ndarray, labels: np.ndarray, num_classes: int):
  """Sums [C, D] of values [N, D] by class, in float64, and the number of samples in each, [C].

  Labels are [N], or multi-hot [N, C]: an image with two labels counts in both sums.
  """
  sums, counts = np.zeros([num_classes, values.shape[1]]), np.zeros([num_classes])
  for c in range(num_classes):
    members = labels[:, c] > 0 if labels.ndim == 2 else labels == c
    counts[c] = np.count_nonzero(members)
    sums[c] = np.sum(values[members], axis=0, dtype=np.float64)
  return sums, counts

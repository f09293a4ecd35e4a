# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot episodes: S support sets one after the other, then one target set over all.

Each support set has `way` classes with `shot` images each; the target set has `targets` images for
each class of each set. Classes of a set are new while the source has enough of them (blocks):

  num_blocks = min(S, number of classes // way);   set s uses block s % num_blocks
  label of class k of block b = b * way + k

so a set that comes back to a block shows its classes again under the same labels (that is the most
that can be done with few classes). No image stands twice in an episode. Episode i is a pure
function of (seed, i); drawing it is index arithmetic without a loop.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.data import image_set
from suite.data import sampling

_CLASSES, _IMAGES = 2, 3  # Purposes of the seed, beside those of sampling.py.


class Episode(NamedTuple):
  """One episode, or B of them with a leading axis; T = S * way * targets.

  Attributes:
    support_images: uint8 [S, way * shot, H, W, 3].
    support_labels: int64 [S, way * shot].
    target_images: uint8 [T, H, W, 3].
    target_labels: int64 [T].
  """

  support_images: tf.Tensor
  support_labels: tf.Tensor
  target_images: tf.Tensor
  target_labels: tf.Tensor


class Episodes:
  """An endless, indexed source of episodes over images [N, H, W, 3] and labels [N].

  Attributes:
    num_labels: number of output classes of an episode, num_blocks * way.
  """

  def __init__(self, images: np.ndarray, labels: np.ndarray, *, way: int, shot: int, targets: int,
               num_support_sets: int = 1, seed: int = 0):
    labels = np.asarray(labels, np.int64)
    if images.dtype != np.uint8 or images.ndim != 4 or len(images) != len(labels):
      raise ValueError(f"Images must be uint8 [N, H, W, 3] with N labels, got {images.dtype} "
                       f"{images.shape} with {labels.shape}.")
    self.way, self.shot, self.targets = way, shot, targets
    self.num_support_sets, self.seed = num_support_sets, seed
    classes, counts = np.unique(labels, return_counts=True)
    num_blocks = min(num_support_sets, len(classes) // way)
    if num_blocks < 1:
      raise ValueError(f"{way}-way episodes need {way} classes; these images have {len(classes)}.")
    needed = -(-num_support_sets // num_blocks) * (shot + targets)
    if counts.min() < needed:
      raise ValueError(
          f"Class {classes[counts.argmin()]} has {counts.min()} images, but an episode may need "
          f"{needed} different ones of a class. Choose fewer shots, targets or support sets.")
    self.num_labels = num_blocks * way
    with tf.device("CPU:0"):
      self._images = tf.constant(images[np.argsort(labels, kind="stable")])
    self._first = np.concatenate([[0], np.cumsum(counts)[:-1]])
    self._counts = counts
    self._slots = self._lay_out(num_blocks)

  def episode(self, index: int) -> Episode:
    """Episode `index` as NumPy arrays."""
    return Episode(*(part.numpy() for part in self._make(tf.constant(index, tf.int64))))

  def batches(self, batch_size: int, *, first_index: int = 0) -> tf.data.Dataset:
    """Endless batches of B episodes, in order from `first_index`, with static shapes."""
    dataset = tf.data.Dataset.counter(first_index)
    dataset = dataset.map(tf.autograph.experimental.do_not_convert(self._make),
                          num_parallel_calls=tf.data.AUTOTUNE)
    dataset = dataset.batch(batch_size, drop_remainder=True)
    return image_set.with_fixed_order(dataset).prefetch(tf.data.AUTOTUNE)

  def _lay_out(self, num_blocks: int):
    """(label, running number within its class) of each image of an episode, support first."""
    sets, ways = self.num_support_sets, self.way
    s, k, i = np.meshgrid(np.arange(sets), np.arange(ways), np.arange(self.shot + self.targets),
                          indexing="ij")
    label = (s % num_blocks) * ways + k
    running = (s // num_blocks) * (self.shot + self.targets) + i
    is_support = i < self.shot
    return tuple(np.concatenate([part[is_support], part[~is_support]]) for part in (label, running))

  def _make(self, index: tf.Tensor) -> Episode:
    labels, running = (tf.constant(part, tf.int64) for part in self._slots)
    counts, first = (tf.constant(part, tf.int64) for part in (self._counts, self._first))
    class_key = sampling.derive(sampling.root_seed((self.seed, 0), _CLASSES), index)
    classes = sampling.permutation(class_key[None], len(self._counts))[0, :self.num_labels]
    image_key = sampling.derive(sampling.root_seed((self.seed, 0), _IMAGES), index)
    # [num_labels, greatest count]; places beyond a class's own count come last.
    draws = sampling.uniform(sampling.derive(image_key, classes), int(self._counts.max()))
    is_image = tf.sequence_mask(tf.gather(counts, classes), self._counts.max())
    order = tf.cast(tf.argsort(tf.where(is_image, draws, 2.0), axis=1), tf.int64)
    places = tf.gather_nd(order, tf.stack([labels, running], axis=1))
    chosen = tf.gather(first, tf.gather(classes, labels)) + places
    images = tf.gather(self._images, chosen)
    num_support = self.num_support_sets * self.way * self.shot
    sets = [self.num_support_sets, self.way * self.shot]
    return Episode(tf.reshape(images[:num_support], sets + list(self._images.shape[1:])),
                   tf.reshape(labels[:num_support], sets),
                   images[num_support:], labels[num_support:])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of one-hot labels within an episode, in closed form (Bertinetto et al., 2019).

    min over V of |X V - Y|^2 + l |V|^2        V: [D, W]

has two exact solutions, equal by Woodbury's identity:

    primal   V = (X^T X + l I)^-1 X^T Y        a system of D equations
    dual     V = X^T (X X^T + l I)^-1 Y        a system of N equations

X^T X and X^T Y are sums over images: support sets that come one after the other add to them, and
none has to be kept. The dual form keeps the rows of X. Each of its parts (products, factorization,
solutions) costs less than the primal's if N < D, and the rows take less memory, too.

Letters: N support images of a task, B of a support set, D features, W classes, T targets.
"""

from __future__ import annotations

from typing import NamedTuple, Union

import tensorflow as tf

from suite.training.episodic import class_means

PRIMAL, DUAL, CHEAPER = "primal", "dual", "cheaper"
FORMS = (PRIMAL, DUAL, CHEAPER)
_EMPTY = -1  # Label of a row that no image has filled; its one-hot row is 0.


class Sums(NamedTuple):
  """The state of the primal form.

  Attributes:
    gram: float32 [D, D], X^T X.
    cross: float32 [D, W], X^T Y.
    counts: float32 [W], images of each class.
  """

  gram: tf.Tensor
  cross: tf.Tensor
  counts: tf.Tensor


class Rows(NamedTuple):
  """The state of the dual form; the rows of later sets stand below.

  Attributes:
    features: float32 [N, D], X; 0 in rows that are not filled yet.
    labels: int32 [N]; -1 in such rows.
    counts: float32 [W], images of each class.
  """

  features: tf.Tensor
  labels: tf.Tensor
  counts: tf.Tensor


State = Union[Sums, Rows]


def cheaper(num_images: int, num_features: int) -> str:
  """Returns the form that costs less for N images of D features."""
  return DUAL if num_images < num_features else PRIMAL


def zeros(form: str, num_images: int, num_features: int, num_classes: int) -> State:
  """Returns the state before the first image.

  Args:
    form: PRIMAL or DUAL.
    num_images: N, of all support sets; the primal form does not need it.
    num_features, num_classes: D and W.
  """
  counts = tf.zeros([num_classes])
  if form == DUAL:
    return Rows(tf.zeros([num_images, num_features]), tf.fill([num_images], _EMPTY), counts)
  return Sums(tf.zeros([num_features, num_features]), tf.zeros([num_features, num_classes]), counts)


def add(state: State, features: tf.Tensor, labels: tf.Tensor) -> State:
  """Returns the state after a support set.

  Args:
    state: before it.
    features: float32 [B, D].
    labels: int [B].

  Raises:
    ValueError, or tf.errors.InvalidArgumentError at run time: the task has more images than the N
      that rows were made for.
  """
  one_hot = tf.one_hot(labels, state.counts.shape[0])  # [B, W]
  counts = state.counts + tf.reduce_sum(one_hot, axis=0)
  if isinstance(state, Sums):
    return Sums(state.gram + tf.matmul(features, features, transpose_a=True),
                state.cross + tf.matmul(features, one_hot, transpose_a=True), counts)
  size, added = state.labels.shape[0], labels.shape[0]
  message = (f"A task shows more than the {size} support images whose features the dual form keeps."
             " Set way, shot and num_support_sets to those of the tasks, or take the primal form.")
  if added > size:
    raise ValueError(message)
  enough = tf.debugging.Assert(tf.reduce_sum(counts) <= size, [message])
  with tf.control_dependencies([] if enough is None else [enough]):
    return Rows(tf.concat([state.features[added:], features], axis=0),
                tf.concat([state.labels[added:], tf.cast(labels, tf.int32)], axis=0), counts)


def weights(state: State, strength: float) -> tf.Tensor:
  """Returns V, float64 [D, W]: of order D^3 / 3 or N^3 / 3 multiply-adds.

  Args:
    state: after all support sets.
    strength: l, above 0.
  """
  if isinstance(state, Rows):
    features = tf.cast(state.features, tf.float64)
    one_hot = tf.one_hot(state.labels, state.counts.shape[0], dtype=tf.float64)
    gram = tf.matmul(features, features, transpose_b=True)
    return tf.matmul(features, _solved(gram, strength, one_hot), transpose_a=True)
  gram, cross = tf.cast(state.gram, tf.float64), tf.cast(state.cross, tf.float64)
  return _solved((gram + tf.transpose(gram)) / 2.0, strength, cross)


def logits(state: State, features: tf.Tensor, strength: float) -> tf.Tensor:
  """Returns logits float32 [T, W] of features [T, D], about 1 for the class of an image.

  Classes without an image have the logit `class_means.NOT_SHOWN`.
  """
  found = tf.matmul(features, tf.cast(weights(state, strength), tf.float32))
  return tf.where(state.counts > 0.0, found, class_means.NOT_SHOWN)


def _solved(gram: tf.Tensor, strength: float, right: tf.Tensor) -> tf.Tensor:
  """Returns (gram + strength I)^-1 right, by Cholesky's factorization."""
  eye = tf.eye(gram.shape[0], dtype=gram.dtype)
  return tf.linalg.cholesky_solve(tf.linalg.cholesky(gram + strength * eye), right)


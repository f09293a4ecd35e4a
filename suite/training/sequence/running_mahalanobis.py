# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means and a covariance for each class, sample by sample: the head of Simple CNAPS.

Bateni et al. (2020) classify by the squared Mahalanobis distance to the means of the classes,

    Q_k = l_k S_k + (1 - l_k) S + b I      l_k = n_k / (n_k + 1)      P_k = Q_k^-1
    logit of class k for features z        -(z - m_k)^T P_k (z - m_k) / 2

where S_k is the covariance of the n_k samples of class k, S that of all n samples about their own
mean (both unbiased; 0 of a single sample) and b is 1. (Their code leaves out the half.) A class
without samples takes part like one of a single sample, so that its P_k is there when that comes.

A sample z of class y changes n_y, m_y and

    scatter of class y   + w d d^T      d = z - m_y, w = n_y / (n_y + 1)

at once; S follows from the scatters and means of the classes. The P_k change only when `solve` is
called: C inversions. `add` takes its samples in a loop, so that a block changes what the samples
one by one change, to the bit. Under fixed P_k an answer after some samples is a function of
products z_j^T P_k z_t, with which `answer_in_turn` needs no loop over answers (see
`running_discriminant`, which has one P for all classes).

Letters: B samples, C classes, D features, U classes in the block. There are two matrices [C, D, D].
"""

from __future__ import annotations

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import user_code

_MOST_BYTES = 8 * 2**30


def check(ridge: float) -> None:
  """Raises an error unless ridge > 0."""
  if not ridge > 0.0:
    raise ValueError(f"ridge is {ridge}; it must be above 0: without it the covariance of few "
                     "samples has no inverse.")


class RunningMahalanobis(tf.Module):
  """Means [C, D], scatters and precisions [C, D, D] of the classes.

  Args:
    num_classes: C.
    num_features: D.
    ridge: b.
  """

  def __init__(self, num_classes: int, num_features: int, *, ridge: float = 1.0):
    super().__init__()
    check(ridge)
    needed = 8 * num_classes * num_features ** 2
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{num_classes} classes of {num_features} features need {needed / 2**30:.1f} GiB for a "
          f"covariance and its inverse each; {_MOST_BYTES // 2**30} GiB are allowed. Take a "
          "backbone with fewer features, or StreamingLda, which has one covariance.")
    self._ridge = ridge
    vectors, matrices = [num_classes, num_features], [num_classes, num_features, num_features]
    self.sums = _variable(tf.zeros(vectors), "sums")
    self.counts = _variable(tf.zeros([num_classes]), "counts")
    self.scatter = _variable(tf.zeros(matrices), "scatter")
    self.precision = _variable(
        tf.eye(num_features, batch_shape=[num_classes]) / ridge, "precision")
    self.solved = _variable(tf.zeros(vectors), "solved")  # P_k times the sum of class k.
    self.squares = _variable(tf.zeros([num_classes]), "squares")  # Sum, P_k, sum.
    self.add_chunk = user_code.compiled(self.add, input_signature=[
        tf.TensorSpec([None, num_features]), tf.TensorSpec([None], tf.int64)])
    self.solve_compiled = user_code.compiled(self.solve, input_signature=[])
    self._solve_cost: flops.Cost | None = None

  @property
  def num_nonempty(self) -> int:
    """The number of classes with a sample."""
    return int(np.count_nonzero(self.counts.numpy()))

  @property
  def answer_macs(self) -> int:
    """Multiply-adds of the answer to a sample: D^2 + D a class."""
    num_classes, num_features = self.sums.shape
    return num_classes * num_features * (num_features + 1)

  def answer(self, features: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D]; -inf for classes without a sample."""
    products = tf.matmul(self.solved.read_value(), features, transpose_b=True)
    return tf.transpose(_logits(self._squares_of(features), products, self.counts[:, None],
                                self.squares[:, None]))

  def _squares_of(self, features: tf.Tensor) -> tf.Tensor:
    """z^T P_k z of samples [B, D], [C, B]; class by class, since [C, B, D] would be too large."""
    return tf.map_fn(lambda p: tf.reduce_sum(tf.matmul(features, p) * features, axis=1),
                     self.precision.read_value(),
                     fn_output_signature=tf.TensorSpec([features.shape[0]]))

  def add(self, features: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B], in their order: 2 D^2 multiply-adds each."""
    num = tf.size(labels)

    def body(i: tf.Tensor) -> list[tf.Tensor]:
      label, z = labels[i], features[i][None]
      count = tf.gather(self.counts, label)
      delta = z - tf.gather(self.sums, label) / tf.maximum(count, 1.0)
      spread = tf.matmul(delta * (count / (count + 1.0)), delta, transpose_a=True)
      place = label[None]
      self.scatter.scatter_add(tf.IndexedSlices(spread[None], place))
      self.sums.scatter_add(tf.IndexedSlices(z, place))
      self.counts.scatter_add(tf.IndexedSlices(tf.ones([1]), place))
      self.solved.scatter_add(tf.IndexedSlices(
          tf.matmul(z, tf.gather(self.precision, label)), place))
      square = tf.reduce_sum(tf.gather(self.sums, label) * tf.gather(self.solved, label))
      self.squares.scatter_update(tf.IndexedSlices(square[None], place))
      return [i + 1]

    tf.while_loop(lambda i: i < num, body, [0])

  def solve(self) -> None:
    """Computes the P_k from the samples so far, in float64: about C D^3 multiply-adds."""
    counts, sums = tf.cast(self.counts, tf.float64), tf.cast(self.sums, tf.float64)
    whole = task_covariance(counts, sums, tf.cast(tf.reduce_sum(self.scatter, 0), tf.float64))

    def precision_of(given: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
      mixed = covariances(tf.cast(given[0], tf.float64), given[1], whole, self._ridge)
      return tf.cast(_precisions(mixed), tf.float32)

    self.precision.assign(tf.map_fn(
        precision_of, (self.scatter.read_value(), counts),
        fn_output_signature=tf.TensorSpec(self.scatter.shape[1:])))
    solved = tf.matmul(self.precision, self.sums[:, :, None])[:, :, 0]
    self.solved.assign(solved)
    self.squares.assign(tf.reduce_sum(self.sums * solved, axis=1))

  def solve_cost(self) -> flops.Cost:
    """Returns the cost of `solve`."""
    if self._solve_cost is None:
      self._solve_cost = flops.count(self.solve_compiled.get_concrete_function())
    return self._solve_cost

  def answer_in_turn(self, features: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C], each as if the samples before it had been added; adds nothing."""
    own_squares = self._squares_of(features)  # [C, B]
    products = tf.matmul(self.solved.read_value(), features, transpose_b=True)
    counts, squares = self.counts.read_value()[:, None], self.squares.read_value()[:, None]
    found = _logits(own_squares, products, counts, squares)
    # Again for the classes of the block, with the samples that it has added by each step.
    classes, places = tf.unique(labels)
    member = tf.one_hot(places, tf.size(classes), axis=0)  # [U, B]
    steps = tf.range(tf.size(labels))
    later = tf.cast(steps[:, None] < steps, tf.float32)
    keys = tf.map_fn(
        lambda i: tf.linalg.matvec(tf.gather(self.precision, labels[i]), features[i]), steps,
        fn_output_signature=tf.TensorSpec(features.shape[1:]))
    gram = tf.matmul(keys, features, transpose_b=True)  # z_j^T P z_t, P being that of y_j.
    products = tf.gather(products, classes) + tf.matmul(member, gram * later)
    # (S + z)^T P (S + z) = S^T P S + 2 z^T P S + z^T P z.
    own = 2.0 * tf.reduce_sum(products * member, axis=0) + tf.linalg.diag_part(gram)
    added = tf.matmul(tf.concat([member, member * own], 0), later)
    num_added, squares_added = tf.split(added, 2)
    within = _logits(
        tf.gather(own_squares, classes), products, tf.gather(counts, classes) + num_added,
        tf.gather(squares, classes) + squares_added)
    return tf.transpose(tf.tensor_scatter_nd_update(found, classes[:, None], within))


def task_covariance(counts: tf.Tensor, sums: tf.Tensor, within: tf.Tensor) -> tf.Tensor:
  """S [D, D] of n_k [C], sums [C, D] and the sum of the classes' scatters [D, D]."""
  total = tf.maximum(tf.reduce_sum(counts), 1.0)
  means = sums / tf.maximum(counts, 1.0)[:, None]
  away = means - tf.reduce_sum(sums, axis=0) / total
  between = tf.matmul(away * counts[:, None], away, transpose_a=True)
  return (within + between) / tf.maximum(total - 1.0, 1.0)


def covariances(scatter: tf.Tensor, counts: tf.Tensor, whole: tf.Tensor, ridge: float
                ) -> tf.Tensor:
  """Q_k [..., D, D] of classes with scatter [..., D, D] and n_k [...]; whole: S [D, D]."""
  counts = tf.maximum(counts, 1.0)[..., None, None]
  own = scatter / tf.maximum(counts - 1.0, 1.0)
  eye = tf.eye(whole.shape[0], dtype=whole.dtype)
  mixed = (counts * own + whole) / (counts + 1.0) + ridge * eye
  return (mixed + tf.linalg.matrix_transpose(mixed)) / 2.0


def _precisions(mixed: tf.Tensor) -> tf.Tensor:
  """P_k [..., D, D] of Q_k [..., D, D]."""
  eye = tf.eye(mixed.shape[-1], dtype=mixed.dtype)
  return tf.linalg.cholesky_solve(tf.linalg.cholesky(mixed), eye + tf.zeros_like(mixed))


def _logits(own_squares: tf.Tensor, products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor
            ) -> tf.Tensor:
  """Returns [C, B] of z^T P z and z^T P S, [C, B], n and S^T P S, [C, B] or [C, 1]."""
  some = tf.maximum(counts, 1.0)
  distances = own_squares - 2.0 * products / some + squares / tf.square(some)
  return tf.where(counts > 0.0, -0.5 * distances, -float("inf"))


def _variable(value: tf.Tensor, name: str) -> tf.Variable:
  return tf.Variable(value, trainable=False, name=name)

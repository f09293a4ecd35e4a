# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Class means and a covariance for each class: the head of Simple CNAPS, and FeCAM.

Bateni et al. (2020) classify by the squared Mahalanobis distance to the means of the classes,

    Q_k = l_k S_k + (1 - l_k) S + b I      l_k = n_k / (n_k + 1)      P_k = Q_k^-1
    logit of class k for features z        -(z - m_k)^T P_k (z - m_k) / 2

where S_k is the covariance of the n_k samples of class k, S that of all n samples about their own
mean (both unbiased; 0 of a single sample) and b is 1. (Their code leaves out the half.) A class
without samples takes part like one of a single sample, so that its P_k is there when that comes.

FeCAM (Goswami et al., 2023, section 4.2) takes the correlations of each class's shrunk covariance,
so that classes are compared whose features spread by different amounts:

    T_k = S_k + g1 v I + g2 w (1 - I)      Q_k = T_k[i, j] / sqrt(T_k[i, i] T_k[j, j]) + b I

with the means v of the diagonal of S_k and w of the rest. b is not in the paper, whose code takes
the pseudo-inverse: a tiny b spares the singular case. Where S_k is 0, T_k counts as I.

Their code for ResNets (models/base.py, fecam.py and utils/maha_utils.py of
github.com/dipamgoswami/FeCAM at d2479b7) shrinks twice (`shrinks`). It takes S_k of powers z^p of
features that are not divided by their lengths, and w of the covariances that are not 0. Distances
are those of directions: of z^p, and of the power of the class's mean feature, not of the mean of
powers (`power`). Its script for transformers has p = 1, features of length 1 and the shrinkage
(1, 0).

The state has the scatter of each class about its mean; S follows from scatters and means. A set is
merged in closed form. In a sequence a sample z of class y adds

    n_y / (n_y + 1) d d^T to the scatter of class y      d = z - m_y

at once, and `update` takes samples in a loop, so that a block changes what the samples one by one
change, to the bit. The P_k change only when they are solved: C inversions. Under fixed P_k an
answer after some samples is a function of products z_j^T P_k z_t, with which a block needs no loop
over answers (compare `shared_covariance`, which has one P for all classes).

Letters: B samples, C classes, D features, U classes in the block. State and solution have a matrix
[C, D, D] each.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from suite.training.statistics import statistic

MATRICES = ("mixed", "correlations")
_MOST_BYTES = 8 * 2**30


class Scatters(NamedTuple):
  """sums [C, D], counts [C] and scatter [C, D, D] of the samples of each class; shrinkage float64
  [2], g1 and g2, where held-out samples choose it, else (); features [C, D], sums of what codes are
  powers of, else ()."""

  sums: tf.Tensor
  counts: tf.Tensor
  scatter: tf.Tensor
  shrinkage: Any = ()
  features: Any = ()


class Inverses(NamedTuple):
  """precision P_k [C, D, D]; solved [C, D], P_k times the sum of class k, or its direction; squares
  [C], the product of both; scales [C, D], see `Statistic.solve`."""

  precision: tf.Tensor
  solved: tf.Tensor
  squares: tf.Tensor
  scales: Any = ()


@dataclasses.dataclass(frozen=True)
class ClassCovariances(statistic.Statistic):
  """Mahalanobis distances; an answer costs C D^2 multiply-adds.

  Attributes:
    ridge: b, the multiple of the identity in every Q_k; 1 in Simple CNAPS.
    matrices: "mixed" with the covariance of all samples (Simple CNAPS), or "correlations" (FeCAM).
    shrinkage: g1 and g2 of "correlations"; 0 <= g2 <= g1 keeps every T_k without negative
      eigenvalues. With `shrinkages`, until the first choice.
    shrinkages: pairs that held-out samples choose among, with each task, bucket or set of base
      classes: the first with the highest accuracy. (): none, as in the papers.
    shrinks: how often covariances are shrunk.
    power: p, if codes are powers z^p of features (`Tukey`, without `unit`) whose directions are
      compared; None: codes are compared as they are. A sequence is then answered one by one.
  """

  ridge: float = 1.0
  matrices: str = "mixed"
  shrinkage: tuple[float, float] = (1.0, 1.0)
  shrinkages: tuple[tuple[float, float], ...] = ()
  shrinks: int = 1
  power: float | None = None

  has_fallback = True

  @property
  def has_turns(self) -> bool:  # type: ignore[override]
    """Blocks are of products with sums, which directions are not."""
    return self.power is None

  def __post_init__(self):
    if not self.ridge > 0.0:
      raise ValueError(f"ridge is {self.ridge}; it must be above 0: without it the covariance of "
                       "few samples has no inverse.")
    if self.matrices not in MATRICES:
      raise ValueError(f"matrices is {self.matrices!r}; allowed are {', '.join(MATRICES)}.")
    for pair in (self.shrinkage, *self.shrinkages):
      if len(pair) != 2 or not 0.0 <= pair[1] <= pair[0]:
        raise ValueError(f"shrinkage is {pair}; two numbers are expected, for variances "
                         "and for the rest: the second at least 0 and at most the first.")
    if self.shrinks < 1 or (self.power is not None and not self.power > 0.0):
      raise ValueError(f"shrinks is {self.shrinks} and power {self.power}; shrinks must be at "
                       "least 1, and power above 0 or None.")
    if self.shrinkages and self.matrices != "correlations":
      raise ValueError(f"shrinkages are {self.shrinkages}, and matrices {self.matrices!r}, which "
                       "are not shrunk. Take 'correlations', or leave shrinkages out.")

  @property
  def chooses(self) -> bool:
    """Whether held-out samples choose the shrinkage."""
    return bool(self.shrinkages)

  @property
  def by_class(self) -> bool:  # type: ignore[override]
    """Correlations are of a class alone, unless a choice changes them all."""
    return self.matrices == "correlations" and not self.chooses

  def zero(self, num_classes: int, num_features: int) -> Scatters:
    needed = 8 * num_classes * num_features ** 2
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{num_classes} classes of {num_features} features need {needed / 2**30:.1f} GiB for a "
          f"covariance and its inverse each; {_MOST_BYTES // 2**30} GiB are allowed. Take a "
          "backbone with fewer features, or SharedCovariance, which has one covariance.")
    return Scatters(tf.zeros([num_classes, num_features]), tf.zeros([num_classes]),
                    tf.zeros([num_classes, num_features, num_features]),
                    tf.constant(self.shrinkage, tf.float64) if self.chooses else (),
                    () if self.power is None else tf.zeros([num_classes, num_features]))

  def add(self, state: Scatters, codes: tf.Tensor, labels: tf.Tensor) -> Scatters:
    is_class = tf.one_hot(labels, state.counts.shape[0], axis=0)  # [C, B]
    sums, counts = tf.matmul(is_class, codes), tf.reduce_sum(is_class, axis=1)
    means = sums / tf.maximum(counts, 1.0)[:, None]
    away = (codes - means[:, None]) * is_class[:, :, None]  # [C, B, D]
    scatter = tf.matmul(away, away, transpose_a=True)
    features = () if self.power is None else tf.matmul(is_class, _power(codes, 1.0 / self.power))
    return _merged(state, Scatters(sums, counts, scatter, features=features), means)

  def _points(self, state: Scatters) -> tuple[tf.Tensor, tf.Tensor]:
    """Sums [C, D] and counts [C] whose quotients samples are compared with."""
    if self.power is None:
      return tf.convert_to_tensor(state.sums), tf.convert_to_tensor(state.counts)
    means = state.features / tf.maximum(state.counts, 1.0)[:, None]
    return (tf.math.l2_normalize(_power(means, self.power), axis=1),
            tf.minimum(tf.convert_to_tensor(state.counts), 1.0))

  def _compared(self, codes: tf.Tensor) -> tf.Tensor:
    return codes if self.power is None else tf.math.l2_normalize(codes, axis=1)

  def merge(self, a: Scatters, b: Scatters) -> Scatters:
    return _merged(a, b, _means(b))

  def answers(self, state: Scatters, codes: tf.Tensor, solution: Inverses | None = None
              ) -> tf.Tensor:
    codes, (points, point_counts) = self._compared(codes), self._points(state)
    if solution is not None:
      products = tf.matmul(solution.solved, codes, transpose_b=True)
      return tf.transpose(_logits(_squares_of(solution, codes), products, point_counts[:, None],
                                  solution.squares[:, None]))
    sums, counts, scatter = (tf.cast(part, tf.float64) for part in state[:3])
    centers = (_means(Scatters(sums, counts, scatter)) if self.power is None else
               tf.cast(points, tf.float64))
    whole = _covariance_of_all(counts, sums, tf.reduce_sum(scatter, axis=0))
    factors = tf.linalg.cholesky(  # L L^T = Q_k.
        self._covariances(scatter, counts, whole, state.shrinkage))
    away = tf.cast(codes, tf.float64) - centers[:, None]
    # (z - m)^T Q^-1 (z - m) = |L^-1 (z - m)|^2: B solutions cost less than D of an inverse.
    whitened = tf.linalg.triangular_solve(factors, tf.linalg.matrix_transpose(away))  # [C, D, B]
    distances = tf.reduce_sum(tf.square(whitened), axis=1)
    found = tf.cast(-0.5 * tf.transpose(distances), tf.float32)
    return tf.where(state.counts > 0.0, found, statistic.NOT_SHOWN)

  def solve(self, state: Scatters, added: float = 0.0) -> Inverses:
    counts, sums = tf.cast(state.counts, tf.float64), tf.cast(state.sums, tf.float64)
    whole = _covariance_of_all(
        counts, sums, tf.cast(tf.reduce_sum(state.scatter, axis=0), tf.float64))

    def precision_of(given: tuple[tf.Tensor, tf.Tensor]) -> tuple[tf.Tensor, tf.Tensor]:
      mixed = self._covariances(tf.cast(given[0], tf.float64), given[1], whole, state.shrinkage)
      eye = tf.eye(mixed.shape[-1], dtype=tf.float64)
      factor = statistic.factor(mixed, added)
      found = tf.linalg.cholesky_solve(factor, eye + tf.zeros_like(mixed))
      return tf.cast(found, tf.float32), tf.linalg.diag_part(factor)

    size = state.scatter.shape[1:]
    precision, scales = tf.map_fn(  # One class at a time.
        precision_of, (tf.convert_to_tensor(state.scatter), counts),
        fn_output_signature=(tf.TensorSpec(size), tf.TensorSpec(size[:1], tf.float64)))
    points, _ = self._points(state)
    solved = tf.matmul(precision, points[:, :, None])[:, :, 0]
    return Inverses(precision, solved, tf.reduce_sum(points * solved, axis=1), scales)

  def choose(self, state: Scatters, codes: tf.Tensor, labels: tf.Tensor) -> Scatters:
    def accuracy(shrinkage: tf.Tensor) -> tf.Tensor:
      return statistic.accuracy(self.answers(state._replace(shrinkage=shrinkage), codes), labels)

    pairs = tf.constant(self.shrinkages, tf.float64)
    found = tf.map_fn(accuracy, pairs, fn_output_signature=tf.float32, parallel_iterations=1)
    return state._replace(shrinkage=tf.gather(pairs, tf.argmax(found)))

  def chosen(self, state: Scatters) -> dict[str, list[float]]:
    return {"shrinkage": [float(g) for g in state.shrinkage]} if self.chooses else {}

  def unsolved(self, num_classes: int, num_features: int) -> Inverses:
    least = self.ridge + (self.matrices == "correlations")
    return Inverses(tf.eye(num_features, batch_shape=[num_classes]) / least,
                    tf.zeros([num_classes, num_features]), tf.zeros([num_classes]))

  def update(self, state: Scatters, solution: Inverses, codes: tf.Tensor, labels: tf.Tensor
             ) -> None:
    num, precision = tf.size(labels), tf.convert_to_tensor(solution.precision)

    def body(i: tf.Tensor) -> list[tf.Tensor]:
      label, z = labels[i], codes[i][None]
      count = tf.gather(state.counts, label)
      delta = z - tf.gather(state.sums, label) / tf.maximum(count, 1.0)
      spread = tf.matmul(delta * (count / (count + 1.0)), delta, transpose_a=True)
      place = label[None]
      state.scatter.scatter_add(tf.IndexedSlices(spread[None], place))
      state.sums.scatter_add(tf.IndexedSlices(z, place))
      state.counts.scatter_add(tf.IndexedSlices(tf.ones([1]), place))
      # A slice of a matrix is no copy of it, what tf.gather returns is.
      if self.power is None:
        solution.solved.scatter_add(tf.IndexedSlices(tf.matmul(z, precision[label]), place))
      else:
        state.features.scatter_add(tf.IndexedSlices(_power(z, 1.0 / self.power), place))
        direction = tf.math.l2_normalize(_power(  # Of the mean: its length does not matter.
            tf.gather(state.features, label)[None], self.power), axis=1)
        solution.solved.scatter_update(
            tf.IndexedSlices(tf.matmul(direction, precision[label]), place))
      return [i + 1]

    tf.while_loop(lambda i: i < num, body, [0])
    rows = tf.gather(self._points(state)[0], labels) * tf.gather(solution.solved, labels)
    solution.squares.scatter_update(tf.IndexedSlices(tf.reduce_sum(rows, axis=1), labels))

  def answers_in_turn(self, state: Scatters, solution: Inverses, codes: tf.Tensor,
                      labels: tf.Tensor) -> tf.Tensor:
    own_squares, keys = _squares_and_keys(solution, codes, labels)
    products = tf.matmul(solution.solved, codes, transpose_b=True)
    counts, squares = state.counts[:, None], solution.squares[:, None]
    found = _logits(own_squares, products, counts, squares)
    # Again for the classes of the block, with the samples that it has added by each step.
    block = statistic.Block(labels)
    gram = tf.matmul(keys, codes, transpose_b=True)  # z_j^T P z_t, P being that of y_j.
    products = block.moved(products, gram)
    # (S + z)^T P (S + z) = S^T P S + 2 z^T P S + z^T P z.
    own = 2.0 * block.own(products) + tf.linalg.diag_part(gram)
    within = _logits(tf.gather(own_squares, block.classes), products, block.moved(counts),
                     block.moved(squares, own[:, None]))
    return block.put(found, within)

  def _covariances(self, scatter: tf.Tensor, counts: tf.Tensor, whole: tf.Tensor,
                   shrinkage: Any) -> tf.Tensor:
    """Returns Q_k [..., D, D] of classes with scatter [..., D, D] and n_k [...].

    Args:
      scatter: of the classes.
      counts: n_k.
      whole: S [D, D].
      shrinkage: [2], that was chosen; (): the setting.
    """
    counts = tf.maximum(counts, 1.0)[..., None, None]
    own = scatter / tf.maximum(counts - 1.0, 1.0)
    eye = tf.eye(whole.shape[0], dtype=whole.dtype)
    if self.matrices == "correlations":
      for _ in range(self.shrinks):
        own = _shrunk(own, shrinkage if self.chooses else self.shrinkage, self.power is not None)
      found = _correlations(own) + self.ridge * eye
    else:
      found = (counts * own + whole) / (counts + 1.0) + self.ridge * eye
    return (found + tf.linalg.matrix_transpose(found)) / 2.0


def _power(codes: tf.Tensor, power: float) -> tf.Tensor:
  """Powers [B, D], with the signs of the codes."""
  return tf.sign(codes) * tf.abs(codes) ** power


def _shrunk(own: tf.Tensor, shrinkage: tuple[float, float] | tf.Tensor, leaves_zeros_out: bool
            ) -> tf.Tensor:
  """Returns covariances [..., D, D] after shrinkage (FeCAM); w with or without those that are 0."""
  num = own.shape[-1]
  eye = tf.eye(num, dtype=own.dtype)
  variance = (tf.linalg.trace(own) / num)[..., None, None]
  rest = own * (1.0 - eye)
  counts = (tf.math.count_nonzero(rest, axis=[-2, -1], dtype=own.dtype) if leaves_zeros_out else
            tf.constant(max(num * (num - 1), 1), own.dtype))
  covariance = tf.math.divide_no_nan(
      tf.reduce_sum(rest, axis=[-2, -1]), counts)[..., None, None]
  return own + shrinkage[0] * variance * eye + shrinkage[1] * covariance * (1.0 - eye)


def _correlations(shrunk: tf.Tensor) -> tf.Tensor:
  """Returns the correlations [..., D, D] of covariances [..., D, D]."""
  scales = tf.sqrt(tf.linalg.diag_part(shrunk))
  found = tf.math.divide_no_nan(shrunk, scales[..., :, None] * scales[..., None, :])
  return tf.linalg.set_diag(found, tf.ones_like(scales))


def _means(state: Scatters) -> tf.Tensor:
  """Returns class means [C, D]; zeros for classes without a sample."""
  return state.sums / tf.maximum(state.counts, 1.0)[:, None]


def _merged(a: Scatters, b: Scatters, means: tf.Tensor) -> Scatters:
  """Returns the state of both; `means` are those of b, [C, D]."""
  # Two groups have the sum of their scatters and that of their means, n n' / (n + n') d d^T.
  apart = means - _means(a)
  weights = a.counts * b.counts / tf.maximum(a.counts + b.counts, 1.0)
  between = weights[:, None, None] * apart[:, :, None] * apart[:, None]
  return Scatters(a.sums + b.sums, a.counts + b.counts, a.scatter + b.scatter + between,
                  () if isinstance(a.shrinkage, tuple) else tf.convert_to_tensor(a.shrinkage),
                  () if isinstance(a.features, tuple) else a.features + b.features)


def _covariance_of_all(counts: tf.Tensor, sums: tf.Tensor, within: tf.Tensor) -> tf.Tensor:
  """Returns S [D, D] of n_k [C], sums [C, D] and the sum of the classes' scatters [D, D]."""
  total = tf.maximum(tf.reduce_sum(counts), 1.0)
  means = sums / tf.maximum(counts, 1.0)[:, None]
  away = means - tf.reduce_sum(sums, axis=0) / total
  between = tf.matmul(away * counts[:, None], away, transpose_a=True)
  return (within + between) / tf.maximum(total - 1.0, 1.0)


def _squares_of(solution: Inverses, codes: tf.Tensor) -> tf.Tensor:
  """Returns z^T P_k z of samples [B, D], [C, B]; class by class, since [C, B, D] is too large."""
  return tf.map_fn(lambda p: tf.reduce_sum(tf.matmul(codes, p) * codes, axis=1),
                   tf.convert_to_tensor(solution.precision),
                   fn_output_signature=tf.TensorSpec([codes.shape[0]]))


def _squares_and_keys(solution: Inverses, codes: tf.Tensor, labels: tf.Tensor
                      ) -> tuple[tf.Tensor, tf.Tensor]:
  """Returns `_squares_of` [C, B], and P z of each sample's own class, [B, D]."""
  precision = tf.convert_to_tensor(solution.precision)

  def body(c: tf.Tensor, squares: tf.TensorArray, keys: tf.TensorArray) -> tuple[Any, ...]:
    products = tf.matmul(codes, precision[c])
    rows = tf.where(labels == tf.cast(c, labels.dtype))[:, 0]
    return (c + 1, squares.write(c, tf.reduce_sum(products * codes, axis=1)),
            keys.scatter(tf.cast(rows, tf.int32), tf.gather(products, rows)))

  num = precision.shape[0]
  _, squares, keys = tf.while_loop(
      lambda c, *_: c < num, body,
      [0, tf.TensorArray(tf.float32, num, element_shape=[codes.shape[0]]),
       tf.TensorArray(tf.float32, tf.size(labels), element_shape=codes.shape[1:])])
  return squares.stack(), keys.stack()


def _logits(own_squares: tf.Tensor, products: tf.Tensor, counts: tf.Tensor, squares: tf.Tensor
            ) -> tf.Tensor:
  """Returns [C, B] of z^T P z and z^T P S, [C, B], n and S^T P S, [C, B] or [C, 1]."""
  some = tf.maximum(counts, 1.0)
  distances = own_squares - 2.0 * products / some + squares / tf.square(some)
  return tf.where(counts > 0.0, -0.5 * distances, -float("inf"))

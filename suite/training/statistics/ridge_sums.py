# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ridge regression of one-hot labels in closed form (Bertinetto et al., 2019).

    min over V of |X V - Y|^2 + l |V|^2        V: [D, C]

has two exact solutions, equal by Woodbury's identity:

    primal   V = (X^T X + l I)^-1 X^T Y        a system of D equations
    dual     V = X^T (X X^T + l I)^-1 Y        a system of N equations

X^T X and X^T Y are sums over samples: they are the state of the primal form, and no sample has to
be kept. The dual form, for few-shot episodes, keeps the rows of X. Each of its parts (products,
factorization, solutions) costs less than the primal's if N < D, and the rows take less memory, too.

In a sequence V is exact after every label: with P = (X^T X + l I)^-1, a sample z with one-hot label
y changes (recursive least squares, Sherman and Morrison)

    g = P z / (1 + z^T P z)        V <- V + g (y - z^T V)        P <- P - g (P z)^T

in 2 D^2 + 2 D C multiply-adds; `solve` computes P and V again, without what rounding has added up.
For a block with features Z the errors of the answers in turn, y_t - z_t^T V_t, are those of the
factorization I + Z P Z^T = L E L^T with a unit lower triangular L:

    errors = L^-1 (Y - Z V)        answers in turn = Z V + (L - I) errors

l may be chosen among several strengths: the one whose V, of all sums so far, has the smallest mean
square error on the one-hot labels of held-out samples (RanPAC; McDonnell et al., 2023).

Where sums are float64 (`exact`), tasks and buckets keep the rows of X as long as there are fewer
than D of them (`RidgeRows`), and take the dual form: with N = D / 5 its products and factorizations
cost a 25th and a 125th. From then on X^T X and X^T Y are kept. Nobody asks for P there, so it is
not computed: V takes a factorization, and C solutions instead of D.

ACIL (Zhuang et al., 2022) and GACL (Zhuang et al., 2024) learn tasks by this recursion, on random
ReLU features with a fixed l: they are this estimator, whatever the order of tasks and whether their
classes are disjoint or come again.

Letters: N samples so far, B samples of a set, C classes, D features.
"""

from __future__ import annotations

import dataclasses
from typing import Any, NamedTuple

import tensorflow as tf

from suite.training.statistics import statistic

PRIMAL, DUAL, CHEAPER = "primal", "dual", "cheaper"
FORMS = (PRIMAL, DUAL, CHEAPER)
FLOOR = {tf.float32: 1e-6, tf.float64: 1e-14}  # Of the trace: some epsilons of the sums' type.
_MOST_BYTES = 8 * 2**30
_FACTORS_BYTES = 2**30  # Of factorizations side by side.
_EMPTY = -1  # Label of a row that no sample has filled; its one-hot row is 0.


class PrimalSums(NamedTuple):
  """The state of the primal form; sums in float32, or in float64.

  Attributes:
    gram: [D, D], X^T X.
    cross: [D, C], X^T Y.
    counts: float32 [C], samples of each class.
    strength: float64 [1], l; [0] where it is not chosen.
  """

  gram: tf.Tensor
  cross: tf.Tensor
  counts: tf.Tensor
  strength: tf.Tensor


class DualRows(NamedTuple):
  """The state of the dual form; the rows of later sets stand below.

  Attributes:
    features: float32 [N, D], X; 0 in rows that are not filled yet.
    labels: int32 [N]; -1 in such rows.
    counts: float32 [C], samples of each class.
  """

  features: tf.Tensor
  labels: tf.Tensor
  counts: tf.Tensor


class Regression(NamedTuple):
  """precision P [D, D], weights V [D, C] and scales [D], see `Statistic.solve`."""

  precision: tf.Tensor
  weights: tf.Tensor
  scales: Any = ()


State = PrimalSums | DualRows


@dataclasses.dataclass(frozen=True)
class RidgeSums(statistic.Statistic):
  """Ridge regression; about 1 for the class of a sample.

  Attributes:
    strength: l, the weight of the squared coefficients, above 0; with `strengths`, until the first
      choice and within episodes.
    strengths: those that held-out samples choose among, with each task, bucket or set of base
      classes; (): none. Strengths below `FLOOR` times the trace of X^T X count as that: they are
      less than what rounding adds.
    exact: whether sums are float64, which strengths that small need; else float32. In tasks and
      buckets rows then stand for sums while they are fewer; see the module.
    form: of the state of an episode: "primal", sums of D (D + C) numbers; "dual", the features of
      all support images; or "cheaper", the one of both that takes less memory and arithmetic.
    way, shot, num_support_sets: of the episodes; the dual form needs them. 0: "cheaper" is primal.
  """

  strength: float = 1.0
  form: str = CHEAPER
  way: int = 0
  shot: int = 0
  num_support_sets: int = 0
  strengths: tuple[float, ...] = ()
  exact: bool = False

  has_turns = has_fallback = True

  def __post_init__(self):
    if not self.strength > 0:
      raise ValueError(f"strength is {self.strength}; it must be above 0: without it the "
                       "coefficients of few samples are not determined.")
    if not all(strength > 0 for strength in self.strengths):
      raise ValueError(f"strengths are {self.strengths}; each must be above 0.")
    if self.form not in FORMS:
      raise ValueError(f"form is {self.form!r}; allowed are {', '.join(FORMS)}.")
    if self.form == DUAL and not self._num_images:
      raise ValueError("form is 'dual', which keeps the features of an episode's support images. "
                       "Set way, shot and num_support_sets to those of the tasks.")

  @property
  def _num_images(self) -> int:
    return self.way * self.shot * self.num_support_sets

  def episode_form(self, num_features: int) -> str:
    """Returns "primal" or "dual"."""
    if self.form != CHEAPER:
      return self.form
    return DUAL if 0 < self._num_images < num_features else PRIMAL

  @property
  def chooses(self) -> bool:
    """Whether held-out samples choose the strength."""
    return bool(self.strengths)

  def of_sets(self) -> RidgeRows | None:
    return RidgeRows(self) if self.exact else None

  def zero(self, num_classes: int, num_features: int) -> PrimalSums:
    self.check_size(num_features)
    dtype = tf.float64 if self.exact else tf.float32
    return PrimalSums(tf.zeros([num_features, num_features], dtype),
                      tf.zeros([num_features, num_classes], dtype), tf.zeros([num_classes]),
                      tf.constant([self.strength] * self.chooses, tf.float64))

  def check_size(self, num_features: int) -> None:
    """Refuses more features than memory is for."""
    needed = (8 + 4 * self.exact) * num_features ** 2
    if needed > _MOST_BYTES:
      raise ValueError(
          f"{num_features} features need {needed / 2**30:.1f} GiB for their products and an "
          f"inverse; {_MOST_BYTES // 2**30} GiB are allowed. Take fewer features.")

  def episode_zero(self, num_classes: int, num_features: int) -> State:
    if self.episode_form(num_features) == PRIMAL:
      return self.zero(num_classes, num_features)
    return DualRows(tf.zeros([self._num_images, num_features]), tf.fill([self._num_images], _EMPTY),
                tf.zeros([num_classes]))

  def add(self, state: State, codes: tf.Tensor, labels: tf.Tensor) -> State:
    """Returns the state after samples [B, D] with labels [B].

    Raises:
      ValueError, or tf.errors.InvalidArgumentError at run time: an episode has more images than the
        N that rows were made for.
    """
    one_hot = tf.one_hot(labels, state.counts.shape[0])  # [B, C]
    shown = tf.reduce_sum(one_hot, axis=0)
    if isinstance(state, PrimalSums):
      codes, of_labels = (tf.cast(part, state.gram.dtype) for part in (codes, one_hot))
      return self.merge(state, PrimalSums(
          tf.matmul(codes, codes, transpose_a=True),
          tf.matmul(codes, of_labels, transpose_a=True), shown, state.strength))
    size, added, counts = state.labels.shape[0], labels.shape[0], state.counts + shown
    message = (f"A task shows more than the {size} support images whose features the dual form "
               "keeps. Set way, shot and num_support_sets to those of the tasks, or take the "
               "primal form.")
    if added > size:
      raise ValueError(message)
    enough = tf.debugging.Assert(tf.reduce_sum(counts) <= size, [message])
    with tf.control_dependencies([] if enough is None else [enough]):
      return DualRows(tf.concat([state.features[added:], codes], axis=0),
                  tf.concat([state.labels[added:], tf.cast(labels, tf.int32)], axis=0), counts)

  def merge(self, a: PrimalSums, b: PrimalSums) -> PrimalSums:
    """Returns the state of both, with the strength of a."""
    return PrimalSums(a.gram + b.gram, a.cross + b.cross, a.counts + b.counts,
                      tf.convert_to_tensor(a.strength))

  def choose(self, state: PrimalSums, codes: tf.Tensor, labels: tf.Tensor) -> PrimalSums:
    wanted = tf.one_hot(labels, state.counts.shape[0], dtype=tf.float64)
    return state._replace(strength=_best(
        self.strengths, _symmetric(state.gram), tf.cast(state.cross, tf.float64),
        tf.cast(codes, tf.float64), wanted, state.gram.dtype))

  def chosen(self, state: PrimalSums) -> dict[str, float]:
    return {"strength": float(state.strength[0])} if self.chooses else {}

  def _strength(self, state: PrimalSums) -> tf.Tensor | float:
    return state.strength[0] if self.chooses else self.strength

  def weights(self, state: State) -> tf.Tensor:
    """Returns V, float64 [D, C]: of order D^3 / 3 or N^3 / 3 multiply-adds."""
    if isinstance(state, DualRows):
      features = tf.cast(state.features, tf.float64)
      one_hot = tf.one_hot(state.labels, state.counts.shape[0], dtype=tf.float64)
      gram = tf.matmul(features, features, transpose_b=True)
      return tf.matmul(features, _solved(gram, one_hot, self.strength), transpose_a=True)
    return _solved(_symmetric(state.gram), tf.cast(state.cross, tf.float64), self._strength(state))

  def answers(self, state: State, codes: tf.Tensor, solution: Regression | None = None
              ) -> tf.Tensor:
    if solution is not None:
      return tf.where(state.counts > 0.0, tf.matmul(codes, solution.weights), -float("inf"))
    found = tf.matmul(codes, tf.cast(self.weights(state), tf.float32))
    return tf.where(state.counts > 0.0, found, statistic.NOT_SHOWN)

  def solve(self, state: PrimalSums, added: float = 0.0) -> Regression:
    factor = _factor(_symmetric(state.gram), self._strength(state), added)
    precision = tf.linalg.cholesky_solve(factor, tf.eye(factor.shape[0], dtype=tf.float64))
    return Regression(precision, tf.matmul(precision, tf.cast(state.cross, tf.float64)),
                      tf.linalg.diag_part(factor))

  def unsolved(self, num_classes: int, num_features: int) -> Regression:
    return Regression(tf.eye(num_features) / self.strength, tf.zeros([num_features, num_classes]))

  def update(self, state: PrimalSums, solution: Regression, codes: tf.Tensor, labels: tf.Tensor
             ) -> None:
    one_hot = tf.one_hot(labels, state.counts.shape[0])
    exact = tf.cast(codes, state.gram.dtype)
    state.gram.assign_add(tf.matmul(exact, exact, transpose_a=True))
    if codes.shape[0] == 1:
      cross = tf.matmul(exact, tf.cast(one_hot, exact.dtype), transpose_a=True)
    else:  # The same additions, without the products with 0.
      cross = tf.transpose(tf.math.unsorted_segment_sum(exact, labels, state.counts.shape[0]))
    state.cross.assign_add(cross)
    state.counts.assign_add(tf.reduce_sum(one_hot, axis=0))
    # Woodbury's identity for the block: with K = I + Z P Z^T, G = P Z^T K^-1.
    keys = tf.matmul(codes, solution.precision)  # Z P, [B, D]
    gains = tf.linalg.cholesky_solve(_kernel_factor(keys, codes), keys)  # K^-1 Z P, [B, D]
    errors = one_hot - tf.matmul(codes, solution.weights)
    solution.weights.assign_add(tf.matmul(gains, errors, transpose_a=True))
    solution.precision.assign_sub(tf.matmul(keys, gains, transpose_a=True))

  def answers_in_turn(self, state: PrimalSums, solution: Regression, codes: tf.Tensor,
                      labels: tf.Tensor) -> tf.Tensor:
    one_hot, before = tf.one_hot(labels, state.counts.shape[0]), tf.matmul(codes, solution.weights)
    factor = _kernel_factor(tf.matmul(codes, solution.precision), codes)
    unit = factor / tf.linalg.diag_part(factor)  # Columns divided by the diagonal: L.
    errors = tf.linalg.triangular_solve(unit, one_hot - before)
    steps = tf.range(tf.size(labels))
    earlier = tf.cast(steps[:, None] > steps, tf.float32)  # Row t sees the labels before t only.
    shown = state.counts + tf.matmul(earlier, one_hot)  # [B, C]
    return tf.where(shown > 0.0, before + tf.matmul(unit * earlier, errors), -float("inf"))


class RowsOrSums(NamedTuple):
  """The state of `RidgeRows`; N is 0 once G is D.

  Attributes:
    rows: float32 [N, D], X. labels: int64 [N].
    gram: float64 [G, D], X^T X, or none of it. cross: float64 [D, C], X^T Y, 0 while G is 0.
    counts, strength: see `PrimalSums`.
  """

  rows: tf.Tensor
  labels: tf.Tensor
  gram: tf.Tensor
  cross: tf.Tensor
  counts: tf.Tensor
  strength: tf.Tensor


class Weights(NamedTuple):
  """weights V [D, C] and scales, see `Statistic.solve`."""

  weights: tf.Tensor
  scales: Any = ()


@dataclasses.dataclass(frozen=True)
class RidgeRows(statistic.Statistic):
  """Ridge regression for `statistic.Sets`: dual while there are fewer samples than features.

  Attributes:
    ridge: the settings.
  """

  ridge: RidgeSums

  has_fallback = True

  @property
  def chooses(self) -> bool:
    return self.ridge.chooses

  def zero(self, num_classes: int, num_features: int) -> RowsOrSums:
    self.ridge.check_size(num_features)
    return RowsOrSums(
        tf.zeros([0, num_features]), tf.zeros([0], tf.int64),
        tf.zeros([0, num_features], tf.float64), tf.zeros([num_features, num_classes], tf.float64),
        tf.zeros([num_classes]), tf.constant([self.ridge.strength] * self.chooses, tf.float64))

  def unsolved(self, num_classes: int, num_features: int) -> Weights:
    return Weights(tf.zeros([num_features, num_classes]))

  def add(self, state: RowsOrSums, codes: tf.Tensor, labels: tf.Tensor) -> RowsOrSums:
    num, width = state.rows.shape[0] + codes.shape[0], codes.shape[1]
    one_hot = tf.one_hot(labels, state.counts.shape[0])
    state = state._replace(counts=state.counts + tf.reduce_sum(one_hot, axis=0))
    codes, labels = (tf.concat(parts, axis=0) for parts in
                     ((state.rows, codes), (state.labels, labels)))
    if not state.gram.shape[0] and num < width:
      return state._replace(rows=codes, labels=labels)
    exact = tf.cast(codes, tf.float64)
    one_hot = tf.one_hot(labels, state.counts.shape[0], dtype=tf.float64)
    gram = tf.matmul(exact, exact, transpose_a=True)
    return state._replace(
        rows=codes[:0], labels=labels[:0], gram=state.gram + gram if state.gram.shape[0] else gram,
        cross=state.cross + tf.matmul(exact, one_hot, transpose_a=True))

  def choose(self, state: RowsOrSums, codes: tf.Tensor, labels: tf.Tensor) -> RowsOrSums:
    products, targets, seen = self._system(state, codes)
    wanted = tf.one_hot(labels, state.counts.shape[0], dtype=tf.float64)
    return state._replace(strength=_best(
        self.ridge.strengths, products, targets, seen, wanted, tf.float64))

  def chosen(self, state: RowsOrSums) -> dict[str, float]:
    return {"strength": float(state.strength[0])} if self.chooses else {}

  def solve(self, state: RowsOrSums, added: float = 0.0) -> Weights:
    products, targets, _ = self._system(state, state.rows)
    factor = _factor(products, state.strength[0] if self.chooses else self.ridge.strength, added)
    found = tf.linalg.cholesky_solve(factor, targets)
    if not state.gram.shape[0]:
      found = tf.matmul(tf.cast(state.rows, tf.float64), found, transpose_a=True)
    return Weights(found, tf.linalg.diag_part(factor))

  def answers(self, state: RowsOrSums, codes: tf.Tensor, solution: Weights | None = None
              ) -> tf.Tensor:
    weights = self.solve(state).weights if solution is None else solution.weights
    return tf.where(state.counts > 0.0, tf.matmul(codes, tf.cast(weights, tf.float32)),
                    statistic.NOT_SHOWN if solution is None else -float("inf"))

  def _system(self, state: RowsOrSums, codes: tf.Tensor) -> tuple[tf.Tensor, ...]:
    """Products, right side and what solutions are multiplied with for answers to samples [B, D].

    They are X^T X, X^T Y and Z, or X X^T, Y and Z X^T.
    """
    codes = tf.cast(codes, tf.float64)
    if state.gram.shape[0]:
      return _symmetric(state.gram), state.cross, codes
    rows = tf.cast(state.rows, tf.float64)
    return (tf.matmul(rows, rows, transpose_b=True),
            tf.one_hot(state.labels, state.counts.shape[0], dtype=tf.float64),
            tf.matmul(codes, rows, transpose_b=True))


def _best(strengths: tuple[float, ...], products: tf.Tensor, targets: tf.Tensor, seen: tf.Tensor,
          wanted: tf.Tensor, dtype: tf.DType) -> tf.Tensor:
  """Returns the strength [1] whose answers have the smallest mean square error.

  Args:
    strengths: to choose among.
    products, targets, seen: answers are seen (products + l I)^-1 targets.
    wanted: [B, C].
    dtype: of the sums, see `FLOOR`.
  """
  def error(strength: tf.Tensor) -> tf.Tensor:
    found = tf.matmul(seen, _solved(products, targets, strength))
    return tf.reduce_mean(tf.square(found - wanted))

  allowed = tf.maximum(tf.constant(strengths, tf.float64),
                       FLOOR[dtype] * tf.linalg.trace(products))
  # A factorization takes one core, and about three matrices of memory.
  at_once = max(2, min(len(strengths), _FACTORS_BYTES // (24 * (products.shape[0] or 1) ** 2)))
  errors = tf.map_fn(error, allowed, parallel_iterations=at_once)
  return tf.gather(allowed, [tf.argmin(errors)])


def _solved(gram: tf.Tensor, right: tf.Tensor, strength: tf.Tensor | float) -> tf.Tensor:
  """Returns (gram + l I)^-1 right, by Cholesky's factorization."""
  return tf.linalg.cholesky_solve(_factor(gram, strength), right)


def _factor(gram: tf.Tensor, strength: tf.Tensor | float, added: float = 0.0) -> tf.Tensor:
  return statistic.factor(gram + strength * tf.eye(gram.shape[0], dtype=gram.dtype), added)


def _symmetric(gram: tf.Tensor) -> tf.Tensor:
  """Returns a Gram matrix [D, D] in float64 without the asymmetry of its rounding."""
  gram = tf.cast(gram, tf.float64)
  return (gram + tf.transpose(gram)) / 2.0


def _kernel_factor(keys: tf.Tensor, codes: tf.Tensor) -> tf.Tensor:
  """Returns Cholesky's factor of K = I + Z P Z^T, [B, B], of Z P and Z, both [B, D]."""
  kernel = tf.matmul(keys, codes, transpose_b=True)
  kernel = (kernel + tf.transpose(kernel)) / 2.0
  return tf.linalg.cholesky(kernel + tf.eye(tf.shape(kernel)[0]))


# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Minimum Distance Thresholding (MDT; Wallingford et al., 2020) around a learner of sequences.

A sample is answered with "new" if the distance to the nearest class representation is large, that
is, if the largest logit is below a threshold, `new_below`. With "max_logit" as the protocol's
`novelty_score`,

    logits are -|f - m_c|^2    new if and only if    min_c |f - m_c|^2 > t    new_below = -t
    logits are products        new if and only if    max_c w_c . f < u        new_below = u

(The paper prints "<" in the first line, which would answer "new" for the nearest samples.) The
threshold is computed by one of

    DpMeans     the threshold of DP-means, for squared distances: from

                    a = (1 + r/s)^(d/2) exp(-t / 2s)

                follows t = 2s log((1 + r/s)^(d/2) / a), for features of variance s within classes
                and r between them, in d dimensions; `suite/metrics/novelty_scores.py` has the
                derivation. (In the paper t has the other sign: for a < 1 it is below 0, where no
                squared distance lies.)
    LeastShare  a share of known samples lies below the threshold; for any logits

`DpMeans` uses the base classes' training split: frozen features are not fitted to it, and each
class has several samples. `LeastShare` uses the validation split. Logits of trained heads grow
with training, so `LeastShare` is computed again from the stored samples after each offline phase.
These samples were trained on: expect more than its share of later known samples below the
threshold.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Protocol

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import user_code
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import learner as learner_lib
from suite.contracts import own_costs
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.learners import around
from suite.metrics import novelty_scores
from suite.state import context as context_lib
from suite.training.scoring import scoring

_BATCH = 256


class Threshold(Protocol):
  """A rule for the largest logit of samples of new classes.

  Attributes:
    moves: whether the threshold is computed again after each offline phase.
    of_training: whether it is computed on the training split at first, instead of validation.
  """

  moves: bool
  of_training: bool

  def new_below(self, codes: np.ndarray, labels: np.ndarray, logits: np.ndarray) -> float:
    """Returns the largest logit below which a sample counts as of a new class.

    Args:
      codes: [N, D], of samples of known classes.
      labels: int64 [N].
      logits: [N, C], -inf where a class is not known.
    """


class DpMeans:
  """The threshold of DP-means; s and r are the variances of the base classes' features.

  It is a limit for classes without spread. In many dimensions a sample has a squared distance of
  about s d from its mean, which for a = 1 exceeds t unless r > (e - 1) s. Then log a has to be
  negative, of the order of -d / 2; choose it on a validation sequence.

  Args:
    log_concentration: log a; the larger, the sooner a sample counts as new.
  """

  moves, of_training = False, True

  def __init__(self, log_concentration: float = 0.0):
    self._log_concentration = log_concentration

  def new_below(self, codes: np.ndarray, labels: np.ndarray, logits: np.ndarray) -> float:
    best = np.max(logits)
    if best > 0.0:
      raise ValueError(f"DpMeans got a logit of {best:.4g}; minus a squared distance is never "
                       "above 0. Take NCM with similarity='euclidean', or LeastShare.")
    if rehearsal.counts_only():
      return -1.0  # Codes are blank.
    flat = codes.reshape(len(codes), -1)
    within, between = novelty_scores.variances(flat, labels)
    threshold = novelty_scores.dp_means_threshold(within, between, 1.0, flat.shape[1])
    return 2.0 * within * self._log_concentration - threshold


class LeastShare:
  """The logit that a share of known samples stays below.

  Args:
    share: the share of samples of known classes with a largest logit below the threshold.
    moves: whether the threshold is computed again after each offline phase.
  """

  of_training = False

  def __init__(self, share: float = 0.05, moves: bool = True):
    if not 0.0 < share < 1.0:
      raise ValueError(f"share is {share}; it must be between 0 and 1.")
    self._share, self.moves = share, moves

  def new_below(self, codes: np.ndarray, labels: np.ndarray, logits: np.ndarray) -> float:
    del codes, labels
    return float(np.quantile(np.max(logits, axis=1), self._share))


class MinimumDistance(around.Around):
  """A learner of sequences with a `new_below`; the learner inside learns and answers unchanged.

  Args:
    learner: a `SequenceLearner`.
    threshold: `DpMeans()` if not given.
  """

  deliveries = (deliveries_lib.SEQUENCE,)

  def __init__(self, learner: learner_lib.SequenceLearner, threshold: Threshold | None = None):
    super().__init__(refusals.check_learner(
        learner, deliveries_lib.SEQUENCE, also=("learn", "predict")))
    self._threshold: Threshold = DpMeans() if threshold is None else threshold
    self.threshold = tf.Variable(-np.inf, trainable=False, dtype=tf.float32, name="new_below")
    self._answer: Callable[[tf.Tensor], tf.Tensor] | None = None

  @property
  @override
  def new_below(self) -> float:
    """The threshold; -inf before `learn`."""
    return float(self.threshold)

  @override
  @spending.event
  def learn(
      self, experience: deliveries_lib.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Learns the base classes of a sequence; then computes the threshold on one of their splits."""
    part = experience.train if self._threshold.of_training else experience.dev
    assert part is not None  # A sequence has a validation split.
    if context.is_over:
      return {**own_costs.learning(self.learner)(experience, context), "new_below": self.new_below}
    record = own_costs.learning(self.learner)(experience, context)
    outputs = scoring.extract(self.encode, part, transform=self.transform, batch_size=_BATCH,
                              context=context)
    known = np.bincount(experience.train.labels, minlength=experience.train.num_classes) > 0
    return {**record, **self._fix(
        outputs.values, outputs.labels.astype(np.int64), known, context)}

  @property
  @override
  def keeps_budget(self) -> bool:
    return self.learner.keeps_budget and own_costs.is_suites(self.learner.learn)

  @override
  @spending.event
  def learn_stored(
      self, stored: deliveries_lib.Stored, context: context_lib.Context) -> dict[str, Any]:
    """Runs an offline phase of the learner; then computes the threshold again, if it moves."""
    moves = self._threshold.moves
    is_over = context.is_over
    record = own_costs.learning(self.learner, "learn_stored")(stored, context)
    if moves and not is_over:
      record.update(self._fix(stored.codes, stored.labels, stored.known, context))
    return record

  def _fix(self, codes: np.ndarray, labels: np.ndarray, known: np.ndarray,
           context: context_lib.Context) -> dict[str, Any]:
    spec = tf.TensorSpec([None, *codes.shape[1:]], tf.as_dtype(codes.dtype))
    if self._answer is None:
      self._answer = user_code.compiled(self.answer, input_signature=[spec])
    one = tf.TensorSpec([1, *spec.shape[1:]], spec.dtype)
    cost = flops.count(
        user_code.compiled(self.answer).get_concrete_function(one)) * len(codes)
    logits = np.concatenate([self._answer(codes[i:i + _BATCH]).numpy()
                             for i in range(0, len(codes), _BATCH)])
    context.charge(cost)
    self.threshold.assign(
        self._threshold.new_below(codes, labels, np.where(known, logits, -np.inf)))
    return {"new_below": self.new_below}

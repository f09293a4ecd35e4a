# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The learner around statistics of features that never change, for all deliveries.

    class_means.ClassMeans                 nearest class mean (NCM): Euclidean, cosine, dot
    shared_covariance.SharedCovariance     streaming LDA (SLDA; Hayes & Kanan, 2020), and RanDumb
                                           (Prabhu et al., 2024)
    class_covariances.ClassCovariances     the classifier of Simple CNAPS (Bateni et al., 2020), and
                                           FeCAM (Goswami et al., 2023)
    ridge_sums.RidgeSums                   ridge regression (Bertinetto et al., 2019), and RanPAC
                                           (McDonnell et al., 2023)
    truncated_factors.TruncatedFactors     LoRanPAC (Peng et al., 2025)
    neighbors.Neighbors                    k nearest neighbors (kNN), which keeps the features

Nothing is trained by gradient: learning a task, a bucket, a support set or a single sample adds
features to sums. Some statistics also have an inverse, which is computed after each task, bucket or
set of base classes (`learn`), and in the offline phases of a sequence, which train nothing: the
update strategy says how often. A statistic of another family is a subclass of
`suite.training.statistics.statistic.Statistic`.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
import math
import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.state import context as context_lib
from suite.training.gradient import frozen_backbone
from suite.training.scoring import scoring
from suite.training.statistics import statistic as statistic_lib

RELU_WEIGHTS = ("normal", "uniform")
SCALE = "scale"
# Examples whose features tell the variance.
_MEASURED = 1000


class StatisticsLearner(learner.SequenceLearner, learner.EpisodicLearner):
  """A learner of tasks, buckets, sequences and episodes.

  Each image is added once, not augmented. Of tasks and buckets the development split is added, too,
  after a statistic that chooses a setting has done so on it; of a sequence only then.

  Deliveries of one task key (the buckets of a series, the samples of a sequence) add to the same
  statistics; another task has statistics for itself. Within episodes the state belongs to
  the episode, and nothing is meta-trained: run it with `cfsl.run.updates = 0`.

  Args:
    statistic: what is summed, and how it answers.
    transform: image preparation, or `feature_set.Features` for feature vectors.
    features: a function of prepared examples to features [B, D], such as a `FrozenBackbone`; None:
      pixels of images, and feature vectors unchanged.
    lift: a function of features [B, D] to the codes that are summed, such as `unit_length`; None:
      the features.
    channels: of the images of episodes.
    batch_size: examples whose features are computed at once in `learn`.
  """

  transductive = False
  predict_stays = True  # Codes and answers read variables alone.
  keeps_budget = True
  _encodes_by_task = False  # Whether `encode` is another function for each task.

  def __init__(self, statistic: statistic_lib.Statistic, *, transform: examples.Transform,
               features: frozen_backbone.FeatureFn | None = None,
               lift: frozen_backbone.FeatureFn | None = None, channels: int = 3,
               batch_size: int = 256):
    super().__init__()
    self.transform, self._batch_size, self._channels = transform, batch_size, channels
    self._statistic, self._lift = statistic, lift
    self._features = frozen_backbone.or_plain(features, transform)
    self._by_key: dict[str, statistic_lib.Running] = {}
    self._key, self._delivery = "", ""
    self._forward: scoring.Forward | None = None
    self._forward_key = ""

  @property
  @override
  def kinds(self) -> Sequence[str]:
    """The kinds of tasks that the statistic can count."""
    return self._statistic.kinds

  @property
  @override
  def chooses(self) -> bool:
    return self._statistic.chooses

  @property
  @override
  def can_update(self) -> bool:
    return not self._statistic.sets_only

  @property
  @override
  def can_answer_in_turn(self) -> bool:
    return self._statistic.has_turns

  @property
  @override
  def can_learn_stored(self) -> bool:
    return self._statistic.has_phases

  @property
  @override
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """The backbone, if codes are its features."""
    return None if self._lift else frozen_backbone.of_learner(self._features)

  @property
  @override
  def unsaved_weights(self) -> Sequence[tf.Tensor]:
    """The weights of the backbone, and of a random lift."""
    return [*frozen_backbone.weights_of(self._features), *getattr(self._lift, "weights", ())]

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Selects the statistics of the task; makes them if it is new."""
    if task.kind not in self.kinds:
      raise ValueError(
          f"Task {task.key!r} is {task.kind}; {type(self._statistic).__name__} counts each image "
          f"for one class, so it takes {tasks.SINGLE_LABEL} tasks only. Leave the task out, or "
          "take ClassMeans, which counts an image for each of its labels.")
    self._delivery = context.delivery
    if self._delivery == deliveries.EPISODES:
      return
    if task.key not in self._by_key:
      self._by_key[task.key] = self._make(task.num_classes)
    num_classes = self._by_key[task.key].num_classes
    if num_classes != task.num_classes:
      raise ValueError(
          f"Task {task.key!r} begins with {task.num_classes} classes, but began with {num_classes} "
          "before. A task keeps its classes: give the other task another name or occurrence.")
    self._key = task.key

  def _make(self, num_classes: int) -> statistic_lib.Running:
    """The statistics of a new task; a learner whose tasks have more than these overrides it."""
    of_sets = self._statistic.of_sets()
    if of_sets is not None and (
        self._statistic.sets_only or self._delivery != deliveries.SEQUENCE):
      return statistic_lib.Sets(of_sets, num_classes, self._num_features)
    return statistic_lib.Running(self._statistic, num_classes, self._num_features)

  @functools.cached_property
  def _num_features(self) -> int:
    # Once: a pass through the backbone takes as long as many answers, and `begin` comes often.
    shape = example_arrays.shape(self.transform)
    if self._delivery == deliveries.EPISODES and len(shape) == 3:
      shape = (*shape[:2], self._channels)
    found = self.encode(tf.zeros([1, *shape], example_arrays.dtype(self.transform))).shape
    if found.rank != 2:
      raise ValueError(f"Features of examples {shape} have shape {found}; a function to [B, D] is "
                       "expected. Flatten or pool them.")
    return int(found[1])

  @property
  def statistics(self) -> statistic_lib.Running:
    """The statistics of the task that began last."""
    if not self._key:
      raise RuntimeError("No task has begun; call begin(task, context) first.")
    return self._by_key[self._key]

  @override
  @spending.event
  def learn(
      self, experience: deliveries.Experience, context: context_lib.Context
  ) -> dict[str, Any]:
    """Adds both splits; then inverts.

    Within a budget it adds a random part of them, or nothing at all. What a choice is made on is
    added in full.
    """
    if context.is_over:
      return {"classes_with_a_mean": self.statistics.num_nonempty, "trained_on": 0}
    self._measure(experience.train, context)
    dev = experience.dev if self._statistic.chooses else None
    alone = dev is not None or context.delivery == deliveries.SEQUENCE
    parts = [experience.train] if alone else experience.fitted
    total = sum(part.size for part in parts)
    granted = context.grant(total)
    if granted < total:
      places = np.sort(context.seeds.generator("within the budget").permutation(total)[:granted])
      ends = np.cumsum([part.size for part in parts])
      rows = [places[(places >= end - part.size) & (places < end)] - (end - part.size)
              for part, end in zip(parts, ends)]
      parts = [part.subset(some) for part, some in zip(parts, rows) if len(some)]
    record: dict[str, Any] = {} if context.steps is None else {"trained_on": granted}
    self._add(parts, context)
    if dev is not None:
      self._add([dev], context, choose=True)
      record = {**record, **self.statistics.chosen()}
    if self._statistic.has_phases:
      added = np.concatenate([part.labels for part in parts])
      classes = np.unique(added) if added.ndim == 1 else None
      record = {**record, **self._solve(context, classes)}
    return {"classes_with_a_mean": self.statistics.num_nonempty, **record}

  def _measure(self, train: examples.ExampleSet, context: context_lib.Context) -> None:
    """Measures the variance of features if the lift asks for it."""
    lift = self._lift
    if not isinstance(lift, RandomFourier) or lift.is_measured:
      return
    some = train.take(min(train.size, _MEASURED), seed=context.seeds.integer("measured"))
    found = scoring.extract(self._features, some, transform=self.transform, context=context,
                            batch_size=self._batch_size)
    # Of a mean, and of squares.
    context.charge(flops.Cost(3 * some.size * lift.width, 0))
    lift.variance.assign(np.var(found.values))

  def _forward_in(self, context: context_lib.Context) -> scoring.Forward:
    """`encode`, compiled once, or once for each task."""
    key = self._key if self._encodes_by_task else ""
    if self._forward is None or self._forward_key != key:
      self._forward, self._forward_key = scoring.Forward(self.encode, context.distribution), key
    return self._forward

  def _add(self, parts: Sequence[examples.ExampleSet], context: context_lib.Context, *,
           choose: bool = False) -> None:
    """Adds sets as one, which before that chooses settings if that is asked for."""
    values, labels = scoring.extract_all(
        self.encode, parts, transform=self.transform, batch_size=self._batch_size, context=context,
        forward=self._forward_in(context))
    began, cost = time.monotonic(), flops.ZERO
    if choose:
      cost += self.statistics.choose(values, labels)
    cost += self.statistics.add_set(values, labels)
    context.charge(cost, began=began)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of prepared examples."""
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns codes [B, D] of prepared examples; learning does not change them."""
    if (self._delivery == deliveries.EPISODES and len(images.shape) == 4
        and images.shape[-1] != self._channels):
      raise ValueError(
          f"Images have {images.shape[-1]} channels, but the learner was made for "
          f"{self._channels}. Set its channels = {images.shape[-1]}.")
    found = self._features(images)
    return found if self._lift is None else self._lift(found)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; -inf for classes without a sample."""
    return self.statistics.answer(codes)

  @override
  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds codes [B, D] with labels int64 [B], in their order."""
    self.statistics.add(codes, labels)

  @override
  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of codes [B, D]; label t of int64 [B] is revealed after answer t."""
    return self.statistics.answer_in_turn(codes, labels)

  @override
  @spending.event
  def learn_stored(
      self, stored: deliveries.Stored, context: context_lib.Context) -> dict[str, Any]:
    """Inverts with all labels so far, if the budget covers it.

    A statistic of whole sets first adds those that are new.
    """
    codes, labels = stored.codes[stored.num_old:], stored.labels[stored.num_old:]
    record: dict[str, Any] = {}
    if not context.is_over:
      context.grant(1)
      if self._statistic.sets_only and len(labels):
        began, cost = time.monotonic(), self.statistics.add_set(codes, labels)
        context.charge(cost, began=began)
      record = self._solve(context)
    return {"passes": 0, **record}

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    """Returns the MACs of an inversion, which do not depend on the number of samples."""
    del num_stored
    return self.statistics.solve_cost().macs if self._statistic.has_phases else None

  @override
  def mac_layers(self) -> learner.Layers:
    """Returns the layers of the backbone, and the statistics as a layer.

    MACs of labels and inversions are in the ledger only: the views count products with weights and
    their gradients.
    """
    lifted = [mac_views.Layer("lift", self._lift.width * self._lift.size, trained=False)
              ] if isinstance(self._lift, (RandomRelu, RandomFourier)) else []
    return ([*frozen_backbone.layers(self._features), *lifted],
            [mac_views.Layer("statistics", self.statistics.answer_macs, trained=False)])

  @override
  def initial_state(self, num_classes: int) -> statistic_lib.State:
    """Returns the state of an episode before its first support set."""
    return self._statistic.episode_zero(num_classes, self._num_features)

  @override
  def adapt(self, state: statistic_lib.State, codes: tf.Tensor, labels: tf.Tensor
            ) -> statistic_lib.State:
    """Returns the state after one more support set, codes [B, D] and labels [B]."""
    return self._statistic.add(state, codes, labels)

  @override
  def logits(self, state: statistic_lib.State, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, W] of codes [B, D]."""
    return self._statistic.answers(state, codes)

  def _solve(self, context: context_lib.Context, classes: np.ndarray | None = None
             ) -> dict[str, Any]:
    """Solves, for classes [U] with new samples (None: all), and returns what records say of it."""
    start, cost = time.monotonic(), self.statistics.solve_cost(classes)
    if not rehearsal.counts_only():
      rehearsal.save(self.statistics, functools.partial(self.statistics.solve_compiled, classes))
    found = self.statistics.factorization
    cost *= max(found.attempts, 1)
    context.charge(cost, began=start)
    return found.record()


class RandomRelu:
  """Features [B, D] to max(0, features W), [B, M], W random and never trained (RanPAC).

  McDonnell et al., 2023: products of features that one linear layer cannot see become visible to
  it. W is [D, M], of independent random numbers, a pure function of the seed and D. Their scale
  decides what the strength of a ridge regression on them means: (c X)^T (c X) + l I is c^2 times
  X^T X + l / c^2 I.

  Args:
    size: M.
    seed: of W.
    weights: "normal", standard normal numbers, as RanPAC's; or "uniform", between -1 / sqrt(D) and
      1 / sqrt(D), as a linear layer of PyTorch begins, and so the buffer of ACIL's authors
      (`RandomBuffer`, convs/ACL_buffer.py of github.com/LAMDA-CL/PyCIL at f3509b8). Their variance
      is 3 D times smaller.
  """

  def __init__(self, size: int = 10000, seed: int = 0, weights: str = "normal"):
    if size < 1:
      raise ValueError(f"RandomRelu.size is {size}; it must be at least 1.")
    if weights not in RELU_WEIGHTS:
      raise ValueError(
          f"RandomRelu.weights is {weights!r}; allowed are {', '.join(RELU_WEIGHTS)}.")
    self.size, self._seed, self.width, self._drawn = int(size), seed, 0, weights
    self._weights = tf.zeros([0, self.size])

  @property
  def weights(self) -> list[tf.Tensor]:
    """[W]."""
    return [self._weights]

  def __call__(self, features: tf.Tensor) -> tf.Tensor:
    if self.width != features.shape[-1]:
      self.width = int(features.shape[-1])
      shape, seed, limit = [self.width, self.size], [self._seed, self.width], self.width ** -0.5
      with tf.init_scope():  # Once, outside of any graph.
        self._weights = (
            tf.random.stateless_normal(shape, seed=seed) if self._drawn == "normal" else
            tf.random.stateless_uniform(shape, seed=seed, minval=-limit, maxval=limit))
    return tf.nn.relu(tf.matmul(features, self._weights))


class RandomFourier(tf.Module):
  """Features [B, D] to sqrt(2 / M) cos(features W + b), [B, M], never trained (RanDumb).

  Products of these codes are about exp(-g |x - x'|^2) for features x and x' (Rahimi & Recht, 2007):
  linear methods on them see what a kernel sees (Prabhu et al., 2024). W is [D, M], of independent
  normal numbers with variance 2 g, and b is uniform from 0 to 2 pi; both are pure functions of the
  seed and D.

  Args:
    size: M; the paper's 25,000. A covariance of these has 2.5 GB, and is inverted in float64.
    gamma: g; "scale": 1 / (D v), with the variance v of all features, as scikit-learn has it and
      the authors take it (src/main.py of github.com/drimpossible/RanDumb at 14a51ee). Their v is
      measured on all data; here a learner measures it on the first examples it learns, and until
      then, and within episodes, it is 1. Pixels between 0 and 1 have a variance of about 0.1.
    seed: of W and b.

  Attributes:
    variance: v; -1 until it is measured.
  """

  def __init__(self, size: int = 25000, gamma: float | str = SCALE, seed: int = 0):
    super().__init__()
    if size < 1 or (gamma != SCALE and (isinstance(gamma, str) or not gamma > 0.0)):
      raise ValueError(f"RandomFourier.size is {size} and gamma {gamma!r}; size must be at least "
                       f"1, and gamma above 0 or {SCALE!r}.")
    self.size, self._gamma, self._seed, self.width = int(size), gamma, seed, 0
    self._weights, self._phases = tf.zeros([0, self.size]), tf.zeros([self.size])
    self.variance = tf.Variable(-1.0, trainable=False, name="variance")

  @property
  def weights(self) -> list[tf.Tensor]:
    """[W, b]."""
    return [self._weights, self._phases]

  @property
  def is_measured(self) -> bool:
    """Whether g is known."""
    return self._gamma != SCALE or float(self.variance) >= 0.0

  def __call__(self, features: tf.Tensor) -> tf.Tensor:
    if self.width != features.shape[-1]:
      self.width = int(features.shape[-1])
      gamma = 1.0 / self.width if isinstance(self._gamma, str) else self._gamma
      with tf.init_scope():  # Once, outside of any graph.
        self._weights = (2.0 * gamma) ** 0.5 * tf.random.stateless_normal(
            [self.width, self.size], seed=[self._seed, self.width])
        # Another seed: numbers of one seed would not be independent of the weights.
        self._phases = tf.random.stateless_uniform(
            [self.size], seed=[self._seed, -self.width], maxval=2.0 * math.pi)
    weights = self._weights
    if self._gamma == SCALE:
      weights *= tf.math.rsqrt(tf.where(self.variance > 0.0, self.variance, 1.0))
    return (2.0 / self.size) ** 0.5 * tf.cos(tf.matmul(features, weights) + self._phases)


class Tukey:
  """Features [B, D] to their powers, divided by their lengths if asked for (FeCAM).

  Tukey's transform, z^p, makes features of a ReLU less skewed (Goswami et al., 2023, section 4.2).
  A negative feature keeps its sign.

  Args:
    power: p; the paper's 0.5. 1, lengths alone, is what their code takes for transformers.
    unit: whether powers are divided by their lengths; their code for ResNets compares directions
      instead (`ClassCovariances.power`).
  """

  def __init__(self, power: float = 0.5, unit: bool = True):
    if not power > 0.0:
      raise ValueError(f"Tukey.power is {power}; it must be above 0.")
    self._power, self._unit = power, unit

  def __call__(self, features: tf.Tensor) -> tf.Tensor:
    powers = tf.sign(features) * tf.abs(features) ** self._power
    return unit_length(powers) if self._unit else powers


def unit_length(features: tf.Tensor) -> tf.Tensor:
  """Returns features [B, D] divided by their lengths, so that one strength fits any scale."""
  return tf.math.l2_normalize(features, axis=1)

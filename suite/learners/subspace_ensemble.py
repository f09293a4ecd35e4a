# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""EASE: adapters for each phase, whose features are subspaces (Zhou et al., 2024).

Phase t trains adapters in the frozen net, from new weights, with a head that is not used again;
they are kept. An image then has a feature f_s(x) in each subspace s so far, and a class c a
prototype P[c, s], its mean feature. Without examples of an old class o, its prototype in the new
subspace t is made of those of the classes n that came with t (section 3.3):

  P[o, t] = sum over n of softmax_n(cos(P[o, b], P[n, b])) P[n, t]       b the subspace of o

The authors' code does this again for all subspaces s > b when classes come, with all classes n that
came with s or later, whose P[n, s] are means (`recalc_sim`, models/ease.py and exps/ease.json of
github.com/sun-hailong/LAMDA-PILOT at 2647455).

Answers are cosines, that of the subspace b that the class came with before all others:

  logit_c = cos(f_b(x), P[c, b]) + share * mean over s != b of cos(f_s(x), P[c, s])

(equation 10; the mean, where the paper has the sum, is the authors' code.) An image passes the net
once for each subspace, which is charged. A class that comes again has the prototypes, and the
subspace, of its latest phase.

C classes, T subspaces at most, t so far, D features.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import spending
from suite.contracts import tasks
from suite.learners import gradient
from suite.learners import learner_each_task
from suite.models import vit_hooks
from suite.state import context as context_lib
from suite.training.gradient import hooked_vit
from suite.training.scoring import scoring

_UNKNOWN = -1


class SubspaceEnsemble(learner.Learner):
  """An ensemble of adapters; see the module.

  Args:
    tuned: trains the adapters of a phase; its net is a `HookedVit` of `vit_hooks.Adapters`, and
      `reset` is set.
    transform: image preparation of prototypes; that of `tuned` may augment.
    subspaces: T; a phase beyond trains nothing, and its classes have prototypes in all subspaces.
    share: weight of the other subspaces.
    recalculate: whether prototypes of old classes are made again for all subspaces; else those in
      the newest one, once, as in the paper.
    batch_size: images whose features are computed at once in `learn`.
  """

  deliveries = (deliveries_lib.TASKS, deliveries_lib.BUCKETS)
  shares_updates = keeps_budget = True

  def __init__(self, tuned: gradient.GradientLearner, *, transform: examples.Transform,
               subspaces: int = 10, share: float = 0.1, recalculate: bool = True,
               batch_size: int = 256):
    super().__init__()
    if not isinstance(tuned.net, hooked_vit.HookedVit) or not tuned.resets:
      raise ValueError("SubspaceEnsemble.tuned trains new adapters in each phase; give it a "
                       "HookedVit with vit_hooks.Adapters, and reset=True.")
    if subspaces < 1:
      raise ValueError(f"SubspaceEnsemble.subspaces is {subspaces}; it must be at least 1.")
    self.tuned, self.transform = tuned, transform
    self._most, self._share, self._batch_size = subspaces, share, batch_size
    self._recalculates = recalculate
    self._task: tasks.Task | None = None

  @override
  def form(self, delivery: str) -> learner.BaseLearner:
    """Returns a learner for each task where tasks are separate; else this one."""
    return learner_each_task.of(self) if delivery == deliveries_lib.TASKS else self

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    self.tuned.begin(task, context)  # Refuses another task.
    if self._task is not None:
      return
    upper: Any = self.tuned.composed.upper
    layer = upper.layers[-1]
    if not isinstance(layer, vit_hooks.Adapters):
      raise ValueError(f"SubspaceEnsemble.tuned trains {type(layer).__name__}; its HookedVit must "
                       "have vit_hooks.Adapters.")
    self._layer = lambda: layer  # A variable of `tuned`: the state has it once.
    self.adapters = [tf.Variable(tf.zeros([self._most, *w.shape]), trainable=False, name="adapters")
                     for w in layer.weights]
    self.prototypes = tf.Variable(
        tf.zeros([task.num_classes, self._most, upper.output_shape[-1]]), trainable=False,
        name="prototypes")
    self.subspace = tf.Variable(
        np.full([task.num_classes], _UNKNOWN, np.int64), trainable=False, name="subspaces")
    self.num_subspaces = tf.Variable(0, dtype=tf.int64, trainable=False, name="num_subspaces")
    self._task = task

  @override
  @spending.event
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Trains and keeps the adapters of the phase; then makes prototypes."""
    if context.is_over:
      return dict(gradient.UNTRAINED)
    num, record = int(self.num_subspaces), {}
    adds = num < self._most
    if adds:
      record = self.tuned.learn(experience, context)
      for kept, weight in zip(self.adapters, self._layer().weights):
        kept[num].assign(weight)
      num += 1
      self.num_subspaces.assign(num)
    else:
      context.grant(1)
    values, labels = scoring.extract_all(
        self._features, experience.fitted, transform=self.transform, batch_size=self._batch_size,
        context=context)
    began, (count, width) = time.monotonic(), values.shape[1:]
    means, now = class_means(values, labels, experience.task.num_classes)
    prototypes, subspace = self.prototypes.numpy(), self.subspace.numpy()
    prototypes[now, :num], subspace[now], macs = means[now], num - 1, 0
    for s in range(1 if self._recalculates else num - adds, num):
      old, later = (subspace != _UNKNOWN) & (subspace < s), subspace >= s
      if later.any():
        prototypes[old, s] = completed(prototypes, subspace, old, later, s)
        macs += 2 * int(old.sum()) * int(later.sum()) * width  # Cosines, and weighted sums.
    self.prototypes.assign(prototypes)
    self.subspace.assign(subspace)
    cost = flops.Cost(len(labels) * count * width + 2 * macs, macs)
    context.charge(cost, began=began)
    return {**record, "subspaces": num, "classes_with_a_mean": int((subspace != _UNKNOWN).sum())}

  @tf.autograph.experimental.do_not_convert
  def _features(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, t, D] of images in all subspaces so far."""
    layer = self._layer()
    return tf.stack([layer.features(images, [kept[s] for kept in self.adapters])
                     for s in range(self._num())], axis=1)

  def _num(self) -> int:
    with tf.init_scope():  # A graph has the subspaces of its time.
      return int(self.num_subspaces)

  @override
  @tf.autograph.experimental.do_not_convert
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    num = self._num()
    if not num:
      raise RuntimeError("SubspaceEnsemble has no subspace yet; call learn first.")
    shares = weights_of(self.subspace, num, self._share)
    features = tf.math.l2_normalize(self._features(images), axis=2)
    prototypes = tf.math.l2_normalize(self.prototypes[:, :num], axis=2)
    logits = tf.add_n([shares[:, s] * tf.matmul(features[:, s], prototypes[:, s], transpose_b=True)
                       for s in range(num)])
    return tf.where(self.subspace != _UNKNOWN, logits, -float("inf"))


def weights_of(subspace: tf.Tensor, num: int, share: float) -> tf.Tensor:
  """Weights [C, t] of cosines in `num` subspaces, for classes that came with `subspace` [C]."""
  own = tf.one_hot(subspace, num)
  return own + (1.0 - own) * (share / max(num - 1, 1))


def class_means(features: np.ndarray, labels: np.ndarray, num_classes: int
                ) -> tuple[np.ndarray, np.ndarray]:
  """Means [C, t, D] of features [N, t, D] by labels [N], or multi-hot [N, C]; the classes, [C]."""
  is_class = labels > 0 if labels.ndim == 2 else labels[:, None] == np.arange(num_classes)
  counts = is_class.sum(axis=0)
  sums = np.tensordot(is_class.astype(np.float64), features, axes=(0, 0))
  return (sums / np.maximum(counts, 1)[:, None, None]).astype(np.float32), counts > 0


def completed(prototypes: np.ndarray, subspace: np.ndarray, old: np.ndarray, later: np.ndarray,
              newer: int) -> np.ndarray:
  """Prototypes [O, D] of O old classes in a newer subspace than theirs; see the module.

  Args:
    prototypes: [C, T, D]. subspace: [C]. old, later: bool [C].
  """
  directions = prototypes / np.maximum(np.linalg.norm(prototypes, axis=2, keepdims=True), 1e-12)
  found = np.zeros([int(old.sum()), prototypes.shape[2]], prototypes.dtype)
  for place, (o, b) in enumerate(zip(np.flatnonzero(old), subspace[old])):
    similarities = np.exp(directions[later, b] @ directions[o, b])
    found[place] = similarities / similarities.sum() @ prototypes[later, newer]
  return found

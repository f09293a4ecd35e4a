# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""k-nearest-neighbor classification of features, by brute force with scikit-learn.

NEVIS'22 compares past models so (FT-d), and a pretraining without labels is judged by it: no head
is trained, so that only the features count.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
import functools
from typing import Any

import numpy as np
import tensorflow as tf
import threadpoolctl

from suite.compute import flops
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.metrics import classification
from suite.state import context as context_lib
from suite.training.scoring import scoring


def fitted(train: scoring.Outputs, k: int, metric: str = "minkowski") -> Any:
  """scikit-learn's classifier by the k nearest of N features [N, D], of uniform weight.

  All N are taken if k > N.
  """
  from sklearn import neighbors  # Here, because few runs need it.

  found = neighbors.KNeighborsClassifier(
      n_neighbors=min(k, len(train.ids)), algorithm="brute", metric=metric)
  return found.fit(finite(train.values), train.labels)


def macs(train: scoring.Outputs, queries: scoring.Outputs) -> int:
  """Multiply-adds of a brute-force search: every query with every feature once."""
  return len(train.ids) * len(queries.ids) * train.values.shape[1]


@contextlib.contextmanager
def one_thread() -> Iterator[None]:
  """Searches with one thread, as which of two equally distant neighbors is found depends on it.

  And threads that wait spin: where processes share cores, a search of 3 ms takes 0.4 s.
  """
  with _threads().limit(limits=1, user_api="openmp"):
    yield


@functools.cache  # Looks at every library of the process; scikit-learn is one by now.
def _threads() -> threadpoolctl.ThreadpoolController:
  return threadpoolctl.ThreadpoolController()


def finite(features: np.ndarray) -> np.ndarray:
  """Returns float32 features without NaN and infinity, so a diverged backbone loses, not raises."""
  return np.nan_to_num(features.astype(np.float32), nan=0.0, posinf=0.0, neginf=0.0)


class NeighborAccuracy:
  """kNN accuracy of an encoder: cosine, k neighbors of uniform weight.

  Args:
    train, held_out: sets of labeled images, of the same classes; of `train` at most `max_train`
      images are taken, of `held_out` half as many.
    k: the number of neighbors.
    seed: of the images that are taken.
    max_train: the most images that are searched.
  """

  def __init__(self, train: examples.ExampleSet, held_out: examples.ExampleSet, *, k: int,
               seed: int, max_train: int = 10_000):
    for images in (train, held_out):
      if images.kind != tasks.SINGLE_LABEL:
        raise ValueError(f"{images.name!r} is {images.kind}; the kNN accuracy is of "
                         f"{tasks.SINGLE_LABEL} images. Leave knn_share at 0.")
    if k < 1:
      raise ValueError(f"k is {k}; the nearest neighbors are at least 1.")
    self._train = train.take(max_train, seed=seed)
    self._held_out = held_out.take(max_train // 2, seed=seed)
    self._k = k
    self._forward: scoring.Forward | None = None
    self._ready: dict[Any, list[scoring.ReadySet]] = {}  # Of the latest transform and batch size.

  def of(self, encoder: tf.keras.Model, transform: examples.Transform,
         context: context_lib.Context, batch_size: int = 128) -> float:
    """Returns the accuracy, in [0, 1]; costs are charged to "validate".

    Args:
      encoder: images [B, S, S, 3] to features [B, D]; the same in every call.
      transform: prepares the images, as for answers.
      context: of the event.
      batch_size: B.
    """
    forward, sets = self._prepared(encoder, transform, context, batch_size)
    train, queries = (
        ready.run(forward, ledger=context.ledger, phase="validate") for ready in sets)
    num = macs(train, queries)
    context.charge(flops.Cost(2 * num, num), phase="validate")
    if rehearsal.counts_only():  # Features are blank.
      return 0.0
    with one_thread():
      found = fitted(train, self._k, "cosine").predict(finite(queries.values))
    return 1.0 - classification.error(int(np.sum(found == queries.labels)), len(queries.labels))

  def _prepared(self, encoder: tf.keras.Model, transform: examples.Transform,
                context: context_lib.Context, batch_size: int
                ) -> tuple[scoring.Forward, list[scoring.ReadySet]]:
    if self._forward is None:
      self._forward = scoring.Forward(
          lambda images: encoder(images, training=False), context.distribution)
    if (transform, batch_size) not in self._ready:
      self._ready = {(transform, batch_size): [
          scoring.ReadySet(images, transform=transform, batch_size=batch_size)
          for images in (self._train, self._held_out)]}
    return self._forward, self._ready[transform, batch_size]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weight imprinting (Qi et al., 2018) on a sequence, as Wallingford et al. (2020) run it.

At first each class has the direction of its samples as its row of a cosine head, from its first
sample on. After some offline phases, in which nothing is trained, the rows are left to
cross-entropy on all that is stored; a class that comes later begins at zero and waits for the next
offline phase.
"""

from __future__ import annotations

from typing import Any, Dict, Optional

import numpy as np
import tensorflow as tf

from suite.data import tasks
from suite.learners import stream_tuner
from suite.training import context as context_lib
from suite.training import stored_samples
from suite.training import stream_heads


class WeightImprinting(stream_tuner.StreamTuner):
  """An `InstanceLearner` at first, then an `OfflineLearner`, on frozen features.

  Args:
    imprint_phases: offline phases that train nothing; the last of them is the end of imprinting.
      The paper imprints for 10,000 samples with a phase every 5,000: 2. (Its code then trains at
      15,000 for the first time; so does this.)
    scale: the first scale of logits, which is trained, too.
    **settings: of `StreamTuner`, without `head`.
  """

  def __init__(self, *, imprint_phases: int = 2, scale: float = 4.0, **settings: Any):
    super().__init__(head=stream_heads.Imprinted(scale), **settings)
    if imprint_phases < 1:
      raise ValueError(f"imprint_phases is {imprint_phases}; it must be at least 1. To train from "
                       "the first offline phase on take StreamTuner.")
    self._imprint_phases = imprint_phases

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    is_new = not self._built
    super().begin(task, context)
    if is_new:
      if self.network.trained:
        raise ValueError("WeightImprinting is given a network that is trained; its means would be "
                         "of features that are no more. Take stream_nets.HeadOnly.")
      self.phases = tf.Variable(0, trainable=False, name="phases")

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Imprints codes [B, D] on the rows of their classes, int64 [B]."""
    self.head.imprint(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.head.logits_in_turn(codes, labels)

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> Dict[str, Any]:
    """An offline phase: nothing at first, then training."""
    is_early = self._is_early()
    self.phases.assign_add(1)
    if not is_early:
      return super().learn_stored(stored, context)
    if not self._is_early():
      self.head.close()
    return {"passes": 0, "imprinting": True}

  def stored_macs(self, num_stored: int) -> Optional[int]:
    return 0 if self._is_early() else super().stored_macs(num_stored)

  def _is_early(self) -> bool:
    return int(self.phases) < self._imprint_phases

  def _learn_base(self, features: np.ndarray, labels: np.ndarray, context: context_lib.Context
                  ) -> Dict[str, Any]:
    """The base classes are imprinted, too, whatever follows."""
    self.head.imprint(tf.constant(features), tf.constant(labels))
    # Four operations a feature make it a direction, a fifth adds it.
    context.ledger.charge(context.phase, flops=5 * features.size, macs=0)
    return {"classes_with_a_row": int(np.count_nonzero(np.bincount(labels)))}

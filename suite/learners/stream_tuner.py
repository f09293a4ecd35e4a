# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cross-entropy on all that a sequence has shown, now and then (Wallingford et al., 2020).

What is trained (`trainable_parts.py`) times how the head is (`sequence_heads.py`):

    fine-tuning          HeadOnly     Linear
    last layers          LastLayers   Linear
    standard training    Whole        Linear
    split head           HeadOnly     Split
    weight imprinting    HeadOnly     Imprinted, in a class of its own

The softmax is over known classes only. The base classes train the head alone, before the first
sample of the sequence, on features of the network as it is: it was pretrained on them elsewhere.
"""

from __future__ import annotations

import time
from typing import Any, Dict, List, Optional, Tuple

import numpy as np
import tensorflow as tf

from suite.compute import mac_views
from suite.compute import seeds as seeds_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import sgd
from suite.training.scoring import scoring
from suite.training.sequence import sequence_heads
from suite.training.sequence import stored_epochs


class StreamTuner(tf.Module):
  """An `OfflineLearner` for one sequence, and for base classes before it.

  SGD keeps its velocities from one offline phase to the next; only the base classes' are forgotten.

  Args:
    transform: image preparation; its `size` is H = W. Its `train` augments where the whole network
      is trained.
    network: see `trainable_parts`.
    head: see `sequence_heads`; `Linear()` if not given.
    learning_rate: of offline phases. The paper: 0.1 on frozen features, 0.01 for whole networks.
    momentum, weight_decay: as PyTorch's SGD has them. The paper's momentum is 0.9; a weight decay
      of 1e-4 is the default of the authors' code.
    epochs: passes over what is stored in each offline phase; the paper's 4.
    batch_size: of offline phases and feature extraction.
    base_learning_rate, base_epochs: of the head on base classes; the paper takes the head that the
      network was pretrained with.
  """

  def __init__(self, *, transform: Any, network: Any, head: Any = None,
               learning_rate: float = 0.1, momentum: float = 0.9, weight_decay: float = 1e-4,
               epochs: int = 4, batch_size: int = 256, base_learning_rate: float = 0.1,
               base_epochs: int = 20):
    super().__init__()
    self.transform = transform
    self.network, self.head = network, sequence_heads.Linear() if head is None else head
    self._rate, self._base_rate = learning_rate, base_learning_rate
    self._momentum, self._weight_decay = momentum, weight_decay
    self._num_epochs, self._base_epochs = epochs, base_epochs
    self._batch_size, self._built = batch_size, False

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; a softmax has one class an image. Take "
                       f"{tasks.SINGLE_LABEL} tasks.")
    if self._built:
      return
    size = self.transform.size
    self.network.begin(self.transform)
    codes = self.encode(tf.zeros([1, size, size, 3], tf.uint8))
    features = self.network.features(codes, False)
    self.head.begin(int(features.shape[1]), task.num_classes)
    self.optimizer = sgd.Sgd([*self.network.trained, *self.head.trained], momentum=self._momentum,
                             weight_decay=self._weight_decay)
    # Of the run, not of the event: a run that goes on begins in another event.
    seed = context.seeds.seed
    self.epochs = stored_epochs.StoredEpochs(
        self._step, _one(codes), task.num_classes, batch_size=self._batch_size,
        seed=seeds_lib.derive(seed, "offline phases"))
    self.base_epochs = stored_epochs.StoredEpochs(
        self._head_step, _one(features), task.num_classes, batch_size=self._batch_size,
        seed=seeds_lib.derive(seed, "base classes"))
    self._built = True

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    """The head of the base classes, from features of their training split."""
    outputs = scoring.Forward(
        lambda images: self.network.features(self.encode(images), False),
        context.distribution).run(experience.train, transform=self.transform,
                                  batch_size=self._batch_size, ledger=context.ledger,
                                  phase=context.phase)
    return self._learn_base(outputs.values, outputs.labels.astype(np.int64), context)

  def _learn_base(self, features: np.ndarray, labels: np.ndarray, context: context_lib.Context
                  ) -> Dict[str, Any]:
    known = np.bincount(labels, minlength=self.num_classes) > 0
    record = self._train(self.base_epochs, self._base_epochs, features, labels, known, context)
    self.head.after_base(known)
    self.optimizer.reset()
    return record

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of images [B, H, W, 3]: what nothing after `learn` changes."""
    return self.network.encode(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...]."""
    return self.head.logits(self.network.features(codes, False))

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> Dict[str, Any]:
    """An offline phase."""
    record = self._train(
        self.epochs, self._num_epochs, stored.codes, stored.labels, stored.known, context)
    return {"passes": record["examples"], **record}

  def stored_macs(self, num_stored: int) -> Optional[int]:
    """MACs of an offline phase over so many samples."""
    backbone, head = self.mac_layers()
    each = mac_views.costs([*backbone, *head]).cached_pass
    return each * self._num_epochs * num_stored

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """Layers of the network and of the head."""
    return self.network.layers(), self.head.layers()

  @property
  def num_classes(self) -> int:
    """C."""
    return self.epochs.num_classes

  def _train(self, epochs: stored_epochs.StoredEpochs, num_epochs: int, codes: np.ndarray,
             labels: np.ndarray, known: np.ndarray, context: context_lib.Context
             ) -> Dict[str, Any]:
    """Trains and charges."""
    began, num = time.monotonic(), len(labels)
    loss = epochs.run(codes, labels, known, num_epochs)
    cost, examples = epochs.cost(num, num_epochs), num_epochs * num
    steps = epochs.num_steps(num, num_epochs)
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, examples=examples,
                          steps=steps, seconds=time.monotonic() - began)
    return {"examples": examples, "steps": steps, "train_loss": loss}

  def _step(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor, seeds: tf.Tensor
            ) -> tf.Tensor:
    """One step on codes [B, ...] of all that is trained; returns its loss before the step."""
    codes = self.network.prepare(codes, seeds)
    variables = [*self.network.trained, *self.head.trained]
    with tf.GradientTape() as tape:
      logits = self.head.logits(self.network.features(codes, True))
      loss = stored_epochs.masked_cross_entropy(labels, logits, known)
    self.optimizer.apply(tape.gradient(loss, variables), variables, tf.constant(self._rate))
    return loss

  def _head_step(self, features: tf.Tensor, labels: tf.Tensor, known: tf.Tensor, seeds: tf.Tensor
                 ) -> tf.Tensor:
    """The same of the head alone, on features [B, D]."""
    del seeds
    variables = self.head.trained
    with tf.GradientTape() as tape:
      loss = stored_epochs.masked_cross_entropy(labels, self.head.logits(features), known)
    self.optimizer.apply(tape.gradient(loss, variables), variables, tf.constant(self._base_rate))
    return loss


class WeightImprinting(StreamTuner):
  """Weight imprinting (Qi et al., 2018) as Wallingford et al. (2020) run it, on frozen features.

  At first each class has the direction of its samples as its row of a cosine head, from its first
  sample on: an `InstanceLearner`. After some offline phases, in which nothing is trained, the rows
  are left to cross-entropy on all that is stored; a class that comes later begins at zero and
  waits for the next offline phase.

  Args:
    imprint_phases: offline phases that train nothing; the last of them is the end of imprinting.
      The paper imprints for 10,000 samples with a phase every 5,000: 2. (Its code then trains at
      15,000 for the first time; so does this.)
    scale: the first scale of logits, which is trained, too.
    **settings: of `StreamTuner`, without `head`.
  """

  def __init__(self, *, imprint_phases: int = 2, scale: float = 4.0, **settings: Any):
    super().__init__(head=sequence_heads.Imprinted(scale), **settings)
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
                         "of features that are no more. Take trainable_parts.HeadOnly.")
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


def _one(batch: tf.Tensor) -> tf.TensorSpec:
  """The shape and type of one row."""
  return tf.TensorSpec(batch.shape[1:], batch.dtype)

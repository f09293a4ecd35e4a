# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exemplar Tuning (Wallingford et al., 2020, section 4): class centroids with learned residuals.

    logit of class c for features f    (m_c + r_c) . f      m_c = mean of f_i / |f_i| over class c

The centroids m are there from the first sample of a class and move with every sample; the residuals
r, zeros at first, are trained by cross-entropy on what is stored, now and then (`tune`). During
that the centroids stay. Features are frozen; f itself is not divided by its length, as in the
paper's equation 1, and the softmax is over all classes that have a sample, the right one included
(the sum that is printed there leaves it out).

The authors' code has no Exemplar Tuning; this is made from the paper.
"""

from __future__ import annotations

import time
from typing import Any, Callable, Dict, List, Optional, Tuple

import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import row_costs
from suite.compute import seeds as seeds_lib
from suite.contracts import stored_samples
from suite.contracts import tasks
from suite.state import context as context_lib
from suite.training.gradient import sgd
from suite.training.memories import draws
from suite.training.scoring import scoring
from suite.training.sequence import frozen_backbone
from suite.training.sequence import running_centroids

_ORDER = 30  # The purpose of its draws.


class ExemplarTuning(tf.Module):
  """An `InstanceLearner` and `OfflineLearner` for one sequence, and for base classes before it.

  Args:
    transform: image preparation; its `size` is H = W.
    features: images [B, H, W, 3] to features [B, D]; it never changes.
    learning_rate: of the residuals, plain SGD.
    momentum: of the same; it is kept from one offline phase to the next.
    weight_decay: added to the gradient, times the residuals.
    epochs: passes over what is stored in each offline phase; the paper's 4.
    batch_size: of offline phases and feature extraction.
  """

  def __init__(self, *, transform: Any, features: Callable[[tf.Tensor], tf.Tensor],
               learning_rate: float = 0.1, momentum: float = 0.9, weight_decay: float = 0.0,
               epochs: int = 4, batch_size: int = 256):
    super().__init__()
    self.transform = transform
    self._features, self._batch_size, self._epochs = features, batch_size, epochs
    self._learning_rate, self._momentum = learning_rate, momentum
    self._weight_decay = weight_decay
    self._built = False
    self._step_costs = row_costs.RowCosts(self._step_cost)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(f"Task {task.key} is {task.kind}; Exemplar Tuning has one class an image. "
                       f"Take {tasks.SINGLE_LABEL} tasks.")
    if self._built:
      return
    size = self.transform.size
    num_features = self._features(tf.zeros([1, size, size, 3], tf.uint8)).shape[1]
    shape = [task.num_classes, num_features]
    # Of the run, not of the event: a run that goes on begins in another event.
    self._seed = seeds_lib.derive(context.seeds.seed, "exemplar tuning")
    self.centroids = running_centroids.RunningCentroids(
        task.num_classes, num_features, similarity="dot", normalize=True)
    self.residuals = tf.Variable(tf.zeros(shape), trainable=True, name="residuals")
    self._sgd = sgd.Sgd([self.residuals], momentum=self._momentum, weight_decay=self._weight_decay)
    self.epochs_done = tf.Variable(tf.constant(0, tf.int64), trainable=False, name="epochs_done")
    self._tune = tf.function(self._phase, input_signature=[
        tf.TensorSpec([None, num_features]), tf.TensorSpec([None], tf.int64)])
    self._built = True

  def learn(self, experience: Any, context: context_lib.Context) -> Dict[str, Any]:
    """Centroids of the base classes, then one offline phase on their training split."""
    outputs = scoring.Forward(self.encode, context.distribution).run(
        experience.train, transform=self.transform, batch_size=self._batch_size,
        ledger=context.ledger, phase=context.phase)
    codes = tf.cast(outputs.values, tf.float32)
    labels = tf.cast(outputs.labels, tf.int64)
    self.centroids.add(codes, labels)
    record = self.tune(codes, labels)
    # An addition for each feature of a sample, and four to make it a direction.
    cost = self._phase_cost(len(outputs.labels)) + flops.Cost(5 * outputs.values.size, 0)
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs,
                          examples=record["examples"], steps=record["steps"])
    return {"classes_with_a_mean": int(tf.math.count_nonzero(self.centroids.counts)), **record}

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of images [B, H, W, 3]; what was learned plays no part."""
    return self._features(images)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for features [B, D]; -inf for classes without a sample."""
    exemplars = self.centroids.means() + self.residuals
    return tf.matmul(codes, exemplars, transpose_b=True) + self._offset()

  def update(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds the directions of features [B, D] to the centroids of their classes, int64 [B]."""
    self.centroids.add(codes, labels)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] for codes [B, D], label t (of int64 [B]) being revealed after answer t."""
    return self.centroids.answer_in_turn(codes, labels, self.residuals.read_value())

  def learn_stored(
      self, stored: stored_samples.Stored, context: context_lib.Context) -> Dict[str, Any]:
    """An offline phase of the residuals."""
    began, num = time.monotonic(), len(stored.labels)
    record = self.tune(tf.constant(stored.codes), tf.constant(stored.labels))
    cost = self._phase_cost(num)
    context.ledger.charge(context.phase, flops=cost.flops, macs=cost.macs, steps=record["steps"],
                          examples=record["examples"], seconds=time.monotonic() - began)
    return {"passes": record["examples"], "train_loss": record["train_loss"]}

  def stored_macs(self, num_stored: int) -> Optional[int]:
    return self.macs_of(self._epochs * num_stored)

  def mac_layers(self) -> Tuple[List[mac_views.Layer], List[mac_views.Layer]]:
    """Layers of the backbone, and centroids with residuals."""
    macs = self.residuals.shape.num_elements()
    return frozen_backbone.layers(self._features), [mac_views.Layer("exemplars", macs)]

  def tune(self, codes: tf.Tensor, labels: tf.Tensor) -> Dict[str, Any]:
    """One offline phase: trains the residuals on stored codes [N, D], labels int64 [N]."""
    num = int(codes.shape[0])
    if not num:
      raise ValueError("There is nothing to tune on: no sample is stored. Tune after the first "
                       "label is revealed.")
    loss = float(self._tune(codes, labels))
    return {"steps": self._epochs * -(-num // self._batch_size), "examples": self._epochs * num,
            "train_loss": loss}

  def macs_of(self, examples: int) -> int:
    """MACs of an offline phase over stored features: a forward pass and the weights' gradient."""
    return 2 * examples * self.residuals.shape.num_elements()

  def _phase_cost(self, num_stored: int) -> flops.Cost:
    """Of an offline phase over so many features, its last batches being what is left over."""
    whole, rest = divmod(num_stored, self._batch_size)
    return (self._step_costs(self._batch_size) * whole + self._step_costs(rest)) * self._epochs

  def _step_cost(self, rows: int) -> flops.Cost:
    shape = self.residuals.shape
    return flops.count(tf.function(self._step).get_concrete_function(
        tf.TensorSpec([rows, shape[1]]), tf.TensorSpec([rows], tf.int64), tf.TensorSpec(shape),
        tf.TensorSpec(shape[:1])))

  def _offset(self) -> tf.Tensor:
    """0 for classes with a sample, -inf for others, [C]."""
    return tf.where(self.centroids.counts > 0.0, 0.0, -float("inf"))

  def _phase(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns the mean loss of the last epoch."""
    num = tf.size(labels)
    means, offset = self.centroids.means(), self._offset()
    total = tf.constant(0.0)
    for _ in tf.range(self._epochs):
      # Order is a function of the seed and the number of the epoch: a resumed run has the same.
      order = tf.argsort(draws.at(self._seed, _ORDER, self.epochs_done, num), stable=True)
      self.epochs_done.assign_add(1)
      total = tf.constant(0.0)
      for start in tf.range(0, num, self._batch_size):
        chosen = order[start:start + self._batch_size]
        loss = self._step(
            tf.gather(codes, chosen), tf.gather(labels, chosen), means, offset)
        total += loss * tf.cast(tf.size(chosen), tf.float32)
    return total / tf.cast(num, tf.float32)

  def _step(self, codes: tf.Tensor, labels: tf.Tensor, means: tf.Tensor, offset: tf.Tensor
            ) -> tf.Tensor:
    """One step of SGD on a batch; returns its loss before the step."""
    with tf.GradientTape() as tape:
      logits = tf.matmul(codes, means + self.residuals, transpose_b=True) + offset
      loss = tf.reduce_mean(
          tf.nn.sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits))
    self._sgd.apply([tape.gradient(loss, self.residuals)], [self.residuals],
                    tf.constant(self._learning_rate))
    return loss

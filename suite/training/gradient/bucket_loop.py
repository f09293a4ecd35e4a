# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop of learners that go bucket by bucket: thousands of steps in one call.

What is trained on is an array, and a step gathers its rows from it. Penalties are called as
`penalties.penalty` says.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Sequence, Tuple

import tensorflow as tf

from suite.compute import flops
from suite.training.gradient import bucket_plan
from suite.training.gradient import sgd
from suite.training.penalties import agem
from suite.training.penalties import penalty as penalty_lib


class BucketLoop:
  """Trains one model.

  Args:
    model: examples [B, ...] to logits [B, C].
    transform: its `train` augments rows, in the graph.
    penalty: built for the model by the learner, or `penalty.Penalty()`.
    momentum, weight_decay: of `sgd.Sgd`.
  """

  def __init__(self, model: tf.keras.Model, *, transform: Any, penalty: penalty_lib.Penalty,
               momentum: float = 0.9, weight_decay: float = 0.0):
    self.model, self._transform, self._penalty = model, transform, penalty
    self.optimizer = sgd.Sgd(
        model.trainable_variables, momentum=momentum, weight_decay=weight_decay)
    self._variables: List[tf.Variable] = list(model.trainable_variables)
    self._training = True
    self._graphs: Dict[str, Callable[..., Any]] = {}
    self._costs: Dict[Any, flops.Cost] = {}

  def losses_of(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The loss of each example [B], the model running as in training."""
    return _cross_entropy(labels, self.model(images, training=self._training))

  def losses_at_rest(self, images: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The same, the model running as in evaluation."""
    return _cross_entropy(labels, self.model(images, training=False))

  def train_only(self, variables: Sequence[tf.Variable]) -> None:
    """From now on only these change, and if they are not all, batch norms run as in evaluation."""
    if len(variables) != len(self._variables):
      self._variables = list(variables)
      self._training = len(variables) == len(self.model.trainable_variables)
      self._graphs, self._costs = {}, {}

  def train(self, images: tf.Tensor, labels: tf.Tensor, rows: bucket_plan.Rows, rates: Any
            ) -> float:
    """One step for each rate [S]; the sum of their losses, nan if the training diverged.

    Args:
      images, labels: the data, [N, ...] and [N].
      rows: of the data, [S, B].
    """
    name = f"train {rows.places.shape[1]}"
    if name not in self._graphs:
      self._graphs[name] = self._compiled(images, labels, rows)
    return float(self._graphs[name](images, labels, tf.constant(rates), *rows))

  def _compiled(self, images: tf.Tensor, labels: tf.Tensor, rows: bucket_plan.Rows
                ) -> Callable[..., Any]:
    """The graph of many steps; open are only how many examples and how many steps there are."""
    signature = [tf.TensorSpec([None, *images.shape[1:]], images.dtype),
                 tf.TensorSpec([None], labels.dtype), tf.TensorSpec([None], tf.float32),
                 *[tf.TensorSpec([None, r.shape[1]], r.dtype) for r in rows]]

    @tf.function(input_signature=signature)
    def run(images, labels, rates, places, seeds):
      total = tf.constant(0.0)
      for i in tf.range(tf.shape(rates)[0]):
        x = self._transform.train(tf.gather(images, places[i]), seeds[i])
        total += self._step(x, tf.gather(labels, places[i]), rates[i])
      return total

    return run

  def _step(self, images: tf.Tensor, labels: tf.Tensor, rate: tf.Tensor) -> tf.Tensor:
    """One update; the loss, penalty included, []."""
    penalty = self._penalty
    with tf.GradientTape() as tape:
      logits = self.model(images, training=self._training)
      loss = tf.reduce_mean(_cross_entropy(labels, logits)) + penalty.loss(images, logits)
    gradients = penalty.gradients(tape.gradient(loss, self._variables))
    penalty.before_update()
    self.optimizer.apply(gradients, self._variables, rate)
    penalty.after_update(gradients)
    return loss

  def observe(self, images: tf.Tensor, labels: tf.Tensor, batch_size: int) -> flops.Cost:
    """Shows the data to a penalty that `observes`, in order, each once; what that cost.

    The last batch is what is left over.
    """
    if not self._penalty.observes:
      return flops.ZERO
    size, cost = int(images.shape[0]), flops.ZERO
    whole = size // batch_size
    for first, num, rows in ((0, whole, batch_size), (whole * batch_size, 1, size % batch_size)):
      if num and rows:
        self._observe(rows)(images, labels, tf.constant(first), tf.constant(num))
        cost += self._cost(("observe", rows), self._observed, images, labels, rows) * num
    return cost

  def _observe(self, rows: int) -> Callable[..., Any]:
    name = f"observe {rows}"
    if name not in self._graphs:
      @tf.function(reduce_retracing=True)
      def run(images, labels, first, num):
        for i in tf.range(num):
          begin = first + i * rows
          x = tf.ensure_shape(images[begin:begin + rows], [rows, *images.shape[1:]])
          self._observed(x, tf.ensure_shape(labels[begin:begin + rows], [rows]))

      self._graphs[name] = run
    return self._graphs[name]

  def _observed(self, images: tf.Tensor, labels: tf.Tensor) -> None:
    # As long as the images are kept they are as in evaluation; nothing is augmented.
    self._penalty.observe(self.losses_at_rest, images, labels)

  def step_cost(self, images: tf.Tensor, labels: tf.Tensor, rows: int) -> flops.Cost:
    """Of one step on so many rows like these [N, ...]."""
    if not isinstance(self._penalty, agem.Agem):
      return self._cost(("step", rows), lambda x, y: self._step(x, y, tf.constant(0.0)),
                        images, labels, rows)
    # A-GEM's loop over its memory depends on data; the same in one batch can be counted.
    held = int(self._penalty.memory.size)
    held = min(held, self._penalty.sample_size or held)
    if not held:
      return self._cost(("plain step", rows), self._plain_step, images, labels, rows)
    reference = self._cost(("reference", held), self._gradients, images, labels, held)
    return reference + self._cost(("agem step", rows), self._projected_step, images, labels, rows)

  def _gradients(self, images: tf.Tensor, labels: tf.Tensor) -> List[tf.Tensor]:
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(self.losses_of(images, labels))
    return tape.gradient(loss, self._variables)

  def _plain_step(self, images: tf.Tensor, labels: tf.Tensor) -> None:
    self.optimizer.apply(self._gradients(images, labels), self._variables, tf.constant(0.0))

  def _projected_step(self, images: tf.Tensor, labels: tf.Tensor) -> None:
    gradients = self._gradients(images, labels)
    self.optimizer.apply(agem.projected(gradients, gradients), self._variables, tf.constant(0.0))

  def _cost(self, key: Tuple[Any, ...], fn: Callable[..., Any], images: tf.Tensor,
            labels: tf.Tensor, rows: int) -> flops.Cost:
    if key not in self._costs:
      graph = tf.function(fn).get_concrete_function(
          tf.TensorSpec([rows, *images.shape[1:]], images.dtype),
          tf.TensorSpec([rows], labels.dtype))
      self._costs[key] = flops.count(graph)
    return self._costs[key]


def _cross_entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  return tf.nn.sparse_softmax_cross_entropy_with_logits(
      labels=labels, logits=tf.cast(logits, tf.float32))

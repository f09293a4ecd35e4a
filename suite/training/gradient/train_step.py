# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One update of one model: the step behind every gradient learner, to be traced into a graph."""

from __future__ import annotations

from typing import Any, NamedTuple, Protocol, Sequence

import tensorflow as tf

from suite.compute import user_code
from suite.contracts import tasks
from suite.models import keras3
from suite.training.objectives import loss_scale
from suite.training.objectives import objective as objective_lib


class Optimizer(Protocol):
  """Changes variables along gradients. It is a `tf.Module`, or holds its variables otherwise."""

  def apply(self, gradients: Sequence[tf.Tensor | None], variables: Sequence[tf.Variable],
            rate: tf.Tensor | None) -> None:
    """Takes one step at the rate, []; None: at that of its schedule."""

  def reset(self) -> None:
    """Forgets velocities and moments."""


class Taken(NamedTuple):
  """A step that was taken: the loss before it, [], and logits [B + R, C] that it was made of."""

  loss: tf.Tensor
  logits: tf.Tensor


class TrainStep:
  """The step of a model under an objective.

  Args:
    model: examples [B, ...] to logits [B, C].
    objective: built by the caller, with `losses_of`.
    optimizer: for all of the model's trainable variables.
    kind: of the task.
    variables: those that the optimizer is for; None: all trainable ones of the model.
    parts: the model in two, examples to features (None: examples are features) and features to
      logits, for an objective that reads features; None: it does not.
    heads: see `objective.Batch`.

  Attributes:
    variables: those that are changed.
    training: whether batch norms use the statistics of the batch.
    scaling: of the loss, as the precision needs it.
  """

  def __init__(self, model: tf.keras.Model, *, objective: objective_lib.Objective,
               optimizer: Optimizer, kind: str = tasks.SINGLE_LABEL,
               variables: Sequence[tf.Variable] | None = None,
               parts: tuple[tf.keras.Model | None, tf.keras.Model] | None = None,
               heads: tf.Variable | None = None):
    if objective.reads_features and parts is None:
      raise ValueError(f"The objective {type(objective).__name__} reads features, but the step has "
                       "one model and no parts; give TrainStep.parts, or train a ComposedNet.")
    self._parts, self._heads = parts, heads
    self.model, self.objective, self.optimizer, self.kind = model, objective, optimizer, kind
    self.variables = list(model.trainable_variables if variables is None else variables)
    self._num_variables = len(self.variables)
    self.training, self.scaling = True, loss_scale.of_precision()

  def train_only(self, variables: Sequence[tf.Variable]) -> bool:
    """Trains only these from now on; if they are not all, batch norms run as in evaluation.

    Returns:
      Whether this is a change: graphs that were made before do not have it.
    """
    if len(variables) == len(self.variables):
      return False
    self.variables = list(variables)
    self.training = len(variables) == self._num_variables
    return True

  def reaches_user_code(self) -> bool:
    """Whether code of users runs in the step's graph, see `user_code`."""
    return user_code.is_reached(
        self.objective, self.objective.calls, self.optimizer, self.model,
        getattr(self.optimizer, "optimizer", None))

  def losses_of(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                ) -> tf.Tensor:
    """The cross-entropy of each example [B] among known classes, the model running as in training.
    """
    return objective_lib.row_losses(
        self._answered(labels, self.model(images, training=self.training)), known)

  def losses_at_rest(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                     ) -> tf.Tensor:
    """As `losses_of`, the model running as in evaluation."""
    return objective_lib.row_losses(self.answers_at_rest(images, labels), known)

  def answers_at_rest(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                      ) -> objective_lib.Batch:
    """Examples [B, ...] with their logits among known classes, the model running as in evaluation.
    """
    classes = None if known is None else objective_lib.Classes(known, known, known)
    return self._answered(labels, self.model(images, training=False), classes)

  def _answered(self, labels: tf.Tensor, logits: tf.Tensor,
                classes: objective_lib.Classes | None = None) -> objective_lib.Batch:
    return objective_lib.Batch(
        logits, logits, labels, kind=self.kind, heads=self._heads, classes=classes)

  def __call__(self, images: tf.Tensor, labels: tf.Tensor, rate: tf.Tensor | None, *,
               data: Any = None, **batch: Any) -> tf.Tensor:
    """One update; the loss before it, []. See `take`."""
    return self.take(images, labels, rate, data=data, **batch).loss

  def take(self, images: tf.Tensor, labels: tf.Tensor, rate: tf.Tensor | None, *,
           data: Any = None, **batch: Any) -> Taken:
    """One update.

    Args:
      images, labels: [B + R, ...]. rate: [], or None: the optimizer's schedule.
      data: `objective.Data`, for objectives that look beyond the batch.
      **batch: further fields of `objective.Batch`.
    """
    with tf.GradientTape() as tape:
      loss, logits = self._loss(images, labels, **batch)
    found = tape.gradient(loss, self.variables, output_gradients=self.scaling.factor)
    self._update(self.scaling.unscaled(found), rate, data)
    return Taken(loss, logits)

  def on_devices(self, devices: Sequence[str], images: tf.Tensor, labels: tf.Tensor,
                 rate: tf.Tensor | None, *, data: Any = None, num_replayed: int = 0,
                 stored: tf.Tensor | None = None, **batch: Any) -> Taken:
    """As `take`, with an equal share of incoming and of replayed rows on each device.

    The variables stay where they are: each device reads them, and one update follows the mean of
    the gradients. A batch norm takes the statistics of its device's share; its running ones become
    the mean of those after each share. The logits are those of the incoming rows alone.
    """
    count, incoming = len(devices), _length(labels) - num_replayed
    moving = [getattr(layer, name) for layer in self.model.submodules
              for name in ("moving_mean", "moving_variance") if hasattr(layer, name)
              ] if self.training else []
    if self.training:
      moving += [v for held in keras3.held_in(self.model) for v in held.non_trainable_weights
                 if v.dtype.is_floating]
    before = [v.read_value() for v in moving]
    losses, answers, gradients, after = [], [], [], []
    for index, device in enumerate(devices):
      def share(rows: tf.Tensor, index: int = index) -> tf.Tensor:
        return tf.concat([_part(rows[:incoming], index, count),
                          _part(rows[incoming:], index, count)], 0)

      for variable, value in zip(moving, before):
        variable.assign(value)
      with tf.device(device):
        with tf.GradientTape() as tape:
          loss, logits = self._loss(
              share(images), share(labels), num_replayed=num_replayed // count,
              stored=None if stored is None else _part(stored, index, count),
              step_labels=labels[:incoming], **batch)
        found = tape.gradient(loss, self.variables, output_gradients=self.scaling.factor)
        gradients.append(self.scaling.unscaled(found))
      losses.append(loss)
      answers.append(logits[:incoming // count])
      after.append([v.read_value() for v in moving])
    for variable, *values in zip(moving, *after):
      variable.assign(_mean(values))
    self._update([None if parts[0] is None else _mean([tf.convert_to_tensor(p) for p in parts])
                  for parts in zip(*gradients)], rate, data)
    return Taken(_mean(losses), tf.concat(answers, 0))

  def _loss(self, images: tf.Tensor, labels: tf.Tensor, **batch: Any) -> Taken:
    """The objective's loss of a batch, and the logits of its rows."""
    features = None
    if self._parts is None:
      logits = self.model(images, training=self.training)
    else:
      lower, top = self._parts
      features = images if lower is None else lower(images, training=self.training)
      logits = top(features, training=self.training)
    return Taken(self.objective.loss(objective_lib.Batch(
        images, logits, labels, kind=self.kind, features=features, heads=self._heads, **batch)),
                 logits)

  def _update(self, found: Sequence[tf.Tensor | None], rate: tf.Tensor | None, data: Any
              ) -> None:
    """Changes the variables along the gradients that the objective makes of these."""
    objective = self.objective
    gradients = objective.gradients(found, data)

    def update() -> None:
      objective.before_update()
      self.optimizer.apply(gradients, self.variables, rate)
      objective.after_update(gradients)

    self.scaling.apply(gradients, update)

  def reset_optimizer(self) -> None:
    """Forgets velocities and moments, and the scale of the loss."""
    self.optimizer.reset()
    self.scaling.reset()

  def gradients(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None
                ) -> list[tf.Tensor]:
    """Gradients of the mean cross-entropy of examples [B, ...], one for each changed variable."""
    with tf.GradientTape() as tape:
      loss = tf.reduce_mean(self.losses_of(images, labels, known))
    return self.scaling.unscaled(
        tape.gradient(loss, self.variables, output_gradients=self.scaling.factor))


def _part(rows: tf.Tensor, index: int, count: int) -> tf.Tensor:
  """The rows of one of `count` equal shares."""
  size = _length(rows) // count
  return rows[index * size:(index + 1) * size]


def _length(rows: tf.Tensor) -> int | tf.Tensor:
  """The number of rows, if possible as it is known when the graph is made."""
  return tf.shape(rows)[0] if rows.shape[0] is None else int(rows.shape[0])


def _mean(values: Sequence[tf.Tensor]) -> tf.Tensor:
  return tf.add_n(values) / len(values)

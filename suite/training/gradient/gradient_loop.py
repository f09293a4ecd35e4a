# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A network's training on batches of an input pipeline, on any `tf.distribute` strategy.

Learning rate, schedule length and label smoothing are variables, so all trials of a search run the
same graph.
"""

from __future__ import annotations

from typing import Any, Callable, Iterator, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.training.gradient import batch_loop
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import train_step
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.multitask import auxiliary_objective
from suite.training.objectives import cross_entropy
from suite.training.objectives import objective as objective_lib
from suite.training.objectives import own_loss

_as_it_is = tf.autograph.experimental.do_not_convert


class GradientLoop:
  """Trains a Keras model on batches of a fixed shape.

  Args:
    model: images [B, H, W, 3] to logits [B, C].
    kind: "single_label" or "multi_label".
    optimizer: one of `optimizers.NAMES`, or a Keras optimizer, whose rate follows the warm-up and
      cosine unless it has a schedule.
    momentum: of "sgd" and "sgdw" (Nesterov).
    weight_decay: coupled for "sgd", decoupled for the others; spares norms and biases.
    distribution: the strategy under whose scope the model was made.
    loss: loss(labels, logits), see `own_loss`; None: cross-entropy with label smoothing.
    schedule_names: of `schedules.WARMED_UP`, those that `configure` can choose.
    backbone, auxiliary: batches have "auxiliary" entries of this shape, for which the backbone is
      trained, too (see `WithAuxiliary`).
  """

  def __init__(
      self,
      model: tf.keras.Model,
      kind: str,
      *,
      momentum: float,
      weight_decay: float,
      distribution: distribution_lib.Distribution,
      optimizer: str | optimizers.OwnOptimizer = "sgd",
      loss: Callable[..., tf.Tensor] | None = None,
      schedule_names: Sequence[str] = ("cosine",),
      backbone: tf.keras.Model | None = None,
      auxiliary: auxiliary_lib.Shape | None = None,
  ):
    schedules.check_warmed_up(schedule_names)
    self._schedule_names = tuple(schedule_names)
    self.model, self.distribution = model, distribution
    with distribution.scope():
      self._peak = _scalar("peak_rate", tf.float32)
      self._warmup = _scalar("warmup_steps", tf.float32)
      self._total = _scalar("total_steps", tf.float32)
      self._smoothing = _scalar("label_smoothing", tf.float32)
      self._place = _scalar("schedule", tf.int32)
      choices = [schedules.WARMED_UP[name](self._peak, self._warmup, self._total)
                 for name in self._schedule_names]
      schedule = choices[0] if len(choices) == 1 else schedules.Selected(choices, self._place)
      if isinstance(optimizer, str):
        keras = optimizers.by_name(
            optimizer, schedule, momentum=momentum, weight_decay=weight_decay)
      else:
        keras = optimizers.own(optimizer, "Trainer.optimizer", schedule=schedule)
      objective: objective_lib.Objective = (
          cross_entropy.CrossEntropy(self._smoothing) if loss is None else own_loss.OwnLoss(loss))
      self._auxiliary: auxiliary_objective.WithAuxiliary | None = None
      if backbone is not None and auxiliary is not None:
        objective = self._auxiliary = auxiliary_objective.WithAuxiliary(
            objective, backbone, auxiliary, smoothing=self._smoothing)
      further = self._auxiliary.head.trainable_variables if self._auxiliary else []
      # Decoupled decay is part of the optimizer itself.
      self._updates = optimizers.KerasUpdates(
          keras, [*model.trainable_variables, *further], num_replicas=distribution.num_replicas,
          coupled_decay=weight_decay if optimizer == "sgd" else 0.0)
    self.optimizer = keras
    self._train = train_step.TrainStep(
        model, objective=objective, optimizer=self._updates, kind=kind)
    if self._auxiliary is not None:
      self._train.variables += further
      self._auxiliary.join(self._train.variables, self._train.scaling)
    self._converts = self._train.reaches_user_code()
    if distribution.is_single:
      self.step: Any = tf.function(self._step, autograph=self._converts)
    else:
      self.step = self._step if self._converts else _as_it_is(self._step)
    self._loop = batch_loop.BatchLoop(self._update, after=self._average)

  def configure(
      self, *, peak_rate: float, warmup_steps: int, total_steps: int, label_smoothing: float,
      schedule: str | None = None,
  ) -> None:
    """Sets the hyper-parameters of the next run; nothing is traced again.

    `schedule` is one of the loop's names; None is the first of them.
    """
    names = self._schedule_names
    self._place.assign(names.index(schedule or names[0]))
    self._peak.assign(peak_rate)
    self._warmup.assign(warmup_steps)
    self._total.assign(total_steps)
    self._smoothing.assign(label_smoothing)

  def begin_auxiliary(self, head: auxiliary_lib.HeadWeights, weight: float) -> None:
    """Sets the auxiliary head's weights and lambda."""
    assert self._auxiliary is not None
    self._auxiliary.head.set_weights(head)
    self._auxiliary.weight.assign(weight)

  def reset_optimizer(self) -> None:
    """Sets momentum and step counter to zero."""
    self._train.reset_optimizer()

  def _step(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
    """One update from this replica's slice; its share of the global batch's mean loss, []."""
    divisor = self.distribution.num_replicas * batch["image"].shape[0]
    return self._train(
        batch["image"], batch["label"], None, mask=batch["mask"], divisor=divisor,
        data=batch.get("auxiliary"))

  def _update(self, batch: Any, step: tf.Tensor) -> tf.Tensor:
    del step  # The schedule has the optimizer's own count.
    return self.distribution.sum(self.distribution.run(self.step, args=(batch,)))

  def _average(self) -> None:
    self.distribution.average(self.model.variables)

  def run(self, iterator: Iterator[Any], num_steps: int,
          complete: Callable[[Any], Any] | None = None) -> float:
    """Takes num_steps steps; returns the sum of losses (nan or inf if it diverged).

    `complete` makes batches of what the iterator returns; see `BatchLoop.run`.
    """
    return self._loop.run(iterator, num_steps, complete=complete)

  def cost(self, batch_spec: dict[str, tf.TensorSpec]) -> flops.Cost:
    """FLOPs and MACs of one step on such a batch; one device only (see `Network.step_cost`)."""
    scaling = self._train.scaling
    with scaling.left_out():
      step = self.step
      if scaling.scales:
        step = tf.function(self._step, autograph=self._converts)
      return flops.count(step.get_concrete_function(batch_spec))

  def state(self) -> list[np.ndarray]:
    """Weights, optimizer variables, loss scale: all that a training run in progress changes."""
    return [v.numpy() for v in self._changed]

  def restore(self, arrays: Sequence[np.ndarray]) -> None:
    """Sets what `state` returned."""
    for variable, array in zip(self._changed, arrays):
      variable.assign(array)

  @property
  def _changed(self) -> list[tf.Variable]:
    head = self._auxiliary.head.variables if self._auxiliary else []
    return [*self.model.variables, *head, *self._updates.state, *self._train.scaling.state]


def _scalar(name: str, dtype: tf.DType) -> tf.Variable:
  return tf.Variable(0, dtype=dtype, trainable=False, name=name)

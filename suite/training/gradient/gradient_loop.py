# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A network's training on batches of an input pipeline, on any `tf.distribute` strategy.

Learning rate, schedule length and label smoothing are variables, so all trials of a search run the
same graph.

Cross-entropy on all rows, incoming and replayed: fine-tuning, and experience replay.

The compiled loop over the batches of an input pipeline: many updates in one call.

An objective that adds the gradients of auxiliary batches to those of a task's batch.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import user_code
from suite.contracts import rehearsal
from suite.models import heads
from suite.models import keras3
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import train_step
from suite.training.memories import step_rows
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.objectives import loss_scale
from suite.training.objectives import losses
from suite.training.objectives import objective as objective_lib

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
    loss: loss(labels, logits), see `objective.OwnLoss`; None: cross-entropy with label smoothing.
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
      objective: CrossEntropy | objective_lib.OwnLoss | WithAuxiliary = (
          CrossEntropy(self._smoothing) if loss is None else objective_lib.OwnLoss(loss))
      self._auxiliary: WithAuxiliary | None = None
      if backbone is not None and auxiliary is not None:
        objective = self._auxiliary = WithAuxiliary(
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
    self._loop = BatchLoop(self._update, after=self._average)
    self._costs: dict[str, flops.Cost] = {}

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

  def begin_draws(self, seed: tuple[int, int]) -> None:
    """Makes what a Keras 3 model draws from now on a function of a seed."""
    keras3.begin_draws(self.model, seed)

  def reset_optimizer(self) -> None:
    """Sets momentum and step counter to zero."""
    self._train.reset_optimizer()

  def _step(self, batch: dict[str, tf.Tensor]) -> tf.Tensor:
    """One update from this replica's slice; its share of the global batch's mean loss, []."""
    divisor = self.distribution.num_replicas * batch["image"].shape[0]
    return self._train.take(
        step_rows.Rows(batch["image"], batch["label"]), mask=batch["mask"], divisor=divisor,
        auxiliary=batch.get("auxiliary")).loss

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
    key, scaling = str(sorted(batch_spec.items())), self._train.scaling
    def count() -> flops.Cost:
      with scaling.left_out():
        step = self.step
        if scaling.scales:
          step = tf.function(self._step, autograph=self._converts)
        return flops.count(step.get_concrete_function(batch_spec))

    if key not in self._costs:
      self._costs[key] = rehearsal.traced(("batch", key), self._changed, batch_spec, count)
    return self._costs[key]

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


class CrossEntropy(objective_lib.Objective):
  """The mean cross-entropy over all rows.

  Args:
    smoothing: of labels; a number, tensor or variable. None: hard labels.
  """

  def __init__(self, smoothing: losses.Smoothing | None = None):
    super().__init__()
    self._smoothing = smoothing

  def of(self, net: train_step.StepNet, logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The loss [] of rows with logits [B, C]."""
    return net.cross_entropy(logits, labels, self._smoothing)

  @override
  def step(self, rows: step_rows.Rows, net: train_step.StepNet, memory: step_rows.StepMemory
           ) -> None:
    net.update(self.of(net, net.logits(rows), rows.labels))


def nothing() -> None:
  """Does nothing."""
  return  # AutoGraph cannot read a function of nothing but a docstring.


class BatchLoop:
  """Makes an update for each batch.

  Args:
    update: update(batch, step) makes an update and returns the mean loss [] of the global batch;
      step is its number, int64 []. It is called outside of replicas.
    after: called outside of replicas after the last update of a call.
  """

  def __init__(self, update: Callable[[Any, tf.Tensor], tf.Tensor],
               after: Callable[[], None] = nothing):
    self._update, self._after = update, after
    self._converts = user_code.is_reached(update, after)
    self._runs = {converts: tf.function(self._updates, autograph=converts)
                  for converts in (False, True)}

  def run(self, iterator: Iterator[Any], num: int, first: int = 0,
          complete: Callable[[Any], Any] | None = None) -> float:
    """Makes the updates first ... first + num - 1; returns the sum of their losses.

    Args:
      iterator: of batches.
      num, first: see above.
      complete: makes a batch of what the iterator returns, in the graph, which is made again for
        another object. None: the iterator returns batches.
    """
    run = self._runs[self._converts or user_code.is_reached(complete)]
    return rehearsal.few(self, "update", num, lambda few: float(run(
        iterator, tf.constant(first, tf.int64), tf.constant(few, tf.int64), complete)),
        blank=lambda: 0.0)

  def _updates(self, iterator: Iterator[Any], first: tf.Tensor, num: tf.Tensor,
               complete: Callable[[Any], Any] | None) -> tf.Tensor:
    def body(step: tf.Tensor, total: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
      batch = next(iterator)
      if complete is not None:
        batch = complete(batch)
      return step + 1, total + self._update(batch, step)

    total = tf.while_loop(lambda step, _: step < first + num, body, [first, tf.constant(0.0)])[1]
    self._after()
    return total


class WithAuxiliary(objective_lib.Objective):
  """A task's objective and lambda times the sum of the auxiliary batches' mean cross-entropies.

  In an auxiliary batch norms use the statistics of that batch; their running ones stay what the
  task's own batches made them (appendix G).

  Args:
    task: the objective of the task's batches.
    backbone: images to features [B, D], which all tasks share.
    shape: of the auxiliary batches.
    smoothing: of all labels.

  Attributes:
    head: features to logits of all auxiliary classes. weight: lambda. Both are set before a run.
  """

  def __init__(self, task: CrossEntropy | objective_lib.OwnLoss, backbone: tf.keras.Model,
               shape: auxiliary_lib.Shape, *, smoothing: losses.Smoothing):
    super().__init__()
    self._task, self._backbone, self._smoothing = task, backbone, smoothing
    self._divisor = shape.batch_size  # Global: the gradients of replicas are summed.
    self.head = heads.linear(shape.num_classes, backbone.output_shape[-1], name="auxiliary_head")
    self.weight = tf.Variable(0.0, trainable=False, name="auxiliary_weight")
    self._scaling, self._places = loss_scale.NoScale(), list[int]()

  def join(self, variables: Sequence[tf.Variable], scaling: loss_scale.NoScale) -> None:
    """Joins a step that changes these variables and scales losses so."""
    places = {id(variable): place for place, variable in enumerate(variables)}
    self._places = [places[id(variable)] for variable in self._variables]
    self._scaling = scaling

  @property
  def _variables(self) -> list[tf.Variable]:
    return [*self._backbone.trainable_variables, *self.head.trainable_variables]

  @override
  def step(self, rows: step_rows.Rows, net: train_step.StepNet, memory: step_rows.StepMemory
           ) -> None:
    found = net.gradients(self._task.of(net, net.logits(rows), rows.labels))
    net.follow(self._with_auxiliary(found, net.auxiliary))

  def _with_auxiliary(self, gradients: Sequence[tf.Tensor | None], data: dict[str, tf.Tensor]
                      ) -> list[tf.Tensor]:
    """The gradients of the step's variables, those of the auxiliary batches added.

    Args:
      gradients: of the task's loss; None where it does not depend on a variable.
      data: {"image" [K, b, ...], "label" [K, b, C]} of this replica.
    """
    images, codes = data["image"], data["label"]
    running = [v for v in self._backbone.non_trainable_variables if v.dtype.is_floating]
    before = [v.read_value() for v in running]
    if images.shape[0] == 1:
      added = self._of_batch(images[0], codes[0])
    else:
      _, added = tf.while_loop(
          lambda k, _: k < images.shape[0],
          lambda k, sums: (k + 1, [
              a + b for a, b in zip(sums, self._of_batch(images[k], codes[k]))]),
          (tf.constant(0), [tf.zeros_like(v) for v in self._variables]))
    for variable, value in zip(running, before):
      variable.assign(value)
    total = list(gradients)
    for place, gradient in zip(self._places, added):
      found = total[place]
      total[place] = gradient if found is None else tf.convert_to_tensor(found) + gradient
    return total

  def _of_batch(self, images: tf.Tensor, codes: tf.Tensor) -> list[tf.Tensor]:
    """Gradients of lambda times the mean loss of a batch [b, ...], this replica's share of it."""
    with tf.GradientTape() as tape:
      logits = self.head(self._backbone(images, training=True), training=True)
      each = losses.cross_entropy(codes, logits, self._smoothing)
      loss = self.weight * losses.scaled_sum(each, self._divisor)
    found = self._scaling.unscaled(
        tape.gradient(loss, self._variables, output_gradients=self._scaling.factor))
    return [tf.zeros_like(v) if g is None else tf.convert_to_tensor(g)
            for g, v in zip(found, self._variables)]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The parts of a gradient learner, and the combinations that are refused.

A trainable part and a head, put together for one set of classes, with the loop that trains both.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any, Protocol

import numpy as np
import tensorflow as tf

from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.models import initial
from suite.models import keras3
from suite.state import context as context_lib
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import optimizers
from suite.training.gradient import train_step
from suite.training.gradient import trainable_parts
from suite.training.memories import memory as memory_lib
from suite.training.memories import rows_on_disk
from suite.training.objectives import objective as objective_lib

STRATEGIES = ("one_device", "mirrored")
TRAIN_ON = ("current", "memory", "both", "all")
REMEMBER = EACH_STEP, EACH_PHASE = "each_step", "each_phase"
_ONE_TASK = {deliveries.BUCKETS: "the buckets of one task", deliveries.SEQUENCE: "a sequence",
             deliveries.EPISODES: "episodes", deliveries.PORTIONS: "portions of a pretraining"}


class OptimizerSpec(Protocol):
  """Makes the optimizer of a learner: `optimizers.Momentum` or `optimizers.Keras`."""

  @property
  def keep(self) -> bool:
    """Whether velocities and moments stay from one phase to the next."""

  def build(self, variables: Sequence[tf.Variable]) -> train_step.Optimizer:
    """The optimizer for these variables."""


@dataclasses.dataclass(frozen=True)
class Base:
  """How the first classes are learned: the head alone, on features of the network as it is.

  So a network that was pretrained elsewhere is not trained before the first offline phase.

  Attributes:
    epochs, learning_rate: of the head; 0 epochs: only what a head starts with, such as prototypes.
    validation: examples of the first classes, as the learner's transform stores them (images or
      numbers), for an objective that observes a validation split where none is delivered: a
      sequence whose base classes are known from the start.
  """

  epochs: float = 20
  learning_rate: float = 0.1
  validation: example_arrays.Examples | None = None


@dataclasses.dataclass(frozen=True)
class Composition:
  """The parts of a learner that are checked together; the arguments of `GradientLearner`."""

  head: class_heads.Linear
  objective: objective_lib.Objective
  memory: memory_lib.Memory | None
  train_on: str
  replay_batch: int
  optimizer: Any
  has_meta: bool
  augments: bool
  batch_size: int
  examples_on: str = rows_on_disk.DEVICE
  remember: str = EACH_PHASE

  def check(self) -> None:
    """Refuses combinations that make no sense, whatever the data."""
    objective = type(self.objective).__name__
    if self.train_on not in TRAIN_ON:
      raise ValueError(f"GradientLearner.train_on is {self.train_on!r}; allowed are "
                       f"{', '.join(TRAIN_ON)}. To train on current rows and replayed ones take "
                       "'current' with a memory and a replay_batch.")
    trains_on_memory = self.train_on in ("memory", "both")
    if self.memory is None and (trains_on_memory or self.replay_batch):
      raise ValueError(f"GradientLearner has train_on={self.train_on!r} and replay_batch="
                       f"{self.replay_batch}, but there is no memory; give one.")
    needs, observes = self.objective.needs, self.objective.observes
    if observes is not None and not isinstance(observes, objective_lib.Observes):
      raise ValueError(f"{objective}.observes is {observes!r}; give "
                       "objective.Observes('training'), or None.")
    if self.memory is None and needs & {objective_lib.MEMORY, objective_lib.REPLAY}:
      raise ValueError(f"The objective {objective} works with a memory, but there is none; give "
                       "GradientLearner.memory.")
    if (objective_lib.BUCKETS in needs and self.memory is not None
        and not self.memory.rule.has_groups):
      raise ValueError(f"The objective {objective} looks at each bucket's rows in the memory, but "
                       f"the rule {type(self.memory.rule).__name__} does not keep them apart; take "
                       "reservoir.GroupBalanced, by='bucket'.")
    if self.head.held_out_share and self.train_on != "both":
      raise ValueError(f"The head {type(self.head).__name__} is corrected on exemplars that are "
                       f"held out, and train_on is {self.train_on!r}; set it to 'both', with a "
                       "memory.")
    if self.head.reads_exemplars and self.memory is None:
      raise ValueError(f"The head {type(self.head).__name__} answers by examples of a memory, but "
                       "there is none; give GradientLearner.memory.")
    if objective_lib.REPLAY in needs and not self.replay_batch:
      raise ValueError(f"The objective {objective} is about replayed rows, but replay_batch is 0; "
                       "give the number of rows that each step replays.")
    if self.memory is not None and not (
        trains_on_memory or self.replay_batch or objective_lib.MEMORY in needs):
      raise ValueError("GradientLearner has a memory that nothing reads: replay_batch is 0 and "
                       f"train_on is {self.train_on!r}. Give a replay_batch, train_on='memory', or "
                       "leave the memory out.")
    if self.replay_batch and trains_on_memory:
      raise ValueError("GradientLearner trains on its memory and replays it, too; set replay_batch "
                       "to 0, or train_on to 'current'.")
    if self.remember not in REMEMBER:
      raise ValueError(f"GradientLearner.remember is {self.remember!r}; allowed are "
                       f"{', '.join(map(repr, REMEMBER))}.")
    if self.remember == EACH_STEP and (self.memory is None or not self.replay_batch):
      raise ValueError("GradientLearner.remember is 'each_step', which is for a memory that each "
                       "step replays rows of; give a memory and a replay_batch, or 'each_phase'.")
    if self.remember == EACH_STEP and self.memory is not None and self.memory.rule.has_groups and (
        self.memory.rule.by_call):
      raise ValueError("GradientLearner.remember is 'each_step', and the memory keeps buckets in "
                       "equal parts or herds, for which it gets all rows of a phase at once; set "
                       "remember to 'each_phase', or take another rule, such as "
                       "reservoir.Reservoir.")
    if isinstance(self.head, class_heads.CwrStar) and type(
        self.objective) is not objective_lib.Objective:
      raise ValueError(f"GradientLearner was given the objective {objective} and the head CwrStar, "
                       "which freezes what the objective guards. Give one of them.")
    if self.examples_on not in rows_on_disk.PLACES:
      raise ValueError(f"GradientLearner.examples_on is {self.examples_on!r}; allowed are "
                       f"{', '.join(map(repr, rows_on_disk.PLACES))}.")
    if not hasattr(self.optimizer, "build"):
      raise ValueError(
        f"GradientLearner.optimizer is {self.optimizer!r}; give optimizers.Momentum(), or "
        "optimizers.Keras(make) with a make that returns a "
        "tf.keras.optimizers.Optimizer."
      )
    if self.has_meta and (not self.augments or self.memory is not None):
      raise ValueError("GradientLearner.meta trains a backbone that later phases train on; take "
                       "the net AllLayers and no memory, or leave meta out.")
    if self.has_meta and self.head.start in class_heads.RANDOM:
      raise ValueError("GradientLearner.meta learns no head; give one that starts at 'zeros' or "
                       "'prototypes'.")

  def check_task(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Refuses what does not fit the data that is to come, before anything is trained."""
    distribution = context.distribution
    if distribution.name not in STRATEGIES:
      raise refusals.RefusedError(
          f"GradientLearner was started on {distribution.name!r}; it trains on "
          f"{' and '.join(map(repr, STRATEGIES))}, since its memory and data are in one process. "
          "Start with --strategy mirrored to use several devices of this machine.")
    for name, rows in (("batch_size", self.batch_size), ("replay_batch", self.replay_batch)):
      if rows % distribution.num_replicas:
        raise refusals.RefusedError(
            f"GradientLearner.{name} is {rows}, which cannot be split over the "
            f"{distribution.num_replicas} devices of 'mirrored'; give a multiple of "
            f"{distribution.num_replicas}.")
    if self.examples_on == rows_on_disk.DISK:
      if context.delivery == deliveries.SEQUENCE:
        raise refusals.RefusedError(
            "GradientLearner.examples_on is 'disk', which is for buckets and tasks; a sequence on "
            "disk is one of sample numbers (numbered_samples.Samples). Leave examples_on out.")
      if self.has_meta:
        raise refusals.RefusedError(
            "GradientLearner.examples_on is 'disk', but meta-training draws its tasks from "
            "examples in memory. Leave examples_on or meta out.")
      if not self.augments:
        raise refusals.RefusedError(
            "GradientLearner.examples_on is 'disk', but its net trains on codes of examples, which "
            "stay on the device. Take the net AllLayers, or leave examples_on out.")
    if self.head.held_out_share and context.delivery == deliveries.SEQUENCE:
      raise refusals.RefusedError(
          f"The head {type(self.head).__name__} is corrected on exemplars that are held out of the "
          "training of buckets; a sequence has samples, whose base classes have no exemplars. Take "
          "the head Linear or Aligned.")
    if isinstance(self.head, class_heads.MultiHead) and context.delivery == deliveries.SEQUENCE:
      raise refusals.RefusedError(
          "GradientLearner has the head MultiHead, which separates the classes of tasks, and the "
          "offline phases of a sequence mix those of all. Take the head Linear, or tasks that come "
          "as buckets.")
    if objective_lib.TASKS in self.objective.needs and context.delivery == deliveries.SEQUENCE:
      raise refusals.RefusedError(
          f"The objective {type(self.objective).__name__} trains among the classes of a task, and "
          "the offline phases of a sequence mix those of all. Leave the objective out, or take "
          "tasks or buckets.")
    if task.num_classes < 2 and task.kind == tasks.SINGLE_LABEL:
      raise refusals.RefusedError(f"Task {task.key!r} has {task.num_classes} class; a classifier "
                                  "needs at least 2.")
    if self.has_meta and task.kind != tasks.SINGLE_LABEL:
      raise refusals.RefusedError(
          f"Task {task.key!r} is {task.kind} and the first one; GradientLearner.meta trains on it, "
          f"which must be {tasks.SINGLE_LABEL}. Put such a task first, or leave meta out.")
    if self.head.is_per_task:
      if context.delivery in _ONE_TASK:
        raise refusals.RefusedError(
            "GradientLearner has the head PerTask, but was given "
            f"{_ONE_TASK[context.delivery]}; give it the head Linear.")
      if self.memory is not None or self.train_on == "all":
        raise refusals.RefusedError(
            "GradientLearner has the head PerTask, whose tasks have separate classes; a memory "
            "and train_on='all' mix examples of one list of classes. Leave the memory out and set "
            "train_on to 'current'.")
      if objective_lib.ONE_HEAD in self.objective.needs:
        raise refusals.RefusedError(
            "GradientLearner has the head PerTask, and the objective "
            f"{type(self.objective).__name__} compares answers about one list of classes in all "
            "phases. Take an objective on weights: Ewc, Mas or Si.")
    elif context.delivery == deliveries.TASKS:
      raise refusals.RefusedError(
          f"GradientLearner has one head, {type(self.head).__name__}, for tasks that have separate "
          "classes; give it the head PerTask.")
    elif task.kind != tasks.SINGLE_LABEL:
      raise refusals.RefusedError(
          f"Task {task.key!r} is {task.kind}; GradientLearner has one class an image unless its "
          f"head is PerTask. Take {tasks.SINGLE_LABEL} tasks.")

  def check_episodes(self, net: trainable_parts.TrainablePart, *, reset: bool, has_base: bool
                     ) -> None:
    """Refuses what has no functional form, which few-shot episodes need."""
    head, rule = type(self.head).__name__, self.memory and type(self.memory.rule).__name__
    capacity = 0 if self.memory is None else self.memory.capacity
    for is_wrong, got, instead in (
        (self.has_meta or has_base, "meta or base", "Leave them out: the protocol meta-trains"),
        (not isinstance(net, trainable_parts.HeadOnly), f"the net {type(net).__name__}",
         "Take HeadOnly, a linear head on features that never change"),
        (type(self.head) is not class_heads.Linear or self.head.start != "zeros",
         f"the head {head}, {self.head.start!r}", "Take Linear('zeros')"),
        (self.train_on != "current" or reset, f"train_on={self.train_on!r} and reset={reset}",
         "Support sets are shown once; set train_on='current' and reset=False"),
        (self.memory is not None and rule != "Latest", f"a memory with the rule {rule}",
         "Take reservoir.Latest"),
        (self.replay_batch < capacity, f"replay_batch={self.replay_batch} for {capacity} slots",
         "Each step takes the whole memory; set replay_batch to its capacity"),
        (not isinstance(self.optimizer, optimizers.Momentum), "a Keras optimizer",
         "Take optimizers.Momentum")):
      if is_wrong:
        raise refusals.RefusedError(
            f"GradientLearner has {got}, and cannot be given few-shot episodes with it. {instead}.")

  def storage(self, form: examples.Storage, code: tf.TensorSpec
              ) -> tuple[examples.Storage, tf.TensorSpec]:
    """The storage of examples in this form, and the shape and type of one that it keeps.

    Args:
      code: of examples as the trained part takes them.
    """
    if self.examples_on == rows_on_disk.DISK:
      form = rows_on_disk.RowsOnDisk(form, code.dtype)
    return form, tf.TensorSpec(form.shape, tf.int64 if form.holds_numbers else code.dtype)


def optimizer_of(given: Any, rate: float | None, default_schedule: bool) -> tuple[Any, float]:
  """(the optimizer as an `OptimizerSpec`, the peak of its learning rate).

  Args:
    given: an `OptimizerSpec`, a Keras optimizer, or a class of them.
    rate: of the learner; None: the optimizer's.
    default_schedule: whether the learner was given no schedule.
  """
  keras = keras3.library()
  kinds = (tf.keras.optimizers.Optimizer, *([keras.Optimizer] if keras else []))
  if optimizers.is_optimizer(given) or (isinstance(given, type) and issubclass(given, kinds)):
    given = optimizers.Keras(given)
  keras3.refuse_foreign(given, "GradientLearner.optimizer")
  if not isinstance(given, optimizers.Keras):
    return given, 1.0 if rate is None else rate
  own = given.own_rate()
  if own is None and not (rate is None and default_schedule):
    raise ValueError("GradientLearner.optimizer was given a learning rate schedule, and the "
                     "learner a learning_rate or a schedule, too. Leave out one of them.")
  return given, 1.0 if own is None else own if rate is None else rate


def check_numbers(**numbers: float) -> None:
  """Refuses numbers that are not above 0, NaN included."""
  for name, value in numbers.items():
    if not value > 0:
      raise ValueError(f"GradientLearner.{name} is {value}; it must be above 0.")


MakeOptimizer = Callable[[Any], train_step.Optimizer]


class ComposedNet(tf.Module):
  """Codes [B, ...] to logits [B, C].

  Args:
    part: prepared for the shape of examples.
    head: of this net alone.
    num_classes: C.
    upper: the trained part, shared with other nets; None: a new one.
    seed: of the first weights, see `set_weights`; None: they are set later.

  Attributes:
    model: codes to logits. top: features to logits.
    upper: codes to features; None where codes are features.
    trained_by: the loop that trains it; `TaskNets` sets it.
    optimizer: the loop's, set by `TaskNets` if its velocities are kept between phases.
    loss_scale: the variables of the loop's, set with the optimizer if the precision has one.
  """

  trained_by: array_loop.ArrayLoop
  optimizer: train_step.Optimizer
  loss_scale: list[tf.Variable]

  def __init__(self, part: trainable_parts.TrainablePart, head: class_heads.Linear,
               num_classes: int, upper: tf.keras.Model | None = None, seed: int | None = None):
    super().__init__()
    self._part, self.head, self.num_classes = part, head, num_classes

    def make() -> tuple[tf.keras.Model | None, tf.keras.Model, tf.keras.Model]:
      return self._made(upper or part.upper())

    parts, weights = (make(), None) if seed is None else initial.made(
        make, seed, lambda made: made[2])
    self.upper, self.top, self.model = parts
    head.attach(self.top, num_classes)
    if weights is not None:
      self._begin_with(weights)

  def _made(self, upper: tf.keras.Model | None
            ) -> tuple[tf.keras.Model | None, tf.keras.Model, tf.keras.Model]:
    if upper is None:
      top = self.head.make(self._part.code_spec().shape[0], self.num_classes, is_input=True)
      return None, top, top
    top = self.head.make(upper.output_shape[-1], self.num_classes, is_input=False)
    if top.output_shape[-1] != self.num_classes:
      raise ValueError(f"The head has {top.output_shape[-1]} outputs, but the task has "
                       f"{self.num_classes} classes; give a head with one output for each.")
    inputs = tf.keras.Input(upper.input_shape[1:], dtype=upper.inputs[0].dtype)
    return upper, top, tf.keras.Model(inputs, top(upper(inputs)))

  @property
  def trained_variables(self) -> list[tf.Variable]:
    """The variables that gradients change."""
    if isinstance(self._part, trainable_parts.Drifting):
      return [*self._part.trained_variables(), *self.top.trainable_variables]
    return list(self.model.trainable_variables)

  def set_weights(self, seed: int) -> None:
    """First weights: those given for the trained part, others random, a pure function of the seed.
    """
    self._begin_with(initial.initial_weights(
        lambda: self._made(self._part.upper())[2], seed))

  def _begin_with(self, weights: list[np.ndarray]) -> None:
    num_backbone = len(self.upper.weights) if self.upper is not None else 0
    self.model.set_weights(
        trainable_parts.with_first(weights, self._part.first_weights(), num_backbone))
    self.head.set_start()

  def set_head(self, seed: int) -> None:
    """First weights of the head alone."""
    width, is_input = self.top.input_shape[-1], self.upper is None
    self.top.set_weights(initial.initial_weights(
        lambda: self.head.make(width, self.num_classes, is_input=is_input), seed))
    self.head.set_start()

  def features(self, codes: tf.Tensor) -> tf.Tensor:
    """Features [B, D] of codes, as in evaluation."""
    return codes if self.upper is None else self.upper(codes, training=False)

  def features_of_all(self, codes: tf.Tensor, charge: array_loop.Charge) -> tf.Tensor:
    """Features [N, D] of codes [N, ...], of any number, charged."""
    if self.upper is None:
      return codes
    return self.trained_by.forward("features", self.features, codes, charge)

  def logits(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes, as in evaluation."""
    return self.model(codes, training=False)

  def loop(self, objective: objective_lib.Objective, optimizer: train_step.Optimizer, *,
           kind: str = tasks.SINGLE_LABEL, augment: array_loop.Augment | None = None,
           prepare: array_loop.Prepare | None = None, replay_batch: int = 0,
           devices: Sequence[str] = (), ahead: bool = False) -> array_loop.ArrayLoop:
    """The loop that trains all of it."""
    step = train_step.TrainStep(self.model, objective=objective, optimizer=optimizer, kind=kind,
                                variables=self.trained_variables,
                                parts=(self.upper, self.top),
                                heads=self.head.heads)
    return array_loop.ArrayLoop(
        step, augment=augment, prepare=prepare, replay_batch=replay_batch, devices=devices,
        ahead=ahead)

  def top_loop(self, optimizer: train_step.Optimizer) -> array_loop.ArrayLoop:
    """The loop that trains the head alone, on features, by cross-entropy."""
    step = train_step.TrainStep(
        self.top, objective=objective_lib.Objective(), optimizer=optimizer)
    return array_loop.ArrayLoop(step)


def arrays_of(codes: Any, labels: Any) -> tuple[tf.Tensor, tf.Tensor]:
  """Codes [N, ...] and labels as tensors; class indices as int64, multi-hot rows as float32."""
  labels = np.asarray(labels)
  rows = rehearsal.large(list(codes.shape), tf.as_dtype(codes.dtype),
                         lambda: tf.convert_to_tensor(codes))
  return rows, tf.constant(
      labels, tf.int64 if labels.ndim == 1 else tf.float32)

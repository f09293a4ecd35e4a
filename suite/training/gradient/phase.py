# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One phase of a gradient learner: a bucket's, a task's, the base classes', or an offline phase.

The nets of a gradient learner: one for all tasks, or one for each task, with its own head.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import copy
import dataclasses
import time
from typing import Any, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import flops
from suite.compute import seeds as seeds_lib
from suite.contracts import deliveries
from suite.contracts import examples as examples_lib
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.models import keras3
from suite.state import context as context_lib
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import schedules
from suite.training.gradient import train_step
from suite.training.gradient import trainable_parts
from suite.training.memories import memory as memory_lib
from suite.training.objectives import objective as objective_lib

_ONE = "all"


@dataclasses.dataclass(frozen=True)
class Recipe:
  """The settings of a phase; see `GradientLearner` for the attributes."""

  train_on: str
  replay_batch: int
  epochs: float
  batch_size: int
  learning_rate: float
  schedule: schedules.EpochSchedule
  observe_batch: int
  keeps_velocities: bool
  steps: int | None = None


class CodedExamples(NamedTuple):
  """Codes [N, ...] and labels, int64 [N] or multi-hot [N, C]."""

  codes: tf.Tensor
  labels: np.ndarray


class Watched(tf.Module):
  """Examples that an objective observes in every phase; a checkpoint holds them.

  Args:
    shape, dtype: of a code.
  """

  def __init__(self, shape: tuple[int, ...], dtype: tf.DType):
    super().__init__()
    self.codes = tf.Variable(tf.zeros([0, *shape], dtype), trainable=False, shape=[None, *shape],
                             name="watched_codes")
    self.labels = tf.Variable(tf.zeros([0], tf.int64), trainable=False, shape=[None],
                              name="watched_labels")

  def keep(self, codes: tf.Tensor, labels: np.ndarray) -> None:
    """Watches codes [N, ...] with labels int64 [N] from now on."""
    self.codes.assign(codes)
    self.labels.assign(labels)

  def keep_given(self, given: example_arrays.Examples | None, objective: objective_lib.Objective
                 ) -> None:
    """Watches the examples that a learner was given; warns that the objective has none."""
    if given is None:
      logging.warning("%s observes a validation split, but the base classes are known without "
                      "one: it guards nothing. Give composition.Base.validation.",
                      type(objective).__name__)
    else:
      self.keep(tf.constant(given.images, self.codes.dtype), given.labels)

  def examples(self) -> CodedExamples:
    """Those that are watched; none before `keep`."""
    return CodedExamples(self.codes.read_value(), self.labels.numpy())


class PhaseOutcome(NamedTuple):
  """The result of a phase.

  Attributes:
    plan: its steps. loss: the mean by step. observed: passes of what the objective observed.
    started: examples whose features class weights began from.
  """

  plan: array_loop.PhaseRows
  loss: float
  observed: int
  started: int


class Phase:
  """Trains one phase and charges its cost: as many of its steps as are granted, at least one.

  Args:
    net, loop: what is trained, and its compiled loop.
    objective: built for the net. memory: built, or None.
    watched: the first validation split, if the objective observes it; else None.
    recipe: how.
    is_first: whether no phase was before it.
    context: of the event.
  """

  def __init__(self, net: composition.ComposedNet, loop: array_loop.ArrayLoop,
               objective: objective_lib.Objective, memory: memory_lib.Memory | None,
               watched: CodedExamples | None, recipe: Recipe, is_first: bool,
               context: context_lib.Context):
    self._net, self._loop, self._objective, self._memory = net, loop, objective, memory
    self._watched, self._recipe, self._is_first = watched, recipe, is_first
    self._context = context
    self._began = time.monotonic()
    self.compared = 0  # Gradients of single rows that the memory compared.

  def train(self, data: objective_lib.Data, size: int, *, first: int = 0, last: str = "fill",
            intake: memory_lib.Intake | None = None, now: np.ndarray | None = None,
            held_out: tuple[tf.Tensor, tf.Tensor] | None = None) -> PhaseOutcome:
    """Trains on rows first ... first + size - 1 of the data, and replays rows of the memory.

    Args:
      data: of all rows; those behind the first + size are the memory's.
      now: classes of the rows that have come for the phase, bool [C]; None: of all trained rows.
      held_out: codes [n, ...] and labels [n] that the head is corrected on; None: it is not.
      intake: of the memory, if it takes rows in at each step; None: it stays as it is.
    """
    if size < 1:
      raise ValueError("There is nothing to train on: no sample is stored. Train after the first "
                       "label is revealed.")
    head, objective = self._net.head, self._objective
    labels = data.labels[first:first + size]
    counts = _counts(labels, self._net.num_classes)
    known = None if data.classes is None else data.classes.known
    observed = 0
    new, started = head.new_rows(labels), 0
    if not self._is_first and self._watched is not None and len(self._watched.labels):
      # The objective sees the watched examples again.
      observed = self._show(self._watched.codes, tf.constant(self._watched.labels), known)
    if new is not None and int(tf.size(new)):
      features = self._loop.forward(
          "features", self._net.features, tf.gather(data.codes[first:first + size], new),
          self._context.charge)
      head.start_classes(features, tf.gather(labels, new))
      started = int(tf.size(new)) if self._net.upper is not None else 0
    now = tf.constant(counts > 0 if now is None else now)
    head.note_classes(now)
    self._loop.train_only(head.before_phase(counts, self._net.trained_variables))
    objective.begin_phase(now)
    recipe, seeds = self._recipe, self._context.seeds
    keras3.begin_draws(self._net.model, seeds.pair("draws of the model"))
    plan = array_loop.PhaseRows(
        size, recipe.epochs, recipe.batch_size, seeds.pair("order"), last=last, first=first,
        steps=recipe.steps,
        held=int(data.places.shape[0]), takes_in=intake is not None,
        replay_order=seeds.pair("memory order"),
        replay_batch=sum(self._loop.blank(1, data).drawn), seeded=self._loop.augments)
    plan = plan.cut(self._context.grant(plan.num_steps))
    # Counted first: an objective's cost is that of the memory as it is.
    self._context.charge(self._loop.cost(data, plan))
    if not recipe.keeps_velocities:
      self._loop.step.reset_optimizer()
    if intake is not None:
      intake.begin(first + size)
    total, labels_of = 0.0, np.asarray(data.labels)
    for part in plan.parts():
      steps = np.arange(part.first, part.first + part.num_steps)
      rates = recipe.schedule.rates(recipe.learning_rate, plan.epochs_of(steps))
      done = part.first + part.num_steps
      if intake is not None and intake.compares:
        total += self._train_comparing(data, part, rates, intake, known)
      elif intake is None or rehearsal.counts_only():
        total += self._loop.train(data, part, rates)
      else:
        total += self._loop.train(data, self._with_replays(part, labels_of, intake), rates, intake)
      if intake is not None and rehearsal.counts_only():
        intake.rehearse(done * plan.batch_size)
      self._context.report(step=done, steps=plan.num_steps, loss=total / done)
    if intake is not None:
      intake.end(data.codes)
    if not np.isfinite(total):
      logging.warning("The training of event %s diverged; lower the learning rate, now %g.",
                      self._context.event, recipe.learning_rate)
    if held_out is not None:
      logits = self._loop.forward("logits", self._net.logits, held_out[0], self._context.charge)
      self._context.charge(flops.Cost(head.correct(logits, held_out[1]), 0))
    observed += self._observe(data.codes[first:first + size], labels, known)
    head.after_phase(counts)  # First: the objective remembers the net with the head as it stays.
    objective.end_phase(known)
    return PhaseOutcome(plan, total / plan.num_steps, observed, started)

  def _train_comparing(self, data: objective_lib.Data, part: array_loop.Part, rates: np.ndarray,
                       intake: memory_lib.Intake, known: tf.Tensor | None) -> float:
    """Takes the steps of a part one by one: gradients of rows are compared between them, eagerly.
    """
    total = 0.0

    def codes_at(places: Any) -> tf.Tensor:
      return byte_rows.gather(data.codes, tf.convert_to_tensor(places))

    labels_of = np.asarray(data.labels)
    for place, step in enumerate(part.each_step()):
      if not rehearsal.counts_only():
        step = self._with_replays(step, labels_of, intake)
      total += self._loop.train(data, step, rates[place:place + 1], intake)
      rows = step.incoming.places
      labels = tf.gather(data.labels, rows)
      num = intake.memory.num_compared(rows.size)
      self.compared += num
      self._loop.charge_gradients(data.codes, labels, num, self._context.charge)
      if rehearsal.current() is None:
        intake.take(rows, labels, lambda held, new: self._loop.largest_cosines(
            held.codes, held.labels, new.codes, new.labels, known), codes_at)
      else:
        intake.rehearse((step.first + 1) * rows.size)
    return total

  def _with_replays(self, part: array_loop.Part, labels: np.ndarray, intake: memory_lib.Intake
                    ) -> array_loop.Part:
    """The part with what its steps replay of a memory that takes rows in; labels int64 [N]."""
    places = part.incoming.places.reshape(part.num_steps, -1)
    return part._replace(replays=intake.replays(
        places, labels[places], part.replayed.places.shape[1],
        self._context.seeds.pair("memory order"), part.first))

  def train_head(self, codes: tf.Tensor, data: objective_lib.Data, epochs: float, rate: float,
                 optimizer: Any) -> PhaseOutcome:
    """Trains the head alone by cross-entropy; the objective remembers the net that has it.

    Args:
      codes: [N, ...]. data: their features, N rows, and labels.
      epochs, rate: of the training; 0 epochs leave the head as it begins.
      optimizer: of the head.
    """
    size, head = int(data.codes.shape[0]), self._net.head
    counts = _counts(data.labels, self._net.num_classes)
    head.before_phase(counts, self._net.top.trainable_variables)
    plan = array_loop.PhaseRows(size, epochs, self._recipe.batch_size,
                         self._context.seeds.pair("order"), last="even")
    assert data.classes is not None
    known = data.classes.known
    loss, loop = float("nan"), self._net.top_loop(optimizer) if epochs else None

    if loop is None:
      self._context.grant(1)
    else:
      plan = plan.cut(self._context.grant(plan.num_steps))
      total = 0.0
      for part in plan.parts():
        total += loop.train(data, part, np.full([part.num_steps], rate, np.float32))
      loss = total / plan.num_steps
      self._context.charge(loop.cost(data, plan))
    head.after_phase(counts)
    head.after_base(known)
    self._objective.begin_phase()
    observed = self._observe(codes, data.labels, known)
    self._objective.end_phase(known)
    return PhaseOutcome(plan, loss, observed, 0)

  def _observe(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None) -> int:
    """Shows the objective what it observes after a phase on codes [N, ...] and labels [N].

    Returns:
      The number of passes.
    """
    observes = self._objective.observes
    if observes is None:
      return 0
    if observes.split == objective_lib.TRAINING:
      return self._show(codes, labels, known)
    assert self._watched is not None
    return self._show(
        self._watched.codes, tf.constant(self._watched.labels), known) if self._is_first else 0

  def _show(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None) -> int:
    """Shows rows to the objective; returns the number of passes."""
    self._loop.observe(codes, labels, self._recipe.observe_batch, self._context.charge, known)
    assert self._objective.observes is not None
    return int(labels.shape[0]) * self._objective.observes.passes(self._net.num_classes)

  def remember(self, kept: tf.Tensor, codes: tf.Tensor, labels: tf.Tensor,
               known: tf.Tensor | None,
               codes_of: Callable[[tf.Tensor], tf.Tensor] = tf.identity) -> int:
    """Offers examples to the memory; returns how many passed the net for their logits.

    Args:
      kept: what the memory holds of each, [n, ...]: codes, or numbers of samples int64 [n].
      codes: [n, ...]. labels: int64 [n]. known: bool [C], whose logits are stored; None: all.
      codes_of: what the memory holds of examples to their codes.
    """
    assert self._memory is not None
    logits = None
    if self._memory.logits.shape[1]:
      logits = tf.cast(self._loop.forward("logits", self._net.logits, codes, self._context.charge),
                       tf.float32)
      if known is not None:
        every = logits
        logits = rehearsal.large(
            every.shape, tf.float32, lambda: tf.where(known, every, np.nan))
    features, num_features = None, 0
    rule = self._memory.rule
    if rule.reads_features:
      features, num_features = self._features(codes)
      products = rule.num_products(labels, int(self._memory.size)) * int(features.shape[1])
      self._context.charge(flops.Cost(2 * products, products))
    self.compared = self._memory.num_compared(int(labels.shape[0]))
    self._loop.charge_gradients(codes, labels, self.compared, self._context.charge)
    self._memory.add(kept, labels, logits, lambda held, new: self._loop.largest_cosines(
        codes_of(held.codes), held.labels, codes_of(new.codes), new.labels, known), features)
    return num_features if logits is None else int(labels.shape[0])

  def show_exemplars(self, codes_of: Callable[[tf.Tensor], tf.Tensor] = tf.identity) -> int:
    """Shows all that the memory holds to a head that reads it; returns how many passed the net.

    Args:
      codes_of: see `remember`.
    """
    head = self._net.head
    if not head.reads_exemplars:
      return 0
    assert self._memory is not None
    held = self._memory.held()
    features, passed = self._features(codes_of(held.codes))
    head.set_exemplars(features, held.labels)
    return passed

  def _features(self, codes: tf.Tensor) -> tuple[tf.Tensor, int]:
    """Features [N, D] of codes, charged, and how many passed the net."""
    features = self._net.features_of_all(codes, self._context.charge)
    return tf.cast(features, tf.float32), 0 if self._net.upper is None else int(codes.shape[0])

  def end(self, examples: int, steps: int = 0) -> None:
    """Charges the examples, the steps and the seconds of the phase."""
    self._context.charge(flops.ZERO, examples=examples, steps=steps, began=self._began,
                         peak_bytes=self._context.distribution.peak_bytes())


def _counts(labels: tf.Tensor, num_classes: int) -> np.ndarray:
  """Examples of each class, [C]."""
  labels = np.asarray(labels)
  if labels.ndim == 2:
    return labels.sum(axis=0).astype(np.int64)
  return np.bincount(labels, minlength=num_classes)


def data_of(codes: tf.Tensor, labels: tf.Tensor, classes: objective_lib.Classes | None
            ) -> objective_lib.Data:
  """Data without a memory: codes [N, ...] and labels [N]."""
  return objective_lib.Data(codes, labels, tf.zeros([0], tf.int64), tf.zeros([0, 0]), classes)


def stored_data(train_on: str, memory: memory_lib.Memory | None, base_classes: tf.Variable,
                codes: tf.Tensor, labels: tf.Tensor, stored: deliveries.Stored
                ) -> tuple[objective_lib.Data, int, int]:
  """The data of an offline phase, and the first row and number of rows trained on.

  Args:
    train_on: one of `composition.TRAIN_ON`. memory: of sample numbers, or None.
    base_classes: bool [C].
    codes, labels: of all that is stored, as tensors.
  """
  seen = tf.constant(present(labels, len(stored.known)))
  classes = objective_lib.Classes(tf.constant(stored.known), seen, base_classes.read_value())
  first = stored.num_old if train_on == "current" else 0
  if memory is None:
    return data_of(codes, labels, classes), first, len(stored.labels) - first
  held = memory.held()
  if train_on in ("memory", "both"):
    new = slice(stored.num_old if train_on == "both" else len(stored.labels), None)
    codes, labels = (tf.concat([rows[new], tf.gather(rows, held.codes)], 0)
                     for rows in (codes, labels))
    return data_of(codes, labels, classes), 0, int(tf.size(labels))
  data = objective_lib.Data(codes, labels, held.codes, held.logits, classes,
                            memory.held_groups())
  return data, first, len(stored.labels) - first


def held_out_rows(labels: np.ndarray, num_new: int, old: np.ndarray, share: float, seed: int
                  ) -> np.ndarray:
  """Rows that are not trained on but corrected with, bool [N]; as many of each class.

  Args:
    labels: int64 [N], the first `num_new` of rows that came, others of a memory.
    old: bool [C], classes of which none came; without one nothing is held out.
    share: of the exemplars of the old class with the fewest; at least one.
    seed: of the choice.
  """
  found, counts = np.zeros([len(labels)], bool), np.bincount(labels[num_new:], minlength=len(old))
  counts = counts[old & (counts > 0)]
  if not len(counts):
    return found
  each, rng = max(1, int(share * counts.min())), np.random.default_rng(seed)
  for label in np.unique(labels):
    members = np.flatnonzero(labels == label)
    found[rng.permutation(members)[:min(each, len(members) - 1)]] = True
  return found


def present(labels: tf.Tensor, num_classes: int) -> np.ndarray:
  """Returns which classes have an example, bool [C]; labels int64 [N], or multi-hot [N, C]."""
  return _counts(labels, num_classes) > 0


def passes_of_stored(recipe: Recipe, loop: array_loop.ArrayLoop, data: objective_lib.Data,
                     memory: memory_lib.Memory | None, num_stored: int, new: int, watched: int,
                     num_classes: int) -> train_step.Passes:
  """`ArrayLoop.passes` of an offline phase of a sequence, with what is observed and remembered.

  Args:
    recipe, loop, memory: of the phase, before it. data: of the shapes of rows.
    num_stored: samples so far. new: those since the last phase. watched: of the validation split.
    num_classes: C.
  """
  held = 0 if memory is None else int(memory.size)
  compared = 0 if memory is None else memory.num_compared(new)
  gone_over, objective = num_stored if recipe.train_on == "all" else new, loop.step.objective
  if memory is not None and recipe.train_on == "memory":  # New samples enter it first.
    held, gone_over = 0, min(held + new, memory.capacity)
  if recipe.train_on == "both":
    held, gone_over = 0, new + held
  passes, forward = loop.passes(data, array_loop.PhaseRows(
      gone_over, recipe.epochs, recipe.batch_size, (0, 0), held=held, last="even",
      steps=recipe.steps))
  observed, observes = 0, objective.observes
  if observes is not None:
    observed = gone_over if observes.split == objective_lib.TRAINING else watched
    observed *= observes.passes(num_classes)
  stores_logits = memory is not None and memory.logits.shape[1] > 0
  return train_step.Passes(passes + observed + compared, forward + new * stores_logits)


class TaskNets(tf.Module):
  """Makes nets as tasks come; those of different tasks share the trainable part.

  Args:
    part: prepared for the shape of examples.
    head: of the net; with `is_per_task` each task gets a copy.
    objective: built with the first net: for the whole net, or for what the tasks share.
    optimizer: of each net.
    storage: of rows that are augmented; None: rows are codes. replay_batch, devices: see
      `ArrayLoop`.
  """

  def __init__(self, part: trainable_parts.TrainablePart, head: class_heads.Linear,
               objective: objective_lib.Objective, optimizer: composition.OptimizerSpec,
               storage: examples_lib.Storage | None, replay_batch: int,
               devices: Sequence[str] = ()):
    super().__init__()
    self._devices = tuple(devices)
    self._part, self._head, self._objective, self._optimizer = part, head, objective, optimizer
    self._storage, self._replay_batch = storage, replay_batch
    self.nets: dict[str, composition.ComposedNet] = {}

  def select(self, task: tasks.Task, seed: int, seeds: seeds_lib.Seeds) -> bool:
    """Makes the net of the task if it is new; it is the one in use from now on.

    Args:
      task: its name is that of its head.
      seed: of first weights. seeds: of the run.

    Returns:
      Whether it is the first net.
    """
    per_task = self._head.is_per_task
    self._key = task.name if per_task else _ONE
    if self._key in self.nets:
      return False
    is_first = not self.nets
    if (isinstance(self._part, trainable_parts.Drifting)
        and type(self._objective) is not objective_lib.Objective):
      raise ValueError(f"The objective {type(self._objective).__name__} is for trained nets; norms "
                       "that drift are of fine-tuning by cross-entropy. Take AllLayers, or leave "
                       "the objective out.")
    shared = None if is_first else next(iter(self.nets.values())).upper
    head = copy.deepcopy(self._head) if per_task else self._head
    net = composition.ComposedNet(
        self._part, head, task.num_classes, shared, seed=seed if is_first else None)
    if is_first:
      guarded = net.upper if per_task else net.model
      if guarded is not None:
        self._objective.build(guarded, backbone=net.upper, seed=seeds.pair("objective"))
    else:
      net.set_head(seed)
    optimizer = self._optimizer.build(net.trained_variables)
    if self._optimizer.keep:
      net.optimizer = optimizer  # A checkpoint holds its velocities.
    self.nets[self._key] = net
    storage = self._storage
    net.trained_by = net.loop(
        self._objective, optimizer, kind=task.kind, replay_batch=self._replay_batch,
        devices=self._devices,
        augment=None if storage is None else storage.train,
        prepare=None if storage is None else storage.evaluate,
        ahead=storage is not None and storage.holds_numbers)
    scale = net.trained_by.step.scaling.state
    if self._optimizer.keep and scale:
      net.loss_scale = list(scale)
    return is_first

  @property
  def net(self) -> composition.ComposedNet:
    """The net of the task selected last."""
    return self.nets[self._key]

  @property
  def loop(self) -> array_loop.ArrayLoop:
    """The loop of that net."""
    return self.net.trained_by

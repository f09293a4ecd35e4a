# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The gradient learner: one class, one compiled loop; a method is what it is made of.

                     net, head           objective     memory           trains on   replay  reset
  fine-tuning        AllLayers                                          current
  head, last layers  HeadOnly, LastLayers                               current
  split head         HeadOnly, Split                                    current
  EWC, MAS, SI, LwF  AllLayers           Ewc, ...                       current
  RWalk              AllLayers           Rwalk                          current
  CWR*               AllLayers, CwrStar                                 current
  A-GEM              AllLayers           Agem          Reservoir        current
  ER                 AllLayers                         GroupBalanced    current     yes
  ER-ACE, MIR, MER   AllLayers           ErAce, ...    Reservoir        current     yes
  ER-AML             AllLayers           ErAml         Reservoir        current     yes
  SCR                AllLayers, ProjectedExemplars  Scr  Reservoir      current     yes
  GEM                AllLayers           Gem           GroupBalanced    current
  GSS                AllLayers                         Gss              current     yes
  DER, DER++         AllLayers           Der           Reservoir        current     yes
  GDumb              AllLayers                         GroupBalanced    memory              yes
  reservoirs         AllLayers                         Reservoir, ...   memory
  iCaRL              AllLayers, NearestExemplars  Icarl  GroupBalanced  both
  WA, BiC            AllLayers, Aligned  Lwf           GroupBalanced    both
  joint              AllLayers                                          all                 yes
  each bucket alone  AllLayers                                          current             yes
  cumulative         AllLayers                                          all
  budgeted replay    AllLayers                                          all (`steps`)
  MAML, ProtoMAML    AllLayers, prototypes   meta      (see `fomaml`)

It serves tasks (with the head `PerTask`: each task has its own, on shared layers), buckets of one
task, episodes (by its functional form, see `set_tuning`), and sequences: there `learn` is shown the
base classes, and each offline phase trains on what is stored since the last one ("current") or from
the start ("all").

With an objective that observes examples, the last trained rows or the first dev split are shown to
it after a phase. Dev splits of tasks and buckets are trained on otherwise: nothing is chosen on
them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import time
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import flops
from suite.compute import mac_views
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.images import example_arrays
from suite.data.images import image_ops
from suite.models import heads
from suite.state import context as context_lib
from suite.training.episodic import fomaml
from suite.training.episodic import set_tuning
from suite.training.gradient import array_loop
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import frozen_backbone
from suite.training.gradient import optimizers
from suite.training.gradient import phase as phase_lib
from suite.training.gradient import schedules
from suite.training.gradient import train_step
from suite.training.gradient import trainable_parts
from suite.training.memories import memory as memory_lib
from suite.training.memories import reservoir
from suite.training.memories import rows_on_disk
from suite.training.objectives import objective as objective_lib

Arrays = tuple[tf.Tensor, tf.Tensor]  # Codes [N, ...] and labels [N].
_EXAMPLES = "examples"
# The record of a phase of which the budget covers no step.
UNTRAINED = {"trained_on": 0, "steps_event": 0, "train_loss": None}
_NO_PHASE = {"passes": 0, "teacher_passes": 0}
_CONSTANT = schedules.EpochConstant()
_MOMENTUM = optimizers.Momentum()


class GradientLearner(learner.SequenceLearner):
  """A composition that trains by gradients; see the module.

  Args:
    transform: of images, or `feature_set.Features`. net: what is trained, see `trainable_parts`.
    head: see `class_heads`; the net's own, or `Linear()`. objective: see `objectives`.
    memory: of examples; see the module. replay_batch: R, rows of the memory that each step takes
      besides.
    train_on: "current", what came last; "memory", which gets that first; "both", what came last and
      what the memory holds, as one set; "all", everything so far.
    remember: when a memory that is replayed takes rows in: "each_step", those that were trained on,
      with the logits that they had then, so that a phase replays its own rows, too; "each_phase",
      all new rows when it is over. Offline phases of a sequence do the latter in any case.
    reset: whether each phase starts from new weights.
    schedule: of the rate within a phase. optimizer: `optimizers.Momentum`, or a Keras optimizer.
    epochs: passes over the data of a phase. batch_size: B, rows of a step.
    steps: of each phase, instead of epochs: a budget that does not rise with the data.
    learning_rate: the schedule's peak; None: the optimizer's.
    base, meta: how the first classes, task or bucket are learned; see `composition`, `fomaml`.
    observe_batch: examples that an objective is shown at once; None: B.
    examples_on: where buckets, and a memory of them, are kept: "device", or "disk".
  """

  # `predict` stays one graph, whose variables training changes.
  predict_stays = keeps_budget = True
  shares_updates = True  # The devices of `mirrored` share the rows of each step.

  def __init__(
      self,
      *,
      transform: examples.Transform,
      net: trainable_parts.TrainablePart,
      head: class_heads.Linear | None = None,
      objective: objective_lib.Objective | None = None,
      memory: memory_lib.Memory | None = None,
      train_on: str = "current",
      remember: str = "each_phase",
      replay_batch: int = 0,
      reset: bool = False,
      schedule: schedules.EpochSchedule = _CONSTANT,
      optimizer: composition.OptimizerSpec = _MOMENTUM,
      epochs: float = 100,
      steps: int | None = None,
      batch_size: int = 64,
      learning_rate: float | None = None,
      base: composition.Base | None = None,
      meta: fomaml.FirstOrder | None = None,
      observe_batch: int | None = None,
      examples_on: str = "device",
  ):
    super().__init__()
    optimizer, rate = composition.optimizer_of(optimizer, learning_rate, schedule == _CONSTANT)
    composition.check_numbers(epochs=epochs, batch_size=batch_size, learning_rate=rate,
                              steps=1 if steps is None else steps)
    self.transform, self.net = transform, net
    self.head, self.memory, self.meta = head or class_heads.default(net), memory, meta
    self.objective = objective or objective_lib.Objective()
    self._composition = composition.Composition(
        self.head, self.objective, memory, train_on, replay_batch, optimizer, bool(meta),
        net.augments, batch_size, examples_on, remember)
    self._composition.check()
    self._recipe = phase_lib.Recipe(
        train_on, replay_batch, epochs, batch_size, rate, schedule,
        observe_batch or batch_size, optimizer.keep, steps)
    self._reset, self._optimizer, self._base = reset, optimizer, base
    self._intake: memory_lib.Intake | None = None
    self._task: tasks.Task | None = None

  @property
  @override
  def kinds(self) -> Sequence[str]:
    """Prototypes are of single-label tasks."""
    return (tasks.SINGLE_LABEL,) if self.head.start == "prototypes" else tasks.KINDS

  @property
  @override
  def chooses(self) -> bool:
    """The objective observes the first validation split."""
    observes = self.objective.observes
    return observes is not None and observes.split == objective_lib.VALIDATION

  @property
  @override
  def most_classes(self) -> int | None:
    """The slots of a memory in equal parts by class: each class has one at least."""
    rule = None if self.memory is None else self.memory.rule
    by_class = isinstance(rule, reservoir.GroupBalanced) and rule.by == "class"
    return self.memory.capacity if by_class and self.memory is not None else None

  @override
  def form(self, delivery: str) -> learner.BaseLearner:
    """Returns the functional form for episodes, with the same settings; else this learner."""
    if delivery != deliveries.EPISODES:
      return self
    if self._recipe.steps:
      raise refusals.RefusedError(
          f"GradientLearner.steps is {self._recipe.steps}, which is for phases; few-shot episodes "
          "are passed over by epochs. Leave steps out.")
    self._composition.check_episodes(
        self.net, reset=self._reset, has_base=self._base is not None)
    net: Any = self.net  # Checked above; `SetTuning` checks the optimizer.
    optimizer: Any = self._optimizer
    return set_tuning.TuneInEpisode(
        set_tuning.SetTuning(
            epochs=self._recipe.epochs, batch_size=self._recipe.batch_size,
            learning_rate=self._recipe.learning_rate, schedule=self._recipe.schedule,
            optimizer=optimizer, memory=0 if self.memory is None else self.memory.capacity,
            term=self.objective.in_episodes()), transform=self.transform, net=net)

  @property
  @override
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """See `contracts.learner.SequenceLearner`."""
    return self.net.frozen_features

  @property
  @override
  def unsaved_weights(self) -> Sequence[tf.Tensor]:
    """See `contracts.learner.BaseLearner`."""
    return self.net.frozen_weights()

  @property
  @override
  def see(self) -> Callable[[tf.Tensor], tf.Tensor] | None:
    """Sample numbers to images, where the net is trained on images that stay on disk; else None."""
    on_disk = self.net.augments and getattr(self.transform, "takes_numbers", False)
    return image_ops.of(self.transform).evaluate if on_disk else None

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    if task == self._task:
      return
    if self._task is None:
      # All variables that do not belong to one task.
      self._composition.check_task(task, context)
      self.net.prepare(example_arrays.shape(self.transform))
      # Of the run: a resumed one begins in another event. The name decides the draws of memories.
      self._seeds = seeds.Seeds(context.seeds.seed, "bucket learner")
      self.phases, self.num_learned = (tf.Variable(0, dtype=tf.int64, trainable=False, name=name)
                                       for name in ("phases", "samples_learned"))
      self.base_classes = tf.Variable(
          tf.zeros([task.num_classes], tf.bool), trainable=False, name="base_classes")
      self._holds_numbers = context.delivery == deliveries.SEQUENCE
      spec, self._storage = self.net.code_spec(), None
      if self.net.augments or self.net.is_identity:
        # Codes of a sequence are as evaluated.
        plain = self._holds_numbers or self.meta is not None
        self._storage, spec = self._composition.storage(
            image_ops.of(self.transform, as_evaluated=plain and self.see is None), spec)
      self.watched = phase_lib.Watched(spec.shape, spec.dtype) if self.chooses else None
      self.nets = phase_lib.TaskNets(
          self.net, self.head, self.objective, self._optimizer, self._storage,
          self._recipe.replay_batch, context.distribution.devices)
    elif not self.head.is_per_task:
      raise ValueError(f"GradientLearner learns one task, {self._task.key!r}, and was given "
                       f"{task.key!r}. Make another learner for it, or give it the head PerTask.")
    is_first = self.nets.select(task, context.seeds.integer("initial weights"), self._seeds)
    if is_first and self.meta is not None:
      if isinstance(self.net, trainable_parts.AllLayers):
        self.net.backbone.refuse_losses("meta-training")
      self.meta.build(self.composed.upper, self.head.start)
    if self._task is None:
      self._rows = phase_lib.data_of(
          tf.zeros([1, *spec.shape], spec.dtype), tf.zeros([1], tf.int64), None)
      if self.memory is not None:
        shape, dtype = ([], tf.int64) if self._holds_numbers else (spec.shape, spec.dtype)
        blank = self._loop.blank(1, self._rows)
        self.memory.build(shape, dtype, seed=self._seeds.pair("memory"),
                          num_classes=task.num_classes, with_logits=blank.keeps_logits)
        if self._composition.remember == composition.EACH_STEP and not self._holds_numbers:
          if not blank.stores:
            raise ValueError(
                f"The step of {type(self.objective).__name__} gives no rows to the memory, and "
                "GradientLearner.remember is 'each_step'. Call memory.store(rows) in the step, or "
                "set remember to 'each_phase'.")
          self._intake = memory_lib.Intake(self.memory)
    self._task = task

  @property
  def composed(self) -> composition.ComposedNet:
    """The net of the current task."""
    return self.nets.net

  @property
  def optimizer(self) -> train_step.Optimizer:
    """The optimizer of the task at hand."""
    return self._loop.step.optimizer

  @property
  def _loop(self) -> array_loop.ArrayLoop:
    return self.nets.loop

  @property
  def resets(self) -> bool:
    """Whether each phase starts from new weights."""
    return self._reset

  @property
  def num_classes(self) -> int:
    """C, the number of classes."""
    return self.composed.num_classes

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    return self.answer(self.encode(images))

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Encodes examples [B, ...] as codes [B, ...], which do not change after `learn`."""
    return self.net.encode(images)

  @override
  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Logits [B, C] of codes [B, ...]."""
    head = self.composed.head
    if head.reads_exemplars:
      return head.answers_to(self.composed.features(codes))
    return head.answers(self.composed.logits(codes))

  @override
  def keras_model(self) -> tf.keras.Model | None:
    """The net with its head; None where codes are not made by Keras layers, and of prototypes and
    exemplars."""
    below = self.composed.upper if self.net.augments else self.net.frozen_features
    if (self.head.start == "prototypes" or self.head.reads_exemplars or below is None
        or not self.net.exports):
      return None
    if isinstance(below, frozen_backbone.FrozenBackbone):
      below = below.model
    return heads.joined(below, self.composed.top)

  @override
  @spending.event
  def learn(self, experience: deliveries.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    """Learns a task, a bucket, or the base classes of a sequence."""
    if context.is_over:
      return dict(UNTRAINED)
    task, is_first = experience.task, not int(self.phases)
    refusals.check_held(self.see, experience.train)
    as_base = is_first and bool(self._base or self.meta and self._holds_numbers)
    # What an objective watches is not trained on while it is delivered.
    watched = experience.dev if self.watched is not None and is_first else None
    alone = as_base or self._holds_numbers or watched is not None
    parts = [experience.train] if alone else experience.fitted
    rows_on_disk.begin_event(self._storage, context.store)
    read = example_arrays.read(parts, task, self.transform, self._storage)
    record = self.meta.train(read, self.transform, context) if is_first and self.meta else {}
    if context.is_over:
      return {**record, **UNTRAINED}
    codes = self.codes(read.images, context)
    if self.watched is not None and watched is not None:
      # The first validation split is kept for an objective that observes it.
      kept = example_arrays.read([watched], task, self.transform, self._storage)
      self.watched.keep(self.codes(kept.images, context), kept.labels)
    current = composition.arrays_of(codes, read.labels)
    if as_base:
      return {**record, **self._learn_base(current, context)}
    missing = self._missing(current[1], experience.train.name, experience.new_classes)
    phase, rows = self._prepared(current, context)
    return {**record, **self._concluded(phase, phase.train(**rows), current, missing, context)}

  def codes(self, images: np.ndarray, context: context_lib.Context) -> tf.Tensor:
    """Codes [N, ...] of images [N, ...], charged."""
    began = time.monotonic()
    codes = rehearsal.large(
        images.shape, tf.as_dtype(images.dtype), lambda: tf.constant(images))
    if self._storage is None:  # A frozen net encodes each image once, for all learners.
      codes = self._loop.forward(
          "encode", self.encode, codes, context.charge, of_all=self.frozen_features)
    context.charge(flops.ZERO, began=began)
    return codes

  def learn_codes(self, codes: tf.Tensor, labels: tf.Tensor, context: context_lib.Context,
                  name: str) -> dict[str, Any]:
    """Trains a phase on codes [N, ...] that a learner made; `name` is that of the data."""
    missing = self._missing(labels, name)
    phase, rows = self._prepared((codes, labels), context)
    return self._concluded(phase, phase.train(**rows), (codes, labels), missing, context)

  def keep_codes(self, codes: tf.Tensor, labels: tf.Tensor, context: context_lib.Context) -> None:
    """Stores codes [N, ...] that a later phase on "all" is to train on."""
    kept = rehearsal.stored(codes)
    context.store.save(_EXAMPLES, [kept.numpy(), labels.numpy()])

  def _phase(self, context: context_lib.Context) -> phase_lib.Phase:
    """The next phase; resets the weights if the learner does so."""
    if self._reset and int(self.phases):
      self.composed.set_weights(context.seeds.integer("initial weights"))
    watched = None if self.watched is None else self.watched.examples()
    return phase_lib.Phase(self.composed, self._loop, self.objective, self.memory, watched,
                           self._recipe, not int(self.phases), context)

  def _learn_base(self, current: Arrays, context: context_lib.Context) -> dict[str, Any]:
    """Learns the head of the first classes; the objective then remembers the net with it."""
    base, phase = self._base or composition.Base(0), self._phase(context)
    codes, labels = current
    known = np.bincount(labels, minlength=self.num_classes) > 0
    self.base_classes.assign(known)
    features = self._loop.forward("features", self.composed.features, codes, context.charge)
    if self.composed.head.new_rows(labels) is not None:
      self.composed.head.start_classes(features, labels)
    classes = objective_lib.Classes(*[tf.constant(known)] * 3)
    outcome = phase.train_head(
        codes, phase_lib.data_of(features, labels, classes), base.epochs, base.learning_rate,
        self._optimizer.build(self.composed.top.trainable_variables))
    self.composed.head.set_exemplars(features, labels)
    self.phases.assign_add(1)
    rows = int(base.epochs * len(labels)) if outcome.plan.most is None else outcome.plan.num_rows
    phase.end(rows + outcome.observed, outcome.plan.num_steps if base.epochs else 0)
    record = {"base_classes": int(known.sum())}
    return {**record, "train_loss": outcome.loss} if base.epochs else record

  def _missing(self, labels: tf.Tensor, name: str, expected: Sequence[int] | None = None
               ) -> list[int]:
    """Classes of which the data `name` has no example, of those that are expected; None: all."""
    missing = np.flatnonzero(~phase_lib.present(labels, self.num_classes)).tolist()
    if expected is not None:
      missing = sorted(set(missing) & set(expected))
    if missing:
      logging.warning("%s has no example of the classes %s.", name, missing)
    return missing

  def _prepared(self, current: Arrays, context: context_lib.Context
                ) -> tuple[phase_lib.Phase, dict[str, Any]]:
    """The phase of a bucket or a task, or of base classes that are learned like any other.

    Returns:
      The phase, and the arguments of its `train`.
    """
    codes, labels = current
    phase = self._phase(context)
    if self._recipe.train_on == "memory" and not self._holds_numbers:
      phase.remember(codes, codes, labels, None)
    shown, shown_labels, came = codes, labels, phase_lib.present(labels, self.num_classes)
    if self._recipe.train_on == "both" and not self._holds_numbers and self.memory is not None:
      held = self.memory.held()
      shown, shown_labels = (rehearsal.joined([codes, held.codes]),
                             tf.concat([labels, held.labels], 0))
    held_out, share = None, self.composed.head.held_out_share
    if share:
      old = phase_lib.present(shown_labels, self.num_classes) & ~came
      apart = phase_lib.held_out_rows(shown_labels.numpy(), len(labels), old, share,
                                      context.seeds.integer("held out"))
      if apart.any():
        held_out = shown[apart], shown_labels[apart]
        shown, shown_labels = shown[~apart], shown_labels[~apart]
    if self._recipe.train_on == "all" and not self._holds_numbers:
      store, earlier = context.store, [e for e in context.store.entries() if e.name == _EXAMPLES]
      self.keep_codes(codes, labels, context)
      shown_labels = tf.constant(np.concatenate([*(store.load_one(e, 1) for e in earlier), labels]))
      shown = rehearsal.large(
          [len(shown_labels), *codes.shape[1:]], codes.dtype,
          lambda: tf.constant(np.concatenate([*(store.load_one(e, 0) for e in earlier), codes])))
    size = int(shown.shape[0])  # Of the first rows, which are trained on.
    if self.memory is None or self._holds_numbers or self._recipe.train_on == "both":
      data = phase_lib.data_of(shown, shown_labels, None)
    elif self._recipe.train_on == "memory":
      held = self.memory.held()
      data, size = phase_lib.data_of(held.codes, held.labels, None), int(held.labels.shape[0])
    else:
      held = self.memory.held()
      data = objective_lib.Data(
          rehearsal.joined([shown, held.codes]), tf.concat([shown_labels, held.labels], 0),
          size + tf.range(tf.size(held.labels, out_type=tf.int64)), held.logits,
          groups=self.memory.held_groups())
    if self._holds_numbers:  # Slots of a sequence that no label was of take no part.
      known = tf.constant(phase_lib.present(labels, self.num_classes))
      data = data._replace(classes=objective_lib.Classes(known, known, known))
    return phase, {"data": data, "size": size, "last": "even" if self._holds_numbers else "fill",
                   "intake": self._intake, "now": came, "held_out": held_out}

  def _concluded(self, phase: phase_lib.Phase, outcome: phase_lib.PhaseOutcome, current: Arrays,
                 missing: Sequence[int], context: context_lib.Context) -> dict[str, Any]:
    """Remembers what a phase was trained on, and charges it; returns the record."""
    codes, labels = current
    if not self._holds_numbers:
      if self.memory is not None and self._recipe.train_on != "memory" and not self._intake:
        phase.remember(codes, codes, labels, None)
      phase.show_exemplars()
    elif not int(self.phases):
      self.base_classes.assign(phase_lib.present(labels, self.num_classes))
      if self.composed.head.reads_exemplars:
        self.composed.head.set_exemplars(
            self.composed.features_of_all(codes, context.charge), labels)
    self.phases.assign_add(1)
    phase.end(outcome.plan.num_rows, outcome.plan.num_steps)
    return {"trained_on": outcome.plan.size, "steps_event": outcome.plan.num_steps,
            "train_loss": outcome.loss, "classes_missing": missing,
            **memory_lib.about(self.memory, len(labels), int(self.phases) == 1)}

  @override
  @spending.event
  def learn_stored(self, stored: deliveries.Stored, context: context_lib.Context
                   ) -> dict[str, Any]:
    """Trains one offline phase."""
    if context.is_over:
      return {**UNTRAINED, **_NO_PHASE}
    codes, labels = composition.arrays_of(stored.codes, stored.labels)
    phase, num = self._phase(context), len(stored.labels)
    known = tf.constant(stored.known)
    new, entered = slice(stored.num_old, num), 0
    numbers = tf.range(stored.num_old, num, dtype=tf.int64)

    def codes_of(held: tf.Tensor) -> tf.Tensor:
      return tf.gather(codes, held)

    def remember() -> int:
      return phase.remember(numbers, codes[new], labels[new], known, codes_of=codes_of)

    if self._recipe.train_on == "memory":
      entered = remember()
    data, first, size = phase_lib.stored_data(
        self._recipe.train_on, self.memory, self.base_classes, codes, labels, stored)
    outcome = phase.train(data, size, first=first, last="even",
                          now=phase_lib.present(labels[new], self.num_classes))
    if self.memory is not None and self._recipe.train_on != "memory":
      entered = remember()
    entered += phase.show_exemplars(codes_of)
    self.phases.assign_add(1)
    self.num_learned.assign(num)
    phase.end(outcome.plan.num_rows, outcome.plan.num_steps)
    passes, forward = self._loop.passes(data, outcome.plan)
    record = {"passes": passes + outcome.observed + phase.compared, "train_loss": outcome.loss,
              "teacher_passes": forward + outcome.started + entered}
    return record if self.memory is None else {**record, "memory_held": int(self.memory.size)}

  @override
  @spending.event
  def know_base(self, known: np.ndarray, context: context_lib.Context) -> dict[str, Any]:
    """Takes the net with its head as one that has learned the classes bool [C].

    A net that is meta-trained learns them from its images beside the sequence.
    """
    if self.meta is not None:
      beside = self.meta.base_examples()
      if beside is None:
        raise ValueError(fomaml.NO_BASE.format(int(np.sum(known))))
      record = self.meta.train(beside, self.transform, context)
      if context.is_over:
        return {**record, **UNTRAINED}
      of_sequence = beside.labels < self.num_classes
      codes = self.codes(beside.images[of_sequence], context)
      return {**record, **self._learn_base(
          composition.arrays_of(codes, beside.labels[of_sequence]), context)}
    if self.watched is not None:
      base = self._base or composition.Base()
      self.watched.keep_given(base.validation, self.objective)
    if self.composed.head.reads_exemplars:
      raise ValueError(
          f"{int(np.sum(known))} classes are known without an example of them, and the head "
          f"{type(self.head).__name__} answers by examples. Give the sequence base classes with "
          "examples, or take another head.")
    self.base_classes.assign(known)
    self.composed.head.after_base(tf.constant(known))
    self.objective.begin_phase()
    self.objective.end_phase(tf.constant(known))
    self.phases.assign_add(1)
    return {"base_classes": int(np.sum(known))}

  @override
  def stored_macs(self, num_stored: int) -> int | None:
    """MACs of an offline phase over `num_stored` samples, without prototypes of new classes."""
    backbone, head = self.mac_layers()
    each = mac_views.costs([*backbone, *head])
    new = num_stored - int(self.num_learned)
    watched = 0 if self.watched is None else int(tf.size(self.watched.labels))
    passes, forward = phase_lib.passes_of_stored(
        self._recipe, self._loop, self._rows, self.memory, num_stored, new, watched,
        self.num_classes)
    if self.memory is not None and self.composed.upper is not None:  # Features of exemplars.
      held = min(int(self.memory.size) + new, self.memory.capacity)
      forward += new * self.memory.rule.reads_features + held * self.head.reads_exemplars
    stores = not isinstance(self.net, trainable_parts.Drifting)
    return passes * (each.cached_pass if stores else each.uncached_pass) + (
        forward * each.cached_forward)

  @override
  def mac_layers(self) -> tuple[list[mac_views.Layer], list[mac_views.Layer]]:
    """Layers of the network, and of the head."""
    return self.net.layers(self.composed.upper), self.composed.head.layers()

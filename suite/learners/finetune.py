# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The gradient learner of NEVIS'22: for each task a model of its own, started from an earlier one.

Composed, not derived: `start` says where weights come from (Indep, FT-prev, FT-d, PT), `search`
which hyper-parameters are tried (seven for BHPO), `trainer` how one training goes, `multitask`
which earlier tasks are trained on, too (MT). FT-s is FT-d with `static`: the candidates are
compared on features of models trained independently of each other. This learner trains these as
well and pays for them, or takes the ones of an Indep run.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import override

from suite.compute import ledger
from suite.contracts import deliveries as deliveries_lib
from suite.contracts import examples
from suite.contracts import learner
from suite.contracts import planning
from suite.contracts import tasks
from suite.data.images import image_ops
from suite.learners import finetune_plan
from suite.learners import starts
from suite.metrics import schema
from suite.models import heads
from suite.models.own import own_model
from suite.state import context as context_lib
from suite.state import encoder_file
from suite.state import learner_state
from suite.state import trial_queue
from suite.state import weight_store
from suite.training.ensembles import trial_models
from suite.training.gradient import network as network_lib
from suite.training.gradient import optimizers
from suite.training.gradient import schedules
from suite.training.gradient import search as search_lib
from suite.training.gradient import trainer as trainer_lib
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.multitask import data_cache

_TRIAL = "trial"
# What a search may choose beside the rate, the smoothing, and what the trainer reads.
_SEARCHED = (trial_models.BACKBONE, "crop", "flip")


class Finetune(learner.Learner):
  """Fine-tunes one backbone per task.

  Args:
    backbone: a Keras model of images to features [B, D], or a function that makes one of
      image_shape (H, W, C); see `own_model`. Several by name, if `search.space` has "backbone".
    start: a `suite.learners.starts` object.
    search, trainer: hyper-parameter search and training recipe.
    transform: image preparation; its `size` is H = W.
    static: compare past tasks on independently trained backbones (FT-s), not the learner's own.
      True: train these, too. The name of a learner of the same work directory, or the directory of
      one (WORKDIR/NAME): take the models of that run, which has learned the same tasks; where it is
      missing when the first task comes, train them.
    multitask: train on earlier tasks, too (MT).
    ensemble: trials of each search that predict together (appendix I): probabilities are averaged
      with weights softmax(validation accuracy / 0.1). Later tasks start from the best one.
  """

  shares_updates = keeps_budget = chooses = True

  def __init__(
      self,
      backbone: own_model.Given | Mapping[str, own_model.Given],
      *,
      start: starts.Start = starts.Random(),
      search: search_lib.Search = search_lib.Search(),
      trainer: trainer_lib.Trainer = trainer_lib.Trainer(),
      transform: examples.Transform = image_ops.Nevis(),
      static: bool | str = False,
      multitask: auxiliary_lib.Multitask | None = None,
      ensemble: int = 1,
  ):
    super().__init__()
    self.transform = transform
    self._start, self._search = start, search
    self._trainer, self._static = trainer, starts.Independent(static)
    self._multitask, self._held = multitask, _Held()
    named = trial_models.backbones(backbone, "Finetune.backbone")
    named = _check_search(search, trainer, multitask, named, transform)
    if len(named) > 1:
      for is_used, what in (
          (not isinstance(start, starts.Random), f"start is {type(start).__name__}"),
          (self._static.is_used, f"static is {static!r}"),
          (multitask is not None, "multitask is given")):
        if is_used:
          raise ValueError(
              f"Finetune.{what}, and Search.space tries the backbones {', '.join(named)}: weights "
              "of past tasks are those of one, and do not fit the others. Use starts.Random() "
              "alone, or set Search.space['backbone'] to one name.")
    if multitask is not None:
      if self._static.is_used:
        raise ValueError("Finetune was given static and multitask; multitask training compares "
                         "past tasks on its own models. Leave one of them out.")
      if multitask.rule.needs_errors and isinstance(
          start, (starts.Random, starts.Previous, starts.Pretrained, starts.FromTask)):
        raise ValueError(
            f"{type(multitask.rule).__name__} chooses auxiliary tasks by the kNN errors of past "
            f"models, which start {type(start).__name__} does not compute. Set Finetune.start to "
            "Nearest(), or the rule to EveryTask() or OneAtRandom().")
      self._held.cache = data_cache.DataCache(
          multitask.max_bytes, multitask.canvas_bytes)
    self._held.named = named
    self._models = trial_models.TrialModels(self._make_network, named, ensemble)
    self._predict: Callable[[tf.Tensor], tf.Tensor] | None = None

  def _make_network(self, backbone: own_model.Backbone, task: tasks.Task,
                    context: context_lib.Context | planning.PlanContext) -> network_lib.Network:
    return network_lib.Network(
        backbone, image_size=self.transform.size, kind=task.kind,
        num_classes=task.num_classes, momentum=self._trainer.momentum,
        weight_decay=self._trainer.weight_decay, optimizer=self._trainer.optimizer,
        channels=self.transform.shape[-1], loss=self._trainer.loss,
        distribution=context.distribution,
        schedule_names=self._search.values("schedule") or ("cosine",))

  @property
  @override
  def unsaved_weights(self) -> Sequence[tf.Tensor]:
    """The weights of the net at hand; the models of all tasks are files of the store."""
    return self._models.newest_weights()

  @property
  @override
  def deliveries(self) -> Sequence[str]:
    """Separate tasks only, if the learner trains on earlier ones, too."""
    is_multitask = self._multitask is not None
    return (deliveries_lib.TASKS,) if is_multitask else deliveries_lib.DELIVERIES

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    sizes = self._search.values("batch_size") or self._trainer.batch_sizes()
    further = () if self._multitask is None else (self._multitask.batch_size,)
    for size in (*sizes, *further):  # Before any work, not when the first one comes.
      context.distribution.check_batch(size)
    self._task = task
    known = [e for e in context.store.entries() if e.name == weight_store.safe_name(task.key)]
    # The network of another task must not answer for this one.
    self._predict = self._models.predictor(task, context, known[-1]) if known else None

  @override
  def learn(self, experience: deliveries_lib.Experience, context: context_lib.Context
            ) -> dict[str, Any]:
    task = experience.task
    network = self._models.network(task, context)
    fresh = network.initial_weights(context.seeds.integer("initial weights"))
    record: dict[str, Any] = {}
    past = _PastModels(task, context, fresh, network.backbone, self._static)
    if self._start.pretrained is not None:
      found = self._pretrained(self._start.pretrained, network, experience, context)
      past.pretrained = found.weights
      record["pretrained"] = encoder_file.digest(found.weights)
      if found.year is not None:
        record["pretrained_year"] = found.year
    if self._static.is_used:
      past.run = self._static.run(context, task)
      if past.run is None:
        self._train(experience, context, fresh, starts.Independent.PREFIX + task.key)
      record["independent_models"] = "trained here" if past.run is None else str(self._static.given)
    choice = self._start.choose(past.entries(), starts.KnnErrors(
        network, experience, transform=self.transform, context=context, load=past.compared))
    weights = fresh
    if choice.entry is not None:
      # A past backbone under a new head; the head too if it is the same task.
      weights = past.load(choice.entry)
      if choice.entry.name != weight_store.safe_name(task.key):
        weights = [*weights[:network.num_backbone_weights], *fresh[network.num_backbone_weights:]]
    auxiliary = self._auxiliary(experience, context, network, choice, past)
    if auxiliary is not None:
      record["auxiliary"] = auxiliary.describe()
    trials, best, entry, members = self._train(experience, context, weights, task.key, auxiliary)
    self._predict = self._models.predictor(task, context, entry)
    if self._models.num_members > 1:
      record["ensemble"] = members
    return {
        schema.START: {"from": starts.RANDOM if choice.entry is None else choice.entry.name,
                       "candidates": choice.candidates}, **record, schema.TRIALS: trials,
        schema.BEST_TRIAL: best, schema.VALIDATION_ERROR: trials[best][schema.VALIDATION_ERROR]}

  def _pretrained(self, start: starts.Pretrained, network: network_lib.Network,
                  experience: deliveries_lib.Experience, context: context_lib.Context
                  ) -> encoder_file.Starting:
    """The pretrained backbone, whose cost is charged at the first task."""
    found = self._held.starting = self._held.starting or start.load(
        network.backbone, lambda seed: network.initial_weights(seed)[:network.num_backbone_weights])
    if not len(experience.history) and not context.journal.has("pretrained"):
      # An error if it does not: nothing was spent before.
      context.ledger.grant(1, lambda _: ledger.Known(found.cost["flops"], found.cost["macs"]))
      context.journal.once("pretrained", lambda: context.ledger.charge("pretrain", **found.cost))
    return found

  def _auxiliary(
      self, experience: deliveries_lib.Experience, context: context_lib.Context,
      network: network_lib.Network, choice: starts.Choice, past: _PastModels
  ) -> auxiliary_lib.Auxiliary | None:
    """The earlier tasks that this one is trained with; None for the first task."""
    settings, cache = self._multitask, self._held.cache
    if settings is None or cache is None:
      return None
    keys = {weight_store.safe_name(key): key for key in experience.history.keys}
    chosen = [keys.get(name, name) for name in settings.rule.choose(
        [entry.name for entry in past.entries()], choice.candidates)]
    if not chosen:
      return None
    heads: dict[str, Any] = {}
    if choice.entry is not None:  # The head that fits this backbone.
      heads[keys.get(choice.entry.name, "")] = past.load(
          choice.entry)[network.num_backbone_weights:]
    return auxiliary_lib.build(
        settings, cache, chosen, history=experience.history, context=context,
        feature_size=network.backbone.output_shape[-1], known_heads=heads,
        transform=self.transform)

  def _train(self, experience: deliveries_lib.Experience, context: context_lib.Context,
             weights: list[np.ndarray], name: str,
             auxiliary: auxiliary_lib.Auxiliary | None = None) -> Any:
    """Searches and trains; the best trials' weights are kept under `name`."""
    is_compared = name.startswith(starts.Independent.PREFIX)  # One model, to choose a start by.
    phase = "select" if is_compared else (
        "search" if self._search.num_trials > 1 else context.phase)
    chooses = len(self._models.names) > 1
    # Trials differ in how they augment at most, so all are validated on the same prepared images.
    validation = functools.cache(
        lambda: self._trainer.validation(experience, self.transform, context))

    def train(trial: int, hyper: dict[str, Any], within: context_lib.Context) -> dict[str, Any]:
      key, journal = trial_queue.key(name, trial), within.journal
      if trial and within.ledger.is_cut and not journal.has(key) and journal.partial(key) is None:
        return {"status": "untrained"}
      network = self._models.network(experience.task, context, hyper.get(trial_models.BACKBONE))
      # Past weights would be those of one architecture.
      start = weights if not chooses else network.initial_weights(
          context.seeds.integer("initial weights"))
      return self._trainer.fit(
          network, experience, start=start, hyper=hyper,
          transform=_varied(self.transform, hyper), context=within,
          seeds=context.seeds.child("trial", trial), key=key, phase=phase,
          save_as=f"{_TRIAL}{trial}+{name}", auxiliary=auxiliary, validation=validation)

    trials: list[dict[str, Any]] = []
    for wave in self._search.waves(
        trials, context.seeds.integer("search"),
        decide=lambda first, propose: context.journal.once(f"{name}/from trial{first}", propose)):
      trials += search_lib.with_results(wave, context.trials.run(name, train, wave, context))
      if context.ledger.is_cut:  # A search ends with what is there.
        trials = [t for t in trials if t["status"] != "untrained"] or trials[:1]
        break
    best = search_lib.best_of(trials)
    saved = [context.store.own(f"{_TRIAL}{t['trial']}+{name}") for t in trials]
    entry, members = self._models.keep(name, trials, saved, context, 1 if is_compared else None)
    return trials, best, entry, members

  def plan(self, planned: planning.PlannedTask, context: planning.PlanContext
           ) -> planning.Footprint:
    """See `planning.Planner`."""
    return finetune_plan.learn(self._planned_parts(context), planned, context)

  def plan_predict(self, planned: planning.PlannedTask, num: int, batch_size: int,
                   context: planning.PlanContext) -> None:
    finetune_plan.predict(self._planned_parts(context), planned, num, batch_size, context)

  def _planned_parts(self, context: planning.PlanContext) -> finetune_plan.Parts:
    trainer = self._trainer
    costs = finetune_plan.shared_costs(
        self._held.named, self._make_network, self.transform, context,
        same=(trainer.momentum, trainer.weight_decay, trainer.optimizer, trainer.loss,
              self.transform, self._search.values("schedule")))
    return finetune_plan.Parts(
        self._start, self._search, self._trainer, self._static, self._multitask,
        self._models.num_members, costs)

  @override
  def keras_model(self) -> tf.keras.Model | None:
    """The backbone with the task's head; None of an ensemble."""
    network = self._models.of_one(self._predict)
    return None if network is None else heads.joined(network.backbone, network.head)

  @override
  def predict(self, images: tf.Tensor) -> tf.Tensor:
    if self._predict is None:
      raise RuntimeError(
          f"Task {self._task.key!r} has not been learned yet; deliver its Train event first.")
    return self._predict(images)


def _varied(transform: examples.Transform, hyper: Mapping[str, Any]
            ) -> examples.Transform:
  """The transform with the crop and the flip that a trial has drawn."""
  if not {"crop", "flip"} & set(hyper):
    return transform
  vary = getattr(transform, "varied", None)
  if vary is None:
    raise ValueError(f"Search.space has crop or flip, and Finetune.transform, a "
                     f"{type(transform).__name__}, has neither. Set it to image_ops.Nevis(), or "
                     "remove them from the space.")
  return vary(crop=hyper.get("crop", True), flip=hyper.get("flip", True))


class _Held:
  """What is read once. A plain class, so that checkpoints do not track it."""

  starting: encoder_file.Starting | None = None
  cache: data_cache.DataCache | None = None
  named: Mapping[str, own_model.Backbone] = {}


@dataclasses.dataclass
class _PastModels:
  """The models that a task may start from, in a Train event.

  Attributes:
    task, context: of the event.
    fresh: the weights of a new model of the task; its backbone is `backbone`.
    independent, run: the models that FT-s compares; run: where they are, None: in the own store.
    pretrained: the weights of the pretrained backbone, if there is one.
  """

  task: tasks.Task
  context: context_lib.Context
  fresh: list[np.ndarray]
  backbone: tf.keras.Model
  independent: starts.Independent
  run: weight_store.WeightStore | None = None
  pretrained: Sequence[np.ndarray] = ()

  def entries(self) -> list[weight_store.Entry]:
    """The learner's own past models, oldest first."""
    return [entry for entry in trial_models.past(self.context)
            if not entry.name.startswith(starts.Independent.PREFIX)]

  def load(self, entry: weight_store.Entry) -> list[np.ndarray]:
    """The weights of a past model, backbone first."""
    if entry == starts.PRETRAINED:
      return list(self.pretrained)
    found = self.context.store.load(entry)
    if entry.name != weight_store.safe_name(self.task.key):
      return found
    # The task may have got further classes, whose places begin as those of a new head.
    return [learner_state.grown(old, new) for old, new in zip(found, self.fresh)]

  def compared(self, entry: weight_store.Entry | None) -> list[np.ndarray]:
    """The weights whose features are compared with those of other candidates; None: new ones."""
    if entry is None:
      return self.fresh
    if entry == starts.PRETRAINED or not self.independent.is_used:
      return self.load(entry)
    return self.independent.load(entry, self.context, self.run, self.backbone)


def _check_search(search: search_lib.Search, trainer: trainer_lib.Trainer,
                  multitask: auxiliary_lib.Multitask | None,
                  named: Mapping[str, own_model.Backbone], transform: examples.Transform
                  ) -> dict[str, own_model.Backbone]:
  """Refuses names that the training does not read and unknown values; returns backbones to try."""
  further = () if multitask is None else (auxiliary_lib.WEIGHT,)
  search.check_names((*_SEARCHED, *trainer_lib.SEARCHED, *further))
  if trainer.loss is not None and search.label_smoothing != 0.0:
    raise ValueError(f"Trainer.loss is the user's, and Search.label_smoothing is "
                     f"{search.label_smoothing}, which only cross-entropy reads. Set it to 0.0.")
  if not isinstance(trainer.optimizer, str):
    rate = optimizers.own_rate(optimizers.own(trainer.optimizer, "Trainer.optimizer"))
    if rate is None and not isinstance(search.learning_rate, (int, float)):
      raise ValueError("Trainer.optimizer has a learning rate schedule, so there is no rate to "
                       "search. Set Search.learning_rate to one number, which is only recorded.")
  chosen = search.values(trial_models.BACKBONE)
  unknown = [name for name in chosen if name not in named or not name]
  if unknown or (len(named) > 1 and not chosen):
    raise ValueError(
        f"Search.space has the backbones {chosen}, and Finetune.backbone has "
        f"{list(filter(None, named)) or 'one without a name'}. Give Finetune.backbone a dictionary "
        "of backbones by name, and let Search.space['backbone'] list those to try.")
  schedules.check_warmed_up(search.values("schedule"))
  for name, allowed in (("batch_size", int), ("crop", bool), ("flip", bool)):
    wrong = [v for v in search.values(name) if type(v) is not allowed or (allowed is int and v < 1)]
    if wrong:
      raise ValueError(
          f"Search.space has {wrong} for {name}; allowed are "
          f"{'True and False' if allowed is bool else 'whole numbers from 1'}.")
  _varied(transform, {name: True for name in ("crop", "flip") if name in search.space})
  return {name: made for name, made in named.items() if not chosen or name in chosen}

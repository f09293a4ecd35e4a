# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning (Antoniou et al., 2020): a task's few examples come in several sets.

An episode (a task) is a sequence of small support sets, each shown once, and a target set over all
their classes. A learner is meta-trained on many episodes, then scored on others: by its accuracy on
the target set after the last support set, as the mean over episodes with its 95% interval (over
the episodes of this one trained model).

Events: meta-training in equal parts, each followed by validation episodes if there are any, then
one Predict event of all test episodes. With validation episodes an ensemble answers: the mean
logits of the models with the highest validation accuracy (Antoniou et al., 2019).

"atm" is across-task memory (section 3.3.2, equation 8): the bytes of the state that `adapt` returns
after the last support set, over the bytes of all support images of the task as float32.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import copy
import dataclasses
import functools
import math
import time
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import ledger
from suite.compute import private_tensorflow
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import spending
from suite.contracts import tasks
from suite.data.episodes import episodes as episodes_lib
from suite.metrics import episodic
from suite.metrics import own_metrics
from suite.metrics import schema
from suite.protocols import run_state
from suite.state import context as context_lib
from suite.state import sample_images
from suite.state import state_log
from suite.state import weight_store
from suite.training.episodic import episode_graphs
from suite.training.episodic import episode_questions
from suite.training.scoring import evaluation
from suite.training.scoring import scoring

MODEL = "meta-model"
_NO_METRICS = own_metrics.OwnMetrics()
_LOSSES_AT_ONCE = 20  # Updates between two reports of the loss.
# Fields of `Compute` that a run goes on with, and what records leave out.
_ROUNDING = {"task_batching": episode_graphs.LOOP, "compiled": False}
DESCRIPTION = descriptions.ProtocolDescription(
    "cfsl", measures=(descriptions.Measure("accuracy", "accuracy"),),
    curve=descriptions.RecordCurve(
        "Updates", "Validation accuracy", schema.UPDATES, schema.VALIDATION_ACCURACY),
    panels=(descriptions.VALIDATIONS,))


@dataclasses.dataclass(frozen=True)
class Validation:
  """How meta-training is validated, and how many of its models answer in the end.

  Attributes:
    episodes: of further classes.
    num_episodes: number of episodes validated on, always the first ones.
    every: number of events between validations.
    ensemble: number of models, those that did best on validation, whose logits are averaged; at
      most one more is on disk at any time.
  """

  episodes: episodes_lib.Episodes
  num_episodes: int = 600
  every: int = 1
  ensemble: int = 5


@dataclasses.dataclass(frozen=True)
class Compute:
  """How episodes are computed; the results are the same up to rounding.

  Attributes:
    episodes_at_once: training episodes that run side by side on a replica, each with all
      intermediate results of its gradient.
    task_batching: "loop", or "grouped": all episodes of a replica's update at once, and of a batch
      of answers, as one net of grouped convolutions, for learners that have that form (MAML);
      records say so. None: "grouped" for these on a GPU, which a small net leaves idle most of the
      time, else "loop"; a resumed run keeps its form.
    answers_at_once: validation and test episodes of one call; None: 8, or 50 where images are
      encoded before or episodes are grouped. The last call is filled up with further episodes,
      which are charged.
    compiled: whether XLA compiles an update, and a batch of answers; records say so. Costs are
      counted from the graphs of one episode after the other, before compilation.
    device_share: training images that take at most this share of the memory of the GPU, if there
      is one, stay there, and episodes are formed there; larger sets come from the host's pipeline.
  """

  episodes_at_once: int = 2
  task_batching: episode_graphs.Batching | None = None
  answers_at_once: int | None = None
  compiled: bool = False
  device_share: float = 0.5

  def chosen(self, learner: learner_lib.EpisodicLearner, device: str,
             records: Sequence[Mapping[str, Any]]) -> Compute:
    """With a batching in place of None: of the run's records, or the best for its device."""
    if self.task_batching is not None:
      return self
    is_grouped = schema.TASK_BATCHING in records[0] if records else (
        learner.can_group and "GPU" in device)
    return dataclasses.replace(
        self, task_batching=episode_graphs.GROUPED if is_grouped else episode_graphs.LOOP)

  def check(self, records: Sequence[Mapping[str, Any]]) -> None:
    """Refuses graphs that round otherwise than before, or that XLA would refuse after minutes."""
    if self.compiled and private_tensorflow.is_deterministic():
      raise ValueError("cfsl.Compute.compiled = True: XLA has no deterministic gradient of max "
                       "pooling. Give --no-deterministic, too, or leave it out.")
    if self.answers_at_once is not None and self.answers_at_once < 1:
      raise ValueError(f"cfsl.Compute.answers_at_once = {self.answers_at_once}; allowed is a "
                       "number of episodes from 1 on.")
    for name, default in _ROUNDING.items() if records else ():
      now, before = getattr(self, name), records[0].get(name, default)
      if before != now:
        raise ValueError(
            f"The run began with cfsl.Compute.{name} = {before!r}, and now it is {now!r}: the "
            f"numbers would differ. Set cfsl.Compute.{name} = {before!r}, or give another "
            "--workdir.")

  def describe(self) -> dict[str, Any]:
    """The part of a record that says by which graphs numbers were rounded; {}: by the default."""
    return {name: getattr(self, name) for name, default in _ROUNDING.items()
            if getattr(self, name) != default}


_COMPUTE = Compute()


@refusals.checkable
@descriptions.describes(DESCRIPTION)
def run(
    learner: learner_lib.EpisodicLearner,
    *,
    state: run_state.RunState,
    episodes_train: episodes_lib.Episodes,
    episodes_test: episodes_lib.Episodes,
    updates: int = 200,
    updates_per_event: int = 50,
    tasks_per_update: int = 4,
    test_episodes: int = 600,
    validation: Validation | None = None,
    compute: Compute = _COMPUTE,
) -> dict[str, Any]:
  """Takes `updates` steps on `tasks_per_update` episodes each, then tests; returns the summary.

  Args:
    learner: it is meta-trained, unless `updates` is 0.
    state: of the run.
    episodes_train, episodes_test: of disjoint sets of classes; see `episodes.check_classes`.
    updates, updates_per_event: meta-updates in all, and between two saved states.
    tasks_per_update: episodes of an update, distributed over the replicas.
    test_episodes: number of episodes tested on, the first ones; 0: none, the costs of a task alone
      are counted from the graphs.
    validation: see there; None: the last model is tested.
    compute: see there.
  """
  learner = refusals.check_learner(
      learner, deliveries.EPISODES, also=("meta_loss",) if updates else (), remedy=(
          "It learns within each task alone and is not meta-trained: set cfsl.run.updates = 0, or "
          "take a learner that is, for example ProtoNet."))
  episodes_test.check_transform(learner.transform)
  _check([episodes_train, *([validation.episodes] if validation else []), episodes_test], updates,
         updates_per_event, test_episodes)
  if updates:
    episodes_lib.check_classes(episodes_train, episodes_test)
    if validation is not None:
      episodes_lib.check_classes(validation.episodes, episodes_test, "Validation")
    state.distribution.check_batch(tasks_per_update)
  training = _Training(episodes_train, updates_per_event, tasks_per_update)
  events = _EpisodicRun(learner, state, episodes_test, training, validation, compute)
  if updates and events.graphs.learner.optimizer is None:
    raise refusals.RefusedError(
        f"{type(learner).__name__} was made without meta-training and has no optimizer, but "
        f"updates={updates}. Set cfsl.run.updates = 0, or give the learner its training.")
  num_parts = updates // updates_per_event
  for event in range(state.done, num_parts + 1):
    is_test = event == num_parts
    state.begins("test" if is_test else f"meta-train, updates {event * updates_per_event + 1:,} to "
                 f"{(event + 1) * updates_per_event:,}", total=num_parts + 1)
    context = state.context()
    context.store.keep_only(MODEL, events.best_models())
    if not is_test:
      state.note_data(state_log.trained(sample_images.EPISODE), episodes_train)
    record, predictions = (events.test(context, test_episodes) if is_test else
                           (events.meta_train(context, event), None))
    state.commit({schema.PROTOCOL: DESCRIPTION.name, **episodes_test.describe(), **record,
                  **events.compute.describe()}, predictions)
  return summarize(state.records)


def summarize(records: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
  """The test event's scores and the costs of the run, from records alone."""
  losses, last = [r[schema.LOSS] for r in records if r.get(schema.LOSS) is not None], records[-1]
  names = (schema.TASK_TYPE, schema.WAY, schema.SHOT, schema.NUM_SUPPORT_SETS, schema.CONVENTION,
           schema.FALLBACK, schema.ACCURACY, schema.ACCURACY_INTERVAL, schema.NUM_TASKS,
           schema.TRANSDUCTIVE, schema.ATM, schema.MACS_PER_TASK)
  validated = [r[schema.VALIDATION_ACCURACY] for r in records if schema.VALIDATION_ACCURACY in r]
  return {"protocol": DESCRIPTION.name, "meta_loss": losses[-1] if losses else None,
          "best_validation_accuracy": max(validated, default=None),
          **{name: last[name] for name in names},
          **ledger.costs(last)}


class _Feed(NamedTuple):
  """The training episodes of an event: `size` for each update, from number `first` on.

  With `on_device` their images are in the memory of the device.
  """

  episodes: episodes_lib.Episodes
  transform: examples.Transform
  size: int
  first: int
  on_device: bool = False

  def updates(self, graphs: episode_graphs.Graphs, distribution: distribution_lib.Distribution
              ) -> episode_graphs.ManyUpdates:
    """Returns the updates by these episodes."""
    if not self.on_device:
      return episode_graphs.ManyUpdates(graphs.updates, iter(self.batches(distribution)))
    with tf.device(distribution.devices[0]):
      images = tf.identity(self.episodes.images)

    def complete(chosen: tf.Tensor) -> Any:
      return episode_questions.prepared_episode(
          self.episodes.gather(chosen, images), self.transform)

    places = iter(distribution.dataset(lambda **shard: self.episodes.place_batches(
        self.size, first_index=self.first, **shard).prefetch(tf.data.AUTOTUNE)))
    return episode_graphs.ManyUpdates(graphs.updates_of(complete), places)

  def batches(self, distribution: distribution_lib.Distribution) -> Any:
    """Endless batches; each holds the episodes of an update, or a replica's share of them."""
    if distribution.is_single:
      return self._prepared(self.size)
    share = self.size // distribution.num_replicas
    return distribution.dataset(lambda **shard: self._prepared(share, **shard))

  def update_cost(
      self, graphs: episode_graphs.Graphs, counter: learner_lib.EpisodicLearner | None,
      task: tasks.Task, context: context_lib.Context) -> flops.Cost:
    """Cost of one update, counted on one device: it does not depend on the number of replicas.

    Args:
      graphs: of the learner; used on a single device.
      counter: a copy of the learner that has not begun, if there are several replicas.
      task, context: for `begin` of the copy.
    """
    if counter is not None:
      counter.begin(task, dataclasses.replace(context, distribution=distribution_lib.build()))
      graphs = episode_graphs.Graphs(counter, task.num_classes, batching=graphs.batching)
    return graphs.cost_of_episodes(
        ("update", self.size), self.episodes,
        lambda: graphs.update_cost(self._prepared(self.size).element_spec))

  def _prepared(self, size: int, **shard: Any) -> tf.data.Dataset:
    return episode_questions.prepared(
        self.episodes.batches(size, first_index=self.first, **shard), self.transform)


class _Training(NamedTuple):
  """Meta-training: `updates` of each event, and the episodes of an update."""

  episodes: episodes_lib.Episodes
  updates: int
  tasks_per_update: int


class _EpisodicRun:
  """The events of a run; begins the learner, or resumes it."""

  def __init__(self, learner: learner_lib.EpisodicLearner, state: run_state.RunState,
               episodes_test: episodes_lib.Episodes, training: _Training,
               validation: Validation | None, compute: Compute):
    self._learner, self._state, self._episodes_test = learner, state, episodes_test
    self._training, self._validation = training, validation
    self._task = tasks.Task("episode", tasks.SINGLE_LABEL, episodes_test.num_labels)
    self._counter = None if state.distribution.is_single else copy.deepcopy(learner)
    state.resume(learner, begin=[self._task], delivery=deliveries.EPISODES)

    num_classes = self._task.num_classes  # `self` reaches much that AutoGraph would convert.

    def logits(images: tf.Tensor) -> tf.Tensor:
      codes = learner.encode(learner.transform.evaluate(images))
      return learner.logits(learner.initial_state(num_classes), codes)

    refusals.check_width(  # Logits are [B, W] before the first support set.
        learner, self._task, logits,
        tf.TensorSpec([1, *episodes_test.images.shape[1:]], episodes_test.images.dtype))
    self.compute = compute = compute.chosen(learner, state.distribution.devices[0], state.records)
    compute.check(state.records)
    self.graphs = episode_graphs.Graphs(
        learner, num_classes, at_once=compute.episodes_at_once,
        distribution=state.distribution, batching=compute.task_batching or episode_graphs.LOOP,
        compiled=compute.compiled)
    # The run's seed determines the first training episode of an endless sequence.
    self._first = state.seeds.integer("training episodes") << 31
    self._cost: flops.Cost | None = None
    self._looks: episode_questions.EpisodeQuestions | None = None

  def best_models(self, *further: Mapping[str, Any]) -> list[int]:
    """Events whose saved models did best on validation, of the records and `further` ones."""
    return [] if self._validation is None else best_models(
        [*self._state.records, *further], self._validation.ensemble)

  def meta_train(self, context: context_lib.Context, event: int) -> dict[str, Any]:
    """Does the updates of an event, then validates if it is due; returns the record."""
    training, validation = self._training, self._validation
    done = self._state.records[-1][schema.UPDATES] if event else 0
    feed = _Feed(training.episodes, self._learner.transform, training.tasks_per_update,
                 self._first + done * training.tasks_per_update, self._state.distribution.holds(
                     training.episodes.images.dtype.size * int(np.prod(
                         training.episodes.images.shape)), self.compute.device_share))
    cost = self._cost = self._cost or feed.update_cost(
        self.graphs, self._counter, self._task, context)
    looks = None
    if validation is not None and (event + 1) % validation.every == 0:
      looks = self._looks = self._looks or episode_questions.EpisodeQuestions(
          self.graphs, validation.episodes, validation.num_episodes,
          self.compute.answers_at_once)
    look = functools.cache(lambda: flops.ZERO if looks is None else spending.price(
        lambda ledger: validate(looks, dataclasses.replace(context, ledger=ledger))))
    updates = context.ledger.grant(training.updates, lambda num: cost * num + look())
    if not updates:  # The budget is spent.
      return _trained(done, None)
    record = meta_train(self.graphs, feed, context, done, updates, cost)
    if looks is not None:
      record.update(validate(looks, context))
      if event in self.best_models({schema.EVENT: event, **record}):
        context.store.save(MODEL, [v.numpy() for v in self.graphs.model])
    return record

  def test(self, context: context_lib.Context, num_episodes: int
           ) -> tuple[dict[str, Any], dict[str, Any] | None]:
    """Tests the models that did best on validation, or the last one: (record, predictions)."""
    models = self.best_models()
    questions = episode_questions.EpisodeQuestions(
        self.graphs, self._episodes_test, max(1, num_episodes), self.compute.answers_at_once)
    if num_episodes:
      record, predictions = test(self.graphs, questions, context, models, self._state.metrics)
      self._state.keep_samples(sample_images.EPISODE, self._episodes_test)
    else:  # Costs without scores.
      predictions = None
      record = {schema.KIND: deliveries.PREDICT, schema.ROLE: "meta_test", schema.ACCURACY: None,
                schema.ACCURACY_INTERVAL: None, schema.NUM_TASKS: 0,
                schema.MACS_PER_TASK: questions.macs_per_task()}
    atm = None if rehearsal.counts_only() else self.graphs.across_task_memory(self._episodes_test)
    record.update({
        schema.MODELS: models, schema.ATM: atm, schema.TRANSDUCTIVE: self._learner.transductive})
    return record, predictions


def meta_train(
    graphs: episode_graphs.Graphs, feed: _Feed, context: context_lib.Context, first_update: int,
    updates: int, cost: flops.Cost
) -> dict[str, Any]:
  """Does `updates` updates at `cost` each, charged to "meta_train"."""
  began = time.monotonic()

  def make(num: int) -> float:
    updates = feed.updates(graphs, context.distribution)
    losses: list[float] = []
    while len(losses) < num:
      for loss in map(float, updates.take(min(_LOSSES_AT_ONCE, num - len(losses)))):
        losses.append(loss)
        if not math.isfinite(loss):
          raise FloatingPointError(
              f"The meta-loss is {loss} at update {first_update + len(losses)}: the meta-training "
              "has diverged. Start again in a new --workdir with a lower learning rate.")
      context.report(key="meta_train", step=first_update + len(losses), loss=losses[-1])
    return float(np.mean(losses))

  loss = rehearsal.few(graphs, "update", updates, make, blank=lambda: 0.0)
  cost *= updates
  context.charge(cost, phase="meta_train", steps=updates, began=began,
                 examples=updates * feed.size * len(feed.episodes.labels))
  return _trained(first_update + updates, loss)


def _trained(updates: int, loss: float | None) -> dict[str, Any]:
  return {schema.KIND: deliveries.TRAIN, schema.ROLE: "meta_train", schema.UPDATES: updates,
          schema.LOSS: loss}


def validate(questions: episode_questions.EpisodeQuestions, context: context_lib.Context
             ) -> dict[str, Any]:
  """Accuracy of the current model, charged to "validate"."""
  logits, labels = questions.ask(context, "validate")
  return {schema.VALIDATION_ACCURACY: float(np.mean(np.argmax(logits, axis=-1) == labels))}


def best_models(records: Sequence[Mapping[str, Any]], ensemble: int) -> list[int]:
  """Events whose models did best on validation, best first, ties by event; [] if there are none."""
  found = [(-r[schema.VALIDATION_ACCURACY], r[schema.EVENT]) for r in records
           if schema.VALIDATION_ACCURACY in r]
  return [event for _, event in sorted(found)[:ensemble]]


def test(
    graphs: episode_graphs.Graphs, questions: episode_questions.EpisodeQuestions,
    context: context_lib.Context, models: Sequence[int] = (),
    metrics: own_metrics.OwnMetrics = _NO_METRICS,
) -> evaluation.Evaluation:
  """Accuracy over the test episodes, charged to "predict".

  Args:
    graphs, questions: of the learner.
    context: of this event.
    models: events whose saved models' logits are averaged; (): the current model.
    metrics: further metrics, of the user.
  """
  every = []
  for event in models or (None,):
    if event is not None:
      graphs.load(context.store.load(weight_store.Entry(event, MODEL)))
    logits, labels = questions.ask(context, "predict")
    every.append(logits)
  logits = np.mean(every, axis=0)  # [N, T, W] of N episodes with T targets; labels [N, T].
  ids = [episodes_lib.target_id(i, j) for i, j in np.ndindex(*labels.shape)]
  outputs = scoring.Outputs(np.array(ids), labels.reshape(-1), logits.reshape(labels.size, -1))
  record, predictions = evaluation.score(outputs, tasks.SINGLE_LABEL, metrics)
  by_task = np.mean(predictions["correct"].reshape(labels.shape), axis=1)
  return evaluation.Evaluation(
      {schema.KIND: deliveries.PREDICT, schema.ROLE: "meta_test", **record,
       **episodic.over_tasks(by_task), schema.MACS_PER_TASK: questions.macs_per_task()},
      predictions)


def _check(parts: Sequence[episodes_lib.Episodes], updates: int, updates_per_event: int,
           test_episodes: int) -> None:
  if test_episodes < 0:
    raise ValueError(f"cfsl.run.test_episodes={test_episodes}; choose a number of episodes, or 0 "
                     "to count the costs of a task alone.")
  if updates_per_event < 1 or updates % updates_per_event:
    raise ValueError(
        f"cfsl.run.updates={updates} is not a multiple of updates_per_event={updates_per_event}. "
        "Meta-training is saved after equal parts; choose a multiple.")
  if len({part.num_labels for part in parts}) > 1:
    raise ValueError(
        f"Training, validation and test episodes have {[part.num_labels for part in parts]} "
        "classes; a learner's state has one size. Choose the same way and number of support sets "
        "for all.")
  if len({part.convention for part in parts}) > 1:
    raise ValueError(f"Episodes follow the conventions {[part.convention for part in parts]}; a "
                     "number from a mixture has no meaning. Choose one for all.")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning (Antoniou et al., 2020): a task's few examples come in several sets.

An episode (a task) is a sequence of small support sets, each seen once and then gone, and a target
set over all their classes. A learner is meta-trained on many episodes, then scored on others: by
its accuracy on the target set after the last support set, as the mean over episodes with its 95%
interval (which says how sure the mean of this one trained model is).

Events: meta-training in equal parts, each followed by a look at the validation episodes if there
are any, then one Predict event of all test episodes. With validation episodes the answers are those
of an ensemble: the mean logits of the models that did best on them (Antoniou et al., 2019).

"atm" is across-task memory (section 4 of the paper): the bytes of the state that `adapt` returns
after the last support set, over the bytes of all support images of the task as float32.
"""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Mapping, Optional, Sequence, Tuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.data import episodes as episodes_lib
from suite.data import tasks
from suite.learners import learner as learner_lib
from suite.metrics import episodic
from suite.protocols import run_state
from suite.training import context as context_lib
from suite.training import evaluation
from suite.training import scoring
from suite.training import weight_store

_MODEL = "meta-model"
_TEST_BATCH = 8  # Test episodes of one call, which run at once.
_PARALLEL = 2  # Training episodes that run at once: each holds all that its gradient needs.


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
    episodes_validation: Optional[episodes_lib.Episodes] = None,
    validation_episodes: int = 600,
    validate_every: int = 1,
    ensemble: int = 5,
) -> Dict[str, Any]:
  """Takes `updates` steps on `tasks_per_update` episodes each, then tests; returns the summary.

  Args:
    learner: what is meta-trained, unless `updates` is 0.
    state: where the run is.
    episodes_train, episodes_test: of classes that are not in the other.
    updates, updates_per_event: meta-updates in all, and between two saved states.
    tasks_per_update: episodes of an update.
    test_episodes: how many are tested on, the first ones.
    episodes_validation: of further classes; None: the last model is tested.
    validation_episodes: the first so many of them are looked at, always the same.
    validate_every: so many events apart.
    ensemble: how many of the models that did best on validation answer together.
  """
  _check(state, (episodes_train, episodes_validation, episodes_test), updates, updates_per_event)
  task = tasks.Task("episode", tasks.SINGLE_LABEL, episodes_test.num_labels)
  state.resume(learner, begin=[task])
  graphs, num_parts = Graphs(learner, task.num_classes), updates // updates_per_event
  # The run's seed says where in the endless sequence of training episodes it begins.
  first = state.seeds.integer("training episodes") << 31
  for event in range(state.done, num_parts + 1):
    logging.info("Event %d/%d", event + 1, num_parts + 1)
    context, predictions = state.context(), None
    if event < num_parts:
      done = event * updates_per_event
      batches = episodes_train.batches(
          tasks_per_update, first_index=first + done * tasks_per_update).take(updates_per_event)
      record = meta_train(graphs, _prepared(batches, learner), context, done)
      if episodes_validation is not None and (event + 1) % validate_every == 0:
        record.update(validate(graphs, _first(episodes_validation, validation_episodes, learner),
                               context, validation_episodes))
        context.store.save(_MODEL, [v.numpy() for v in learner.trainable_variables])
    else:
      models = best_models(state.records, ensemble)
      record, predictions = test(graphs, _first(episodes_test, test_episodes, learner), context,
                                 test_episodes, models)
      record.update(models=models, atm=graphs.across_task_memory(episodes_test))
    state.commit({"protocol": "cfsl", **episodes_test.describe(), **record}, predictions)
  return summarise(state.records)


def summarise(records: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
  """The test event's scores, and what everything has cost, from records alone."""
  losses, last = [r["loss"] for r in records if r["kind"] == "train"], records[-1]
  names = ("task_type", "way", "shot", "num_support_sets", "convention", "fallback", "accuracy",
           "accuracy_interval_95", "num_tasks", "atm", "macs_per_task")
  validated = [r["validation_accuracy"] for r in records if "validation_accuracy" in r]
  return {"protocol": "cfsl", "meta_loss": losses[-1] if losses else None,
          "best_validation_accuracy": max(validated, default=None),
          **{name: last[name] for name in names},
          **ledger_lib.costs(last)}


def meta_train(
    graphs: Graphs, batches: tf.data.Dataset, context: context_lib.Context, first_update: int
) -> Dict[str, Any]:
  """One update for each batch of episodes, charged to "meta_train"."""
  spec = batches.element_spec
  cost = graphs.cost(graphs.update, spec)
  losses: List[float] = []
  began = time.monotonic()
  for batch in batches:
    losses.append(float(graphs.update(batch)))
    update = first_update + len(losses)
    if not math.isfinite(losses[-1]):
      raise FloatingPointError(
          f"The meta-loss is {losses[-1]} at update {update}: the meta-training has diverged. "
          "Start again in a new --workdir with a lower learning rate.")
    context.report(key="meta_train", step=update, loss=losses[-1])
  cost *= len(losses)
  context.ledger.charge(
      "meta_train", flops=cost.flops, macs=cost.macs, steps=len(losses),
      examples=len(losses) * _num_images(spec), seconds=time.monotonic() - began)
  return {"kind": "train", "role": "meta_train", "updates": first_update + len(losses),
          "loss": float(np.mean(losses))}


def validate(
    graphs: Graphs, batches: tf.data.Dataset, context: context_lib.Context, num_episodes: int
) -> Dict[str, Any]:
  """Accuracy of the model as it is, charged to "validate"."""
  logits, labels = _answers(graphs, batches, context, num_episodes, "validate")
  return {"validation_accuracy": float(np.mean(np.argmax(logits, axis=-1) == labels))}


def best_models(records: Sequence[Mapping[str, Any]], ensemble: int) -> List[int]:
  """Events whose models did best on validation, best first; of equals the earlier. [] if none."""
  found = [(-r["validation_accuracy"], r["event"]) for r in records if "validation_accuracy" in r]
  return [event for _, event in sorted(found)[:ensemble]]


def test(
    graphs: Graphs, batches: tf.data.Dataset, context: context_lib.Context, num_episodes: int,
    models: Sequence[int] = ()
) -> evaluation.Evaluation:
  """Accuracy over the first `num_episodes` episodes, charged to "predict"; labels stay here.

  Args:
    graphs, context: of this event.
    batches: of test episodes.
    num_episodes: how many count.
    models: events whose saved models answer together by their mean logits; (): as it is.
  """
  every = []
  for event in models or (None,):
    if event is not None:
      graphs.load(context.store.load(weight_store.Entry(event, _MODEL)))
    logits, labels = _answers(graphs, batches, context, num_episodes, "predict")
    every.append(logits)
  record, predictions = _score(np.mean(every, axis=0), labels)
  record["macs_per_task"] = graphs.macs_per_task(batches.element_spec)
  return evaluation.Evaluation(record, predictions)


def _answers(graphs: Graphs, batches: tf.data.Dataset, context: context_lib.Context,
             num_episodes: int, phase: str) -> Tuple[np.ndarray, np.ndarray]:
  """Logits [N, T, W] and labels [N, T] of the first N episodes."""
  spec = batches.element_spec
  num_batches = -(-num_episodes // spec.target_labels.shape[0])
  # Episodes beyond the last one wanted are computed and paid for, too, and dropped below.
  cost = graphs.cost(graphs.answer, spec[:3]) * num_batches
  logits, labels = [], []
  began = time.monotonic()
  for batch in batches.take(num_batches):
    logits.append(graphs.answer(batch[:3]).numpy())
    labels.append(batch.target_labels.numpy())
  context.ledger.charge(
      phase, flops=cost.flops, macs=cost.macs, examples=num_batches * _num_images(spec),
      seconds=time.monotonic() - began)
  return np.concatenate(logits)[:num_episodes], np.concatenate(labels)[:num_episodes]


def _first(episodes: episodes_lib.Episodes, num: int, learner: learner_lib.EpisodicLearner
           ) -> tf.data.Dataset:
  return _prepared(episodes.batches(min(_TEST_BATCH, num)), learner)


def _score(logits: np.ndarray, labels: np.ndarray) -> evaluation.Evaluation:
  """logits [N, T, W] and labels [N, T] of N episodes."""
  # Episode i is always the same, so its number and the place of a target name the question.
  ids = [f"episode {i}, target {j}" for i, j in np.ndindex(*labels.shape)]
  outputs = scoring.Outputs(np.array(ids), labels.reshape(-1), logits.reshape(labels.size, -1))
  record, predictions = evaluation.score(outputs, tasks.SINGLE_LABEL)
  by_task = np.mean(predictions["correct"].reshape(labels.shape), axis=1)
  record = {"kind": "predict", "role": "meta_test", **record, **episodic.over_tasks(by_task)}
  return evaluation.Evaluation(record, predictions)


class Graphs:
  """What is compiled: a meta-update and the answers to test episodes, many episodes in one graph.

  A batch is an `Episode` of B: support images [B, S, N, H, W, 3] and labels [B, S, N], target
  images [B, T, H, W, 3] and labels [B, T].

  Args:
    learner: for `update` it needs `meta_loss` and an `optimizer`.
    num_classes: W, of a whole task.
  """

  def __init__(self, learner: learner_lib.EpisodicLearner, num_classes: int):
    self._learner, self._num_classes = learner, num_classes
    self.update = tf.function(self._update)
    self.answer = tf.function(self._answer)

  def cost(self, fn: Any, spec: Any) -> flops.Cost:
    return flops.count(fn.get_concrete_function(spec))

  def load(self, arrays: Sequence[np.ndarray]) -> None:
    """Puts a saved model in the place of the learner's."""
    for variable, array in zip(self._learner.trainable_variables, arrays):
      variable.assign(array)

  def macs_per_task(self, spec: episodes_lib.Episode) -> Optional[float]:
    """Of learning one task and answering it, meta-training apart; None if it cannot be counted."""
    macs = self.cost(self.answer, spec[:3]).macs
    return None if macs is None else macs / spec.target_labels.shape[0]

  def across_task_memory(self, episodes: episodes_lib.Episodes) -> float:
    """Bytes of the state after all support sets over those of the support images as float32."""
    def last_state(images: tf.Tensor, labels: tf.Tensor) -> Any:
      state = self._learner.initial_state(self._num_classes)
      return self._learner.adapt(state, self._learner.transform.evaluate(images), labels)

    shape = episodes.images.shape[1:]
    per_set = episodes.setting.way * episodes.setting.shot
    kept = tf.function(last_state).get_concrete_function(
        tf.TensorSpec([per_set, *shape], tf.uint8), tf.TensorSpec([per_set], tf.int64))
    held = sum(part.shape.num_elements() * part.dtype.size
               for part in tf.nest.flatten(kept.structured_outputs))
    return held / (4 * episodes.num_support * int(np.prod(shape)))

  def _update(self, batch: episodes_lib.Episode) -> tf.Tensor:
    """One step down the mean meta-loss of B episodes, which is returned, [].

    Each episode's gradient is taken where its loss is made: the intermediate results of only
    `_PARALLEL` episodes are held at once, and the loop itself is not differentiated.
    """
    variables = self._learner.trainable_variables
    if batch.target_labels.shape[0] == 1:
      loss, gradients = self._gradients(tf.nest.map_structure(lambda part: part[0], batch))
    else:
      made = tf.float32, [tf.TensorSpec(v.shape, v.dtype) for v in variables]
      parts = tf.map_fn(self._gradients, batch, fn_output_signature=made,
                        parallel_iterations=_PARALLEL)
      loss, gradients = tf.nest.map_structure(lambda part: tf.reduce_mean(part, axis=0), parts)
    self._learner.optimizer.apply_gradients(zip(gradients, variables))
    return loss

  def _gradients(self, episode: episodes_lib.Episode) -> Tuple[tf.Tensor, List[tf.Tensor]]:
    """The meta-loss of one episode, and its gradient for each variable; 0 for those it misses."""
    variables = self._learner.trainable_variables
    with tf.GradientTape() as tape:
      loss = self._learner.meta_loss(episode)
    gradients = tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return tf.cast(loss, tf.float32), [tf.convert_to_tensor(g) for g in gradients]

  def _answer(self, batch: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """Logits [B, T, W] for the targets, whose labels are not even handed in."""
    return tf.map_fn(self._answer_one, batch, fn_output_signature=tf.float32,
                     parallel_iterations=_TEST_BATCH)

  def _answer_one(self, episode: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """Shows the support sets one after the other, each to the state that the others left."""
    support_images, support_labels, images = episode
    num_sets = support_images.shape[0]

    def adapt(s, state):
      return s + 1, self._learner.adapt(state, support_images[s], support_labels[s])

    # A loop in the graph, so that a graph for many sets is no larger than one for two.
    state = self._learner.initial_state(self._num_classes)
    if num_sets == 1:
      _, state = adapt(0, state)
    else:
      _, state = tf.while_loop(lambda s, _: s < num_sets, adapt, (tf.constant(0), state),
                               parallel_iterations=1, maximum_iterations=num_sets)
    return tf.cast(self._learner.logits(state, images), tf.float32)


def _prepared(
    batches: tf.data.Dataset, learner: learner_lib.EpisodicLearner) -> tf.data.Dataset:
  """The batches with images as the learner wants them."""
  def prepare(images: tf.Tensor) -> tf.Tensor:
    shape = images.shape
    flat = learner.transform.evaluate(tf.reshape(images, [-1, *shape[-3:]]))
    return tf.reshape(flat, [*shape[:-3], *flat.shape[1:]])

  def prepare_both(episode: episodes_lib.Episode) -> episodes_lib.Episode:
    return episode._replace(support_images=prepare(episode.support_images),
                            target_images=prepare(episode.target_images))

  return batches.map(prepare_both, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)


def _num_images(spec: episodes_lib.Episode) -> int:
  return int(np.prod(spec.support_labels.shape) + np.prod(spec.target_labels.shape))


def _check(state: run_state.RunState, parts: Sequence[Optional[episodes_lib.Episodes]],
           updates: int, updates_per_event: int) -> None:
  if updates % updates_per_event:
    raise ValueError(
        f"cfsl.run.updates={updates} is no multiple of updates_per_event={updates_per_event}. "
        "Meta-training is saved after equal parts; choose a multiple.")
  given = [part for part in parts if part is not None]
  if len({part.num_labels for part in given}) > 1:
    raise ValueError(
        f"Training, validation and test episodes have {[part.num_labels for part in given]} "
        "classes; a learner's state has one size. Choose the same way and number of support sets "
        "for all.")
  if len({part.convention for part in given}) > 1:
    raise ValueError(f"Episodes follow the conventions {[part.convention for part in given]}; a "
                     "number from a mixture means nothing. Choose one for all.")
  if not state.distribution.is_single:
    raise ValueError(f"cfsl runs on one device so far, got {state.distribution.describe()}. "
                     "Use --strategy one_device.")

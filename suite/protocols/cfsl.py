# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning (Antoniou et al., 2020): a task's few examples come in several sets.

An episode (a task) is a sequence of small support sets, each seen once and then gone, and a target
set over all their classes. A learner is meta-trained on many episodes, then scored on others: by
its accuracy on the target set after the last support set, as the mean over episodes with its 95%
interval (which says how sure the mean of this one trained model is).

Events: meta-training in equal parts, then one Predict event of all test episodes.
"""

from __future__ import annotations

import math
import time
from typing import Any, Dict, List, Mapping, Sequence, Tuple

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

_PARALLEL = 8  # Episodes that may run at once inside a graph.


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
) -> Dict[str, Any]:
  """Takes `updates` steps on `tasks_per_update` episodes each, then tests; returns the summary."""
  _check(state, episodes_train, episodes_test, updates, updates_per_event)
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
    else:
      batches = episodes_test.batches(min(_PARALLEL, test_episodes))
      record, predictions = test(graphs, _prepared(batches, learner), context, test_episodes)
    state.commit({"protocol": "cfsl", **_setting(episodes_test), **record}, predictions)
  return summarise(state.records)


def summarise(records: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
  """The test event's scores, and what everything has cost, from records alone."""
  losses, last = [r["loss"] for r in records if r["kind"] == "train"], records[-1]
  names = ("way", "shot", "num_support_sets", "accuracy", "accuracy_interval_95", "num_tasks")
  return {"protocol": "cfsl", "meta_loss": losses[-1] if losses else None,
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


def test(
    graphs: Graphs, batches: tf.data.Dataset, context: context_lib.Context, num_episodes: int
) -> evaluation.Evaluation:
  """Accuracy over the first `num_episodes` episodes, charged to "predict"; labels stay here."""
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
      "predict", flops=cost.flops, macs=cost.macs, examples=num_batches * _num_images(spec),
      seconds=time.monotonic() - began)
  return _score(np.concatenate(logits)[:num_episodes], np.concatenate(labels)[:num_episodes])


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

  def _update(self, batch: episodes_lib.Episode) -> tf.Tensor:
    """One step down the mean meta-loss of B episodes, which is returned, []."""
    variables = self._learner.trainable_variables
    with tf.GradientTape() as tape:
      losses = tf.map_fn(self._learner.meta_loss, batch, fn_output_signature=tf.float32,
                         parallel_iterations=_PARALLEL)
      loss = tf.reduce_mean(losses)
    gradients = tape.gradient(loss, variables)
    self._learner.optimizer.apply_gradients(zip(gradients, variables))
    return loss

  def _answer(self, batch: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    """Logits [B, T, W] for the targets, whose labels are not even handed in."""
    return tf.map_fn(self._answer_one, batch, fn_output_signature=tf.float32,
                     parallel_iterations=_PARALLEL)

  def _answer_one(self, episode: Tuple[tf.Tensor, ...]) -> tf.Tensor:
    support_images, support_labels, images = episode
    state = self._learner.initial_state(self._num_classes)
    for s in range(support_images.shape[0]):
      state = self._learner.adapt(state, support_images[s], support_labels[s])
    return self._learner.logits(state, images)


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


def _setting(episodes: episodes_lib.Episodes) -> Dict[str, int]:
  return {"way": episodes.way, "shot": episodes.shot, "num_classes": episodes.num_labels,
          "num_support_sets": episodes.num_support_sets}


def _check(state: run_state.RunState, episodes_train: episodes_lib.Episodes,
           episodes_test: episodes_lib.Episodes, updates: int, updates_per_event: int) -> None:
  if updates % updates_per_event:
    raise ValueError(
        f"cfsl.run.updates={updates} is no multiple of updates_per_event={updates_per_event}. "
        "Meta-training is saved after equal parts; choose a multiple.")
  if episodes_train.num_labels != episodes_test.num_labels:
    raise ValueError(
        f"Training episodes have {episodes_train.num_labels} classes, test episodes "
        f"{episodes_test.num_labels}; a learner's state has one size. Choose the same way and "
        "number of support sets for both.")
  if not state.distribution.is_single:
    raise ValueError(f"cfsl runs on one device so far, got {state.distribution.describe()}. "
                     "Use --strategy one_device.")

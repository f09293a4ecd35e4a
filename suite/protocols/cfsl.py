# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning (Antoniou et al., 2020): few examples of a task, and these in several sets.

An episode (a task) is a sequence of small support sets, each seen once and then gone, and a target set over all their
classes. A learner is meta-trained on many episodes, then scored on others: the accuracy on a target set after the
last support set, as the mean over episodes with its 95% interval (how sure this one trained model's mean is).

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
  """Meta-trains with `updates` updates on `tasks_per_update` episodes each, then tests; returns the summary."""
  _check(state, episodes_train, episodes_test, updates, updates_per_event)
  task = tasks.Task("episode", tasks.SINGLE_LABEL, episodes_test.num_labels)
  state.resume(learner, begin=[task])
  graphs = Graphs(learner, task.num_classes)
  # The run's seed says where in the endless sequence of training episodes it begins.
  first_episode = state.seeds.integer("training episodes") << 31
  num_parts = updates // updates_per_event
  for event in range(state.done, num_parts + 1):
    logging.info("Event %d/%d: %s", event + 1, num_parts + 1, "train" if event < num_parts else "predict")
    context, predictions = state.context(), None
    if event < num_parts:
      done = event * updates_per_event
      batches = episodes_train.batches(tasks_per_update, first_index=first_episode + done * tasks_per_update)
      record = meta_train(graphs, _prepared(batches, learner).take(updates_per_event), context, done)
    else:
      batches = episodes_test.batches(min(_PARALLEL, test_episodes))
      record, predictions = test(graphs, _prepared(batches, learner), test_episodes, context)
    state.commit({"protocol": "cfsl", **_setting(episodes_test), **record}, predictions)
  return summarise(state.records)


def summarise(records: Sequence[Mapping[str, Any]]) -> Dict[str, Any]:
  """The test event's scores, and what everything has cost, from records alone."""
  last = records[-1]
  names = ("way", "shot", "num_support_sets", "accuracy", "accuracy_interval_95", "num_tasks")
  return {
      "protocol": "cfsl", "meta_loss": next((r["loss"] for r in reversed(records) if r["kind"] == "train"), None),
      **{name: last[name] for name in names},
      **{k: v for k, v in last.items() if k.split("_")[0] in ("flops", "macs", "examples", "steps")}}


def meta_train(
    graphs: "Graphs", batches: tf.data.Dataset, context: context_lib.Context, first_update: int
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
      raise FloatingPointError(f"The meta-loss is {losses[-1]} at update {update}; the meta-training has "
                               "diverged. Start again in a new --workdir with a lower learning rate.")
    context.report(key="meta_train", step=update, loss=losses[-1])
  cost *= len(losses)
  context.ledger.charge(
      "meta_train", flops=cost.flops, macs=cost.macs, steps=len(losses),
      examples=len(losses) * _num_images(spec), seconds=time.monotonic() - began)
  return {"kind": "train", "role": "meta_train", "updates": first_update + len(losses),
          "loss": float(np.mean(losses))}


def test(
    graphs: "Graphs", batches: tf.data.Dataset, num_episodes: int, context: context_lib.Context
) -> evaluation.Evaluation:
  """Accuracy over the first `num_episodes` episodes, charged to "predict"; labels stay here."""
  spec = batches.element_spec
  cost, num_batches = graphs.cost(graphs.answer, spec[:3]), -(-num_episodes // spec.target_labels.shape[0])
  logits, labels = [], []
  began = time.monotonic()
  for batch in batches.take(num_batches):
    logits.append(graphs.answer(batch[:3]).numpy())
    labels.append(batch.target_labels.numpy())
  cost *= num_batches  # Episodes beyond the last one wanted were computed, too, and are dropped here.
  context.ledger.charge("predict", flops=cost.flops, macs=cost.macs, seconds=time.monotonic() - began,
                        examples=num_batches * _num_images(spec))
  logits, labels = np.concatenate(logits)[:num_episodes], np.concatenate(labels)[:num_episodes]
  # Episode i is always the same, so its number and the place of a target name the question.
  ids = [f"episode {i}, target {j}" for i, j in np.ndindex(*labels.shape)]
  outputs = scoring.Outputs(np.array(ids), labels.reshape(-1), logits.reshape(labels.size, -1))
  record, predictions = evaluation.score(outputs, tasks.SINGLE_LABEL)
  by_task = predictions["correct"].reshape(labels.shape).mean(axis=1)
  record = {"kind": "predict", "role": "meta_test", **record, **episodic.over_tasks(by_task)}
  return evaluation.Evaluation(record, predictions)


class Graphs:
  """What is compiled: a meta-update and the answers to test episodes, many episodes in one graph.

  A batch is an `Episode` of B: support images [B, S, N, H, W, 3] and labels [B, S, N], target images
  [B, T, H, W, 3] and labels [B, T].
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
    self._learner.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))
    return loss

  def _answer(self, batch: Tuple[tf.Tensor, tf.Tensor, tf.Tensor]) -> tf.Tensor:
    """Logits [B, T, W] for the targets; their labels are not even handed in."""
    return tf.map_fn(self._answer_one, batch, fn_output_signature=tf.float32,
                     parallel_iterations=_PARALLEL)

  def _answer_one(self, episode: Tuple[tf.Tensor, tf.Tensor, tf.Tensor]) -> tf.Tensor:
    support_images, support_labels, images = episode
    state = self._learner.initial_state(self._num_classes)
    for s in range(support_images.shape[0]):
      state = self._learner.adapt(state, support_images[s], support_labels[s])
    return self._learner.logits(state, images)


def _prepared(batches: tf.data.Dataset, learner: learner_lib.EpisodicLearner) -> tf.data.Dataset:
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
  return {"way": episodes.way, "shot": episodes.shot, "num_support_sets": episodes.num_support_sets,
          "num_classes": episodes.num_labels}


def _check(state: run_state.RunState, episodes_train: episodes_lib.Episodes,
           episodes_test: episodes_lib.Episodes, updates: int, updates_per_event: int) -> None:
  if updates % updates_per_event:
    raise ValueError(f"cfsl.run.updates={updates} is no multiple of updates_per_event={updates_per_event}; "
                     "meta-training is saved after equal parts, so choose one.")
  if episodes_train.num_labels != episodes_test.num_labels:
    raise ValueError(
        f"Training episodes have {episodes_train.num_labels} classes, test episodes {episodes_test.num_labels}; "
        "the state of a learner has one size. Choose the same way and number of support sets for both.")
  if not state.distribution.is_single:
    raise ValueError(f"cfsl runs on one device so far, got {state.distribution.describe()}; "
                     "use --strategy one_device.")

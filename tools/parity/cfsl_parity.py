# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML++: the suite's loss, logits and meta-gradient beside the authors' code, all in float64.

CFSL's own code (FewShotContinualLearning) and the code of MAML++ (HowToTrainYourMAMLPytorch) have
the same authors. Weights, learned rates and the norms' rows are random numbers, equal on both
sides, so that every row of them counts. Images are noise, which has no ties in max pooling; with
--data_dir also real Omniglot episodes.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import pathlib
import tempfile
from typing import Any, NamedTuple

import authors as authors_lib
import numpy as np
import parity_rows
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import ledger as ledger_lib
from suite.compute import seeds as seeds_lib
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.images import image_ops
from suite.learners import maml
from suite.models import norms
from suite.models.episodic import functional_conv4
from suite.state import context as context_lib
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

SIZE, WAY, STEPS, EPISODES, UPDATES = 28, 5, 5, 2, 500
ROUNDING = 1e-11
# Our values of two constants, which the authors' nets are given. Epsilon is the smallest that
# TensorFlow's fused kernel takes; the slope of its leaky ReLU is a float32, in float64 nets, too.
CONSTANTS = {"epsilon": norms.EPSILON, "slope": float(np.float32(functional_conv4.LEAK))}
PUBLISHED = {"epsilon": None, "slope": None}
_CONSTANTS = ("Batch norm's epsilon is 1e-5 there and 1.001e-5 here, the smallest that the fused "
              "kernel of TensorFlow takes, and the slope of its leaky ReLU is 0.01 as a float32. "
              "With the same constants both sides agree (rows above). The effect is larger where "
              "so small a change makes another pixel the maximum of a pooling window.")
Row = parity_rows.Row


class Case(NamedTuple):
  """One configuration: theirs, as a file and values that replace its own, and ours."""

  name: str
  config: str
  arguments: dict[str, Any]
  num_sets: int
  num_targets: int  # A class.
  filters: int
  epoch: int
  inner: dict[str, Any]
  training: dict[str, Any]


def _cfsl(name: str, num_sets: int, **training: Any) -> Case:
  config = ("omniglot_variant_default_5_way_1_maml++_low-end_shot__False_"
            f"{num_sets}_1_LSLR_conditioned_0.json")
  return Case(f"CFSL's low-end MAML++, {name}", config, {"batch_size": EPISODES}, num_sets, 5, 48,
              0, dict(target_row="next"), training)


def _plus_plus(name: str, epoch: int, arguments: dict[str, Any], **training: Any) -> Case:
  return Case(f"MAML++, {name}", "omniglot_maml++-omniglot_1_8_0.1_64_5_0.json", arguments, 1, 1,
              64, epoch, dict(target_row="last"), dict(multi_step_epochs=10, **training))


CFSL = (_cfsl("1 support set", 1), _cfsl("3 support sets with new classes (type B)", 3))
PLUS_PLUS = (
    _plus_plus("multi-step loss of epoch 3", 3, {}),
    _plus_plus("after the multi-step epochs", 12, {}),
    _plus_plus("first order, multi-step loss", 3, {"second_order": False}, second_order=False))


class Episode(NamedTuple):
  """Images 0..255 in float64 and labels, sorted by class."""

  support: np.ndarray
  support_labels: np.ndarray
  target: np.ndarray
  target_labels: np.ndarray


def noise(case: Case, seed: int) -> Episode:
  rng, num = np.random.default_rng(seed), case.num_sets * WAY
  labels = np.arange(num).reshape(case.num_sets, WAY)
  targets = np.repeat(np.arange(num), case.num_targets)
  pictures = rng.uniform(0, 255, (num, SIZE, SIZE, 1))  # A class is a picture under noise.

  def images(of: np.ndarray) -> np.ndarray:
    return 0.5 * pictures[of] + rng.uniform(0, 127.5, (*of.shape, SIZE, SIZE, 1))

  return Episode(images(labels), labels, images(targets), targets)


def omniglot(case: Case, number: int, data_dir: str) -> Episode:
  source = cfsl_data.episodes(
      "cfsl_omniglot", "train", task_type="FSL" if case.num_sets == 1 else "B",
      num_support_sets=case.num_sets, way=WAY, targets=case.num_targets, data_dir=data_dir)
  episode = source.episode(number)
  support, target = (np.asarray(part, np.float64)
                     for part in (episode.support_images, episode.target_images))
  return Episode(support, np.asarray(episode.support_labels), target,
                 np.asarray(episode.target_labels))


def learner_of(case: Case, folder: pathlib.Path) -> maml.Maml:
  """The suite's learner with random values for all that is meta-learned."""
  learner = maml.Maml(
      functional_conv4.Conv4(filters=case.filters, pixel_range=(0.0, 1.0), dtype="float64"),
      inner=inner_loop.InnerLoop(
          steps=STEPS, num_support_sets=case.num_sets, transductive=True, **case.inner),
      transform=image_ops.AsStored(SIZE), channels=1,
      training=meta_schedules.MetaTraining(updates_per_epoch=UPDATES, **case.training))
  ledger = ledger_lib.Ledger()
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, case.num_sets * WAY), context_lib.Context(
      event=0, ledger=ledger, seeds=seeds_lib.Seeds(0), distribution=distribution_lib.build(),
      store=weight_store.WeightStore(folder / "weights", 0),
      journal=journal.Journal(0, ledger, snapshots.Snapshots(folder / "progress"))))
  rng = np.random.default_rng(1)
  ranges = {"inner_rates": (0.005, 0.015), "norm_scale": (0.7, 1.3), "norm_offset": (-0.2, 0.2)}
  for variable in learner.trainable_variables:
    name = _name(variable)
    if name in ranges or name.endswith("bias"):
      variable.assign(rng.uniform(*ranges.get(name, (-0.1, 0.1)), variable.shape))
  learner.optimizer.iterations.assign(case.epoch * UPDATES)
  return learner


def _name(variable: tf.Variable) -> str:
  return variable.name.split(":")[0]


def ours(learner: maml.Maml, episodes: list[Episode]) -> dict[str, np.ndarray]:
  """Mean loss and gradients of the compiled graph, and the logits [E, T, W], over episodes."""
  variables = learner.trainable_variables

  @tf.function(autograph=False)
  def step(support, support_labels, target, target_labels):
    with tf.GradientTape() as tape:
      loss, _ = learner.meta_loss((support, support_labels, target, target_labels))
    gradients = tape.gradient(
        loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return loss, [tf.convert_to_tensor(gradient) for gradient in gradients]

  losses, gradients, logits = [], [], []
  for episode in episodes:
    loss, found = step(*map(tf.constant, episode))
    losses.append(float(loss))
    gradients.append([gradient.numpy() for gradient in found])
    state = learner.initial_state(len(np.unique(episode.support_labels)))
    for images, labels in zip(episode.support, episode.support_labels):
      state = learner.adapt(state, tf.constant(images), tf.constant(labels))
    logits.append(learner.logits(state, tf.constant(episode.target)).numpy())
  means = [np.mean(parts, axis=0) for parts in zip(*gradients)]
  return {"loss": np.mean(losses), "logits": np.stack(logits),
          **{_name(v): gradient for v, gradient in zip(variables, means)}}


def theirs(authors: authors_lib.Authors, case: Case, learner: maml.Maml, episodes: list[Episode],
           constants: dict[str, Any]) -> dict[str, np.ndarray]:
  parts = Episode(*map(np.stack, zip(*episodes)))
  given = {_name(v): v.numpy() for v in learner.trainable_variables}
  return authors.ask(
      "public_cfsl_loss",
      {**given, "support": parts.support / 255.0, "support_labels": parts.support_labels,
       "target": parts.target / 255.0, "target_labels": parts.target_labels},
      config=case.config, arguments=case.arguments, epoch=case.epoch, **constants)


def rows_of(case: Case, inputs: str, said: dict[str, np.ndarray], mine: dict[str, np.ndarray], *,
            name: str = "", reason: str = "") -> list[Row]:
  """Loss, logits and whole gradient of a case."""
  names = sorted(set(mine) - {"loss", "logits"})
  whole, reference = (np.concatenate([found[n].ravel() for n in names]) for found in (mine, said))
  size = float(np.linalg.norm(reference))
  logits = np.abs(mine["logits"] - said["logits"]).max() / np.abs(said["logits"]).max()
  what = f"{case.name}{name}"
  return [
      Row(f"{what}: loss", inputs, f"{said['loss']:.12f}", f"{mine['loss']:.12f}",
          float(abs(mine["loss"] / said["loss"] - 1)), "relative difference", ROUNDING, reason),
      Row(f"{what}: {said['logits'].size:,} logits of the targets", inputs,
          *(f"norm {np.linalg.norm(found['logits']):.9f}" for found in (said, mine)),
          float(logits), "largest difference, relative to the largest logit", ROUNDING,
          reason),
      Row(f"{what}: meta-gradient, {len(reference):,} numbers", inputs, f"norm {size:.9f}",
          f"norm {np.linalg.norm(whole):.9f}", float(np.linalg.norm(whole - reference) / size),
          "norm of the difference, relative", ROUNDING, reason)]


def compare_cfsl(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows of CFSL's repository, in about two minutes."""
  return _compare(authors, CFSL, data_dir)


def compare_plus_plus(authors: authors_lib.Authors, data_dir: str | None) -> Iterator[Row]:
  """All rows of MAML++'s repository, in about two minutes."""
  return _compare(authors, PLUS_PLUS, data_dir)


def _compare(authors: authors_lib.Authors, cases: Sequence[Case], data_dir: str | None
             ) -> Iterator[Row]:
  for case in cases:
    with tempfile.TemporaryDirectory() as folder:
      learner = learner_of(case, pathlib.Path(folder))
    sources = [(f"{EPISODES} episodes of noise", [noise(case, e) for e in range(EPISODES)])]
    if data_dir:
      sources.append((f"{EPISODES} episodes of Omniglot",
                      [omniglot(case, e, data_dir) for e in range(EPISODES)]))
    for inputs, episodes in sources:
      mine = ours(learner, episodes)
      yield from rows_of(case, inputs, theirs(authors, case, learner, episodes, CONSTANTS), mine)
      if case is cases[0] and inputs.endswith("noise"):
        said = theirs(authors, case, learner, episodes, PUBLISHED)
        yield from rows_of(case, inputs, said, mine, name=", constants as published",
                           reason=_CONSTANTS)

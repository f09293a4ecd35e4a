# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CFSL and MAML++: loss, logits and meta-gradient beside the authors' code, all in float64.

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

from suite.compute import distribution
from suite.compute import ledger as ledger_lib
from suite.compute import seeds
from suite.contracts import tasks
from suite.data.episodes import cfsl_data
from suite.data.images import image_ops
from suite.learners import embedded_maml
from suite.learners import maml
from suite.learners import protonet
from suite.models import norms
from suite.models.episodic import dense_attention
from suite.models.episodic import embedding
from suite.models.episodic import functional_conv4
from suite.models.episodic import proto_conv4
from suite.state import context
from suite.state import journal
from suite.state import snapshots
from suite.state import weight_store
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique

SIZE, WAY, STEPS, EPISODES, UPDATES = 28, 5, 5, 2, 500
ROUNDING = 1e-11
IN_FLOAT32 = 1e-6  # Of ProtoNets, whose cross-entropy is in float32 whatever the net's type is.
# Our values of two constants, which the authors' nets are given. Epsilon is the smallest that
# TensorFlow's fused kernel takes; the slope of its leaky ReLU is a float32, in float64 nets, too.
CONSTANTS = {"epsilon": norms.EPSILON, "slope": float(np.float32(0.01))}
PUBLISHED = {"epsilon": None, "slope": None}
_CONSTANTS = ("Batch norm's epsilon is 1e-5 there and 1.001e-5 here, the smallest that the fused "
              "kernel of TensorFlow takes, and the slope of its leaky ReLU is 0.01 as a float32. "
              "With the same constants both sides agree (rows above). The effect is larger where "
              "so small a change makes another pixel the maximum of a pooling window.")
_SUMS = ("Their code counts a class's samples by tensors, which are never equal as keys, and "
         "divides by the number of support sets: in type B, where a class is in one set, logits "
         "are divided by that number. With one set both sides agree (rows above).")
Row = parity_rows.Row
_FILES = {"low": "default_5_way_1_maml++_low-end_shot_",
          "high": "default_5_way_1_maml++_high-end_shot_",
          "sca": "SCA_5_way_1_maml++_high-end_shot_preds",
          "proto": "default_5_way_1_vgg-matching_network_shot_"}
_TITLES = {"low": "MAML++ low-end", "high": "MAML++ high-end", "sca": "SCA", "proto": "ProtoNets"}
_ONE, _THREE = (1, "1 support set"), (3, "3 support sets with new classes (type B)")


class Case(NamedTuple):
  """One configuration: theirs, as a file and values that replace its own, and ours.

  The model is "low", a net that episodes adapt; "high", a head above an embedding; "sca", the same
  with a critic; or "proto", prototypes of an embedding. A `reason` is that of a row.
  """

  model: str
  name: str
  config: str
  arguments: dict[str, Any]
  num_sets: int
  num_targets: int  # A class.
  filters: int
  epoch: int
  inner: dict[str, Any]
  training: dict[str, Any]
  reason: str = ""


def _cfsl(model: str, num_sets: int, name: str) -> Case:
  reason = _SUMS if model == "proto" and num_sets > 1 else ""
  config = f"omniglot_variant_{_FILES[model]}_False_{num_sets}_1_LSLR_conditioned_0.json"
  # Their ProtoNets normalize the targets of all episodes of a batch together.
  batch = {"batch_size": 1 if model == "proto" else EPISODES}
  return Case(model, f"{_TITLES[model]}, {name}", config, batch, num_sets, 5, 48, 0,
              dict(target_row="next"), {}, reason)


def _plus_plus(name: str, epoch: int, arguments: dict[str, Any], **training: Any) -> Case:
  return Case("low", f"MAML++, {name}", "omniglot_maml++-omniglot_1_8_0.1_64_5_0.json", arguments,
              1, 1, 64, epoch, dict(target_row="last"), dict(multi_step_epochs=10, **training))


CFSL = tuple(_cfsl(model, *sets) for model, sets in (
    ("low", _ONE), ("low", _THREE), ("high", _ONE), ("sca", _ONE), ("proto", _ONE),
    ("proto", _THREE)))
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


def _made(case: Case) -> Any:
  """The suite's learner of a case, in float64."""
  settings = dict(
      inner=inner_loop.InnerLoop(
          steps=STEPS, num_support_sets=case.num_sets, transductive=True, **case.inner),
      transform=image_ops.AsStored(SIZE), channels=1,
      training=meta_schedules.MetaTraining(updates_per_epoch=UPDATES, **case.training))
  scaled = dict(pixel_range=(0.0, 1.0), dtype="float64")
  if case.model == "proto":
    del settings["inner"]
    return protonet.ProtoNet(
        embedding.Embedding(proto_conv4.ProtoConv4(filters=64, norm_last=True, **scaled)),
        similarity="dot", **settings)
  if case.model == "low":
    return maml.Maml(functional_conv4.Conv4(filters=case.filters, **scaled), **settings)
  return embedded_maml.EmbeddedMaml(
      embedding.Embedding(dense_attention.DenseAttention(**scaled)),
      dense_attention.AttentionHead(filters=case.filters, dtype="float64"), joint_norms=True,
      critique=self_critique.SelfCritique() if case.model == "sca" else None, **settings)


def learner_of(case: Case, folder: pathlib.Path) -> Any:
  """The learner with random values for all that is meta-learned, but kernels, which are so."""
  learner, ledger = _made(case), ledger_lib.Ledger()
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, case.num_sets * WAY), context.Context(
      event=0, ledger=ledger, seeds=seeds.Seeds(0), distribution=distribution.build(),
      store=weight_store.WeightStore(folder / "weights", 0),
      journal=journal.Journal(0, ledger, snapshots.Snapshots(folder / "progress"))))
  rng = np.random.default_rng(1)
  ranges = {"rates": (0.005, 0.015), "scale": (0.7, 1.3), "offset": (-0.2, 0.2),
            "bias": (-0.1, 0.1)}
  for variable in learner.trainable_variables:
    for end, limits in ranges.items():
      if _name(variable).endswith(end):
        variable.assign(rng.uniform(*limits, variable.shape))
  learner.optimizer.iterations.assign(case.epoch * UPDATES)
  return learner


def _name(variable: tf.Variable) -> str:
  """A variable's own name; an embedding's norms are vectors, a head's have a row for each step."""
  name = variable.name.split(":")[0]
  return f"embedding/{name}" if name.startswith("norm_") and variable.shape.rank == 1 else name


def ours(learner: Any, episodes: list[Episode]) -> dict[str, np.ndarray]:
  """Mean loss and gradients of the compiled graph, and the logits [E, T, W], over episodes.

  There are no logits of a learner with an embedding: outside of meta-training its norms use running
  statistics.
  """
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
    if isinstance(learner, maml.Maml):
      state = learner.initial_state(len(np.unique(episode.support_labels)))
      for images, labels in zip(episode.support, episode.support_labels):
        state = learner.adapt(state, tf.constant(images), tf.constant(labels))
      logits.append(learner.logits(state, tf.constant(episode.target)).numpy())
  means = [np.mean(parts, axis=0) for parts in zip(*gradients)]
  return {"loss": np.mean(losses), **({"logits": np.stack(logits)} if logits else {}),
          **{_name(v): gradient for v, gradient in zip(variables, means)}}


def theirs(authors: authors_lib.Authors, case: Case, learner: Any, episodes: list[Episode],
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
  size, what = float(np.linalg.norm(reference)), f"{case.name}{name}"
  allowed = IN_FLOAT32 if case.model == "proto" else ROUNDING
  rows = [Row(f"{what}: loss", inputs, f"{said['loss']:.12f}", f"{mine['loss']:.12f}",
              float(abs(mine["loss"] / said["loss"] - 1)), "relative difference", allowed, reason)]
  if "logits" in mine:
    distance = np.abs(mine["logits"] - said["logits"]).max() / np.abs(said["logits"]).max()
    rows.append(Row(f"{what}: {said['logits'].size:,} logits of the targets", inputs,
                    *(f"norm {np.linalg.norm(found['logits']):.9f}" for found in (said, mine)),
                    float(distance), "largest difference, relative to the largest logit", allowed,
                    reason))
  rows.append(Row(f"{what}: meta-gradient, {len(reference):,} numbers", inputs, f"norm {size:.9f}",
                  f"norm {np.linalg.norm(whole):.9f}",
                  float(np.linalg.norm(whole - reference) / size),
                  "norm of the difference, relative", allowed, reason))
  return rows


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
    numbers = range(case.arguments.get("batch_size", EPISODES))
    sources = [("noise", [noise(case, number) for number in numbers])]
    if data_dir:
      sources.append(("Omniglot", [omniglot(case, number, data_dir) for number in numbers]))
    for source, episodes in sources:
      inputs = f"{len(numbers)} episode{'s' * (len(numbers) > 1)} of {source}"
      mine = ours(learner, episodes)
      yield from rows_of(case, inputs, theirs(authors, case, learner, episodes, CONSTANTS), mine,
                         reason=case.reason)
      if case is cases[0] and source == "noise":
        said = theirs(authors, case, learner, episodes, PUBLISHED)
        yield from rows_of(case, inputs, said, mine, name=", constants as published",
                           reason=_CONSTANTS)

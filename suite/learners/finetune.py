# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The gradient learner of NEVIS'22: for each task a model of its own, started from an earlier one.

Composed, not derived: `start` says where weights come from (Indep, FT-prev, FT-d), `search` which
hyper-parameters are tried, `trainer` how one training goes. FT-s is FT-d with `static=True`: the
candidates are compared on features of models trained independently of each other, which this
learner trains as well and pays for.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, List, Optional

import numpy as np
import tensorflow as tf

from suite.contracts import experience as experience_lib
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import image_ops
from suite.learners import starts
from suite.models.own import own_model
from suite.state import context as context_lib
from suite.state import weight_store
from suite.training.gradient import network as network_lib
from suite.training.gradient import optimizers
from suite.training.gradient import search as search_lib
from suite.training.gradient import trainer as trainer_lib

_STATIC = "static+"
_TRIAL = "trial"
_MAX_NETWORKS = 4


class Finetune(tf.Module):
  """Fine-tunes one backbone per task.

  Args:
    backbone: a Keras model of images to features [B, D], or a function that makes one of
      image_shape (H, W, C); see `own_model`.
    start: a `suite.learners.starts` object.
    search, trainer: hyper-parameter search and training recipe.
    transform: image preparation; its `size` is H = W.
    static: compare past tasks on independently trained backbones (FT-s), not the learner's own.
  """

  shares_updates = True

  def __init__(
      self,
      backbone: own_model.Given,
      *,
      start: starts.Start = starts.Random(),
      search: search_lib.Search = search_lib.Search(),
      trainer: trainer_lib.Trainer = trainer_lib.Trainer(),
      transform: transform_lib.Transform = image_ops.Nevis(),
      static: bool = False,
  ):
    super().__init__()
    self.transform = transform
    self._backbone = own_model.as_backbone(backbone, "Finetune.backbone")
    self._start, self._search = start, search
    self._trainer, self._static = trainer, static
    _check_search(search, trainer)
    # Compiled networks by shape of task. Their weights are scratch: what counts is in the store.
    self._networks = _Networks(self._make_network)
    self._network: Optional[network_lib.Network] = None

  def _make_network(self, task: tasks.Task, context: context_lib.Context) -> network_lib.Network:
    return network_lib.Network(
        self._backbone, image_size=self.transform.size, kind=task.kind,
        num_classes=task.num_classes, momentum=self._trainer.momentum,
        weight_decay=self._trainer.weight_decay, optimizer=self._trainer.optimizer,
        channels=self.transform.shape[-1], loss=self._trainer.loss,
        distribution=context.distribution)

  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    for size in self._trainer.batch_sizes():  # Before any work, not when the first one comes.
      context.distribution.check_batch(size)
    self._task = task
    known = [e for e in context.store.entries() if e.name == weight_store.safe_name(task.key)]
    if known:
      self._load(task, context, known[-1])
    else:
      self._network = None  # The network of another task must not answer for this one.

  def _load(
      self, task: tasks.Task, context: context_lib.Context, entry: weight_store.Entry) -> None:
    self._network = self._networks.get(task, context)
    self._network.set_weights(context.store.load(entry))

  def learn(self, experience: experience_lib.Experience, context: context_lib.Context
            ) -> Dict[str, Any]:
    task = experience.task
    network = self._networks.get(task, context)
    fresh = network.initial_weights(context.seeds.integer("initial weights"))
    if self._static:
      self._train(experience, context, fresh, _STATIC + task.key, phase="select")
    choice = self._choose(experience, context, network, fresh)
    weights = fresh
    if choice.entry is not None:
      past = context.store.load(choice.entry)
      # A past backbone under a new head; the head too if it is the same task.
      goes_on = choice.entry.name == weight_store.safe_name(task.key)
      cut = len(past) if goes_on else network.num_backbone_weights
      weights = [*past[:cut], *fresh[cut:]]
    trials, best, entry = self._train(experience, context, weights, task.key)
    self._load(task, context, entry)
    return {
        "start": {"from": starts.RANDOM if choice.entry is None else choice.entry.name,
                  "candidates": choice.candidates},
        "trials": trials, "best_trial": best, "validation_error": trials[best]["validation_error"]}

  def _choose(
      self, experience: experience_lib.Experience, context: context_lib.Context,
      network: network_lib.Network,
      fresh: List[np.ndarray]) -> starts.Choice:
    entries = [e for e in context.store.entries() if not e.name.startswith(_STATIC)]
    compared = {e: e._replace(name=_STATIC + e.name) if self._static else e for e in entries}
    features = starts.KnnErrors(
        network, experience, transform=self.transform, context=context,
        load=lambda e: fresh if e is None else context.store.load(compared[e]))
    return self._start.choose(entries, features)

  def _train(self, experience: experience_lib.Experience, context: context_lib.Context,
             weights: List[np.ndarray], name: str, phase: Optional[str] = None):
    """Searches and trains; the best trial's weights are stored under `name`."""
    phase = phase or ("search" if self._search.num_trials > 1 else context.phase)
    network = self._networks.get(experience.task, context)

    def train(trial: int, hyper: Dict[str, Any]) -> Dict[str, Any]:
      return self._trainer.fit(
          network, experience, start=weights, hyper=hyper, transform=self.transform,
          context=context, seeds=context.seeds.child("trial", trial), key=f"{name}/trial{trial}",
          phase=phase, save_as=f"{_TRIAL}{trial}+{name}")

    trials, best = self._search.run(
        train, context.seeds.integer("search"), context.distribution.agreed)
    saved = [context.store.own(f"{_TRIAL}{t['trial']}+{name}") for t in trials]
    entry = context.store.own(name)
    context.journal.once(f"{name}/keep", lambda: context.store.copy(saved[best], entry))
    context.store.remove(saved)
    return trials, best, entry

  def predict(self, images: tf.Tensor) -> tf.Tensor:
    if self._network is None:
      raise RuntimeError(
          f"Task {self._task.key!r} has not been learned yet; deliver its Train event first.")
    return self._network.logits(images)


def _check_search(search: search_lib.Search, trainer: trainer_lib.Trainer) -> None:
  """Refuses a search over what the training does not read."""
  search.check_names(())
  if trainer.loss is not None and search.label_smoothing != 0.0:
    raise ValueError(f"Trainer.loss is the user's, and Search.label_smoothing is "
                     f"{search.label_smoothing}, which only cross-entropy reads. Set it to 0.0.")
  if isinstance(trainer.optimizer, str):
    return
  rate = optimizers.own_rate(optimizers.own(trainer.optimizer, "Trainer.optimizer"))
  if rate is None and not isinstance(search.learning_rate, (int, float)):
    raise ValueError("Trainer.optimizer has a learning rate schedule, so there is no rate to "
                     "search. Set Search.learning_rate to one number, which is only recorded.")


class _Networks:
  """The last few compiled networks, by shape of task. Not tracked by checkpoints: only scratch."""

  def __init__(self, make: Callable[[tasks.Task, context_lib.Context], network_lib.Network]):
    self._make = make
    self._networks: Dict[Any, network_lib.Network] = {}

  def get(self, task: tasks.Task, context: context_lib.Context) -> network_lib.Network:
    key = (task.kind, task.num_classes)
    network = self._networks.pop(key, None) or self._make(task, context)
    self._networks[key] = network  # newest last
    while len(self._networks) > _MAX_NETWORKS:
      del self._networks[next(iter(self._networks))]
    return network

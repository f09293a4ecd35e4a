# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The networks that the trials of a search train, and those that are kept to predict a task.

A task's best model is stored under the task's name. If several trials are kept, or a search chooses
between architectures, a card beside it says what else belongs to the task:

  NAME           weights of the best trial: backbone, then head
  member1+NAME   of the next best, ...
  card+NAME      JSON: architectures and weights of the members

An ensemble of trials (NEVIS'22, appendix I): a weighted mean of probabilities.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import json
import re
from typing import Any

import numpy as np
import tensorflow as tf

from suite.contracts import tasks
from suite.models.own import own_model
from suite.state import context as context_lib
from suite.state import weight_store
from suite.training.gradient import network as network_lib

BACKBONE = "backbone"  # The dimension of a search that chooses an architecture.
_CARD = "card+"
_MAX_NETWORKS = 4
_OURS = re.compile(r"(member\d+|card)\+")

MakeNetwork = Callable[[own_model.Backbone, tasks.Task, context_lib.Context], network_lib.Network]
Predict = Callable[[tf.Tensor], tf.Tensor]
TEMPERATURE = 0.1  # Appendix I.


def past(context: context_lib.Context) -> list[weight_store.Entry]:
  """The stored weights of earlier events without members and cards of ensembles, oldest first."""
  return [entry for entry in context.store.entries() if not _OURS.match(entry.name)]


def backbones(given: Any, owner: str) -> dict[str, own_model.Backbone]:
  """Backbones by name, of one backbone (named "") or of a dictionary of them."""
  if not isinstance(given, Mapping):
    return {"": own_model.as_backbone(given, owner)}
  if not given:
    raise ValueError(f"{owner} is an empty dictionary; give one backbone, or several by name.")
  return {name: own_model.as_backbone(made, f"{owner}[{name!r}]") for name, made in given.items()}


class TrialModels:
  """See the module. A plain class, so that checkpoints do not track it: networks are only scratch.

  Args:
    make_network: makes a network of a backbone for a task.
    named: backbones by name, of `backbones`.
    num_members: trials that are kept of each search; 1: the best one alone.
  """

  def __init__(self, make_network: MakeNetwork, named: Mapping[str, own_model.Backbone],
               num_members: int = 1):
    if num_members < 1:
      raise ValueError(f"Finetune.ensemble is {num_members}; it must be at least 1, the best trial "
                       "alone.")
    self._make, self._named, self.num_members = make_network, dict(named), num_members
    self._networks: dict[Any, network_lib.Network] = {}  # The last few used, newest last.
    self._models: tuple[Any, list[tf.keras.Model]] = (None, [])  # Of the latest ensemble.

  @property
  def names(self) -> list[str]:
    """Names of the architectures; [""] of the only one."""
    return list(self._named)

  def network(self, task: tasks.Task, context: context_lib.Context, name: str | None = None
              ) -> network_lib.Network:
    """The compiled network of an architecture (None: the first) for a task."""
    name = self.names[0] if name is None else name
    key = (task.kind, task.num_classes, name)
    network = self._networks.pop(key, None) or self._make(self._named[name], task, context)
    self._networks[key] = network
    while len(self._networks) > _MAX_NETWORKS:
      del self._networks[next(iter(self._networks))]
    return network

  def newest_weights(self) -> list[tf.Variable]:
    """The weights of the network that was used last; [] before the first."""
    return list(next(reversed(self._networks.values())).model.weights) if self._networks else []

  def of_one(self, predict: Predict | None) -> network_lib.Network | None:
    """The network whose logits a predictor is; None of an ensemble's, and of none."""
    return next((one for one in self._networks.values() if one.logits is predict), None)

  def keep(self, name: str, trials: Sequence[Mapping[str, Any]],
           saved: Sequence[weight_store.Entry], context: context_lib.Context,
           num_members: int | None = None) -> tuple[weight_store.Entry, dict[str, Any]]:
    """Keeps the best trials of a search under `name` and removes the others.

    Args:
      trials: as `Search.run` returns them. saved: the weights of each.
      num_members: in place of the object's.

    Returns:
      The entry of the best one, and {"trials", "weights"} of the members.
    """
    done = [t for t in trials if t["status"] == "done"]
    best = sorted(done, key=lambda t: (t["validation_error"], t["trial"]))
    # Without any the first one is "untrained": a budget was spent before.
    best = best[:num_members or self.num_members] or list(trials[:1])
    members = {"trials": [t["trial"] for t in best],
               "weights": weights([1 - (t["validation_error"] or 0.0) for t in best])}
    entries = [context.store.own(_member(place, name)) for place in range(len(best))]
    card = {"backbones": [t.get(BACKBONE, self.names[0]) for t in best],
            "weights": members["weights"]}

    def copy() -> None:
      for one, entry in zip(best, entries):
        context.store.copy(saved[one["trial"]], entry)
      if len(best) > 1 or len(self._named) > 1:
        context.store.save(_CARD + name, [np.frombuffer(json.dumps(card).encode(), np.uint8)])

    context.journal.once(f"{name}/keep", copy)
    context.store.remove(saved)
    return entries[0], members

  def predictor(self, task: tasks.Task, context: context_lib.Context, entry: weight_store.Entry
                ) -> Predict | None:
    """The function from images to logits of what was kept under an entry, its weights loaded.

    None if the weights are those of fewer classes, which a task had before further ones came.
    """
    card_entry = entry._replace(name=_CARD + entry.name)
    card: dict[str, Any] = {"backbones": self.names[:1]}
    if context.store.has(card_entry):
      card = json.loads(context.store.load(card_entry)[0].tobytes())
    network = self.network(task, context, card["backbones"][0])
    loaded = context.store.load(entry)
    wanted = [tuple(one.shape) for one in (*network.backbone.weights, *network.head.weights)]
    if [value.shape for value in loaded] != wanted:
      return None
    if len(card["backbones"]) == 1:
      network.set_weights(loaded)
      return network.logits
    # A Keras model for each member: the networks' own are trained meanwhile.
    key = (task.kind, task.num_classes, tuple(card["backbones"]))
    if self._models[0] != key:
      self._models = (key, [
          self.network(task, context, name).new_model() for name in card["backbones"]])
    models = self._models[1]
    for place, model in enumerate(models):
      model.set_weights(context.store.load(entry._replace(name=_member(place, entry.name))))
    return lambda images: logits(
        [model(images, training=False) for model in models], card["weights"], task.kind)


def _member(place: int, name: str) -> str:
  return weight_store.safe_name(f"member{place}+{name}" if place else name)


def weights(scores: Sequence[float]) -> list[float]:
  """softmax(scores / 0.1).

  Args:
    scores: validation accuracies, top-1; of a multi-label task, on which the paper says nothing,
      mean average precisions.
  """
  scaled = np.asarray(scores, np.float64) / TEMPERATURE
  powers = np.exp(scaled - scaled.max())
  return [float(power) for power in powers / powers.sum()]


def logits(members: Sequence[tf.Tensor], shares: Sequence[float], kind: str) -> tf.Tensor:
  """Logits whose probabilities are the weighted mean of the members' probabilities.

  Args:
    members: logits [B, C] of M members.
    shares: M weights with the sum 1.
    kind: of the task. "single_label": probabilities are softmaxes, and the result is the logarithm
      of their mean. "multi_label": probabilities of each class are sigmoids, and the result is the
      logit of their mean.

  Returns:
    [B, C].
  """
  stacked = tf.cast(tf.stack(list(members)), tf.float32)
  logs = tf.math.log(tf.constant(shares, tf.float32))[:, None, None]
  if kind == tasks.MULTI_LABEL:
    present = tf.reduce_logsumexp(logs + tf.math.log_sigmoid(stacked), axis=0)
    return present - tf.reduce_logsumexp(logs + tf.math.log_sigmoid(-stacked), axis=0)
  return tf.reduce_logsumexp(logs + tf.nn.log_softmax(stacked, axis=-1), axis=0)

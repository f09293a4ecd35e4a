# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What `Finetune` will cost: the same steps as its `learn`, charged instead of taken.

What only a run decides is planned as follows. No trial fails. MT's most similar tasks have as many
classes as the past tasks on average. A Bayesian search draws what it draws if all trials are
equally good, and the trials that predict are the first. FT-s finds the models of a run that it is
given by name if that learner is planned before it, or has a directory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
import pathlib
from typing import Any

from suite.compute import flops
from suite.contracts import examples
from suite.contracts import planning
from suite.contracts import tasks
from suite.learners import starts
from suite.models.own import own_model
from suite.training.ensembles import trial_models
from suite.training.gradient import network as network_lib
from suite.training.gradient import search as search_lib
from suite.training.gradient import trainer as trainer_lib
from suite.training.multitask import auxiliary as auxiliary_lib
from suite.training.planning import network_costs


@dataclasses.dataclass(frozen=True)
class Parts:
  """The parts of the learner on which its cost depends; attributes as of `Finetune`.

  costs: by name of the backbone.
  """

  start: starts.Start
  search: search_lib.Search
  trainer: trainer_lib.Trainer
  static: starts.Independent
  multitask: auxiliary_lib.Multitask | None
  num_members: int
  costs: Mapping[str, network_costs.NetworkCosts]

  @property
  def first(self) -> network_costs.NetworkCosts:
    """The costs of the backbone that features are taken from."""
    return next(iter(self.costs.values()))


def shared_costs(named: Mapping[str, own_model.Backbone], make: Callable[..., network_lib.Network],
                 transform: examples.Transform, context: planning.PlanContext, same: Any
                 ) -> dict[str, network_costs.NetworkCosts]:
  """Counted costs of each backbone, which learners with equal nets share.

  Args:
    named: backbones by name.
    make: (backbone, task, context) -> network.
    transform: of the images.
    context: of the event.
    same: what two learners must have in common besides the backbone.
  """
  known = context.shared.setdefault("networks", [])

  def find(backbone: own_model.Backbone) -> network_costs.NetworkCosts:
    asked = (backbone.given, same)
    for given, costs in known:
      if given == asked:
        return costs
    costs = network_costs.NetworkCosts(lambda task: make(backbone, task, context), transform)
    known.append((asked, costs))
    return costs

  return {name: find(backbone) for name, backbone in named.items()}


def learn(parts: Parts, planned: planning.PlannedTask, context: planning.PlanContext
          ) -> planning.Footprint:
  """Charges a Train event."""
  static = parts.static
  # The models of a run that is given by name may be there already, or will be.
  trains_static = static.is_used and (isinstance(static.given, bool) or not (
      static.given in context.planned_before or pathlib.Path(static.given).is_dir()))
  hypers = network_costs.trials(parts.search, context)
  if trains_static:
    _train(parts, planned, context, hypers, "select")
  _choose(parts.start, parts.first, planned, context)
  auxiliary = None
  if parts.multitask is not None and context.past:
    rule = parts.multitask.rule
    sizes: dict[str, int] = {str(i): past.task.num_classes for i, past in enumerate(context.past)}
    chosen = rule.choose(list(sizes), dict.fromkeys(sizes, 0.0))
    classes = sum(sizes[name] for name in chosen)
    if rule.needs_errors:  # Which ones is decided by errors that only a run knows.
      classes = round(len(chosen) * sum(sizes.values()) / len(sizes))
    auxiliary = auxiliary_lib.Shape(
        classes, rule.groups or len(chosen), parts.multitask.batch_size)
  _train(parts, planned, context, hypers,
         "search" if parts.search.num_trials > 1 else context.phase, auxiliary)
  size = max(costs.weight_bytes(planned.task.num_classes) for costs in parts.costs.values())
  # The best weights of each trial; and the state of the trial in progress: weights, optimizer and
  # best weights.
  return planning.Footprint(
      stored_bytes=size * (_members(parts, hypers) + trains_static),
      scratch_bytes=size * (parts.search.num_trials + 3),
      memory_bytes=4 * size)  # Weights, momentum, gradients, best weights.


def predict(parts: Parts, planned: planning.PlannedTask, num: int, batch_size: int,
            context: planning.PlanContext) -> None:
  """Charges a Predict event, in which each member of an ensemble predicts all images."""
  task, batch_size = planned.task, min(batch_size, 1 << (num - 1).bit_length())
  hypers = network_costs.trials(parts.search, context)
  total = flops.ZERO
  for hyper in hypers[:_members(parts, hypers)]:
    total += _costs(parts, hyper).answers(task, num, batch_size)
  network_costs.charge(context.ledger, "predict", total, examples=num)
  context.offer(parts.first.answer_probe(task, batch_size))


def _members(parts: Parts, hypers: list[dict[str, Any]]) -> int:
  return min(parts.num_members, len(hypers))


def _costs(parts: Parts, hyper: Mapping[str, Any]) -> network_costs.NetworkCosts:
  """Of the backbone that a trial has drawn."""
  name = hyper.get(trial_models.BACKBONE)
  return parts.first if name is None else parts.costs[name]


def _train(parts: Parts, planned: planning.PlannedTask, context: planning.PlanContext,
           hypers: list[dict[str, Any]], phase: str,
           auxiliary: auxiliary_lib.Shape | None = None) -> None:
  for hyper in hypers:
    network_costs.charge_fit(parts.trainer, _costs(parts, hyper), planned, context, phase=phase,
                           batch_size=hyper.get("batch_size"), auxiliary=auxiliary)


def _choose(start: starts.Start, costs: network_costs.NetworkCosts, planned: planning.PlannedTask,
            context: planning.PlanContext) -> None:
  """Charges a pretrained model to the first event, and the comparison of past models."""
  if not isinstance(start, (starts.Random, starts.Previous, starts.FromTask, starts.Pretrained,
                            starts.Nearest)):
    raise planning.NoEstimateError(
        f"what start {type(start).__name__} spends is not known before the run; known are those "
        "of suite/learners/starts.py")
  pretrained = start.pretrained
  if pretrained is not None and not context.past:
    network = costs.network(tasks.SINGLE_LABEL, 2)
    found = pretrained.load(network.backbone, lambda seed: network.initial_weights(seed)[
        :network.num_backbone_weights])
    context.ledger.charge("pretrain", **found.cost)
  if not isinstance(start, starts.Nearest):
    return
  if not context.past and (pretrained is None or not start.include_random):
    return  # There is nothing to choose from.
  times = len(context.past) + start.include_random + (pretrained is not None)
  train, dev = min(start.max_train, planned.train), min(start.max_validation, planned.dev)
  for num in (train, dev):
    cost = costs.features(num, start.batch_size, start.statistics)
    network_costs.charge(context.ledger, "select", cost * times, examples=num * times)
  macs = train * dev * costs.feature_size
  network_costs.charge(context.ledger, "select", flops.Cost(2 * macs, macs) * times)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What `Finetune` will cost: the same steps as its `learn`, charged instead of taken.

Costs of a network's steps are counted for a few shapes of batches and tasks, before there is data,
and follow for all others (`NetworkCosts`).

What only a run decides is planned as follows. No trial fails. MT's most similar tasks have as many
classes as the past tasks on average. A Bayesian search draws what it draws if all trials are
equally good, and the trials that predict are the first. FT-s finds the models of a run that it is
given by name if that learner is planned before it, or has a directory.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import dataclasses
import functools
import pathlib
import re
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import ledger as ledger_lib
from suite.compute import user_code
from suite.contracts import examples as examples_lib
from suite.contracts import planning
from suite.contracts import tasks
from suite.data.images import image_set
from suite.learners import starts
from suite.models.own import own_model
from suite.system import host_memory
from suite.training.ensembles import trial_models
from suite.training.gradient import network as network_lib
from suite.training.gradient import search as search_lib
from suite.training.gradient import trainer as trainer_lib
from suite.training.multitask import auxiliary as auxiliary_lib

_FEW = 16  # Images of the step that is measured first.
_MOST_NETWORKS = 3  # As many as `flops.ShapeCosts` has numbers of classes.
# Hyper-parameters on which the cost of a training depends.
_COSTLY = ("batch_size", "backbone")


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
  costs: Mapping[str, NetworkCosts]

  @property
  def first(self) -> NetworkCosts:
    """The costs of the backbone that features are taken from."""
    return next(iter(self.costs.values()))


def shared_costs(named: Mapping[str, own_model.Backbone], make: Callable[..., network_lib.Network],
                 transform: examples_lib.Transform, context: planning.PlanContext, same: Any
                 ) -> dict[str, NetworkCosts]:
  """Counted costs of each backbone, which learners with equal nets share.

  Args:
    named: backbones by name.
    make: (backbone, task, context) -> network.
    transform: of the images.
    context: of the event.
    same: what two learners must have in common besides the backbone.
  """
  shared = context.shared
  made = shared.get("settings", {}).get(context.name)
  known = shared.setdefault("networks", [])  # (what was asked for, same, costs)
  kept = shared.setdefault("kept", {})

  def find(name: str, backbone: own_model.Backbone) -> NetworkCosts:
    # A function of this run, and the settings that make it in other runs.
    asks = [backbone.given, *([(_of_nets(made), name)] if made else [])]
    for asked, rest, costs in known:
      if rest == same and asked in asks:
        return costs
    costs = NetworkCosts(lambda task: make(backbone, task, context), transform, kept)
    alike = next((one for _, rest, one in known if rest == same and one.signature
                  and one.signature == costs.signature), costs)  # Other runs have other functions.
    known.extend((asked, same, alike) for asked in asks)
    return alike

  return {name: find(name, backbone) for name, backbone in named.items()}


def _of_nets(settings: Sequence[tuple[Any, str, str]]) -> tuple[Any, ...]:
  """Of the settings of a learner those that make its nets, beside what `shared_costs` compares.

  Args:
    settings: ((scope, function), argument, value as text) of each.
  """
  others = "suite.learners.", "suite.training."
  return tuple((function, argument, value) for function, argument, value in settings
               if argument == "backbone" or function[1] and not function[1].startswith(others))


def learn(parts: Parts, planned: planning.PlannedTask, context: planning.PlanContext
          ) -> planning.Footprint:
  """Charges a Train event."""
  static = parts.static
  # The models of a run that is given by name may be there already, or will be.
  trains_static = static.is_used and (isinstance(static.given, bool) or not (
      static.given in context.planned_before or pathlib.Path(static.given).is_dir()))
  hypers = _trials(parts.search, context)
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
      memory_bytes=4 * size,  # Weights, momentum, gradients, best weights.
      state_bytes=size)  # The net at hand.


def predict(parts: Parts, planned: planning.PlannedTask, num: int, batch_size: int,
            context: planning.PlanContext) -> None:
  """Charges a Predict event, in which each member of an ensemble predicts all images."""
  task, batch_size = planned.task, min(batch_size, 1 << (num - 1).bit_length())
  hypers = _trials(parts.search, context)
  total = flops.ZERO
  for hyper in hypers[:_members(parts, hypers)]:
    total += _costs(parts, hyper).answers(task, num, batch_size)
  _charge(context.ledger, "predict", total, examples=num)
  context.offer(parts.first.answer_probe(task, batch_size))


def _members(parts: Parts, hypers: list[dict[str, Any]]) -> int:
  return min(parts.num_members, len(hypers))


def _costs(parts: Parts, hyper: Mapping[str, Any]) -> NetworkCosts:
  """Of the backbone that a trial has drawn."""
  name = hyper.get(trial_models.BACKBONE)
  return parts.first if name is None else parts.costs[name]


def _train(parts: Parts, planned: planning.PlannedTask, context: planning.PlanContext,
           hypers: list[dict[str, Any]], phase: str,
           auxiliary: auxiliary_lib.Shape | None = None) -> None:
  for hyper in hypers:
    _charge_fit(parts.trainer, _costs(parts, hyper), planned, context, phase=phase,
                batch_size=hyper.get("batch_size"), auxiliary=auxiliary)


def _choose(start: starts.Start, costs: NetworkCosts, planned: planning.PlannedTask,
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
    if context.ledger.grant(
        1, lambda _: ledger_lib.Known(found.cost["flops"], found.cost["macs"])):
      context.ledger.charge("pretrain", **found.cost)
  if not isinstance(start, starts.Nearest):
    return
  if not context.past and (pretrained is None or not start.include_random):
    return  # There is nothing to choose from.
  times = len(context.past) + start.include_random + (pretrained is not None)
  train, dev = min(start.max_train, planned.train), min(start.max_validation, planned.dev)
  of_parts = [(num, costs.features(num, start.batch_size, start.statistics))
              for num in (train, dev)]
  macs = train * dev * costs.feature_size
  if not context.ledger.grant(
      1, lambda _: (of_parts[0][1] + of_parts[1][1] + flops.Cost(2 * macs, macs)) * times):
    return
  for num, cost in of_parts:
    _charge(context.ledger, "select", cost * times, examples=num * times)
  _charge(context.ledger, "select", flops.Cost(2 * macs, macs) * times)


class NetworkCosts:
  """Costs of training and applying the networks of one learner.

  Args:
    make: makes the network of a task.
    transform: of the learner's images.
    kept: networks, which several objects share: the last few are kept.
  """

  def __init__(self, make: Callable[[tasks.Task], network_lib.Network],
               transform: examples_lib.Transform,
               kept: dict[tuple[NetworkCosts, str, int], network_lib.Network]):
    self._make, self._transform, self._kept = make, transform, kept
    self._specs: dict[tuple[str, int], dict[str, tf.TensorSpec]] = {}
    self._steps: dict[str, flops.ShapeCosts] = {}
    self._auxiliary: dict[tuple[str, int], flops.ShapeCosts] = {}
    self._answers = flops.ShapeCosts(self._count_answers)
    self._features = {
        name: flops.ShapeCosts(functools.partial(self._count_features, name))
        for name in network_lib.STATISTICS}

  def step(self, task: tasks.Task, batch_size: int) -> flops.Cost:
    """One training step on a batch of the task."""
    if task.kind not in self._steps:
      self._steps[task.kind] = flops.ShapeCosts(
          lambda rows, classes: self.network(task.kind, classes).step_cost(
              self._spec(task.kind, classes, rows)))
    return self._steps[task.kind](batch_size, task.num_classes)

  def auxiliary(self, kind: str, shape: auxiliary_lib.Shape) -> flops.Cost:
    """What auxiliary batches add to a training step."""
    key = (kind, shape.batch_size)
    if key not in self._auxiliary:
      def count(groups: int, num_classes: int) -> flops.Cost:
        spec = self._spec(kind, 2, 2)
        rows, image = [groups, shape.batch_size], spec["image"]
        further = {"image": tf.TensorSpec([*rows, *image.shape[1:]], image.dtype),
                   "label": tf.TensorSpec([*rows, num_classes], tf.uint8),
                   "mask": tf.TensorSpec(rows, tf.bool)}
        network = self.network(kind, 2)
        total = network.step_cost({**spec, "auxiliary": further})
        part = network.step_cost(spec)
        def less(a: int | None, b: int | None) -> int | None:
          return None if a is None or b is None else a - b
        return flops.Cost(less(total.flops, part.flops), less(total.macs, part.macs),
                          total.uncounted)

      self._auxiliary[key] = flops.ShapeCosts(count)
    return self._auxiliary[key](shape.groups, shape.num_classes)

  def answers(self, task: tasks.Task, num: int, batch_size: int) -> flops.Cost:
    """Logits of `num` images of the task in batches, the last one without padding."""
    return _in_batches(lambda rows: self._answers(rows, task.num_classes), num, batch_size)

  def features(self, num: int, batch_size: int, statistics: str) -> flops.Cost:
    """The backbone's features of `num` images in batches; `statistics` as of `Network.extract`."""
    return _in_batches(lambda rows: self._features[statistics](rows, 2), num, batch_size)

  @functools.cached_property
  def signature(self) -> str | None:
    """The layers of the backbone with their settings and inputs, not their names; None: unknown."""
    backbone = self.network(tasks.SINGLE_LABEL, 2).backbone
    try:
      text = backbone.to_json()
    except (NotImplementedError, TypeError, ValueError):  # A layer of the user's.
      return None
    places = {name: str(i) for i, name in enumerate(
        dict.fromkeys(re.findall(r'"name": "([^"]+)"', text)))}
    shapes = [tuple(v.shape) for v in backbone.weights]
    return re.sub(r'"([^"]+)"', lambda one: places.get(one[1], one[0]), text) + str(shapes)

  @functools.cached_property
  def feature_size(self) -> int:
    """D."""
    return int(self.network(tasks.SINGLE_LABEL, 2).backbone.output_shape[-1])

  def weight_bytes(self, num_classes: int) -> int:
    """Size of the backbone and a head of C classes."""
    two, three = self._weight_bytes
    return two + (num_classes - 2) * (three - two)

  @functools.cached_property
  def _weight_bytes(self) -> tuple[int, int]:
    """Size with a head of 2 classes, and with one of 3."""
    two, three = (sum(v.dtype.size * int(np.prod(v.shape)) for v in network.model.weights)
                  for network in (self.network(tasks.SINGLE_LABEL, c) for c in (2, 3)))
    return two, three

  def step_probe(self, phase: str, task: tasks.Task, batch_size: int) -> planning.Probe | None:
    """A training step on blank images; None if its cost is unknown."""
    def run(rows: int) -> Any:
      network = self.network(task.kind, task.num_classes)
      return float(tf.reduce_sum(network.loop.step(self._blank(task, rows))))

    return _probe(phase, lambda rows: self.step(task, rows), run, batch_size,
                  f"training steps of {{}} images, {task.num_classes} classes")

  def answer_probe(self, task: tasks.Task, batch_size: int) -> planning.Probe | None:
    """The logits of one batch of blank images; None if their cost is unknown."""
    def run(rows: int) -> Any:
      network = self.network(task.kind, task.num_classes)
      return network.logits(self._blank(task, rows)["image"]).numpy()

    return _probe("predict", lambda rows: self.answers(task, rows, rows), run, batch_size,
                  "predictions of {} images")

  def _blank(self, task: tasks.Task, rows: int) -> dict[str, tf.Tensor]:
    spec = self._spec(task.kind, task.num_classes, rows)
    return {key: tf.fill(one.shape, "") if one.dtype == tf.string else tf.zeros(
        one.shape, one.dtype) for key, one in spec.items()}

  def _count_answers(self, rows: int, classes: int) -> flops.Cost:
    logits = self.network(tasks.SINGLE_LABEL, classes).logits
    return flops.count(logits.get_concrete_function(self._image_spec(rows)))

  def _count_features(self, statistics: str, rows: int, classes: int) -> flops.Cost:
    del classes
    backbone = self.network(tasks.SINGLE_LABEL, 2).backbone
    compiled = user_code.compiled(
        lambda images: backbone(images, training=statistics == "batch"))
    return flops.count(compiled.get_concrete_function(self._image_spec(rows)))

  def network(self, kind: str, num_classes: int) -> network_lib.Network:
    """The network of such a task, for counting: its weights are scratch."""
    key = (self, kind, num_classes)
    if key not in self._kept:
      if len(self._kept) >= _MOST_NETWORKS:  # Its graphs take as much memory as its weights.
        del self._kept[next(iter(self._kept))]
        host_memory.collect()
      self._kept[key] = self._make(tasks.Task("planned", kind, num_classes))
    return self._kept[key]

  def _image_spec(self, rows: int) -> tf.TensorSpec:
    return self._spec(tasks.SINGLE_LABEL, 2, rows)["image"]

  def _spec(self, kind: str, classes: int, rows: int) -> dict[str, tf.TensorSpec]:
    """The spec of a training batch, as an image set of such a task gives it."""
    if (kind, classes) not in self._specs:
      labels = [0] if kind == tasks.SINGLE_LABEL else np.zeros([1, classes], np.uint8)
      channels = self._transform.shape[-1]
      one = image_set.ImageSet.from_arrays(
          "planned", np.zeros([1, 8, 8, channels], np.uint8), labels, kind=kind,
          num_classes=classes)
      self._specs[kind, classes] = one.train_batches(
          1, seed=(0, 0), transform=self._transform).element_spec
    return {key: tf.TensorSpec([rows, *spec.shape[1:]], spec.dtype)
            for key, spec in self._specs[kind, classes].items()}


def _probe(phase: str, cost: Callable[[int], flops.Cost], run: Callable[[int], Any],
           batch_size: int, what: str) -> planning.Probe | None:
  """A probe of a batch, and of a smaller one."""
  smaller = _probe(phase, cost, run, _FEW, what) if batch_size > _FEW else None
  amount = cost(batch_size).flops
  if not amount:
    return None
  return planning.Probe(
      phase, amount, functools.partial(run, batch_size), what.format(batch_size), smaller)


def _charge(ledger: ledger_lib.Ledger, phase: str, cost: flops.Cost, *, examples: int = 0,
           steps: int = 0) -> None:
  """Charges a cost that is not paid yet: it has no seconds."""
  ledger.charge(phase, flops=cost.flops, macs=cost.macs, examples=examples, steps=steps)


def _in_batches(cost: Callable[[int], flops.Cost], num: int, batch_size: int) -> flops.Cost:
  whole, rest = divmod(num, batch_size)
  total = cost(batch_size) * whole if whole else flops.ZERO
  return total + cost(rest) if rest else total


def _trials(search: search_lib.Search, context: planning.PlanContext) -> list[dict[str, Any]]:
  """The hyper-parameters of an event's trials; fewer than allowed if the oracle's values run out.

  If none of them changes the cost of a training, those of the first event stand for all.
  """
  event = context.event if any(len(search.values(name)) > 1 for name in _COSTLY) else 0
  known = context.shared.setdefault("searches", [])
  for asked, found in known:
    if asked == (search, event):
      return found
  found, _ = search.without_results().run(
      lambda wave: [{"status": "done", "validation_error": 0.5} for _ in wave],
      context.seeds.integer("search"))
  known[:] = [*known[-8:], ((search, event), found)]
  return found


def _charge_fit(trainer: trainer_lib.Trainer, costs: NetworkCosts,
               planned: planning.PlannedTask, context: planning.PlanContext, *, phase: str,
               batch_size: int | None = None, auxiliary: auxiliary_lib.Shape | None = None) -> None:
  """Charges one training to the end and its validations, that of step 0 included.

  Args:
    phase: of the ledger.
    batch_size: in place of the trainer's.
    auxiliary: batches of earlier tasks in each step.
  """
  batch_size = batch_size or trainer.batch(planned.train)
  step, examples = costs.step(planned.task, batch_size), batch_size
  if auxiliary is not None:
    step += costs.auxiliary(planned.task.kind, auxiliary)
    examples += auxiliary.groups * auxiliary.batch_size
  num = min(trainer.max_validation or planned.dev, planned.dev)
  answers = costs.answers(planned.task, num, trainer.eval_batch_size)
  steps = trainer.granted(context.ledger, step, lambda: answers)
  _charge(context.ledger, phase, step * steps, steps=steps, examples=steps * examples)
  times = trainer.num_validations(steps)
  _charge(context.ledger, "validate", answers * times, examples=num * times)
  context.offer(costs.step_probe(phase, planned.task, batch_size))

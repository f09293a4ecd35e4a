# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Refuses what a protocol cannot run, before anything is trained.

A protocol calls `check_learner` first, `check_task` for each task, and `check_predict` after the
first `begin`. A learner refuses in `begin` what depends on its arguments.
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Iterable, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import user_code
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.contracts import examples
from suite.contracts import learner as learner_lib
from suite.contracts import tasks


class RefusedError(ValueError):
  """A learner, a method or data that the protocol cannot run."""


@dataclasses.dataclass(frozen=True)
class Requirement:
  """The methods and attributes that a delivery needs.

  Attributes:
    contract: the class that has them.
    shown: what is delivered, for messages.
    names: of the methods and attributes.
    example: a learner that has them.
  """

  contract: type[learner_lib.BaseLearner]
  shown: str
  names: tuple[str, ...]
  example: str


_WHOLE = ("transform", "begin", "learn", "predict")
META = ("meta_loss", "zero_statistics", "update_statistics")
REQUIREMENTS = {
    deliveries.TASKS: Requirement(
        learner_lib.Learner, "separate tasks", _WHOLE, "StatisticsLearner"),
    deliveries.BUCKETS: Requirement(
        learner_lib.Learner, "the buckets of one task", _WHOLE, "StatisticsLearner"),
    deliveries.SEQUENCE: Requirement(
        learner_lib.SequenceLearner, "single samples",
        ("transform", "begin", "encode", "answer"), "StatisticsLearner"),
    deliveries.EPISODES: Requirement(
        learner_lib.EpisodicLearner, "few-shot episodes",
        ("transform", "begin", "initial_state", "adapt", "logits", "transductive"), "ProtoNet"),
    deliveries.PORTIONS: Requirement(
        learner_lib.PretrainingLearner, "portions of a pretraining",
        ("begin", "learn", "encoder", "name_of_pretext"), "Pretrainer"),
}


def check_learner(learner: Any, delivery: str, *, also: Sequence[str] = (), remedy: str = ""
                  ) -> Any:
  """Refuses a learner without the methods that a delivery needs, or that does not accept it.

  Args:
    learner: any object.
    delivery: one of `deliveries.DELIVERIES`.
    also: names that are optional in general, but needed by this run.
    remedy: what to do where the learner has all but these.

  Returns:
    The learner to run: the `form` of the learner for the delivery, of the delivery's contract. An
    object of another class is adapted to it.
  """
  need = REQUIREMENTS[delivery]
  learner = learner_lib.adapted(
      learner_lib.adapted(learner, need.contract).form(delivery), need.contract)
  name, shown = type(learner).__name__, f"{need.shown} ({descriptions.delivering(delivery)})"
  missing = [one for one in (*need.names, *also) if not learner_lib.gives(learner, one)]
  if remedy and missing and not set(missing) & set(need.names):
    raise RefusedError(f"{name} can be given {shown}, but not by this run: it has no "
                       f"{', '.join(missing)}. {remedy}")
  if missing:
    others = [descriptions.delivering(one) for one, other in REQUIREMENTS.items()
              if one in learner.deliveries
              and all(learner_lib.gives(learner, name) for name in other.names)]
    instead = f"{name} runs under {' and '.join(others)}. " if others else ""
    raise RefusedError(
        f"{name} cannot be given {shown}: it has no {', '.join(missing)}. "
        f"Needed are {', '.join((*need.names, *also))}. {instead}Take a learner that has them, for "
        f"example {need.example}, or add them (see {need.contract.__name__} in "
        "suite/contracts/learner.py).")
  if delivery not in learner.deliveries:
    allowed = [f"{REQUIREMENTS[one].shown} ({descriptions.delivering(one)})"
               for one in learner.deliveries]
    raise RefusedError(
        f"{name} cannot be given {shown}; it accepts "
        f"{' and '.join(allowed)}. Run it there, or take another learner, for example "
        f"{need.example}.")
  return learner


def check_keeps_budget(learner: learner_lib.BaseLearner) -> None:
  """Refuses a learner of a run with a budget that does not say before what learning costs."""
  if not learner_lib.adapted(learner, learner_lib.BaseLearner).keeps_budget:
    raise RefusedError(
        f"{type(learner).__name__} does not say what its learning costs before it learns, so it "
        "cannot keep a budget. Leave --budget out; or let it ask context.ledger.grant, and set its "
        "attribute keeps_budget to True (docs/budgets.md).")


def check_no_budget(budget: Any, protocol: str) -> None:
  """Refuses a budget for a protocol that trains nothing."""
  if budget is not None:
    raise RefusedError(
        f"The protocol {protocol} trains no network, so there is nothing that a budget of FLOPs or "
        f"bytes could end. Leave --budget out; lifelong.run.budget limits the answers that it "
        "asks for.")


def check_one_device(distribution: distribution_lib.Distribution, protocol: str, reason: str
                     ) -> None:
  """Refuses several devices for a protocol that cannot use them."""
  if not distribution.is_single:
    raise RefusedError(
        f"{protocol} runs on one device, since {reason}; it was started on {distribution.name!r} "
        f"with {distribution.num_replicas} replicas. Start it with --strategy one_device.")


def check_one_process(distribution: distribution_lib.Distribution, protocol: str, reason: str
                      ) -> None:
  """Refuses strategies of several processes for a protocol that runs in one."""
  if distribution.name not in ("one_device", "mirrored"):
    raise RefusedError(
        f"{protocol} runs in one process, since {reason}; it was started on "
        f"{distribution.name!r}. Start it with --strategy one_device, or mirrored to train on "
        "several devices of this machine.")


def check_method(method: object, names: Sequence[str], example: str) -> None:
  """Refuses an object without the methods that a protocol calls."""
  missing = [one for one in names if not learner_lib.gives(method, one)]
  if missing:
    raise RefusedError(
        f"{type(method).__name__} cannot be run here: it has no {', '.join(missing)}. Needed are "
        f"{', '.join(names)}. Take a method that has them, for example {example}.")


def check_kinds(learner: learner_lib.BaseLearner, kinds: Iterable[str]) -> None:
  """Refuses a learner that cannot learn all the kinds of tasks that will be delivered."""
  other = sorted(set(kinds) - set(learner.kinds))
  if other:
    raise RefusedError(
        f"{type(learner).__name__} learns {' and '.join(learner.kinds)} tasks; the run has "
        f"{' and '.join(other)} tasks, too. Leave those out, or take another learner, for example "
        "a StatisticsLearner with ClassMeans.")


def limits_kinds(learner: learner_lib.BaseLearner) -> bool:
  """Whether there are kinds of tasks that the learner says it cannot learn."""
  return set(learner.kinds) < set(tasks.KINDS)


def check_held(see: Callable[[tf.Tensor], tf.Tensor] | None, part: examples.ExampleSet) -> None:
  """Refuses examples to a learner that sees images on disk, see `SequenceLearner`, by `see`."""
  if see is not None:
    raise RefusedError(f"A net on images that stay on disk cannot learn {part.name!r}. Leave base "
                       "out of fluid.run, and set base_is_known.")


def check_task(task: tasks.Task) -> None:
  """Refuses a task of one class, which every answer gets right."""
  if task.kind == tasks.SINGLE_LABEL and task.num_classes < 2:
    raise RefusedError(
        f"Task {task.key!r} has {task.num_classes} class; a {task.kind} task needs at least 2. "
        "Declare all classes of the data set, or leave it out. (Images without labels are for "
        "pretraining: pretrain.run.)")


def check_labels(task: tasks.Task, parts: Iterable[examples.ExampleSet]) -> None:
  """Refuses training data that all has the same label."""
  if task.kind != tasks.SINGLE_LABEL:
    return
  found: set[int] = set()
  for part in parts:
    found.update(np.unique(part.labels).tolist())
    if len(found) > 1:
      return
  raise RefusedError(
      f"All training examples of {task.key!r} are of class {found.pop()}; there is nothing to tell "
      "apart. Give data of at least 2 classes.")


def check_predict(learner: learner_lib.Learner, task: tasks.Task, part: examples.ExampleSet
                  ) -> bool:
  """Refuses a learner whose `predict` does not return logits [B, C] for a task that has begun.

  Args:
    learner: it has begun the task.
    task: of C classes.
    part: examples of the task.

  Returns:
    False if the learner cannot predict before `learn`: then check again after it.
  """
  if len(learner.transform.shape) == 1:
    spec = tf.TensorSpec([1, *learner.transform.shape], tf.float32)
  else:
    spec = part.eval_batches(1, transform=learner.transform).element_spec["image"]
  try:
    check_width(learner, task, learner.predict, spec)
  except RuntimeError:
    return False
  return True


def check_width(learner: object, task: tasks.Task, predict: Callable[[tf.Tensor], tf.Tensor],
                images: tf.TensorSpec) -> None:
  """Refuses outputs other than [B, C], read from a graph of `predict` that is never run.

  Args:
    learner: it has begun the task.
    task: of C classes.
    predict: its method that returns logits.
    images: one example as its transform prepares it, [1, ...].
  """
  outputs = user_code.compiled(predict).get_concrete_function(images).structured_outputs
  got = outputs.shape
  if got.rank is None or got.is_compatible_with([1, task.num_classes]):
    return
  raise RefusedError(
      f"{type(learner).__name__}.{getattr(predict, '__name__', 'predict')} returns logits "
      f"{list(got)} for one image; expected [1, {task.num_classes}], one for each class of "
      f"{task.key!r}. Make its last layer {task.num_classes} wide.")

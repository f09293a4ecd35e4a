# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Compositions that make sense pass, others are refused with what is missing.

More of these messages are held through the learner: tests/learners/gradient_*_test.py.
"""

from __future__ import annotations

import itertools
import types

import pytest

from suite.contracts import deliveries
from suite.contracts import tasks
from suite.training.gradient import class_heads
from suite.training.gradient import composition
from suite.training.gradient import optimizers
from suite.training.memories import memory
from suite.training.memories import reservoir
from suite.training.objectives import der
from suite.training.objectives import er_ace
from suite.training.objectives import ewc
from suite.training.objectives import gem
from suite.training.objectives import lwf
from suite.training.objectives import mas
from suite.training.objectives import mer
from suite.training.objectives import mir
from suite.training.objectives import objective as objective_lib
from suite.training.objectives import si

REPLAYING = (er_ace.ErAce, der.Der, mer.Mer, mir.Mir)
GUARDING = (ewc.Ewc, mas.Mas, si.Si)
PLAIN = (objective_lib.Objective, lwf.Lwf, *GUARDING)


def make(**parts):
  if parts.pop("remembers", False):
    parts["memory"] = memory.Memory(5, reservoir.Reservoir())
  defaults = {"head": class_heads.Linear(), "objective": objective_lib.Objective(), "memory": None,
              "train_on": "current", "replay_batch": 0, "optimizer": optimizers.Momentum(),
              "has_meta": False, "augments": True, "batch_size": 8}
  return composition.Composition(**{**defaults, **parts})


def is_refused(made):
  try:
    made.check()
  except ValueError:
    return True
  return False


def makes_sense(objective, remembers, replays, train_on):
  """The rules, said in another way than the code does."""
  if not remembers:
    return not replays and train_on not in ("memory", "both") and objective in PLAIN
  if objective in REPLAYING:
    return replays and train_on not in ("memory", "both")
  if objective is gem.Agem:
    return not (replays and train_on in ("memory", "both"))
  return replays != (train_on in ("memory", "both"))


@pytest.mark.parametrize("train_on", composition.TRAIN_ON)
@pytest.mark.parametrize("objective", [*PLAIN, gem.Agem, *REPLAYING])
def test_exactly_the_compositions_that_make_sense_pass(objective, train_on):
  for remembers, replays in itertools.product([False, True], repeat=2):
    made = make(objective=objective(), remembers=remembers, replay_batch=4 * replays,
                train_on=train_on)
    assert is_refused(made) != makes_sense(objective, remembers, replays, train_on), (
        remembers, replays)


@pytest.mark.parametrize("parts, message", [
    ({"objective": mir.Mir()}, "The objective Mir works with a memory, but there is none"),
    ({"objective": er_ace.ErAce(), "remembers": True}, "ErAce is about replayed rows, but replay_"),
    ({"head": class_heads.CwrStar(), "objective": lwf.Lwf()}, "objective Lwf and the head CwrStar"),
    ({"head": class_heads.NearestExemplars()}, "NearestExemplars answers by examples of a memory"),
    ({"head": class_heads.BiasCorrected()}, "held out, and train_on is 'current'"),
    ({"optimizer": None}, "optimizer is None; give optimizers.Momentum"),
    ({"has_meta": True, "augments": False}, "the net AllLayers and no memory"),
    ({"has_meta": True, "remembers": True, "replay_batch": 3}, "the net AllLayers and no memory"),
    ({"has_meta": True}, "learns no head; give one that starts at 'zeros' or 'prototypes'"),
])
def test_a_refusal_says_what_to_do(parts, message):
  with pytest.raises(ValueError, match=message):
    make(**parts).check()


def test_both_kinds_of_optimizers_and_every_head_pass():
  for optimizer in (optimizers.Momentum(), optimizers.Keras(object)):
    make(optimizer=optimizer).check()
  for head in (class_heads.Linear("zeros"), class_heads.Linear("prototypes"), class_heads.Split(),
               class_heads.CwrStar(), class_heads.PerTask()):
    make(head=head).check()
  make(has_meta=True, head=class_heads.Linear("prototypes")).check()


def here(delivery, strategy="one_device", replicas=1):
  return types.SimpleNamespace(delivery=delivery, distribution=types.SimpleNamespace(
      name=strategy, num_replicas=replicas))


def task(kind=tasks.SINGLE_LABEL, num_classes=3):
  return tasks.Task("t", kind, num_classes)


@pytest.mark.parametrize("delivery, shown", [
    (deliveries.BUCKETS, "the buckets of one task"), (deliveries.SEQUENCE, "a sequence")])
def test_one_head_serves_one_task(delivery, shown):
  make().check_task(task(), here(delivery))
  with pytest.raises(ValueError, match=f"the head PerTask, but was given {shown}"):
    make(head=class_heads.PerTask()).check_task(task(), here(delivery))
  with pytest.raises(ValueError, match="is multi_label; GradientLearner has one class an image"):
    make().check_task(task(tasks.MULTI_LABEL), here(delivery))


def test_a_head_per_task_serves_tasks_of_both_kinds():
  for kind in tasks.KINDS:
    make(head=class_heads.PerTask()).check_task(task(kind), here(deliveries.TASKS))
  with pytest.raises(ValueError, match="one head, Linear, for tasks that have separate classes"):
    make().check_task(task(), here(deliveries.TASKS))


@pytest.mark.parametrize("parts, message", [
    ({"remembers": True, "replay_batch": 4}, "mix examples of one list of classes"),
    ({"train_on": "all"}, "mix examples of one list of classes"),
    ({"objective": lwf.Lwf()}, "the objective Lwf compares answers about one list of classes"),
])
def test_what_compares_classes_of_several_phases_has_no_head_per_task(parts, message):
  with pytest.raises(ValueError, match=message):
    make(head=class_heads.PerTask(), **parts).check_task(task(), here(deliveries.TASKS))


def test_meta_trains_on_a_first_task_of_single_labels():
  made = make(head=class_heads.PerTask(), has_meta=True)
  made.check_task(task(), here(deliveries.TASKS))
  with pytest.raises(ValueError, match="is multi_label and the first one; GradientLearner.meta"):
    made.check_task(task(tasks.MULTI_LABEL), here(deliveries.TASKS))


@pytest.mark.parametrize("objective", [objective_lib.Objective, *GUARDING])
def test_objectives_on_weights_have_heads_per_task(objective):
  make(head=class_heads.PerTask(), objective=objective()).check_task(task(), here(deliveries.TASKS))


def test_one_class_and_several_devices_are_refused():
  with pytest.raises(ValueError, match="has 1 class; a classifier needs at least 2"):
    make().check_task(task(num_classes=1), here(deliveries.BUCKETS))
  with pytest.raises(ValueError, match="'multi_worker'; it trains on 'one_device' and 'mirrored'"):
    make().check_task(task(), here(deliveries.BUCKETS, strategy="multi_worker", replicas=2))
  make().check_task(task(), here(deliveries.BUCKETS, strategy="mirrored", replicas=4))
  with pytest.raises(ValueError, match="batch_size is 8, which cannot be split over the 3 devices"):
    make().check_task(task(), here(deliveries.BUCKETS, strategy="mirrored", replicas=3))
  with pytest.raises(ValueError, match="replay_batch is 7, .* give a multiple of 2"):
    make(replay_batch=7).check_task(
        task(), here(deliveries.BUCKETS, strategy="mirrored", replicas=2))


@pytest.mark.parametrize("value", [0, -1, float("nan")])
def test_numbers_are_above_0(value):
  with pytest.raises(ValueError, match=f"GradientLearner.epochs is {value}; it must be above 0"):
    composition.check_numbers(batch_size=3, epochs=value)


def test_gem_needs_a_memory_that_keeps_buckets_apart():
  balanced = memory.Memory(5, reservoir.GroupBalanced("bucket"))
  make(objective=gem.Gem(), memory=balanced).check()
  with pytest.raises(ValueError, match="does not keep them apart; take reservoir.GroupBalanced"):
    make(objective=gem.Gem(), remembers=True).check()

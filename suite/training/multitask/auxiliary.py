# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Multitask training (MT of NEVIS'22): settings, and the auxiliary part of one training.

In each step the gradients of the task's batch and of K auxiliary batches are accumulated, the
latter weighted by lambda: the dimension "auxiliary_weight" of a search, or `Multitask.weight`.

Which earlier tasks a task is trained together with, and how often (NEVIS'22, figure 23).

    Similar(1)         the task whose features give the lowest kNN error; with a start from it,
                       `ft_dknn+top1_similar`, the paper's MT
    Similar(3)         the three such tasks: `ft_dknn+top3_similar`
    EveryTask()        all of them in each step: `ft_prev+all`, `ind+all`
    OneAtRandom()      one of them in each step: `ft_prev+random`, `ind+random`
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import dataclasses
import functools
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from suite.compute import seeds as seeds_lib
from suite.contracts import deliveries
from suite.contracts import examples
from suite.data.streams import task_mixture
from suite.models import heads
from suite.models import initial
from suite.state import context as context_lib
from suite.training.multitask import data_cache

WEIGHT = "auxiliary_weight"  # The name of lambda in a search's space.


class AuxiliaryRule(Protocol):
  """Chooses auxiliary tasks.

  Attributes:
    needs_errors: whether it reads the kNN errors of past models, which then must be known.
    groups: auxiliary tasks that are drawn in each step; None: all chosen ones.
  """

  @property
  def needs_errors(self) -> bool:
    """Whether `choose` reads the kNN errors of past models."""

  @property
  def groups(self) -> int | None:
    """See above."""

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    """Returns the chosen tasks.

    Args:
      past: names of the past tasks, oldest first.
      errors: their kNN errors on the current task; {} if the start does not look at them.
    """


@dataclasses.dataclass(frozen=True)
class Similar:
  """The `num` most related tasks, by the kNN errors that chose the start."""

  num: int = 1

  needs_errors = True
  groups = None

  def __post_init__(self) -> None:
    if self.num < 1:
      raise ValueError(f"Similar.num is {self.num}; it must be at least 1.")

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    newest_first = [name for name in reversed(past) if name in errors]
    return sorted(newest_first, key=lambda name: errors[name])[:self.num]  # Of equals the newest.


@dataclasses.dataclass(frozen=True)
class EveryTask:
  """All past tasks, each of them in every step."""

  needs_errors = False
  groups = None

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    del errors
    return list(past)


@dataclasses.dataclass(frozen=True)
class OneAtRandom:
  """All past tasks, of which each step draws one, all as likely."""

  needs_errors = False
  groups = 1

  def choose(self, past: Sequence[str], errors: Mapping[str, float]) -> list[str]:
    del errors
    return list(past)


HeadWeights = Sequence[np.ndarray]  # [D, C] and [C].


@dataclasses.dataclass(frozen=True)
class Multitask:
  """Settings of multitask training.

  Attributes:
    rule: which past tasks are auxiliary.
    batch_size: examples of each auxiliary batch; the paper's, for tasks of any size.
    weight: lambda, unless the search has a dimension "auxiliary_weight".
    max_bytes, canvas_bytes: the bounds of `data_cache.DataCache`.
  """

  rule: AuxiliaryRule = Similar()
  batch_size: int = 64
  weight: float = 1.0
  max_bytes: int = data_cache.DEFAULT_BYTES
  canvas_bytes: int | None = None

  def __post_init__(self) -> None:
    if self.batch_size < 1:
      raise ValueError(f"Multitask.batch_size is {self.batch_size}; it must be at least 1.")
    if not self.weight >= 0:
      raise ValueError(f"Multitask.weight is {self.weight}; it must not be negative.")

  def weight_of(self, hyper: Mapping[str, Any]) -> float:
    """Lambda of a trial."""
    return float(hyper.get(WEIGHT, self.weight))


class Shape(NamedTuple):
  """What a compiled step depends on.

  Attributes:
    num_classes: of all auxiliary tasks together.
    groups: K, auxiliary batches in a step.
    batch_size: of each.
  """

  num_classes: int
  groups: int
  batch_size: int


class Auxiliary:
  """The auxiliary tasks of one training.

  Args:
    settings: see `Multitask`.
    mixture: their images.
    head: first weights of a linear layer with the classes of all of them, [D, C] and [C].
    about: further facts of the images, for records.
  """

  def __init__(self, settings: Multitask, mixture: task_mixture.TaskMixture, head: HeadWeights,
               about: Mapping[str, Any] | None = None):
    self.settings, self.head, self._mixture = settings, [np.asarray(w) for w in head], mixture
    self._about = dict(about or {})
    self.shape = Shape(mixture.num_classes, mixture.num_groups, settings.batch_size)

  @property
  def examples_a_step(self) -> int:
    """Auxiliary examples in each step."""
    return self.shape.groups * self.shape.batch_size

  def describe(self) -> dict[str, Any]:
    """For records: the auxiliary tasks with their images, and how many take part in a step.

    And, if there are any, tasks whose images are held as canvases, and images that are left out.
    """
    return {"tasks": self._mixture.sizes(), "batches_a_step": self.shape.groups, **self._about}

  def batches(self, seeds: seeds_lib.Seeds, transform: examples.Transform, first_step: int,
              **shard: int) -> tf.data.Dataset:
    """Endless batches {"image" [K, b, S, S, 3], "label" [K, b, C], "mask"}; see `TaskMixture`."""
    return self._mixture.group_batches(
        self.examples_a_step, seed=seeds.pair("auxiliary batches"), transform=transform,
        first_step=first_step, **shard)


def build(settings: Multitask, cache: data_cache.DataCache, keys: Sequence[str], *,
          history: deliveries.History, context: context_lib.Context, feature_size: int,
          known_heads: Mapping[str, HeadWeights],
          transform: examples.Transform | None = None) -> Auxiliary:
  """The auxiliary part of an event's trainings.

  Args:
    settings, cache: see there.
    keys: of the auxiliary tasks, one at least.
    history: the tasks delivered so far.
    context: of the event.
    feature_size: D.
    known_heads: heads to begin with, by task; all others begin at random.
    transform: of images that are held as canvases; None: none are.
  """
  sets = cache.sets(history, keys, context.seeds.seed, transform)
  mixture = task_mixture.TaskMixture(
      sets, name="auxiliary tasks", groups=settings.rule.groups, exponent=0.0)
  parts = []
  for key, images in sets.items():
    found = known_heads.get(key)
    wanted = [(feature_size, images.num_classes), (images.num_classes,)]
    if found is None or [tuple(w.shape) for w in found] != wanted:
      found = initial.initial_weights(
          functools.partial(heads.dense, images.num_classes, feature_size),
          context.seeds.integer("auxiliary head", key))
    parts.append(found)
  kernels, biases = zip(*parts)
  return Auxiliary(settings, mixture, [np.concatenate(kernels, 1), np.concatenate(biases)],
                   cache.describe())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The data of development: what a search of settings may see of a run's data.

The trials of a search are runs of the same protocol on a part of the training data, and are scored
on the rest of it, so that no test image and no test label has a part in the choice:

    clear, incremental   the first tasks; a share of each task's training images is tested on
    nevis                the first meta-train tasks, tested on their validation split
    cfsl                 tests on the validation episodes of the run; if it has none, some of the
                         training classes are left out of the meta-training, and tested on
    fluid                a share of the images of the base classes, and all images of some of these
                         classes, which are novel then, are the sequence; the rest is the base

The run that takes the choice pays for the search, and says what it was made on (`Selection`).

Chaudhry et al. (2019) select on a few tasks that the evaluation leaves out. Here the first tasks
stay in the run, and only their test images are left out of the search. Cha & Cho (2024) select on
another data set, in a scenario of the same form: `suite search --on`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
import dataclasses
from typing import Any, TypeVar

import numpy as np

from suite.contracts import descriptions
from suite.contracts import refusals
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.data.images import image_set
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import streams

SHARE = 0.2
_Kind = TypeVar("_Kind")
_INSTEAD = "Select on other data: suite search RUN --on DATA."
_SERIES = ("clear", "incremental", "nevis")


@dataclasses.dataclass(frozen=True)
class Development:
  """A part of the data of a run.

  Attributes:
    tasks: number of first tasks; None: all. Protocols without a series of tasks have None.
    share: of the training images of each task, or of base or training classes, that is tested on.
    seed: of the choice of these.
  """

  tasks: int | None = None
  share: float = SHARE
  seed: int = 0

  def __post_init__(self) -> None:
    if not 0.0 < self.share < 1.0:
      raise ValueError(f"development.share is {self.share}; allowed is a share between 0 and 1.")

  def of(self, protocol: Callable[..., Any]) -> tuple[Callable[..., Any], str]:
    """The protocol on this part of its data, and what the part is, in words."""
    name = getattr(descriptions.of(protocol), "name", "")
    if name not in _PARTS:
      raise refusals.RefusedError(
          f"The protocol {name or protocol!r} has no development data; allowed are "
          f"{', '.join(_PARTS)}.")
    if self.tasks is not None and name not in _SERIES:
      raise refusals.RefusedError(
          f"The protocol {name} has no first tasks, and {self.tasks} of them were asked for: leave "
          f"--tasks out, which is for {', '.join(_SERIES)}.")
    said: list[str] = []

    def change(arguments: Mapping[str, Any]) -> Mapping[str, Any]:
      changes, text = _PARTS[name](self, arguments)
      said.append(text)
      return changes

    made = refusals.with_arguments(protocol, change)
    return made, said[0]

  def _first(self, num: int, name: str) -> int:
    """The number of tasks, of `num`."""
    if self.tasks is not None and not 1 <= self.tasks <= num:
      raise refusals.RefusedError(
          f"--tasks {self.tasks}: {name!r} has {num} tasks that may be selected on; allowed are 1 "
          f"to {num}.")
    return num if self.tasks is None else self.tasks

  def _of_buckets(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    series = arguments["buckets"]
    # The same images in each bucket of a series that changes one set of images.
    num = self._first(len(series), series.task.name)
    same = [bucket.name for bucket in series.buckets[:num] if bucket.train is bucket.test]
    if same or arguments.get("mode") == "streaming":
      raise refusals.RefusedError(
          f"A stream of {series.task.name!r} is tested on the training images of its next bucket, "
          f"so it has no data to select on. {_INSTEAD}")
    parts = []
    for bucket in series.buckets[:num]:
      train, tested = (
          image_set.stratified_split(bucket.train, self.share, seed=self.seed)
          if series.task.kind == tasks.SINGLE_LABEL else
          bucket.train.split(self.share, seed=self.seed))
      parts.append(buckets.Bucket(bucket.name, train, tested, bucket.unlabelled))
    made = dataclasses.replace(
        series, buckets=tuple(parts),
        task=dataclasses.replace(series.task, name=f"{series.task.name}, development"))
    return {"buckets": made}, (
        f"training images of {_range([one.name for one in parts])}, {num} of {len(series)} tasks "
        f"of {series.task.name}")

  def _of_stream(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    stream = arguments["stream"].meta_train()
    num = self._first(len(stream.entries), stream.name)
    made = streams.Stream(
        f"{stream.name}, first {num}", stream.entries[:num], resized_side=stream.resized_side,
        order=stream.order)
    return {"stream": made, "predict_on": streams.VALIDATION}, (
        f"validation images of {_range([one.key for one in made.entries])}, {num} of "
        f"{len(stream.entries)} tasks of {stream.name}")

  def _of_episodes(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    validation = arguments.get("validation")
    if validation is not None:
      return {"episodes_test": validation.episodes}, "the run's validation episodes"
    train: episodes.Episodes = arguments["episodes_train"]
    classes = np.random.default_rng(self.seed).permutation(train.num_classes)
    num = max(round(self.share * len(classes)), train.least_classes)
    try:
      left_out, rest = (train.of_classes(np.sort(part), f"{what} of the training classes")
                        for part, what in ((classes[:num], "development"), (classes[num:], "rest")))
    except ValueError as error:
      raise refusals.RefusedError(
          f"The run has no validation episodes (cfsl.run.validation), and its {len(classes)} "
          f"training classes are too few to leave {num} out of them: {error} {_INSTEAD}") from error
    return {"episodes_train": rest, "episodes_test": left_out}, (
        f"episodes of {num} of {len(classes)} training classes")

  def _of_sequence(self, arguments: Mapping[str, Any]) -> tuple[dict[str, Any], str]:
    base = arguments.get("base")
    if base is None or not isinstance(base, image_set.ImageSet):
      raise refusals.RefusedError(
          "All images of a sequence are tested on, and this run has no training images of base "
          f"classes in memory to select on. {_INSTEAD}")
    rng = np.random.default_rng(self.seed)
    present = rng.permutation(np.unique(base.labels))
    num = max(1, round(self.share * len(present)))
    if len(present) - num < 2:
      raise refusals.RefusedError(
          f"{base.name!r} has {len(present)} base classes, too few for {num} of them to be novel "
          f"while it is selected; at least {num + 2} are needed. {_INSTEAD}")
    whole = base.of_classes(present)  # Novel classes come last.
    known = whole.subset(np.flatnonzero(whole.labels < len(present) - num))
    rest, drawn = image_set.stratified_split(known, self.share, seed=self.seed)
    chosen = np.isin(whole.ids, drawn.ids) | (whole.labels >= len(present) - num)
    made = sequences.of(whole.subset(np.flatnonzero(chosen)), num_base_classes=len(present) - num,
                        seed=self.seed)
    return {"sequence": made, "base": rest}, (
        f"training images of the {len(present)} base classes, {num} of them as novel ones")


_PARTS = {"clear": Development._of_buckets, "incremental": Development._of_buckets,
          "nevis": Development._of_stream, "cfsl": Development._of_episodes,
          "fluid": Development._of_sequence}


def score(name: str) -> descriptions.Measure:
  """The score of trials: the protocol's first measure, if that is not of test data alone."""
  if name == "nevis":
    return descriptions.Measure("mean_error_all", "mean error", descriptions.LOWER)
  return descriptions.named(name).measures[0]


def _range(names: list[str]) -> str:
  return names[0] if len(names) == 1 else f"{names[0]} to {names[-1]}"


@dataclasses.dataclass(frozen=True)
class Selection:
  """How the settings of a run were selected.

  Attributes:
    on: the data, in words.
    trials: number of settings that were tried.
    flops, macs, examples, steps: of all of them, see `ledger.Account`.
  """

  on: str
  trials: int
  flops: int | None
  macs: int | None
  examples: int
  steps: int

  def of(self, protocol: Callable[..., Any]) -> Callable[..., Any]:
    """The protocol, whose runs charge the search before their first event."""

    def before(state: Any) -> None:
      state.ledger.selected_on = self.on
      if not vars(state).get("done"):  # A plan has none.
        state.ledger.charge_search(
            flops=self.flops, macs=self.macs, examples=self.examples, steps=self.steps)

    return refusals.preceded(protocol, before)


def given(kind: type[_Kind], values: Mapping[str, Any]) -> _Kind:
  """A `Development` or a `Selection` of the values that a run file has."""
  allowed = [field.name for field in dataclasses.fields(kind)]  # type: ignore[arg-type]
  try:
    return kind(**values)
  except TypeError as error:
    raise ValueError(f"experiment.run has {dict(values)!r} for {kind.__name__}; allowed are "
                     f"{', '.join(allowed)}.") from error

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Chronological streams of tasks: for each task one Train and one Predict event.

  entry 0 (1992)      entry 1 (1998)      ...
  train   predict     train   predict
  event 0 event 1     event 2 event 3

A task has four splits (section 4.1 of the paper). A Train event delivers train and dev; a Predict
event asks for test, or during development for validation.

A stream is built without reading data. Missing data is an error before the first event, unless the
stream was built to leave it out; then `left_out` names it.
"""

from __future__ import annotations

import collections
import dataclasses
import functools
from typing import Any, Callable, Dict, List, Mapping, Optional, Sequence, Tuple, Union

from absl import logging

from suite.contracts import event_kinds
from suite.contracts import examples
from suite.contracts import experience
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import prepared_sets
from suite.data.images import resized_copy
from suite.data.images import stratified_split
from suite.data.images import tfds_source
from suite.data.streams import nevis_table
from suite.data.streams import shared_images as shared_images_lib

META_TRAIN = "meta_train"
META_TEST = "meta_test"
ROLES = (META_TRAIN, META_TEST)

VALIDATION = "validation"
TEST = "test"
HELD_OUT = (VALIDATION, TEST)
SPLITS = ("train", "dev", *HELD_OUT)
OURS, PAPER = "ours", "paper"

# Data sets kept in memory: the current one, and an earlier one.
_NUM_LOADED = 2


class MissingDataError(RuntimeError):
  """Data of a stream is not prepared; the message names all of it and the commands to run."""


@dataclasses.dataclass(frozen=True)
class Missing:
  """A data set that is missing: the reason, and the command that prepares it ("" for none)."""

  dataset: str
  reason: str
  command: str


@dataclasses.dataclass(frozen=True)
class StreamEvent:
  """One event of a stream: kind "train" or "predict" of the entry `entry_index`."""

  index: int
  kind: str
  entry_index: int
  task_key: str


@dataclasses.dataclass(frozen=True, eq=False)
class Splits:
  """The image sets of a task.

  Attributes:
    train, dev, validation, test: its splits.
    shared: images left out since another task is scored on them, by split.
    resized: the resized copies that were read, by split; {} if images are as prepared.
  """

  train: examples.ExampleSet
  dev: examples.ExampleSet
  validation: examples.ExampleSet
  test: examples.ExampleSet
  shared: Mapping[str, Any] = dataclasses.field(default_factory=dict)
  resized: Mapping[str, Any] = dataclasses.field(default_factory=dict)


class StreamEntry:
  """One task's place in a stream.

  Attributes:
    key: the task's key, "mnist@2".
    year: of publication; a stream is sorted by it.
    role: "meta_train" or "meta_test".
    load: () -> Splits.
    dataset: the data set's name, "nevis/mnist"; several entries may share it.
    version: () -> its version as prepared, "1.0.0"; None where it has none.
  """

  def __init__(self, task: Union[tasks.Task, Callable[[], tasks.Task]], year: int, role: str,
               load: Callable[[], Splits], dataset: str, *, key: Optional[str] = None,
               missing: Callable[[], Optional[Missing]] = lambda: None,
               version: Callable[[], Optional[str]] = lambda: None):
    """`task` may be a function (then `key` is needed); `missing` tells if and why data is missing.
    """
    if role not in ROLES:
      raise ValueError(f"Entry {dataset!r} has role {role!r}; allowed are {', '.join(ROLES)}.")
    self.key = task.key if isinstance(task, tasks.Task) else str(key)
    self.year, self.role, self.load, self.dataset, self.missing = year, role, load, dataset, missing
    self.version = functools.cache(version)
    self._task = task

  @property
  def task(self) -> tasks.Task:
    """The task; its number of classes is read at the first access."""
    if not isinstance(self._task, tasks.Task):
      self._task = self._task()
    return self._task

  def __repr__(self) -> str:
    return f"StreamEntry({self.key!r}, {self.year}, {self.role})"


class Stream:
  """A chronological list of entries, as events.

  Attributes:
    name: "nevis/short", "digits", ...
    entries: in order of their years.
    left_out: keys of the tasks that were left out because their data was missing.
    expected: {role: number of tasks} that the stream has when nothing is left out, if known.
    resized_side: pixels of the shorter side to which larger images were resized; None: they are
      as prepared.
  """

  def __init__(self, name: str, entries: Sequence[StreamEntry],
               expected: Optional[Mapping[str, int]] = None, left_out: Sequence[str] = (),
               resized_side: Optional[int] = None):
    self.resized_side = resized_side
    self.name, self.entries, self.left_out = name, tuple(entries), tuple(left_out)
    self.expected = dict(expected) if expected else None
    self._check()
    self._loaded: collections.OrderedDict[str, Splits] = collections.OrderedDict()

  def meta_train(self) -> Stream:
    """The meta-train tasks of this stream; development must not see the others."""
    entries = [entry for entry in self.entries if entry.role == META_TRAIN]
    if not entries:
      raise ValueError(f"Stream {self.name!r} has no {META_TRAIN} task, and development looks at "
                       f"no other. Take a stream that has one, or predict on {TEST!r}.")
    return Stream(f"{self.name}, meta-train tasks", entries, left_out=self.left_out,
                  resized_side=self.resized_side)

  def check_transform(self, transform: transform_lib.Transform) -> None:
    """Refuses a transform to a size for which the stream's images were resized too far."""
    size = min(transform.shape[:2])
    least = resized_copy.least_side(size)
    if self.resized_side is not None and self.resized_side < least:
      raise ValueError(
          f"The images of stream {self.name!r} are resized to a shorter side of "
          f"{self.resized_side} pixels, but the learner's transform makes {size}, which needs "
          f"{least} or more (8/7). Set streams.nevis.resized_side = {least}, or None to decode the "
          "images as they are.")

  def events(self) -> List[StreamEvent]:
    """Train, then Predict, of each entry; MissingDataError if any data is missing."""
    missing = self.missing()
    if missing:
      raise MissingDataError(
          f"{len(missing)} data sets of stream {self.name!r} are not prepared:\n"
          + "\n".join(f"  {m.dataset}: {m.reason}{' Run: ' + m.command if m.command else ''}"
                      for m in missing)
          + "\nPrepare them, or ask for on_missing='leave_out'; all records then say what is out.")
    return [StreamEvent(2 * place + offset, kind, place, entry.key)
            for place, entry in enumerate(self.entries)
            for offset, kind in enumerate((event_kinds.TRAIN, event_kinds.PREDICT))]

  def missing(self) -> List[Missing]:
    """The data sets that are not prepared, each once."""
    found = {entry.dataset: entry.missing for entry in reversed(self.entries)}
    results = (found[name]() for name in dict.fromkeys(e.dataset for e in self.entries))
    return [result for result in results if result is not None]

  def deliver(self, event: StreamEvent) -> experience.Experience:
    """The data of a Train event, for the learner."""
    if event.kind != event_kinds.TRAIN:
      raise ValueError(f"Event {event.index} ({event.task_key!r}) is a {event.kind!r} event; "
                       f"only {event_kinds.TRAIN!r} events deliver data.")
    delivered = [self._delivered(place) for place in range(event.entry_index + 1)]
    return experience.History(delivered)[event.entry_index]

  def held_out(self, event: StreamEvent, split: str) -> examples.ExampleSet:
    """The task's split "validation" or "test", for the protocol only."""
    splits = self._splits(event.entry_index)
    return {VALIDATION: splits.validation, TEST: splits.test}[split]

  def shared(self, event: StreamEvent) -> Mapping[str, Any]:
    """Images left out of the splits of this task because another is scored on them, by split."""
    return self._splits(event.entry_index).shared

  def resized(self, event: StreamEvent) -> Mapping[str, Any]:
    """The resized copies that the task's splits were read from, by split; {} for none."""
    return self._splits(event.entry_index).resized

  def _delivered(self, place: int) -> experience.Delivered:
    def load() -> Tuple[examples.ExampleSet, examples.ExampleSet]:
      splits = self._splits(place)
      return splits.train, splits.dev
    return experience.Delivered(self.entries[place].task, load)

  def _splits(self, place: int) -> Splits:
    entry = self.entries[place]
    if entry.key not in self._loaded:
      splits = entry.load()
      for part in (splits.train, splits.dev, splits.validation, splits.test):
        _check_fits(entry.task, part)
      self._loaded[entry.key] = splits
    self._loaded.move_to_end(entry.key)
    while len(self._loaded) > _NUM_LOADED:
      self._loaded.popitem(last=False)
    return self._loaded[entry.key]

  def _check(self) -> None:
    keys = [entry.key for entry in self.entries]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
      raise ValueError(f"Stream {self.name!r} has {', '.join(twice)} more than once; "
                       "a repeated data set needs its occurrence number.")
    for earlier, later in zip(self.entries, self.entries[1:]):
      if earlier.year > later.year:
        raise ValueError(f"Stream {self.name!r} is not chronological: {earlier.key!r} "
                         f"({earlier.year}) stands before {later.key!r} ({later.year}).")
    if self.expected is not None:
      wanted, got = sum(self.expected.values()), len(self.entries) + len(self.left_out)
      if wanted != got:
        raise ValueError(f"Stream {self.name!r} has {got} tasks (left out ones included), expected "
                         f"{wanted}.")


def nevis(variant: Union[str, Sequence[str]] = "full", *, data_dir: Optional[str] = None,
          splits: str = OURS, on_missing: str = "stop", shared_images: str = "remove",
          resized_side: Optional[int] = None) -> Stream:
  """A NEVIS'22 stream over the data sets "nevis/...".

  Args:
    variant: "full" (106 tasks), "short" (29), "tiny" (7, of the reference code), "small" (6, of
      this suite), or names such as ["mnist", "mnist@2"]: lines of the full stream, in its order.
    data_dir: where the data sets are prepared; TFDS's own folder if not given.
    splits: "ours", or "paper": those that the reference draws ("nevis/NAME_paper"). Its draws of
      some data sets cannot be reproduced; these have ours, and are logged.
    on_missing: "stop" before the first event, or "leave_out".
    shared_images: "remove" from a task's splits what another task of the stream is scored on (see
      `shared_images`), or "keep".
    resized_side: pixels; images whose shorter side is longer are resized to it once, in a copy
      beside the data, and records say so. At least 8/7 of the size of the learner's transform.
      None: images are decoded as they were prepared, each time that they are used.

  Returns:
    The stream. With "leave_out" its `left_out` names the missing tasks.
  """
  if on_missing not in ("stop", "leave_out"):
    raise ValueError(f"on_missing={on_missing!r}; allowed are 'stop' and 'leave_out'.")
  if splits not in (OURS, PAPER):
    raise ValueError(f"splits={splits!r}; allowed are {OURS!r} and {PAPER!r}.")
  if shared_images not in ("remove", "keep"):
    raise ValueError(f"shared_images={shared_images!r}; allowed are 'remove' and 'keep'.")
  lines = nevis_table.select(variant)
  name = f"nevis/{variant}" if isinstance(variant, str) else f"nevis of {len(lines)} names"
  name += ", splits of the paper" if splits == PAPER else ""
  expected = collections.Counter(line.role for line in lines)
  datasets = _datasets(lines, splits)
  scored = shared_images_lib.ScoredImages(
      datasets.values() if shared_images == "remove" else [], data_dir=data_dir)
  entries = [_nevis_entry(line, datasets[line.name], data_dir, scored, resized_side)
             for line in lines]
  left_out: List[str] = []
  if on_missing == "leave_out":
    absent = {missing.dataset for missing in Stream(name, entries).missing()}
    left_out = [entry.key for entry in entries if entry.dataset in absent]
    entries = [entry for entry in entries if entry.dataset not in absent]
  return Stream(name, entries, expected, left_out, resized_side)


def of(sets: Sequence[Any], *, years: Optional[Sequence[int]] = None,
       roles: Optional[Sequence[str]] = None, names: Optional[Sequence[str]] = None,
       name: str = "mine", seed: int = 0) -> Stream:
  """A stream of image sets, a task each, in order of time.

  Args:
    sets: for each task `Splits`, {"train", "dev", "validation", "test"}, or one image set, which is
      divided by class into .45, .10, .15 and .30 of its images.
    years: of the tasks; 1, 2, ... if not given.
    roles: "meta_train", or "meta_test" for tasks that the headline score is a mean over; if not
      given, all of them are.
    names: of the tasks; those of the sets if not given. A name that comes again is the same task.
    name: of the stream.
    seed: of the divisions.
  """
  if not sets:
    raise ValueError("streams.of was given no task; give a list of image sets.")
  years = list(range(1, len(sets) + 1)) if years is None else list(years)
  roles = [META_TEST] * len(sets) if roles is None else list(roles)
  for what, given in (("years", years), ("roles", roles), ("names", names or sets)):
    if len(given) != len(sets):
      raise ValueError(f"streams.of was given {len(sets)} tasks and {len(given)} {what}; give one "
                       "for each task.")
  entries, seen = [], collections.Counter[str]()
  for i, given in enumerate(sets):
    splits = _own_splits(given, i, seed)
    title = str(names[i] if names is not None else splits.train.name)
    seen[title] += 1
    task = tasks.Task(title, splits.train.kind, splits.train.num_classes, seen[title])
    load = functools.partial(_own_splits, splits, i, seed)
    entries.append(StreamEntry(task, years[i], roles[i], load, f"own/{title}"))
  return Stream(name, entries)


def _own_splits(given: Any, place: int, seed: int) -> Splits:
  if isinstance(given, Splits):
    return given
  if isinstance(given, Mapping):
    if sorted(given) != sorted(SPLITS):
      raise ValueError(f"Task {place} of streams.of has the splits {sorted(given)}; give "
                       f"{', '.join(SPLITS)}, or one image set, which is divided.")
    return Splits(**given)
  if not hasattr(given, "eval_batches"):
    raise ValueError(f"Task {place} of streams.of is {type(given).__name__}; give an image set, "
                     "made by suite.images.from_arrays, from_dataset, from_directory or from_tfds.")

  def divide(images: examples.ExampleSet, share: float) -> Tuple[Any, Any]:
    if images.kind == tasks.SINGLE_LABEL:
      return stratified_split.split(images, share, seed=seed)
    return images.split(share, seed=seed)

  rest, test = divide(given, 0.30)
  rest, validation = divide(rest, 0.15 / 0.70)
  train, dev = divide(rest, 0.10 / 0.55)
  return Splits(train, dev, validation, test)


def _datasets(lines: Sequence[nevis_table.StreamLine], splits: str) -> Dict[str, str]:
  """{name: data set that has the splits}."""
  found = {line.name: f"nevis/{line.name}" for line in lines}
  if splits == PAPER:
    drawn = {name: f"{dataset}_paper" for name, dataset in found.items()
             if tfds_source.is_known(f"{dataset}_paper")}
    logging.warning("The reference's splits cannot be reproduced for %d of %d data sets, which "
                    "have ours: %s", len(found) - len(drawn), len(found),
                    ", ".join(sorted(set(found) - set(drawn))) or "none")
    found.update(drawn)
  return found


def _nevis_entry(line: nevis_table.StreamLine, dataset: str, data_dir: Optional[str],
                 scored: shared_images_lib.ScoredImages, resized_side: Optional[int]
                 ) -> StreamEntry:

  def task() -> tasks.Task:
    found = tfds_source.label_facts(dataset, data_dir=data_dir)
    if found.kind != line.kind:
      raise ValueError(f"{dataset!r} is {found.kind} as prepared, but {line.kind} in the stream's "
                       "table: suite/data/streams/tables/nevis_stream.csv.")
    return tasks.Task(line.name, line.kind, found.num_classes, line.occurrence)

  def load() -> Splits:
    sets: Dict[str, examples.ExampleSet] = {}
    shared: Dict[str, Any] = {}
    resized: Dict[str, Any] = {}
    for split in SPLITS:
      source = prepared_sets.open_source(
          dataset, split, data_dir=data_dir, resized_side=resized_side)
      if isinstance(source, resized_copy.ResizedSource):
        resized[split] = source.describe()
      sets[split] = prepared_sets.read_source(source)
      if split != TEST:
        sets[split], shared[split] = scored.drop_from(sets[split], dataset, split)
    return Splits(sets["train"], sets["dev"], sets[VALIDATION], sets[TEST], shared, resized)

  def missing() -> Optional[Missing]:
    reason, command = tfds_source.why_missing(dataset, data_dir=data_dir)
    return Missing(dataset, reason, command) if reason else None

  def version() -> Optional[str]:
    return tfds_source.version(dataset, data_dir=data_dir)

  return StreamEntry(task, line.year, line.role, load, dataset, key=line.key, missing=missing,
               version=version)


def _check_fits(task: tasks.Task, part: examples.ExampleSet) -> None:
  got: Tuple[str, int] = (part.kind, part.num_classes)
  if got != (task.kind, task.num_classes):
    raise ValueError(f"Task {task.key!r} is {task.kind} with {task.num_classes} classes, but its "
                     f"images {part.name!r} are {got[0]} with {got[1]}.")

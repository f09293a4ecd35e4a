# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streams of tasks, most of them chronological: for each task one Train and one Predict event.

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
from collections.abc import Mapping, Sequence
import dataclasses
import functools
import reprlib
from typing import Any

from suite.contracts import deliveries
from suite.contracts import examples
from suite.data.images import resized_copy
from suite.data.streams import stream_entry

# Orders of the tasks: by year; by year with the tasks of a year shuffled; all of them shuffled.
CHRONOLOGICAL, WITHIN_YEARS, OVER_YEARS = "chronological", "within_years", "over_years"
ORDERS = (CHRONOLOGICAL, WITHIN_YEARS, OVER_YEARS)

# Data sets kept in memory: the current one, and an earlier one.
_NUM_LOADED = 2


class MissingDataError(RuntimeError):
  """Data of a stream is not prepared; the message names all of it and the commands to run."""


@dataclasses.dataclass(frozen=True)
class StreamEvent:
  """One event of a stream: kind "train" or "predict" of the entry `entry_index`."""

  index: int
  kind: str
  entry_index: int
  task_key: str


class Stream:
  """A list of entries, as events.

  Attributes:
    name: "nevis/short", "digits", ...
    entries: in order of their years, unless `order` is "over_years".
    left_out: keys of the tasks that were left out because their data was missing.
    expected: {role: number of tasks} that the stream has when nothing is left out, if known.
    resized_side: pixels of the shorter side to which larger images were resized; None: they are
      as prepared.
    order: one of `ORDERS`, which the years of the entries must follow.
    cut_off: keys of the meta-test tasks that come after the stream's stop year, if it has one.
  """

  def __init__(self, name: str, entries: Sequence[stream_entry.StreamEntry],
               expected: Mapping[str, int] | None = None, left_out: Sequence[str] = (),
               resized_side: int | None = None, *, order: str = CHRONOLOGICAL,
               cut_off: Sequence[str] = ()):
    if order not in ORDERS:
      raise ValueError(f"Stream {name!r} has order {order!r}; allowed are {', '.join(ORDERS)}.")
    self.order, self.cut_off = order, tuple(cut_off)
    self.resized_side = resized_side
    self.name, self.entries, self.left_out = name, tuple(entries), tuple(left_out)
    self.expected = dict(expected) if expected else None
    keys = [entry.key for entry in self.entries]
    twice = sorted({key for key in keys if keys.count(key) > 1})
    if twice:
      raise ValueError(f"Stream {self.name!r} has {', '.join(twice)} more than once; "
                       "a repeated data set needs its occurrence number.")
    for earlier, later in zip(self.entries, self.entries[1:]):
      if earlier.year > later.year and self.order != OVER_YEARS:
        raise ValueError(f"Stream {self.name!r} is not chronological: {earlier.key!r} "
                         f"({earlier.year}) stands before {later.key!r} ({later.year}).")
    if self.expected is not None:
      wanted, got = sum(self.expected.values()), len(self.entries) + len(self.left_out)
      if wanted != got:
        raise ValueError(f"Stream {self.name!r} has {got} tasks (left out ones included), expected "
                         f"{wanted}.")
    self._loaded: collections.OrderedDict[str, stream_entry.AnySplits] = collections.OrderedDict()
    self._current = ""  # The task that was delivered last.

  def __repr__(self) -> str:
    keys = [reprlib.repr(entry.key) for entry in self.entries]
    shown = keys if len(keys) < 3 else [keys[0], "...", keys[-1]]
    left = f", {len(self.left_out)} left out" if self.left_out else ""
    return f"Stream({reprlib.repr(self.name)}, {len(keys)} tasks: {', '.join(shown)}{left})"

  def meta_train(self) -> Stream:
    """The meta-train tasks of this stream; development must not see the others."""
    entries = [entry for entry in self.entries if entry.role == stream_entry.META_TRAIN]
    if not entries:
      raise ValueError(f"Stream {self.name!r} has no {stream_entry.META_TRAIN} task, and "
                       "development looks at no other. Take a stream that has one, or predict on "
                       f"{stream_entry.TEST!r}.")
    return Stream(f"{self.name}, meta-train tasks", entries, left_out=self.left_out,
                  resized_side=self.resized_side, order=self.order, cut_off=self.cut_off)

  def check_transform(self, transform: examples.Transform) -> None:
    """Refuses a transform to a size for which the stream's images were resized too far."""
    size = min(transform.shape[:2])
    least = resized_copy.least_side(size)
    if self.resized_side is not None and self.resized_side < least:
      raise ValueError(
          f"The images of stream {self.name!r} are resized to a shorter side of "
          f"{self.resized_side} pixels, but the learner's transform makes {size}, which needs "
          f"{least} or more (8/7). Set streams.nevis.resized_side = {least}, or None to decode the "
          "images as they are.")

  def events(self) -> list[StreamEvent]:
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
            for offset, kind in enumerate((deliveries.TRAIN, deliveries.PREDICT))]

  def missing(self) -> list[stream_entry.Missing]:
    """The data sets that are not prepared, each once."""
    found = {entry.dataset: entry.missing for entry in reversed(self.entries)}
    results = (found[name]() for name in dict.fromkeys(e.dataset for e in self.entries))
    return [result for result in results if result is not None]

  def deliver(self, event: StreamEvent) -> deliveries.Experience:
    """The data of a Train event, for the learner."""
    if event.kind != deliveries.TRAIN:
      raise ValueError(f"Event {event.index} ({event.task_key!r}) is a {event.kind!r} event; "
                       f"only {deliveries.TRAIN!r} events deliver data.")
    self._current = self.entries[event.entry_index].key
    delivered = [
        deliveries.Delivered(self.entries[place].task, functools.partial(self._part, place))
        for place in range(event.entry_index + 1)]
    return deliveries.History(delivered)[event.entry_index]

  def held_out(self, event: StreamEvent, split: str) -> examples.ExampleSet:
    """The task's split "validation" or "test", for the protocol only."""
    return self._part(event.entry_index, split)

  def shared(self, event: StreamEvent) -> Mapping[str, Any]:
    """Images left out of the splits of this task because another is scored on them, by split."""
    return self._splits(event.entry_index).shared

  def resized(self, event: StreamEvent) -> Mapping[str, Any]:
    """The resized copies that the task's splits were read from, by split; {} for none."""
    return self._splits(event.entry_index).resized

  def _part(self, place: int, split: str) -> examples.ExampleSet:
    images: examples.ExampleSet = getattr(self._splits(place), split)
    task = self.entries[place].task
    got: tuple[str, int] = (images.kind, images.num_classes)
    if got != (task.kind, task.num_classes):
      raise ValueError(f"Task {task.key!r} is {task.kind} with {task.num_classes} classes, but its "
                       f"images {images.name!r} are {got[0]} with {got[1]}.")
    return images

  def _splits(self, place: int) -> stream_entry.AnySplits:
    key = self.entries[place].key
    if key not in self._loaded:
      self._loaded[key] = self.entries[place].load()
    self._loaded.move_to_end(key)
    while len(self._loaded) > _NUM_LOADED:  # The task of the event is needed again.
      del self._loaded[next(other for other in self._loaded if other not in (key, self._current))]
    return self._loaded[key]

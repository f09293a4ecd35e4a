# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streams of tasks, `suite.streams` in Python.

  nevis       NEVIS'22: the stream, parts of it, other orders (figure 10), the variants of table 5
  of          image sets of a user, a task each
  of_classes  groups of classes of one data set, a task each (Split-ImageNet, section 5.14)
  of_groups   groups of classes of several data sets, each with a year
  without     any stream without some of its meta-train tasks, as in table 5

The tasks of NEVIS'22 as entries of a stream, over the data sets "nevis/...".

Images that one task trains on and another is scored on.

Data sets of one stream overlap: Office-Caltech is cut from Caltech-256, Stanford Dogs from
ImageNet. A learner that stores its training images could have test images before their test. So the
validation and test images of a task are removed from train and dev of all others, and its test
images from their validation, too (the paper removes duplicates to make splits and tasks disjoint).
Builders write digests of the stored bytes beside the records
(`tfds_builders/content.py`): copies of one file are found, images that were encoded again are not.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping, Sequence
import contextlib
import dataclasses
import functools
import pathlib
from typing import Any

from absl import logging
import numpy as np

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import prepared_sets
from suite.data.images import resized_copy
from suite.data.images import tfds_source
from suite.data.streams import class_groups
from suite.data.streams import nevis_table
from suite.data.streams import stream_entry
from suite.data.streams import stream_events
from suite.system import atomic_files

# What a user of `suite.streams` needs is in one place.
META_TRAIN, META_TEST = stream_entry.META_TRAIN, stream_entry.META_TEST
VALIDATION, TEST = stream_entry.VALIDATION, stream_entry.TEST
HELD_OUT, SPLITS = stream_entry.HELD_OUT, stream_entry.SPLITS
OURS, PAPER = "ours", "paper"
Missing = stream_entry.Missing
Splits = stream_entry.Splits
StreamEntry = stream_entry.StreamEntry
MissingDataError = stream_events.MissingDataError
Stream = stream_events.Stream
StreamEvent = stream_events.StreamEvent
# Split -> the splits of other tasks whose images are removed from it.
_REMOVED = {"train": ("validation", "test"), "dev": ("validation", "test"),
            "validation": ("test",)}
_RECORD_DIGESTS = "record_digests"  # Beside the data; see below.


def nevis(variant: str | Sequence[str] = "full", *, data_dir: str | None = None,
          splits: str = OURS, on_missing: str = "stop", shared_images: str = "remove",
          resized_side: int | None = None, order: str = stream_events.CHRONOLOGICAL,
          seed: int = 0, stop_year: int | None = None) -> Stream:
  """A NEVIS'22 stream over the data sets "nevis/...".

  Args:
    variant: "full" (106 tasks), "short" (29), "tiny" (7, of the reference code), "small" (6, of
      this suite); a variant of table 5, which has fewer meta-train tasks (`nevis_table.TABLE5`); or
      names such as ["mnist", "mnist@2"]: lines of the full stream, in its order.
    data_dir: where the data sets are prepared; TFDS's own folder if not given.
    splits: "ours", or "paper": those that the reference draws ("nevis/NAME_paper"). Its draws of
      some data sets cannot be reproduced; these have ours, and are logged.
    on_missing: "stop" before the first event, or "leave_out".
    shared_images: "remove" from a task's splits what another task of the stream is scored on (see
      `ScoredImages`), or "keep".
    resized_side: pixels; images whose shorter side is longer are resized to it once, in a copy
      beside the data, and records say so. At least 8/7 of the size of the learner's transform.
      None: images are decoded as they were prepared, each time that they are used.
    order: "chronological", "within_years" (the tasks of each year shuffled) or "over_years" (all
      tasks shuffled); years and roles stay with the tasks.
    seed: of the order, and of the variants that are drawn.
    stop_year: only tasks of earlier years; None: all. There is no headline score if that cuts off a
      meta-test task.

  Returns:
    The stream. With "leave_out" its `left_out` names the missing tasks.
  """
  for argument, value, allowed in (
      ("on_missing", on_missing, ("stop", "leave_out")), ("splits", splits, (OURS, PAPER)),
      ("shared_images", shared_images, ("remove", "keep")), ("order", order, stream_events.ORDERS)):
    if value not in allowed:
      *firsts, last = map(repr, allowed)
      raise ValueError(f"{argument}={value!r}; allowed are {', '.join(firsts)} and {last}.")
  lines = every = nevis_table.select(variant, seed)
  if stop_year is not None:
    lines = nevis_table.before(every, stop_year)
  cut_off = [line.key for line in every if line.role == META_TEST and line not in lines]
  if order != stream_events.CHRONOLOGICAL:
    lines = nevis_table.shuffled(lines, seed, within_years=order == stream_events.WITHIN_YEARS)
  # "nevis/random_40, seed 3, shuffled within years, before 2015, splits of the paper", say.
  parts = [f"nevis/{variant}" if isinstance(variant, str) else f"nevis of {len(every)} names"]
  if variant in nevis_table.DRAWN or order != stream_events.CHRONOLOGICAL:
    parts.append(f"seed {seed}")
  if order != stream_events.CHRONOLOGICAL:
    parts.append(f"shuffled {order.replace('_', ' ')}")
  if stop_year is not None:
    parts.append(f"before {stop_year}")
  nevis_name = ", ".join([*parts, *(["splits of the paper"] if splits == PAPER else [])])
  make = functools.partial(
      Stream, nevis_name, resized_side=resized_side, order=order, cut_off=cut_off)
  datasets = data_sets(lines, splits)
  scored = ScoredImages(datasets.values() if shared_images == "remove" else [], data_dir=data_dir)
  entries = [entry(line, datasets[line.name], data_dir, scored, resized_side) for line in lines]
  left_out: list[str] = []
  if on_missing == "leave_out":
    absent = {missing.dataset for missing in make(entries).missing()}
    left_out = [entry.key for entry in entries if entry.dataset in absent]
    entries = [entry for entry in entries if entry.dataset not in absent]
  return make(entries, collections.Counter(line.role for line in lines), left_out)


def of(sets: Sequence[Any] | Mapping[str, Any], *, years: Sequence[int] | None = None,
       roles: Sequence[str] | None = None, names: Sequence[str] | None = None,
       name: str = "mine", seed: int = 0) -> Stream:
  """A stream of image sets, a task each, in order of time.

  Args:
    sets: for each task `Splits`, {"train", "dev", "validation", "test"}, or one image set, which is
      divided by class into .45, .10, .15 and .30 of its images. Of {"train", "test"}, what lacks is
      drawn from train. A dictionary of tasks has their names as its keys.
    years: of the tasks; 1, 2, ... if not given.
    roles: "meta_train", or "meta_test" for tasks that the headline score is a mean over; if not
      given, all of them are.
    names: of the tasks; those of the sets if not given. A name that comes again is the same task.
    name: of the stream.
    seed: of the divisions.

  The splits of a task are joined by the names of their classes, as the sets of `buckets.of` are. A
  task that comes again has the classes that it had, in the same order.

  Raises:
    ValueError: also for a set that is too small to be divided, a class that is tested and never
      trained, and a task that comes again with other classes.
  """
  if hasattr(sets, "eval_batches"):
    raise ValueError(f"streams.of was given one image set, {sets!r}; give a list with one for each "
                     "task: streams.of([images]).")
  if not sets:
    raise ValueError("streams.of was given no task; give a list of image sets.")
  if not isinstance(sets, (Mapping, Sequence)):
    sets = list(sets)
  if isinstance(sets, Mapping):
    if set(sets) & set(SPLITS):
      raise ValueError(f"streams.of was given the splits {', '.join(map(str, sets))}; they are of "
                       "one task: give a list, streams.of([sets]).")
    names, sets = names or list(map(str, sets)), list(sets.values())
  years = list(range(1, len(sets) + 1)) if years is None else list(years)
  roles = [META_TEST] * len(sets) if roles is None else list(roles)
  for what, given in (("years", years), ("roles", roles), ("names", names or sets)):
    if len(given) != len(sets):
      raise ValueError(f"streams.of was given {len(sets)} tasks and {len(given)} {what}; give one "
                       "for each task.")
  entries, seen = [], collections.Counter[str]()
  first: dict[str, Any] = {}
  for i, given in enumerate(sets):
    splits = stream_entry.of(given, i, seed)
    title = str(names[i] if names is not None else splits.train.name)
    seen[title] += 1
    splits = stream_entry.as_before(splits, first.setdefault(title, splits.train), title)
    task = tasks.Task(title, splits.train.kind, splits.train.num_classes, seen[title])
    load = functools.partial(stream_entry.of, splits, i, seed)
    entries.append(StreamEntry(task, years[i], roles[i], load, f"own/{title}"))
  return Stream(name, entries)


def of_classes(data: Any, *, num_tasks: int = 100, seed: int | None = 0,
               num_meta_train: int = 0, split: str | None = None,
               data_dir: str | None = None) -> Stream:
  """A stream whose tasks are disjoint groups of the classes of one data set, of equal size.

  Split-ImageNet is 100 tasks of 10 of ImageNet's classes. Years are ours: 1, 2, ... The images of a
  data set that does not fit into memory are read through once for each task.

  Args:
    data: the name of a prepared data set; an image set, `Splits`, or four splits as of `of`.
    num_tasks: the number of groups.
    seed: of the order in which classes are dealt to the groups; None: in the order of their ids.
    num_meta_train: the first tasks, to develop on; the headline score is a mean over the others.
    split: of a prepared data set without the four splits: the one to divide, by class.
    data_dir: where the data set is prepared.
  """
  groups = class_groups.ClassGroups(data, split=split, data_dir=data_dir)
  if not 0 <= num_meta_train < num_tasks:
    raise ValueError(f"num_meta_train={num_meta_train} of {num_tasks} tasks; at least one is to be "
                     f"scored: allowed are 0 to {num_tasks - 1}.")
  entries = [groups.entry(classes, number, META_TRAIN if number < num_meta_train else META_TEST)
             for number, classes in enumerate(groups.deal(num_tasks, seed))]
  return Stream(f"{groups.name} in {num_tasks} groups of classes", entries)


def of_groups(groups: Sequence[class_groups.DatedGroups], *, num_meta_test: int,
              name: str = "groups", data_dir: str | None = None) -> Stream:
  """A stream whose tasks are groups of classes of several data sets, in order of their years.

  Args:
    groups: the groups of classes of each data set. Of two tasks of one year, the task of the data
      set that comes first in `groups` is first.
    num_meta_test: the last tasks, which the headline score is a mean over.
    name: of the stream.
    data_dir: where the data sets are prepared.
  """
  entries = sorted((entry for part in groups for entry in part.entries(data_dir)),
                   key=lambda entry: entry.year)
  if not 1 <= num_meta_test <= len(entries):
    raise ValueError(f"num_meta_test={num_meta_test} of {len(entries)} tasks; at least one is to "
                     f"be scored: allowed are 1 to {len(entries)}.")
  for entry in entries[-num_meta_test:]:
    entry.role = META_TEST
  return Stream(name, entries)


def without(stream: Stream, keys: Sequence[str]) -> Stream:
  """The stream without some of its meta-train tasks, as in table 5 of NEVIS'22.

  The meta-test tasks stay, so that headline scores are means over the same tasks.

  Args:
    stream: any stream.
    keys: of the tasks to leave out, such as "mnist", "mnist@2".
  """
  allowed = [entry.key for entry in stream.entries if entry.role == META_TRAIN]
  if isinstance(keys, str) or set(keys) - set(allowed) or not set(allowed) - set(keys):
    raise ValueError(f"Got keys={keys!r} to leave out of stream {stream.name!r}; allowed is a list "
                     f"of some, not all, of its meta-train tasks {', '.join(allowed)}.")
  entries = [entry for entry in stream.entries if entry.key not in keys]
  first = {entry.key.partition("@")[0]: entry.key for entry in reversed(entries)}
  for key in keys:
    if "@" in (later := first.get(key.partition("@")[0], "")):
      raise ValueError(f"Got keys={list(keys)!r}, but {later!r} of stream {stream.name!r} repeats "
                       "a task that is left out. Leave out the later one, or both.")
  expected = None if stream.expected is None else {
      role: count - (len(set(keys)) if role == META_TRAIN else 0)
      for role, count in stream.expected.items()}
  return Stream(f"{stream.name}, without {', '.join(dict.fromkeys(keys))}", entries, expected,
                stream.left_out, stream.resized_side, order=stream.order, cut_off=stream.cut_off)


def data_sets(lines: Sequence[nevis_table.StreamLine], splits: str) -> dict[str, str]:
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


def entry(line: nevis_table.StreamLine, dataset: str, data_dir: str | None,
          scored: ScoredImages, resized_side: int | None
          ) -> stream_entry.StreamEntry:
  """The entry of a line, read from `dataset` when it is needed, without images that are scored."""

  def task() -> tasks.Task:
    found = tfds_source.label_facts(dataset, data_dir=data_dir)
    if found.kind != line.kind:
      raise ValueError(f"{dataset!r} is {found.kind} as prepared, but {line.kind} in the stream's "
                       "table: suite/data/streams/tables/nevis_stream.csv.")
    return tasks.Task(line.name, line.kind, found.num_classes, line.occurrence)

  def read(split: str) -> stream_entry.ReadSplit:
    source = prepared_sets.open_source(
        dataset, split, data_dir=data_dir, resized_side=resized_side)
    resized = source.describe() if isinstance(source, resized_copy.PackedCopy) else None
    images = prepared_sets.read_source(source)
    if split == stream_entry.TEST:
      return stream_entry.ReadSplit(images, None, resized)
    return stream_entry.ReadSplit(*scored.drop_from(images, dataset, split), resized)

  def load() -> stream_entry.SplitsOnDemand:
    return stream_entry.SplitsOnDemand(read)

  def missing() -> stream_entry.Missing | None:
    reason, command = tfds_source.why_missing(dataset, data_dir=data_dir)
    return stream_entry.Missing(dataset, reason, command) if reason else None

  def version() -> str | None:
    return tfds_source.version(dataset, data_dir=data_dir)

  def sizes() -> stream_entry.Sizes:
    counted = tfds_source.num_examples(dataset, data_dir=data_dir)
    sizes = expected_sizes(line.size)
    if counted:
      sizes = stream_entry.Sizes(
          counted["train"], counted["dev"], counted["validation"], counted["test"])
    return dataclasses.replace(sizes, pixel_bytes=line.resolution[0] * line.resolution[1] * 3)

  return stream_entry.StreamEntry(
      task, line.year, line.role, load, dataset, key=line.key, missing=missing, version=version,
      sizes=sizes)


def expected_sizes(size: int) -> stream_entry.Sizes:
  """Sizes of the splits of a task that is not prepared, from the paper's number of train and dev.

  The shares are those of a source without official splits, .56, .12, .12 and .20; the proportion of
  train and dev is the same, but for a few tasks, where train and test are official.
  """
  train, dev, validation, test = (max(1, round(size * share / 0.68))
                                  for share in (0.56, 0.12, 0.12, 0.20))
  return stream_entry.Sizes(train, dev, validation, test, measured=False)


def digests(dataset: str, split: str, *, data_dir: str | None = None) -> np.ndarray:
  """uint64 [N], sorted; empty if the data set is not prepared, or by an older builder."""
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  path = pathlib.Path(tfds_source.folder(dataset, data_dir=data_dir), content.FILE)
  if not path.is_file():
    return np.zeros(0, np.uint64)
  with np.load(path, allow_pickle=False) as saved:
    return saved[split] if split in saved.files else np.zeros(0, np.uint64)


class ScoredImages:
  """The digests of the images that a stream's data sets are scored on, read at the first access."""

  def __init__(self, datasets: Iterable[str], *, data_dir: str | None = None):
    self._names, self._data_dir = tuple(dict.fromkeys(datasets)), data_dir
    self._read = functools.cache(functools.partial(digests, data_dir=data_dir))

  def of_others(self, dataset: str, split: str) -> np.ndarray:
    """Digests of images of other data sets that a split must not have: uint64, sorted."""
    others = [self._read(name, scored) for name in self._names if name != dataset
              for scored in _REMOVED[split]]
    return np.unique(np.concatenate(others)) if others else np.zeros(0, np.uint64)

  def drop_from(self, images: examples.ExampleSet, dataset: str, split: str
                ) -> tuple[examples.ExampleSet, dict[str, int]]:
    """(the images that no other data set is scored on, {"removed": number of the others})."""
    shared = np.intersect1d(digests(dataset, split, data_dir=self._data_dir),
                            self.of_others(dataset, split))
    if not shared.size:
      return images, {"removed": 0}
    stored = record_digests(dataset, split, data_dir=self._data_dir)
    places = np.flatnonzero(np.isin(stored, shared))
    logging.info("%s %s: %d images left out that other tasks of the stream are scored on",
                 dataset, split, len(places))
    if isinstance(images, prepared_sets.StreamedSet):
      return images.without(places), {"removed": len(places)}
    return images.subset(np.setdiff1d(np.arange(len(stored)), places)), {"removed": len(places)}


def record_digests(dataset: str, split: str, *, data_dir: str | None = None) -> np.ndarray:
  """The digest of each image of a split in stored order, uint64 [N].

  All records are read for it once; the result is kept beside the data, if that can be written to.
  """
  from tfds_builders import content  # pylint: disable=import-outside-toplevel
  wanted = digests(dataset, split, data_dir=data_dir)
  source = tfds_source.open_split(dataset, split, data_dir=data_dir)
  path = pathlib.Path(source.folder, _RECORD_DIGESTS, f"{split}.npy")
  if path.is_file():
    with contextlib.suppress(ValueError, EOFError):  # It is no array.
      found = np.load(path, allow_pickle=False)
      if found.dtype == np.uint64 and found.shape == (source.size,) and np.array_equal(
          np.unique(found), wanted):
        return found
  logging.info("%s: digests of %d images are computed once", source.title, source.size)
  stored = source.examples().map(lambda example: example["image"]).batch(1024)
  found = np.array([content.digest(image) for batch in stored.as_numpy_iterator()
                    for image in batch], np.uint64)
  try:
    path.parent.mkdir(exist_ok=True)
    with atomic_files.opening(path) as file:
      np.save(file, found)
  except OSError as error:
    logging.info("%s cannot be written (%s): digests are computed again in the next run", path,
                 error)
  return found

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streams of tasks, `suite.streams` in Python.

  nevis       NEVIS'22: the stream, parts of it, other orders (figure 10), the variants of table 5
  of          image sets of a user, a task each
  of_classes  groups of classes of one data set, a task each (Split-ImageNet, section 5.14)
  of_groups   groups of classes of several data sets, each with a year
"""

from __future__ import annotations

import collections
import functools
from typing import Any, List, Optional, Sequence, Tuple, Union

from suite.contracts import tasks
from suite.data.streams import class_groups
from suite.data.streams import dated_groups
from suite.data.streams import nevis_entries
from suite.data.streams import nevis_table
from suite.data.streams import own_splits
from suite.data.streams import shared_images as shared_images_lib
from suite.data.streams import stream_entry
from suite.data.streams import stream_events

# What a user of `suite.streams` needs is in one place.
META_TRAIN, META_TEST = stream_entry.META_TRAIN, stream_entry.META_TEST
VALIDATION, TEST = stream_entry.VALIDATION, stream_entry.TEST
HELD_OUT, SPLITS = stream_entry.HELD_OUT, stream_entry.SPLITS
OURS, PAPER = nevis_entries.OURS, nevis_entries.PAPER
Missing = stream_entry.Missing
Splits = stream_entry.Splits
StreamEntry = stream_entry.StreamEntry
MissingDataError = stream_events.MissingDataError
Stream = stream_events.Stream
StreamEvent = stream_events.StreamEvent


def nevis(variant: Union[str, Sequence[str]] = "full", *, data_dir: Optional[str] = None,
          splits: str = OURS, on_missing: str = "stop", shared_images: str = "remove",
          resized_side: Optional[int] = None, order: str = stream_events.CHRONOLOGICAL,
          seed: int = 0, stop_year: Optional[int] = None) -> Stream:
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
      `shared_images`), or "keep".
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
  _check_choices(on_missing=(on_missing, ("stop", "leave_out")), splits=(splits, (OURS, PAPER)),
                 shared_images=(shared_images, ("remove", "keep")),
                 order=(order, stream_events.ORDERS))
  lines = every = nevis_table.select(variant, seed)
  if stop_year is not None:
    lines = nevis_table.before(every, stop_year)
  cut_off = [line.key for line in every if line.role == META_TEST and line not in lines]
  if order != stream_events.CHRONOLOGICAL:
    lines = nevis_table.shuffled(lines, seed, within_years=order == stream_events.WITHIN_YEARS)
  make = functools.partial(
      Stream, _nevis_name(variant, every, splits, order, seed, stop_year),
      resized_side=resized_side, order=order, cut_off=cut_off)
  datasets = nevis_entries.data_sets(lines, splits)
  scored = shared_images_lib.ScoredImages(
      datasets.values() if shared_images == "remove" else [], data_dir=data_dir)
  entries = [nevis_entries.entry(line, datasets[line.name], data_dir, scored, resized_side)
             for line in lines]
  left_out: List[str] = []
  if on_missing == "leave_out":
    absent = {missing.dataset for missing in make(entries).missing()}
    left_out = [entry.key for entry in entries if entry.dataset in absent]
    entries = [entry for entry in entries if entry.dataset not in absent]
  return make(entries, collections.Counter(line.role for line in lines), left_out)


def _nevis_name(variant: Union[str, Sequence[str]], lines: Sequence[nevis_table.StreamLine],
                splits: str, order: str, seed: int, stop_year: Optional[int]) -> str:
  """"nevis/random_40, seed 3, shuffled within years, before 2015, splits of the paper", say."""
  parts = [f"nevis/{variant}" if isinstance(variant, str) else f"nevis of {len(lines)} names"]
  if variant in nevis_table.DRAWN or order != stream_events.CHRONOLOGICAL:
    parts.append(f"seed {seed}")
  if order != stream_events.CHRONOLOGICAL:
    parts.append(f"shuffled {order.replace('_', ' ')}")
  if stop_year is not None:
    parts.append(f"before {stop_year}")
  return ", ".join([*parts, *(["splits of the paper"] if splits == PAPER else [])])


def _check_choices(**given: Tuple[str, Sequence[str]]) -> None:
  for name, (value, allowed) in given.items():
    if value not in allowed:
      *first, last = map(repr, allowed)
      raise ValueError(f"{name}={value!r}; allowed are {', '.join(first)} and {last}.")


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
    splits = own_splits.of(given, i, seed)
    title = str(names[i] if names is not None else splits.train.name)
    seen[title] += 1
    task = tasks.Task(title, splits.train.kind, splits.train.num_classes, seen[title])
    load = functools.partial(own_splits.of, splits, i, seed)
    entries.append(StreamEntry(task, years[i], roles[i], load, f"own/{title}"))
  return Stream(name, entries)


def of_classes(data: Any, *, num_tasks: int = 100, seed: Optional[int] = 0,
               num_meta_train: int = 0, split: Optional[str] = None,
               data_dir: Optional[str] = None) -> Stream:
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


def of_groups(groups: Sequence[dated_groups.DatedGroups], *, num_meta_test: int,
              name: str = "groups", data_dir: Optional[str] = None) -> Stream:
  """A stream whose tasks are groups of classes of several data sets, in order of their years.

  Args:
    groups: those of each data set; of two tasks of one year that of the earlier data set is first.
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

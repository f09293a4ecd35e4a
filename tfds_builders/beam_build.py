# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Building on Apache Beam (extra `beam`), for data sets that take days on one machine.

  part of the source -> parse -> check images and labels -> divide into splits
                     -> of equal images those of the last split are kept -> records

The division needs the key, group and labels of all examples, but no image: one worker draws it, and
the others look their examples up.

A part is a file if the layout's files can be read alone (`Layout.separate_files`), else the whole
source: then one worker parses it, and all share the rest. Records equal those of a build without
Beam. Draws that need the order of the whole source (the reference's) are not supported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import io
import json
import os
from typing import Any, NamedTuple

import apache_beam as beam
import numpy as np

from tfds_builders import content
from tfds_builders import division
from tfds_builders import errors
from tfds_builders import row_records
from tfds_builders import spool
from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib

Part = Callable[[], Iterator[example.Example]]


class Checked(NamedTuple):
  """A checked example; `split` is that of the source until the examples are divided."""

  key: str
  digest: int
  split: str
  labels: list[example.Label]
  extra: Mapping[str, Any]
  image: bytes


class Build:
  """The pipeline of one row; `split(name)` returns what TFDS expects for a split.

  The pipeline writes facts that are known only at its end to `facts_path`, and the digests of the
  images beside it.
  """

  def __init__(self, row: row_lib.Row, parts: Sequence[Part], expected: Mapping[str, int],
               facts_path: os.PathLike):
    if row.drawn_as_in_paper:
      raise errors.DataError(f"{row.name} is drawn by position and cannot be built on Beam; build "
                             "it without Beam options.")
    if row.optional or not row.holds_images:
      raise errors.DataError(f"{row.name} is small and is not built on Beam; build it without Beam "
                             "options.")
    self.row, self._parts, self._expected = row, tuple(parts), dict(expected)
    self._path = os.fspath(facts_path)
    self._shared: dict[int, tuple[Any, Any]] = {}

  def split(self, name: str, finish: Callable[[row_lib.Row, spool.Record], Any]) -> beam.PTransform:
    """Returns the records of one split, each converted by `finish`."""
    return _Split(self, name, finish)

  def records(self, pipeline: Any) -> tuple[Any, Any]:
    """Returns (kept examples, facts) of a pipeline; they are shared by all splits."""
    if id(pipeline) not in self._shared:
      row, expected, path = self.row, self._expected, self._path
      checked = (
          pipeline | "parts" >> beam.Create(self._parts) | "spread" >> beam.Reshuffle()
          | "parse" >> beam.FlatMap(lambda part: part())
          | "batch" >> beam.BatchElements(min_batch_size=1, max_batch_size=256)
          | "check" >> beam.FlatMap(lambda batch: _checked(row, batch)).with_outputs(
              "seen", main="good"))
      split_of = (checked.seen | "members" >> beam.Map(lambda seen: seen[0])
                  | "all members" >> beam.CombineGlobally(beam.combiners.ToListCombineFn())
                  | "divide" >> beam.Map(lambda members: division.divide(row, members)))
      copies = (checked.good
                | "place" >> beam.Map(lambda one, found: one._replace(split=found[one.key]),
                                      beam.pvalue.AsSingleton(split_of))
                | "by image" >> beam.Map(lambda one: (one.digest if row.unique else one.key, one))
                | "copies" >> beam.GroupByKey()
                | "keep" >> beam.FlatMap(lambda group: _kept(row, list(group[1]))).with_outputs(
                    "removed", main="kept"))
      kept = copies.kept
      removed = (copies.removed | "count removed" >> beam.combiners.Count.PerElement()
                 | "gather removed" >> beam.combiners.ToDict())
      facts = (checked.seen | "count" >> beam.CombineGlobally(_Tally())
               | "verify" >> beam.Map(lambda tally: _facts(row, expected, tally))
               | "write" >> beam.Map(lambda found, numbers: _write(path, row, found, numbers),
                                     beam.pvalue.AsSingleton(removed)))
      digests = (kept | "digests" >> beam.Map(lambda one: (one.split, one.digest))
                 | "gather" >> beam.CombineGlobally(beam.combiners.ToListCombineFn()))
      _ = digests | "save digests" >> beam.Map(
          lambda found: _save(row, os.path.dirname(path), found))
      self._shared[id(pipeline)] = (kept, facts)
    return self._shared[id(pipeline)]


class _Split(beam.PTransform):
  """One split of a Build."""

  def __init__(self, build: Build, name: str, finish: Any):
    super().__init__()
    self._build, self._name, self._finish = build, name, finish

  def expand(self, pipeline):
    kept, facts = self._build.records(pipeline.pipeline)
    row, name, finish = self._build.row, self._name, self._finish
    # The facts are a side input: nothing is written if the source fails its checks.
    return (kept | beam.Filter(lambda one: one.split == name)
            | beam.Map(lambda one, found: finish(row, _record(row, one, found)),
                       beam.pvalue.AsSingleton(facts)))


def _checked(row: row_lib.Row, batch: Sequence[example.Example]) -> Iterator[Any]:
  broken = images.unreadable([(one.image, one.where) for one in batch], row.channels)
  for index, one in enumerate(batch):
    if one.split not in row.splits:
      raise errors.DataError(f"{one.where} is of split {one.split!r}; the row of {row.name} has a "
                             f"rule for {sorted(row.splits)}.")
    found = row_records.checked_labels(row, one)
    member = division.Member(one.split, one.key, one.group or one.key, tuple(found))
    yield beam.pvalue.TaggedOutput("seen", (member, broken.get(index)))
    if index not in broken:
      yield Checked(one.key, content.digest(one.image), one.split, found, one.extra or {},
                    one.image)


def _kept(row: row_lib.Row, copies: list[Checked]) -> Iterator[Any]:
  """Yields the copies of one image that are in the last of their splits, "removed": the others."""
  if not row.unique:
    if len(copies) > 1:
      raise errors.DataError(
          f"{len(copies)} examples of {row.name} have the key {copies[0].key!r}.")
    yield from copies
    return
  last = max(row.split_names.index(one.split) for one in copies)
  for one in copies:
    if one.split == row.split_names[last]:
      yield one
    else:
      yield beam.pvalue.TaggedOutput("removed", one.split)


class _Tally(beam.CombineFn):
  """Combines (member, reason why it is unreadable or None) to facts of all examples.

  They are counts by source split, unreadable images, and class names.
  """

  def create_accumulator(self):
    return {}, [], set()

  def add_input(self, accumulator, element):
    counts, broken, names = accumulator
    member, why = element
    counts[member.source] = counts.get(member.source, 0) + 1
    names.update(label for label in member.labels if isinstance(label, str))
    return counts, broken + ([why] if why else []), names

  def merge_accumulators(self, accumulators):
    counts: dict[str, int] = {}
    broken: list[str] = []
    names: set = set()
    for one_counts, one_broken, one_names in accumulators:
      for split, count in one_counts.items():
        counts[split] = counts.get(split, 0) + count
      broken += one_broken
      names |= one_names
    return counts, broken, names

  def extract_output(self, accumulator):
    return accumulator


def _facts(row: row_lib.Row, expected: Mapping[str, int], tally: Any) -> dict[str, Any]:
  counts, broken, names = tally
  row_records.check_complete(row, counts, expected, broken, set() if row.class_names else names)
  return {"counts": counts, "unreadable": sorted(broken),
          "class_names": list(row.class_names or sorted(names))}


def _write(path: str, row: row_lib.Row, found: dict[str, Any], removed: Mapping[str, int]
           ) -> dict[str, Any]:
  """Writes the facts with the number of duplicates removed from each split."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  found = {**found, "duplicates_removed": {name: removed.get(name, 0) for name in row.split_names}
           if row.unique else {}}
  with tf.io.gfile.GFile(path, "w") as file:
    file.write(json.dumps(found))
  return found


def _save(row: row_lib.Row, directory: str, found: Sequence[tuple[str, int]]) -> None:
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  arrays = {name: np.unique(np.array([one for split, one in found if split == name], np.uint64))
            for name in row.split_names}
  stream = io.BytesIO()
  np.savez(stream, **arrays)
  with tf.io.gfile.GFile(f"{directory}/{content.FILE}", "wb") as file:
    file.write(stream.getvalue())


def _record(row: row_lib.Row, one: Checked, found: Mapping[str, Any]) -> spool.Record:
  ids = {name: index for index, name in enumerate(found["class_names"])}
  label = row_records.labels_in_record(row, one.labels, ids)
  return spool.Record(one.key, label, one.extra, one.image)

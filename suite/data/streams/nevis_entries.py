# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tasks of NEVIS'22 as entries of a stream, over the data sets "nevis/..."."""

from __future__ import annotations

import dataclasses
from typing import Dict, Optional, Sequence

from absl import logging

from suite.contracts import tasks
from suite.data.images import prepared_sets
from suite.data.images import resized_copy
from suite.data.images import tfds_source
from suite.data.streams import nevis_table
from suite.data.streams import shared_images as shared_images_lib
from suite.data.streams import stream_entry

OURS, PAPER = "ours", "paper"


def data_sets(lines: Sequence[nevis_table.StreamLine], splits: str) -> Dict[str, str]:
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


def entry(line: nevis_table.StreamLine, dataset: str, data_dir: Optional[str],
          scored: shared_images_lib.ScoredImages, resized_side: Optional[int]
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
    resized = source.describe() if isinstance(source, resized_copy.ResizedSource) else None
    images = prepared_sets.read_source(source)
    if split == stream_entry.TEST:
      return stream_entry.ReadSplit(images, None, resized)
    return stream_entry.ReadSplit(*scored.drop_from(images, dataset, split), resized)

  def load() -> stream_entry.SplitsOnDemand:
    return stream_entry.SplitsOnDemand(read)

  def missing() -> Optional[stream_entry.Missing]:
    reason, command = tfds_source.why_missing(dataset, data_dir=data_dir)
    return stream_entry.Missing(dataset, reason, command) if reason else None

  def version() -> Optional[str]:
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

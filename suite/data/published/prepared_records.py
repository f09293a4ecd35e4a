# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A published sequence that `suite data build fluid/sequence3` has prepared, read where it is.

Records are in the order of a hash; the feature `position` is that of delivery. One pass over the
files finds where each image is, so that samples are then read in their order, one by one.
"""

from __future__ import annotations

from collections.abc import Iterator
import struct
from typing import Any

import numpy as np
import tensorflow as tf

from suite.data.images import tfds_source
from suite.data.published import image_places
from suite.data.published import published_plans
from tfds_builders.parsers import fluid_sequence

_LENGTH, _CHECKSUM = 8, 4  # A record of a TFRecord file: length, checksum, bytes, checksum.


def read(number: int | str, data_dir: str | None = None
         ) -> tuple[published_plans.PublishedPlan, image_places.Places]:
  """Reads the plan and the places of the images, in order of delivery."""
  number = published_plans.check_number(number)
  name = f"fluid/sequence{number}"
  reason, _ = tfds_source.why_missing(name, data_dir=data_dir)
  if reason:
    raise FileNotFoundError(f"{name} is not prepared: {reason}")
  source = tfds_source.open_split(name, fluid_sequence.STREAM, data_dir=data_dir)
  rows: list[tuple[fluid_sequence.Step, str, int, int, int]] = []
  files = [path for path, _, _ in source.files]
  for place, (path, skip, take) in enumerate(source.files):
    for index, (start, data) in enumerate(_records(path)):
      if not skip <= index < skip + take:
        continue
      features = tf.train.Example.FromString(data).features.feature
      image = features["image"].bytes_list.value[0]
      step = fluid_sequence.Step(
          _integer(features["position"]), _integer(features["label"]),
          features["wnid"].bytes_list.value[0].decode(), bool(_integer(features["novel"])))
      name = features["id"].bytes_list.value[0].decode().rsplit("/", 1)[-1] + ".JPEG"
      rows.append((step, name, place, start + data.index(image), len(image)))
  rows.sort(key=lambda row: row[0].position)
  steps, names, numbers, firsts, lengths = zip(*rows)
  if [step.position for step in steps] != list(range(len(rows))):
    raise ValueError(f"{name} has {len(rows)} records with positions up to "
                     f"{steps[-1].position}; each comes once. Build it again.")
  plan = published_plans.of_steps(number, list(steps), list(names))
  return plan, image_places.Places(
      tuple(files), np.array(numbers, np.int32), np.array(firsts, np.int64),
      np.array(lengths, np.int64))


def _integer(feature: Any) -> int:
  return int(feature.int64_list.value[0])


def _records(path: str) -> Iterator[tuple[int, bytes]]:
  """Yields (first byte, bytes) of the records of a TFRecord file."""
  with open(path, "rb") as stream:
    while head := stream.read(_LENGTH + _CHECKSUM):
      length, = struct.unpack("<Q", head[:_LENGTH])
      start = stream.tell()
      data = stream.read(length)
      if len(data) < length or len(stream.read(_CHECKSUM)) < _CHECKSUM:
        raise ValueError(f"{path} ends within a record. Build the data set again.")
      yield start, data

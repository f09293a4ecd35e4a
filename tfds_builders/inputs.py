# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The input of a record: an image, a vector, or none."""

from __future__ import annotations

from typing import Any, Sequence

import numpy as np

from tfds_builders.parsers import example
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib


def name(row: row_lib.Row) -> str:
  """Returns the name of the input feature: "image", "feature", or "" if there is none."""
  return "image" if row.holds_images else "feature" if row.feature_size > 0 else ""


def features(row: row_lib.Row) -> dict[str, Any]:
  """Returns the TFDS declaration of the input feature, by its name."""
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  if row.holds_images:
    return {"image": tfds.features.Image(shape=(None, None, row.channels))}
  if row.feature_size > 0:
    return {"feature": tfds.features.Tensor(shape=(row.feature_size,), dtype=np.float32,
                                            encoding=tfds.features.Encoding.BYTES)}
  return {}


def in_record(row: row_lib.Row, data: bytes) -> dict[str, Any]:
  """Returns the input feature of a record, made of an example's bytes."""
  if row.holds_images:
    return {"image": data}
  return {"feature": np.frombuffer(data, np.float32)} if row.feature_size > 0 else {}


def unreadable(row: row_lib.Row, examples: Sequence[example.Example]) -> dict[int, str]:
  """Returns the examples that cannot be used, {index: location and reason}."""
  if row.holds_images:
    known = {index: one.problem for index, one in enumerate(examples) if one.problem}
    rest = [index for index in range(len(examples)) if index not in known]
    found = images.unreadable([(examples[i].image, examples[i].where) for i in rest], row.channels)
    return {**known, **{rest[index]: reason for index, reason in found.items()}}
  problems = {index: _problem(row.feature_size, one.image)
              for index, one in enumerate(examples)} if row.feature_size > 0 else {}
  return {index: f"{examples[index].where} {found}" for index, found in problems.items() if found}


def _problem(size: int, data: bytes) -> str:
  """Returns what is wrong with the bytes of a vector [size]; "" if nothing is."""
  if len(data) != 4 * size:
    return f"has {len(data) / 4:g} values; {size} were expected"
  if not np.all(np.isfinite(np.frombuffer(data, np.float32))):
    return "has values that are not finite"
  return ""

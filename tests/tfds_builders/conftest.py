# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading prepared data sets in tests."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow_datasets as tfds


def _read_splits(builder, decoders=None) -> dict[str, list[dict[str, Any]]]:
  files = {path.name: split for split, info in builder.info.splits.items()
           for path in info.filepaths}
  dataset = builder.as_dataset(
      split="+".join(builder.info.splits), decoders=decoders,
      read_config=tfds.ReadConfig(add_tfds_id=True, interleave_cycle_length=1))
  records: dict[str, list[dict[str, Any]]] = {split: [] for split in builder.info.splits}
  for record in tfds.as_numpy(dataset):
    file, _ = record.pop("tfds_id").decode().split("__")
    records[files[file]].append(record)
  return records


@pytest.fixture(scope="session")
def read_splits():
  """A function: a builder, and decoders, to the examples of each split.

  It reads all splits as one `tf.data.Dataset`, since tracing takes longer than reading, and
  assigns each example to the split whose file holds it.
  """
  return _read_splits

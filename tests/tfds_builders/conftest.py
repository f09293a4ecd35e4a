# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reading prepared data sets in tests."""

from __future__ import annotations

from typing import Any

import pytest
import tensorflow as tf
import tensorflow_datasets as tfds
from tensorflow_datasets.core import shuffle


def _read_splits(builder) -> dict[str, list[dict[str, Any]]]:
  features = builder.info.features
  images = {name: tfds.decode.SkipDecoding() for name in features
            if isinstance(features[name], tfds.features.Image)}
  return {split: [features.deserialize_example_np(line, decoders=images or None)
                  for path in info.filepaths
                  for line in tf.compat.v1.io.tf_record_iterator(str(path))]
          for split, info in builder.info.splits.items()}


@pytest.fixture(scope="session", autouse=True)
def _few_buckets():
  """TFDS names this many files for each split, whether it needs them or not."""
  with pytest.MonkeyPatch.context() as patch:
    patch.setattr(shuffle, "BUCKETS_NUMBER", 10)
    yield


@pytest.fixture(scope="session")
def read_splits():
  """A function: a builder to the examples of each split, images encoded.

  It reads the files themselves: tracing a `tf.data.Dataset` of a few examples takes longer.
  """
  return _read_splits

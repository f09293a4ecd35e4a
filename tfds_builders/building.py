# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Preparing a data set from Python: `tfds_builders.build("nevis/mnist")`."""

from __future__ import annotations

from typing import Any

from absl import logging

from tfds_builders import catalog
from tfds_builders import status


def build(name: str, data_dir: status.DataDir = None) -> Any:
  """Prepares `name` unless it is prepared; returns the TFDS builder, ready for `as_dataset`.

  Raises:
    errors.DataError: the name is unknown, the files cannot be found, or they are not what they
      should be. Nothing half prepared is left behind.
  """
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  catalog.find(name)
  found = status.inspect(name, data_dir)
  logging.info("%s: %s (%s)", name, found.state, found.reason)
  builder = tfds.builder(name, data_dir=status.data_directory(data_dir))
  builder.download_and_prepare()
  return builder

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Splits of prepared TensorFlow data sets, in memory or read as they are used."""

from __future__ import annotations

from typing import Optional, Union

from suite.data.images import image_set
from suite.data.images import resized_copy
from suite.data.images import streamed_set
from suite.data.images import tfds_source


def open_source(name: str, split: str, *, data_dir: Optional[str] = None,
                resized_side: Optional[int] = None) -> streamed_set.Source:
  """Opens a prepared split, or its resized copy, which is made if there is none; see `read`."""
  source = tfds_source.open_split(name, split, data_dir=data_dir)
  return source if resized_side is None else resized_copy.open_split(source, resized_side)


def read(name: str, split: str, *, data_dir: Optional[str] = None,
         memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES,
         resized_side: Optional[int] = None
         ) -> Union[image_set.ImageSet, streamed_set.StreamedSet]:
  """Reads a prepared TensorFlow data set such as "nevis/mnist".

  Features: `image`, `label` or `labels`, and `id` (the index where there is none).

  Args:
    name: of the data set.
    split: "train", say.
    data_dir: of TFDS.
    memory_limit_bytes: size of the encoded images above which they stay on disk.
    resized_side: pixels of the shorter side to which larger images are resized once, in a copy
      beside the data (see `resized_copy`); None: images are as they were prepared.
  """
  return read_source(
      open_source(name, split, data_dir=data_dir, resized_side=resized_side),
      memory_limit_bytes=memory_limit_bytes)


def read_source(source: streamed_set.Source, *,
                memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES
                ) -> Union[image_set.ImageSet, streamed_set.StreamedSet]:
  """Reads what `open_source` opened; see `read`."""
  if source.num_bytes > memory_limit_bytes:
    return streamed_set.StreamedSet(source)
  encoded, labels, ids = source.read()
  return image_set.ImageSet.from_encoded(
      source.title, encoded, labels, kind=source.kind, num_classes=source.num_classes, ids=ids,
      memory_limit_bytes=memory_limit_bytes)

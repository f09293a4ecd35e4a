# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labelled images of a prepared data set: in memory if they fit, else read as they are used."""

from __future__ import annotations

from typing import Union

from suite.data.images import image_set
from suite.data.images import streamed_set
from suite.data.images import tfds_source


def load(name: str, split: str, *, data_dir: str | None = None,
         memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES
         ) -> Union[image_set.ImageSet, streamed_set.StreamedSet]:
  """Reads a prepared TensorFlow data set such as "nevis/mnist".

  Features: `image`, `label` or `labels`, and `id` (the index where there is none).

  Returns:
    An ImageSet; a StreamedSet where the encoded images exceed the limit.
  """
  source = tfds_source.open_split(name, split, data_dir=data_dir)
  if source.num_bytes > memory_limit_bytes:
    return streamed_set.StreamedSet(source)
  encoded, labels, ids = source.read()
  return image_set.ImageSet.from_encoded(
      source.title, encoded, labels, kind=source.kind, num_classes=source.num_classes, ids=ids,
      memory_limit_bytes=memory_limit_bytes)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A data set that TFDS builds itself: its records, under the keys of their pixels."""

from __future__ import annotations

from typing import Iterator

from tfds_builders import splits
from tfds_builders.parsers import example


def parse(builder) -> Iterator[example.Example]:
  """Yields the examples of a prepared single-label TFDS builder, encoded as they are there."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  keys = example.PixelKeys()
  for split in sorted(set(builder.info.splits) & {splits.TRAIN, splits.TEST}, reverse=True):
    dataset = builder.as_dataset(split=split, shuffle_files=False,
                                 decoders={"image": tfds.decode.SkipDecoding()})
    dataset = dataset.map(
        lambda record: (record["image"], tf.io.decode_image(record["image"]), record["label"]),
        num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    for index, (data, pixels, label) in enumerate(tfds.as_numpy(dataset)):
      key, group = keys(split, pixels)
      yield example.Example(split, key, int(label), data,
                            f"{builder.info.full_name}, {split} record {index}", group)

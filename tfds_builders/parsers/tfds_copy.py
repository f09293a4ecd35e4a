# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Data sets that TFDS builds itself; keys are names, or digests of the pixels."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
import functools
from typing import Any

import numpy as np

from tfds_builders import errors
from tfds_builders.parsers import example
from tfds_builders.parsers import fixtures
from tfds_builders.rows import row as row_lib


def parts(wanted: row_lib.TfdsSet,
          builders: Mapping[str, Any]) -> tuple[Callable[[], Iterator[example.Example]], ...]:
  """Returns one part for each prepared builder (TFDS name -> builder)."""
  return tuple(functools.partial(parse, builder, wanted, name)
               for name, builder in builders.items())


def parse(builder: Any, wanted: row_lib.TfdsSet, name: str) -> Iterator[example.Example]:
  """Yields the examples of a prepared TFDS builder in stored order, with their stored encoding."""
  import tensorflow as tf  # pylint: disable=g-import-not-at-top
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  keys = example.PixelKeys()
  prefix = f"{builder.builder_config.name}/" if len(wanted.names) > 1 else ""
  lacking = sorted(set(wanted.splits) - set(builder.info.splits))
  if lacking:
    raise errors.DataError(f"TFDS's {name} has splits {sorted(builder.info.splits)}, not "
                           f"{lacking}; delete it and prepare it again.")
  for split in wanted.splits:
    # One file after the other, which is the order of "train[:100]".
    dataset = builder.as_dataset(split=split, shuffle_files=False,
                                 read_config=tfds.ReadConfig(interleave_cycle_length=1),
                                 decoders={"image": tfds.decode.SkipDecoding()})

    @tf.autograph.experimental.do_not_convert
    def take(record):
      taken = {feature: record[feature] for feature in wanted.features}
      # Images are decoded only if they have no names.
      return {**taken, "pixels": record["image"] if wanted.key else
              tf.io.decode_image(record["image"], expand_animations=False)}

    dataset = dataset.map(take, num_parallel_calls=tf.data.AUTOTUNE, deterministic=True)
    for index, record in enumerate(tfds.as_numpy(dataset)):
      where = f"{builder.info.full_name}, {split} record {index}"
      source_split = _source_split(wanted, name, split, record)
      if wanted.key:
        key, group = f"{prefix}{split}/{record[wanted.key].decode()}", None
      else:
        key, group = keys(prefix + split, record["pixels"])
      yield example.Example(source_split, key, _label(record[wanted.label]), record["image"], where,
                            group)


def _source_split(wanted: row_lib.TfdsSet, name: str, split: str, record: Mapping[str, Any]) -> str:
  found = wanted.splits[split]
  if wanted.split_by:
    value = int(record[wanted.split_by])
    found = next((source for source, values in wanted.split_values.get(found, {}).items()
                  if value in values), found)
  return wanted.sources.get(name.split(":")[0], {}).get(found, found)


def _label(value: Any) -> Any:
  """Returns a class id; for a list, a tuple; for a dictionary, the positions of true values."""
  if isinstance(value, dict):
    return tuple(place for place, (_, flag) in enumerate(sorted(value.items())) if flag)
  if np.ndim(value):
    return tuple(sorted({int(one) for one in value}))
  return int(value)


def write_fixture(data_dir: Any, wanted: row_lib.TfdsSet, *, num_classes: int,
                  per_class: int) -> dict[str, int]:
  """Prepares tiny copies of TFDS's data sets in `data_dir` by TFDS's builder classes.

  Returns:
    The number of examples by source split.
  """
  import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
  counts: dict[str, int] = {}
  for name in wanted.names:
    builder = tfds.builder(name, data_dir=data_dir)

    def generate(split, builder=builder, name=name):
      first = sorted(wanted.splits).index(split) * 1000 + 50 * wanted.names.index(name)
      for index in range(num_classes * per_class):
        record = {feature: _fake(kind, feature, first + index, index % num_classes)
                  for feature, kind in builder.info.features.items()}
        if wanted.split_by:
          size = builder.info.features[wanted.split_by].num_classes
          record[wanted.split_by] = (index // num_classes + index) % size
        source = _source_split(wanted, name, split, record)
        counts[source] = counts.get(source, 0) + 1
        yield f"{split}{index}", record

    def splits_of(*_, generate=generate, **__):
      return {split: generate(split) for split in wanted.splits}

    builder._split_generators = splits_of  # pylint: disable=protected-access
    builder.download_and_prepare()
  return counts


def _fake(feature: Any, name: str, number: int, label: int) -> Any:
  """Returns a value of a TFDS feature that is unique by `number`; `label` is its class."""
  kind = type(feature).__name__
  if kind == "Image":
    return fixtures.pixels([size or 6 for size in feature.shape], number)
  if kind == "ClassLabel":
    return label % feature.num_classes
  if kind == "Text":
    return f"{name.split('/')[-1]}_{number}"
  if kind == "BBoxFeature":
    import tensorflow_datasets as tfds  # pylint: disable=g-import-not-at-top
    return tfds.features.BBox(0.0, 0.0, 1.0, 1.0)
  if kind == "Sequence":
    inner = feature.feature
    if hasattr(inner, "items"):
      return {key: [_fake(one, key, number, label)] for key, one in inner.items()}
    return [_fake(inner, name, number, label)]
  if hasattr(feature, "items"):
    return {key: place == label if str(one.dtype).endswith("bool'>") or one.dtype == np.bool_ else 0
            for place, (key, one) in enumerate(sorted(feature.items()))}
  return np.zeros(feature.shape, feature.numpy_dtype)

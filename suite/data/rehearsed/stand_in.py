# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Black images in place of a data set that is not prepared, for a rehearsal of a run.

Numbers of images and classes are those that the row of the data set says of its published archive,
so that the costs of a run can be counted before anything is downloaded (`suite run --dry_run`).
"""

from __future__ import annotations

import types
from typing import Any, Dict, Mapping, Optional, Tuple

import numpy as np
import tensorflow as tf

# Images of a bucket (Lin et al., 2021), which the rows do not say; test images are as many at most.
_OF_CLEAR = {"clear10": 3300, "clear100": 10_000}
_BUCKET_0 = {"clear10": 700_000, "clear100": 3_600_000}  # Unlabelled ones.
_SIDES = {"cfsl_omniglot/images": 105, "nevis/cifar10": 32, "nevis/mnist": 28, "nevis/semeion": 16}
_SIDE, _SIDE_OF_CLEAR = 64, 224


def of(name: str, builder: Any) -> Optional[StandInBuilder]:
  """The stand-in of a data set; None if the numbers of its images are not known.

  Args:
    name: of the data set.
    builder: its TFDS builder, not prepared.
  """
  row = getattr(builder, "row", None)
  if row is None or "label" not in builder.info.features:
    return None
  clear = _OF_CLEAR.get(name.split("/")[0])
  counts: Dict[str, int] = {}
  if clear is not None:
    counts = {split: clear for split in row.split_names if not split.endswith("bucket_00")}
    if "bucket_00" in row.split_names and not row.feature_size:
      counts["bucket_00"] = _BUCKET_0[name.split("/")[0]]
    if row.feature_size:
      counts = {split: num for split, num in counts.items() if not split.startswith("test_")}
  else:
    known: Mapping[str, int] = next(
        (layout.num_examples for layout in row.layouts if layout.num_examples), {})
    for source, num in known.items():
      for split, share in row.splits[source].items():
        counts[split] = counts.get(split, 0) + round(num * share)
  if not counts:
    return None
  title = name if "/" in name else f"{name}/{row.name}"
  side = _SIDE_OF_CLEAR if clear else _SIDES.get(title, _SIDE)
  return StandInBuilder(builder, row, counts, side, flags=clear is not None)


class _Splits(Dict[str, Any]):
  """Facts of splits and, by "train[FIRST:END]", of their parts."""

  def __missing__(self, split: str) -> Any:
    name, first, end = _edges(split, 0)
    if name not in self:
      raise KeyError(split)
    end = end or self[name].num_examples
    return types.SimpleNamespace(num_examples=end - first, num_bytes=self[name].num_bytes)


class StandInBuilder:
  """What `SplitSource` reads of a TFDS builder.

  Attributes:
    info: its features, and splits with numbers of examples.
  """

  def __init__(self, builder: Any, row: Any, counts: Mapping[str, int], side: int, flags: bool):
    self._features, self._row, self._flags = builder.info.features, row, flags
    self.data_dir, self.data_dir_root = builder.data_dir, builder.data_dir_root
    self.version, self._side = builder.version, side
    splits = _Splits({split: types.SimpleNamespace(num_examples=num, num_bytes=100 * num)
                      for split, num in counts.items()})
    self.info = types.SimpleNamespace(splits=splits, features=self._features)

  def as_dataset(self, *, split: str, **options: Any) -> tf.data.Dataset:
    """The examples of a split, images encoded; their classes take turns."""
    del options
    name, first, end = _edges(split, 0)
    num = self.info.splits[name].num_examples
    places = np.arange(first, end or num)
    low, high = self._classes(name)
    columns: Dict[str, Any] = {
        "label": low + places % (high - low),
        "id": np.char.add(f"stand-in/{name}/", places.astype(str))}
    for key, feature in self._features.items():
      if key not in columns and key not in ("image", "feature"):
        dtype = feature.np_dtype if hasattr(feature, "np_dtype") else feature.dtype
        if not np.issubdtype(np.dtype(dtype), np.number) and np.dtype(dtype) != np.bool_:
          continue
        # Of the released splits of CLEAR: 3 of 10 images of each class are for testing.
        is_test = places // (high - low) % 10 < 3
        columns[key] = (is_test if key.startswith("iid_test_") else
                        np.zeros(len(places), np.dtype(dtype)))
    if "image" in self._features:
      channels = self._features["image"].shape[-1] or self._row.channels
      # CLEAR's images are of many sizes: two keep them encoded in memory, as in a run.
      image, other = (tf.io.encode_png(tf.zeros([side, self._side, channels], tf.uint8))
                      for side in (self._side, self._side + self._flags))
      return tf.data.Dataset.from_tensor_slices({**columns, "image": places}).map(
          lambda one: {**one, "image": tf.where(one["image"] % 2 == 0, other, image)})
    feature = tf.zeros(self._features["feature"].shape)
    return tf.data.Dataset.from_tensor_slices(columns).map(lambda one: {**one, "feature": feature})

  def _classes(self, split: str) -> Tuple[int, int]:
    """The first class of a split and the one after its last, where splits are by class."""
    for layout in self._row.layouts:
      found = layout.args.get("classes", layout.args.get("num_classes"))
      if isinstance(found, Mapping) and split in found:
        names = list(found)
        low = sum(found[name] for name in names[:names.index(split)])
        return low, low + found[split]
    return 0, self._row.num_classes


def _edges(split: str, first: int) -> Tuple[str, int, int]:
  """Name, FIRST and END of "name[FIRST:END]"; END is 0 for all."""
  name, _, edges = split.partition("[")
  if not edges:
    return name, first, 0
  low, _, high = edges.rstrip("]").partition(":")
  return name, int(low or 0), int(high or 0)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A labelled set of feature vectors, with the interface of `image_set.ImageSet`.

A batch calls its features "image", float32 [B, D]: a linear model on features and a network on
images are then trained and tested by the same code.

Features on disk, in shards that are complete or absent.

  DIR/features.json                      their data set, and the encoder
  DIR/bucket_03/00002/features.npy       float32 [n, D], the third shard of a split
  DIR/bucket_03/00002/ids.json           the n ids of its images, in order
  DIR/bucket_03/00002/images.json        of a user's own images, their digests (`ImageSet.digests`)
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import dataclasses
import json
import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import sampling
from suite.data.pipelines import traced_maps
from suite.system import sealed_json

MANIFEST = "features.json"
_FEATURES, _IDS, _DIGESTS = "features.npy", "ids.json", "images.json"


@dataclasses.dataclass(frozen=True)
class Features:
  """The transform of features, which leaves them unchanged; `size` is D."""

  size: int = 2048

  @property
  def shape(self) -> tuple[int]:
    """(D,)."""
    return (self.size,)

  def train(self, features: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """float32 [B, D]; nothing is random."""
    del seeds
    return features

  def evaluate(self, features: tf.Tensor) -> tf.Tensor:
    """float32 [B, D]."""
    return features


class FeatureSet(image_set.ImageSet):
  """N labelled feature vectors, held in memory; made by `from_arrays`.

  Attributes:
    features: float32 [N, D], read-only.
    name, kind, num_classes, labels, ids, class_names: as of an `ImageSet`.
  """

  @classmethod
  def from_arrays(cls, name: str, images: np.ndarray, labels: Any, *, kind: str, num_classes: int,
                  ids: image_set.Ids = None, class_names: class_lists.ClassNames = None
                  ) -> FeatureSet:
    """A set from finite floats [N, D]; ids default to the indices."""
    found = cls(name, FeatureStore(name, images), labels, kind=kind, num_classes=num_classes,
                ids=ids, class_names=class_names)
    rows = np.flatnonzero(~np.isfinite(found.features).all(axis=1))
    if rows.size:
      raise ValueError(
          f"{name!r} has NaN or infinite features in {rows.size} of {found.size} rows, the first "
          f"with id {str(found.ids[rows[0]])!r}. Extract them again, or leave those rows out.")
    return found

  @property
  def features(self) -> np.ndarray:
    """float32 [N, D]."""
    assert isinstance(self._store, FeatureStore)
    return self._store.features

  @property
  def images(self) -> np.ndarray:
    """There are none; see `__getattr__`."""
    raise AttributeError

  def __getattr__(self, name: str) -> Any:
    if name == "images":
      raise AttributeError(f"{self.name!r} holds no images; its examples are .features [N, D].")
    return super().__getattr__(name)

  def __repr__(self) -> str:
    return (f"FeatureSet({self.name!r}, {self.size} x {self.features.shape[1]}, "
            f"{self.num_classes} classes, {self.kind})")

  def eval_batches(self, batch_size: int, *, transform: examples.Transform) -> EvalBatches:
    """As of an `ImageSet`, but computed once and kept in memory."""
    self.check_transform(transform)
    key = (batch_size, transform)
    if self._eval[0] != key:
      self._eval = (key, EvalBatches(self, batch_size, transform))
    return self._eval[1]

  def check_transform(self, transform: examples.Transform) -> None:
    """Refuses a transform of images, or of features of another width."""
    width, wanted = self.features.shape[1], tuple(transform.shape)
    if wanted != (width,):
      size = wanted[0] if len(wanted) == 1 else "an image"
      raise ValueError(f"{self.name!r} has features of width {width}, but {size} was expected. Set "
                       f"the learner's transform to Features(size={width}), or extract features "
                       "with the network of the other buckets.")


class FeatureStore:
  """The array of a set; the counterpart of `image_store.RawStore`."""

  def __init__(self, name: str, features: np.ndarray) -> None:
    features = np.asarray(features)
    if features.ndim != 2 or features.dtype.kind != "f" or not features.shape[1]:
      raise ValueError(f"Features of {name!r} have shape {features.shape} and type "
                       f"{features.dtype}; give floats [N, D].")
    self._name = name
    self.features = np.ascontiguousarray(features, np.float32).view()
    self.features.flags.writeable = False

  def __len__(self) -> int:
    return len(self.features)

  def take(self, indices: np.ndarray) -> FeatureStore:
    """The store of some of the rows."""
    return FeatureStore(self._name, (
        rehearsal.zeros([len(indices), self.features.shape[1]], np.float32)
        if rehearsal.counts_only() else self.features[indices]))

  def num_bytes(self) -> np.ndarray:
    """The memory that each row takes, int64 [N]."""
    return np.full([len(self)], self.features[0].nbytes, np.int64)

  def batches(self, plan: sampling.Plan, transform: examples.Transform,
              describe: image_store.Describe, columns: image_store.Columns) -> tf.data.Dataset:
    """Batches {"image": float32 [R, D], ...}, one gather each."""
    with tf.device("CPU:0"):
      features = tf.constant(self.features)
    return traced_maps.mapped(
        image_store.numbers(None), _feature_batch, static=(plan.form, transform, describe),
        tensors=(plan.numbers, features, tuple(columns)))


def _feature_batch(plan: sampling.Form, transform: examples.Transform,
                   describe: image_store.Describe, element: tf.Tensor, plan_numbers: Any,
                   features: tf.Tensor, columns: image_store.Columns) -> dict[str, tf.Tensor]:
  indices, seeds, valid = plan.at(plan_numbers, element, tf.range(plan.rows, dtype=tf.int64))
  found = tf.ensure_shape(tf.gather(features, indices), [plan.rows, features.shape[1]])
  return {"image": transform.train(found, seeds), **describe(plan, columns, indices, valid)}


class EvalBatches:
  """All rows once, in order, as batches of tensors; can be iterated repeatedly."""

  def __init__(self, features: FeatureSet, batch_size: int, transform: examples.Transform) -> None:
    plan = sampling.EvalPlan(size=features.size, batch_size=batch_size)
    place = np.arange(plan.num_elements * batch_size)
    mask = place < features.size

    def cut(array: np.ndarray, padding: Any = 0) -> Iterator[tf.Tensor]:
      whole = np.full((len(place), *array.shape[1:]), padding, array.dtype)
      whole[mask] = array
      return (tf.constant(whole[i:i + batch_size]) for i in range(0, len(place), batch_size))

    with tf.device("CPU:0"):
      self._batches = [
          {"image": transform.evaluate(image), "label": label, "mask": valid, "id": name}
          for image, label, valid, name in zip(
              cut(features.features), cut(features.labels), cut(np.ones([features.size], bool)),
              cut(features.ids.astype(object), ""))]

  @property
  def element_spec(self) -> dict[str, tf.TensorSpec]:
    """The spec of each entry of a batch."""
    return {key: tf.TensorSpec(value.shape, value.dtype)
            for key, value in self._batches[0].items()}

  def __len__(self) -> int:
    return len(self._batches)

  def __iter__(self) -> Iterator[dict[str, tf.Tensor]]:
    return iter(self._batches)


class FeatureSplit(NamedTuple):
  """features: float32 [N, D]. ids: [N]. digests: of the images, [N], or [] if none are kept."""

  features: np.ndarray
  ids: list[str]
  digests: Sequence[str] = ()


def shard_folder(folder: pathlib.Path, split: str, number: int) -> pathlib.Path:
  """The folder of a shard."""
  return pathlib.Path(folder) / split / f"{number:05d}"


def ranges(num_examples: int, shard_size: int) -> Iterator[tuple[int, int]]:
  """(first, end) of each shard of a split."""
  for first in range(0, num_examples, shard_size):
    yield first, min(first + shard_size, num_examples)


def write_shard(folder: pathlib.Path, features: np.ndarray, ids: Sequence[str],
                digests: Sequence[str] = ()) -> None:
  """Writes the files of a shard into an existing, empty folder."""
  if digests:
    (folder / _DIGESTS).write_text(json.dumps(list(digests)))
  np.save(folder / _FEATURES, np.ascontiguousarray(features, np.float32), allow_pickle=False)
  (folder / _IDS).write_text(json.dumps(list(ids)))


def read_manifest(folder: pathlib.Path) -> dict[str, Any]:
  """The contents of features.json."""
  path = pathlib.Path(folder) / MANIFEST
  if not path.is_file():
    raise FileNotFoundError(f"{folder} has no {MANIFEST}. Write features there with: suite data "
                            "features NAME --encoder RUN_DIR --out DIR")
  return sealed_json.load(
      path, "list of features", f"Delete {folder} and write the features again.",
      ["splits"])


def read_split(folder: pathlib.Path, split: str) -> FeatureSplit:
  """All features of a split; an error if it is missing or not finished."""
  manifest = read_manifest(folder)
  facts: Mapping[str, Any] = manifest["splits"].get(split, {})
  if not facts:
    raise ValueError(f"{folder} has no features of split {split!r}; it has "
                     f"{', '.join(sorted(manifest['splits']))}. Write them with: suite data "
                     f"features {manifest['data_set']} --split {split} --out {folder}")
  features: list[np.ndarray] = []
  ids: list[str] = []
  digests: list[str] = []
  for number, (first, end) in enumerate(ranges(facts["num_examples"], manifest["shard_size"])):
    shard = shard_folder(folder, split, number)
    if not shard.is_dir():
      raise ValueError(f"The features of split {split!r} in {folder} are not finished: shard "
                       f"{shard.name} is missing. Run the same command again; it resumes there.")
    found = np.load(shard / _FEATURES, allow_pickle=False)
    names = json.loads((shard / _IDS).read_text())
    wanted = (end - first, manifest["feature_size"])
    if found.shape != wanted or len(names) != len(found):
      raise ValueError(f"{shard} has features {found.shape} and {len(names)} ids; {wanted} "
                       "features are expected. Delete the folder and run the same command again.")
    features.append(found)
    ids += names
    if (shard / _DIGESTS).is_file():
      digests += json.loads((shard / _DIGESTS).read_text())
  if digests and len(digests) != len(ids):
    raise ValueError(f"The shards of split {split!r} in {folder} have digests of {len(digests)} of "
                     f"{len(ids)} images. Delete the folder and run the same command again.")
  return FeatureSplit(np.concatenate(features), ids, digests)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Storage of the pixels of an image set: one array, or one encoded string for each image.

Both stores make the same batches of a plan (`sampling.TrainPlan` or `EvalPlan`); the array needs
no decoding and transforms a whole batch in one op. `describe(form, columns, indices, valid)`, a
function of a module, adds labels, ids and mask.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol
import weakref

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import private_tensorflow
from suite.contracts import examples
from suite.contracts import rehearsal
from suite.data.images import decoding
from suite.data.images import file_damage
from suite.data.images import sampling
from suite.data.pipelines import traced_maps

Columns = Sequence[tf.Tensor]  # [N, ...] each.
Describe = Callable[[sampling.Form, Columns, tf.Tensor, tf.Tensor], dict[str, tf.Tensor]]


class Store(Protocol):
  """N examples without labels."""

  def __len__(self) -> int:
    """N."""

  def take(self, indices: np.ndarray) -> Store:
    """The store of the examples at the given indices."""

  def num_bytes(self) -> np.ndarray:
    """The memory that each example takes, int64 [N]."""

  def batches(self, plan: sampling.Plan, transform: examples.Transform, describe: Describe,
              columns: Columns) -> tf.data.Dataset:
    """Batches {"image": prepared examples, ...} as the plan says."""


class RawStore:
  """N images of one shape, uint8 [N, H, W, C], C 1 or 3."""

  def __init__(self, images: Any) -> None:
    if images.dtype not in (np.uint8, tf.uint8) or len(images.shape) != 4:
      raise ValueError(
          f"Images must be uint8 [N, H, W, C], got {images.dtype} {tuple(images.shape)}.")
    if images.shape[-1] not in (1, 3):
      raise ValueError(f"Images have {images.shape[-1]} channels; allowed are 1 and 3.")
    with tf.device("CPU:0"):
      self.images = rehearsal.tensor(images) if isinstance(
          images, np.ndarray) else tf.convert_to_tensor(images)

  def __len__(self) -> int:
    return int(self.images.shape[0])

  @property
  def pixels(self) -> np.ndarray:
    """uint8 [N, H, W, C]."""
    return self.images.numpy()

  def take(self, indices: np.ndarray) -> RawStore:
    """The store of some of the images."""
    with tf.device("CPU:0"):
      return RawStore(tf.gather(self.images, indices))

  def num_bytes(self) -> np.ndarray:
    """The memory that each image takes, int64 [N]."""
    return np.full([len(self)], int(np.prod(self.images.shape[1:])), np.int64)

  def batches(self, plan: sampling.Plan, transform: examples.Transform, describe: Describe,
              columns: Columns) -> tf.data.Dataset:
    """A data set of batches {"image": [R, S, S, 3], ...}, one gather and one crop each."""
    return traced_maps.mapped(
        numbers(plan.num_elements), _raw_batch, static=(plan.form, transform, describe),
        tensors=(plan.numbers, self.images, tuple(columns)))


def _raw_batch(plan: sampling.Form, transform: examples.Transform, describe: Describe,
               element: tf.Tensor, plan_numbers: Any, images: tf.Tensor, columns: Columns
               ) -> dict[str, tf.Tensor]:
  indices, seeds, valid = plan.at(plan_numbers, element, tf.range(plan.rows, dtype=tf.int64))
  chosen = tf.ensure_shape(tf.gather(images, indices), [plan.rows] + images.shape[1:])
  chosen = transform.train(chosen, seeds) if plan.is_training else transform.evaluate(chosen)
  if not plan.is_training:
    chosen = tf.where(valid[:, None, None, None], chosen, tf.zeros_like(chosen))
  return {"image": chosen, **describe(plan, columns, indices, valid)}


_resident: weakref.WeakKeyDictionary[Any, int] = weakref.WeakKeyDictionary()


def count_resident(holder: Any, num_bytes: int) -> None:
  """Counts the bytes that an object holds on a device, as long as it lives."""
  _resident[holder] = num_bytes


def resident_bytes() -> int:
  """The bytes of images on the devices of this process."""
  return sum(_resident.values())


class ResidentImages:
  """Completes training batches with images that are in the memory of a device.

  Args:
    images: uint8 [N, H, W, C].
    transform: of the batches.
    device: its name.
  """

  def __init__(self, images: tf.Tensor, transform: examples.Transform, device: str) -> None:
    with tf.device(device):
      self._images = tf.identity(images)
    self._transform = transform

  def __call__(self, batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    """A batch of "place" and "seed" [B] as one with "image", in the graph of a step."""
    rest = {key: value for key, value in batch.items() if key not in ("place", "seed")}
    images = byte_rows.gather(self._images, batch["place"])
    return {"image": self._transform.train(images, batch["seed"]), **rest}


class EncodedStore:
  """N images of any size as PNG, JPEG, BMP or GIF strings, decoded each time they are used."""

  def __init__(self, encoded: Sequence[bytes], *, name: str,
               headers: np.ndarray | None = None) -> None:
    """`headers`: see `decoding.headers`; they are read if they are not given."""
    self.headers = decoding.headers(encoded) if headers is None else headers
    with tf.device("CPU:0"):
      self.encoded = tf.constant(encoded, tf.string)
    self._name = name

  def __len__(self) -> int:
    return int(self.encoded.shape[0])

  @property
  def are_jpeg(self) -> bool:
    """Whether a window can be decoded of each of them."""
    return self.headers is not None and bool(self.headers[:, 2].all())

  def take(self, indices: np.ndarray) -> EncodedStore:
    """The store of some of the images."""
    return EncodedStore(tf.gather(self.encoded, indices).numpy(), name=self._name,
                        headers=None if self.headers is None else self.headers[indices])

  def num_bytes(self) -> np.ndarray:
    """The memory that each image takes, int64 [N]."""
    return tf.strings.length(self.encoded).numpy().astype(np.int64)

  @private_tensorflow.plain_data_functions()
  def batches(self, plan: sampling.Plan, transform: examples.Transform, describe: Describe,
              columns: Columns) -> tf.data.Dataset:
    """A data set of batches {"image": [R, S, S, 3], ...}, decoded image by image."""
    headers = () if self.headers is None else (tf.constant(self.headers),)
    encoded = traced_maps.mapped(
        numbers(plan.num_elements), _encoded_batch, static=(plan.form, describe),
        tensors=(plan.numbers, self.encoded, headers, tuple(columns)))
    return decoding.decoded_batches(
        encoded, transform, training=plan.is_training, name=self._name, are_jpeg=self.are_jpeg)


def _encoded_batch(plan: sampling.Form, describe: Describe, element: tf.Tensor, plan_numbers: Any,
                   encoded: tf.Tensor, headers: Columns, columns: Columns) -> dict[str, tf.Tensor]:
  indices, seeds, valid = plan.at(plan_numbers, element, tf.range(plan.rows, dtype=tf.int64))
  chosen = tf.where(valid, tf.gather(encoded, indices), decoding.blank())
  found = {"image": tf.ensure_shape(chosen, [plan.rows]), "seed": seeds,
           **describe(plan, columns, indices, valid)}
  if headers:
    header = tf.where(valid[:, None], tf.gather(headers[0], indices), decoding.BLANK_HEADER)
    found["header"] = tf.ensure_shape(header, [plan.rows, 3])
  return found


def best_store(encoded: Sequence[bytes], *, name: str, ids: np.ndarray, memory_limit_bytes: int
               ) -> RawStore | EncodedStore:
  """A RawStore if all images have one shape and fit the limit, else an EncodedStore."""
  found = {decoding.shape(image) for image in encoded}
  shapes = [shape for shape in found if shape is not None]
  if len(shapes) == len(found) and len({shape[:2] for shape in shapes}) == 1:
    height, width, channels = max(shapes)  # If one image is colored, gray ones are decoded as RGB.
    if len(encoded) * height * width * channels <= memory_limit_bytes:
      images = decoding.decode_all(encoded, (height, width, channels), name=name, ids=ids)
      return RawStore(images)
  file_damage.check(name, zip(map(str, ids), encoded),
                    "Build the data set again from a good copy of its source.")
  logging.info("%s: %d images are decoded as they are used", name, len(encoded))
  return EncodedStore(encoded, name=name)


def numbers(num: int | None) -> tf.data.Dataset:
  """0, 1, 2, ... below num, or without end for None."""
  return tf.data.Dataset.counter() if num is None else tf.data.Dataset.range(num)

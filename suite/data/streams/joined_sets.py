# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Batches of several sets in memory by one input pipeline, however many sets there are.

Every element is a batch of one of T sets. What `ImageSet.train_batches` traces for each of them is
traced once here, for a set whose number is an int64 scalar:

  order    0  2  0  1  ...      the set of each element
  turns    (0, 0) (2, 0) (0, 1) (1, 0)     and how many of its batches came before
  batches  rows by `sampling.TrainPlans`, images and labels from a list of the sets' tensors

The list holds references, so that no image is copied. Sets are of at most five kinds, each with a
pipeline: encoded, which are decoded one by one, or pixels, gray or color, of the size that the
transform makes or of another. With one kind of all sizes but the former, a transform that leaves
images of its own size as they are does to each set what it does to the set alone.
"""

from __future__ import annotations

from typing import Any, Callable, Hashable, Sequence

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import examples
from suite.contracts import tasks
from suite.contracts import transform as transform_lib
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import sampling
from suite.data.pipelines import fixed_order

_as_it_is = tf.autograph.experimental.do_not_convert
_ENCODED = "encoded"

Encode = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def are_in_memory(sets: Sequence[examples.ExampleSet]) -> bool:
  """Whether `batches` knows the storage of all of the sets."""
  return all(isinstance(images, image_set.ImageSet) and
             isinstance(images.store, (image_store.RawStore, image_store.EncodedStore))
             for images in sets)


@private_tensorflow.plain_data_functions()
def batches(sets: Sequence[Any], plans: Sequence[sampling.TrainPlan], order: tf.data.Dataset, *,
            transform: transform_lib.Transform, encode: Encode, name: str) -> tf.data.Dataset:
  """Endless batches of the sets, equal to those of their own `train_batches` in the given order.

  Args:
    sets: T sets in memory.
    plans: of each of them, with one batch size.
    order: the numbers of sets, in chunks int64 [M].
    transform: of the images.
    encode: (number of a set, uint8 [R, its classes], 1 for those present) to the batch's labels.
    name: for messages.

  Returns:
    Batches {"image" [R, S, S, 3], "label", "mask" [R]}.
  """
  turns, joined = _turns(order, len(sets)), sampling.TrainPlans(plans)
  labels = _Labels(sets, encode)
  kinds = [_kind(images, transform) for images in sets]
  known = sorted(set(kinds), key=str)
  numbers = np.asarray([known.index(kind) for kind in kinds], np.int64)

  def part(number: int, kind: Hashable) -> tf.data.Dataset:
    make = _encoded_batches if kind == _ENCODED else _pixel_batches
    own = turns if len(known) == 1 else turns.filter(
        _as_it_is(lambda task, _: tf.gather(numbers, task) == number))
    stores = [images if found == kind else None for images, found in zip(sets, kinds)]
    made = make(stores, own, joined, transform, labels, name)
    return fixed_order.with_fixed_order(made).prefetch(tf.data.AUTOTUNE)

  parts = [part(number, kind) for number, kind in enumerate(known)]
  if len(parts) == 1:
    return parts[0]
  return tf.data.Dataset.choose_from_datasets(
      parts, order.map(_as_it_is(lambda chunk: tf.gather(numbers, chunk))).unbatch(),
      stop_on_empty_dataset=False)


def _turns(order: tf.data.Dataset, num_sets: int) -> tf.data.Dataset:
  """(set, number of its elements before this one) for each element."""
  @_as_it_is
  def turns(counts: tf.Tensor, chunk: tf.Tensor):
    hot = tf.one_hot(chunk, num_sets, dtype=tf.int64)
    before = counts + tf.cumsum(hot, exclusive=True)
    return counts + tf.reduce_sum(hot, 0), (chunk, tf.gather(before, chunk, batch_dims=1))

  return order.scan(tf.zeros([num_sets], tf.int64), turns).unbatch()


def _kind(images: Any, transform: transform_lib.Transform) -> Hashable:
  """What decides on the pipeline of a set."""
  if isinstance(images.store, image_store.EncodedStore):
    return _ENCODED
  _, height, width, channels = images.store.images.shape
  return channels, (height, width) == (transform.size, transform.size)


def _pixel_batches(sets: Sequence[Any], turns: tf.data.Dataset, plans: sampling.TrainPlans,
                   transform: transform_lib.Transform, labels: _Labels, name: str
                   ) -> tf.data.Dataset:
  """Batches of the sets of one kind, the others being None: one gather and one crop each."""
  del name
  pixels = _TensorList([tf.zeros([0, 0, 0, 1], tf.uint8) if images is None else images.store.images
                        for images in sets])
  shapes = [images.store.images.shape[1:] for images in sets if images is not None]
  shape = [sides[0] if len(set(sides)) == 1 else None for sides in zip(*shapes)]
  rows = tf.range(plans.rows, dtype=tf.int64)

  @_as_it_is
  def make(task: tf.Tensor, element: tf.Tensor) -> dict[str, tf.Tensor]:
    places, seeds, valid = plans.at(task, element, rows)
    images = tf.ensure_shape(
        tf.gather(pixels.item(task, [None, *shape]), places), [plans.rows, *shape])
    return {"image": transform.train(images, seeds), "label": labels(task, places),
            "mask": tf.ensure_shape(valid, [plans.rows])}

  return turns.map(make, num_parallel_calls=tf.data.AUTOTUNE)


def _encoded_batches(sets: Sequence[Any], turns: tf.data.Dataset, plans: sampling.TrainPlans,
                     transform: transform_lib.Transform, labels: _Labels, name: str
                     ) -> tf.data.Dataset:
  """Batches of the encoded sets, the others being None, decoded image by image."""
  nothing = tf.zeros([0], tf.string)
  strings = _TensorList([nothing if images is None else images.store.encoded for images in sets])
  ids = _TensorList([nothing if images is None else tf.constant(images.ids.astype(object))
                     for images in sets])
  names = tf.constant(["" if images is None else images.name for images in sets])
  rows = tf.range(plans.rows, dtype=tf.int64)

  @_as_it_is
  def make(task: tf.Tensor, element: tf.Tensor) -> dict[str, tf.Tensor]:
    places, seeds, valid = plans.at(task, element, rows)
    encoded = tf.gather(strings.item(task, [None]), places)
    found = tf.strings.join([tf.gather(names, task), ": ", tf.gather(ids.item(task, [None]),
                                                                    places)])
    return {"image": tf.ensure_shape(encoded, [plans.rows]), "seed": seeds, "id": found,
            "label": labels(task, places), "mask": tf.ensure_shape(valid, [plans.rows])}

  decoded = decoding.decoded_batches(
      turns.map(make, num_parallel_calls=tf.data.AUTOTUNE), transform.train,
      shape=transform.shape, name=name)
  return decoded.map(lambda batch: {key: batch[key] for key in ("image", "label", "mask")})


class _TensorList:
  """Tensors of one type and rank, of which a graph takes one by its number; none is copied."""

  def __init__(self, tensors: Sequence[Any]):
    with tf.device("CPU:0"):
      first = tf.convert_to_tensor(tensors[0])
      self._dtype = first.dtype
      self._handle = tf.raw_ops.EmptyTensorList(
          element_shape=tf.constant(-1), max_num_elements=tf.constant(-1),
          element_dtype=self._dtype)
      for tensor in tensors:
        self._handle = tf.raw_ops.TensorListPushBack(
            input_handle=self._handle, tensor=tf.convert_to_tensor(tensor, self._dtype))

  def item(self, number: tf.Tensor, shape: Sequence[int | None]) -> tf.Tensor:
    """One of the tensors, of a shape in which None is unknown."""
    return tf.raw_ops.TensorListGetItem(
        input_handle=self._handle, index=tf.cast(number, tf.int32), element_dtype=self._dtype,
        element_shape=tf.constant([-1 if side is None else side for side in shape]))


class _Labels:
  """The labels of all sets: for each image the present classes, padded by -1."""

  def __init__(self, sets: Sequence[Any], encode: Encode):
    self._present = _TensorList([_present(images) for images in sets])
    self._num_classes = np.asarray([images.num_classes for images in sets], np.int64)
    self._encode = encode

  def __call__(self, task: tf.Tensor, places: tf.Tensor) -> tf.Tensor:
    """The encoded labels of images `places` [R] of a set."""
    present = tf.gather(self._present.item(task, [None, None]), places)
    classes = tf.cast(tf.gather(self._num_classes, task), tf.int32)
    hot = tf.reduce_max(tf.one_hot(present, classes, dtype=tf.uint8), axis=1)
    return self._encode(task, tf.ensure_shape(hot, [places.shape[0], None]))


def _present(images: Any) -> np.ndarray:
  """The present classes of each image, int64 [N, M]; -1 for fewer than M."""
  if images.kind == tasks.SINGLE_LABEL:
    return images.labels[:, None]
  num = images.labels.sum(1, dtype=np.int64)
  first = np.argsort(images.labels == 0, axis=1, kind="stable")[:, :max(1, num.max())]
  return np.where(np.arange(first.shape[1]) < num[:, None], first, -1)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Labeled sets of several tasks as one: batches in groups, each group from one of the tasks.

A training pass is an endless sequence of groups g = 0, 1, 2, ...; a batch has K of them:

  in turn     K is the number of tasks; each batch has a group of every task
  drawn       the task of each group is drawn, from a hash of (seed, g)

The n-th group of a task holds the n-th batch of its own endless training pass. Batches are a pure
function of (seed, step), so that a training can be resumed at any step. Sets in memory share one
input pipeline (`joined_batches`). Otherwise each task has one, which takes a tenth of a second or
more to make; the batches are the same.

  image  uint8 [K, B / K, S, S, 3]
  label  uint8 [K, B / K, C], the classes of all tasks; see `class_codes`
  mask   bool [K, B / K]

Batches of several sets in memory by one input pipeline, however many sets there are.

Every element is a batch of one of T sets. What `ImageSet.train_batches` traces for each of them is
traced once here, for a set whose number is an int64 scalar:

  order    0  2  0  1  ...      the set of each element
  turns    (0, 0) (2, 0) (0, 1) (1, 0)     and how many of its batches came before
  batches  rows by `sampling.TrainPlans`, images and labels from a list of the sets' tensors

The list holds references, so that no image is copied. Sets are of at most six kinds, each with a
pipeline: encoded, which are decoded one by one, packed in mapped files, or pixels, gray or color,
of the size that the transform makes or of another. Images of its own size are a kind because
some transforms leave them unchanged; each set is thus treated as it would be alone.

The images that NEVIS'22's pretrained baselines learn from are here, too: the training images of a
stream's meta-train tasks.

    one_task      PT-ISup, with ImageNet; any task of the stream, or of another one
    all_tasks     PT-MT

Images that a task of the stream is scored on are left out as they are in the stream itself (its
`shared_images`), so give the stream that is run afterwards. Data sets are read at once and stay in
memory, but for those that are streamed from disk, or mapped (`streams.nevis.resized_side`).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.compute import seeds as seeds_lib
from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.images import packed_images
from suite.data.images import sampling
from suite.data.pipelines import traced_maps
from suite.data.streams import stream_events

_TASK = 6  # A purpose of the seed, beside those of sampling.py and prepared_sets.py.
_COUNTED_AT_ONCE = 1 << 16
_CHUNK = 64  # Elements whose tasks are drawn at once, by a pipeline.
_BUFFER_BYTES = 2**29  # Of prepared batches: every task's pipeline keeps some.
_ENCODED, _PACKED = "encoded", "packed"


class TaskMixture:
  """Sets of T tasks, with all their classes in one numbering.

  Args:
    sets: by task.
    name: for messages.
    groups: K, if tasks are drawn; None: in turn.
    exponent: tasks are drawn in proportion to this power of their numbers of examples. 1: each
      example is as likely as any other; 0: each task is.

  Attributes:
    names: of the tasks.
    size: of all sets together.
    num_classes: C, of all tasks together.
    offsets: int [T + 1]; the classes of task t are offsets[t] ... offsets[t + 1] - 1.
  """

  kind = tasks.MULTI_LABEL  # As far as the shape of its labels goes.

  def __init__(self, sets: Mapping[str, examples.ExampleSet], *, name: str,
               groups: int | None = None, exponent: float = 1.0) -> None:
    if not sets:
      raise ValueError(f"{name!r} was given no tasks; a mixture has at least one.")
    if groups is not None and groups < 1:
      raise ValueError(f"groups={groups} of {name!r}; a batch has at least one group.")
    empty = [key for key, images in sets.items() if images.size < 1]
    if empty:
      raise ValueError(f"{', '.join(map(repr, empty))} of {name!r} without data; leave these tasks "
                       "out.")
    self.name, self.names, self._sets = name, tuple(sets), tuple(sets.values())
    self.size = sum(images.size for images in self._sets)
    self.offsets = np.cumsum([0, *(images.num_classes for images in self._sets)])
    self.num_classes = int(self.offsets[-1])
    self.num_groups = len(self._sets) if groups is None else groups
    shares = np.asarray([images.size for images in self._sets], np.float64) ** exponent
    self._bounds = None if groups is None else np.cumsum(shares / shares.sum())

  def __len__(self) -> int:
    return self.size

  def __repr__(self) -> str:
    return f"TaskMixture({self.name!r}, {len(self.names)} tasks, {self.size} images)"

  def sizes(self) -> dict[str, int]:
    """The number of examples of each task."""
    return {name: images.size for name, images in zip(self.names, self._sets)}

  def tasks_of(self, groups: tf.Tensor, seed: tuple[int, int]) -> tf.Tensor:
    """The tasks of groups: int64 [N] -> int64 [N]."""
    if self._bounds is None:
      return groups % len(self._sets)
    draws = sampling.uniform(sampling.derive(sampling.root_seed(seed, _TASK), groups), 1)[:, 0]
    found = tf.searchsorted(tf.constant(self._bounds[:-1]), draws, side="right")
    return tf.cast(found, tf.int64)

  @private_tensorflow.plain_data_functions()
  def group_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: examples.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless batches of K groups; arguments as of `ImageSet.train_batches`, batch_size is B."""
    if batch_size % self.num_groups:
      raise ValueError(f"A batch of {batch_size} cannot be divided into {self.num_groups} groups "
                       f"of {self.name!r}; give a multiple.")
    # How many of the groups before `first_step` each task has, [T].
    counts, past = np.zeros([len(self._sets)], np.int64), first_step * self.num_groups
    for first in range(0, past, _COUNTED_AT_ONCE):
      places = tf.range(first, min(past, first + _COUNTED_AT_ONCE), dtype=tf.int64)
      counts += np.bincount(self.tasks_of(places, seed).numpy(), minlength=len(counts))
    plans = [
        sampling.TrainPlan(
            size=images.size, batch_size=batch_size // self.num_groups,
            seed=seeds_lib.derive(seed[0], seed[1], "task", name), first_step=int(done),
            shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
        for name, images, done in zip(self.names, self._sets, counts)]

    @tf.autograph.experimental.do_not_convert
    def tasks_of(chunk: tf.Tensor) -> tf.Tensor:
      numbers = chunk * _CHUNK + tf.range(_CHUNK, dtype=tf.int64)
      steps = first_step + numbers // self.num_groups // shards_here
      return self.tasks_of(steps * self.num_groups + numbers % self.num_groups, seed)

    order = tf.data.Dataset.counter().map(tasks_of)
    if are_in_memory(self._sets):
      groups = joined_batches(self._sets, plans, order, transform=transform,
                                   encode=self._codes, name=self.name)
    else:
      groups = tf.data.Dataset.choose_from_datasets(
          [images.train_batches(
              plan.batch_size, seed=plan.seed, transform=transform, first_step=plan.first_step,
              shard_index=shard_index, num_shards=num_shards, shards_here=shards_here
          ).map(self._coder(place))
           for place, (images, plan) in enumerate(zip(self._sets, plans))],
          order.unbatch(), stop_on_empty_dataset=False)
    batches = groups.batch(self.num_groups, drop_remainder=True)
    options = tf.data.Options()
    options.autotune.enabled = True  # The budget is the tuner's.
    options.autotune.ram_budget = _BUFFER_BYTES
    return traced_maps.with_fixed_order(batches).with_options(options).prefetch(tf.data.AUTOTUNE)

  @private_tensorflow.plain_data_functions()
  def train_batches(self, batch_size: int, **arguments: Any) -> tf.data.Dataset:
    """As `group_batches`, the groups one after the other: "image" [B, S, S, 3], "label" [B, C]."""
    def flat(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
      return {key: tf.reshape(value, [value.shape[0] * value.shape[1], *value.shape[2:]])
              for key, value in batch.items()}

    batches = self.group_batches(batch_size, **arguments).map(flat)
    return traced_maps.with_fixed_order(batches).prefetch(tf.data.AUTOTUNE)

  def _coder(self, place: int) -> Any:
    """Makes groups of batches of one task."""
    images = self._sets[place]

    @tf.autograph.experimental.do_not_convert
    def coded(batch: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
      hot = (tf.one_hot(batch["label"], images.num_classes, dtype=tf.uint8)
             if images.kind == tasks.SINGLE_LABEL else tf.cast(batch["label"], tf.uint8))
      return {"image": batch["image"], "label": self._codes(tf.constant(place, tf.int64), hot),
              "mask": batch["mask"]}

    return coded

  def _codes(self, task: tf.Tensor, hot: tf.Tensor) -> tf.Tensor:
    """Codes uint8 [R, C] from the present classes of a task: int64 [] and uint8 [R, C of it]."""
    absent = [tasks.ABSENT + (0 if images.kind == tasks.SINGLE_LABEL else tasks.MULTI)
              for images in self._sets]
    own = hot * (tasks.PRESENT - tasks.ABSENT) + tf.gather(
        np.asarray(absent, np.uint8), task)
    first, last = tf.gather(self.offsets, task), tf.gather(self.offsets, task + 1)
    codes = tf.pad(own, [[0, 0], [first, self.num_classes - last]],
                   constant_values=tasks.FOREIGN)
    return tf.ensure_shape(codes, [hot.shape[0], self.num_classes])


_as_it_is = tf.autograph.experimental.do_not_convert

Encode = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def are_in_memory(sets: Sequence[examples.ExampleSet]) -> bool:
  """Whether `batches` knows the storage of all of the sets."""
  return all(isinstance(images, image_set.ImageSet) and
             isinstance(images.store, (image_store.RawStore, image_store.EncodedStore,
                                       packed_images.PackedStore))
             for images in sets)


@private_tensorflow.plain_data_functions()
def joined_batches(sets: Sequence[Any], plans: Sequence[sampling.TrainPlan],
                   order: tf.data.Dataset, *, transform: examples.Transform, encode: Encode,
                   name: str) -> tf.data.Dataset:
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
  @_as_it_is
  def turns_of(counts: tf.Tensor, chunk: tf.Tensor) -> Any:
    hot = tf.one_hot(chunk, len(sets), dtype=tf.int64)
    before = counts + tf.cumsum(hot, exclusive=True)
    return counts + tf.reduce_sum(hot, 0), (chunk, tf.gather(before, chunk, batch_dims=1))

  # (set, number of its elements before this one) for each element.
  turns = order.scan(tf.zeros([len(sets)], tf.int64), turns_of).unbatch()
  joined, labels = sampling.TrainPlans(plans), _Labels(sets, encode)
  kinds: list[Hashable] = []  # What decides on the pipeline of a set.
  for images in sets:
    if isinstance(images.store, image_store.EncodedStore):
      kinds.append(_ENCODED)
    elif isinstance(images.store, packed_images.PackedStore):
      kinds.append(_PACKED)
    else:
      _, height, width, channels = images.store.images.shape
      kinds.append((channels, (height, width) == (transform.size, transform.size)))
  known = sorted(set(kinds), key=str)
  numbers = np.asarray([known.index(kind) for kind in kinds], np.int64)

  def part(number: int, kind: Hashable) -> tf.data.Dataset:
    make = (_encoded_batches if kind == _ENCODED else
            _packed_batches if kind == _PACKED else _pixel_batches)
    own = turns if len(known) == 1 else turns.filter(
        _as_it_is(lambda task, _: tf.gather(numbers, task) == number))
    stores = [images if found == kind else None for images, found in zip(sets, kinds)]
    made = make(stores, own, joined, transform, labels, name)
    return traced_maps.with_fixed_order(made).prefetch(tf.data.AUTOTUNE)

  parts = [part(number, kind) for number, kind in enumerate(known)]
  if len(parts) == 1:
    return parts[0]
  return tf.data.Dataset.choose_from_datasets(
      parts, order.map(_as_it_is(lambda chunk: tf.gather(numbers, chunk))).unbatch(),
      stop_on_empty_dataset=False)


def _pixel_batches(sets: Sequence[Any], turns: tf.data.Dataset, plans: sampling.TrainPlans,
                   transform: examples.Transform, labels: _Labels, name: str
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
                     transform: examples.Transform, labels: _Labels, name: str
                     ) -> tf.data.Dataset:
  """Batches of the encoded sets, the others being None, decoded image by image."""
  nothing = tf.zeros([0], tf.string)
  strings = _TensorList([nothing if images is None else images.store.encoded for images in sets])
  ids = _TensorList([nothing if images is None else tf.constant(images.ids.astype(object))
                     for images in sets])
  stores = [None if images is None else images.store for images in sets]
  are_known = all(store is None or store.headers is not None for store in stores)
  headers = _TensorList([np.zeros([0, 3], np.int32) if store is None else store.headers
                         for store in stores]) if are_known else None
  names = tf.constant(["" if images is None else images.name for images in sets])
  rows = tf.range(plans.rows, dtype=tf.int64)

  @_as_it_is
  def make(task: tf.Tensor, element: tf.Tensor) -> dict[str, tf.Tensor]:
    places, seeds, valid = plans.at(task, element, rows)
    encoded = tf.gather(strings.item(task, [None]), places)
    found = tf.strings.join([tf.gather(names, task), ": ", tf.gather(ids.item(task, [None]),
                                                                    places)])
    batch = {"image": tf.ensure_shape(encoded, [plans.rows]), "seed": seeds, "id": found,
             "label": labels(task, places), "mask": tf.ensure_shape(valid, [plans.rows])}
    if headers is not None:
      batch["header"] = tf.ensure_shape(
          tf.gather(headers.item(task, [None, 3]), places), [plans.rows, 3])
    return batch

  decoded = decoding.decoded_batches(
      turns.map(make, num_parallel_calls=tf.data.AUTOTUNE), transform, training=True, name=name,
      are_jpeg=all(store is None or store.are_jpeg for store in stores))
  return decoded.map(lambda batch: {key: batch[key] for key in ("image", "label", "mask")})


def _packed_batches(sets: Sequence[Any], turns: tf.data.Dataset, plans: sampling.TrainPlans,
                    transform: examples.Transform, labels: _Labels, name: str) -> tf.data.Dataset:
  """Batches of the sets in mapped files, the others being None, cut out image by image."""
  del name
  stores = [None if images is None else images.store for images in sets]
  files = _TensorList([tf.zeros([0], tf.uint8) if store is None else store.pixels
                       for store in stores])
  offsets = _TensorList([np.zeros([0], np.int64) if store is None else store.offsets
                         for store in stores])
  sides = _TensorList([np.zeros([0, 2], np.int32) if store is None else store.sides
                       for store in stores])
  rows = tf.range(plans.rows, dtype=tf.int64)

  @_as_it_is
  def make(task: tf.Tensor, element: tf.Tensor) -> dict[str, tf.Tensor]:
    places, seeds, valid = plans.at(task, element, rows)
    return {"offset": tf.ensure_shape(tf.gather(offsets.item(task, [None]), places), [plans.rows]),
            "sides": tf.ensure_shape(
                tf.gather(sides.item(task, [None, 2]), places), [plans.rows, 2]),
            "seed": seeds, "task": task, "label": labels(task, places),
            "mask": tf.ensure_shape(valid, [plans.rows])}

  cut = packed_images.cut_batches(
      turns.map(make, num_parallel_calls=tf.data.AUTOTUNE),
      lambda batch: files.item(batch["task"], [None]), transform, training=True)
  return cut.map(lambda batch: {key: batch[key] for key in ("image", "label", "mask")})


class _TensorList:
  """Tensors of one type and rank, of which a graph takes one by its number; none is copied."""

  def __init__(self, tensors: Sequence[Any]) -> None:
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
    """The tensor at index `number`; None in `shape` is an unknown side."""
    return tf.raw_ops.TensorListGetItem(
        input_handle=self._handle, index=tf.cast(number, tf.int32), element_dtype=self._dtype,
        element_shape=tf.constant([-1 if side is None else side for side in shape]))


class _Labels:
  """The labels of all sets: for each image the present classes, padded by -1."""

  def __init__(self, sets: Sequence[Any], encode: Encode) -> None:
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


def one_task(stream: stream_events.Stream, task: str) -> examples.ExampleSet:
  """The training images of one meta-train task, by its key."""
  part = _meta_train(stream)
  found = {entry.key: entry for entry in part.entries}
  if task not in found:
    raise ValueError(f"Stream {stream.name!r} has no meta-train task {task!r}; it has "
                     f"{', '.join(found)}.")
  return found[task].load().train


def all_tasks(stream: stream_events.Stream, groups: int = 8, exponent: float = 1.0
              ) -> TaskMixture:
  """The training images of all meta-train tasks; a task that is repeated takes part once.

  Args:
    stream: the stream.
    groups: a batch is made of this many groups of equal size, each from one task. The paper does
      not say how it mixes tasks.
    exponent: see `TaskMixture`.
  """
  part = _meta_train(stream)
  sets = {entry.key: entry.load().train for entry in part.entries if entry.task.occurrence == 1}
  return TaskMixture(sets, name=part.name, groups=groups, exponent=exponent)


def _meta_train(stream: stream_events.Stream) -> stream_events.Stream:
  part = stream.meta_train()
  part.events()  # Names all data that is missing.
  return part

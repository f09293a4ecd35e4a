# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Splits of prepared TensorFlow data sets, in memory or read as they are used.

An image set too large for memory, read from its record files in a new order each epoch.

It has the methods of `image_set.ImageSet` and the same plan of positions, in another order:
epoch e puts the files in an order of (seed, e), reads several at a time, and shuffles what it reads
buffer by buffer. It is deterministic; a later first step is reached by reading, not decoding, the
part of its epoch before it.
"""

from __future__ import annotations

from collections.abc import Sequence
import functools
from typing import Any

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import private_tensorflow
from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import decoding
from suite.data.images import image_set
from suite.data.images import resized_copy
from suite.data.images import sampling
from suite.data.images import tfds_source
from suite.data.pipelines import traced_maps

_FILES_AT_ONCE = 8
_FILES, _BUFFER = 4, 5  # Purposes of the seed, beside those of sampling.py.


def open_source(name: str, split: str, *, data_dir: str | None = None,
                resized_side: int | None = None
                ) -> tfds_source.SplitSource | resized_copy.PackedCopy:
  """Opens a prepared split, or its packed copy, which is made if there is none; see `read`."""
  source = tfds_source.open_split(name, split, data_dir=data_dir)
  return source if resized_side is None else resized_copy.open_split(source, resized_side)


def read(name: str, split: str, *, data_dir: str | None = None,
         memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES,
         resized_side: int | None = None
         ) -> image_set.ImageSet | StreamedSet:
  """Reads a prepared TensorFlow data set such as "nevis/mnist".

  Features: `image`, `label` or `labels`, and `id` (the index where there is none).

  Args:
    name: of the data set.
    split: "train", say.
    data_dir: of TFDS.
    memory_limit_bytes: size of the encoded images above which they stay on disk.
    resized_side: pixels of the shorter side to which larger images are resized once, in a decoded
      copy beside the data (see `resized_copy`); None: images are as they were prepared.
  """
  return read_source(
      open_source(name, split, data_dir=data_dir, resized_side=resized_side),
      memory_limit_bytes=memory_limit_bytes)


def read_source(source: tfds_source.SplitSource | resized_copy.PackedCopy, *,
                memory_limit_bytes: int = image_set.DEFAULT_MEMORY_LIMIT_BYTES
                ) -> image_set.ImageSet | StreamedSet:
  """Reads what `open_source` opened; see `read`."""
  if isinstance(source, resized_copy.PackedCopy):
    return source.read(memory_limit_bytes)
  if source.num_bytes > memory_limit_bytes:
    return StreamedSet(source)
  encoded, labels, ids = source.read()
  return image_set.ImageSet.from_encoded(
      source.title, encoded, labels, kind=source.kind, num_classes=source.num_classes, ids=ids,
      class_names=source.class_names, memory_limit_bytes=memory_limit_bytes)


_as_it_is = tf.autograph.experimental.do_not_convert


class StreamedSet(image_set.LabeledSet):
  """N labeled images on disk; attributes as of `ImageSet`.

  `labels` and `ids` are read at the first access, without the images.
  """

  def __init__(self, source: tfds_source.SplitSource, *, buffer_size: int = 16384,
               kept: np.ndarray | None = None) -> None:
    """
    Args:
      source: the records.
      buffer_size: encoded images in the shuffle buffer.
      kept: which of the records belong to the set, bool [their number]; None: all of them.
    """
    logging.info("%s: %d images of %.1f GB are read as they are used", source.title, source.size,
                 source.num_bytes / 1e9)
    self._kept = None if kept is None or kept.all() else kept
    self.name, self.size = source.title, source.size if kept is None else int(kept.sum())
    if not self.size:
      raise ValueError(f"{self.name!r} has no images. Ask for a split or a task that has some.")
    self.kind, self.num_classes = source.kind, source.num_classes
    self.class_names = class_lists.checked(self.name, source.class_names, source.num_classes)
    self._source, self._buffer_size = source, buffer_size
    # int64 [C], the class of this set that each class of the source is; None: the same.
    self._new_labels: np.ndarray | None = None
    self._files = tuple(np.asarray(column) for column in zip(*source.files))

  @functools.cached_property
  def _facts(self) -> tuple[np.ndarray, np.ndarray]:
    dataset = self._stored().map(_as_it_is(lambda e: (e["label"], e["id"]))).batch(4096)
    labels, ids = zip(*dataset.as_numpy_iterator())
    return np.concatenate(labels), np.asarray([i.decode() for i in np.concatenate(ids)])

  @property
  def labels(self) -> np.ndarray:
    """int64 [N] or uint8 [N, C], in stored order."""
    return self._facts[0]

  @property
  def ids(self) -> np.ndarray:
    """str [N], in stored order."""
    return self._facts[1]

  def split(self, share: float, *, seed: Any) -> tuple[StreamedSet, StreamedSet]:
    """(the first ones, the last `share` of the images), both still on disk.

    TFDS stores examples in a random order (a hash of the keys), so the seed is not needed. Any
    other choice would have to read and drop the records of the other side.
    """
    del seed
    cut = self.size - image_set.num_in_share(self, share)
    if self._kept is not None:
      cut = int(np.flatnonzero(self._kept)[cut])
    first, last = (
        self._like(self._source.part(edges), self.class_names, self.num_classes, self._new_labels,
                   kept=None if self._kept is None else self._kept[part])
        for edges, part in ((f":{cut}", slice(cut)), (f"{cut}:", slice(cut, None))))
    return first, last

  def without(self, places: Any) -> StreamedSet:
    """The set without the images at some places, still on disk: their records are passed over."""
    kept = np.ones([self._source.size], bool) if self._kept is None else self._kept.copy()
    kept[np.flatnonzero(kept)[places]] = False
    return self._like(self._source, self.class_names, self.num_classes, self._new_labels, kept=kept)

  def num_bytes(self) -> int:
    """The size of the encoded images on disk, all about as large."""
    return self._source.num_bytes * self.size // max(1, self._source.size)

  def with_class_names(self, class_names: class_lists.ClassNames) -> StreamedSet:
    """The set with other names of its classes; see `ImageSet.with_class_names`."""
    names = class_lists.checked(self.name, class_lists.replaced(
        self.name, self.class_names, class_names), self.num_classes)
    return self._like(self._source, names, self.num_classes, self._new_labels, kept=self._kept)

  def with_classes(self, class_names: Sequence[str]) -> StreamedSet:
    """The set with its labels renumbered, by name, as places in a list of classes."""
    new = class_lists.places(self.name, self.class_names, class_names)
    return self._like(self._source, class_lists.checked(self.name, class_names, len(class_names)),
                      len(class_names), new if self._new_labels is None else new[self._new_labels],
                      kept=self._kept)

  def _like(self, source: tfds_source.SplitSource, class_names: tuple[str, ...] | None,
            num_classes: int, new_labels: np.ndarray | None, *, kept: np.ndarray | None
            ) -> StreamedSet:
    made = StreamedSet(source, buffer_size=self._buffer_size, kept=kept)
    made.class_names, made.num_classes, made._new_labels = class_names, num_classes, new_labels
    return made

  @private_tensorflow.plain_data_functions()
  def subset(self, indices: Any) -> image_set.ImageSet:
    """The images at the given indices, in that order, in memory."""
    indices = np.asarray(indices, np.int64)
    wanted = tf.constant(np.isin(np.arange(self.size), indices))
    dataset = self._stored().enumerate().filter(_as_it_is(lambda i, _: wanted[i]))
    found = {int(i): example for i, example in dataset.as_numpy_iterator()}
    chosen = [found[i] for i in indices]
    return image_set.ImageSet.from_encoded(
        self.name, [e["image"] for e in chosen], np.stack([e["label"] for e in chosen]),
        kind=self.kind, num_classes=self.num_classes, ids=[e["id"].decode() for e in chosen],
        class_names=self.class_names)

  def within(self, num_bytes: int, *, seed: Any) -> image_set.ImageSet:
    """Images, drawn at random, that take no more memory than num_bytes; see `ImageSet.within`."""
    num = min(self.size, int(num_bytes * self.size // max(1, self.num_bytes())))
    chosen = np.random.default_rng(seed).permutation(self.size)[:max(1, num)]
    # In memory they may be pixels, which take more than the encoded images.
    return self.subset(np.sort(chosen)).within(num_bytes, seed=seed)

  def of_classes(self, classes: Any) -> image_set.ImageSet:
    """The images of some classes, in memory, numbered 0, 1, ... in the order given."""
    wanted = np.flatnonzero(np.isin(self.labels, np.asarray(classes, np.int64)))
    return self.subset(wanted).of_classes(classes)

  @private_tensorflow.plain_data_functions()
  def train_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: examples.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless shuffled, augmented batches; arguments as of `ImageSet.train_batches`.

    Each host reads every record and uses its rows.
    """
    plan = sampling.TrainPlan(
        size=self.size, batch_size=batch_size, seed=(seed[0], seed[1]), first_step=first_step,
        shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
    first = first_step * batch_size
    epochs = tf.data.Dataset.counter(first // self.size)
    # The next block is read, across epochs, too, while the batches of one are made.
    blocks = epochs.flat_map(_as_it_is(functools.partial(self._epoch, plan.seed))).prefetch(1)
    records = blocks.unbatch().skip(first % self.size).enumerate(first)
    if shards_here < num_shards:
      records = records.filter(_as_it_is(lambda position, _: plan.is_here(position)))

    @_as_it_is
    def row(position: tf.Tensor, index: tf.Tensor, example: Any) -> Any:
      return {**self._row(index, example),
              "seed": sampling.row_seeds(plan.seed, position[None])[0]}

    # Converted: a data set's own features may branch on tensors.
    def parse(position: tf.Tensor, record: Any) -> Any:
      index, serialized = record
      return row(position, index, self._source.parse(serialized))

    rows = records.map(parse, num_parallel_calls=tf.data.AUTOTUNE)
    batches = rows.batch(plan.rows, drop_remainder=True)
    return self._batches(batches, transform, training=True)

  @private_tensorflow.plain_data_functions()
  def eval_batches(self, batch_size: int, *, transform: examples.Transform
                   ) -> tf.data.Dataset:
    """All images once, in stored order; the last batch is padded and its mask says so."""
    plan = sampling.EvalPlan(size=self.size, batch_size=batch_size)
    rows = self._stored().map(_as_it_is(lambda e: {**e, "seed": tf.constant(0, tf.uint64)}))
    label = rows.element_spec["label"]
    blank = {"image": tf.constant(decoding.blank()), "seed": tf.constant(0, tf.uint64),
             "label": tf.zeros(label.shape, label.dtype), "mask": tf.constant(False),
             "id": tf.constant("")}
    num_blanks = plan.num_elements * batch_size - self.size
    rows = rows.concatenate(tf.data.Dataset.from_tensors(blank).repeat(num_blanks))
    return self._batches(rows.batch(batch_size, drop_remainder=True), transform, training=False)

  def _batches(self, batches: tf.data.Dataset, transform: examples.Transform, *, training: bool
               ) -> tf.data.Dataset:
    batches = decoding.decoded_batches(batches, transform, training=training, name=self.name)
    return traced_maps.with_fixed_order(batches).prefetch(tf.data.AUTOTUNE)

  @private_tensorflow.plain_data_functions()
  def _stored(self) -> tf.data.Dataset:
    """Encoded rows {"image", "label", "mask", "id"} in stored order."""
    rows = self._of_set(self._source.examples().enumerate()).map(_as_it_is(self._row))
    return traced_maps.with_fixed_order(rows)

  def _of_set(self, records: tf.data.Dataset) -> tf.data.Dataset:
    """Those of (index of a record, ...) that belong to the set."""
    if self._kept is None:
      return records
    with tf.device("CPU:0"):
      kept = tf.constant(self._kept)
    return records.filter(_as_it_is(lambda index, *_: kept[index]))

  def _epoch(self, seed: tuple[int, int], epoch: tf.Tensor) -> tf.data.Dataset:
    """Blocks of (stored index, serialized example) of one epoch in its own order."""
    names, skips, takes = self._files
    places = tf.range(len(names), dtype=tf.int64)
    key = sampling.derive(sampling.root_seed(seed, _FILES), epoch)
    order = sampling.shuffled(places, len(names), tf.fill([len(names)], key))
    starts = np.cumsum(takes) - takes  # Stored index of a file's first record.
    files = tf.data.Dataset.from_tensor_slices(tuple(
        tf.gather(tf.constant(column), order) for column in (names, skips, takes, starts)))

    def records(name: Any, skip: tf.Tensor, take: Any, start: tf.Tensor) -> Any:
      return tf.data.TFRecordDataset(name).skip(skip).take(take).enumerate(start)

    stored = self._of_set(files.interleave(
        records, cycle_length=_FILES_AT_ONCE, block_length=16,
        num_parallel_calls=tf.data.AUTOTUNE, deterministic=True))
    buffer_key = sampling.derive(sampling.root_seed(seed, _BUFFER), epoch)

    def mixed(number: tf.Tensor, buffer: Any) -> Any:
      draws = sampling.uniform(sampling.derive(buffer_key, number)[None], tf.size(buffer[0]))[0]
      return tuple(tf.gather(part, tf.argsort(draws)) for part in buffer)

    # `Dataset.shuffle` takes its seed from Python only, not from the epoch's number.
    return stored.batch(self._buffer_size).enumerate().map(mixed)

  def _row(self, index: tf.Tensor, example: dict[str, tf.Tensor]) -> dict[str, tf.Tensor]:
    is_single = self.kind == tasks.SINGLE_LABEL
    label = tf.ensure_shape(example["label"], [] if is_single else [self._source.num_classes])
    if self._new_labels is not None and is_single:
      label = tf.gather(tf.constant(self._new_labels), label)
    elif self._new_labels is not None:
      label = tf.scatter_nd(self._new_labels[:, None], label, [self.num_classes])
    return {"image": tf.ensure_shape(example["image"], []), "label": label,
            "mask": tf.constant(True),
            "id": example["id"] if self._source.has_id else tf.as_string(index)}

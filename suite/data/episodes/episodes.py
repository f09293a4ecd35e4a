# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot episodes: S support sets one after the other, then one target set over all.

The setting (task_types.py) describes a task's sizes; the convention (episode_conventions.py), which
classes and images may be repeated and their labels: by default, `spec`, no image is twice in a task
and no class in two blocks. Episode i is a pure function of (data, split, seed, i), drawn for many
episodes at once by integer arithmetic on hashes: no state, no floats, the same on every machine.

All draws are derived from 64-bit keys by `derive` (SplitMix64, as in sampling.py):

  class key of (episode, pool p) = derive(derive(class root, episode), p)
  image key of (episode, row g)  = derive(derive(image root, episode), g)
  rank j of a draw of n things   = (derive(key, j) >> 32) * (n - j) >> 32        0 ... n - j - 1

Rank j is the index of the drawn thing among the n - j that remain, so that one number is computed
for each thing drawn. Ranks become indices by going back through the draws: before thing i was
removed, everything from its rank on was one place higher.

The steps are written once; they run on NumPy arrays and, in a graph, on tensors, with equal
results.
M episodes, P pools of k classes, G rows of m images, L places.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import copy
import hashlib
import json
import reprlib
from typing import Any, NamedTuple

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import private_tensorflow
from suite.compute import seeds as seeds_lib
from suite.contracts import examples
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.data.episodes import episode_conventions
from suite.data.episodes import task_types
from suite.data.images import class_lists
from suite.data.images import image_set
from suite.data.images import sampling
from suite.data.pipelines import traced_maps

_CLASSES, _IMAGES = 2, 3  # Purposes of the seed, beside those of sampling.py.
_PLACES_AT_ONCE = 1 << 17  # Places whose images one op draws, if that is a batch or more.
_GOLDEN, _MIX_1, _MIX_2 = (np.uint64(n) for n in (
    0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


class Episode(NamedTuple):
  """One episode, or B of them with a leading axis; C is 1 or 3.

  T = S * way * targets, or a class_change_interval-th of it if targets are shared.

  Attributes:
    support_images: uint8 [S, way * shot, H, W, C].
    support_labels: int64 [S, way * shot].
    target_images: uint8 [T, H, W, C].
    target_labels: int64 [T].
  """

  support_images: tf.Tensor
  support_labels: tf.Tensor
  target_images: tf.Tensor
  target_labels: tf.Tensor


class EpisodeWithClasses(NamedTuple):
  """An `Episode` with the classes of its images in the split, 0, 1, ..., too.

  Attributes:
    support_images, support_labels, target_images, target_labels: as of `Episode`.
    support_classes: int64 [S, way * shot].
    target_classes: int64 [T].
  """

  support_images: tf.Tensor
  support_labels: tf.Tensor
  target_images: tf.Tensor
  target_labels: tf.Tensor
  support_classes: tf.Tensor
  target_classes: tf.Tensor


class Episodes:
  """An endless, indexed source of episodes over the images and labels of one split.

  Args:
    images: uint8 [N, H, W, C], or features float32 [N, D]; a tensor is shared, not copied.
    labels: int [N], the classes.
    setting: of the tasks.
    ids: N different strings. With them episodes do not depend on the order of the images.
    data: name and version of the data set, as "cfsl_omniglot:1.0.0".
    split: "train", "validation", "test".
    seed: of the whole source.
    convention: one of episode_conventions.CONVENTIONS.
    with_classes: whether episodes are `EpisodeWithClasses`.

  Attributes:
    setting, convention, with_classes: as given.
    images: uint8 tensor [N, H, W, C], or features float32 [N, D], on the CPU; one image where costs
      alone are counted.
    labels: int64 [S * way * shot + T], the labels of an episode, support sets first.
    num_support: S * way * shot.
    num_labels: number of output classes of an episode.
    fallback: a deviation because there are too few images, in words for the record; '' for none.
    drawn: a user's image set and its classes that are drawn; None for shipped data.
  """

  drawn: tuple[image_set.ImageSet, frozenset[int]] | None = None

  def __init__(self, images: Any, labels: Any, setting: task_types.Setting, *,
               ids: Sequence[str] | None = None, data: str = "", split: str = "", seed: int = 0,
               convention: str = episode_conventions.SPEC, with_classes: bool = False) -> None:
    labels = np.asarray(labels, np.int64)
    shape = tuple(images.shape)
    are_images = (images.dtype in (np.uint8, tf.uint8) and len(shape) == 4
                  and shape[-1] in (1, 3))
    are_features = images.dtype in (np.float32, tf.float32) and len(shape) == 2
    if not (are_images or are_features) or labels.shape != shape[:1]:
      raise ValueError(
          f"Images must be uint8 [N, H, W, 1 or 3], or features float32 [N, D], with N labels, got "
          f"{images.dtype} {shape} with labels {labels.shape}. Keep pixels as bytes; the model "
          "scales them.")
    self.convention, self._seed, self.with_classes = convention, seed, with_classes
    self._data, self._split = data, split
    self._ids = np.asarray(range(len(labels)) if ids is None else ids).astype(np.str_)
    if self._ids.shape != labels.shape:
      raise ValueError(f"Got ids {self._ids.shape} for {len(labels)} images; give each image one "
                       "id.")
    different, uses = np.unique(self._ids, return_counts=True)
    if len(different) < len(labels):
      raise ValueError(f"Id {str(different[uses.argmax()])!r} stands for {uses.max()} images, so "
                       "an image could come twice in a task. Give each image a different id.")
    _, classes, counts = np.unique(labels, return_inverse=True, return_counts=True)
    self._arrange(setting, counts)
    if rehearsal.counts_only():  # No episode is drawn, and SlimageNet64 has 2.4 GB.
      rehearsal.holds(int(np.prod(shape)) * tf.as_dtype(images.dtype).size)
      images = images[:1]
    with tf.device("CPU:0"):
      self.images = tf.convert_to_tensor(images)
      self._classes = (tf.constant(classes, tf.int64),) if with_classes else ()
    # By class, then by id (a number, if there are none).
    order = np.argsort(labels, kind="stable") if ids is None else np.lexsort((self._ids, labels))
    root = seeds_lib.derive(seed, "episodes", data, split)
    self._source = EpisodeSource(
        order.astype(np.int32), (np.cumsum(counts) - counts).astype(np.int32),
        counts.astype(np.int32), *(np.uint64(sampling.root_seed(root, purpose).numpy())
                                   for purpose in (_CLASSES, _IMAGES)))

  def _arrange(self, setting: task_types.Setting, counts: np.ndarray) -> None:
    source = f"Split {self._split!r} of {self._data or 'the images'}"
    self.setting = setting
    self._layout = episode_conventions.layout(self.convention, setting, counts, source)
    self.labels, self.num_support = self._layout.labels.astype(np.int64), self._layout.num_support
    self.num_labels, self.fallback = self._layout.num_labels, self._layout.fallback
    if self.fallback:
      logging.info("%s: %s", source, self.fallback)

  def resized(self, setting: task_types.Setting) -> Episodes:
    """Episodes of another setting over the same images, which both share."""
    made = copy.copy(self)
    made._arrange(setting, self._source.counts)
    return made

  def __repr__(self) -> str:
    one = self.setting
    return (f"Episodes({reprlib.repr(self._data)}, {reprlib.repr(self._split)}, {one.way}-way "
            f"{one.shot}-shot, {one.num_support_sets} support sets, {len(self._ids):,} images, "
            f"{self.num_classes} classes)")

  @property
  def num_classes(self) -> int:
    """Number of classes that episodes are drawn from."""
    return len(self._source.counts)

  @property
  def least_classes(self) -> int:
    """Number of classes that an episode needs at least."""
    return int(self._layout.draws.pool_size)

  def of_classes(self, classes: np.ndarray, split: str) -> Episodes:
    """Episodes of some of the classes, by their places; `split` is their name."""
    ends = self._source.first + self._source.counts
    parts = [self._source.order[self._source.first[place]:ends[place]] for place in classes]
    chosen = np.concatenate(parts)
    return Episodes(tf.gather(self.images, chosen), np.repeat(classes, list(map(len, parts))),
                    self.setting, ids=self._ids[chosen], data=self._data, split=split,
                    seed=self._seed, convention=self.convention, with_classes=self.with_classes)

  def indices(self, first: int, count: int) -> np.ndarray:
    """Indices of the images of episodes first ... first + count - 1: [count, S * way * shot + T].

    Support images come first, set after set; `labels` are theirs.
    """
    numbers = np.arange(first, first + count, dtype=np.int64)
    return draw(
        NUMPY, self._source, self._layout.draws, numbers).astype(np.int64)

  def digest(self, count: int) -> str:
    """SHA-256 over the first `count` episodes: a line `[ids, labels]` of JSON for each."""
    sha = hashlib.sha256()
    for row in self._ids[self.indices(0, count)]:
      sha.update(json.dumps([row.tolist(), self.labels.tolist()]).encode() + b"\n")
    return sha.hexdigest()

  def check_transform(self, transform: examples.Transform) -> None:
    """Refuses a transform of features for images, of images for features, or of another width."""
    shape, wanted = tuple(self.images.shape[1:]), tuple(transform.shape)
    if len(shape) == 3 and len(wanted) == 1:
      raise refusals.RefusedError(
          f"The transform makes feature vectors {wanted}, but these episodes are of images. Give "
          "the learner a transform of images, for example image_ops.Plain, or the episodes "
          "features: cfsl_data.episodes.features = 'FOLDER'.")
    if len(shape) == 1 and wanted != shape:
      raise refusals.RefusedError(
          f"The episodes are of features of width {shape[0]}, but the learner's transform makes "
          f"examples {wanted}. Set it to feature_set.Features(size={shape[0]}).")

  def describe(self) -> dict[str, Any]:
    """The part of a record that describes the tasks."""
    task = self.setting
    return {"task_type": task.type_name, "way": task.way, "shot": task.shot,
            "targets": task.targets, "num_support_sets": task.num_support_sets,
            "class_change_interval": task.class_change_interval, "overwrite": task.overwrite,
            "num_classes": self.num_labels, "convention": self.convention,
            "fallback": self.fallback, "data": self._data, "split": self._split,
            "episode_seed": self._seed}

  def episode(self, index: int) -> Episode | EpisodeWithClasses:
    """Episode `index` as NumPy arrays."""
    episode = self.gather(tf.constant(self.indices(index, 1)))
    return type(episode)(*(part[0].numpy() for part in episode))

  def examples(self, most: int) -> tuple[list[str], list[np.ndarray], dict[str, int]]:
    """A few images of episode 0, for pages: their ids, uint8 [H, W, C] each, and given labels.

    A support image of each of the first `most` labels comes first, then as many target images of
    these labels, evenly spaced. Only the support images' labels are given.
    """
    episode = self.episode(0)
    labels = episode.support_labels.reshape(-1)
    firsts = np.unique(labels, return_index=True)[1][:most]
    places = np.flatnonzero(np.isin(episode.target_labels, labels[firsts]))
    places = places[np.unique(np.linspace(0, len(places) - 1, min(most, len(places))).astype(int))]
    support = episode.support_images.reshape(-1, *episode.target_images.shape[1:])
    given = {f"episode 0, support {i}": int(labels[i]) for i in firsts}
    return ([*given, *(target_id(0, j) for j in places)],
            [*support[firsts], *episode.target_images[places]], given)

  @private_tensorflow.plain_data_functions()
  def batches(self, batch_size: int, *, first_index: int = 0, shard_index: int = 0,
              num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless batches of B episodes, in order from `first_index`, with static shapes.

    Args:
      batch_size: B, of each shard.
      first_index: the first episode of all shards.
      shard_index, num_shards, shards_here: shard k takes every num_shards-th batch, from the k-th
        on; the batches of `shards_here` shards from `shard_index` on are returned.
    """
    dataset = self.place_batches(batch_size, first_index=first_index, shard_index=shard_index,
                                 num_shards=num_shards, shards_here=shards_here)

    dataset = traced_maps.mapped(
        dataset, _gathered, static=(self.setting.num_support_sets, self.num_support),
        tensors=(self.images, self.labels, self._classes))
    return dataset.prefetch(tf.data.AUTOTUNE)

  @private_tensorflow.plain_data_functions()
  def place_batches(self, batch_size: int, *, first_index: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """As `batches`, of the images' numbers, int32 [B, S * way * shot + T]; see `gather`."""
    if batch_size < 1 or first_index < 0:
      raise ValueError(f"batch_size={batch_size}, first_index={first_index}; a batch has at least "
                       "one episode, and the first episode is 0.")
    # glibc returns freed blocks above a threshold to the system, and each page of the next batch is
    # then a page fault: half of all time at 64 x 64 x 3. Freeing one block of just below 32 MiB
    # (never written, so it costs nothing) raises the threshold to its limit, so that the memory of
    # a freed batch serves the next one. With other libraries it has no effect.
    block = np.empty((32 << 20) - (64 << 10), np.uint8)
    del block
    length = len(self.labels)
    num_batches = max(1, _PLACES_AT_ONCE // (batch_size * length))

    draws = self._layout.draws
    dataset = tf.data.Dataset.counter(first_index, num_batches * batch_size)
    dataset = traced_maps.mapped(
        dataset, _drawn, static=(num_batches, batch_size, length, tuple(draws[:4])),
        tensors=(tuple(self._source), tuple(draws[4:]))).unbatch()
    if num_shards > shards_here:
      def is_here(number: tf.Tensor, _: tf.Tensor) -> tf.Tensor:
        return (number - shard_index) % num_shards < shards_here

      dataset = dataset.enumerate().filter(is_here).map(lambda _, chosen: chosen)
    return dataset

  def gather(self, chosen: tf.Tensor, images: tf.Tensor | None = None
             ) -> Episode | EpisodeWithClasses:
    """B episodes from the numbers of their images.

    Args:
      chosen: int [B, S * way * shot + T].
      images: a copy of `images` on another device; None: those on the CPU.
    """
    images = self.images if images is None else images
    return _gathered(self.setting.num_support_sets, self.num_support, chosen, images, self.labels,
                     self._classes)


def target_id(episode: int, target: int) -> str:
  """The id of an answer: episode i is always the same, so the two numbers make an id."""
  return f"episode {episode}, target {target}"


def _drawn(num_batches: int, batch_size: int, length: int, sizes: Sequence[Any], first: tf.Tensor,
           source: Sequence[Any], where: Sequence[Any]) -> tf.Tensor:
  """The images' numbers of the episodes from number `first` on, by batch."""
  numbers = first + tf.range(num_batches * batch_size, dtype=tf.int64)
  drawn = draw(GRAPH, EpisodeSource(*source),
                             episode_conventions.Draws(*sizes, *where), numbers)
  return tf.reshape(drawn, [num_batches, batch_size, length])


def _gathered(num_sets: int, num_support: int, chosen: tf.Tensor, images: tf.Tensor, labels: Any,
              classes: Sequence[tf.Tensor]) -> Episode | EpisodeWithClasses:
  """B episodes from the numbers of their images, [B, S * way * shot + T]; see `Episodes.gather`."""
  batch, num = chosen.shape[0], num_support
  labels = tf.ensure_shape(tf.tile(labels[None], [batch, 1]), chosen.shape)
  support = tf.reshape(chosen[:, :num], [batch, num_sets, num // num_sets])
  episode = Episode(
      byte_rows.gather(images, support), tf.reshape(labels[:, :num], support.shape),
      byte_rows.gather(images, chosen[:, num:]), labels[:, num:])
  if not classes:
    return episode
  known = tf.gather(classes[0], chosen)
  return EpisodeWithClasses(
      *episode, tf.reshape(known[:, :num], support.shape), known[:, num:])


def of(images: image_set.ImageSet, *, classes: Sequence[int | str] | None = None,
       way: int = 5, shot: int = 1, targets: int = 5, num_support_sets: int = 1,
       class_change_interval: int = 1, overwrite: bool = False, split: str = "", seed: int = 0,
       size: int | None = None, convention: str = episode_conventions.SPEC,
       with_classes: bool = False) -> Episodes:
  """Episodes over an image set, or over some of its classes.

  Args:
    images: of one class each.
    classes: labels or names of the classes to draw from, so that training and test episodes may
      come from one set; all if not given.
    way, shot, targets, num_support_sets, class_change_interval, overwrite: see
      `task_types.Setting`.
    split: a name for the records; the set's if not given.
    size: to which images are resized, if they differ in size.
    seed, convention, with_classes: see `Episodes`.
  """
  if not hasattr(images, "eval_batches"):
    raise ValueError(f"episodes.of was given {image_set.told(images)}; give one image set, made by "
                     "suite.images.from_arrays, from_dataset, from_directory, from_csv, "
                     "from_huggingface or from_tfds.")
  if images.kind != tasks.SINGLE_LABEL:
    raise ValueError(f"{images.name!r} is {images.kind}; episodes are of {tasks.SINGLE_LABEL} "
                     "images.")
  names, present = images.class_names or (), np.unique(images.labels).tolist()
  chosen = present if classes is None else [
      names.index(one) if isinstance(one, str) and one in names else one for one in classes]
  unknown = [one for one in chosen if one not in present]
  if unknown:
    raise ValueError(f"{images.name!r} has no image of the classes {unknown}; it has "
                     f"{[names[one] for one in present] if names else present}.")
  rows = np.flatnonzero(np.isin(images.labels, chosen))
  data = images.name if classes is None else f"{images.name} of {sorted(chosen)}"
  made = Episodes(
      images.pixels(size)[rows], images.labels[rows],
      task_types.Setting(way, shot, targets, num_support_sets, class_change_interval, overwrite),
      ids=images.ids[rows].tolist(), data=data, split=split or data, seed=seed,
      convention=convention, with_classes=with_classes)
  made.drawn = images, frozenset(map(int, chosen))
  return made


def check_classes(train: Episodes, test: Episodes, kind: str = "Training") -> None:
  """Refuses a class of training and test episodes that `of` made.

  Classes are compared by name, within one image set by number. `kind` names the former in messages,
  which may be those of validation.
  """
  if train.drawn is None or test.drawn is None:
    return
  (images, own), (tested, drawn) = train.drawn, test.drawn
  names, test_names = images.class_names, tested.class_names
  if names and test_names:
    shared: list[Any] = sorted({names[one] for one in own} & {test_names[one] for one in drawn})
  elif images is tested:
    shared = sorted(own & drawn)
  else:
    logging.warning("The classes of %s and %s are not compared, since not all have names. Give "
                    "names: images.with_class_names([...]).", images.name, tested.name)
    return
  if shared:
    raise ValueError(
        f"{kind} episodes of {images.name!r} and test episodes of {tested.name!r} both draw the "
        f"classes {class_lists.shown(shared)}, but few-shot classes are new when they are tested. "
        "Give different ones: episodes.of(images, classes=[...]).")


class EpisodeSource(NamedTuple):
  """The images of a split in the order of their classes, and the roots of its episodes' keys.

  Arrays, or tensors of them.

  Attributes:
    order: int32 [N], example numbers, class after class.
    first: int32 [C], the start of each class in `order`.
    counts: int32 [C], the images of each class.
    class_root: uint64 scalar.
    image_root: uint64 scalar.
  """

  order: Any
  first: Any
  counts: Any
  class_root: Any
  image_root: Any


class Operations(NamedTuple):
  """The functions that differ between NumPy and TensorFlow."""

  derive: Callable
  distinct: Callable
  take: Callable
  reshape: Callable
  transpose: Callable
  length: Callable


def draw(ops: Operations, source: EpisodeSource, layout: episode_conventions.Draws, numbers: Any
         ) -> Any:
  """The example numbers of the given episodes: int64 [M] -> int32 [M, L]."""
  num, pools, rows = numbers.shape[0], layout.num_pools, layout.num_rows
  keys = ops.derive(ops.derive(source.class_root, numbers)[:, None], np.arange(pools)[None])
  classes = ops.distinct(ops.reshape(keys, [-1]), ops.length(source.counts), layout.pool_size)
  # [k, M * P] -> [M, P * k], then the class of each row.
  classes = ops.reshape(ops.transpose(classes), [num, pools * layout.pool_size])
  classes = ops.reshape(ops.take(classes, layout.row_slot, axis=1), [-1])
  keys = ops.derive(ops.derive(source.image_root, numbers)[:, None], np.arange(rows)[None])
  images = ops.distinct(ops.reshape(keys, [-1]), ops.take(source.counts, classes), layout.row_size)
  images = images + ops.take(source.first, classes)
  # [m, M * G] -> [M, G * m], then the image of each place.
  images = ops.reshape(ops.transpose(images), [num, rows * layout.row_size])
  return ops.take(source.order, ops.take(images, layout.place, axis=1))


def _derive_numpy(seeds: Any, values: Any) -> np.ndarray:
  """`sampling.derive` on arrays."""
  bits = seeds + (np.asarray(values).astype(np.uint64) * _GOLDEN + _GOLDEN)
  for shift, factor in ((30, _MIX_1), (27, _MIX_2)):
    bits = (bits ^ (bits >> np.uint64(shift))) * factor
  return bits ^ (bits >> np.uint64(31))


def _distinct_numpy(keys: np.ndarray, sizes: Any, num: int) -> np.ndarray:
  """`num` different numbers below `sizes` for each key, in order: uint64 [R] -> int32 [num, R]."""
  draws, half = np.arange(num, dtype=np.int64)[:, None], np.uint64(32)
  left = (np.asarray(sizes, np.int64)[None] - draws if np.ndim(sizes) else sizes - draws)
  bits = _derive_numpy(keys[None], draws) >> half
  ranks = (bits * left.astype(np.uint64) >> half).astype(np.int32)
  for i in range(num - 2, -1, -1):
    ranks[i + 1:] += ranks[i + 1:] >= ranks[i]
  return ranks


def _derive_graph(seeds: Any, values: Any) -> tf.Tensor:
  return sampling.derive(tf.convert_to_tensor(seeds), values)


def _distinct_graph(keys: tf.Tensor, sizes: Any, num: int) -> tf.Tensor:
  """As `_distinct_numpy`, on tensors."""
  draws, half = tf.range(num, dtype=tf.int64)[:, None], tf.constant(32, tf.uint64)
  left = tf.cast(tf.cast(sizes, tf.int64) - draws, tf.uint64)
  bits = tf.bitwise.right_shift(sampling.derive(keys[None], draws), half)
  ranks = tf.cast(tf.bitwise.right_shift(bits * left, half), tf.int32)
  done = ranks[num - 1:]
  for i in range(num - 2, -1, -1):
    done = tf.concat([ranks[i:i + 1], done + tf.cast(done >= ranks[i], tf.int32)], axis=0)
  return done


NUMPY = Operations(_derive_numpy, _distinct_numpy, np.take, np.reshape, np.transpose, len)
GRAPH = Operations(_derive_graph, _distinct_graph, tf.gather, tf.reshape, tf.transpose,
                   lambda tensor: tf.shape(tensor, tf.int64)[0])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A finite labeled set of images, held by index, so that any batch of any epoch can be computed.

Every batch is a dictionary with static shapes:

  image  uint8 [B, S, S, 3]
  label  int64 [B] (single label) or uint8 [B, C] (multi label, one 1 for each class present)
  mask   bool [B], False on rows that pad the last batch
  id     string [B]

Image sets whose labels a learner must not see, for pretraining.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
import copy
import hashlib
from typing import Any

import numpy as np
import tensorflow as tf
from typing_extensions import Self

from suite.compute import user_code
from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_ops
from suite.data.images import image_store
from suite.data.images import packed_images
from suite.data.images import sampling
from suite.data.pipelines import traced_maps

DEFAULT_MEMORY_LIMIT_BYTES = 4 * 2**30

Ids = Sequence[str] | np.ndarray | None  # [N] strings; None: the indices.
_SHOWN = ("image", "mask")


class LabeledSet:
  """What sets of examples have in common: a name, a size, classes, and random subsets."""

  name: str
  size: int
  num_classes: int
  kind: str

  def __len__(self) -> int:
    return self.size

  def __getattr__(self, name: str) -> Any:
    if name.startswith("_"):  # copy and pickle look for these.
      raise AttributeError(name)
    raise examples.no_attribute(type(self).__name__, name)

  def __repr__(self) -> str:
    return (f"{type(self).__name__}({self.name!r}, {self.size} images, {self.num_classes} classes, "
            f"{self.kind})")

  def take(self, num: int, *, seed: Any) -> Any:
    """A random subset of `num` images in their old order; the set itself if it is not larger."""
    if num >= self.size:
      return self
    if num < 1:
      raise ValueError(f"Cannot take {num} images of {self.name!r}; take at least 1.")
    return self.subset(sampling.draw_without_replacement(self.size, num, seed))


class ImageSet(LabeledSet):
  """N labeled images; the module's docstring describes their batches.

  Attributes:
    name: for messages, e.g. "nevis/mnist train".
    kind: "single_label" or "multi_label".
    num_classes: C.
    labels: int64 [N], or uint8 [N, C] multi-hot.
    ids: str [N].
    class_names: C names in the order of the labels, by which sets are joined (`class_lists`);
      None: not known.
    version: stands for the images where runs are told apart, see `with_version`; None: their bytes.
  """

  version: str | None = None

  def __init__(self, name: str, store: image_store.Store, labels: Any, *, kind: str,
               num_classes: int, ids: Ids = None,
               class_names: class_lists.ClassNames = None) -> None:
    if isinstance(store, tf.data.Dataset):  # Its length is its number of batches.
      raise ValueError(f"ImageSet {name!r} was given a tf.data.Dataset; make it by "
                       "suite.images.from_dataset(dataset, name=...), which reads every example.")
    self.name = name
    self.kind = kind
    self.num_classes = num_classes
    self.ids = _checked_ids(name, ids, len(store))
    self.labels = checked_labels(name, labels, kind=kind, num_classes=num_classes, size=len(store))
    self.class_names = class_lists.checked(name, class_names, num_classes)
    self._store = store
    self._eval: tuple[Any, Any] = (None, None)
    self._resident: tuple[Any, Any] = (None, None)

  @classmethod
  def from_arrays(cls, name: str, images: np.ndarray, labels: Any, *, kind: str, num_classes: int,
                  ids: Ids = None, class_names: class_lists.ClassNames = None) -> ImageSet:
    """A set from images uint8 [N, H, W, 1 or 3]; ids default to the indices."""
    return cls(name, image_store.RawStore(np.asarray(images)), labels, kind=kind,
               num_classes=num_classes, ids=ids, class_names=class_names)

  @classmethod
  def from_encoded(cls, name: str, encoded: Sequence[bytes], labels: Any, *, kind: str,
                   num_classes: int, ids: Ids = None, class_names: class_lists.ClassNames = None,
                   memory_limit_bytes: int = DEFAULT_MEMORY_LIMIT_BYTES) -> ImageSet:
    """A set from PNG, JPEG, BMP or GIF strings of any size.

    Images of one shape that fit into the limit are decoded at once into one array.
    """
    names = _checked_ids(name, ids, len(encoded))
    store = image_store.best_store(encoded, name=name, ids=names,
                                   memory_limit_bytes=memory_limit_bytes)
    return cls(name, store, labels, kind=kind, num_classes=num_classes, ids=names,
               class_names=class_names)

  @property
  def size(self) -> int:  # type: ignore[override]
    """N."""
    return len(self._store)

  @property
  def store(self) -> image_store.Store:
    """The images without labels."""
    return self._store

  @property
  def images(self) -> np.ndarray:
    """All images as uint8 [N, H, W, C], as beside `labels`; `pixels` resizes them."""
    return self.pixels()

  def pixels(self, size: int | None = None) -> np.ndarray:
    """All images as uint8 [N, H, W, C]; resized to size x size and three channels, if given."""
    if size is None:
      if not isinstance(self._store, image_store.RawStore):
        raise ValueError(f"The images of {self.name!r} differ in size; give size=, to which they "
                         "are resized: images.pixels(size=64).")
      return self._store.pixels
    batches = self.eval_batches(min(256, self.size), transform=image_ops.Plain(size))
    return np.concatenate([b["image"].numpy()[b["mask"].numpy()] for b in batches])

  def few_pixels(self, indices: np.ndarray) -> list[np.ndarray]:
    """Some images as uint8 [H, W, 1 or 3], of any size."""
    store = self._store.take(np.asarray(indices, np.int64))
    if isinstance(store, image_store.RawStore):
      return list(store.pixels)
    if not isinstance(store, image_store.EncodedStore):
      return []
    return [tf.io.decode_image(one, expand_animations=False).numpy() for one in store.encoded]

  def digests(self) -> list[str]:
    """What tells each image from all others: of its file, or where it is held decoded, of pixels.
    """
    if isinstance(self._store, image_store.EncodedStore):
      found, kind = self._store.encoded.numpy().tolist(), "file"
    else:
      pixels, kind = self.few_pixels(np.arange(self.size)), "pixels"
      found = [repr(one.shape).encode() + one.tobytes() for one in pixels]
    return [f"{kind} {hashlib.sha256(one).hexdigest()[:32]}" for one in found]

  def split(self, share: float, *, seed: Any) -> tuple[ImageSet, ImageSet]:
    """(the rest, a random `share` of the images); both in their old order, no image in both."""
    num = num_in_share(self, share)
    chosen = sampling.draw_without_replacement(self.size, num, seed)
    return self.subset(np.setdiff1d(np.arange(self.size), chosen)), self.subset(chosen)

  def within(self, num_bytes: int, *, seed: Any) -> ImageSet:
    """As many images, in a random order, as take no more memory; the set itself if all of them do.

    With the same seed fewer bytes hold some of the images that more bytes hold.
    """
    sizes = self._store.num_bytes()
    if sizes.sum() <= num_bytes:
      return self
    order = np.random.default_rng(seed).permutation(self.size)
    num = int(np.searchsorted(np.cumsum(sizes[order]), num_bytes, side="right"))
    if not num:
      raise ValueError(f"{num_bytes} bytes hold no image of {self.name!r}, whose first takes "
                       f"{sizes[order[0]]}; allow more.")
    return self.subset(np.sort(order[:num]))

  def num_bytes(self) -> int:
    """The memory that the images take, encoded or as pixels."""
    return int(self._store.num_bytes().sum())

  def subset(self, indices: Any) -> Self:
    """The images at the given indices, in that order."""
    indices = np.asarray(indices, np.int64)
    return self._like(store=self._store.take(indices), labels=self.labels[indices],
                      ids=self.ids[indices])

  def _like(self, **changes: Any) -> Self:
    """A set made with other arguments."""
    made = type(self)(**{
        "name": self.name, "store": self._store, "labels": self.labels, "kind": self.kind,
        "num_classes": self.num_classes, "ids": self.ids, "class_names": self.class_names,
        **changes})
    made.version = self.version
    return made

  def with_version(self, version: str) -> ImageSet:
    """The set with a version, which stands for its images where runs are told apart.

    A run is resumed or read while its data is the same, by all bytes of its images. For large sets
    that takes long: with a version, name and version are compared in their place. Change it with
    the images.
    """
    made = copy.copy(self)
    made.version = str(version)
    return made

  def of_classes(self, classes: Any) -> ImageSet:
    """The images of some classes, which are numbered 0, 1, ... in the order given."""
    classes = np.asarray(classes, np.int64)
    chosen = self.subset(np.flatnonzero(np.isin(self.labels, classes)))
    order = np.argsort(classes)
    labels = order[np.searchsorted(classes[order], chosen.labels)]
    names = self.class_names and [self.class_names[label] for label in classes]
    return chosen._like(labels=labels, num_classes=len(classes), class_names=names)

  def with_class_names(self, class_names: class_lists.ClassNames) -> ImageSet:
    """The set with other names of its classes, in the order of the labels; None: without names.

    Labels stay. Names that are other numbers than the labels are not taken away.
    """
    return self._like(class_names=class_lists.replaced(self.name, self.class_names, class_names))

  def with_classes(self, class_names: Sequence[str]) -> ImageSet:
    """The set with its labels renumbered, by name, as places in a list of classes.

    Args:
      class_names: every class of the set, and others.
    """
    new = class_lists.places(self.name, self.class_names, class_names)
    labels = class_lists.renumbered(self.labels, self.kind, new, len(class_names))
    return self._like(labels=labels, num_classes=len(class_names), class_names=class_names)

  def check_transform(self, transform: examples.Transform) -> None:
    """Refuses a transform of other examples than those of the set."""
    if len(transform.shape) == 1:
      raise ValueError(f"{self.name!r} holds images, but the learner's transform is of features. "
                       "Give it a transform of images.")

  def train_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: examples.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless shuffled, augmented batches; a pure function of (seed, step).

    Args:
      batch_size: B, the global batch.
      seed: steers the order and the augmentation.
      transform: see `image_ops`.
      first_step: number of the first batch; first_step=s skips s batches.
      shard_index: the first replica whose slices are returned.
      num_shards: R; each element is one replica's B / R rows.
      shards_here: replicas on this host; elements come step by step, replica by replica.

    Returns:
      A data set of batches; each image comes once an epoch, for any R.
    """
    plan = sampling.TrainPlan(
        size=self.size, batch_size=batch_size, seed=(seed[0], seed[1]), first_step=first_step,
        shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
    return self._batches(plan, transform)

  def on_device(self, device: str, transform: examples.Transform, fits: Callable[[int], bool]
                ) -> Callable[[dict[str, tf.Tensor]], dict[str, tf.Tensor]] | None:
    """The images on a device, to complete batches of places; the latest is kept.

    Args:
      device: its name. transform: of the batches.
      fits: fits(bytes): whether the device holds the images, with those of other sets.

    Returns:
      None if the images do not fit, or are decoded as they are used, or have several sizes and a
      transform of whole images.
    """
    key, store = (device, transform), self._store
    if self._resident[0] == key:
      return self._resident[1]
    self._resident = (None, None)
    if isinstance(store, image_store.RawStore):
      pixels = store.images
    elif isinstance(store, packed_images.PackedStore) and image_ops.cropping(transform) is not None:
      pixels = store.pixels
    else:
      return None
    if not fits(int(tf.size(pixels, tf.int64)) + image_store.resident_bytes()):
      return None
    resident: Any = (packed_images.ResidentPixels(store, transform, device)
                     if isinstance(store, packed_images.PackedStore) else
                     image_store.ResidentImages(pixels, transform, device))
    image_store.count_resident(resident, int(tf.size(pixels, tf.int64)))
    self._resident = (key, resident)
    return resident

  def place_batches(self, batch_size: int, *, seed: tuple[int, int], first_step: int = 0
                    ) -> tf.data.Dataset:
    """As `train_batches` for one device, with "place" and "seed" in place of images and ids."""
    plan = sampling.TrainPlan(
        size=self.size, batch_size=batch_size, seed=(seed[0], seed[1]), first_step=first_step)
    with tf.device("CPU:0"):
      labels = tf.constant(self.labels)
    batches = traced_maps.mapped(image_store.numbers(None), _place_batch, static=(plan.form,),
                                 tensors=(plan.numbers, labels))
    return batches.prefetch(tf.data.AUTOTUNE)

  def eval_batches(self, batch_size: int, *, transform: examples.Transform
                   ) -> tf.data.Dataset:
    """All images once, in order; the last batch is padded and its mask says so."""
    key = (batch_size, transform)
    # Kept: tracing takes longer than reading a small set, and a set is evaluated repeatedly.
    if self._eval[0] != key:
      plan = sampling.EvalPlan(size=self.size, batch_size=batch_size)
      self._eval = (key, self._batches(plan, transform))
    return self._eval[1]

  def _batches(self, plan: sampling.Plan, transform: examples.Transform
               ) -> tf.data.Dataset:
    self.check_transform(transform)
    with tf.device("CPU:0"):
      labels = tf.constant(self.labels)
      ids = tf.constant(self.ids.astype(object), tf.string)

    batches = self._store.batches(plan, transform, _described, (labels, ids))
    return batches.prefetch(tf.data.AUTOTUNE)


def _described(plan: sampling.Form, columns: image_store.Columns, indices: tf.Tensor,
               valid: tf.Tensor) -> dict[str, tf.Tensor]:
  """Labels, mask and ids of a batch."""
  labels, ids = columns
  label, name = tf.gather(labels, indices), tf.gather(ids, indices)
  if not plan.is_training:
    keep = valid if label.shape.rank == 1 else valid[:, None]
    label = tf.where(keep, label, tf.zeros_like(label))
    name = tf.where(valid, name, "")
  return {"label": tf.ensure_shape(label, [plan.rows] + labels.shape[1:]),
          "mask": tf.ensure_shape(valid, [plan.rows]),
          "id": tf.ensure_shape(name, [plan.rows])}


def _place_batch(plan: sampling.Form, element: tf.Tensor, plan_numbers: Any, labels: tf.Tensor
                 ) -> dict[str, tf.Tensor]:
  """Places, seeds, labels and mask of a batch."""
  places, seeds, valid = plan.at(plan_numbers, element, tf.range(plan.rows, dtype=tf.int64))
  return {"place": places, "seed": seeds, "label": tf.gather(labels, places), "mask": valid}


def told(given: Any) -> str:
  """What stands in the place of an image set, for messages: "dict of train, test", "list of 3"."""
  kind = type(given).__name__
  if isinstance(given, Mapping):
    return f"{kind} of {', '.join(map(str, given))}"
  return f"{kind} of {len(given)}" if isinstance(given, (list, tuple)) else kind


def num_in_share(images: examples.TrainableSet, share: float) -> int:
  """Number of images in a share of a set; an error if either side is empty."""
  num = round(share * images.size)
  if not 0 < num < images.size:
    raise ValueError(f"A share of {share} of the {images.size} images of {images.name!r} is {num}; "
                     "choose one that leaves at least one image on either side.")
  return num


def stratified_split(images: examples.ExampleSet, share: float, *, seed: int
                     ) -> tuple[examples.ExampleSet, examples.ExampleSet]:
  """Returns (the rest, a `share` of the images), both in their old order, no image in both.

  Each class has its share of the images. scikit-learn's stratified splits refuse a class of one
  image, and fewer images than classes on either side, both of which occur here.

  Raises:
    ValueError: for images with several labels, and for a share that leaves one side empty.
  """
  if images.kind != tasks.SINGLE_LABEL:
    raise ValueError(f"{images.name!r} is {images.kind}; a split by class needs "
                     f"{tasks.SINGLE_LABEL} images. Take its own `split`.")
  chosen = stratified_draw(images.labels, num_in_share(images, share), seed)
  rest = np.setdiff1d(np.arange(images.size), chosen)
  return images.subset(rest), images.subset(chosen)


def stratified_draw(labels: np.ndarray, num: int, seed: int) -> np.ndarray:
  """Draws `num` of N indices, sorted; a class of n images has num n / N of them, rounded.

  The classes that are rounded up are those with the largest remainders; equal ones are drawn. Each
  class leaves at least one image, as long as there are `num` others.

  Args:
    labels: int [N].
    num: less than N.
    seed: of the draws.
  """
  rng = np.random.default_rng(seed)
  classes, places, counts = np.unique(labels, return_inverse=True, return_counts=True)
  quotas = num * counts / len(labels)
  taken = np.floor(quotas + 1e-9).astype(np.int64)
  order = rng.permutation(len(classes))
  order = order[np.argsort(-np.round(quotas - taken, 9)[order], kind="stable")]
  for limit in (counts - 1, counts):
    taken = np.minimum(taken, limit)
    while taken.sum() < num and (taken < limit).any():
      free = order[taken[order] < limit[order]]
      taken[free[:num - taken.sum()]] += 1
  members = [rng.permutation(np.flatnonzero(places.reshape(-1) == c)) for c in range(len(classes))]
  return np.sort(np.concatenate([m[:k] for m, k in zip(members, taken)]))


def checked_labels(name: str, labels: Any, *, kind: str, num_classes: int, size: int) -> np.ndarray:
  """Labels as int64 [N] or uint8 [N, C]; an error that describes them if they are neither."""
  if labels is None:
    raise ValueError(f"{name!r} has no labels. Give {size} labels to learn and to test, or "
                     "pretrain on the images without labels (pretrain.run).")
  labels = np.asarray(labels)
  if kind not in tasks.KINDS:
    raise ValueError(f"{name!r} has kind {kind!r}; allowed are {', '.join(tasks.KINDS)}.")
  is_single = kind == tasks.SINGLE_LABEL
  wanted, limit = ((size,), num_classes) if is_single else ((size, num_classes), 2)
  if labels.shape != wanted:
    raise ValueError(f"Labels of {name!r} ({kind}) have shape {labels.shape}, expected {wanted}.")
  unlabelled = int((labels == -1).sum()) if is_single else 0
  if unlabelled:
    part = "" if unlabelled == size else " in part"
    raise ValueError(
        f"{name!r} is unlabelled{part}: {unlabelled} of {size} labels are -1, which stands for no "
        "label. Leave these images out, or take another split: those for a competition's test "
        "often have no labels.")
  if labels.min() < 0 or labels.max() >= limit:
    hint = (" -1 stands for no label: leave these images out, or take another split."
            if labels.min() == -1 else " Give num_classes, or class_names, of all classes."
            if is_single and labels.min() >= 0 else "")
    raise ValueError(f"Labels of {name!r} ({kind}) run from {labels.min()} to {labels.max()}; "
                     f"allowed are 0..{limit - 1}.{hint}")
  return labels.astype(np.int64 if is_single else np.uint8)


def _checked_ids(name: str, ids: Ids, size: int) -> np.ndarray:
  if size == 0:
    raise ValueError(f"{name!r} has no images. Ask for a split or a task that has some.")
  ids = np.asarray([str(i) for i in (range(size) if ids is None else ids)])
  if ids.shape != (size,):
    raise ValueError(f"{name!r} has {size} images but {len(ids)} ids.")
  unique, counts = np.unique(ids, return_counts=True)
  if len(unique) < size:
    raise ValueError(f"{name!r} has id {str(unique[np.argmax(counts)])!r} more than once; "
                     "predictions are told apart by their ids, so each needs its own.")
  return ids


class Unlabelled:
  """A view of an image set without its labels and ids."""

  def __init__(self, images: examples.TrainableSet) -> None:
    self.name, self.size = f"{images.name}, unlabelled", images.size
    self._images = images

  def __len__(self) -> int:
    return self.size

  def __repr__(self) -> str:
    return f"Unlabelled({self.name!r}, {self.size} images)"

  def __getattr__(self, name: str) -> Any:
    if name.startswith("_"):  # copy and pickle look for these.
      raise AttributeError(name)
    raise AttributeError(f"{self.name!r} has no {name!r}; it has name, size and train_batches. To "
                         "learn from labels, run pretrain.run with labelled=True.")

  def train_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: examples.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Batches {"image", "mask"} in the order, and with the augmentation, of the labeled set."""
    batches = self._images.train_batches(
        batch_size, seed=seed, transform=transform, first_step=first_step,
        shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
    return batches.map(user_code.mapped(lambda batch: {key: batch[key] for key in _SHOWN}))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contracts of labeled sets, and of how a learner wants their examples to be prepared.

`suite.data.images` implements labeled sets for images in memory, images on disk and feature
vectors, and has the transforms.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:  # Commands read contracts without the seconds of their imports.
  import numpy as np
  import tensorflow as tf


def no_attribute(kind: str, name: str) -> AttributeError:
  """The error of a set of examples that has no attribute `name`; it says how examples are read."""
  return AttributeError(
      f"{kind} has no {name!r}. In memory: .images (or .features) and .labels. Batches "
      "in random order, {'image', 'label'}: .train_batches(32, seed=context.seeds.pair('order'), "
      "transform=self.transform).take(100); without take they never end. Each example once: "
      ".eval_batches(32, transform=self.transform), whose 'mask' is False on padding.")


class Transform(Protocol):
  """Prepares examples, inside input pipelines and inside compiled steps.

  It is immutable and hashable, since batches are kept by their transform. Images come with B = 1
  from a pipeline whose images differ in size. A transform whose training examples show more of an
  image than `evaluate` does has a property `storage`, too, a `Storage`.
  """

  @property
  def size(self) -> int:
    """S, the height and width of prepared images; D for features."""

  @property
  def shape(self) -> tuple[int, ...]:
    """Shape of one prepared example: (S, S, 3), or (D,) for features."""

  def train(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Training examples [B, S, S, 3] from images [B, H, W, 3]; random draws follow seeds [B]."""

  def evaluate(self, images: tf.Tensor) -> tf.Tensor:
    """Examples [B, S, S, 3] as they are validated, tested and stored."""


class Cropping:
  """Base class of transforms that resample boxes of each image, and change the pixels after that.

  `train(images, seeds)` equals `changed` of the boxes `train_boxes(sides, seeds)`, resampled by
  `image_ops.resample`, and `evaluate(images)` equals the boxes `evaluate_boxes(sides)`. A pipeline
  then draws the boxes of a batch at once and decodes no more of an image than its boxes need. A
  subclass that overrides `train` or `evaluate` alone is applied to whole images.
  """

  @property
  def is_cropping(self) -> bool:
    """False: the transform is applied to whole images."""
    return True

  def train_boxes(self, sides: tf.Tensor, seeds: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor | None]:
    """Boxes and flips of training examples; see `image_ops.resample`.

    Args:
      sides: height and width, int32 [B, 2], or [2] of all images.
      seeds: uint64 [B].

    Returns:
      float64 [B, 4] and bool [B], or None: no image is mirrored; [B, V, 4] and [B, V] if the
      transform makes V views of an image, in rows of its shape (V, S, S, 3).
    """
    raise NotImplementedError

  def evaluate_boxes(self, sides: tf.Tensor) -> tf.Tensor:
    """Boxes float64 [B, 4] of images that are evaluated, of sides int32 [B, 2]."""
    raise NotImplementedError

  def changed(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Training examples from resampled boxes [B, *shape] and seeds [B]."""
    del seeds
    return images


class Storage:
  """How a learner keeps the examples that its compiled steps gather; immutable and hashable.

  Attributes:
    holds_numbers: whether the examples are indices, int64 [], of data that is stored elsewhere.
    is_on_disk: whether examples are written by `keep`, as rows of `kept_form`.
  """

  holds_numbers = False
  is_on_disk = False

  @property
  def shape(self) -> tuple[int, ...]:
    """Shape of one stored example."""
    raise NotImplementedError

  def store(self, images: tf.Tensor) -> tf.Tensor:
    """Stored examples [B, ...] from images [B, H, W, 3], of the type of prepared ones."""
    raise NotImplementedError

  def train(self, rows: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """Augments stored examples, with seeds [B], as the transform's `train` does images."""
    raise NotImplementedError

  def evaluate(self, rows: tf.Tensor) -> tf.Tensor:
    """Prepares stored examples as the transform's `evaluate` does images."""
    raise NotImplementedError

  def kept_form(self) -> Storage:
    """The storage whose rows are kept."""
    return self

  def keep(self, batches: Iterator[np.ndarray]) -> np.ndarray:
    """Writes stored examples, in batches [n, ...]; returns their numbers, int64 [N]."""
    raise NotImplementedError


class TwoViews(Transform, Protocol):
  """A transform that augments an image in several ways, as contrastive pretraining needs it."""

  def view(self, number: int) -> Transform:
    """The transform with the random draws of one view."""


class Batches(Protocol):
  """A finite iterable of batches, such as a `tf.data.Dataset`; it can be iterated again."""

  @property
  def element_spec(self) -> Any:
    """The `tf.TensorSpec` of each entry of a batch."""

  def __iter__(self) -> Iterator[dict[str, tf.Tensor]]:
    """Batches {"image", "label", "mask", "id"}."""


class TrainableSet(Protocol):
  """N examples to be trained on, labeled or not."""

  @property
  def name(self) -> str:
    """For messages."""

  @property
  def size(self) -> int:
    """N."""

  def train_batches(self, batch_size: int, *, seed: tuple[int, int],
                    transform: Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Endless shuffled batches; see `suite.data.images.image_set.ImageSet.train_batches`."""


class ExampleSet(TrainableSet, Protocol):
  """N labeled examples of C classes."""

  @property
  def kind(self) -> str:
    """One of `tasks.KINDS`."""

  @property
  def num_classes(self) -> int:
    """C."""

  @property
  def labels(self) -> np.ndarray:
    """int64 [N], or uint8 [N, C] multi-hot."""

  @property
  def ids(self) -> np.ndarray:
    """str [N], all different."""

  @property
  def class_names(self) -> tuple[str, ...] | None:
    """C names in the order of the labels; None: not known."""

  def with_classes(self, class_names: Sequence[str]) -> ExampleSet:
    """The set with its labels renumbered, by name, as places in a list of classes."""

  def eval_batches(self, batch_size: int, *, transform: Transform) -> Batches:
    """All examples once, in order; the last batch is padded and its mask says so."""

  def take(self, num: int, *, seed: Any) -> ExampleSet:
    """A random subset of `num` examples; the set itself if it is not larger."""

  def split(self, share: float, *, seed: Any) -> tuple[ExampleSet, ExampleSet]:
    """(the rest, a `share` of the examples); no example is in both."""

  def subset(self, indices: Any) -> ExampleSet:
    """The examples at the given indices, in that order."""

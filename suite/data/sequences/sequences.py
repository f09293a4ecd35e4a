# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sequences of single samples (FLUID): x_t is delivered, a prediction is due, then y_t is revealed.

Classes below `num_base_classes` are known from pretraining; the others are met in the sequence.
Labels are given out by `reveal` only, and only when they are due: after the answer to their
own sample, or some steps later where labels are delayed.
"""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Sequence as Strings
from types import MappingProxyType

import numpy as np

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import class_lists
from suite.data.images import image_set


class LabelNotDueError(LookupError):
  """A label was asked for before it was due."""


class Sequence:
  """T samples in order; a label is given out only after its sample.

  Args:
    images: uint8 [T, H, W, 3]; or numbers of samples, int64 [T], of which the learners' transform
      makes images (`suite.data.published`).
    labels: [T], 0..num_classes-1.
    ids: [T], each its own.
    num_base_classes, num_classes: see below; the largest label plus one if the latter is not given.
    segments: int [T], the part of a non-stationary sequence that each sample belongs to.
    delays: int [T], steps between a sample and its label; 0: right after the answer.
    codes_folder: where codes that no learner changes are kept for others; None: nowhere.
    class_names: names of the classes in the order of the labels; None: not known.
    left_out: names of further samples by class, whose images are missing.

  Attributes:
    num_base_classes: classes 0..num_base_classes-1 are the base classes.
    num_classes: base and novel classes together.
    ids: str [T].
    segments: int64 [T].
    due: int64 [T], the step after whose answer each label is revealed.
    order: int64 [T], samples in the order in which their labels come.
    is_immediate: whether every label comes right after its sample's answer.
    codes_folder, class_names, left_out: see above.
  """

  def __init__(self, images: np.ndarray, labels: np.ndarray, ids: Strings[str],
               num_base_classes: int, num_classes: int | None = None, *,
               segments: np.ndarray | None = None, delays: int | np.ndarray = 0,
               codes_folder: str | None = None,
               class_names: class_lists.ClassNames = None,
               left_out: Mapping[str, Strings[str]] = MappingProxyType({})):
    if not len(images) == len(labels) == len(ids) or not len(ids):
      raise ValueError(f"Got {len(images)} images, {len(labels)} labels and {len(ids)} ids; "
                       "a sequence has as many of each, and at least one.")
    self.num_base_classes = num_base_classes
    self.num_classes = int(np.max(labels)) + 1 if num_classes is None else num_classes
    self.ids = np.asarray(ids)
    self._images, self._labels = images, np.asarray(labels, np.int64)
    self.segments = np.zeros(len(ids), np.int64) if segments is None else np.asarray(segments)
    self.due = np.arange(len(ids)) + delays
    self.order = np.argsort(self.due, kind="stable")
    self._due = self.due[self.order]
    self.is_immediate = bool(np.all(self.due == np.arange(len(ids))))
    self._num_delivered = 0
    self.codes_folder, self.left_out = codes_folder, left_out
    self.class_names = class_lists.checked("the sequence", class_names, self.num_classes)
    low, high = int(np.min(self._labels)), int(np.max(self._labels))
    if low < 0 or high >= self.num_classes:
      raise ValueError(f"Labels run from {low} to {high}, but the sequence is declared to have "
                       f"{self.num_classes} classes; allowed are 0..{self.num_classes - 1}. Map "
                       "the labels, or declare more classes.")
    if not 0 <= self.num_base_classes <= self.num_classes:
      raise ValueError(f"{self.num_base_classes} of {self.num_classes} classes are declared base "
                       "classes; allowed are 0 to all of them.")
    names, counts = np.unique(self.ids, return_counts=True)
    if len(names) < len(self.ids):
      raise ValueError(f"Id {str(names[np.argmax(counts)])!r} stands {np.max(counts)} times in the "
                       "sequence; each sample comes once and has a different id.")
    if np.min(delays) < 0 or len(self.segments) != len(self):
      raise ValueError(f"Got delays from {np.min(delays)} and {len(self.segments)} segments; a "
                       f"label comes 0 or more steps late, and {len(self)} samples have as many "
                       "segments.")

  def __len__(self) -> int:
    return len(self._images)

  def __repr__(self) -> str:
    return (f"Sequence({len(self):,} samples, {self.num_classes} classes, "
            f"{self.num_base_classes} of them base classes)")

  def delayed(self, delays: int | np.ndarray) -> Sequence:
    """The same sequence, with nothing delivered yet and other delays of its labels."""
    return Sequence(self._images, self._labels, self.ids.tolist(), self.num_base_classes,
                    self.num_classes, segments=self.segments, delays=delays,
                    codes_folder=self.codes_folder, class_names=self.class_names,
                    left_out=self.left_out)

  def images(self, start: int, stop: int) -> np.ndarray:
    """Samples start..stop-1, [B, ...], to prepare ahead; they are not delivered by it."""
    return self._images[start:stop]

  def few_pixels(self, indices: np.ndarray) -> list[np.ndarray]:
    """Some samples as uint8 [H, W, 1 or 3]; [] if the samples are no such images."""
    found = [np.asarray(self._images[int(i)]) for i in indices]
    is_pixels = found[0].dtype == np.uint8 and found[0].ndim == 3 and found[0].shape[-1] in (1, 3)
    return found if is_pixels else []

  def deliver(self, t: int) -> np.ndarray:
    """Sample t; it and all samples before it count as delivered."""
    if not 0 <= t < len(self):
      raise IndexError(f"Sample {t} of a sequence of {len(self)}; the first is 0.")
    self._num_delivered = max(self._num_delivered, t + 1)
    return self._images[t]

  def rewind(self, num: int) -> None:
    """Only the first `num` samples count as delivered; what was computed ahead is discarded."""
    self._num_delivered = min(self._num_delivered, num)

  def reveal(self, t: int) -> int:
    """The label of sample t, once that has been delivered and the delay is over."""
    if not 0 <= t < len(self) or self.due[t] >= self._num_delivered:
      late = self.due[t] - t if 0 <= t < len(self) else 0
      raise LabelNotDueError(
          f"The label of sample {t} is revealed after the sample is delivered"
          f"{f', {late} steps later' if late else ''}; {self._num_delivered} samples have been "
          "delivered so far. Ask for it after the answer is given.")
    return int(self._labels[t])

  def reveal_next(self, start: int, stop: int) -> np.ndarray:
    """Labels of samples order[start:stop], which must all be due: int64 [M]."""
    if stop > start:
      self.reveal(int(self.order[stop - 1]))  # The last to come; raises if it is not due.
    return self._labels[self.order[start:stop]]

  def num_revealed(self, num_answered: int) -> int:
    """Number of labels revealed after `num_answered` answers: those of samples order[:this]."""
    return int(np.searchsorted(self._due, num_answered))

  def revealed_by(self, start: int, stop: int) -> np.ndarray:
    """Number of labels revealed after each of the steps start..stop-1, int64 [B]."""
    return np.searchsorted(self._due, np.arange(start + 1, stop + 1))

  def step_of(self, num_revealed: int) -> int:
    """The step after which `num_revealed` labels are revealed; len(self) if it is after the end."""
    return int(self._due[num_revealed - 1]) if num_revealed <= len(self) else len(self)

  def truth(self, start: int, stop: int) -> np.ndarray:
    """Labels of delivered samples, due or not, [B]; for scoring, not for learners."""
    if stop > self._num_delivered:
      raise LabelNotDueError(f"Sample {stop - 1} cannot be scored yet; {self._num_delivered} "
                              "samples have been delivered so far.")
    return self._labels[start:stop]

  def class_counts(self) -> np.ndarray:
    """Images of each class in the whole sequence, [C]; for scoring (head, tail), not learners."""
    return np.bincount(self._labels, minlength=self.num_classes)


def of(images: image_set.ImageSet, *, num_base_classes: int | None = None,
       num_samples: int | None = None, shuffle: bool = True, seed: int = 0,
       size: int | None = None, base: examples.ExampleSet | None = None) -> Sequence:
  """A sequence of the images of a set; classes below `num_base_classes` are known before.

  Args:
    images: of one class each. The base classes' training images are another set, given to
      `fluid.run` as base. Where both have names of classes, these are joined by name; else base has
      the same number of classes as the sequence.
    num_base_classes: see `Sequence`; if not given, the number of classes of `base`, or 0.
    num_samples: length of a long-tailed choice, see `long_tailed`; None: all images.
    shuffle: whether all images come in a random order; otherwise in that of the set.
    seed: of the choice and the order.
    size: to which images are resized, if they differ in size.
    base: the base classes' training images. Their classes, found by name, become the first ones of
      the sequence, and its other classes follow in their order.
  """
  if not hasattr(images, "eval_batches"):
    raise ValueError(f"sequences.of was given {image_set.told(images)}; give one image set, made "
                     "by suite.images.from_arrays, from_dataset, from_directory, from_csv, "
                     "from_huggingface or from_tfds.")
  if images.kind != tasks.SINGLE_LABEL:
    raise ValueError(f"{images.name!r} is {images.kind}; a sequence is of {tasks.SINGLE_LABEL} "
                     "images.")
  if base is not None:
    if class_lists.joined([base, images], "sequences.of") is None:
      raise ValueError(f"{base.name!r} and {images.name!r} have no names of classes by which the "
                       "base classes are found. Give both class_names, or leave base out here and "
                       "give num_base_classes.")
    _, images = class_lists.aligned([base, images], "sequences.of")
    if num_base_classes not in (None, base.num_classes):
      raise ValueError(f"num_base_classes={num_base_classes}, but base {base.name!r} has "
                       f"{base.num_classes} classes. Leave num_base_classes out.")
    num_base_classes = base.num_classes
  order = np.arange(images.size)
  if num_samples is not None:
    order = long_tailed(images.labels, num_samples, seed=seed)
  elif shuffle:
    order = np.random.default_rng([seed, 301]).permutation(images.size)
  return Sequence(images.pixels(size)[order], images.labels[order], images.ids[order].tolist(),
                  num_base_classes or 0, images.num_classes, class_names=images.class_names)


def delays(num: int, delay: int | tuple[int, int], seed: tuple[int, int]) -> np.ndarray:
  """The delays of labels in steps, [num]: always `delay`, or drawn from (least, most)."""
  least, most = (delay, delay) if isinstance(delay, int) else delay
  if not 0 <= least <= most:
    raise ValueError(f"A label delay of {delay}; give a number of steps, 0 or more, or (least, "
                     "most) of a random one.")
  return np.random.default_rng(seed).integers(least, most + 1, num)


def zipf_mandelbrot_counts(num_classes: int, total: int, *, offset: float = 2.0) -> np.ndarray:
  """`total` samples over ranks 1..C in proportion to 1 / (offset + rank), [C], none empty.

  FLUID's sequences follow this law with offset 25 for 1,000 classes.
  """
  if total < num_classes:
    raise ValueError(f"{total} samples are too few for {num_classes} classes; each needs one.")
  weights = 1.0 / (offset + np.arange(1, num_classes + 1))
  exact = weights / weights.sum() * (total - num_classes)
  counts = np.floor(exact).astype(np.int64)
  largest = np.argsort(counts - exact, kind="stable")[:total - num_classes - counts.sum()]
  counts[largest] += 1
  return counts + 1


def long_tailed(labels: np.ndarray, total: int, *, seed: int) -> np.ndarray:
  """Indices of `total` labeled images, long-tailed and shuffled; rare classes are random."""
  rng = np.random.default_rng([seed, 300])
  classes = rng.permutation(np.unique(labels))
  chosen = []
  for label, count in zip(classes, zipf_mandelbrot_counts(len(classes), total)):
    available = np.flatnonzero(labels == label)
    if len(available) < count:
      raise ValueError(f"Class {label} has {len(available)} images, {count} are needed for a "
                       f"sequence of {total}. Ask for a shorter one.")
    chosen.append(rng.choice(available, count, replace=False))
  return rng.permutation(np.concatenate(chosen))

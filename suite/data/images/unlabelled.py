# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What pretraining is given: a portion of a long training, over images that may have no labels."""

from __future__ import annotations

from typing import Any, NamedTuple, Tuple

import tensorflow as tf

_SHOWN = ("image", "mask")


class Unlabelled:
  """An image set seen without its labels and ids; `train_batches` as of `ImageSet`."""

  def __init__(self, images: Any):
    self.name, self.size = f"{images.name}, unlabelled", images.size
    self._images = images

  def __len__(self) -> int:
    return self.size

  def __repr__(self) -> str:
    return f"Unlabelled({self.name!r}, {self.size} images)"

  def __getattr__(self, name: str) -> Any:
    if name.startswith("_"):  # What copy, pickle and the like look for.
      raise AttributeError(name)
    raise AttributeError(f"{self.name!r} has no {name!r}; it has name, size and train_batches. To "
                         "learn from labels, run pretrain.run with labelled=True.")

  def train_batches(self, batch_size: int, *, seed: Tuple[int, int], transform: Any,
                    **places: int) -> tf.data.Dataset:
    """Batches {"image", "mask"} in the order, and with the augmentation, of the labelled set."""
    batches = self._images.train_batches(
        batch_size, seed=seed, transform=transform, **places)
    return batches.map(lambda batch: {key: batch[key] for key in _SHOWN})


class Portion(NamedTuple):
  """Updates `first` to `first + updates - 1` of `total`, over `images`: an `ImageSet`, or one
  without labels."""

  images: Any
  first: int
  updates: int
  total: int

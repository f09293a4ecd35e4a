# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Image sets whose labels a learner must not see, for pretraining."""

from __future__ import annotations

from typing import Any, Tuple

import tensorflow as tf

from suite.contracts import examples
from suite.contracts import transform as transform_lib
from suite.contracts import user_code

_SHOWN = ("image", "mask")


class Unlabelled:
  """A view of an image set without its labels and ids."""

  def __init__(self, images: examples.TrainableSet):
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

  def train_batches(self, batch_size: int, *, seed: Tuple[int, int],
                    transform: transform_lib.Transform, first_step: int = 0, shard_index: int = 0,
                    num_shards: int = 1, shards_here: int = 1) -> tf.data.Dataset:
    """Batches {"image", "mask"} in the order, and with the augmentation, of the labeled set."""
    batches = self._images.train_batches(
        batch_size, seed=seed, transform=transform, first_step=first_step,
        shard_index=shard_index, num_shards=num_shards, shards_here=shards_here)
    return batches.map(user_code.mapped(lambda batch: {key: batch[key] for key in _SHOWN}))

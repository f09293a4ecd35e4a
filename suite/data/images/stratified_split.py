# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A validation split with each class's share of the images.

scikit-learn's stratified splits refuse a class of one image, and fewer images than classes on
either side, both of which occur here.
"""

from __future__ import annotations

import numpy as np

from suite.contracts import examples
from suite.contracts import tasks
from suite.data.images import image_set


def split(images: examples.ExampleSet, share: float, *, seed: int
          ) -> tuple[examples.ExampleSet, examples.ExampleSet]:
  """Returns (the rest, a `share` of the images), both in their old order, no image in both.

  Raises:
    ValueError: for images with several labels, and for a share that leaves one side empty.
  """
  if images.kind != tasks.SINGLE_LABEL:
    raise ValueError(f"{images.name!r} is {images.kind}; a split by class needs "
                     f"{tasks.SINGLE_LABEL} images. Take its own `split`.")
  chosen = draw(images.labels, image_set.num_in_share(images, share), seed)
  rest = np.setdiff1d(np.arange(images.size), chosen)
  return images.subset(rest), images.subset(chosen)


def draw(labels: np.ndarray, num: int, seed: int) -> np.ndarray:
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

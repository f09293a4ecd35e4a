# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The random splits of the NEVIS'22 reference.

They depend on the position of an example in its archive, while our splits depend on hashes of keys
(`division.py`). They exist for comparison with published numbers. The training images of two
counting data sets are permuted; those parts have exact sizes.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses

from tfds_builders import splits

# Part, as the reference names it (its draws go by the alphabet) -> our name of the split.
SPLITS = {splits.TRAIN: splits.TRAIN, splits.DEV: splits.DEV, "dev_test": splits.VALIDATION,
          splits.TEST: splits.TEST}
NAMES = tuple(SPLITS)


@dataclasses.dataclass(frozen=True)
class Multinomial:
  """Assigns the i-th example by the i-th draw of `RandomState(0).multinomial(1, p)`."""

  shares: tuple[tuple[str, float], ...]

  def assign(self, num_examples: int) -> list[str]:
    """Returns the part of each example, in the order of enumeration."""
    import numpy as np  # pylint: disable=g-import-not-at-top
    random = np.random.RandomState(0)  # The generator itself is what is reproduced.
    names = sorted(name for name, _ in self.shares)
    shares = [dict(self.shares)[name] for name in names]
    return [names[random.multinomial(1, shares).argmax()] for _ in range(num_examples)]

  @property
  def parts(self) -> tuple[str, ...]:
    return tuple(name for name, _ in self.shares)


@dataclasses.dataclass(frozen=True)
class Slices:
  """Consecutive ranges of the enumerated examples, such as TFDS's stored order.

  A range holds its share of the examples, rounded down; the last holds the rest.
  """

  shares: tuple[tuple[str, float], ...]

  def assign(self, num_examples: int) -> list[str]:
    """Returns the part of each example, in the order of enumeration."""
    found: list[str] = []
    for name, share in self.shares[:-1]:
      found += [name] * int(num_examples * share)
    return found + [self.shares[-1][0]] * (num_examples - len(found))

  @property
  def parts(self) -> tuple[str, ...]:
    return tuple(name for name, _ in self.shares)


@dataclasses.dataclass(frozen=True)
class Permuted:
  """A permutation by `default_rng(seed)`, cut at fractions of its length, rounded down."""

  cuts: tuple[tuple[str, float], ...]
  seed: int = 1

  def assign(self, num_examples: int) -> list[str]:
    """Returns the part of each example, in the order of enumeration."""
    import numpy as np  # pylint: disable=g-import-not-at-top
    order = np.random.default_rng(self.seed).permutation(num_examples)
    parts = [""] * num_examples
    start = 0
    for name, until in self.cuts:
      end = int(until * num_examples)
      for index in order[start:end]:
        parts[index] = name
      start = end
    return parts

  @property
  def parts(self) -> tuple[str, ...]:
    return tuple(name for name, _ in self.cuts)


def multinomial(shares: Mapping[str, float]) -> Multinomial:
  """Returns the draw with these shares of "train", "dev", "dev_test", "test", in any order."""
  return Multinomial(tuple(sorted(_checked(shares).items())))


def slices(shares: Mapping[str, float]) -> Slices:
  """Returns ranges with these shares by part, in their order."""
  return Slices(tuple(_checked(shares).items()))


def _checked(shares: Mapping[str, float]) -> Mapping[str, float]:
  unknown = sorted(set(shares) - set(NAMES))
  if unknown or abs(sum(shares.values()) - 1.0) > 1e-9:
    raise ValueError(f"Shares {dict(shares)} must be of {NAMES} and sum to 1.")
  return shares


def whole(part: str) -> Multinomial:
  """Returns the draw that puts a source split into one part."""
  return multinomial({part: 1.0})


POOLED = multinomial({"dev": 0.12, "dev_test": 0.12, "test": 0.20, "train": 0.56})
TRAIN_ONLY = multinomial({"dev": 0.15, "dev_test": 0.15, "train": 0.70})
TRAIN_DEV = multinomial({"dev": 0.20, "train": 0.80})
HALVES = multinomial({"dev_test": 0.50, "test": 0.50})
SLICED_TRAIN_ONLY = slices({"train": 0.70, "dev": 0.15, "dev_test": 0.15})
SLICED_TRAIN_DEV = slices({"train": 0.80, "dev": 0.20})
# The sum is the reference's: with it, 0.7 of 700 is 489.
PERMUTED_TRAIN_ONLY = Permuted((("train", 1 - 0.15 - 0.15), ("dev", 1 - 0.15), ("dev_test", 1.0)))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Splits by a stable hash of each example's key, independent of its position.

A rule maps each split of the source to the parts it is divided into. The position of an example in
an archive changes when the archive is repacked, and with it every draw by position; its key (its
name in the source, or a digest of its pixels) does not, so all machines draw the same splits.
The draw is not stratified.

The NEVIS'22 reference has four splits (train, dev, dev-test, test), this package three. The "Size"
of a task in the paper (appendix L) counts train + dev, the examples that a learner may fit on,
so `train` = train + dev, `validation` = dev-test and `test` = test:

  source has       reference                                     here
  train and test   train .70, dev .15, dev-test .15              train .85, validation .15
  one pool         train .56, dev .12, dev-test .12, test .20    train .68, validation .12, test .20
"""

from __future__ import annotations

import hashlib
from typing import Mapping

TRAIN = "train"
VALIDATION = "validation"
TEST = "test"
NAMES = (TRAIN, VALIDATION, TEST)

POOL = "all"  # The only split of a source without splits.

Rule = Mapping[str, Mapping[str, float]]

TRAIN_TEST: Rule = {TRAIN: {TRAIN: 0.85, VALIDATION: 0.15}, TEST: {TEST: 1.0}}
POOLED: Rule = {POOL: {TRAIN: 0.68, VALIDATION: 0.12, TEST: 0.20}}
OFFICIAL: Rule = {name: {name: 1.0} for name in NAMES}  # The splits of the source.


def unit_hash(dataset: str, key: str) -> float:
  """Returns a number in [0, 1) that depends only on the data set's name and the example's key."""
  digest = hashlib.sha256(f"{dataset}/{key}".encode()).digest()
  # 53 bits: every value is exact as a float, so no value rounds up to 1.
  return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def draw(dataset: str, key: str, parts: Mapping[str, float]) -> str:
  """Returns the part of `parts` (name -> proportion, in order) that the key falls into."""
  position = unit_hash(dataset, key)
  edge = 0.0
  for name, proportion in parts.items():
    edge += proportion
    if position < edge:
      return name
  return name  # Proportions that sum to 1 may sum to a little less in floats.


def check(rule: Rule) -> None:
  """Raises ValueError unless all parts are known splits and their proportions sum to 1."""
  for source, parts in rule.items():
    unknown = sorted(set(parts) - set(NAMES))
    if unknown:
      raise ValueError(f"Source split {source!r} is divided into {unknown}; allowed: {NAMES}.")
    if not parts or abs(sum(parts.values()) - 1.0) > 1e-9:
      raise ValueError(f"The parts of source split {source!r} sum to {sum(parts.values())}, not 1.")

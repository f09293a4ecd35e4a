# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The four splits of a task in NEVIS'22 (section 4.1), and rules that divide a source into them.

  train        D^tr, given to the learner: to learn from
  dev          D^tr, too: to choose the hyper-parameters of the task with
  validation   D^val, kept from the learner: predicted during meta-training
  test         D^ts, kept from the learner: predicted in the final run

A rule maps each split of the source to the parts it is divided into; `division.py` draws them. The
shares are those of the reference:

  source has                    train   dev    validation   test
  train and test                .70     .15    .15          the source's
  one pool                      .56     .12    .12          .20
  train, validation and test    .80     .20    the source's  the source's
"""

from __future__ import annotations

from collections.abc import Mapping
import hashlib

TRAIN = "train"
DEV = "dev"
VALIDATION = "validation"
TEST = "test"
NAMES = (TRAIN, DEV, VALIDATION, TEST)

POOL = "all"  # The only split of a source without splits.

Rule = Mapping[str, Mapping[str, float]]
POOLED: Rule = {POOL: {TRAIN: 0.56, DEV: 0.12, VALIDATION: 0.12, TEST: 0.20}}


def whole(name: str) -> Mapping[str, float]:
  """Returns the parts of a source split that is not divided."""
  return {name: 1.0}


TRAIN_TEST: Rule = {TRAIN: {TRAIN: 0.70, DEV: 0.15, VALIDATION: 0.15}, TEST: whole(TEST)}
OFFICIAL: Rule = {TRAIN: {TRAIN: 0.80, DEV: 0.20}, VALIDATION: whole(VALIDATION),
                  TEST: whole(TEST)}
GIVEN: Rule = {name: whole(name) for name in NAMES}  # The source has all four.


def unit_hash(dataset: str, key: str) -> float:
  """Returns a number in [0, 1) that depends only on the data set's name and the example's key."""
  digest = hashlib.sha256(f"{dataset}/{key}".encode()).digest()
  # 53 bits: every value is exact as a float, so no value rounds up to 1.
  return (int.from_bytes(digest[:8], "big") >> 11) / 2**53


def part_at(position: float, parts: Mapping[str, float]) -> str:
  """Returns the part of `parts` (name -> share, in order) at a position in [0, 1)."""
  edge = 0.0
  for name, share in parts.items():
    edge += share
    if position < edge:
      return name
  return name  # Shares that sum to 1 may sum to a little less in floats.


def check(rule: Rule) -> None:
  """Raises ValueError unless all parts are known splits and their shares sum to 1."""
  for source, parts in rule.items():
    unknown = sorted(set(parts) - set(NAMES))
    if unknown:
      raise ValueError(f"Source split {source!r} is divided into {unknown}; allowed: {NAMES}.")
    if not parts or abs(sum(parts.values()) - 1.0) > 1e-9:
      raise ValueError(f"The parts of source split {source!r} sum to {sum(parts.values())}, not 1.")

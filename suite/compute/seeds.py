# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Named seeds: every random draw of a run derives from (seed, purpose), never from history."""

from __future__ import annotations

import hashlib

import numpy as np

Name = str | int


def derive(seed: int, *names: Name) -> tuple[int, int]:
  """Derives two non-negative 31-bit integers, the seed of a stateless TensorFlow op.

  The result is the same on any machine and Python version: SHA-256 of the names' text, not
  `hash()`.
  """
  text = "\x1f".join([str(int(seed)), *(f"{type(n).__name__}:{n}" for n in names)])
  digest = hashlib.sha256(text.encode()).digest()
  return (int.from_bytes(digest[:4], "big") >> 1, int.from_bytes(digest[4:8], "big") >> 1)


def generator(seed: int, *names: Name) -> np.random.Generator:
  """Returns a NumPy generator for (seed, names)."""
  return np.random.default_rng(derive(seed, *names))


class Seeds:
  """A node of the seed tree: `seeds.child("event", 3).pair("data")`."""

  def __init__(self, seed: int, *path: Name):
    self.seed, self.path = int(seed), path

  def child(self, *names: Name) -> Seeds:
    return Seeds(self.seed, *self.path, *names)

  def pair(self, *names: Name) -> tuple[int, int]:
    return derive(self.seed, *self.path, *names)

  def integer(self, *names: Name) -> int:
    """One non-negative 31-bit integer, for libraries that take a single seed."""
    return self.pair(*names)[0]

  def generator(self, *names: Name) -> np.random.Generator:
    return np.random.default_rng(self.pair(*names))

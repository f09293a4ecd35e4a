# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Inputs of comparisons of what methods add to transformers, made by NumPy alone from a seed."""

from __future__ import annotations

import method_fixtures
import numpy as np

Arrays = method_fixtures.Arrays
BLOCKS, SIZE, LENGTH, CHOSEN = 5, 4, 6, 2


def _drawn(seed: int, sizes: dict[str, tuple[int, ...]]) -> Arrays:
  draw = np.random.RandomState(seed)
  return {name: draw.normal(size=size).astype(np.float32) for name, size in sizes.items()}


def prompts(seed: int = 0, *, images: int = 3, width: int = 8) -> Arrays:
  """Queries [B, D], a pool of keys [M, D] and prompts [M, L, D], and the gradient of a feature."""
  return _drawn(seed, {"queries": (images, width), "keys": (SIZE, width),
                       "prompts": (SIZE, LENGTH, width), "upstream": (images, width)})


def components(seed: int = 1, *, images: int = 3, width: int = 8) -> Arrays:
  """Queries, and keys, attention [E, M, D] and prompts [E, M, L, D] of each block; gradients."""
  pools = dict.fromkeys(("keys", "attention"), (BLOCKS, SIZE, width))
  return _drawn(seed, {"queries": (images, width), **pools,
                       "prompts": (BLOCKS, SIZE, LENGTH, width),
                       "upstream": (BLOCKS, images, LENGTH, width)})


def experts(seed: int = 2, *, images: int = 3, width: int = 8) -> Arrays:
  """Queries, keys [M, D], and prefixes [E, 2, M, L, D] of keys and values in E = 3 blocks."""
  return _drawn(seed, {"queries": (images, width), "keys": (SIZE, width),
                       "prefixes": (3, 2, SIZE, LENGTH, width)})


def adapters(seed: int = 3, *, images: int = 3, tokens: int = 4, width: int = 8, size: int = 5
             ) -> Arrays:
  """Tokens [B, N, D], and an adapter's weights."""
  return _drawn(seed, {"tokens": (images, tokens, width), "down": (width, size),
                       "down_bias": (size,), "up": (size, width), "up_bias": (width,)})


def low_ranks(seed: int = 4, *, images: int = 3, tokens: int = 4, width: int = 8, rank: int = 2
              ) -> Arrays:
  """Tokens [B, N, D], and a low-rank change a [D, r], b [r, D]."""
  return _drawn(seed, {"tokens": (images, tokens, width), "a": (width, rank), "b": (rank, width)})


def inputs_in_turn(seed: int = 5, *, phases: int = 3, width: int = 12, rows: int = 40) -> Arrays:
  """Inputs [P, N, D] of phases, whose directions have falling sizes in an order of each phase."""
  draw = np.random.RandomState(seed)
  found = []
  for _ in range(phases):
    sizes = 3.0 * 0.6 ** np.arange(width)
    turned, _ = np.linalg.qr(draw.normal(size=(width, width)))
    found.append(draw.normal(size=(rows, width)) * sizes @ turned)
  return {"inputs": np.asarray(found, np.float64)}


def prototypes(seed: int = 6, *, tasks: int = 3, classes: int = 2, width: int = 8) -> Arrays:
  """Prototypes [C, T, D] in the subspaces of T tasks, of C classes that came with them in turn."""
  return _drawn(seed, {"prototypes": (tasks * classes, tasks, width)})

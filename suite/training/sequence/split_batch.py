# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of a batch that a graph computes in parallel.

On a few hundred rows, two threads within each operation leave two cores partly idle. Two
independent parts in one graph use them better.
"""

from __future__ import annotations

import tensorflow as tf


def parts(size: tf.Tensor, num: int = 2) -> list[slice]:
  """Returns `num` slices of `size` rows (int32 []), in order, of nearly equal size; maybe empty."""
  ends = [size * i // num for i in range(num + 1)]
  return [slice(a, b) for a, b in zip(ends, ends[1:])]

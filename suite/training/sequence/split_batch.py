# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of a batch that a graph works on side by side.

On some hundred rows, two threads within each operation leave much of two cores idle. A graph that
does the same in two independent parts leaves less.
"""

from __future__ import annotations

from typing import List

import tensorflow as tf


def parts(size: tf.Tensor, num: int = 2) -> List[slice]:
  """`num` slices, in order and as equal as can be, of `size` rows, int32 []; some may be empty."""
  ends = [size * i // num for i in range(num + 1)]
  return [slice(a, b) for a, b in zip(ends, ends[1:])]

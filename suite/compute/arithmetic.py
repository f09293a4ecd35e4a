# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Settings that change the rounding of results on a CPU: threads per op, and oneDNN.

They change the order in which sums are computed.
"""

from __future__ import annotations

import dataclasses
import os
from typing import Any, Mapping

import tensorflow as tf

_THREADS, _ONEDNN = "TF_NUM_INTRAOP_THREADS", "TF_ENABLE_ONEDNN_OPTS"


@dataclasses.dataclass(frozen=True)
class Arithmetic:
  """How a process computes.

  Attributes:
    op_threads: CPU threads of one op.
    onednn: whether oneDNN's kernels are used where TensorFlow has them.
  """

  op_threads: int
  onednn: bool

  def check(self, before: Mapping[str, Any]) -> None:
    """Raises a ValueError unless this equals what `before` holds, which is `asdict` of another.

    An entry that is missing is not compared.
    """
    wrong = [f"{name} was {before[name]} and is {value}"
             for name, value in dataclasses.asdict(self).items()
             if before.get(name, value) != value]
    if wrong:
      raise ValueError(
          f"{'; '.join(wrong)}: the numbers would differ in their last digits. Set "
          f"{_THREADS}={before.get('op_threads', self.op_threads)} and "
          f"{_ONEDNN}={int(before.get('onednn', self.onednn))} in the environment.")


def of_this_process() -> Arithmetic:
  """As TensorFlow is set now, or begins to compute at its first op."""
  threads = int(os.environ.get(_THREADS) or 0)
  threads = threads or tf.config.threading.get_intra_op_parallelism_threads()
  return Arithmetic(threads or _cores(), os.environ.get(_ONEDNN, "1") not in ("0", "false"))


def limit_op_threads(number: int) -> bool:
  """Limits the threads of an op, unless the environment does; False if TensorFlow has started."""
  if os.environ.get(_THREADS):
    return True
  try:
    tf.config.threading.set_intra_op_parallelism_threads(number)
  except RuntimeError:
    return tf.config.threading.get_intra_op_parallelism_threads() == number
  return True


def _cores() -> int:
  """The cores that this process may use, which is TensorFlow's default."""
  if hasattr(os, "sched_getaffinity"):
    return len(os.sched_getaffinity(0))
  return os.cpu_count() or 1

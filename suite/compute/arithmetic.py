# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Settings that change the rounding of results: threads, kernels, precision, compilation.

Threads per op and oneDNN change the order in which sums are computed on a CPU, XLA which ops become
one kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import os
import pathlib
import platform
import re
from typing import Any

import tensorflow as tf
import threadpoolctl

from suite.compute import private_tensorflow

_THREADS, ONEDNN = "TF_NUM_INTRAOP_THREADS", "TF_ENABLE_ONEDNN_OPTS"
_XLA_FLAGS, _XLA_ON_CPU = "TF_XLA_FLAGS", "--tf_xla_cpu_global_jit"
# The flag of `suite run` that sets a field to a value.
_FLAGS = {
    "precision": "--precision {}".format,
    "xla": {True: "--xla", False: "no --xla"}.__getitem__,
    "deterministic": {True: "--deterministic", False: "--no-deterministic"}.__getitem__}


@dataclasses.dataclass(frozen=True)
class Arithmetic:
  """How a process computes.

  Attributes:
    op_threads: CPU threads of one op.
    onednn: whether oneDNN's kernels are used where TensorFlow has them.
    precision: of nets, one of `models.precision.NAMES`.
    xla: whether XLA compiles clusters of ops.
    deterministic: whether ops without a deterministic kernel are refused.
  """

  op_threads: int
  onednn: bool
  precision: str = "float32"
  xla: bool = False
  deterministic: bool = True

  def check(self, before: Mapping[str, Any]) -> None:
    """Raises a ValueError unless this equals what `before` holds, which is `asdict` of another.

    An entry that is missing is not compared, or is the default of its field.
    """
    defaults = {f.name: f.default for f in dataclasses.fields(self)}
    own = dataclasses.asdict(self)
    before = {name: before.get(name, value if defaults[name] is dataclasses.MISSING else
                               defaults[name]) for name, value in own.items()}
    wrong = [name for name, value in own.items() if before[name] != value]
    if wrong:
      said = "; ".join(f"{name} was {before[name]} and is {own[name]}" for name in wrong)
      steps = [f"Give {flag(before[name])}." for name, flag in _FLAGS.items() if name in wrong]
      if not set(wrong) <= set(_FLAGS):
        steps.append(f"Set {_THREADS}={before['op_threads']} and "
                     f"{ONEDNN}={int(before['onednn'])} in the environment.")
      raise ValueError(f"{said}: the numbers would differ. {' '.join(steps)}")


def instruction_set() -> str:
  """The machine's kind, and the vector instructions by which kernels are chosen, sorted."""
  info = pathlib.Path("/proc/cpuinfo")
  text = info.read_text(errors="replace") if info.exists() else ""
  line = re.search(r"^(?:flags|Features)\s*:(.*)$", text, re.MULTILINE)
  found = sorted(name for name in (line[1].split() if line else ()) if re.match(
      r"avx|fma|f16c|amx|asimd|sve", name))
  return " ".join([platform.machine(), *found])


def of_this_process(*, precision: str = "float32", xla: bool = False, deterministic: bool = True
                    ) -> Arithmetic:
  """As TensorFlow is set now, or begins to compute at its first op, with further settings."""
  threads = int(os.environ.get(_THREADS) or 0)
  threads = threads or tf.config.threading.get_intra_op_parallelism_threads()
  if not threads:  # TensorFlow's default: the cores that this process may use.
    threads = (len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity")
               else os.cpu_count() or 1)
  return Arithmetic(threads, private_tensorflow.uses_onednn(), precision, xla, deterministic)


def compile_clusters(compiles: bool) -> None:
  """Lets XLA compile clusters of ops, or not.

  It changes no graph that is traced, so FLOPs are counted as without it. On a CPU it takes a flag,
  too, which TensorFlow reads from the environment once, when its settings are first looked at.
  """
  if compiles:
    given = os.environ.get(_XLA_FLAGS, "")
    if _XLA_ON_CPU not in given:
      os.environ[_XLA_FLAGS] = f"{given} {_XLA_ON_CPU}".strip()
    tf.config.optimizer.set_jit("autoclustering")
  elif tf.config.optimizer.get_jit():
    tf.config.optimizer.set_jit(False)


def limit_op_threads(number: int) -> bool:
  """Limits the threads of an op, unless the environment does; False if TensorFlow has started.

  NumPy's matrix products are limited, too, in any case: those of lifelong evaluation are small, and
  on a busy machine a hundred times slower with a thread for each core.
  """
  if os.environ.get(_THREADS):
    return True
  threadpoolctl.threadpool_limits(number, user_api="blas")
  try:
    tf.config.threading.set_intra_op_parallelism_threads(number)
  except RuntimeError:
    return tf.config.threading.get_intra_op_parallelism_threads() == number
  return True

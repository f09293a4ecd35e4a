# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A model's initial weights as a pure function of a seed."""

from __future__ import annotations

import concurrent.futures
import random
import threading
from typing import Callable

import numpy as np
import tensorflow as tf

_LOCK = threading.Lock()


def initial_weights(build_fn: Callable[[], tf.keras.Model], seed: int) -> list[np.ndarray]:
  """The weights of build_fn() under a seed, for `model.set_weights`.

  The same in every process and on every device, whatever was built or drawn before, and inside or
  outside a strategy's scope or a `tf.function`. No global random state is changed. Holds for every
  Keras initializer; one that draws with unseeded `tf.random` ops of its own is not covered.

  How: unseeded Keras initializers draw their seeds from a generator that
  `tf.keras.utils.set_random_seed` makes, one for each thread. A thread of its own therefore gives
  this build a generator from which nobody else draws (importing a library in mid-build does draw
  from Python's), and knows of no strategy, graph or device of the caller. What else
  `set_random_seed` sets is put back.
  """
  if int(seed) < 0:
    raise ValueError(f"seed is {seed}; it must not be negative (Python seeds -1 and 1 alike).")
  with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
    return executor.submit(_build, build_fn, int(seed)).result()


def _build(build_fn: Callable[[], tf.keras.Model], seed: int) -> list[np.ndarray]:
  _seed_this_thread(seed)
  with tf.device("CPU:0"):  # a GPU rounds otherwise
    return build_fn().get_weights()


def _seed_this_thread(seed: int) -> None:
  """`tf.keras.utils.set_random_seed` without its effects on Python, NumPy and TensorFlow."""
  with _LOCK:
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
      with tf.Graph().as_default():  # TensorFlow then seeds this graph, which is thrown away
        tf.keras.utils.set_random_seed(seed)
    finally:
      random.setstate(python_state)
      np.random.set_state(numpy_state)  # noqa: NPY002

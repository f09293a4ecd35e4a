# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Initial weights of a model as a pure function of a seed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
import concurrent.futures
import contextlib
import importlib
import random
import threading
from typing import Any, TypeVar

import numpy as np
import tensorflow as tf

from suite.models import keras3

Made = TypeVar("Made")
_LOCK = threading.Lock()


def made(build_fn: Callable[[], Made], seed: int, model_of: Callable[[Made], Any] = lambda it: it
         ) -> tuple[Made, list[np.ndarray]]:
  """What build_fn() makes, and the `initial_weights` of the model in it.

  A model that is built with nothing of the caller's around it has them; otherwise a second one is
  built for them: under a strategy, in a graph, on a machine with a GPU, or beside Keras 3.

  Args:
    build_fn: makes a model, or a tuple with one.
    seed: see `initial_weights`.
    model_of: the model or layer in what was made.
  """
  _check(seed)
  # Where `tf.keras.utils.set_random_seed` puts the generator of seeds; None: Keras has no such.
  root = tf.keras.Model.__module__.partition(".")[0]  # "keras" or "tf_keras".
  try:
    holder = importlib.import_module(f"{root}.src.backend")._SEED_GENERATOR
  except (ImportError, AttributeError):
    holder = None
  if (holder is None or tf.distribute.has_strategy() or not tf.executing_eagerly()
      or keras3.library() is not None or tf.config.list_physical_devices("GPU")):
    found = build_fn()
    return found, initial_weights(lambda: model_of(build_fn()), seed)
  with _drawing_from(holder, seed):
    found = build_fn()
  return found, model_of(found).get_weights()


def initial_weights(build_fn: Callable[[], tf.keras.layers.Layer], seed: int) -> list[np.ndarray]:
  """Returns the weights of the model or layer build_fn() under a seed, for `set_weights`.

  They are the same in every process and on every device, independent of earlier builds and draws,
  and inside or outside a strategy's scope or a `tf.function`. No global random state is changed.
  This holds for every Keras initializer, but not for one that calls unseeded `tf.random` ops.

  Implementation: unseeded Keras initializers draw their seeds from a generator that
  `tf.keras.utils.set_random_seed` creates, one per thread. The build runs in a separate thread, so
  no other code draws from its generator (importing a library during a build draws from Python's),
  and no strategy, graph or device of the caller applies. The other effects of `set_random_seed` are
  undone. Initializers of Keras 3 draw their seeds from Python's generator, see `keras3`.
  """
  _check(seed)
  with concurrent.futures.ThreadPoolExecutor(max_workers=1) as executor:
    return executor.submit(_build, build_fn, int(seed)).result()


def _build(build_fn: Callable[[], tf.keras.layers.Layer], seed: int) -> list[np.ndarray]:
  # `tf.keras.utils.set_random_seed` without its effects on Python, NumPy and TensorFlow.
  with _LOCK:
    python_state, numpy_state = random.getstate(), np.random.get_state()  # noqa: NPY002
    try:
      with tf.Graph().as_default():  # TensorFlow then seeds this graph, which is discarded.
        tf.keras.utils.set_random_seed(seed)
    finally:
      random.setstate(python_state)
      np.random.set_state(numpy_state)  # noqa: NPY002
  # A GPU rounds differently.
  with tf.device("CPU:0"), keras3.initializing(seed):
    return build_fn().get_weights()


def _check(seed: int) -> None:
  if int(seed) < 0:
    raise ValueError(f"seed is {seed}; it must not be negative (Python seeds -1 and 1 alike).")


@contextlib.contextmanager
def _drawing_from(holder: Any, seed: int) -> Iterator[None]:
  """Initializers of this thread draw as after `set_random_seed`, and as before at the end."""
  before = vars(holder).copy()
  holder.generator = random.Random(int(seed))
  try:
    yield
  finally:
    vars(holder).clear()
    vars(holder).update(before)

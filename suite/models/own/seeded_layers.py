# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Preprocessing layers of Keras, Keras 3 and keras-cv as ops of `image_ops.Augmented`.

Such layers draw from a generator whose state advances with each call, so what an image becomes
would depend on all calls before it, and a run that resumes would differ. Here every draw is a
function of the row's seed. While a layer is traced, its generator and `tf.random.uniform` and
`normal` are replaced by stateless ones; layers of Keras 3 get seeds in place of those of their
generators, see `keras3`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import contextlib
import threading
from typing import Any

import tensorflow as tf

from suite.models import keras3

_LOCK = threading.RLock()
_STATEFUL = ("RandomUniform", "RandomStandardNormal", "RandomShuffle", "TruncatedNormal",
             "StatefulUniform", "StatefulStandardNormal", "RngReadAndSkip", "Multinomial",
             "ParameterizedTruncatedNormal", "RandomPoisson", "RandomGamma", "PyFunc",
             "AssignVariableOp", "AssignAddVariableOp", "AssignSubVariableOp")


class LayerOp:
  """Layers, one after the other, as one op: images and seeds to images.

  Each image passes the layers alone, as a batch of one, with training=True; so layers that mix
  images (MixUp, CutMix) are not possible.

  Args:
    *layers: Keras layers of images [B, H, W, C], values 0..255, that keep the shape.
  """

  def __init__(self, *layers: Callable[..., Any]):
    for layer in layers:
      keras3.refuse_foreign(layer, "An augmentation")
      if keras3.is_layer(layer):
        keras3.check_augmentation(layer)
      if not callable(layer):
        raise ValueError(f"An augmentation is {layer!r}; give Keras layers, or functions of images "
                         "[B, H, W, C].")
    self.layers = layers
    # With AutoGraph, which the layers of keras-cv need and input pipelines switch off.
    self._one = tf.function(self._changed)
    self._checked: set[Any] = set()

  def __call__(self, images: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    """uint8 [B, S, S, C], uint64 [B] -> uint8 [B, S, S, C]."""
    shape = images.shape[1:]
    if shape not in self._checked:
      # Traces the layers once: refuses another shape, and draws that no seed determines.
      names = ", ".join(getattr(layer, "name", str(layer)) for layer in self.layers)
      try:
        graph = self._one.get_concrete_function(
            tf.TensorSpec(shape, tf.uint8), tf.TensorSpec([], tf.int64)).graph
      except (ValueError, TypeError, AttributeError) as error:
        raise ValueError(
          f"The augmentation {names} cannot be used on single images {list(shape)} "
          f"({error}). Give layers of images alone that keep their shape."
        ) from error
      functions = getattr(graph, "_functions", {}).values()
      ops = [op for g in (graph, *(f.graph for f in functions if hasattr(f, "graph")))
             for op in g.get_operations()]
      random = sorted({op.type for op in ops if op.type in _STATEFUL})
      if random:
        raise ValueError(
          f"The augmentation {names} draws by {', '.join(random)} from a state that "
          "no seed determines, so a run could not be resumed or repeated. Take other "
          "layers, or an op(images, seeds) with tf.random.stateless_* functions."
        )
      self._checked.add(shape)
    rows = (images, tf.bitcast(seeds, tf.int64))
    changed = tf.map_fn(lambda row: self._one(row[0], row[1]), rows,
                        fn_output_signature=tf.TensorSpec(shape, tf.uint8))
    return tf.ensure_shape(changed, images.shape)

  def _changed(self, image: tf.Tensor, seed: tf.Tensor) -> tf.Tensor:
    x = tf.cast(image, tf.float32)[None]
    generator = _Generator(seed)
    of_keras_3 = any(map(keras3.is_layer, self.layers))
    seeds = keras3.Seeds(seed[None]) if of_keras_3 else None
    with _LOCK, _drawing_from(generator, self.layers), keras3.drawing_from(seeds):
      for layer in self.layers:
        if keras3.is_layer(layer):
          x = keras3.call_in_training(layer, x)
        elif isinstance(layer, tf.keras.layers.Layer):
          x = layer(x, training=True)
        else:
          x = layer(x)
    x = tf.saturate_cast(tf.round(tf.cast(x[0], tf.float32)), tf.uint8)
    return tf.ensure_shape(x, image.shape)


class _Generator:
  """Stands in for Keras's random generator: draw n is a function of (seed, n)."""

  def __init__(self, seed: tf.Tensor):
    self._seed, self._count = seed, 0
    self._rng_type, self._generator = "stateless", None

  def _next(self) -> tf.Tensor:
    self._count += 1
    return tf.stack([self._seed, tf.constant(self._count, tf.int64)])

  def _maybe_init(self) -> None:
    """Called when a layer is built."""

  def make_seed_for_stateless_op(self) -> tf.Tensor:
    return self._next()

  def make_legacy_seed(self) -> None:
    return None

  def random_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None,
                    **_: Any) -> tf.Tensor:
    return tf.random.stateless_normal(shape, self._next(), mean, stddev, dtype or tf.float32)

  def random_uniform(self, shape: Any, minval: Any = 0.0, maxval: Any = None, dtype: Any = None,
                     **_: Any) -> tf.Tensor:
    dtype = tf.as_dtype(dtype or tf.float32)
    maxval = 1 if maxval is None and dtype.is_floating else maxval
    if not dtype.is_floating and dtype not in (tf.int32, tf.int64):
      return tf.cast(self.random_uniform(shape, minval, maxval, tf.int32), dtype)
    return tf.random.stateless_uniform(shape, self._next(), minval, maxval, dtype)

  def truncated_normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = None,
                       **_: Any) -> tf.Tensor:
    return tf.random.stateless_truncated_normal(
        shape, self._next(), mean, stddev, dtype or tf.float32)

  def uniform(self, shape: Any, minval: Any = 0, maxval: Any = None, dtype: Any = tf.float32,
              seed: Any = None, name: Any = None) -> tf.Tensor:
    """As `tf.random.uniform`."""
    del seed, name
    return self.random_uniform(shape, minval, maxval, dtype)

  def normal(self, shape: Any, mean: Any = 0.0, stddev: Any = 1.0, dtype: Any = tf.float32,
             seed: Any = None, name: Any = None) -> tf.Tensor:
    """As `tf.random.normal`."""
    del seed, name
    return self.random_normal(shape, mean, stddev, dtype)


@contextlib.contextmanager
def _drawing_from(generator: _Generator, layers: Any) -> Iterator[None]:
  """Makes the layers, and those inside them, draw from the generator."""
  inner = [m for layer in layers if isinstance(layer, tf.Module)
           for m in (layer, *layer.submodules) if "_random_generator" in vars(m)]
  before = [vars(m)["_random_generator"] for m in inner]
  functions = {name: getattr(tf.random, name) for name in ("uniform", "normal")}
  try:
    for module in inner:
      vars(module)["_random_generator"] = generator
    for name in functions:
      setattr(tf.random, name, getattr(generator, name))
    yield
  finally:
    for module, value in zip(inner, before):
      vars(module)["_random_generator"] = value
    for name, function in functions.items():
      setattr(tf.random, name, function)

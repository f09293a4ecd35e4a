# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The precision of all nets of a process, by name.

  float32         all of it
  bfloat16        convolutions and matrix products take bfloat16; all else is float32
  mixed_bfloat16  Keras's policy: layers compute, and pass on, bfloat16
  mixed_float16   Keras's policy: the same in float16, whose gradients need a loss scale
  tf32            as float32, but a GPU rounds what convolutions and matrix products take to 10 bits
                  after the point (TensorFloat-32); on a CPU the same as float32

Variables, moments of norms, features, heads and losses are float32 in each. A net is built in the
precision of its process, so set it before the first net. A transformer block of keras-cv, which is
one layer, computes under "bfloat16" as under "mixed_bfloat16". TensorFlow takes TensorFloat-32 by
default where a GPU has it; the import of this module turns it off, for encoders that no run trains,
too, and `use` turns it on for "tf32" alone.
"""

from __future__ import annotations

from collections.abc import Iterator
import contextlib
from typing import Any

import tensorflow as tf

FLOAT32 = "float32"
TF32 = "tf32"
NAMES = (FLOAT32, "bfloat16", "mixed_bfloat16", "mixed_float16", TF32)
# Keras's policies where they are not the name itself: of layers with a kernel, and of all others.
_PRODUCTS = {"bfloat16": "mixed_bfloat16", TF32: FLOAT32}
_OTHERS = {"bfloat16": FLOAT32, TF32: FLOAT32}
_set = [FLOAT32]
tf.config.experimental.enable_tensor_float_32_execution(False)


def use(name: str) -> None:
  """Sets the precision of the nets that are built from now on, which is also Keras's policy."""
  if name not in NAMES:
    raise ValueError(f"Unknown precision {name!r}; allowed are {', '.join(NAMES)}.")
  _set[0] = name
  tf.keras.mixed_precision.set_global_policy(_OTHERS.get(name, name))
  tf.config.experimental.enable_tensor_float_32_execution(name == TF32)


def name() -> str:
  """Returns the precision in use, one of `NAMES`."""
  return _set[0]


@contextlib.contextmanager
def used(name_: str) -> Iterator[None]:
  """Uses a precision for a while."""
  before = name()
  use(name_)
  try:
    yield
  finally:
    use(before)


def of_products() -> str:
  """Returns Keras's policy for layers with a kernel: variables float32."""
  return _PRODUCTS.get(name(), name())


@contextlib.contextmanager
def one_layer() -> Iterator[None]:
  """Builds a composite layer, whose inner ones cannot be told apart, by the policy of products."""
  before = tf.keras.mixed_precision.global_policy()
  tf.keras.mixed_precision.set_global_policy(of_products())
  try:
    yield
  finally:
    tf.keras.mixed_precision.set_global_policy(before)


def needs_loss_scale() -> bool:
  """Whether small gradients vanish unless the loss is scaled."""
  return name() == "mixed_float16"


def check_no_loss_scale(what: str) -> None:
  """Refuses a precision that needs a loss scale where gradients are taken without one."""
  if needs_loss_scale():
    raise ValueError(f"{what} cannot be trained in {name()}: gradients within gradients would each "
                     "need a loss scale. Take --precision mixed_bfloat16 or bfloat16, which need "
                     "none.")


def conv2d(x: tf.Tensor, kernel: tf.Tensor) -> tf.Tensor:
  """Convolves [B, H, W, C] by [h, w, C, F] with stride 1 and "SAME" padding, in this precision.

  Operands are rounded to the type of products; the result, [B, H, W, F], has the type of x. In
  float64, which serves to check gradients, nothing is rounded.
  """
  return _in_precision(lambda x, kernel: tf.nn.conv2d(x, kernel, 1, "SAME"), x, kernel)


def matmul(a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
  """Multiplies [..., M, K] by [..., K, N] as `conv2d` does."""
  return _in_precision(tf.matmul, a, b)


def _in_precision(product: Any, a: tf.Tensor, b: tf.Tensor) -> tf.Tensor:
  dtype = tf.keras.mixed_precision.Policy(of_products()).compute_dtype
  if a.dtype != tf.float32 or dtype == FLOAT32:
    return product(a, b)
  return tf.cast(product(tf.cast(a, dtype), tf.cast(b, dtype)), a.dtype)

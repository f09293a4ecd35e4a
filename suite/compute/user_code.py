# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which graphs AutoGraph converts: those that code of users takes part in.

That code may branch on tensors. The suite's own does not, and converting its functions would take
a large part of the time of a short run.
"""

from __future__ import annotations

from collections.abc import (
  Callable,
  Iterator,
  Mapping,  # That of `typing` does not know TensorFlow's dictionaries.
)
import functools
import sys
import types
from typing import Any

import tensorflow as tf

# Packages whose code runs in graphs as it is. KerasCV's layers branch on tensors, but for one.
_OF_MODELS = {"tensorflow", tf.keras.layers.Layer.__module__.partition(".")[0]}
_NOT_CONVERTED = {"suite", "tfds_builders", "numpy", "gin", "absl", "wrapt", "keras", *_OF_MODELS,
                  *getattr(sys, "stdlib_module_names", ("builtins",))} - {"__main__"}
_WITHOUT_BRANCHES = ("keras_cv.src.layers.transformer_encoder",)
_PLAIN = (str, bytes, int, float, complex, type(None), tf.Tensor, tf.TensorSpec, tf.Variable,
          tf.DType)


class Known:
  """An object that knows whether it holds code of users: to look at each layer of a net takes long.

  Attributes:
    reaches_user_code: as of `is_reached`.
  """

  reaches_user_code = False


def compiled(function: Callable[..., Any], **arguments: Any) -> Any:
  """`tf.function(function, **arguments)`, which AutoGraph converts if it reaches code of users."""
  return tf.function(function, autograph=is_reached(function), **arguments)


def mapped(function: Callable[..., Any]) -> Callable[..., Any]:
  """A function for `tf.data.Dataset.map`, which AutoGraph converts if it reaches code of users."""
  return (function if is_reached(function)
          else tf.autograph.experimental.do_not_convert(function))


def is_reached(*parts: Any) -> bool:
  """Whether objects or functions are code of users, or hold some at any depth."""
  waiting, seen = list(parts), {}
  # Keras 3 never converts layers, users' or its own.
  keras: Any = sys.modules.get("keras")
  is_new = str(getattr(keras, "__version__", "")).startswith("3.")
  passed_over = (*_PLAIN, keras.Layer) if is_new else _PLAIN
  while waiting:
    part = waiting.pop()
    if isinstance(part, passed_over) or id(part) in seen:
      continue
    seen[id(part)] = part  # Kept, so that no other object takes its id.
    if isinstance(part, Known):
      if part.reaches_user_code:
        return True
      continue
    if _package(part) not in _NOT_CONVERTED:
      return True
    waiting += _held(part)
  return False


def _package(part: Any) -> str:
  """The package of a function, a class or an object's class."""
  has_name = isinstance(part, (type, types.FunctionType))
  module = (part if has_name else type(part)).__module__ or ""
  return "tensorflow" if module in _WITHOUT_BRANCHES else module.partition(".")[0]


def _held(part: Any) -> Iterator[Any]:
  """Yields the values that a function is bound to, or the attributes of an object."""
  if isinstance(part, Mapping):
    yield from part.values()
  elif isinstance(part, (list, tuple, set, frozenset)):
    yield from part
  elif isinstance(part, types.MethodType):
    yield from (part.__self__, part.__func__)
  elif isinstance(part, functools.partial):
    yield from (part.func, part.args, part.keywords)
  elif isinstance(part, types.FunctionType):
    yield from (part.__defaults__, part.__kwdefaults__)
    for cell in part.__closure__ or ():
      try:
        yield cell.cell_contents
      except ValueError:  # Not assigned yet.
        pass
  elif type(part).__module__.partition(".")[0] in ("suite", "tfds_builders"):
    yield from vars(part).values() if hasattr(part, "__dict__") else ()
    for name in getattr(type(part), "__slots__", ()):
      yield getattr(part, name, None)
  elif isinstance(part, tf.Module):  # Of Keras: all of its layers, however deep.
    yield from (one for one in part.submodules if _package(one) not in _OF_MODELS)

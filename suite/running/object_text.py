# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The configuration of a run of Python objects as text.

A work directory belongs to one configuration, and this text is compared. Objects are described by
type, arguments and content (labels and ids of data, weights of models), functions by name: a
function of the same name with another body is not told apart.
"""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
import functools
import hashlib
import inspect
from typing import Any, Callable

import numpy as np
import tensorflow as tf

_DEEPEST = 6
_MOST_BYTES = 1 << 26
_PLAIN = (bool, int, float, str, bytes, type(None))


def of_run(protocol: Callable[..., Any], settings: Mapping[str, Any], learners: Mapping[str, Any],
           metrics: Mapping[str, Any], seed: int) -> str:
  """The text of a run."""
  lines = [f"# Python objects, by suite.run; seed {seed}", f"protocol = {text(protocol)}"]
  for title, group in (("protocol", settings), ("learner", learners), ("metric", metrics)):
    lines += [f"{title}.{name} = {text(value)}" for name, value in sorted(group.items())]
  return "\n".join(lines) + "\n"


def text(value: Any, depth: int = 0) -> str:
  """One line about an object, the same in every process."""
  if isinstance(value, _PLAIN):
    return repr(value)
  if isinstance(value, (np.ndarray, np.generic, tf.Tensor, tf.Variable)):
    return _array(np.asarray(value))
  if depth > _DEEPEST:
    return type(value).__name__
  if isinstance(value, tf.keras.Model):
    return _model(value)
  if isinstance(value, functools.partial):
    return f"{text(value.func)}({_inner(value.keywords, depth)})"
  if inspect.isroutine(value) or isinstance(value, type):
    return f"{value.__module__}.{value.__qualname__}"
  if isinstance(value, Mapping):
    return f"{{{_inner(value, depth)}}}"
  if isinstance(value, (list, tuple, set, frozenset)):
    items = [text(v, depth + 1) for v in value]
    return f"[{', '.join(sorted(items) if isinstance(value, (set, frozenset)) else items)}]"
  return f"{type(value).__module__}.{type(value).__qualname__}({_inner(_attributes(value), depth)})"


def _attributes(value: Any) -> Mapping[str, Any]:
  """What tells an object apart: fields, Keras config, content of a data set, plain attributes."""
  if dataclasses.is_dataclass(value) and not isinstance(value, type):
    return {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
  if isinstance(value, (tf.keras.layers.Layer, tf.keras.optimizers.Optimizer,
                        tf.keras.optimizers.legacy.Optimizer, tf.keras.losses.Loss,
                        tf.keras.optimizers.schedules.LearningRateSchedule)):
    try:
      return {k: v for k, v in value.get_config().items() if k != "name"}
    except NotImplementedError:
      return {}
  if hasattr(value, "labels") and hasattr(value, "ids"):
    return {"name": getattr(value, "name", ""), "labels": value.labels, "ids": value.ids}
  found = getattr(value, "__dict__", {})
  given = inspect.signature(type(value).__init__).parameters if found else {}
  # What it was made with; other attributes change while it is used.
  return {name: found[key] for name in given for key in (name, f"_{name}") if key in found}


def _inner(values: Mapping[Any, Any], depth: int) -> str:
  return ", ".join(f"{k}={text(v, depth + 1)}" for k, v in sorted(
      values.items(), key=lambda item: str(item[0])))


def _array(array: np.ndarray) -> str:
  content = array if array.dtype.kind != "O" else array.astype(str)
  step = max(1, content.nbytes // _MOST_BYTES)  # A part of a large array.
  digest = hashlib.sha256(content.reshape(-1)[::step].tobytes()).hexdigest()[:12]
  return f"{array.dtype.kind}{list(array.shape)}#{digest}"


def _model(model: tf.keras.Model) -> str:
  """A model by its layers' types and weights; names count up from model to model."""
  digest = hashlib.sha256()
  for weight in model.get_weights() if model.built else []:
    digest.update(np.ascontiguousarray(weight).tobytes())
  layers = [type(m).__name__ for m in model.layers]
  return f"{type(model).__name__}({' '.join(layers)})#{digest.hexdigest()[:12]}"

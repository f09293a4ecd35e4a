# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Constant folding of small values in a graph: loop limits, counters, shapes, trip counts."""

from __future__ import annotations

import operator

import numpy as np
import tensorflow as tf

_MAX_ELEMENTS = 64  # A longer tensor is data, not a limit or a shape.
_MAX_DEPTH = 300
MAX_TRIPS = 1_000_000
_SHAPE_RULES = ("Shape", "ShapeN", "Size", "Rank")


class Unknown(Exception):
  """The value depends on data, or on an op that is not supported here."""


def _cast(op, x):
  dtype = op.outputs[0].dtype
  if isinstance(x, np.ndarray):
    return x.astype(dtype.as_numpy_dtype)
  return bool(x) if dtype.is_bool else int(x) if dtype.is_integer else float(x)


def _strided_slice(op, x, begin, end, strides):
  if any(op.get_attr(k) for k in ("ellipsis_mask", "new_axis_mask")):
    raise Unknown
  index: list = []
  for i, (b, e, s) in enumerate(zip(np.ravel(begin), np.ravel(end), np.ravel(strides))):
    if op.get_attr("shrink_axis_mask") >> i & 1:
      index.append(int(b))
    else:
      low = None if op.get_attr("begin_mask") >> i & 1 else int(b)
      high = None if op.get_attr("end_mask") >> i & 1 else int(e)
      index.append(slice(low, high, int(s)))
  return np.asarray(x)[tuple(index)]


def _binary(function):
  return lambda op, x, y: function(x, y)


def _reduce(function):
  def run(op, x, axis):
    axes = tuple(int(a) for a in np.ravel(axis))
    return function(np.asarray(x), axis=axes, keepdims=op.get_attr("keep_dims"))

  return run


def _floor_div(op, x, y):
  if not np.all(y):
    raise Unknown
  return x // y


def _floor_mod(op, x, y):
  if not np.all(y):
    raise Unknown
  return x % y


def _range(op, start, limit, delta):
  if not delta or (limit - start) / delta > _MAX_ELEMENTS:
    raise Unknown
  return np.arange(start, limit, delta)


def _maximum(op, x, y):
  return np.maximum(x, y) if _is_array(x, y) else max(x, y)


def _minimum(op, x, y):
  return np.minimum(x, y) if _is_array(x, y) else min(x, y)


def _logical(function):
  return lambda op, x, y: bool(function(x, y)) if not _is_array(x, y) else function(x, y)


def _is_array(*xs) -> bool:
  return any(isinstance(x, np.ndarray) for x in xs)


_RULES = {
    "Identity": lambda op, x: x,
    "StopGradient": lambda op, x: x,
    "Cast": _cast,
    "Add": _binary(operator.add),
    "AddV2": _binary(operator.add),
    "Sub": _binary(operator.sub),
    "Mul": _binary(operator.mul),
    "FloorDiv": _floor_div,
    "FloorMod": _floor_mod,
    "Maximum": _maximum,
    "Minimum": _minimum,
    "Neg": lambda op, x: -x,
    "Less": _binary(operator.lt),
    "LessEqual": _binary(operator.le),
    "Greater": _binary(operator.gt),
    "GreaterEqual": _binary(operator.ge),
    "Equal": _binary(operator.eq),
    "NotEqual": _binary(operator.ne),
    "LogicalAnd": _logical(operator.and_),
    "LogicalOr": _logical(operator.or_),
    "LogicalNot": lambda op, x: np.logical_not(x) if _is_array(x) else not x,
    "ZerosLike": lambda op, x: np.zeros_like(x),
    "Pack": lambda op, *xs: np.stack(xs, op.get_attr("axis")),
    "ConcatV2": lambda op, *xs: np.concatenate([np.asarray(x) for x in xs[:-1]], int(xs[-1])),
    "Reshape": lambda op, x, shape: np.reshape(x, np.ravel(shape)),
    "Squeeze": lambda op, x: np.squeeze(np.asarray(x), tuple(op.get_attr("squeeze_dims")) or None),
    "ExpandDims": lambda op, x, axis: np.expand_dims(np.asarray(x), int(axis)),
    "GatherV2": lambda op, x, i, axis: np.take(np.asarray(x), i, int(axis)),
    "StridedSlice": _strided_slice,
    "Range": _range,
    "Sum": _reduce(np.sum),
    "Prod": _reduce(np.prod),
    "Max": _reduce(np.max),
    "Min": _reduce(np.min),
}


def plain(value):
  """Converts a 0-d value to a Python scalar, which is ten times faster in loops than numpy's."""
  if isinstance(value, (np.ndarray, np.generic)) and np.ndim(value) == 0:
    return value.item()
  return value


class Program:
  """The ops between known tensors and target tensors, which can be run repeatedly."""

  def __init__(self, targets, known, shape_of):
    """`known`: {id of tensor: value}; shape_of(tensor) -> TensorShape. Raises Unknown."""
    self.constants, self._steps, self._known, self._shape_of = {}, [], known, shape_of
    self._done = set()
    for target in targets:
      self._visit(target, 0)

  def _visit(self, tensor, depth):
    key = id(tensor)
    if key in self._done or self._known.get(key) is not None:
      return
    shape, op = self._shape_of(tensor), tensor.op
    if depth > _MAX_DEPTH or (shape.num_elements() or 0) > _MAX_ELEMENTS:
      raise Unknown
    if op.type == "Const":
      self.constants[key] = plain(tf.get_static_value(tensor))
    elif op.type in _SHAPE_RULES:
      shape = self._shape_of(op.inputs[tensor.value_index])
      if op.type == "Rank" and shape.rank is not None:
        self.constants[key] = shape.rank
      elif not shape.is_fully_defined():
        raise Unknown
      elif op.type == "Size":
        self.constants[key] = shape.num_elements()
      else:
        self.constants[key] = np.array(shape.as_list(), np.int64)
    elif op.type in _RULES and not any(t.dtype in (tf.string, tf.variant) for t in op.inputs):
      for source in op.inputs:
        self._visit(source, depth + 1)
      self._steps.append((_RULES[op.type], op, [id(t) for t in op.inputs], key))
    else:
      raise Unknown
    self._done.add(key)

  def run(self, values: dict) -> dict:
    """Values of all tensors from `values` to the targets, both included."""
    values = {**values, **self.constants}
    try:
      for rule, op, sources, key in self._steps:
        values[key] = plain(rule(op, *[values[s] for s in sources]))
    except (ValueError, IndexError, TypeError, OverflowError) as error:
      raise Unknown from error
    return values


def value_of(tensor, known: dict, shape_of):
  """The tensor's value, or None if the graph does not determine it."""
  if known.get(id(tensor)) is not None:
    return known[id(tensor)]
  if tensor.dtype in (tf.resource, tf.variant, tf.string):
    return None
  try:
    return Program([tensor], known, shape_of).run(known)[id(tensor)]
  except Unknown:
    return None


def is_invariant(body, index: int, offset: int = 0) -> bool:
  """Whether a loop body returns a variable unchanged."""
  tensor = body.outputs[index]
  while tensor.op.type == "Identity":
    tensor = tensor.op.inputs[0]
  return tensor is body.inputs[index + offset]


def run_loop(cond, body, initial: list, shape_of):
  """Runs a While loop on the values that the graph determines.

  Only variables whose next value follows from known numbers are computed; if the condition needs
  another one, the number of trips depends on data.

  Args:
    initial: value of each loop variable at the start, None where it is not known.
    shape_of: shape_of(tensor) for the tensors of either graph.
  """
  follow = {i for i, v in enumerate(initial) if v is not None and np.ndim(v) == 0}
  step = None
  while step is None:
    known = {id(body.inputs[i]): initial[i] for i in follow}
    lost = {i for i in follow if value_of(body.outputs[i], known, shape_of) is None}
    follow -= lost
    if not lost:
      step = Program([body.outputs[i] for i in sorted(follow)], known, shape_of)
  values = {i: initial[i] for i in follow}
  try:
    test = Program([cond.outputs[0]], {id(cond.inputs[i]): values[i] for i in follow}, shape_of)
    for trips in range(MAX_TRIPS + 1):
      answer = test.run({id(cond.inputs[i]): v for i, v in values.items()})[id(cond.outputs[0])]
      if not answer:
        return trips, [values.get(i) for i in range(len(initial))]
      after = step.run({id(body.inputs[i]): v for i, v in values.items()})
      values = {i: after[id(body.outputs[i])] for i in follow}
  except Unknown:
    pass
  return None, [None] * len(initial)

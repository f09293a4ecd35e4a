# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""One call of a traced function: its arguments, and its ops as the cost rules read them."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import cost as cost_lib
from suite.compute import graph_access
from suite.compute import graph_values


class UnknownShape(Exception):
  """The cost of an op depends on a dimension that is open in the graph."""


@dataclasses.dataclass(frozen=True)
class Argument:
  """Known shape and value of a call's input or output; `source` has a handle's element shape."""

  shape: tf.TensorShape
  value: Any
  source: tf.Tensor

  def key(self):
    value = self.value.tobytes() if isinstance(self.value, np.ndarray) else self.value
    return repr(self.shape), value, graph_access.handle_key(self.source)


@dataclasses.dataclass(frozen=True)
class CallResult:
  cost: cost_lib.Cost
  outputs: tuple[Argument, ...]


class Frame:
  """One call: its graph and the known shapes and values of the tensors in it."""

  def __init__(self, graph: tf.Graph, arguments: list[Argument], refine: bool):
    self.graph = graph
    self.values: dict[int, Any] = {}
    self._shapes: dict[int, tf.TensorShape] = {}
    self._replay = graph_access.ShapeInference() if refine else None
    for tensor, argument in zip(graph.inputs, arguments):
      self.know(tensor, argument)

  def know(self, tensor: tf.Tensor, argument: Argument) -> None:
    """Records the known shape and value of an input or of a call's output."""
    self.values[id(tensor)] = argument.value
    shape = graph_access.merge_shapes(tensor.shape, argument.shape)
    self._shapes[id(tensor)] = shape
    if self._replay:
      self._replay.put(tensor, shape, argument.value, argument.source)

  def run(self, op: tf.Operation) -> None:
    """Infers the shapes of a primitive op's outputs where the traced ones are incomplete."""
    if self._replay and not (op.outputs and id(op.outputs[0]) in self._shapes):
      self._replay.run(op)

  def shape(self, tensor: tf.Tensor) -> tf.TensorShape:
    if tensor.graph is self.graph:
      if id(tensor) in self._shapes:
        return self._shapes[id(tensor)]
      if self._replay and not tensor.shape.is_fully_defined():
        return graph_access.merge_shapes(tensor.shape, self._replay.twin(tensor).shape)
    return tensor.shape

  def value(self, tensor: tf.Tensor):
    if self.values.get(id(tensor)) is None:
      self.values[id(tensor)] = graph_values.value_of(tensor, self.values, self.shape)
    return self.values[id(tensor)]

  def argument(self, tensor: tf.Tensor) -> Argument:
    source = self._replay.twin(tensor) if self._replay else tensor
    return Argument(self.shape(tensor), self.value(tensor), source)


class Node:
  """An op as the cost rules read it: plain shapes and attributes."""

  def __init__(self, op: tf.Operation, frame: Frame):
    self._op, self._frame, self._inputs = op, frame, op.inputs
    self.type, self.num_inputs = op.type, len(self._inputs)

  def input(self, index: int) -> tuple[int, ...]:
    return self._static(self._inputs[index])

  def output(self, index: int) -> tuple[int, ...]:
    return self._static(self._op.outputs[index])

  def attr(self, name: str):
    return self._op.get_attr(name)

  def value(self, index: int):
    value = self._frame.value(self._inputs[index])
    if value is None:
      raise UnknownShape
    return value

  def _static(self, tensor: tf.Tensor) -> tuple[int, ...]:
    shape = self._frame.shape(tensor)
    if not shape.is_fully_defined():
      raise UnknownShape
    return tuple(shape.as_list())

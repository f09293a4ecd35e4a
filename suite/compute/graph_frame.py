# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A traced graph as the cost rules read it: its functions, the ops that run, and their shapes.

A frame is one call of a traced function, with the shapes and arguments of its caller. A cost is
that of one call; an unknown amount is None, never 0.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import graph_values
from suite.compute import private_tensorflow

_HANDLES = (tf.resource, tf.variant)
# Ops whose outputs are their inputs, and the operand that an op writes to a list.
_ALIASES = ("Identity", "IdentityN", "Reshape", "Squeeze", "ExpandDims", "StopGradient")
_LIST_WRITES = {"TensorListPushBack": 1, "TensorListSetItem": 2}
_CALLS = ("PartitionedCall", "StatefulPartitionedCall", "RemoteCall", "TPUPartitionedCall")
LOOPS = ("While", "StatelessWhile")
BRANCHES = ("If", "StatelessIf", "Case", "StatelessCase")
FOR = "For"


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
    return repr(self.shape), value, handle_key(self.source)


@dataclasses.dataclass(frozen=True)
class CallResult:
  cost: Cost
  outputs: tuple[Argument, ...]


class Frame:
  """One call: its graph and the known shapes and values of the tensors in it."""

  def __init__(self, graph: tf.Graph, arguments: list[Argument], refine: bool):
    self.graph = graph
    self.values: dict[int, Any] = {}
    self._shapes: dict[int, tf.TensorShape] = {}
    self._replay = ShapeInference() if refine else None
    for tensor, argument in zip(graph.inputs, arguments):
      self.know(tensor, argument)

  def know(self, tensor: tf.Tensor, argument: Argument) -> None:
    """Records the known shape and value of an input or of a call's output."""
    self.values[id(tensor)] = argument.value
    shape = merge_shapes(tensor.shape, argument.shape)
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
        return merge_shapes(tensor.shape, self._replay.twin(tensor).shape)
    return tensor.shape

  def value(self, tensor: tf.Tensor):
    if self.values.get(id(tensor)) is None:
      self.values[id(tensor)] = graph_values.value_of(tensor, self.values, self.shape)
    return self.values[id(tensor)]

  def argument(self, tensor: tf.Tensor) -> Argument:
    source = self._replay.twin(tensor) if self._replay else tensor
    return Argument(self.shape(tensor), self.value(tensor), source)


class LiveTensors:
  """The memory of a frame's tensors while its ops run one after the other.

  Args:
    frame: the call.
    order: its ops that run.
  """

  def __init__(self, frame: Frame, order: list[tf.Operation]):
    self._frame, self._sizes, self._roots = frame, dict[int, int](), dict[int, int]()
    for op in order:
      if op.type in _ALIASES:
        for source, output in zip(op.inputs, op.outputs):
          self._roots[id(output)] = self._root(source)
    self._last = {self._root(t): i for i, op in enumerate(order) for t in op.inputs}
    self._last.update({self._root(t): len(order) for t in frame.graph.outputs})
    self._live = self.peak = self.kept = 0

  def _root(self, tensor: tf.Tensor) -> int:
    return self._roots.get(id(tensor), id(tensor))

  def run(self, place: int, op: tf.Operation, cost: Cost) -> None:
    """Adds the outputs of the op at a place of the order, then frees inputs that none needs again.

    Args:
      place, op: see above.
      cost: of the call, if the op is one.
    """
    kept = cost.kept_bytes
    if op.type in _LIST_WRITES:  # What it writes, a list by the bytes in it.
      self.kept += self._bytes(op.inputs[_LIST_WRITES[op.type]])
    for output in op.outputs:
      if id(output) not in self._roots and op.type != "Placeholder":
        is_list = output.dtype == tf.variant and kept
        self._sizes[id(output)] = kept if is_list else self._bytes(output)
        kept = 0 if is_list else kept
        self._live += self._sizes[id(output)]
    self.kept += kept  # In lists of the caller.
    self.peak = max(self.peak, self._live + cost.peak_bytes)
    for root in {*map(self._root, op.inputs), *(id(t) for t in op.outputs)}:
      if self._last.get(root, place) <= place:
        self._live -= self._sizes.pop(root, 0)

  def _bytes(self, tensor: tf.Tensor) -> int:
    if tensor.dtype in (*_HANDLES, tf.string):
      return self._sizes.get(self._root(tensor), 0)
    shape = self._frame.shape(tensor)
    return shape.num_elements() * tensor.dtype.size if shape.is_fully_defined() else 0


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


@dataclasses.dataclass(frozen=True)
class Cost:
  """FLOPs and multiply-adds of a graph or of a part of it.

  Attributes:
    flops: floating-point operations, a multiply-add being two; None when unknown.
    macs: multiply-adds of convolutions and matrix products; None when unknown.
    uncounted: reasons for an unknown number, in the order of the walk, without repetition.
    ops: arithmetic ops that run, each at least one launch on a GPU; costs are equal without them.
    peak_bytes: an estimate of the memory of the tensors that live at a time, arguments excluded, if
      ops run in the order of their creation; costs are equal without it.
    kept_bytes: of it what a trip of a loop leaves in lists for its gradient.
  """

  flops: int | None
  macs: int | None
  uncounted: tuple[str, ...] = ()
  ops: int = dataclasses.field(default=0, compare=False)
  peak_bytes: int = dataclasses.field(default=0, compare=False)
  kept_bytes: int = dataclasses.field(default=0, compare=False)

  def __add__(self, other: Cost) -> Cost:
    if not isinstance(other, Cost):
      return NotImplemented
    return Cost(
        _add(self.flops, other.flops),
        _add(self.macs, other.macs),
        tuple(dict.fromkeys(self.uncounted + other.uncounted)),
        self.ops + other.ops, max(self.peak_bytes, other.peak_bytes),
        self.kept_bytes + other.kept_bytes,
    )

  def __mul__(self, times: int) -> Cost:
    """Cost of `times` calls. An unknown amount stays unknown, also for 0 calls."""
    if isinstance(times, bool) or not isinstance(times, int):
      return NotImplemented
    if times < 0:
      raise ValueError(f"A cost was multiplied by {times}; the number of calls must be 0 or more.")
    return Cost(_times(self.flops, times), _times(self.macs, times), self.uncounted,
                self.ops * times, self.peak_bytes, self.kept_bytes * times)

  __rmul__ = __mul__


def _add(a: int | None, b: int | None) -> int | None:
  return None if a is None or b is None else a + b


def _times(a: int | None, times: int) -> int | None:
  return None if a is None else a * times


ZERO = Cost(0, 0)


def function_graph(op: tf.Operation, name: str) -> tf.Graph | None:
  """The body of the function called `name` in the library of the op's graph, or None."""
  graph = op.graph
  while graph is not None:
    function = private_tensorflow.function_called(graph, name)
    if function is not None and hasattr(function, "graph"):
      return function.graph
    if function is not None:  # a TF1 function keeps its definition only
      with graph.as_default():
        return private_tensorflow.graph_of(function.cached_definition)
    graph = getattr(graph, "outer_graph", None)
  return None


def callee_names(op: tf.Operation) -> tuple[str, ...]:
  """The functions an op runs: (f,), (cond, body), (body,), the branches; () for a primitive op."""
  if op.type in _CALLS:
    return (op.get_attr("f").name,)
  if op.type in LOOPS:
    return (op.get_attr("cond").name, op.get_attr("body").name)
  if op.type == FOR:
    return (op.get_attr("body").name,)
  if op.type in ("If", "StatelessIf"):
    return (op.get_attr("else_branch").name, op.get_attr("then_branch").name)
  if op.type in BRANCHES:
    return tuple(branch.name for branch in op.get_attr("branches"))
  if private_tensorflow.is_function(op.graph, op.type):
    return (op.type,)  # The type of a TF1 function call is the function's name.
  return ()


def handle_key(tensor: tf.Tensor) -> bytes:
  """Key that differs between tensor lists of different element shapes."""
  if tensor.dtype != tf.variant:
    return b""
  return private_tensorflow.handle_data(tensor)


def op_order(graph: tf.Graph) -> list[tf.Operation]:
  """Ops in topological order. (An op may have inputs that were created after it.)"""
  order, state = [], {}
  for root in graph.get_operations():
    stack = [(root, False)]
    while stack:
      op, inputs_done = stack.pop()
      if inputs_done:
        order.append(op)
      elif op not in state:
        state[op] = True
        stack.append((op, True))
        stack.extend((t.op, False) for t in op.inputs if t.op not in state)
        stack.extend((c, False) for c in op.control_inputs if c not in state)
  return order


class Liveness:
  """The ops that a call runs, given the outputs that are used.

  A call runs what its used outputs, its control outputs and its stateful ops depend on; TensorFlow
  prunes the rest, through calls and loops too (an unused loop variable is not computed).
  """

  def __init__(self):
    self._orders, self._live, self._stateful, self._callees = {}, {}, {}, {}

  def callees(self, op: tf.Operation) -> tuple[tf.Graph | None, ...]:
    """Bodies of the functions that an op runs; None for a function that is not found."""
    if op not in self._callees:
      self._callees[op] = tuple(function_graph(op, name) for name in callee_names(op))
    return self._callees[op]

  def order(self, graph: tf.Graph) -> list[tf.Operation]:
    if graph not in self._orders:
      self._orders[graph] = op_order(graph)
    return self._orders[graph]

  def live(self, graph: tf.Graph, wanted: frozenset) -> tuple[dict, frozenset]:
    """({live op: wanted indices of its outputs}, indices of the graph inputs in use)."""
    key = (graph, wanted)
    if key not in self._live:
      needed = {id(graph.outputs[i]) for i in wanted}
      controls = set(graph.control_outputs)
      live = {}
      for op in reversed(self.order(graph)):
        outputs = frozenset(i for i, t in enumerate(op.outputs) if id(t) in needed)
        if not outputs and op not in controls:
          if op.type not in self._stateful:
            self._stateful[op.type] = op.op_def.is_stateful
          if not self._stateful[op.type]:
            continue
        live[op] = outputs
        inputs = op.inputs
        needed.update(id(inputs[i]) for i in self._inputs_in_use(op, outputs))
        controls.update(op.control_inputs)
      used = frozenset(i for i, t in enumerate(graph.inputs) if id(t) in needed)
      self._live[key] = live, used
    return self._live[key]

  def _inputs_in_use(self, op, wanted):
    """Indices of the inputs that an op's wanted outputs depend on."""
    bodies = self.callees(op)
    everything = range(len(op.inputs))
    if not bodies or None in bodies:
      return everything
    if op.type in LOOPS:
      return self.loop_variables(bodies[0], bodies[1], wanted)
    if op.type == FOR:
      variables = self.loop_variables(None, bodies[0], wanted, offset=1)
      return {0, 1, 2} | {i + 3 for i in variables}
    used = frozenset().union(*(self.live(body, wanted)[1] for body in bodies))
    return {0} | {i + 1 for i in used} if op.type in BRANCHES else used

  def loop_variables(self, cond, body, wanted, offset=0) -> frozenset:
    """Loop variables in use: the wanted ones, the condition's, and those they depend on."""
    variables = wanted | (self.live(cond, frozenset([0]))[1] if cond else frozenset())
    while True:
      used = self.live(body, variables)[1]
      more = variables | frozenset(i - offset for i in used if i >= offset)
      if more == variables:
        return variables
      variables = more


class ShapeInference:
  """Rebuilds a graph op by op with the caller's shapes and values, so TensorFlow infers shapes."""

  def __init__(self):
    self._graph = tf.Graph()
    self._tensors = {}

  def put(self, tensor: tf.Tensor, shape: tf.TensorShape, value, source: tf.Tensor) -> None:
    """Adds a placeholder for an argument or a call's result; `source` has the handle data."""
    with self._graph.as_default():
      if value is not None:
        twin = tf.constant(value, tensor.dtype)
      else:
        twin = tf.compat.v1.placeholder(tensor.dtype, shape)
        if tensor.dtype in _HANDLES:
          private_tensorflow.copy_handle_data(source, twin)
    self._tensors[id(tensor)] = twin

  def run(self, op: tf.Operation) -> None:
    """Rebuilds a primitive op; one that TensorFlow refuses keeps its traced shapes."""
    try:
      inputs = [self._tensors[id(t)] for t in op.inputs]
      attrs = {k: v for k, v in op.node_def.attr.items() if not k.startswith("_")}
      twin = private_tensorflow.create_op(
          self._graph, op.type, inputs, [t.dtype for t in op.outputs], attrs)
    except (KeyError, ValueError, TypeError, tf.errors.OpError):
      for tensor in op.outputs:
        self.put(tensor, tensor.shape, None, tensor)
      return
    for tensor, new in zip(op.outputs, twin.outputs):
      self._tensors[id(tensor)] = new

  def twin(self, tensor: tf.Tensor) -> tf.Tensor:
    return self._tensors.get(id(tensor), tensor)


def merge_shapes(traced: tf.TensorShape, known: tf.TensorShape) -> tf.TensorShape:
  """Merges a traced and a known shape; where they contradict, the traced one is taken."""
  try:
    return traced.merge_with(known)
  except ValueError:
    return traced

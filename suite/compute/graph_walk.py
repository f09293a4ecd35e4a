# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The walk over a traced graph that adds up the cost of one call.

Only ops that run are counted (graph_access.Liveness). Calls are walked with the shapes and small
values that the caller knows. A loop of n trips costs n bodies and n + 1 conditions. A conditional
whose predicate is not constant costs its most expensive branch, an upper bound.
"""

from __future__ import annotations

import dataclasses

import numpy as np
import tensorflow as tf

from suite.compute import cost as cost_lib
from suite.compute import free_ops
from suite.compute import graph_access
from suite.compute import graph_frame
from suite.compute import graph_values
from suite.compute import mac_costs
from suite.compute import op_costs


class Walk:
  """Counts calls of functions. Each count takes a new object, which caches its calls."""

  def __init__(self):
    self._liveness = graph_access.Liveness()
    self._results = {}

  def call(self, graph, arguments, wanted: frozenset) -> graph_frame.CallResult:
    """Cost and outputs of one call of which the `wanted` outputs (indices) are used."""
    live, used = self._liveness.live(graph, wanted)
    keys = tuple(a.key() if i in used else None for i, a in enumerate(arguments))
    key = (graph, keys, wanted)
    if key not in self._results:
      result = self._walk(graph_frame.Frame(graph, arguments, refine=False), live)
      if not _is_settled(result, wanted):  # The traced shapes do not suffice: infer them again.
        result = self._walk(graph_frame.Frame(graph, arguments, refine=True), live)
      self._results[key] = result
    return self._results[key]

  def _walk(self, frame, live) -> graph_frame.CallResult:
    graph = frame.graph
    total = [cost_lib.ZERO]
    for op in self._liveness.order(graph):
      if op not in live:
        continue
      if self._liveness.callees(op):
        result = self._call_op(op, frame, live[op])
        for tensor, output in zip(op.outputs, result.outputs):
          frame.know(tensor, output)
        total.append(result.cost)
      else:
        frame.run(op)
        total.append(self._primitive(op, frame))
    return graph_frame.CallResult(_sum(total), tuple(frame.argument(t) for t in graph.outputs))

  def _primitive(self, op, frame) -> cost_lib.Cost:
    if op.type in free_ops.FREE:
      return cost_lib.ZERO
    rule = mac_costs.COSTS.get(op.type)
    try:
      if rule is not None:
        flops, macs = rule(graph_frame.Node(op, frame))
        return cost_lib.Cost(int(flops), int(macs))
      return self._arithmetic(op, frame)
    except graph_frame.UnknownShape:
      return _unknown(f"{op.type}: unknown shape at", op, 0 if rule is None else None)

  def _arithmetic(self, op, frame) -> cost_lib.Cost:
    rule = op_costs.COSTS.get(op.type)
    if rule is None:
      return _unknown(op.type, None, None)
    dtypes = {t.dtype for t in (*op.inputs, *op.outputs)}
    if any(d.is_complex for d in dtypes):
      return _unknown(f"{op.type} of complex numbers", None, 0)
    if tf.variant in dtypes:
      return self._add_lists(op, frame) if op.type == "AddN" else _unknown(op.type, None, None)
    if op.type.startswith("Resource") or op.type.endswith("VariableOp"):
      dtypes = {op.inputs[i].dtype for i in range(1, len(op.inputs))}
    if not any(d.is_floating for d in dtypes):
      return cost_lib.ZERO
    return cost_lib.Cost(int(rule(graph_frame.Node(op, frame))), 0)

  def _add_lists(self, op, frame) -> cost_lib.Cost:
    """Cost of adding the gradients of a loop's tensor list: each read adds a one-element list.

    The first such list fills an empty slot of the running sum and costs nothing (each trip reads
    its own element); further ones in the same trip are added to it. Other sums are unknown.
    """
    single = [t.op for t in op.inputs if _holds_one_element(t.op)]
    if len(op.inputs) - len(single) > 1:
      return _unknown("AddN: tensor lists at", op, 0)
    try:
      sizes = [frame.shape(i.inputs[2]).num_elements() for i in single[1:]]
    except ValueError:
      sizes = [None]
    if None in sizes:
      return _unknown("AddN: unknown shape at", op, 0)
    return cost_lib.Cost(sum(sizes), 0)

  def _call_op(self, op, frame, wanted) -> graph_frame.CallResult:
    bodies = self._liveness.callees(op)
    if None in bodies:
      cost = _unknown(f"{op.type}: no body for its function at", op, None)
      outputs = tuple(graph_frame.Argument(t.shape, None, t) for t in op.outputs)
      return graph_frame.CallResult(cost, outputs)
    inputs = [frame.argument(t) for t in op.inputs]
    if op.type in graph_access.LOOPS:
      return self._while(op, bodies, inputs, wanted)
    if op.type == graph_access.FOR:
      return self._for(op, bodies[0], inputs, wanted)
    if op.type in graph_access.BRANCHES:
      return self._branch(bodies, inputs, wanted)
    return self.call(bodies[0], inputs, wanted)

  def _branch(self, branches, inputs, wanted) -> graph_frame.CallResult:
    """The branch taken if the predicate is constant, else the most expensive one.

    FLOPs and MACs are each the largest of any branch; unknown if one branch is unknown.
    """
    index, arguments = inputs[0].value, inputs[1:]
    if index is not None and np.ndim(index) == 0:
      last = len(branches) - 1
      index = int(index) if 0 <= int(index) <= last else last  # Case: out of range is the last.
      return self.call(branches[index], arguments, wanted)
    results = [self.call(branch, arguments, wanted) for branch in branches]
    costs = [r.cost for r in results]
    uncounted = _sum(costs).uncounted
    flops, macs = _largest([c.flops for c in costs]), _largest([c.macs for c in costs])
    outputs = tuple(_join(options) for options in zip(*(r.outputs for r in results)))
    return graph_frame.CallResult(cost_lib.Cost(flops, macs, uncounted), outputs)

  def _while(self, op, bodies, inputs, wanted) -> graph_frame.CallResult:
    cond, body = bodies
    trips, final = graph_values.run_loop(
        cond, body, [a.value for a in inputs], _loop_shapes(bodies, inputs)
    )
    variables = self._liveness.loop_variables(cond, body, wanted)
    one, arguments = self._trip(body, inputs, variables)
    test = self.call(cond, arguments, frozenset([0]))
    cost = self._repeat(op, trips, one.cost) + self._repeat(op, _plus_one(trips), test.cost)
    outputs = tuple(
        graph_frame.Argument(out.shape, value, out.source) for out, value in zip(one.outputs, final)
    )
    return graph_frame.CallResult(cost, outputs)

  def _for(self, op, body, inputs, wanted) -> graph_frame.CallResult:
    """For(start, limit, delta, *variables): the body takes (index, *variables)."""
    limits = [a.value for a in inputs[:3]]
    known = all(v is not None for v in limits) and limits[2]
    trips = max(0, -((limits[0] - limits[1]) // limits[2])) if known else None
    index = dataclasses.replace(inputs[0], value=None)
    variables = self._liveness.loop_variables(None, body, wanted, offset=1)
    one, _ = self._trip(body, inputs[3:], variables, index=[index])
    outputs = tuple(graph_frame.Argument(out.shape, None, out.source) for out in one.outputs)
    return graph_frame.CallResult(self._repeat(op, trips, one.cost), outputs)

  def _trip(self, body, inputs, variables, index=()) -> tuple[graph_frame.CallResult, list]:
    """One trip: (result, its arguments); values that change from trip to trip are unknown."""
    index = list(index)
    arguments = [
        a if graph_values.is_invariant(body, i, len(index)) else dataclasses.replace(a, value=None)
        for i, a in enumerate(inputs)
    ]
    result = self.call(body, index + arguments, variables)
    grown = [
        a if str(a.shape) == str(out.shape) else _traced(body.inputs[i + len(index)], a)
        for i, (a, out) in enumerate(zip(arguments, result.outputs))
    ]
    if any(a is not b for a, b in zip(arguments, grown)):
      result, arguments = self.call(body, index + grown, variables), grown
    return result, arguments

  def _repeat(self, op, trips, cost) -> cost_lib.Cost:
    if trips is not None:
      return cost * trips
    if cost.flops == 0 and cost.macs == 0:
      return cost
    unknown = _unknown(f"{op.type}: unknown trip count at", op, None)
    macs = 0 if cost.macs == 0 else None
    return cost_lib.Cost(None, macs, cost.uncounted + unknown.uncounted)


def _traced(placeholder, argument) -> graph_frame.Argument:
  """A loop variable whose shape changes: only the shape that holds for every trip is known."""
  shape = tf.TensorShape([None] * argument.shape.rank) if argument.shape.rank is not None else None
  shape = graph_access.merge_shapes(placeholder.shape, tf.TensorShape(shape))
  return graph_frame.Argument(shape, None, argument.source)


def _loop_shapes(bodies, inputs):
  """`shape_of` for `run_loop`: the shape of an invariant is the caller's."""
  shapes = {}
  for i, argument in enumerate(inputs):
    if graph_values.is_invariant(bodies[1], i):
      for body in bodies:
        shapes[id(body.inputs[i])] = argument.shape
  return lambda tensor: shapes.get(id(tensor), tensor.shape)


def _largest(numbers: list) -> int | None:
  return None if None in numbers else max(numbers)


def _join(options) -> graph_frame.Argument:
  """An output of a conditional: the shape and value that its branches have in common."""
  shape = options[0].shape
  for option in options[1:]:
    shape = shape.most_specific_compatible_shape(option.shape)
  return graph_frame.Argument(shape, None, options[0].source)


def _holds_one_element(op) -> bool:
  return op.type == "TensorListSetItem" and op.inputs[0].op.type == "TensorListReserve"


def _is_settled(result: graph_frame.CallResult, wanted: frozenset) -> bool:
  """Whether a second walk with inferred shapes would give the same result."""
  cost = result.cost
  if cost.flops is None or cost.macs is None:
    return all(" at " not in name for name in cost.uncounted)
  outputs = [result.outputs[i] for i in wanted]
  return all(o.shape.is_fully_defined() or o.source.dtype == tf.string for o in outputs)


def _unknown(reason: str, op: tf.Operation | None, macs: int | None) -> cost_lib.Cost:
  """An unknown cost with its reason: "Svd", "MatMul: unknown shape at dense/MatMul"."""
  return cost_lib.Cost(None, macs, (f"{reason} {op.name}" if op is not None else reason,))


def _plus_one(trips: int | None) -> int | None:
  return None if trips is None else trips + 1


def _sum(costs) -> cost_lib.Cost:
  """Sum of costs; adding them one by one would copy the names each time."""
  flops = [c.flops for c in costs]
  macs = [c.macs for c in costs]
  names = dict.fromkeys(name for c in costs for name in c.uncounted)
  return cost_lib.Cost(
      None if None in flops else sum(flops), None if None in macs else sum(macs), tuple(names)
  )

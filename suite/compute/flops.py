# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""FLOP counter: the cost of a compiled function, counted on its traced graph before it runs.

The rule for every learner and every record:

* A multiply-add is 2 FLOPs. `flops` counts every floating-point op of the graph: products, sums,
  comparisons and function values on elements (1 each, compound ops their steps), reductions,
  pooling, normalization, losses, optimizer updates. Copies, casts, shapes, random draws and
  integer or boolean arithmetic (indices, loop counters) are 0.
* `macs` counts the multiply-adds of convolutions and matrix products only, forward and backward.
* Only ops that run are counted, those of nested functions, loops and second-order gradients
  included.
* Unknown is None and stays None in every sum, and `uncounted` names the cause: an op type that is
  in no table ("Svd"), an open dimension or a loop whose trip count depends on data, with its node.

Three consequences. A `tf.cond` that the graph does not decide counts its most expensive branch. A
function that calls `strategy.run` under a mirrored strategy holds all local replicas, and so does
its cost. A function traced with open dimensions (a batch of None) has an unknown cost: trace it
with a full `tf.TensorSpec`.

The walk over a traced graph adds up the cost of one call. Only ops that run are counted
(graph_frame.Liveness). Calls are walked with the shapes and small values that the caller knows. A
loop of n trips costs n bodies and n + 1 conditions. A conditional whose predicate is not constant
costs its most expensive branch, an upper bound.

A step does its work once per row or once per step, so its cost is linear in the number of rows. Two
points are counted and the others lie on their line (`RowCosts`): tracing another size takes as long
as training it. By rows and classes, each op works once, once per row, once per class, or once per
row and class: the cost is a + b B + c C + d B C. Four graphs give the four numbers (`ShapeCosts`);
a fifth, larger one confirms them, and where it does not, every shape is counted by itself. Where
the graphs are given, not chosen, `SizeCosts` counts those that do not follow from the others.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import fractions
import types
from typing import Any
import weakref

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import graph_frame
from suite.compute import graph_values
from suite.compute import op_costs
from suite.compute import private_tensorflow

Cost = graph_frame.Cost
ZERO = graph_frame.ZERO

_MAX_NAMED = 20  # In the warning; `Cost.uncounted` holds all names.
_watching: list[list[Cost]] = []
_declared: dict[bytes, Callable[[int], Cost]] = {}  # By the tokens of Python functions in graphs.
_written: dict[int, weakref.ref[tf.Tensor]] = {}  # Handles of variables, by identity.
_FIRST = 2  # A graph of one row or one class may be another one.
_CHECKED = (5, 7)


@contextlib.contextmanager
def watched() -> Iterator[list[Cost]]:
  """Returns a list that meanwhile takes the cost of each graph that is counted."""
  _watching.append([])
  try:
    yield _watching[-1]
  finally:
    _watching.pop()


def watch(cost: Cost) -> None:
  """Adds the cost of a graph to the lists of `watched`: one that was counted before, or follows."""
  for watching in _watching:
    watching.append(cost)


def is_written(variable: tf.Variable) -> bool:
  """Whether a graph that was counted in this process writes a variable."""
  known = _written.get(id(variable.handle))
  return known is not None and known() is variable.handle


def declare(output: tf.Tensor, cost: Callable[[int], Cost]) -> None:
  """Gives the cost of a Python function within a graph, which is unknown otherwise.

  Args:
    output: of `tf.numpy_function`, in the graph.
    cost: number of rows of its first argument -> cost of the call.
  """
  _declared[output.op.get_attr("token")] = cost


def count(concrete_function, given: Mapping[str, int] = types.MappingProxyType({})) -> Cost:
  """Cost of one call of a concrete function (`tf.function(f).get_concrete_function(...)`).

  Args:
    concrete_function: see above.
    given: values of arguments [] that a cost depends on, by their names, such as the number of
      trips of a loop.
  """
  graph = getattr(concrete_function, "graph", None)
  if not isinstance(graph, tf.Graph) or not hasattr(graph, "outputs"):
    raise TypeError(
        f"count() got {type(concrete_function).__name__}; it takes a ConcreteFunction. Call "
        "get_concrete_function(...) on the tf.function with the specs of its arguments."
    )
  for handle in private_tensorflow.written_handles(graph):
    _written[id(handle)] = weakref.ref(handle)
  # {id of graph input: value} of the small eager tensors that the function has captured.
  fixed = {}
  for outside, inside in graph.captures:
    is_number = outside.dtype.is_integer or outside.dtype.is_bool or outside.dtype.is_floating
    if hasattr(outside, "numpy") and is_number and outside.shape.num_elements() <= 8:
      fixed[id(inside)] = graph_values.plain(outside.numpy())
  fixed.update({id(t): graph_values.plain(np.asarray(given[t.op.name]))
                for t in graph.inputs if t.op.name in given})
  arguments = [graph_frame.Argument(t.shape, fixed.get(id(t)), t) for t in graph.inputs]
  cost = Walk().call(graph, arguments, frozenset(range(len(graph.outputs)))).cost
  # The first node of each op type with an open shape; the shapes of later nodes follow from it.
  first: dict[str, str] = {}
  for name in cost.uncounted:
    first.setdefault(name.partition(" shape at ")[0], name)
  cost = dataclasses.replace(cost, uncounted=tuple(first.values()))
  watch(cost)
  if cost.flops is None or cost.macs is None:
    named = "; ".join(cost.uncounted[:_MAX_NAMED])
    more = len(cost.uncounted) - _MAX_NAMED
    logging.warning(
        "The cost of function %r is unknown (FLOPs %s, MACs %s): %s%s.",
        graph.name, cost.flops, cost.macs, named, f" and {more} more" if more > 0 else "",
    )
  return cost


class Walk:
  """Counts calls of functions. Each count takes a new object, which caches its calls."""

  def __init__(self):
    self._liveness = graph_frame.Liveness()
    self._results = {}

  def call(self, graph, arguments, wanted: frozenset) -> graph_frame.CallResult:
    """Cost and outputs of one call of which the `wanted` outputs (indices) are used."""
    live, used = self._liveness.live(graph, wanted)
    keys = tuple(a.key() if i in used else None for i, a in enumerate(arguments))
    key = (graph, keys, wanted)
    if key not in self._results:
      result = self._walk(graph_frame.Frame(graph, arguments, refine=False), live)
      if None in (result.cost.flops, result.cost.macs):
        is_settled = all(" at " not in name for name in result.cost.uncounted)
      else:
        outputs = [result.outputs[i] for i in wanted]
        is_settled = all(
            o.shape.is_fully_defined() or o.source.dtype == tf.string for o in outputs)
      if not is_settled:  # The traced shapes do not suffice, so another walk infers them.
        result = self._walk(graph_frame.Frame(graph, arguments, refine=True), live)
      self._results[key] = result
    return self._results[key]

  def _walk(self, frame, live) -> graph_frame.CallResult:
    total = [graph_frame.ZERO]
    order = [op for op in self._liveness.order(frame.graph) if op in live]
    tensors = graph_frame.LiveTensors(frame, order)
    for place, op in enumerate(order):
      if self._liveness.callees(op):
        result = self._call_op(op, frame, live[op])
        for tensor, output in zip(op.outputs, result.outputs):
          frame.know(tensor, output)
        total.append(result.cost)
        tensors.run(place, op, result.cost)
      else:
        frame.run(op)
        total.append(self._primitive(op, frame))
        tensors.run(place, op, graph_frame.ZERO)
    cost = dataclasses.replace(_sum(total), peak_bytes=tensors.peak, kept_bytes=tensors.kept)
    return graph_frame.CallResult(cost, tuple(frame.argument(t) for t in frame.graph.outputs))

  def _primitive(self, op, frame) -> graph_frame.Cost:
    if op.type in op_costs.FREE:
      return graph_frame.ZERO
    has_macs = op.type in op_costs.MAC_COSTS
    try:
      if has_macs:
        flops, macs = op_costs.MAC_COSTS[op.type](graph_frame.Node(op, frame))
        return graph_frame.Cost(int(flops), int(macs), ops=1)
      rule = op_costs.COSTS.get(op.type)
      if op.type == "PyFunc" and op.get_attr("token") in _declared:
        return _declared[op.get_attr("token")](graph_frame.Node(op, frame).input(0)[0])
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
        return graph_frame.ZERO
      return graph_frame.Cost(int(rule(graph_frame.Node(op, frame))), 0, ops=1)
    except graph_frame.UnknownShape:
      return _unknown(f"{op.type}: unknown shape at", op, None if has_macs else 0)

  def _add_lists(self, op, frame) -> graph_frame.Cost:
    """Cost of adding the gradients of a loop's tensor list: each read adds a one-element list.

    The first such list fills an empty slot of the running sum and costs nothing (each trip reads
    its own element); further ones in the same trip are added to it. Other sums are unknown.
    """
    single = [t.op for t in op.inputs if t.op.type == "TensorListSetItem"
              and t.op.inputs[0].op.type == "TensorListReserve"]
    if len(op.inputs) - len(single) > 1:
      return _unknown("AddN: tensor lists at", op, 0)
    try:
      sizes = [frame.shape(i.inputs[2]).num_elements() for i in single[1:]]
    except ValueError:
      sizes = [None]
    if None in sizes:
      return _unknown("AddN: unknown shape at", op, 0)
    return graph_frame.Cost(sum(sizes), 0)

  def _call_op(self, op, frame, wanted) -> graph_frame.CallResult:
    bodies = self._liveness.callees(op)
    if None in bodies:
      cost = _unknown(f"{op.type}: no body for its function at", op, None)
      outputs = tuple(graph_frame.Argument(t.shape, None, t) for t in op.outputs)
      return graph_frame.CallResult(cost, outputs)
    inputs = [frame.argument(t) for t in op.inputs]
    if op.type in graph_frame.LOOPS:
      graphs: tuple[Any, ...] = bodies
      cond, body = graphs
      shapes = {}  # The shape of an invariant is the caller's.
      for i, argument in enumerate(inputs):
        if graph_values.is_invariant(body, i):
          shapes.update({id(graph.inputs[i]): argument.shape for graph in graphs})
      trips, final = graph_values.run_loop(
          cond, body, [a.value for a in inputs], lambda tensor: shapes.get(id(tensor), tensor.shape)
      )
      variables = self._liveness.loop_variables(cond, body, wanted)
      one, arguments = self._trip(body, inputs, variables)
      test = self.call(cond, arguments, frozenset([0]))
      cost = self._repeat(op, trips, one.cost) + self._repeat(
        op, None if trips is None else trips + 1, test.cost
      )
      outputs = tuple(
        graph_frame.Argument(out.shape, value, out.source) for out, value in zip(one.outputs, final)
      )
      return graph_frame.CallResult(cost, outputs)
    if op.type == graph_frame.FOR:
      # For(start, limit, delta, *variables): the body takes (index, *variables).
      limits = [a.value for a in inputs[:3]]
      known = all(v is not None for v in limits) and limits[2]
      trips = max(0, -((limits[0] - limits[1]) // limits[2])) if known else None
      index = dataclasses.replace(inputs[0], value=None)
      variables = self._liveness.loop_variables(None, bodies[0], wanted, offset=1)
      one, _ = self._trip(bodies[0], inputs[3:], variables, index=[index])
      outputs = tuple(graph_frame.Argument(out.shape, None, out.source) for out in one.outputs)
      return graph_frame.CallResult(self._repeat(op, trips, one.cost), outputs)
    if op.type in graph_frame.BRANCHES:
      return self._branch(bodies, inputs, wanted)
    return self.call(bodies[0], inputs, wanted)

  def _branch(self, branches, inputs, wanted) -> graph_frame.CallResult:
    """The branch taken if the predicate is constant, else the most expensive one.

    FLOPs and MACs are each the largest of any branch; unknown if one branch is unknown. An output
    then has the shape that the branches have in common, and no value.
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
    outputs = []
    for options in zip(*(r.outputs for r in results)):
      shape = options[0].shape
      for option in options[1:]:
        shape = shape.most_specific_compatible_shape(option.shape)
      outputs.append(graph_frame.Argument(shape, None, options[0].source))
    cost = graph_frame.Cost(
        flops, macs, uncounted, *(max(getattr(c, name) for c in costs)
                                  for name in ("ops", "peak_bytes", "kept_bytes")))
    return graph_frame.CallResult(cost, tuple(outputs))

  def _trip(self, body, inputs, variables, index=()) -> tuple[graph_frame.CallResult, list]:
    """One trip: (result, its arguments); values that change from trip to trip are unknown."""
    index = list(index)
    arguments = [
        a if graph_values.is_invariant(body, i, len(index)) else dataclasses.replace(a, value=None)
        for i, a in enumerate(inputs)
    ]
    result = self.call(body, index + arguments, variables)
    grown = list(arguments)
    for i, (a, out) in enumerate(zip(arguments, result.outputs)):
      if str(a.shape) != str(out.shape):  # Only the shape that holds for every trip is known.
        shape = tf.TensorShape(None if a.shape.rank is None else [None] * a.shape.rank)
        shape = graph_frame.merge_shapes(body.inputs[i + len(index)].shape, shape)
        grown[i] = graph_frame.Argument(shape, None, a.source)
    if any(a is not b for a, b in zip(arguments, grown)):
      result, arguments = self.call(body, index + grown, variables), grown
    return result, arguments

  def _repeat(self, op, trips, cost) -> graph_frame.Cost:
    if trips is not None:
      return cost * trips
    if cost.flops == 0 and cost.macs == 0:
      return cost
    unknown = _unknown(f"{op.type}: unknown trip count at", op, None)
    macs = 0 if cost.macs == 0 else None
    return graph_frame.Cost(None, macs, cost.uncounted + unknown.uncounted)


def _largest(numbers: list) -> int | None:
  return None if None in numbers else max(numbers)


def _unknown(reason: str, op: tf.Operation | None, macs: int | None) -> graph_frame.Cost:
  """An unknown cost with its reason: "Svd", "MatMul: unknown shape at dense/MatMul"."""
  return graph_frame.Cost(None, macs, (f"{reason} {op.name}" if op is not None else reason,))


def _sum(costs) -> graph_frame.Cost:
  """Sum of costs; adding them one by one would copy the names each time."""
  flops = [c.flops for c in costs]
  macs = [c.macs for c in costs]
  names = dict.fromkeys(name for c in costs for name in c.uncounted)
  return graph_frame.Cost(
      None if None in flops else sum(flops), None if None in macs else sum(macs), tuple(names),
      sum(c.ops for c in costs), max((c.peak_bytes for c in costs), default=0))


class RowCosts:
  """Cost of a step on any number of rows.

  Args:
    count: number of rows -> the cost counted on a graph with that batch size.
    size: the size, above 1, that is counted beside 1 row.
  """

  def __init__(self, count: Callable[[int], Cost], size: int = 2):
    if size < 2:
      raise ValueError(f"size is {size}; a line goes through 1 row and a larger batch.")
    self._count, self._size = count, size
    self._points: tuple[Cost, Cost] | None = None  # Of 1 and `size` rows.

  def __call__(self, rows: int) -> Cost:
    """Returns the cost of one step on `rows` examples; zero for 0 rows.

    If the cost is unknown for one size, it is unknown for all.
    """
    if not rows:
      return ZERO
    if self._points is None:
      self._points = self._count(1), self._count(self._size)
    one, other = self._points
    if any(a is not None and b is not None and (b - a) % (self._size - 1)
           for a, b in ((one.flops, other.flops), (one.macs, other.macs))):
      return self._count(rows)  # On no line: a row has no cost that is the same for all.
    cost = Cost(self._on_line(one.flops, other.flops, rows),
                self._on_line(one.macs, other.macs, rows), one.uncounted, other.ops,
                self._on_line(one.peak_bytes, other.peak_bytes, rows) or 0)
    watch(cost)
    return cost

  def _on_line(self, one: int | None, other: int | None, rows: int) -> int | None:
    if one is None or other is None:
      return None
    return one + (rows - 1) * ((other - one) // (self._size - 1))


class ShapeCosts:
  """Cost of a step on B rows of a task with C classes.

  Args:
    count: (B, C) -> the cost counted on a graph of that shape.
  """

  def __init__(self, count: Callable[[int, int], Cost]):
    self._count = count
    self._known: dict[tuple[int, int], Cost] = {}
    self._is_bilinear: bool | None = None

  def __call__(self, rows: int, classes: int) -> Cost:
    """Returns the cost; if it is unknown for one shape, it is unknown for all."""
    if (rows, classes) in self._known:
      watch(self._known[rows, classes])
      return self._known[rows, classes]
    if not rows:
      return ZERO
    if self._is_bilinear is None:
      expected, counted = self._at(*_CHECKED), self._counted(*_CHECKED)
      self._is_bilinear = (expected.flops, expected.macs) == (counted.flops, counted.macs)
      if not self._is_bilinear:
        logging.info("The cost of a step is not bilinear in its rows and classes (%s expected, %s "
                     "counted for %s): each shape is counted.", expected.flops, counted.flops,
                     _CHECKED)
    cost = self._at(rows, classes) if self._is_bilinear else self._counted(rows, classes)
    watch(cost)
    return cost

  def _counted(self, rows: int, classes: int) -> Cost:
    if (rows, classes) not in self._known:
      self._known[rows, classes] = self._count(rows, classes)
    return self._known[rows, classes]

  def _at(self, rows: int, classes: int) -> Cost:
    corners = [[self._counted(_FIRST + i, _FIRST + j) for j in (0, 1)] for i in (0, 1)]

    def extended(values: list[list[int | None]]) -> int | None:
      (a, b), (c, d) = values
      if a is None or b is None or c is None or d is None:
        return None
      x, y = rows - _FIRST, classes - _FIRST
      return a + x * (c - a) + y * (b - a) + x * y * (d - c - b + a)

    return Cost(extended([[cost.flops for cost in line] for line in corners]),
                extended([[cost.macs for cost in line] for line in corners]),
                corners[0][0].uncounted, corners[1][1].ops,
                extended([[cost.peak_bytes for cost in line] for line in corners]) or 0)


class SizeCosts:
  """Costs of graphs that differ in sizes only, linear in given terms, such as S, W and S W.

  A cost that follows from those that are counted is not counted. The first such is counted all the
  same: if it differs, every graph is counted from then on.

  Args:
    close: the share of a cost by which that may differ.

  Attributes:
    num_followed: the calls whose cost followed from others.
  """

  def __init__(self, *, close: float = 0.0):
    self._known: dict[tuple[int, ...], Cost] = {}
    self._close, self.num_followed = close, 0
    self._is_linear, self._is_confirmed = True, False

  def __call__(self, terms: tuple[int, ...], count: Callable[[], Cost]) -> Cost:
    """Returns the cost of a graph with these terms, a constant one included; count() counts it."""
    if terms in self._known:
      watch(self._known[terms])
      return self._known[terms]
    expected = self._expected(terms) if self._is_linear else None
    if expected is not None and self._is_confirmed:
      self.num_followed += 1
      watch(expected)
      return expected
    self._known[terms] = found = count()
    if expected is not None:
      self._is_confirmed = self._is_linear = all(
          a == b or (a is not None and b is not None and abs(a - b) <= self._close * b)
          for a, b in ((expected.flops, found.flops), (expected.macs, found.macs)))
    return found

  def _expected(self, terms: tuple[int, ...]) -> Cost | None:
    """The cost by those that are counted; None if it does not follow from them."""
    shares = _shares(list(self._known), terms)
    if shares is None:
      return None
    used = [(share, cost) for share, cost in zip(shares, self._known.values()) if share]

    def total(amounts: list[int | None]) -> int | None:
      found = fractions.Fraction(0)
      for (share, _), amount in zip(used, amounts):
        if amount is None:
          return None
        found += share * amount
      return round(found)

    flops, macs, ops, peak = (total([getattr(cost, name) for _, cost in used])
                              for name in ("flops", "macs", "ops", "peak_bytes"))
    return Cost(flops, macs, used[0][1].uncounted, ops or 0, max(peak or 0, 0))


def _shares(rows: Sequence[Sequence[int]], wanted: Sequence[int]
            ) -> list[fractions.Fraction] | None:
  """The factors of rows [N, K] whose sum is `wanted` [K]; None if there are none."""
  reduced: list[tuple[int, list[fractions.Fraction]]] = []  # Its first column, and row and factors.

  def reduce(row: Sequence[int], own: Sequence[int]) -> list[fractions.Fraction]:
    left = [fractions.Fraction(value) for value in (*row, *own)]
    for column, other in reduced:
      factor = left[column] / other[column]
      left = [a - factor * b for a, b in zip(left, other)]
    return left

  size = len(wanted)
  for i, row in enumerate(rows):
    left = reduce(row, [int(i == j) for j in range(len(rows))])
    column = next((k for k in range(size) if left[k]), None)
    if column is not None:
      reduced.append((column, left))
  rest = reduce(wanted, [0] * len(rows))
  return None if any(rest[:size]) else [-factor for factor in rest[size:]]

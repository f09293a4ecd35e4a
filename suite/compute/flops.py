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
"""

from __future__ import annotations

from collections.abc import Mapping
import types

from absl import logging
import numpy as np
import tensorflow as tf

from suite.compute import cost as cost_lib
from suite.compute import graph_frame
from suite.compute import graph_values
from suite.compute import graph_walk

Cost = cost_lib.Cost
ZERO = cost_lib.ZERO

_MAX_NAMED = 20  # In the warning; `Cost.uncounted` holds all names.


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
  fixed = _fixed_captures(graph)
  fixed.update({id(t): graph_values.plain(np.asarray(given[t.op.name]))
                for t in graph.inputs if t.op.name in given})
  arguments = [graph_frame.Argument(t.shape, fixed.get(id(t)), t) for t in graph.inputs]
  cost = graph_walk.Walk().call(graph, arguments, frozenset(range(len(graph.outputs)))).cost
  cost = Cost(cost.flops, cost.macs, _first_of_each(cost.uncounted))
  if cost.flops is None or cost.macs is None:
    _warn(graph, cost)
  return cost


def _first_of_each(names: tuple[str, ...]) -> tuple[str, ...]:
  """The first node of each op type with an open shape; the shapes of later nodes follow from it."""
  first: dict[str, str] = {}
  for name in names:
    first.setdefault(name.partition(" shape at ")[0], name)
  return tuple(first.values())


def _fixed_captures(graph) -> dict:
  """{id of graph input: value} of the small eager tensors that the function has captured."""
  values = {}
  for outside, inside in graph.captures:
    is_number = outside.dtype.is_integer or outside.dtype.is_bool or outside.dtype.is_floating
    if hasattr(outside, "numpy") and is_number and outside.shape.num_elements() <= 8:
      values[id(inside)] = graph_values.plain(outside.numpy())
  return values


def _warn(graph, cost: Cost) -> None:
  named = "; ".join(cost.uncounted[:_MAX_NAMED])
  more = len(cost.uncounted) - _MAX_NAMED
  logging.warning(
      "The cost of function %r is unknown (FLOPs %s, MACs %s): %s%s.",
      graph.name, cost.flops, cost.macs, named, f" and {more} more" if more > 0 else "",
  )

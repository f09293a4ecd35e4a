# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ops of the graphs of MAML++ low-end: what a GPU launches, but for what XLA joins.

Graphs are those of a meta-update, and of the answers to several tasks. Ops that compute nothing
(constants, reads, shapes) are left out, those of called functions counted once a call, and bodies
of loops once: their trips depend on the task.
"""

from __future__ import annotations

import collections
import types
from typing import Any

import tensorflow as tf

from suite.compute import distribution
from suite.compute import graph_frame
from suite.compute import seeds
from suite.contracts import deliveries
from suite.contracts import tasks
from suite.data.episodes import episodes
from suite.learners import maml
from suite.models.episodic import functional_conv4
from suite.training.episodic import episode_graphs
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules

FREE = frozenset((
    "Const", "ExpandDims", "Identity", "IdentityN", "NoOp", "Placeholder", "ReadVariableOp",
    "Reshape", "Shape", "Squeeze", "StridedSlice"))
WAY, TARGETS = 5, 25


def count(function: Any) -> collections.Counter[str]:
  """The ops of a concrete function by type, those of the functions that it calls included."""
  walk, found = graph_frame.Liveness(), collections.Counter()

  def add(graph: Any) -> None:
    live, _ = walk.live(graph, frozenset(range(len(graph.outputs))))
    for op in live:
      bodies = [body for body in walk.callees(op) if body is not None]
      for body in bodies:
        add(body)
      if not bodies and op.type not in FREE:
        found[op.type] += 1

  add(function.graph)
  return found


def graph(what: str, num_sets: int, tasks_at_once: int, batching: str, *,
          steps: int = 5, filters: int = 48, blocks: int = 4) -> Any:
  """The concrete function of an "update" or an "answer", of 28 x 28 images, 5-way 1-shot."""
  learner = maml.Maml(
      functional_conv4.Conv4(filters=filters, blocks=blocks), channels=1,
      inner=inner_loop.InnerLoop(steps=steps, num_support_sets=num_sets),
      transform=types.SimpleNamespace(size=28), training=meta_schedules.MetaTraining())
  learner.begin(tasks.Task("episode", tasks.SINGLE_LABEL, WAY), types.SimpleNamespace(
      distribution=distribution.build(), seeds=seeds.Seeds(0), delivery=deliveries.EPISODES))
  spec = episodes.Episode(*(
      tf.TensorSpec([tasks_at_once, *shape], dtype) for shape, dtype in (
          ((num_sets, WAY, 28, 28, 1), tf.uint8), ((num_sets, WAY), tf.int64),
          ((TARGETS, 28, 28, 1), tf.uint8), ((TARGETS,), tf.int64))))
  graphs = episode_graphs.Graphs(learner, WAY, batching=batching)
  if what == "answer":
    return graphs.answer.get_concrete_function(tuple(spec[:3]))
  return graphs.update.get_concrete_function(spec)


def run() -> None:
  """Prints a table."""
  print("| graph | support sets | tasks | ops | the commonest |\n"
        "|---|---:|---|---:|---|")
  for what, num_sets, tasks_at_once, batching in (
      ("update", 1, 1, "loop"), ("update", 1, 8, "grouped"), ("update", 2, 1, "loop"),
      ("answer", 1, 8, "loop"), ("answer", 1, 8, "grouped"), ("answer", 1, 50, "grouped")):
    found = count(graph(what, num_sets, tasks_at_once, batching))
    names = ", ".join(f"{name} {number}" for name, number in found.most_common(3))
    print(f"| {what} | {num_sets} | {tasks_at_once}"
          f"{', grouped' * (batching == 'grouped')} | {sum(found.values()):,} | {names} |")

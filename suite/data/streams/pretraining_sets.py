# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What NEVIS'22's pretrained baselines learn from: training images of a stream's meta-train tasks.

    one_task      PT-ISup, with ImageNet; any task of the stream, or of another one
    all_tasks     PT-MT

Images that a task of the stream is scored on are left out as they are in the stream itself (its
`shared_images`), so give the stream that is run afterwards. Data sets are read at once and stay in
memory, but for those that are streamed from disk.
"""

from __future__ import annotations

from suite.contracts import examples
from suite.data.streams import stream_events
from suite.data.streams import task_mixture


def one_task(stream: stream_events.Stream, task: str) -> examples.ExampleSet:
  """The training images of one meta-train task, by its key."""
  part = _meta_train(stream)
  found = {entry.key: entry for entry in part.entries}
  if task not in found:
    raise ValueError(f"Stream {stream.name!r} has no meta-train task {task!r}; it has "
                     f"{', '.join(found)}.")
  return found[task].load().train


def all_tasks(stream: stream_events.Stream, groups: int = 8, exponent: float = 1.0
              ) -> task_mixture.TaskMixture:
  """The training images of all meta-train tasks; a task that is repeated takes part once.

  Args:
    stream: the stream.
    groups: a batch is made of this many groups of equal size, each from one task. The paper does
      not say how it mixes tasks.
    exponent: see `TaskMixture`.
  """
  part = _meta_train(stream)
  sets = {entry.key: entry.load().train for entry in part.entries if entry.task.occurrence == 1}
  return task_mixture.TaskMixture(sets, name=part.name, groups=groups, exponent=exponent)


def _meta_train(stream: stream_events.Stream) -> stream_events.Stream:
  part = stream.meta_train()
  part.events()  # Names all data that is missing.
  return part

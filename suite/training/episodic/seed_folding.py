# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of several seeds in one process, whose updates and answers are computed together.

The runs of a cell differ in their seed alone, so their graphs are equal, and on a GPU one graph of
L learners (`EpisodicLearner.folded`) takes little longer than that of one. Each run is what it is
alone, with its work directory, records, ledger and state; it is a thread of `SeedFolding.run`.

Threads take turns: one runs until it wants something computed, then the next. Once all want
something, what those want that are least advanced is computed, in one graph if they want the same.
So a run that lags, since another one was saved later before a kill, catches up alone; and a run
that ends, or fails, leaves the others to themselves.
"""

from __future__ import annotations

from collections.abc import Sequence
import threading
from typing import Any, Callable, NamedTuple, Optional

from absl import logging
import numpy as np
import tensorflow as tf

from suite.contracts import learner as learner_lib
from suite.training.episodic import episode_graphs

_here = threading.local()
_POLL_SECONDS = 0.2  # The main thread answers signals meanwhile.


class _Wanted(NamedTuple):
  """What a thread waits for.

  Attributes:
    key: equal for what can be computed together: the learner's name, its number of updates, what is
      wanted, and further details.
    argument: of this thread.
    compute: compute(arguments of those that want the same) -> their results.
  """

  key: tuple[str, int, str, str]
  argument: Any
  compute: Callable[[Sequence[Any]], Sequence[Any]]


class SeedFolding:
  """Runs that meet where graphs compute."""

  def __init__(self) -> None:
    self._turn = threading.Condition()
    self._running: set[int] = set()
    self._wanted: dict[int, _Wanted] = {}
    self._found: dict[int, Any] = {}
    self._ended: Optional[BaseException] = None
    self._graphs: tuple[Sequence[episode_graphs.Graphs], Any] = ((), None)
    self._updates: dict[tuple[int, ...], episode_graphs.ManyUpdates] = {}

  def run(self, calls: Sequence[Callable[[], Any]]) -> list[Any]:
    """Returns the results of the calls, of which one runs at a time; raises the first error.

    An error ends its own call only.
    """
    results: list[Any] = [None] * len(calls)
    errors: dict[int, BaseException] = {}

    def member(number: int) -> None:
      _here.folding, _here.number = self, number
      with self._turn:
        try:
          results[number] = calls[number]()
        except BaseException as error:  # The main thread raises it.
          errors[number] = error
        self._running.discard(number)
        self._serve()

    self._running = set(range(len(calls)))
    threads = [threading.Thread(target=member, args=(number,), daemon=True)
               for number in range(len(calls))]
    for thread in threads:
      thread.start()
    try:
      for thread in threads:
        while thread.is_alive():
          thread.join(_POLL_SECONDS)
    except BaseException as error:  # Ctrl-C, or SIGTERM: each thread ends when it next waits.
      self._ended = error
      with self._turn:
        self._turn.notify_all()
      for thread in threads:
        thread.join()
      raise
    for number in sorted(errors)[1:]:
      logging.error("Another of the %d runs has failed, too: %s", len(calls), errors[number])
    if errors:
      raise errors[min(errors)]
    return results

  def updates(self, graphs: episode_graphs.Graphs, batches: Any,
              complete: Callable[[Any], Any] | None = None) -> SeedUpdates:
    """The updates of one run by the batches of an iterator, see `Graphs.updates_of`."""
    return SeedUpdates(self, graphs, batches, complete)

  def answer(self, graphs: episode_graphs.Graphs, batch: Sequence[tf.Tensor], unrolled: bool
             ) -> tf.Tensor:
    """Logits [B, T, W], see `Graphs.answer`."""
    shapes = [tuple(part.shape) for part in batch]

    def compute(asked: Sequence[tuple[episode_graphs.Graphs, Sequence[tf.Tensor]]]) -> Any:
      if len(asked) == 1:
        return [graphs.answer(batch, unrolled)]
      together = episode_graphs.side_by_side([tuple(batch) for _, batch in asked])
      found = self._folded([graphs for graphs, _ in asked]).answer(together, unrolled)
      return tf.split(found, len(asked))

    return self.meet(graphs.learner, "answer", f"{shapes} {unrolled}", (graphs, batch), compute)

  def take(self, asked: Sequence[SeedUpdates], number: int) -> Sequence[np.ndarray]:
    """Does N updates of each run; returns their losses, [N] each."""
    key = tuple(id(one.batches) for one in asked)  # The updates hold them.
    if key not in self._updates:
      made, batches, complete = asked[0].graphs, asked[0].batches, asked[0].complete
      if len(asked) > 1:
        made, batches = self._folded([one.graphs for one in asked]), tuple(
            one.batches for one in asked)
        completes = [one.complete for one in asked if one.complete is not None]
        if completes:
          complete = lambda chosen: episode_graphs.side_by_side(
              [fn(part) for fn, part in zip(completes, chosen)])
      self._updates = {key: episode_graphs.ManyUpdates(  # Those of earlier events are over.
          made.updates if complete is None else made.updates_of(complete), batches)}
    losses = self._updates[key].take(number)
    return [losses] if len(asked) == 1 else list(losses.T)

  def meet(self, learner: learner_lib.EpisodicLearner, kind: str, what: str, argument: Any,
           compute: Callable[[Sequence[Any]], Sequence[Any]]) -> Any:
    """Returns what compute(arguments of all that want the same) has for this thread."""
    optimizer = learner.optimizer
    done = -1 if optimizer is None else int(optimizer.iterations)
    number = _here.number
    self._wanted[number] = _Wanted((_here.name, done, kind, what), argument, compute)
    self._serve()
    while number not in self._found:
      if self._ended is not None:
        raise self._ended
      self._turn.wait()
    found = self._found.pop(number)
    if isinstance(found, Exception):
      raise found
    return found

  def _serve(self) -> None:
    """Computes what the least advanced threads want, if all that run want something."""
    if not self._wanted or len(self._wanted) < len(self._running) or self._ended is not None:
      return
    key = min(one.key for one in self._wanted.values())
    numbers = sorted(number for number, one in self._wanted.items() if one.key == key)
    wanted = [self._wanted.pop(number) for number in numbers]
    try:
      found: Sequence[Any] = wanted[0].compute([one.argument for one in wanted])
    except Exception as error:  # Each of these threads raises it.
      found = [error] * len(numbers)
    self._found.update(zip(numbers, found))
    self._turn.notify_all()

  def _folded(self, graphs: Sequence[episode_graphs.Graphs]) -> episode_graphs.Graphs:
    """The graphs of several runs together."""
    if self._graphs[0] != list(graphs):
      self._graphs = (list(graphs), graphs[0].beside([one.learner for one in graphs[1:]]))
    return self._graphs[1]


class SeedUpdates(NamedTuple):
  """As `episode_graphs.ManyUpdates`, of one run.

  Attributes:
    folding: of the runs.
    graphs: of the run.
    batches: an iterator.
    complete: makes a batch of what the iterator yields, in the graph; None: it is one.
  """

  folding: SeedFolding
  graphs: episode_graphs.Graphs
  batches: Any
  complete: Callable[[Any], Any] | None

  def take(self, number: int) -> np.ndarray:
    """Does N updates; returns their losses, [N]."""
    return self.folding.meet(self.graphs.learner, "update", str(number), self,
                             lambda asked: self.folding.take(asked, number))


def begin(name: str, learner: learner_lib.EpisodicLearner) -> SeedFolding | None:
  """As `current`, where a learner of this name begins; None if it has no folded form."""
  _here.name = name
  return current() if learner.can_fold else None


def current() -> SeedFolding | None:
  """The runs that the run of this thread belongs to; None: it is alone."""
  return getattr(_here, "folding", None)

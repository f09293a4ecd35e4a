# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The rows of a step, and a memory as a step sees it; all of it is traced into the step's graph.

  drawn = memory.draw()                      replayed rows; none while the memory is empty
  both = step_rows.joined(rows, drawn)       for one pass through the net
  memory.store(rows)                         offers the step's rows to the memory

A loop reads all rows of a step at once, incoming ones first; so the rows of a step and those that
it draws, joined in this order, are no copy.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import tensorflow as tf


class Rows(NamedTuple):
  """Rows of one step.

  Attributes:
    images: [B, ...], as the net takes them: images, augmented, or features.
    labels: int64 [B], or multi-hot [B, C].
    logits: float32 [B, C], stored with the rows of a memory, NaN for classes that were not known
      then; None: none are.
    sizes: the numbers of rows that were joined; None: known when the graph runs.
    block: all rows that the loop has read. first: of the parts of the block that these are.
  """

  images: tf.Tensor
  labels: tf.Tensor
  logits: tf.Tensor | None = None
  sizes: tuple[int | None, ...] = (None,)
  block: Any = None
  first: int = 0

  @property
  def num(self) -> int | tf.Tensor:
    """B, if possible as it is known when the graph is made."""
    return length(self.labels) if None in self.sizes else sum(
        size for size in self.sizes if size is not None)

  def at(self, places: tf.Tensor) -> Rows:
    """Some of the rows; places int [n], n known when the graph is made."""
    return Rows(tf.gather(self.images, places), tf.gather(self.labels, places),
                None if self.logits is None else tf.gather(self.logits, places),
                (int(places.shape[0]),))

  def parts(self, outputs: tf.Tensor) -> list[tf.Tensor]:
    """Outputs [B, ...] of joined rows, for each of the sets that were joined."""
    behind = [sum(size or 0 for size in self.sizes[place + 1:])
              for place in range(len(self.sizes))]
    found = []
    for size, left in zip(self.sizes, behind):
      end = length(outputs) - left
      part = outputs[:end] if size is None else outputs[end - size:end]
      if size is not None:  # Of open numbers of rows it is not inferred.
        part.set_shape([size, *part.shape[1:]])
      found.append(part)
    return found


def length(rows: tf.Tensor) -> int | tf.Tensor:
  """The number of rows, if possible as it is known when the graph is made."""
  return tf.shape(rows)[0] if rows.shape[0] is None else int(rows.shape[0])


def split(images: tf.Tensor, labels: tf.Tensor, sizes: Sequence[int | None],
          logits: tf.Tensor | None = None) -> list[Rows]:
  """The rows of a block [B, ...] in consecutive parts.

  Args:
    sizes: of the parts; the first alone may be open.
    logits: stored ones [R, C] of all parts but the first; None: there are none.
  """
  block = Rows(images, labels, sizes=tuple(sizes))
  found = [Rows(of_images, of_labels, sizes=(size,), block=block, first=place)
           for place, (of_images, of_labels, size) in enumerate(zip(
               block.parts(images), block.parts(labels), sizes))]
  if logits is None or len(found) < 2:
    return found
  stored = Rows(images, labels, sizes=tuple(sizes[1:])).parts(logits)
  return [found[0], *(rows._replace(logits=part) for rows, part in zip(found[1:], stored))]


def joined(*sets: Rows) -> Rows:
  """All rows of the sets, one set after the other; stored logits are left out."""
  taken = [rows for rows in sets if rows.sizes != (0,)]
  if len(taken) == 1:
    return taken[0]
  sizes = tuple(size for rows in taken for size in rows.sizes)
  block, first = taken[0].block, taken[0].first
  if block is not None and not first and sizes == block.sizes and all(
      rows.block is block and rows.first == place for place, rows in enumerate(taken)):
    return block
  images, labels = (tf.concat(parts, 0) for parts in zip(*(rows[:2] for rows in taken)))
  return Rows(images, labels, sizes=sizes)


class StepMemory:
  """A memory as one step sees it.

  Args:
    rows: those of the step.
    num: R, rows of a draw.
    is_empty: whether nothing is held.
    draws: what is drawn, one after the other; None: blank rows of `width` classes.
    store: offers the rows of the step, with logits [B, C] or None, to the memory; None: it stays as
      it is during the step.
    places: int64 [K], of the rows that are held. groups: int64 [K], the memory's group of each,
      such as its bucket; None: the rule keeps none apart. num_groups: where it is known.
    rows_at: places int64 [n] to rows.

  Attributes:
    num, is_empty, places, groups, num_groups, rows_at: as given.
    drawn: the numbers of rows of all draws so far.
    is_given: whether rows were stored.
    keeps_logits: whether rows were stored with logits.
  """

  def __init__(self, rows: Rows, num: int = 0, is_empty: bool = True,
               draws: Sequence[Rows] | None = (), *, width: int = 0,
               store: Callable[[tf.Tensor | None], None] | None = None,
               places: tf.Tensor | None = None, groups: tf.Tensor | None = None,
               num_groups: int = 0, rows_at: Callable[[tf.Tensor], Rows] | None = None):
    self._rows, self._draws, self._width, self._store = rows, draws, width, store
    self.num, self.is_empty, self.places, self.groups = num, is_empty, places, groups
    self.num_groups, self.rows_at = num_groups, rows_at
    self.drawn: list[int] = []
    self.is_given = self.keeps_logits = False

  def draw(self, num: int | None = None) -> Rows:
    """The next `num` rows, R by default; none while the memory is empty."""
    num = self.num if num is None else num
    if not num or self.is_empty:
      return Rows(self._rows.images[:0], self._rows.labels[:0], sizes=(0,))
    self.drawn.append(num)
    if self._draws is not None:
      return self._draws[len(self.drawn) - 1]
    images, labels = (tf.zeros([num, *part.shape[1:]], part.dtype) for part in self._rows[:2])
    return Rows(images, labels, tf.zeros([num, self._width]), (num,))

  def store(self, rows: Rows, logits: tf.Tensor | None = None) -> None:
    """Offers the rows of the step, with the logits [B, C] that the memory is to keep of them.

    A memory that takes rows in after each phase is offered them then.
    """
    if rows.labels is not self._rows.labels:
      raise ValueError("A memory was given other rows than those of the step; store those that the "
                       "step was given. Rows that were drawn are in the memory.")
    self.is_given, self.keeps_logits = True, logits is not None
    if self._store is not None:
      self._store(logits)

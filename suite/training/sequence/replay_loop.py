# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled steps of offline phases (FLUID): one call for all steps of a phase but the last.

A phase of E epochs over N rows in batches of B takes E N rows in all: each row once an epoch, a
batch may cross from one epoch into the next, and the last one is what is left over. With a memory
each step takes R rows of it besides, each slot once until all have had their turn.
"""

from __future__ import annotations

from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple

import tensorflow as tf

from suite.compute import flops
from suite.compute import row_costs
from suite.training.gradient import bucket_plan
from suite.training.gradient import sgd
from suite.training.memories import replay as replay_lib
from suite.training.sequence import objectives

_CHUNK = 256  # Rows that go through a function at once where nothing is learned.


class Plan(NamedTuple):
  """The rows of S steps, and of a last one: incoming [S, B] and [1, r], replayed [S + 1, R]."""

  whole: bucket_plan.Rows
  rest: bucket_plan.Rows
  replayed: bucket_plan.Rows

  @property
  def num_steps(self) -> int:
    return self.whole.places.shape[0] + self.rest.places.shape[0]

  @property
  def num_replayed(self) -> int:
    """Rows replayed in all."""
    return self.replayed.places.shape[0] * self.replayed.places.shape[1]


def plan(size: int, epochs: int, batch_size: int, held: int, replay_batch: int,
         order: Tuple[int, int], replay_order: Tuple[int, int]) -> Plan:
  """Lays a phase out.

  Args:
    size: N. epochs: E. batch_size: B.
    held: slots taken. replay_batch: R, of which none is replayed while no slot is taken.
    order, replay_order: seeds.
  """
  total = size * epochs
  steps = -(-total // batch_size)
  num_whole, left = divmod(total, batch_size)
  rows = bucket_plan.rows(size, batch_size, order, 0, steps)
  whole = bucket_plan.Rows(*(part[:num_whole] for part in rows))
  rest = bucket_plan.Rows(*(part[num_whole:, :left] for part in rows))
  if not (held and replay_batch):
    empty = tf.zeros([steps, 0], tf.int64)
    return Plan(whole, rest, bucket_plan.Rows(empty, tf.cast(empty, tf.uint64)))
  return Plan(whole, rest, bucket_plan.rows(held, replay_batch, replay_order, 0, steps))


class StreamLoop:
  """Trains one model; all it changes are the model's and the optimizer's variables.

  Args:
    model: codes [B, ...] to logits [B, C].
    loss: see `objectives`.
    optimizer: for all of the model's trainable variables.
    rate: of all steps.
    augment: codes [B, ...] and seeds uint64 [B] to what the model takes; None: codes as they are.
    replay: the memory, or None.
  """

  def __init__(self, model: tf.keras.Model, *, loss: objectives.CrossEntropy,
               optimizer: sgd.Sgd, rate: float,
               augment: Optional[Callable[[tf.Tensor, tf.Tensor], tf.Tensor]] = None,
               replay: Optional[replay_lib.Replay] = None):
    self._model, self._loss, self._optimizer, self._rate = model, loss, optimizer, rate
    self._augment, self._replay = augment, replay
    self._graphs: Dict[Any, Callable[..., Any]] = {}
    self._costs: Dict[Any, flops.Cost] = {}
    self._step_costs: Dict[int, row_costs.RowCosts] = {}  # By R.

  def train(self, codes: tf.Tensor, labels: tf.Tensor, classes: objectives.Classes,
            phase: Plan, first: int = 0) -> Tuple[float, flops.Cost]:
    """A phase; its mean loss by step, and what it cost.

    Args:
      codes, labels: all that is stored, [N, ...] and int64 [N].
      classes: of the phase.
      phase: the rows of it. first: where the incoming rows begin.
    """
    total, done, cost = 0.0, 0, flops.ZERO
    for rows in (phase.whole, phase.rest):
      steps, size = rows.places.shape
      if not (steps and size):
        continue
      replayed = bucket_plan.Rows(*(part[done:done + steps] for part in phase.replayed))
      width = replayed.places.shape[1]
      # The last batch has another size in each phase: one graph for all of them.
      run = self._run(codes, size if rows is phase.whole else None, width)
      places = rows.places + first
      total += float(run(codes, labels, *classes, places, rows.seeds, *replayed))
      cost += self._step_cost(codes, size, width) * steps
      done += steps
    return total / done, cost

  def _run(self, codes: tf.Tensor, size: Optional[int], width: int) -> Callable[..., Any]:
    key = ("run", size, width)
    if key not in self._graphs:
      vector, mask = tf.TensorSpec([None], tf.int64), tf.TensorSpec([None], tf.bool)
      signature = [tf.TensorSpec([None, *codes.shape[1:]], codes.dtype), vector, mask, mask, mask]
      for part in (size, width):
        signature += [tf.TensorSpec([None, part], tf.int64), tf.TensorSpec([None, part], tf.uint64)]
      self._graphs[key] = tf.function(self._steps, input_signature=signature)
    return self._graphs[key]

  def _steps(self, codes, labels, known, seen, base, places, seeds, slots, slot_seeds):
    classes, total = objectives.Classes(known, seen, base), tf.constant(0.0)
    for i in tf.range(tf.shape(places)[0]):
      now, its_seeds = places[i], seeds[i]
      stored = tf.zeros([0, 0])
      if slots.shape[1]:
        old, stored = self._taken(slots[i])
        now, its_seeds = tf.concat([now, old], 0), tf.concat([its_seeds, slot_seeds[i]], 0)
      images = self._augmented(tf.gather(codes, now), its_seeds)
      total += self._step(images, tf.gather(labels, now), stored, classes)
    return total

  def _taken(self, slots: tf.Tensor) -> Tuple[tf.Tensor, tf.Tensor]:
    assert self._replay is not None
    return self._replay.take(slots)

  def _augmented(self, codes: tf.Tensor, seeds: tf.Tensor) -> tf.Tensor:
    return codes if self._augment is None else self._augment(codes, seeds)

  def _step(self, images: tf.Tensor, labels: tf.Tensor, stored: tf.Tensor,
            classes: objectives.Classes) -> tf.Tensor:
    """One update on images [B + R, ...]; stored [R, C] are their logits; the loss, []."""
    width = stored.shape[0] or 0
    variables = self._model.trainable_variables
    with tf.GradientTape() as tape:
      logits = self._model(images, training=True)
      replayed = None
      if width:
        replayed = objectives.Replayed(logits[-width:], labels[-width:], stored)
        logits, labels = logits[:-width], labels[:-width]
      loss = self._loss(objectives.Batch(images, logits, labels, replayed, classes))
    self._optimizer.apply(tape.gradient(loss, variables), variables, tf.constant(self._rate))
    return loss

  def observe(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor, batch_size: int
              ) -> flops.Cost:
    """Shows base images to the loss's penalty, in order, each once; what that cost."""
    cost = flops.ZERO
    for first in range(0, int(codes.shape[0]), batch_size):
      x, y = codes[first:first + batch_size], labels[first:first + batch_size]
      key = ("observe", int(x.shape[0]))
      if key not in self._graphs:
        self._graphs[key] = tf.function(self._observed)
      self._graphs[key](x, y, known)
      cost += self._count(key, self._graphs[key], x, y, known)
    return cost

  def _observed(self, images: tf.Tensor, labels: tf.Tensor, known: tf.Tensor) -> None:
    def losses_of(x: tf.Tensor, y: tf.Tensor) -> tf.Tensor:
      return objectives.cross_entropy(known, self._model(x, training=False), y)

    self._loss.penalty.observe(losses_of, images, labels)

  def forward(self, name: str, function: Callable[[tf.Tensor], tf.Tensor], codes: tf.Tensor
              ) -> Tuple[tf.Tensor, flops.Cost]:
    """A function of codes [N, ...] in chunks, [N, ...], and what that cost; `name` is its own."""
    parts, cost, width = [], flops.ZERO, [None, *codes.shape[1:]]
    if ("forward", name) not in self._graphs:
      self._graphs["forward", name] = tf.function(
          function, input_signature=[tf.TensorSpec(width, codes.dtype)])
    for first in range(0, int(codes.shape[0]), _CHUNK):
      part = codes[first:first + _CHUNK]
      parts.append(self._graphs["forward", name](part))
      cost += self._count((name, int(part.shape[0])), tf.function(function), part)
    return tf.concat(parts, 0), cost

  def _step_cost(self, codes: tf.Tensor, size: int, width: int) -> flops.Cost:
    """Of one step on so many incoming and replayed rows."""
    if width not in self._step_costs:
      self._step_costs[width] = row_costs.RowCosts(
          lambda rows: self._counted_step(codes, rows, width))
    return self._step_costs[width](size)

  def _counted_step(self, codes: tf.Tensor, size: int, width: int) -> flops.Cost:
    num_classes = self._model.output_shape[-1]

    def step(rows, seeds, labels, stored, known, seen, base):
      return self._step(self._augmented(rows, seeds), labels, stored,
                        objectives.Classes(known, seen, base))

    mask, rows = tf.TensorSpec([num_classes], tf.bool), size + width
    return flops.count(tf.function(step).get_concrete_function(
        tf.TensorSpec([rows, *codes.shape[1:]], codes.dtype), tf.TensorSpec([rows], tf.uint64),
        tf.TensorSpec([rows], tf.int64), tf.TensorSpec([width, num_classes]), mask, mask, mask))

  def _count(self, key: Tuple[Any, ...], function: Any, *arguments: tf.Tensor) -> flops.Cost:
    if key not in self._costs:
      self._costs[key] = flops.count(function.get_concrete_function(
          *(tf.TensorSpec(a.shape, a.dtype) for a in arguments)))
    return self._costs[key]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled loop over data that is an array: thousands of steps in one call.

A step gathers its rows from the data inside the graph, those that it draws from the memory
included. Graphs are made once for each batch size and reused in all phases.

The steps of a phase, laid out before it begins: which rows each takes, and their seeds.

Each of N rows comes once an epoch, in another order each time, in batches of B:

  "fill"   batches cross from one epoch into the next, and a last one is filled from a further epoch
  "even"   an epoch has ceil(N / B) batches whose sizes differ by one row at most: as many steps as
           a loader of PyTorch makes, which ends each epoch with what is left over. That may be one
           row, and its step would count as much as one of B.

With a memory each step replays R of its rows besides, each once until all have had their turn; or,
with a memory that takes rows in at each step (`memory.Intake`), R of those that it holds by then.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import dataclasses
import functools
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import flops
from suite.compute import user_code
from suite.contracts import rehearsal
from suite.data.images import sampling
from suite.training.gradient import train_step
from suite.training.memories import memory
from suite.training.memories import step_rows
from suite.training.objectives import example_gradients
from suite.training.objectives import objective

_NONE = np.zeros([0], np.int64)
_CHUNK = 256  # Rows that go through a function at once where nothing is learned.
LAST = ("fill", "even")
# Rows whose places and seeds are made at once.
_ROWS = 2**17

Augment = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]
Prepare = Callable[[tf.Tensor], tf.Tensor]
Charge = Callable[[flops.Cost], None]  # `Context.charge`.


class ArrayLoop:
  """Runs the steps of plans.

  Args:
    step: what is done with the rows of a step.
    augment: rows [B, ...] and seeds uint64 [B] to what the model takes; None: rows as they are.
    prepare: the same without a seed, where nothing is augmented; None: rows as they are.
    replay_batch: R, rows of a draw of the memory.
    devices: they share the rows of a step, if all can have as many; (): one has all of them.
    ahead: whether `augment` reads what lies outside of memory: the rows of a step are then read and
      augmented while the step before it is computed, since a plan has them all.
  """

  def __init__(self, step: train_step.TrainStep, *, augment: Augment | None = None,
               prepare: Prepare | None = None, replay_batch: int = 0,
               devices: Sequence[str] = (), ahead: bool = False):
    self._devices, self._ahead = tuple(devices), ahead and augment is not None
    self.step, self._augment, self._replay_batch = step, augment, replay_batch
    self._prepare, self._converts = prepare, step.reaches_user_code()
    # For graphs that prepare rows, too; those that are only counted do not.
    self._converts_rows = self._converts or user_code.is_reached(augment, prepare)
    self._graphs: dict[Any, Callable[..., Any]] = {}
    self._costs: dict[Any, flops.Cost] = {}
    self._of_widths: dict[Any, flops.RowCosts] = {}
    self._blanks: dict[Any, Blank] = {}

  @property
  def augments(self) -> bool:
    """Whether it reads the seeds of rows."""
    return self._augment is not None

  def prepared(self, rows: tf.Tensor) -> tf.Tensor:
    """Prepares rows [B, ...] for the model, without augmentation."""
    return rows if self._prepare is None else self._prepare(rows)

  def train_only(self, variables: Sequence[tf.Variable]) -> None:
    """Trains only these from now on; see `TrainStep.train_only`."""
    if self.step.train_only(variables):
      self._graphs.clear()
      self._costs.clear()
      self._of_widths.clear()

  def train(self, data: objective.Data, part: Part, rates: np.ndarray,
            intake: memory.Intake | None = None) -> float:
    """Takes the steps of a part; returns the sum of their losses.

    Args:
      data: what the part's places are of; its shapes but N, K stay the same from call to call.
      rates: float32 [S].
      intake: of the part's `replays`; None: the memory stays as it is.
    """
    if rehearsal.counts_only():
      return 0.0
    width, replayed = part.width, part.replayed.places.shape[1]
    is_held = data.places.shape[0] > 0
    stored = data.stored if intake is None else intake.logits
    # Base classes that are learned without a memory have no logits stored.
    key = ("train", width, replayed, data.classes is None, stored.shape[1], intake is None, is_held)
    groups = () if data.groups is None else data.groups
    if key not in self._graphs:
      self._graphs[key] = self._traced(data, part, intake)
    rows, seeds = part.rows(np.asarray(data.places) if replayed and intake is None else _NONE)
    if self._augment is None:
      seeds = seeds[:, :0] if seeds.ndim == 2 else seeds[:0]
    starts = part.starts + replayed * np.arange(len(part.starts))
    logits = [] if not stored.shape[1] else [part.replayed.places] if part.replays is None else (
        part.replays[1:])

    def run(num: int) -> float:
      return float(self._graphs[key](
          data.codes, data.labels, data.places, data.stored, data.classes or (), groups,
          rates[:num], rows[:num] if width is not None else rows[:starts[num]],
          seeds[:num] if width is not None else seeds[:starts[num]], starts[:num + 1],
          *(part[:num] for part in logits)))

    # Even batches are of other sizes in each phase: those within 9% take as long as each other.
    size = round(8 * np.log2(np.diff(part.starts[:2])[0]))
    return rehearsal.few(self, (key, size), part.num_steps, run)

  def _traced(self, data: objective.Data, part: Part, intake: memory.Intake | None) -> Any:
    """The graph of parts like this one. Open are how many steps, rows and slots there are."""
    width, replayed = part.width, part.replayed.places.shape[1]
    is_held, kept = data.places.shape[0] > 0, None if intake is None else intake.logits
    sizes = self.blank(1, data).drawn if replayed else ()
    opened = [tf.TensorSpec([None, *t.shape[1:]], t.dtype) for t in data[:4]]
    classes = () if data.classes is None else tuple(
        tf.TensorSpec(m.shape, tf.bool) for m in data.classes)
    of_groups = () if data.groups is None else tf.TensorSpec([None], tf.int64)
    of_step = [None] if width is None else [None, width + replayed]
    of_seeds = of_step if self._augment is not None or width is None else [None, 0]
    slots = [tf.TensorSpec([None, num], tf.int64) for num in (
        () if not (data.stored if kept is None else kept).shape[1] else
        (replayed,) if kept is None else (replayed, width))]

    @tf.function(input_signature=[
        *opened, classes, of_groups, tf.TensorSpec([None], tf.float32),
        tf.TensorSpec(of_step, tf.int64), tf.TensorSpec(of_seeds, tf.uint64),
        tf.TensorSpec([None], tf.int64), *slots], autograph=self._converts_rows)
    def steps(codes, labels, places, stored, classes, groups, rates, chosen, seeds, starts, *slots):
      known = objective.Classes(*classes) if classes else None
      groups = None if isinstance(groups, tuple) else groups

      def of(i, rows):
        """What a step has of rows of all steps."""
        if width is None:
          return rows[starts[i]:starts[i + 1]]
        # GPUs have no kernel that gathers uint64.
        return rows[i] if rows.dtype == tf.uint64 else tf.gather(rows, i)

      def read(i):
        """Prepared rows of a step, and their places."""
        rows = of(i, chosen)
        taken = byte_rows.gather(codes, rows)
        return [taken if self._augment is None else self._augment(taken, of(i, seeds)), rows]

      num = tf.shape(rates)[0]

      def body(i, total, *ready):
        # Nothing of this step is needed to read the next one's rows: both run at the same time.
        upcoming = tf.cond(i + 1 < num, lambda: read(i + 1), lambda: list(ready)) if ready else []
        taken, rows = ready or read(i)
        then = [tf.gather(stored if kept is None else kept, tf.gather(slots[0], i))
                ] if slots and replayed else []
        incoming, *drawn = step_rows.split(
            taken, tf.gather(labels, rows), [width, *sizes], *then)

        def store(logits):
          if logits is not None and kept is not None:
            kept.scatter_update(tf.IndexedSlices(
                tf.cast(logits, tf.float32), tf.gather(slots[1], i)))

        memory = step_rows.StepMemory(
            incoming, self._replay_batch, not replayed, drawn,
            places=places if is_held else None, groups=groups,
            rows_at=functools.partial(self._rows_at, codes, labels), store=store)
        named = dict(rate=tf.gather(rates, i), classes=known)
        loss = (self.step.take(incoming, memory, **named).loss if len(self._devices) < 2
                else self._shared(incoming, memory, **named))
        return [i + 1, total + loss, *upcoming]

      first = read(tf.constant(0)) if self._ahead else []
      return tf.while_loop(
          lambda i, *_: i < num, body, [tf.constant(0), tf.constant(0.0), *first],
          shape_invariants=[tf.TensorShape([]), tf.TensorShape([]), *(t.shape for t in first)])[1]

    # There is one signature: no call need look it up.
    return steps.get_concrete_function()

  def _shared(self, rows: step_rows.Rows, memory: step_rows.StepMemory, **settings: Any
              ) -> tf.Tensor:
    """The loss [] of a step, whose rows the devices share if each can have as many."""
    shared = functools.partial(self.step.take, rows, memory, devices=self._devices, **settings)
    if rows.sizes != (None,):
      return shared().loss
    return tf.cond(  # Even batches may be of any size.
        rows.num % len(self._devices) == 0, lambda: shared().loss,
        lambda: self.step.take(rows, memory, **settings).loss)

  def _rows_at(self, codes: tf.Tensor, labels: tf.Tensor, places: tf.Tensor) -> step_rows.Rows:
    """Rows of the data, not augmented."""
    return step_rows.Rows(self.prepared(tf.gather(codes, places)), tf.gather(labels, places))

  def blank(self, width: int, data: objective.Data, held: int = 1) -> Blank:
    """The draws and passes of a step on `width` rows, with `held` rows in the memory.

    Args:
      data: of the shapes and types of all rows.
    """
    key = (width, held, data.classes is None)
    if key not in self._blanks:
      specs = [*self._example_specs(width, data.codes), *_specs(width, data.labels)]
      found: list[Blank] = []

      def step() -> None:
        images, labels = (tf.zeros(s.shape, s.dtype) for s in specs)
        rows = step_rows.Rows(images, labels, sizes=(width,))
        memory = step_rows.StepMemory(
            rows, self._replay_batch, not held, None, width=self.step.model.output_shape[-1],
            places=tf.zeros([held], tf.int64) if held else None, num_groups=1,
            rows_at=functools.partial(_blank_rows, specs))
        net = self.step.take(rows, memory, mode=train_step.BLANK, rate=tf.constant(0.0),
                             classes=data.classes)
        found.append(Blank(
            tuple(memory.drawn), memory.is_given, memory.keeps_logits, net.passes))

      tf.function(step, autograph=self._converts).get_concrete_function()
      self._blanks[key] = found[0]
    return self._blanks[key]

  def _counted(self, data: objective.Data, width: int, replayed: int) -> flops.Cost:
    """The cost of a step on `width` rows and `replayed` ones; augmentation is not counted."""
    held, num_groups = int(data.places.shape[0]), _num_groups(data)
    sizes = self.blank(1, data).drawn if replayed else ()
    specs = [*self._example_specs(width + replayed, data.codes),
             *_specs(width + replayed, data.labels), *_specs(replayed, data.stored)]

    def step(codes: tf.Tensor, labels: tf.Tensor, stored: tf.Tensor) -> tf.Tensor:
      rows, *drawn = step_rows.split(codes, labels, [width, *sizes], stored)
      memory = step_rows.StepMemory(
          rows, self._replay_batch, not replayed, drawn,
          places=tf.zeros([held], tf.int64) if held else None, num_groups=num_groups,
          rows_at=functools.partial(_blank_rows, specs))
      return self.step.take(rows, memory, mode=train_step.COUNTS, rate=tf.constant(0.0),
                            classes=data.classes).loss

    # Only an objective that looks at all of the memory costs more with more of it.
    of_memory = (held, num_groups) if objective.MEMORY in self.step.objective.needs else ()
    return self._count(("step", width, replayed, data.classes is None, *of_memory), step, *specs)

  def observe(self, codes: tf.Tensor, labels: tf.Tensor, batch_size: int,
              charge: Charge, known: tf.Tensor | None = None) -> None:
    """Shows rows to the objective, in order, each once, not augmented; charged.

    The last batch is what is left over. Losses are among known classes, bool [C]; None: all.
    """
    masks, observes = [] if known is None else [tf.convert_to_tensor(known)], (
        self.step.objective.observes)
    for first, num, rows in _batches(int(codes.shape[0]), batch_size):
      counted = 1 if observes is not None and observes.each else rows
      charge(self._count(
          ("observe", counted), self._observed, *self._example_specs(counted, codes),
          *_specs(counted, labels), *(tf.TensorSpec(m.shape, tf.bool) for m in masks)
          ) * (num * rows // counted))
      rehearsal.few(self, ("observe", rows), num, functools.partial(
          self._show, rows, first, codes, labels, masks), blank=lambda: None)

  def _show(self, rows: int, first: int, codes: tf.Tensor, labels: tf.Tensor,
            masks: Sequence[tf.Tensor], num: int) -> None:
    key = ("observe", rows)
    if key not in self._graphs:
      @tf.function(reduce_retracing=True, autograph=self._converts_rows)
      def run(codes, labels, first, num, *masks):
        def body(i):
          begin = first + i * rows
          x = tf.ensure_shape(codes[begin:begin + rows], [rows, *codes.shape[1:]])
          y = tf.ensure_shape(labels[begin:begin + rows], [rows, *labels.shape[1:]])
          self._observed(self.prepared(x), y, *masks)
          return [i + 1]

        tf.while_loop(lambda i: i < num, body, [0])

      self._graphs[key] = run
    self._graphs[key](codes, labels, tf.constant(first), tf.constant(num), *masks)

  def _observed(self, codes: tf.Tensor, labels: tf.Tensor, known: tf.Tensor | None = None) -> None:
    self.step.objective.observe(
        functools.partial(self.step.answers_at_rest, known=known), codes, labels)

  def largest_cosines(self, held: tf.Tensor, held_labels: tf.Tensor, new: tf.Tensor,
                      new_labels: tf.Tensor, known: tf.Tensor | None = None) -> tf.Tensor:
    """The largest cosine of the gradient of each new row's loss with those of held rows, [c].

    Args:
      held, held_labels: [a, ...] and [a]. new, new_labels: [c, ...] and [c]. known: bool [C].
    """
    key = ("cosines", held.shape[0], new.shape[0], known is None)
    if key not in self._graphs:
      @tf.function(autograph=self._converts_rows)
      def run(codes, labels, masks):
        return example_gradients.largest_cosines(example_gradients.rows(
            functools.partial(self.step.losses_at_rest, known=masks[0] if masks else None),
            self.step.variables, self.prepared(codes), labels), held.shape[0])

      self._graphs[key] = run
    return self._graphs[key](tf.concat([held, new], 0), tf.concat([held_labels, new_labels], 0),
                             [] if known is None else [tf.convert_to_tensor(known)])

  def charge_gradients(self, codes: tf.Tensor, labels: tf.Tensor, num: int,
                       charge: Charge) -> None:
    """Charges the gradients of `num` single rows like these; comparing them is not counted."""
    def one(x: tf.Tensor, y: tf.Tensor) -> list[tf.Tensor]:
      return example_gradients.rows(self.step.losses_at_rest, self.step.variables, x, y)

    if num:
      charge(self._count(
          "gradient of one", one, *self._example_specs(1, codes), *_specs(1, labels)) * num)

  def forward(self, name: str, function: Callable[[tf.Tensor], tf.Tensor], codes: tf.Tensor,
              charge: Charge, *,
              of_all: Callable[[tf.Tensor], tf.Tensor] | None = None) -> tf.Tensor:
    """A function of rows [N, ...] in chunks, charged.

    Args:
      name: identifies the function.
      of_all: computes it of all rows at once, and decides by itself how; None: chunks.
    """
    parts, key = [], ("forward", name)
    if key not in self._graphs:
      self._graphs[key] = tf.function(
          lambda rows: function(self.prepared(rows)),
          input_signature=[tf.TensorSpec([None, *codes.shape[1:]], codes.dtype)],
          autograph=self._converts_rows or user_code.is_reached(function))
    size = int(codes.shape[0])
    for rows, times in ((_CHUNK, size // _CHUNK), (size % _CHUNK, 1)):
      if rows and times:
        charge(self._count((name, rows), function, *self._example_specs(rows, codes)) * times)
    if of_all is not None and rehearsal.current() is None:
      return of_all(codes)
    if rehearsal.current() is not None and (size > _CHUNK or rehearsal.counts_only()):
      return rehearsal.tensor(rehearsal.rows(
          self, key, size, _CHUNK, lambda num: self._graphs[key](codes[:num]).numpy(),
          lambda: function(self.prepared(codes[:1])).numpy()))
    for first in range(0, size, _CHUNK):
      parts.append(self._graphs[key](codes[first:first + _CHUNK]))
    return tf.concat(parts, 0)

  def cost(self, data: objective.Data, plan: PhaseRows) -> flops.Cost:
    """The cost of all steps of a plan, as counted from the graphs of its steps."""
    total, widths = flops.ZERO, plan.widths()
    if list(widths) == [plan.batch_size]:
      total = self._counted(data, plan.batch_size, plan.replayed) * (
          plan.num_steps - plan.starts_empty)
      if plan.starts_empty:
        total += self._counted(data, plan.batch_size, 0)
      return total
    # Even batches are of other sizes in each phase: a line through two sizes serves for all.
    held = int(data.places.shape[0]) if objective.MEMORY in self.step.objective.needs else 0
    of_width = self._of_widths.setdefault(
        (plan.replayed, held, _num_groups(data)), flops.RowCosts(
            lambda width: self._counted(data, width, plan.replayed)))
    for width, num in widths.items():
      total += of_width(width) * num
    return total

  def passes(self, data: objective.Data, plan: PhaseRows) -> train_step.Passes:
    """The rows of all steps that go forward and backward, and those that go forward only."""
    looks = objective.MEMORY in self.step.objective.needs
    one, two = (self.blank(width, data, plan.held if looks else min(plan.held, 1)).passes
                for width in (1, 2))  # The others lie on their line.
    return train_step.Passes(*(
        sum(num * (first + (width - 1) * (second - first)) for width, num in plan.widths().items())
        for first, second in zip(one, two)))

  def _example_specs(self, rows: int, codes: tf.Tensor) -> list[tf.TensorSpec]:
    """Specs of what the model takes of `rows` rows: their preparation is not counted."""
    if self._prepare is None:
      return _specs(rows, codes)
    return _specs(rows, self._prepare(tf.zeros([1, *codes.shape[1:]], codes.dtype)))

  def _count(self, key: Any, function: Callable[..., Any], *specs: Any) -> flops.Cost:
    def count() -> flops.Cost:
      with self.step.scaling.left_out():
        return flops.count(
            tf.function(function, autograph=self._converts).get_concrete_function(*specs))

    if key not in self._costs:
      step = self.step
      about = (key, step.kind, step.training, self._replay_batch, type(step.model).__name__,
               len(step.model.variables), _plain(step.objective), _plain(step.optimizer))
      self._costs[key] = rehearsal.traced(about, step.variables, specs, count)
    return self._costs[key]


def _plain(part: Any) -> tuple[Any, ...]:
  """The type of an objective or an optimizer, and its numbers and names."""
  values = {name: value for name, value in getattr(part, "__dict__", {}).items()
            if isinstance(value, (bool, int, float, str)) and not name.startswith("_self_")}
  return (type(part).__qualname__, *sorted(values.items()))


class Blank(NamedTuple):
  """The draws, stores and passes of a step, found out without computing it.

  Attributes:
    drawn: the numbers of rows that it draws from the memory, one after the other.
    stores: whether it gives its rows to the memory.
    keeps_logits: whether it stores rows with logits.
    passes: of rows through the net.
  """

  drawn: tuple[int, ...]
  stores: bool
  keeps_logits: bool
  passes: train_step.Passes


def _blank_rows(specs: Sequence[tf.TensorSpec], places: tf.Tensor) -> step_rows.Rows:
  """Rows of zeros of the shapes of other rows, as many as places int64 [n]."""
  return step_rows.Rows(*(tf.zeros([places.shape[0], *s.shape[1:]], s.dtype) for s in specs[:2]))


def _num_groups(data: objective.Data) -> int:
  return 0 if data.groups is None else len(np.unique(data.groups))


def _specs(rows: int, *tensors: tf.Tensor) -> list[tf.TensorSpec]:
  return [tf.TensorSpec([rows, *t.shape[1:]], t.dtype) for t in tensors]


def _batches(size: int, batch_size: int) -> list[tuple[int, int, int]]:
  """(first row, number of batches, rows of each): full batches, and one of the rest."""
  whole, rest = divmod(size, batch_size)
  return [one for one in ((0, whole, batch_size), (whole * batch_size, 1, rest))
          if one[1] and one[2]]


class Rows(NamedTuple):
  """Places in the data, int64, and seeds of augmentation, uint64, of one shape."""

  places: np.ndarray
  seeds: np.ndarray


class Part(NamedTuple):
  """Steps that one call of a compiled loop takes.

  Attributes:
    first: the number of the first step in the phase.
    incoming: the T rows of all steps, one after the other: [T].
    starts: int64 [S + 1], where the rows of each step begin, and T.
    replayed: Rows [S, R], places being slots of a memory that stays as it is.
    width: B, rows of each step; None if not all have as many.
    replays: of a memory that takes rows in, in place of `replayed.places`.
  """

  first: int
  incoming: Rows
  starts: np.ndarray
  replayed: Rows
  width: int | None
  replays: memory.Replays | None = None

  @property
  def num_steps(self) -> int:
    """S."""
    return len(self.starts) - 1

  def rows(self, held: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Places and seeds of the rows of all steps, those that are replayed behind the others.

    Args:
      held: int64 [K], the places of a memory that stays as it is.

    Returns:
      Two arrays [S, B + R]; [T + S R] where not all steps have as many rows.
    """
    again = held[self.replayed.places] if self.replays is None else self.replays.places
    both = []
    for own, replayed in zip(self.incoming, (again, self.replayed.seeds)):
      if self.width is not None:
        both.append(np.concatenate([own.reshape(-1, self.width), replayed], 1))
      elif not replayed.size:
        both.append(own)
      else:
        both.append(np.concatenate([part for step in zip(
            np.split(own, self.starts[1:-1]), replayed) for part in step]))
    return both[0], both[1]

  def each_step(self) -> Iterator[Part]:
    """Its steps as parts of one."""
    for step, (begin, end) in enumerate(zip(self.starts, self.starts[1:])):
      yield Part(self.first + step, Rows(*(r[begin:end] for r in self.incoming)),
                 np.array([0, end - begin]), Rows(*(r[step:step + 1] for r in self.replayed)),
                 self.width)


@dataclasses.dataclass(frozen=True)
class PhaseRows:
  """The rows of a phase.

  Attributes:
    size: N, rows of data that are trained on; they begin at `first`.
    epochs: passes over them; may be a fraction.
    steps: batches of B instead of epochs, whatever N is; None: epochs.
    batch_size: B.
    order: seed of the order of rows.
    held: K, slots of the memory taken. replay_batch: R; none are replayed while K is 0.
    replay_order: seed of the order of slots.
    takes_in: whether the memory takes rows in at each step, so that all but a first step replay
      rows; which ones, its `Intake` says. Only with "fill".
    last: one of `LAST`.
    seeded: whether rows are augmented; else all their seeds are 0.
    most: steps that are taken at most, the first ones; None: all of them.
  """

  size: int
  epochs: float
  batch_size: int
  order: tuple[int, int]
  held: int = 0
  replay_batch: int = 0
  replay_order: tuple[int, int] = (0, 0)
  last: str = "fill"
  first: int = 0
  seeded: bool = True
  takes_in: bool = False
  steps: int | None = None
  most: int | None = None

  def cut(self, num: int) -> PhaseRows:
    """The first `num` steps of the phase."""
    return self if num == self.num_steps else dataclasses.replace(self, most=num)

  @property
  def num_steps(self) -> int:
    """Steps of the phase."""
    return len(self._widths)

  @property
  def replayed(self) -> int:
    """R, or 0 while the memory is empty."""
    return self.replay_batch if self.held or self.takes_in else 0

  @property
  def starts_empty(self) -> bool:
    """Whether the first step replays nothing and the others do."""
    return self.takes_in and not self.held and self.replay_batch > 0

  @property
  def num_rows(self) -> int:
    """Rows of all steps, replayed ones included."""
    return sum((width + self.replayed) * num for width, num in self.widths().items()) - (
        self.replayed * self.starts_empty)

  def widths(self) -> dict[int, int]:
    """The number of steps by their number of incoming rows."""
    found, counts = np.unique(self._widths, return_counts=True)
    return {int(width): int(num) for width, num in zip(found, counts)}

  @functools.cached_property
  def _widths(self) -> np.ndarray:
    """The number of incoming rows of each step, int64 [S]."""
    return self._planned()[:self.most]

  def _planned(self) -> np.ndarray:
    """`_widths` of all steps of the phase."""
    batch = self.batch_size
    if self.steps:
      return np.full([self.steps], batch)
    if self.last == "fill":
      return np.full([max(1, math.ceil(self.epochs * self.size / batch))], batch)
    whole = int(self.epochs)
    sizes = [self.size] * whole + list(filter(None, [math.ceil((self.epochs - whole) * self.size)]))
    epochs = []
    for num in sizes:
      parts = -(-num // batch)  # Each has the floor or the ceiling of their mean size.
      epochs.append(np.diff(np.arange(parts + 1) * num // max(1, parts)))
    return np.concatenate([np.zeros([0], np.int64), *epochs])

  def epochs_of(self, steps: np.ndarray) -> np.ndarray:
    """The epoch in which each step begins, counted from 0."""
    steps = np.asarray(steps, np.int64)
    if self.last == "even":
      return steps // -(-self.size // self.batch_size)
    return steps * self.batch_size // self.size

  def parts(self) -> Iterator[Part]:
    """All steps in order, as many at once as are laid out at once."""
    starts = np.concatenate([[0], np.cumsum(self._widths)])
    num_steps, length = len(starts) - 1, max(1, _ROWS // self.batch_size)
    cuts = [0] * self.starts_empty + [*range(self.starts_empty, num_steps, length), num_steps]
    for first, stop in zip(cuts, cuts[1:]):
      begin, num = int(starts[first]), int(starts[stop] - starts[first])
      flat = rows(self.size, 1, self.order, begin, num, seeded=self.seeded)
      replayed = 0 if self.starts_empty and not first else self.replayed
      yield Part(first, Rows(flat.places[:, 0] + self.first, flat.seeds[:, 0]),
                 starts[first:stop + 1] - begin, self._replayed(first, stop - first, replayed),
                 self.batch_size if self.last == "fill" else None)

  def _replayed(self, first: int, num: int, each: int) -> Rows:
    if not each or self.takes_in:  # `Intake.replays` says which rows.
      places, seeds = np.zeros([num, each], np.int64), np.zeros([num, each], np.uint64)
      if each and self.seeded and not rehearsal.counts_only():
        seeds = sampling.row_seeds(self.replay_order, np.arange(
            first * each, (first + num) * each)).numpy().reshape([num, each])
      return Rows(places, seeds)
    return rows(self.held, each, self.replay_order, first, num, seeded=self.seeded)


def rows(size: int, batch_size: int, seed: tuple[int, int], first: int, num: int, *,
         seeded: bool = True) -> Rows:
  """The rows of steps first ... first + num - 1; each of N rows comes once an epoch."""
  shape = [num, batch_size]
  if rehearsal.counts_only():
    return Rows(np.zeros(shape, np.int64), np.zeros(shape, np.uint64))
  with tf.device("CPU:0"):  # The cipher behind the shuffle has no other kernel.
    plan = sampling.TrainPlan(size=size, batch_size=batch_size, seed=seed)
    positions = tf.range(first * batch_size, (first + num) * batch_size, dtype=tf.int64)
    places = plan.indices(positions).numpy().reshape(shape)
    if not seeded:
      return Rows(places, np.zeros(shape, np.uint64))
    return Rows(places, sampling.row_seeds(seed, positions).numpy().reshape(shape))

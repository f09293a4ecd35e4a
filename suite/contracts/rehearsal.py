# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A rehearsal: a run with all its events, graphs and charges, and without its long computations.

`suite run RUN --dry_run` rehearses what has no plan of its own (`suite/contracts/planning.py`). The
protocol, the learner and the ledger are those of the run: what is charged is what the run charges,
from the same lines. Only loops that repeat one step call `few`: it takes a few steps, and
measures how long the others would have taken. With `--rate` nothing is measured: no step is taken,
and blank results of the right shape stand for its own. Weights and predictions of a rehearsal are
placeholders.

Learners of one process that are made by the same settings, such as those of the cells of a table,
count equal graphs once (`counted`), and not those whose costs follow from others.

Saved predictions of a finished run can be given; the protocol then computes its scores again
(`suite/beside/submissions/recomputation.py`).

Data that is not prepared is stood in for (`suite/data/images/tfds_source.py`) and noted.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
import contextlib
import math
import mmap
import threading
import time
import types
from typing import Any, TypeVar
import weakref

import numpy as np
import tensorflow as tf

from suite.compute import flops

_T = TypeVar("_T")
Settings = tuple[tuple[Hashable, str, str], ...]
Answers = Callable[[np.ndarray, np.ndarray, int], np.ndarray | None]
_STEPS, _LONG_SECONDS = 4, 2.0  # Steps that are measured; one that takes longer is measured alone.
# Arrays of more are not made where nothing is measured; TensorFlow copies what is not aligned.
_LARGE_BYTES, _ALIGNED = 1 << 20, 64
_MOST_CALLS = 10 ** 6  # Of a graph that a user's own learner calls.
_SAVES = 2  # Files that each event writes are written so often; once if nothing is measured.
_COSTS: dict[Hashable, flops.SizeCosts] = {}  # Of the rehearsals of this process that have `alike`.


class Rehearsal:
  """What a rehearsal finds out.

  Args:
    measures: whether steps are timed; False: none is taken where a blank result can be made.
    alike: all that the learner is made by, (where, argument, value as text) of each setting; of
      rehearsals of this process with the same settings graphs differ in sizes only. None: there are
      no others.
    answers: (ids, labels, C) of a test set -> the logits [N, C] that stand for those of its event;
      None where none are given. Called where nothing is measured.
    data: what several rehearsals have in common, see `shared`; None: they have nothing.

  Attributes:
    alike, answers, data: as given.
    num_followed: number of costs interpolated from other rehearsals.
    array_bytes: of the images that the run would hold as arrays, see `holds`.
    disk_bytes: of rows that the run would write to files, see `stored`.
    skipped_seconds: the time of the steps that were not taken, at the rate of those that were.
    missing: {data set: (reason, command)} of data that is not prepared.
    notes: what the run decides by its answers, which a rehearsal cannot know; an ordered set.
  """

  def __init__(self, *, measures: bool = True, alike: Settings | None = None,
               answers: Answers | None = None, data: dict[str, Any] | None = None) -> None:
    self._measures, self.alike, self.answers, self.data = measures, alike, answers, data
    self.num_followed = self.array_bytes = self.disk_bytes = 0
    self.skipped_seconds = 0.0
    self.missing: dict[str, tuple[str, str]] = {}
    self.notes: dict[str, None] = {}
    # {owner: {key: (seconds of a call, of each step, what it returned)}}.
    self._known: Any = weakref.WeakKeyDictionary()

  @property
  def measures(self) -> bool:
    """Whether steps are timed."""
    return self._measures

  def take(self, owner: Any, key: Hashable, num: int, run: Callable[[int], _T],
           blank: Callable[[], _T] | None) -> _T:
    """See `few`."""
    if not self._measures and blank is not None:
      return blank()
    if num < 2:
      return run(num)
    known = self._known.setdefault(owner, {})
    if key in known:
      call, step, result = known[key]
      self.skipped_seconds += call + step * num
      return result
    if not self._measures:
      result = run(1)
      known[key] = 0.0, 0.0, result
      return result
    run(1)  # Traced and warmed up.
    one, result = _timed(run, 1)
    call, step, taken = 0.0, one, 2
    if one < _LONG_SECONDS:  # A call may take longer than a step, such as one that opens a dataset.
      several, result = _timed(run, 1 + _STEPS)
      step, taken = max(several - one, 0.0) / _STEPS, 3 + _STEPS
      call = max(one - step, 0.0)
    known[key] = call, step, result
    # What was taken beyond `num` steps is not the run's.
    self.skipped_seconds += step * (num - taken) - call * (1 if taken == 2 else 2)
    return result

  def call(self, graph: Any, run: Callable[[], Any]) -> Any:
    """See `called`."""
    known = self._known.setdefault(graph, {})
    number, seconds, result = known.get("call", (0, 0.0, None))
    if number == _MOST_CALLS:
      raise RuntimeError(
          f"A dry run has called the graph {graph.name!r} {number:,} times in one run. What it "
          "returns means nothing there: end the loop around it after a number of steps, too.")
    outputs = [part for part in tf.nest.flatten(graph.structured_outputs) if part is not None]
    if number == 0 or (self._measures and number < 2 + _STEPS):
      if not self._measures and all(part.shape.is_fully_defined() for part in outputs):
        result = tf.nest.map_structure(
            lambda part: None if part is None else tf.zeros(part.shape, part.dtype),
            graph.structured_outputs)
      else:
        one, result = _timed(lambda _: run(), 1)
        seconds = one if number < 2 else min(one, seconds)  # The first one loads kernels.
    elif self._measures:
      self.skipped_seconds += seconds
    known["call"] = number + 1, seconds, result
    return result

  def save(self, owner: Any, run: Callable[[], object]) -> None:
    """See `save`."""
    known = self._known.setdefault(owner, {})
    num, seconds = known.get("save", (0, 0.0))
    if num == (_SAVES if self._measures else 1):
      self.skipped_seconds += seconds
      return
    seconds, _ = _timed(lambda _: run(), 1)
    known["save"] = num + 1, seconds


_current: Rehearsal | None = None
_aside = threading.local()  # The `rehearsal` of a thread, if it has one for itself.


def current() -> Rehearsal | None:
  """The rehearsal that goes on in this thread or in this process, if any."""
  return getattr(_aside, "rehearsal", _current)


def counts_only() -> bool:
  """Whether what runs here is a rehearsal that measures nothing, so that no step need be taken."""
  now = current()
  return now is not None and not now.measures


def _timed(run: Callable[[int], _T], num: int) -> tuple[float, _T]:
  began = time.monotonic()
  result = run(num)
  return time.monotonic() - began, result


@contextlib.contextmanager
def begun(**settings: Any) -> Iterator[Rehearsal]:
  """Rehearses what runs meanwhile; arguments as of `Rehearsal`."""
  global _current
  before, _current = _current, Rehearsal(**settings)
  try:
    yield _current
  finally:
    _current = before


@contextlib.contextmanager
def aside() -> Iterator[None]:
  """Rehearses what this thread runs meanwhile, measuring nothing, in the midst of a run."""
  now, before = current(), dict(vars(_aside))
  _aside.rehearsal = Rehearsal(measures=False, alike=None if now is None else now.alike,
                               data=None if now is None else now.data)
  try:
    yield
  finally:
    vars(_aside).clear()
    vars(_aside).update(before)


def note(text: str) -> None:
  """Adds to `Rehearsal.notes`, if one goes on."""
  now = current()
  if now is not None:
    now.notes[text] = None


def given(ids: np.ndarray, labels: np.ndarray, num_outputs: int) -> np.ndarray | None:
  """The logits that a rehearsal was given for a test set; None if there are none."""
  now = current()
  found = None if now is None else now.answers
  return None if found is None else found(ids, labels, num_outputs)


def holds(num_bytes: int) -> None:
  """Adds to `Rehearsal.array_bytes`, if one goes on: an array that it does not fill."""
  now = current()
  if now is not None:
    now.array_bytes += num_bytes


def shared(reader: str, key: Hashable, make: Callable[[], _T]) -> _T:
  """Returns make(), data that no run changes; rehearsals that have `data` in common read it once.

  Args:
    reader: what reads it; its last data is kept.
    key: tells apart the data of a reader.
    make: reads it. What it notes, of `Rehearsal.missing` and `holds`, is noted for each.
  """
  now = current()
  if not counts_only() or now is None or now.data is None:
    return make()
  known = now.data
  if known.get(reader, (None,))[0] != key:
    known.pop(reader, None)  # Memory holds one of a reader's.
    missing, array_bytes = now.missing, now.array_bytes
    now.missing, now.array_bytes = {}, 0
    try:
      found = make()
      known[reader] = key, found, dict(now.missing), now.array_bytes
    finally:
      now.missing = {**missing, **now.missing}
      now.array_bytes += array_bytes
    return found
  _, found, noted, held = known[reader]
  now.missing.update(noted)
  now.array_bytes += held
  return found


def large(shape: Sequence[int], dtype: tf.DType, make: Callable[[], tf.Tensor]) -> tf.Tensor:
  """Returns make(), rows that a run holds; where nothing is measured zeros that take no memory.

  Their pages are taken when they are written. Numbers of rows and labels, int64, are made.
  """
  if not counts_only() or not _is_blank(shape, dtype):
    return make()
  return tensor(zeros(shape, dtype.as_numpy_dtype))


def _is_blank(shape: Sequence[int], dtype: tf.DType) -> bool:
  """Whether zeros stand for rows of this shape where nothing is measured."""
  return math.prod(shape) * dtype.size >= _LARGE_BYTES and dtype != tf.int64


def blanked(make: Callable[[], _T]) -> _T:
  """Returns make(), tensors that a run holds and changes; where nothing is measured as `large`."""
  if not counts_only():
    return make()
  specs = tf.function(make, autograph=False).get_concrete_function().structured_outputs
  if all(_is_small(spec) for spec in tf.nest.flatten(specs)):
    return make()
  return tf.nest.map_structure(lambda spec: large(
      spec.shape, spec.dtype, lambda: tf.zeros(spec.shape, spec.dtype)), specs)


def unwritten(variables: Sequence[tf.Variable]) -> dict[str, np.ndarray]:
  """Adds large variables to `Rehearsal.disk_bytes` in place of writing them; returns the others.

  A run keeps its last two states, so that all are added once more.
  """
  now = current()
  assert now is not None
  written = {str(i): v.numpy() for i, v in enumerate(variables)
             if not v.shape.is_fully_defined() or _is_small(v)}
  now.disk_bytes += sum(array.nbytes for array in written.values()) + 2 * sum(
      math.prod(v.shape) * v.dtype.size for i, v in enumerate(variables) if str(i) not in written)
  return written


def _is_small(part: Any) -> bool:
  return math.prod(part.shape) * part.dtype.size < _LARGE_BYTES


def zeros(shape: Sequence[int], dtype: Any) -> np.ndarray:
  """Zeros that `tensor` makes a tensor of without a copy.

  Large arrays are anonymous memory maps: `np.zeros` may reuse freed memory, which is then cleared
  and takes room.
  """
  num_bytes = math.prod(shape) * np.dtype(dtype).itemsize
  if num_bytes < _LARGE_BYTES:
    return np.zeros(shape, dtype)
  memory = mmap.mmap(-1, num_bytes, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
  return np.frombuffer(memory, dtype).reshape(shape)


def tensor(rows: np.ndarray) -> tf.Tensor:
  """Rows as a tensor; where nothing is measured without a copy, if they are large and `zeros`."""
  if (not counts_only() or rows.nbytes < _LARGE_BYTES or rows.ctypes.data % _ALIGNED
      or not rows.flags.c_contiguous or not rows.flags.writeable):
    return tf.convert_to_tensor(rows)
  return _uncopied(rows)


def _uncopied(rows: np.ndarray) -> tf.Tensor:
  if rows.dtype.kind == "V":  # NumPy exports its own types only, not bfloat16.
    return tf.convert_to_tensor(rows)
  return tf.experimental.dlpack.from_dlpack(rows.__dlpack__())


@contextlib.contextmanager
def blank_variables() -> Iterator[None]:
  """Large variables that this thread makes meanwhile are zeros that take no memory.

  Their initial values are not computed, where their shapes are known.
  """
  def blank(make: Callable[..., Any], **arguments: Any) -> Any:
    value, dtype = arguments["initial_value"], arguments.get("dtype")
    shape = arguments.get("shape") if callable(value) else getattr(value, "shape", None)
    dtype = dtype or getattr(value, "dtype", None)
    if (tf.executing_eagerly() and shape is not None and dtype is not None
        and tf.TensorShape(shape).is_fully_defined()):
      shape, dtype = tuple(tf.TensorShape(shape)), tf.as_dtype(dtype)
      if math.prod(shape) * dtype.size >= _LARGE_BYTES and dtype.is_floating:
        arguments["initial_value"] = _uncopied(zeros(shape, dtype.as_numpy_dtype))
    return make(**arguments)

  with tf.variable_creator_scope(blank):
    yield


def joined(parts: Sequence[tf.Tensor]) -> tf.Tensor:
  """Rows [n, ...] of all parts, one after the other, as `large`."""
  size = sum(int(part.shape[0]) for part in parts)
  return large([size, *parts[0].shape[1:]], parts[0].dtype, lambda: tf.concat(parts, 0))


def concatenated(parts: Sequence[np.ndarray]) -> np.ndarray:
  """Images or features [n, ...] of all parts; where nothing is measured zeros, see `zeros`."""
  if counts_only():
    return zeros([sum(map(len, parts)), *parts[0].shape[1:]], parts[0].dtype)
  return np.concatenate(parts)


def stored(rows: tf.Tensor) -> tf.Tensor:
  """Returns rows [N, ...] that are to be written to a file; none of those that `large` leaves out.

  Rows that are read again are made by `large`, from files or, if they are many, of zeros.
  """
  now = current()
  if now is None or now.measures or not _is_blank(rows.shape, rows.dtype):
    return rows
  now.disk_bytes += math.prod(rows.shape) * rows.dtype.size
  return rows[:0]


def few(owner: Any, key: Hashable, num: int, run: Callable[[int], _T], *,
        blank: Callable[[], _T] | None = None) -> _T:
  """Returns run(num), which takes `num` like steps; in a rehearsal a few at first, then none.

  Args:
    owner: whose steps they are. key: tells apart steps of different cost; one of each is measured.
    num: of steps.
    run: takes that many; a rehearsal calls it for a few, and returns what that returned.
    blank: makes what stands for the result where nothing is measured, so that no step is taken;
      None: one step is taken.
  """
  now = current()
  if now is None:
    return run(num)
  return now.take(owner, key, num, run, blank)


def called(graph: Any, run: Callable[[], _T]) -> _T:
  """Returns run(), a call of a concrete function; a rehearsal makes a few calls of each, then none.

  Where nothing is measured zeros stand for what it returns, unless it has open shapes.
  """
  now = current()
  return run() if now is None else now.call(graph, run)


def counted(key: Hashable, terms: tuple[int, ...], count: Callable[[], flops.Cost],
            sizes: Mapping[str, int] = types.MappingProxyType({})) -> flops.Cost:
  """Returns count(), the cost of a graph; rehearsals that are alike count equal ones once.

  Args:
    key: tells apart the graphs of a run that differ in more than these terms.
    terms: 1 and products of sizes in which the cost is linear; see `flops.SizeCosts`.
    count: traces the graph and counts it.
    sizes: those of the terms by the names of arguments: settings of these names and values are no
      difference beside the terms.
  """
  now = current()
  if not counts_only() or now is None or now.alike is None:
    return count()
  alike = now.alike if not sizes else tuple(
      (where, name, "" if sizes.get(name) is not None and repr(sizes[name]) == value else value)
      for where, name, value in now.alike)
  costs = _COSTS.setdefault((alike, key), flops.SizeCosts())
  before = costs.num_followed
  cost = costs(terms, count)
  now.num_followed += costs.num_followed - before
  return cost


def traced(key: Hashable, variables: Sequence[Any], specs: Any, count: Callable[[], flops.Cost]
           ) -> flops.Cost:
  """Returns count(), as `counted`, of a graph that depends on shapes and is on no line.

  Args:
    key: see `counted`.
    variables: what the graph reads and changes.
    specs: of its arguments, in any structure.
    count: traces the graph and counts it.
  """
  shapes = [(str(part.shape), part.dtype.name) for part in (*variables, *tf.nest.flatten(specs))]
  return counted((key, *shapes), (1,), count)


def save(owner: Any, run: Callable[[], object]) -> None:
  """Calls `run`, which writes over what it wrote before; a rehearsal calls it once or twice.

  Later calls of the same owner count as long as the last one took.
  """
  now = current()
  if now is None:
    run()
  else:
    now.save(owner, run)


def rows(owner: Any, key: Hashable, num: int, at_once: int, run: Callable[[int], np.ndarray],
         one: Callable[[], np.ndarray] | None = None) -> np.ndarray:
  """Returns run(num), [num, ...]; in a rehearsal the first `at_once` rows, over and over.

  The first call's rows are computed twice and measured, all other rows are skipped. Where nothing
  is measured, rows are zeros of the shape and type of one() [1, ...], or of run(1).
  """
  now = current()
  if now is None:
    return run(num)
  if not now.measures:
    like = few(owner, (key, "one"), 2, lambda _: one() if one is not None else run(1))
    return zeros([num, *like.shape[1:]], like.dtype)
  if num <= at_once:
    return run(num)
  def batches(count: int) -> np.ndarray:
    for _ in range(count - 1):
      run(at_once)
    return run(at_once)

  part = few(owner, key, -(-num // at_once), batches)
  return np.resize(part, [num, *part.shape[1:]])

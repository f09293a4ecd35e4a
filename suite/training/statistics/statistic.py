# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of statistics: sums over features and labels from which answers follow.

A `Statistic` holds settings only. Its methods are pure functions of two NamedTuples of tensors:

    state      the sums: `zero`, `add` a set of samples, `merge` with the sums of other samples; a
               field that settings leave out is ()
    solution   what answers need besides the state and is computed from it, such as an inverse

`answers(state, codes)` solves what it needs for these answers, within the same graph, and has
gradients: few-shot episodes call it. In tasks, buckets and sequences, state and solution are
variables (`Running`): `update` moves both with each label, at a cost that does not grow with the
number of samples, and `solve` computes the solution again, after a task, a bucket or the base
classes and in offline phases. `answers_in_turn` answers a block of single samples in closed form.

A new statistic gives `zero`, `add`, `merge` and `answers`, and `solve` if it has a solution; what
else is here has a default.

Letters: B samples, N samples of a set, C classes, D features, U classes in a block.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import user_code
from suite.contracts import rehearsal
from suite.contracts import tasks

NOT_SHOWN = -1e9  # Logit of a class without a sample: finite, so that no loss becomes NaN.
_CHUNK = 256  # Samples added in one call.
# Shares of the mean of the diagonal that are added to a matrix, the next if a factorization failed.
_ADDED = (0.0, 1e-12, 1e-8, 1e-4)
_GRAPHS = 8  # Kept at once, of a state with open dimensions.

State = Any  # A NamedTuple of tensors; one field is `counts`, [C].
Solution = Any  # A NamedTuple of tensors, or ().


class SetSums(NamedTuple):
  """The state of a whole set, float64, and the FLOPs to merge it."""

  state: State
  num_flops: int


class Factorization(NamedTuple):
  """How the last `solve` went.

  Attributes:
    condition: an estimate from below of the condition number of the matrix that was factorized, the
      largest of several: the square of the ratio of the largest and the smallest of `scales`, see
      `Statistic.solve`. None: there is no such matrix, or it is not finite.
    added: the share of the mean of the diagonal that was added to it, after factorizations with
      less had failed.
    attempts: factorizations that were begun.
  """

  condition: float | None
  added: float
  attempts: int

  def record(self) -> dict[str, float]:
    """Returns fields of a record: `ridge_added` where it is not 0."""
    found = {} if self.condition is None else {
        "condition_number": float(f"{self.condition:.3g}")}  # The rest is rounding.
    return {**found, "ridge_added": self.added} if self.added else found


class Statistic:
  """Settings and functions of one statistic; see the module.

  Attributes:
    kinds: the kinds of tasks it can count.
    has_phases: whether `solve` is worth an offline phase; False: `update` keeps the solution exact.
    has_turns: whether there is `answers_in_turn`.
    most_rows: samples of a set that `Sets` adds at once.
    sets_only: whether there is no `update`: single samples are added in offline phases, as a set.
    has_fallback: whether `solve` takes `added`.
    by_class: whether the solution of a class follows from its own samples; fields of state and
      solution then have a row for each class, and classes without a new sample need no `solve`.
  """

  kinds: Sequence[str] = (tasks.SINGLE_LABEL,)
  has_phases = True
  has_turns = sets_only = has_fallback = by_class = False
  most_rows = 10000

  @property
  def chooses(self) -> bool:
    """Whether held-out samples choose a setting; see `choose`."""
    return False

  def of_sets(self) -> Statistic | None:
    """Returns a form whose state grows with sets, for `Sets`; None: there is none, or no need."""
    return None

  def zero(self, num_classes: int, num_features: int) -> State:
    """Returns the state of no sample."""
    raise NotImplementedError

  def episode_zero(self, num_classes: int, num_features: int) -> State:
    """Returns the state of no sample of a few-shot episode; default: `zero`."""
    return self.zero(num_classes, num_features)

  def add(self, state: State, codes: tf.Tensor, labels: tf.Tensor) -> State:
    """Returns the state after samples [B, D] with labels int [B], in their order."""
    raise NotImplementedError

  def trimmed(self, state: State) -> State:
    """Returns the state of `Sets` without unused rows of open dimensions. Eager only."""
    return state

  def merge(self, a: State, b: State) -> State:
    """Returns the state of the samples of both states."""
    raise NotImplementedError

  def answers(self, state: State, codes: tf.Tensor, solution: Solution | None = None) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D].

    Args:
      state: the sums.
      codes: [B, D].
      solution: None: solved here; classes without a sample then have the logit `NOT_SHOWN`, and
        -inf with a solution.
    """
    raise NotImplementedError

  def solve(self, state: State, added: float = 0.0) -> Solution:
    """Returns the solution for a state, solved in float64.

    A field `scales` [..., D] of it, if there is one, is no variable of `Running`: the diagonals of
    Cholesky's factors, or singular values, for `Factorization`.

    Args:
      state: the sums.
      added: see `factor`; above 0 if a factorization without it failed, and `has_fallback`.
    """
    del state, added
    return ()

  def choose(self, state: State, codes: tf.Tensor, labels: tf.Tensor) -> State:
    """Returns the state with the setting that is best on held-out samples [B, D], labels [B].

    They are not among those of the sums.
    """
    del codes, labels
    return state

  def chosen(self, state: State) -> dict[str, Any]:
    """Returns plain values of what was chosen, for records; {}: nothing is."""
    del state
    return {}

  def unsolved(self, num_classes: int, num_features: int) -> Solution:
    """Returns the solution before the first `solve`; default: that of no sample."""
    return self.solve(self.zero(num_classes, num_features))

  def update(self, state: State, solution: Solution, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B] to variables, in place and in their order.

    The default changes the state alone: the solution stays that of the last `solve`.
    """
    del solution
    for variable, value in zip(state, self.add(state, codes, labels)):
      variable.assign(value)

  def answers_in_turn(self, state: State, solution: Solution, codes: tf.Tensor, labels: tf.Tensor
                      ) -> tf.Tensor:
    """Returns logits [B, C], each as if `update` had added the samples before it."""
    raise NotImplementedError

  def set_sums(self, codes: np.ndarray, labels: np.ndarray, num_classes: int) -> SetSums | None:
    """Returns the sums of a set [N, D]; None (the default): its samples are added in chunks."""
    del codes, labels, num_classes
    return None


def factor(matrix: tf.Tensor, added: float = 0.0) -> tf.Tensor:
  """Returns Cholesky's factors of matrices [..., D, D].

  Args:
    matrix: symmetric.
    added: times the mean of its diagonal, is added to the diagonal before.
  """
  if added:
    mean = tf.linalg.trace(matrix) / matrix.shape[-1]
    matrix += added * mean[..., None, None] * tf.eye(matrix.shape[-1], dtype=matrix.dtype)
  return tf.linalg.cholesky(matrix)


class Running(tf.Module):
  """State and solution of a statistic as variables, which are attributes by the fields' names.

  Args:
    statistic: the settings.
    num_classes: C.
    num_features: D.

  Attributes:
    statistic: as given.
    add_chunk: `add` of any number of samples, compiled.
  """

  def __init__(self, statistic: Statistic, num_classes: int, num_features: int):
    super().__init__()
    self.statistic, self._num_features = statistic, num_features
    zero, unsolved = rehearsal.blanked(lambda: (
        statistic.zero(num_classes, num_features), statistic.unsolved(num_classes, num_features)))
    self._types = {"state": type(zero), "solution": type(unsolved)}
    for part in (zero, unsolved):
      for name, value in zip(getattr(part, "_fields", ()), part):
        if not _is_absent(value):
          setattr(self, name, tf.Variable(
              value, trainable=False, name=name, shape=self._shape_of(value)))
    self.add_chunk = user_code.compiled(self.add, input_signature=[
        tf.TensorSpec([None, num_features]), tf.TensorSpec([None], tf.int64)])
    self._solve = user_code.compiled(self._solved, input_signature=[])
    self._solve_some = user_code.compiled(
        self._solved_of, input_signature=[tf.TensorSpec([None], tf.int64)])
    self._factorization = functools.partial(Factorization, None, 0.0, 0)  # A module wraps a tuple.
    self._costs: dict[str, flops.Cost] = {}

  def _shape_of(self, value: tf.Tensor) -> tf.TensorShape:
    return value.shape

  def _variables(self, which: str) -> Any:
    kind = self._types[which]
    names = getattr(kind, "_fields", ())
    return kind(*(getattr(self, name, ()) for name in names))

  @property
  def state(self) -> State:
    """The state, a NamedTuple of variables."""
    return self._variables("state")

  @property
  def solution(self) -> Solution:
    """The solution, a NamedTuple of variables."""
    return self._variables("solution")

  @property
  def factorization(self) -> Factorization:
    """How the last `solve` went."""
    return self._factorization()

  @property
  def num_classes(self) -> int:
    """C."""
    return int(self.state.counts.shape[0])

  @property
  def num_nonempty(self) -> int:
    """The number of classes with a sample."""
    return int(np.count_nonzero(self.state.counts.numpy()))

  @property
  def answer_macs(self) -> int:
    """Multiply-adds of the answer to a sample; 0 if they cannot be counted."""
    return self._cost_of_one("answer", self.answer).macs or 0

  def add(self, codes: tf.Tensor, labels: tf.Tensor) -> None:
    """Adds samples [B, D] with labels int64 [B], in their order."""
    self.statistic.update(self.state, self.solution, codes, labels)

  def add_set(self, codes: np.ndarray, labels: np.ndarray) -> flops.Cost:
    """Adds a whole set [N, D] with labels [N], or multi-hot [N, C]; returns the cost."""
    whole = self.statistic.set_sums(codes, labels, self.num_classes)
    if whole is not None:
      state = self.statistic.merge(
          type(whole.state)(*(tf.cast(part, tf.float64) for part in self.state)), whole.state)
      self._assign(state, self.statistic.solve(state))
      return flops.Cost(whole.num_flops, 0)
    given, of = tf.cast(codes, tf.float32), tf.cast(labels, tf.int64)
    for start in range(0, 0 if rehearsal.counts_only() else len(labels), _CHUNK):
      self.add_chunk(given[start:start + _CHUNK], of[start:start + _CHUNK])
    return self._cost_of_one("add", self.add, tf.TensorSpec([1], tf.int64)) * len(labels)

  def answer(self, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C] of samples [B, D]; -inf for classes without a sample."""
    return self.statistic.answers(self.state, codes, self.solution)

  def answer_in_turn(self, codes: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C], each as if the samples before it had been added; adds nothing."""
    return self.statistic.answers_in_turn(self.state, self.solution, codes, labels)

  def choose(self, codes: np.ndarray, labels: np.ndarray) -> flops.Cost:
    """Chooses the settings that held-out samples [N, D], labels [N], are for; returns the cost."""
    given = tf.cast(codes, tf.float32), tf.cast(labels, tf.int64)
    graph = user_code.compiled(lambda codes, labels: self._assign(
        self.statistic.choose(self.state, codes, labels), ())).get_concrete_function(*given)
    graph(*given)
    return flops.count(graph)

  def solve(self) -> None:
    """Computes the solution for the samples so far.

    If a factorization of finite sums fails, a small share of the mean of the diagonal is added, a
    larger one if that fails, too: `factorization` says which.

    Raises:
      ValueError: no share was enough.
    """
    self._guarded(self._solved)

  def _solved(self, added: float = 0.0) -> Any:
    """Solves; returns the `scales` of the solution, () if it has none."""
    solution = self.statistic.solve(self.state, *([added] if added else []))
    self._assign((), solution)
    return getattr(solution, "scales", ())

  def _solved_of(self, classes: tf.Tensor, added: float = 0.0) -> Any:
    """As `_solved`, of classes int64 [U] alone."""
    state = self._types["state"](*(
        part if _is_absent(part) else tf.gather(part, classes) for part in self.state))
    solution = self.statistic.solve(state, *([added] if added else []))
    for variable, values in zip(self.solution, solution):
      if not _is_absent(variable):
        variable.scatter_update(tf.IndexedSlices(tf.cast(values, variable.dtype), classes))
    return getattr(solution, "scales", ())

  def _guarded(self, solve: Callable[[float], Any]) -> None:
    shares = _ADDED if self.statistic.has_fallback else _ADDED[:1]
    for attempts, added in enumerate(shares, 1):
      # What is not positive definite has factors of NaN; so has what is not finite.
      scales = solve(added)
      found = Factorization(_condition(scales), added, attempts)
      self._factorization = functools.partial(Factorization, *found)
      if found.condition is not None or len(shares) == 1 or not all(
          np.isfinite(part.numpy()).all() for part in self.state if not _is_absent(part)):
        return
    raise ValueError(
        f"{type(self.statistic).__name__}: the sums of {np.sum(self.state.counts.numpy()):.0f} "
        f"samples cannot be factorized, not with {shares[-1]:g} of the mean of the diagonal added "
        "to it either. Features may differ by more than the sums hold: scale them, for example by "
        "unit_length, or take a larger ridge.")

  def chosen(self) -> dict[str, Any]:
    """What held-out samples chose last, for records."""
    return self.statistic.chosen(self.state)

  def solve_compiled(self, classes: np.ndarray | None = None) -> None:
    """`solve` as a graph; with `by_class` of classes [U] alone, those with new samples."""
    if classes is None or not self.statistic.by_class:
      self._guarded(lambda added: self._solve() if not added else user_code.compiled(
          functools.partial(self._solved, added))())
      return
    some = tf.constant(classes, tf.int64)
    self._guarded(lambda added: self._solve_some(some) if not added else user_code.compiled(
        functools.partial(self._solved_of, some, added))())

  def solve_cost(self, classes: np.ndarray | None = None) -> flops.Cost:
    """Returns the cost of an attempt of `solve_compiled`."""
    if classes is not None and self.statistic.by_class:
      if "solve one" not in self._costs:
        self._costs["solve one"] = flops.count(user_code.compiled(
            self._solved_of).get_concrete_function(tf.TensorSpec([1], tf.int64)))
      return self._costs["solve one"] * len(classes)
    if "solve" not in self._costs:
      self._costs["solve"] = flops.count(self._solve.get_concrete_function())
    return self._costs["solve"]

  def _cost_of_one(self, name: str, function: Callable[..., Any], *specs: tf.TensorSpec
                   ) -> flops.Cost:
    """Returns the cost of a function of the codes of one sample, counted once."""
    if name not in self._costs:
      self._costs[name] = flops.count(user_code.compiled(function).get_concrete_function(
          tf.TensorSpec([1, self._num_features]), *specs))
    return self._costs[name]

  def _assign(self, state: State, solution: Solution) -> None:
    for variables, values in ((self.state, state), (self.solution, solution)):
      for variable, value in zip(variables, values):
        if not _is_absent(variable):
          variable.assign(tf.cast(value, variable.dtype))


def _is_absent(value: Any) -> bool:
  """Whether a field is (), which is no tensor: one of a setting that nothing chooses."""
  return isinstance(value, tuple)


class Sets(Running):
  """As `Running`, of a statistic whose state has open dimensions; samples come in whole sets.

  A dimension of 0 in the state of no sample is open. Each function is a graph for the state as it
  is, so that what it costs depends on how many samples there are, and is known.
  """

  def __init__(self, statistic: Statistic, num_classes: int, num_features: int):
    super().__init__(statistic, num_classes, num_features)
    graphs: dict[Any, tuple[Any, flops.Cost]] = {}
    self._graphs = lambda: graphs  # In a function: a checkpoint goes through every dict.

  def _shape_of(self, value: tf.Tensor) -> tf.TensorShape:
    return tf.TensorShape([size or None for size in value.shape])

  def _traced(self, name: str, function: Callable[..., Any], *specs: Any) -> tuple[Any, flops.Cost]:
    """The graph of a function of a state and more, for these shapes, and its cost."""
    key = (name, *(tuple(spec.shape) for spec in tf.nest.flatten(specs)))
    if key in self._graphs():
      flops.watch(self._graphs()[key][1])
    else:
      if len(self._graphs()) >= _GRAPHS:  # Shapes of a state that still grows do not come again.
        self._graphs().clear()
      graph = user_code.compiled(function).get_concrete_function(*specs)
      self._graphs()[key] = graph, flops.count(graph)
    return self._graphs()[key]

  def _specs(self) -> State:
    """The shapes of the state."""
    return tf.nest.map_structure(tf.type_spec_from_value, self._values())

  def _values(self) -> State:
    return self._types["state"](*(v.read_value() for v in self.state))

  def _samples(self, num: int) -> tuple[tf.TensorSpec, tf.TensorSpec]:
    return tf.TensorSpec([num, self._num_features]), tf.TensorSpec([num], tf.int64)

  def add_set(self, codes: np.ndarray, labels: np.ndarray) -> flops.Cost:
    total, most = flops.ZERO, self.statistic.most_rows
    for first in range(0, len(labels), most):
      part = slice(first, min(first + most, len(labels)))
      graph, cost = self._traced(
          "add", self.statistic.add, self._specs(), *self._samples(part.stop - first))
      # In the structure of the trace: other arguments cost TensorFlow a message with all values.
      added = graph(self._values(), tf.cast(codes[part], tf.float32),
                    tf.cast(labels[part], tf.int64))
      self._assign(self.statistic.trimmed(added), ())
      total += cost
    return total

  def choose(self, codes: np.ndarray, labels: np.ndarray) -> flops.Cost:
    graph, cost = self._traced("choose", self.statistic.choose, self._specs(),
                               *self._samples(len(labels)))
    self._assign(graph(self._values(), tf.cast(codes, tf.float32), tf.cast(labels, tf.int64)), ())
    return cost

  def solve_compiled(self, classes: np.ndarray | None = None) -> None:
    del classes  # No form with open dimensions is by class.
    self._guarded(self._solved)

  def _solved(self, added: float = 0.0) -> Any:
    solution = self._solving(added)[0](self._values())
    self._assign((), solution)
    return getattr(solution, "scales", ())

  def _solving(self, added: float = 0.0) -> tuple[Any, flops.Cost]:
    return self._traced(f"solve, {added} added", lambda state: self.statistic.solve(
        state, *([added] if added else [])), self._specs())

  def solve_cost(self, classes: np.ndarray | None = None) -> flops.Cost:
    del classes
    return self._solving()[1]


def _condition(scales: Any) -> float | None:
  """The largest square of a ratio of the largest and the smallest of [..., D] that are not 0."""
  if _is_absent(scales):
    return None
  values = np.asarray(scales, np.float64)
  least = np.min(values, axis=-1, where=values != 0.0, initial=np.inf)
  found = float(np.max(np.square(np.max(values, axis=-1) / least), initial=0.0))
  return found if np.isfinite(found) and found > 0.0 else None


class Block:
  """The classes of the labels int64 [B] of a block of single samples.

  At step t of a block, the samples j < t with a label c have been added to the sums of class c. An
  answer in turn is a function of sums before the block and of triangular sums: rows of the block's
  masked Gram matrix, added up by class. They change only the classes that occur in the block.

  Attributes:
    classes: int64 [U].
    later: float32 [B, B], 1 at [j, t] where step t comes after step j.
  """

  def __init__(self, labels: tf.Tensor):
    self.classes, self._places = tf.unique(labels)
    steps = tf.range(tf.size(labels))
    self._steps, self.later = steps, tf.cast(steps[:, None] < steps, tf.float32)

  def moved(self, before: tf.Tensor, added: tf.Tensor | None = None) -> tf.Tensor:
    """Returns sums [U, B] of the block's classes at each step.

    Args:
      before: the sums of all classes before the block, [C, B] or [C, 1].
      added: what sample j adds to its class as seen from step t, [B, B] or [B, 1]; None: 1.
    """
    rows = self.later if added is None else added * self.later
    return tf.gather(before, self.classes) + self.sums(rows)

  def sums(self, rows: tf.Tensor) -> tf.Tensor:
    """Returns the sums [U, B] by class of rows [B, B], one row a sample."""
    return tf.math.unsorted_segment_sum(rows, self._places, tf.size(self.classes))

  def own(self, values: tf.Tensor) -> tf.Tensor:
    """Returns the values [B] of each sample at its own class, out of [U, B]."""
    return tf.gather_nd(values, tf.stack([self._places, self._steps], axis=1))

  def put(self, found: tf.Tensor, within: tf.Tensor) -> tf.Tensor:
    """Returns logits [B, C]: [C, B] by the sums before the block, [U, B] of the block's classes."""
    return tf.transpose(tf.tensor_scatter_nd_update(found, self.classes[:, None], within))


def accuracy(logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
  """Returns the share of right answers, float32 [], of logits [B, C] and labels int64 [B]."""
  return tf.reduce_mean(tf.cast(tf.argmax(logits, axis=1) == labels, tf.float32))


def parts(size: tf.Tensor, num: int = 2) -> list[slice]:
  """Returns `num` slices of `size` rows (int32 []), in order, of nearly equal size; maybe empty.

  On a few hundred rows, two threads within each operation leave two cores partly idle. Independent
  parts in one graph use them better.
  """
  ends = [size * i // num for i in range(num + 1)]
  return [slice(a, b) for a, b in zip(ends, ends[1:])]

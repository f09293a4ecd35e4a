# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A memory: a fixed number of slots for examples, and a rule that chooses them.

  rule = reservoir.Reservoir()
  memory = memory.Memory(3300, rule)
  memory.build([2048], tf.float32, seed=seeds.pair("memory"), num_classes=11)
  memory.add(codes, labels)
  held = memory.held()                                # codes, labels, logits of all slots taken

Everything it holds is a `tf.Variable`, so one checkpoint holds it; all methods run eagerly or in a
graph. Slots fill in order: those below `size` are taken.

Random numbers by position: draw number p is a pure function of (seed, purpose, p).

So a memory that keeps its count continues after a checkpoint as without one, and examples
get the same draws whether they come one at a time or many.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, TypeAlias

from absl import logging
import numpy as np
import tensorflow as tf

from suite.contracts import rehearsal
from suite.data.images import sampling

Places = tuple[tf.Tensor, tf.Tensor]

_CIPHER_ROUNDS = 12  # Of the permutation behind a sample.
_REPLAYED = 7  # The purpose of the draws of `samples`, beside those of the rules.
_TABLE = 2**22  # Slots of the memories of steps that are drawn from at once.


class Rule(tf.Module):
  """Chooses what is held: m of n new examples, in k slots.

  Attributes:
    has_groups: whether the rule keeps groups apart, such as buckets.
    by_call: whether what is offered in one call belongs together, such as a bucket.
    compares: whether `place_compared`, which looks at gradients of examples, replaces `place`.
    reads_features: whether `place_by_features`, which looks at features of examples, replaces it.
  """

  has_groups = by_call = compares = reads_features = False

  def build(self, capacity: int, *, seed: tuple[int, int], num_classes: int) -> None:
    """Makes its variables; those of an earlier memory are forgotten."""
    raise NotImplementedError

  def place(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor, seen: tf.Tensor) -> Places:
    """Returns the new examples to keep, and their slots.

    Args:
      labels: int64 [n] of the new examples.
      held: int64 [k], the labels in the slots; those from `size` on mean nothing.
      size: int64 [], slots taken. seen: int64 [], examples offered before these.

    Returns:
      chosen, int64 [m] indices of new examples, and slots, int64 [m], all different; free slots
      are taken in order.
    """
    raise NotImplementedError

  def place_each(self, labels: np.ndarray, starts: np.ndarray, held: np.ndarray, size: int,
                 seen: int) -> np.ndarray:
    """Places the examples of several steps, one step after the other.

    Args:
      labels: int64 [T] of the examples of all S steps.
      starts: int64 [S + 1], where those of each step begin, and T.
      held, size, seen: as in `place`, before the first step.

    Returns:
      The slot of each example, int64 [T]; k where it is not kept.
    """
    if not hasattr(self, "_steps"):
      graph = tf.function(self._placed, autograph=False, input_signature=[
          *[tf.TensorSpec([None], tf.int64)] * 3, *[tf.TensorSpec([], tf.int64)] * 2])
      self._steps = lambda: graph  # In a function: a module does not look into it.
    return self._steps()(labels, starts, held, size, seen).numpy()

  def _placed(self, labels: tf.Tensor, starts: tf.Tensor, held: tf.Tensor, size: tf.Tensor,
              seen: tf.Tensor) -> tf.Tensor:
    capacity, num = tf.size(held, out_type=tf.int64), tf.size(starts) - 1

    def step(i: tf.Tensor, held: tf.Tensor, size: tf.Tensor, found: tf.TensorArray
             ) -> tuple[Any, ...]:
      own = labels[starts[i]:starts[i + 1]]
      chosen, slots = self.place(own, held, size, seen + starts[i])
      held = tf.tensor_scatter_nd_update(held, slots[:, None], tf.gather(own, chosen))
      found = found.write(i, tf.tensor_scatter_nd_update(
          tf.fill(tf.shape(own), capacity), chosen[:, None], slots))
      return i + 1, held, size + tf.math.count_nonzero(slots >= size), found

    array = tf.TensorArray(tf.int64, num, infer_shape=False, element_shape=[None])
    return tf.while_loop(lambda i, *_: i < num, step, [0, held, size, array])[3].concat()

  def place_by_features(self, labels: tf.Tensor, held: tf.Tensor, size: tf.Tensor,
                        seen: tf.Tensor, features: tf.Tensor) -> Places:
    """As `place`, eagerly; features [n, D] of the new examples."""
    raise NotImplementedError

  def num_products(self, labels: tf.Tensor, size: int) -> int:
    """Products of two features that `place_by_features` makes, in a memory of `size`."""
    del labels, size
    return 0

  def held_groups(self, size: tf.Tensor) -> tf.Tensor | None:
    """The groups of the examples in the first `size` slots, int64 [size]; None without groups."""
    del size
    return None

  def num_compared(self, num: int, size: int) -> int:
    """Examples whose gradients are made if `num` are offered to a memory of `size`."""
    del num, size
    return 0

  def place_compared(self, num: int, size: int, seen: int,
                     cosines: Callable[[np.ndarray, np.ndarray, np.ndarray], np.ndarray]
                     ) -> Places:
    """As `place`, eagerly.

    Args:
      num: n. size, seen: as in `place`.
      cosines: slots and new examples that are held by now, int64 [a] and [b], and new examples,
        int64 [c], to the largest cosine of the gradient of each of the latter with those of the
        a + b, [c].
    """
    raise NotImplementedError


class Held(NamedTuple):
  """The content of a memory: codes [n, ...], labels int64 [n], logits float32 [n, C or 0]."""

  codes: tf.Tensor
  labels: tf.Tensor
  logits: tf.Tensor | None = None


# Held and new examples to the largest cosine of each new one's gradient with the held ones', [c].
Compare = Callable[[Held, Held], tf.Tensor]
CodesAt = Callable[[Any], tf.Tensor]  # Places int64 [n] to the codes there, [n, ...].


class Memory(tf.Module):
  """Keeps up to `capacity` examples, chosen by `rule`.

  A learner of a sequence, which is stored in any case, keeps the numbers of samples in the place of
  codes: examples of shape [] and type int64.

  Args:
    memory_size: k, the number of examples held at most.
    rule: which examples are held.

  Attributes:
    capacity: k.
    codes [k, ...], labels int64 [k], logits float32 [k, C or 0]: the slots.
    size, seen: int64 [], slots taken and examples offered so far.
  """

  def __init__(self, memory_size: int, rule: Rule):
    super().__init__()
    if memory_size < 1:
      raise ValueError(f"Memory.memory_size is {memory_size}; it must be at least 1. To keep "
                       "nothing, use a learner without a memory.")
    if not isinstance(rule, Rule):
      raise ValueError(f"Memory.rule is a {type(rule).__name__}; give a rule of "
                       "suite/training/memories, or make the class a subclass of memory.Rule.")
    self.capacity, self.rule = int(memory_size), rule

  def build(self, shape: Sequence[int], dtype: tf.DType, *, seed: tuple[int, int],
            num_classes: int, with_logits: bool = False) -> None:
    """Makes the slots, all free, for examples of one shape (without batch) and type."""
    self.codes = _variable("codes", [self.capacity, *shape], dtype)
    self.labels = _variable("labels", [self.capacity], tf.int64)
    width = num_classes if with_logits else 0
    self.logits = _variable("stored_logits", [self.capacity, width], tf.float32)
    self.size, self.seen = _variable("size", [], tf.int64), _variable("seen", [], tf.int64)
    self.rule.build(self.capacity, seed=seed, num_classes=num_classes)

  def num_compared(self, num: int) -> int:
    """Examples whose gradients are made if `num` are offered now."""
    return self.rule.num_compared(num, int(self.size))

  def add(self, codes: tf.Tensor, labels: tf.Tensor, logits: tf.Tensor | None = None,
          compare: Compare | None = None, features: tf.Tensor | None = None) -> None:
    """Offers examples: codes [n, ...] of the memory's shape and type, labels [n], logits [n, C].

    Logits are given if and only if the memory stores them; `compare` is called by rules that
    compare gradients, and features [n, D] are for those that read them. Both work eagerly only.
    """
    codes = tf.convert_to_tensor(codes)
    if codes.dtype != self.codes.dtype or codes.shape[1:] != self.codes.shape[1:]:
      raise ValueError(
          f"The memory holds examples of shape {self.codes.shape[1:]} and type "
          f"{self.codes.dtype.name}, but was given {codes.shape[1:]} of {codes.dtype.name}. "
          "Build it for the latter, or convert them first.")
    chosen, slots = self.take(
        labels, logits, compare, lambda slots: tf.gather(self.codes, slots),
        lambda new: tf.gather(codes, new), features)
    self.write(lambda: tf.gather(codes, chosen), slots)

  def write(self, codes: Callable[[], tf.Tensor], slots: tf.Tensor) -> None:
    """Stores codes() [m, ...] in slots [m]; images in a rehearsal that measures nothing are none.
    """
    if self.codes.dtype == tf.int64 or not rehearsal.counts_only():
      self.codes.scatter_update(tf.IndexedSlices(codes(), slots))

  def take(self, labels: tf.Tensor, logits: tf.Tensor | None, compare: Compare | None,
           held_codes: CodesAt, new_codes: CodesAt, features: tf.Tensor | None = None
           ) -> Places:
    """Gives slots to some of n new examples, whose codes the caller then stores.

    Args:
      labels, logits, compare, features: see `add`.
      held_codes: slots to codes that are stored there, before any is. new_codes: new examples,
        int64 [c], to codes.

    Returns:
      The new examples that are kept, int64 [m], and their slots, int64 [m].
    """
    labels = tf.cast(labels, tf.int64)
    # Read before anything is written: the rule must see the memory as it was.
    size, seen = self.size.read_value(), self.seen.read_value()
    if self.rule.compares and rehearsal.counts_only():  # Gradients mean nothing there.
      chosen = tf.range(tf.minimum(self.capacity - size, tf.size(labels, out_type=tf.int64)))
      slots = size + chosen
    elif self.rule.compares:
      if compare is None:
        raise ValueError(f"The rule {type(self.rule).__name__} compares gradients; give Memory.add "
                         "a compare that makes them.")

      def cosines(slots: np.ndarray, entered: np.ndarray, new: np.ndarray) -> np.ndarray:
        held = Held(tf.concat([held_codes(slots), new_codes(entered)], 0),
                    tf.concat([tf.gather(self.labels, slots), tf.gather(labels, entered)], 0))
        return np.asarray(compare(held, Held(new_codes(new), tf.gather(labels, new))))

      chosen, slots = self.rule.place_compared(
          int(labels.shape[0]), int(self.size), int(self.seen), cosines)
    elif self.rule.reads_features:
      if features is None:
        raise ValueError(f"The rule {type(self.rule).__name__} chooses by features; give them to "
                         "Memory.add.")
      chosen, slots = self.rule.place_by_features(
          labels, self.labels.read_value(), size, seen, features)
    else:
      chosen, slots = self.rule.place(labels, self.labels.read_value(), size, seen)
    self.labels.scatter_update(tf.IndexedSlices(tf.gather(labels, chosen), slots))
    if logits is not None and self.logits.shape[1] and not rehearsal.counts_only():
      self.logits.scatter_update(tf.IndexedSlices(tf.gather(logits, chosen), slots))
    self.size.assign_add(tf.math.count_nonzero(slots >= size))
    self.seen.assign_add(tf.size(labels, out_type=tf.int64))
    return chosen, slots

  def held(self) -> Held:
    """All that is held, in the order of the slots."""
    slots = tf.range(self.size.read_value())
    labels = tf.gather(self.labels, slots)
    logits = rehearsal.large([int(self.size), self.logits.shape[1]], tf.float32,
                             lambda: tf.gather(self.logits, slots))
    if rehearsal.counts_only() and self.codes.dtype != tf.int64:
      shape, dtype = [int(self.size), *self.codes.shape[1:]], self.codes.dtype
      return Held(rehearsal.large(shape, dtype, lambda: tf.zeros(shape, dtype)), labels, logits)
    return Held(tf.gather(self.codes, slots), labels, logits)

  def held_groups(self) -> tf.Tensor | None:
    """The group of all that is held, such as its bucket, int64 [n]; None: the rule has none."""
    return self.rule.held_groups(self.size.read_value())


class Replays(NamedTuple):
  """What a memory that takes rows in replays in each of S steps.

  Attributes:
    places: int64 [S, R], of the replayed rows among those of the phase.
    slots: int64 [S, R], where the logits of these rows are.
    taken: int64 [S, B], the slot that each incoming row gets; k where it is not kept.
  """

  places: np.ndarray
  slots: np.ndarray
  taken: np.ndarray


class Intake:
  """A memory that takes rows in while a phase trains on them, step by step.

  Which rows are held at each step follows from the rule and its draws alone, so that it is known
  before the steps of a call; a rule that compares gradients is asked after each step. Meanwhile
  the memory holds the places of its examples among the rows of the phase, which are the new ones
  and, behind them, those that it held before; their codes are written once, at the end.

  Args:
    memory: built.

  Attributes:
    memory: as given.
    compares: whether the rule compares gradients.
    logits: float32 [k + 1, C or 0], those of the slots, and one of rows that are not kept.
  """

  def __init__(self, memory: Memory):
    self.memory, self.compares = memory, memory.rule.compares
    self._places = np.zeros([memory.capacity], np.int64)
    self.logits = tf.Variable(
        tf.zeros([memory.capacity + 1, memory.logits.shape[1]]), trainable=False)
    self._begun = 0, 0

  def begin(self, first: int) -> None:
    """Begins a phase, of whose rows those from `first` on are the memory's."""
    self._places = first + np.arange(self.memory.capacity, dtype=np.int64)
    self._begun = int(self.memory.size), int(self.memory.seen)
    if self.logits.shape[1]:
      self.logits[:-1].assign(self.memory.logits)

  def rehearse(self, offered: int) -> None:
    """Leaves the memory as full as after so many rows of the phase; its new rows are the first one.
    """
    size, seen = self._begun
    self._places[size:] = 0
    self.memory.size.assign(min(size + offered, self.memory.capacity))
    self.memory.seen.assign(seen + offered)

  def replays(self, places: np.ndarray, labels: np.ndarray, num: int, seed: tuple[int, int],
              first: int) -> Replays:
    """The rows that the next steps replay, which take in theirs.

    Args:
      places, labels: int64 [S, B], of incoming rows. A rule that compares takes none in.
      num: R. seed: of the draws. first: the number of the first step.
    """
    memory, (steps, width) = self.memory, places.shape
    taken, size = np.full([steps, width], memory.capacity, np.int64), int(memory.size)
    if not self.compares:
      held = memory.labels.numpy()
      taken = memory.rule.place_each(
          labels.reshape(-1), np.arange(steps + 1) * width, held, size, int(memory.seen)
          ).reshape(steps, width)
    is_kept = taken < memory.capacity
    # Free slots are taken in order.
    sizes = np.maximum.accumulate(np.maximum(size, np.where(is_kept, taken + 1, 0).max(axis=1)))
    before = np.concatenate([[size], sizes[:-1]])
    if num and not before.all():
      raise ValueError("The memory is empty. Add examples first, or ask for its `size` before.")
    slots = samples(before, seed, first, num) if num else np.zeros([steps, 0], np.int64)
    replayed = np.empty_like(slots)
    for step in range(steps):
      replayed[step] = self._places[slots[step]]
      if is_kept[step].any():
        self._places[taken[step, is_kept[step]]] = places[step, is_kept[step]]
    if not self.compares:
      kept = is_kept.reshape(-1)
      held[taken.reshape(-1)[kept]] = labels.reshape(-1)[kept]
      memory.labels.assign(held)
      memory.size.assign(sizes[-1])
      memory.seen.assign_add(places.size)
    return Replays(replayed, slots, taken)

  def take(self, places: np.ndarray, labels: tf.Tensor, compare: Compare, codes_at: CodesAt
           ) -> None:
    """Offers rows to a memory whose rule compares: their places and labels, int64 [n].

    Args:
      compare: see `Memory.add`. codes_at: places to codes, for it.
    """
    chosen, slots = self.memory.take(
        labels, None, compare, lambda held: codes_at(self._places[np.asarray(held)]),
        lambda new: codes_at(places[np.asarray(new)]))
    self._places[slots.numpy()] = places[chosen.numpy()]

  def end(self, codes: tf.Tensor) -> None:
    """Stores the codes of what is held; `codes` [N, ...] are those of all rows of the phase."""
    slots = tf.range(self.memory.size.read_value())
    if self.logits.shape[1]:
      self.memory.logits.assign(self.logits[:-1])
    self.memory.write(lambda: tf.gather(codes, self._places[:len(slots)]), slots)


def about(memory: Memory | None, delivered: int, is_first: bool) -> dict[str, int]:
  """The entries of a record about a memory after a bucket of `delivered` examples."""
  if memory is None:
    return {}
  if memory.capacity > delivered and is_first:
    logging.warning("The memory has %d slots, the first bucket %d examples: it is full later "
                    "only.", memory.capacity, delivered)
  return {"memory_capacity": memory.capacity, "memory_held": int(memory.size)}


def sample(size: tf.Tensor, seed: tf.Tensor, num: int) -> tf.Tensor:
  """A uniform sample of slots 0..size - 1, int64 [num], a pure function of the seed, int32 [2].

  Without replacement as long as `num` slots are taken; else all come equally often, give or take
  one. A size of 0 is an error.
  """
  size = tf.cast(size, tf.int64)
  some = tf.debugging.assert_positive(
      size, "The memory is empty. Add examples first, or ask for its `size` before.")
  with tf.control_dependencies([some] if some is not None else []):
    turns = tf.range(num, dtype=tf.int64) % size
  words = tf.random.stateless_uniform([3], seed, maxval=2**31 - 1, dtype=tf.int32)
  return tf.raw_ops.RandomIndexShuffle(
      index=turns, seed=words, max_index=size - 1, rounds=_CIPHER_ROUNDS)


def samples(sizes: np.ndarray, seed: tuple[int, int], first: int, num: int) -> np.ndarray:
  """As `sample`, of the memories of several steps, int64 [S, num], by shuffles that end early.

  Those of a step are a function of the seed, its number and its size.

  Args:
    sizes: int64 [S], above 0. first: the number of the first step.
  """
  found, at_once = np.empty([len(sizes), num], np.int64), max(1, _TABLE // int(sizes.max()))
  for begin in range(0, len(sizes), at_once):
    size = sizes[begin:begin + at_once]
    steps, rows = first + begin + np.arange(len(size)), np.arange(len(size))
    bits = sampling.derive(sampling.derive(sampling.root_seed(seed, _REPLAYED), steps)[:, None],
                           np.arange(num)).numpy()
    slots = np.tile(np.arange(size.max()), [len(size), 1])
    for place in range(num):
      turn = place % size
      other = turn + ((bits[:, place] >> 11) * 2.0**-53 * (size - turn)).astype(np.int64)
      taken = slots[rows, other]
      slots[rows, other], slots[rows, turn] = slots[rows, turn], taken
      found[begin:begin + at_once, place] = taken
  return found


def _variable(name: str, shape: Sequence[int], dtype: tf.DType) -> tf.Variable:
  zeros = rehearsal.large(shape, dtype, lambda: tf.zeros(shape, dtype))
  return tf.Variable(zeros, trainable=False, name=name)


Number: TypeAlias = int | tf.Tensor | tf.Variable


def integers(seed: tuple[int, int], purpose: int, first: Number, num: Number) -> tf.Tensor:
  """Draws first..first + num - 1: int64 [num], uniform over 0..2^62 - 1.

  62 bits: two of a million keys are hardly ever the same, as those of float32 often would be.
  """
  positions = tf.cast(first, tf.int64) + tf.range(tf.cast(num, tf.int64))
  bits = sampling.derive(sampling.root_seed(seed, purpose), positions)
  return tf.cast(tf.bitwise.right_shift(bits, tf.constant(2, tf.uint64)), tf.int64)


def uniforms(seed: tuple[int, int], purpose: int, first: Number, num: Number) -> tf.Tensor:
  """As `integers`, but float64 [num] in [0, 1)."""
  return tf.cast(integers(seed, purpose, first, num), tf.float64) * 2.0**-62


def at(seed: tuple[int, int], purpose: int, position: Number, num: Number) -> tf.Tensor:
  """`num` draws that all belong to one position: int64 [num], uniform over 0..2^62 - 1."""
  root = sampling.derive(sampling.root_seed(seed, purpose), tf.cast(position, tf.int64))
  bits = sampling.derive(root, tf.range(tf.cast(num, tf.int64)))
  return tf.cast(tf.bitwise.right_shift(bits, tf.constant(2, tf.uint64)), tf.int64)

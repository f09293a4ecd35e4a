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
    if self.logits.shape[1] and not rehearsal.counts_only():
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


class Intake:
  """A memory that takes rows in while a phase trains on them, step by step and within its graph.

  Meanwhile it holds the places of its examples among the rows of the phase, which are the new ones
  and, behind them, those that it held before; their codes are written once, at the end.

  Args:
    memory: built.
  """

  def __init__(self, memory: Memory):
    self.memory = memory
    self.compares = memory.rule.compares
    self._places = _variable("places_in_phase", [memory.capacity], tf.int64)
    self._begun = 0, 0

  def begin(self, first: int) -> None:
    """Begins a phase, of whose rows those from `first` on are the memory's."""
    self._places.assign(first + tf.range(self.memory.capacity, dtype=tf.int64))
    self._begun = int(self.memory.size), int(self.memory.seen)

  def rehearse(self, offered: int) -> None:
    """Leaves the memory as full as after so many rows of the phase; its new rows are the first one.
    """
    size, seen = self._begun
    slots = tf.range(self.memory.capacity, dtype=tf.int64)
    self._places.assign(tf.where(slots < size, self._places, tf.zeros_like(slots)))
    self.memory.size.assign(min(size + offered, self.memory.capacity))
    self.memory.seen.assign(seen + offered)

  def replayed(self, seed: tf.Tensor, num: int) -> Held:
    """`num` rows that are held: places, labels and logits; a pure function of the seed, int32 [2].
    """
    slots = sample(self.memory.size.read_value(), seed, num)
    return Held(*(tf.gather(v, slots)
                  for v in (self._places, self.memory.labels, self.memory.logits)))

  def take(self, places: tf.Tensor, labels: tf.Tensor, logits: tf.Tensor | None,
           compare: Compare | None = None, codes_at: CodesAt = tf.identity) -> None:
    """Offers rows to the memory: their places, labels and logits, [n], [n] and [n, C].

    Args:
      compare: see `Memory.add`. codes_at: places to codes, for it.
    """
    chosen, slots = self.memory.take(
        labels, logits, compare, lambda held: codes_at(tf.gather(self._places, held)),
        lambda new: codes_at(tf.gather(places, new)))
    self._places.scatter_update(tf.IndexedSlices(tf.gather(places, chosen), slots))

  def end(self, codes: tf.Tensor) -> None:
    """Stores the codes of what is held; `codes` [N, ...] are those of all rows of the phase."""
    slots = tf.range(self.memory.size.read_value())
    self.memory.write(lambda: tf.gather(codes, tf.gather(self._places, slots)), slots)


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

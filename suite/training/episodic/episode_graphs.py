# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled functions of CFSL: a meta-update, and the answers to many episodes.

A call does several meta-updates (`ManyUpdates`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import contextlib
import functools
import time
import typing
from typing import Any, Literal

import numpy as np
import tensorflow as tf

from suite.compute import byte_rows
from suite.compute import distribution as distribution_lib
from suite.compute import flops
from suite.compute import own_gradients
from suite.compute import private_tensorflow
from suite.contracts import learner as learner_lib
from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.data.episodes import episodes as episodes_lib
from suite.models import precision
from suite.models.episodic import twice_norm
from suite.training.episodic import inner_loop

Batching = Literal["loop", "grouped"]
BATCHINGS = LOOP, GROUPED = typing.get_args(Batching)
_SECONDS = 1.0  # Python answers signals, such as Ctrl-C, only between two calls.


class Graphs:
  """Graphs of many episodes at once.

  A batch is an `Episode` of B: support images [B, S, N, H, W, C] and labels [B, S, N], target
  images [B, T, H, W, C] and labels [B, T].

  Args:
    learner: it has begun; `update` is for one that can be meta-trained.
    num_classes: W, of a whole task.
    at_once: number of training episodes that run side by side on a replica; each holds all
      intermediate results of its gradient.
    distribution: its replicas share the episodes of an update; None: one device.
    batching: how the episodes of an update on a replica, and those of a batch of answers, are
      computed, one of `BATCHINGS`: a "loop" over them, or "grouped": all at once, with grouped
      convolutions. Costs are those of the loop.
    compiled: whether XLA compiles an update, and a batch of answers, as one program, in which an
      episode follows the other. Costs are those of the graph before that.

  Attributes:
    can: the learner and its optional parts. batching, num_classes: as given.
  """

  def __init__(self, learner: learner_lib.EpisodicLearner,
               num_classes: int, *, at_once: int = 2,
               distribution: distribution_lib.Distribution | None = None,
               batching: str = LOOP, compiled: bool = False):
    self.learner = learner_lib.adapted(learner, learner_lib.EpisodicLearner)
    self.batching, self._grouped = batching, batching == GROUPED
    if batching not in BATCHINGS:
      raise ValueError(f"Episodes are batched by {batching!r}; allowed are {', '.join(BATCHINGS)}.")
    if self._grouped and not self.learner.can_group:
      raise refusals.RefusedError(
          f"{type(learner).__name__} has no grouped form of its episodes (meta_loss_together), as "
          f"Maml has. Set cfsl.Compute.task_batching = {LOOP!r}.")
    self.num_classes, self._at_once = num_classes, at_once
    self._distribution = distribution
    alone = distribution is None or distribution.is_single
    precision.check_no_loss_scale("A learner of episodes")
    private_tensorflow.without_temporary_variables()  # Gradients of loops over many sets are large.
    # Plain tracing: AutoGraph has nothing to convert here, and takes its time.
    if compiled and not alone:
      raise refusals.RefusedError("cfsl.Compute.compiled = True compiles for one device; leave it "
                                  "out, or take --strategy one_device.")
    self._compiled = compiled
    # The graphs that are counted, by the id of a function: of one episode after the other.
    self._counted_as: dict[int, Any] = {}
    self._step = self._update if alone else self._update_everywhere
    self.update = self._made(self._step)
    self.updates = self.updates_of(lambda batch: batch)
    self.answer, self.answer_encoded = self._made(self._answer), self._made(self._answer_encoded)
    self.encode = tf.function(self._encode, autograph=False)
    self._costs: dict[str, flops.Cost] = {}

  def _made(self, fn: Callable[..., Any]) -> Any:
    """The function of a graph fn(*args, together), which XLA compiles if asked for."""
    plain = tf.function(functools.partial(fn, together=False), autograph=False)
    if not (self._compiled or self._grouped):
      return plain

    def traced(*args: Any) -> Any:
      with twice_norm.for_xla() if self._compiled else contextlib.nullcontext():
        return fn(*args, together=self._grouped)

    made = tf.function(traced, autograph=False, jit_compile=self._compiled or None)
    self._counted_as[id(made)] = plain
    return made

  def updates_of(self, complete: Callable[[Any], Any]) -> Any:
    """Returns a compiled function that does many updates in one call.

    Between two calls the cores wait for Python, which is long beside an update of a small net.

    Args:
      complete: makes a batch of what the iterator yields, in the graph.

    Returns:
      A function of an iterator and the number N of updates, int32 [], which returns their losses,
      [N]. They do not depend on how updates are shared out among calls.
    """
    def updates(batches: Any, number: tf.Tensor, together: bool) -> tf.Tensor:
      def another(i: tf.Tensor, losses: tf.TensorArray) -> Any:
        return i + 1, losses.write(i, self._step(complete(next(batches)), together))

      losses = tf.TensorArray(tf.float32, number)
      _, losses = tf.while_loop(lambda i, _: i < number, another, (tf.constant(0), losses),
                                parallel_iterations=1)
      return losses.stack()

    if not self._compiled:
      return self._made(updates)
    plain = tf.function(functools.partial(updates, together=False), autograph=False)
    batch_of = tf.function(lambda batches: complete(next(batches)), autograph=False)

    def one_by_one(batches: Any, number: tf.Tensor) -> tf.Tensor:  # XLA reads no iterators.
      return tf.stack([self.update(batch_of(batches)) for _ in range(int(number))])

    self._counted_as[id(one_by_one)] = plain
    return one_by_one

  def cost(self, fn: Any, *spec: Any) -> flops.Cost:
    """Cost of one call of a graph of this object, on one device; counted once."""
    return self._counted(fn, spec, {})

  def update_cost(self, spec: Any) -> flops.Cost:
    """Cost of one update of a batch of this spec, on one device; counted once."""
    specs = (tf.data.IteratorSpec(spec), tf.TensorSpec([], tf.int32))
    return self._counted(self.updates, specs, {"number": 1})

  def cost_of_episodes(self, key: tuple[Any, ...], episodes: episodes_lib.Episodes,
                       count: Callable[[], flops.Cost]) -> flops.Cost:
    """Returns count(), the cost of a graph of episodes; rehearsals that are alike share it.

    Linear in the numbers of support sets, targets and classes.

    Args:
      key: tells apart the graphs of this object.
      episodes: see above.
      count: traces the graph and counts it.
    """
    sets, classes = episodes.setting.num_support_sets, self.num_classes
    targets = len(episodes.labels) - episodes.num_support
    key = (*key, self.batching, self._at_once, self._compiled, episodes.num_support / sets,
           tuple(episodes.images.shape[1:]), episodes.with_classes)
    return rehearsal.counted(
        key, (1, sets, targets, classes, sets * classes, targets * classes), count,
        {"num_support_sets": sets})

  def _counted(self, fn: Any, spec: Any, given: dict[str, int]) -> flops.Cost:
    key = f"{id(fn)} {spec}"
    if key not in self._costs:
      fn = self._counted_as.get(id(fn), fn)
      self._costs[key] = flops.count(fn.get_concrete_function(*spec), given)
    return self._costs[key]

  def load(self, arrays: Sequence[np.ndarray]) -> None:
    """Assigns a saved model to the learner's variables."""
    for variable, array in zip(self.model, arrays):
      variable.assign(array)

  @property
  def model(self) -> Sequence[tf.Variable]:
    """The variables that meta-training changes, running statistics too, without the optimizer's."""
    optimizer = self.learner.optimizer
    others = {id(v) for v in optimizer.variables} if optimizer is not None else set()
    return [v for v in self.learner.variables if id(v) not in others]

  def across_task_memory(self, episodes: episodes_lib.Episodes) -> float:
    """Bytes of the state after all support sets over those of the support images as float32."""
    def last_state(images: tf.Tensor, labels: tf.Tensor) -> Any:
      state = self.learner.initial_state(self.num_classes)
      codes = self.learner.encode(self.learner.transform.evaluate(images))
      return self.learner.adapt(state, codes, labels)

    shape = episodes.images.shape[1:]
    per_set = episodes.setting.way * episodes.setting.shot
    kept = tf.function(last_state, autograph=False).get_concrete_function(
        tf.TensorSpec([per_set, *shape], episodes.images.dtype), tf.TensorSpec([per_set], tf.int64))
    held = sum(part.shape.num_elements() * part.dtype.size
               for part in tf.nest.flatten(kept.structured_outputs))
    return held / (4 * episodes.num_support * int(np.prod(shape)))

  def _update_everywhere(self, batch: Any, together: bool) -> tf.Tensor:
    """The update of a batch whose episodes are shared out over replicas; the mean loss, []."""
    assert self._distribution is not None
    return self._distribution.mean(self._distribution.run(self._update, args=(batch, together)))

  def _update(self, batch: episodes_lib.Episode, together: bool) -> tf.Tensor:
    """One step down the mean meta-loss of this replica's B episodes, which is returned, [].

    Each episode's gradient is taken where its loss is made: the intermediate results of only
    `at_once` episodes are held at once, and the loop itself is not differentiated.
    """
    learner, size = self.learner, batch.target_labels.shape[0]
    variables = learner.trainable_variables
    if together and size > 1:
      loss, seen, gradients = self._gradients(batch, learner.meta_loss_together)
    elif size == 1:
      loss, seen, gradients = self._gradients(tf.nest.map_structure(lambda part: part[0], batch))
    else:
      made = tf.nest.map_structure(lambda part: tf.TensorSpec(part.shape, part.dtype),
                                   (tf.constant(0.0), learner.zero_statistics(), list(variables)))
      specs = [tf.TensorSpec(part.shape[1:], part.dtype) for part in batch]
      rows = tf.nest.map_structure(byte_rows.packed, batch)

      def gradients_of(row: episodes_lib.Episode) -> Any:
        return self._gradients(type(batch)(*map(byte_rows.unpacked, row, specs)))

      parts = tf.map_fn(gradients_of, rows, parallel_iterations=self._at_once,
                        fn_output_signature=made)
      loss, gradients = tf.nest.map_structure(
          lambda part: tf.reduce_mean(part, axis=0), (parts[0], parts[2]))
      seen = tf.nest.map_structure(lambda part: tf.reduce_sum(part, axis=0), parts[1])
    replicas = 1 if self._distribution is None else self._distribution.num_replicas
    if replicas > 1:  # The optimizer sums over replicas.
      gradients = [gradient / replicas for gradient in gradients]
      replica = tf.distribute.get_replica_context()
      seen = tf.nest.map_structure(
          lambda part: replica.all_reduce(tf.distribute.ReduceOp.SUM, part), seen)
    with own_gradients.released():
      learner.optimizer.apply_gradients(zip(gradients, variables))
    learner.update_statistics(seen)
    return loss

  def _gradients(self, episode: episodes_lib.Episode,
                 meta_loss: Callable[[Any], tuple[tf.Tensor, Any]] | None = None
                 ) -> tuple[tf.Tensor, Any, list[tf.Tensor]]:
    """One episode's meta-loss, its statistics, and a gradient for each variable, 0 if unconnected.

    With a `meta_loss` of several episodes these are the means over them.
    """
    variables = self.learner.trainable_variables
    with tf.GradientTape() as tape:
      loss, seen = (meta_loss or self.learner.meta_loss)(episode)
    gradients = tape.gradient(loss, variables, unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return tf.cast(loss, tf.float32), seen, [tf.convert_to_tensor(g) for g in gradients]

  def _encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of stored images [B, H, W, C], each by itself."""
    return self.learner.encode(self.learner.transform.evaluate(images))

  def _answer(self, batch: tuple[tf.Tensor, ...], unrolled: bool = False, *, together: bool
              ) -> tf.Tensor:
    """Logits [B, T, W] for the targets' codes; the labels of targets are no argument.

    Args:
      batch: the episodes without their targets' labels.
      unrolled: whether the loop over support sets is, see `inner_loop.over_sets`.
      together: whether the episodes are computed at once.
    """
    if together and batch[0].shape[0] > 1:
      return tf.cast(self.learner.answers_together(batch, unrolled=unrolled), tf.float32)
    return tf.map_fn(lambda episode: self._answer_one(episode, unrolled), batch,
                     fn_output_signature=tf.float32, parallel_iterations=batch[0].shape[0])

  def _answer_encoded(self, codes: tf.Tensor, rows: tf.Tensor, support_labels: tf.Tensor,
                      unrolled: bool = False, *, together: bool) -> tf.Tensor:
    """The same from codes [U, ...] of many images.

    Args:
      codes: see above.
      rows: int [B, S * N + T], indices of codes, support sets first.
      support_labels: [B, S, N].
      unrolled, together: see `_answer`.
    """
    num = int(np.prod(support_labels.shape[1:]))
    support = tf.reshape(rows[:, :num], support_labels.shape)
    return self._answer((tf.gather(codes, support), support_labels,
                         tf.gather(codes, rows[:, num:])), unrolled, together=together)

  def _answer_one(self, episode: tuple[tf.Tensor, ...], unrolled: bool) -> tf.Tensor:
    """Adapts to the support sets one after the other, then answers."""
    support_codes, support_labels, codes = episode
    number = support_codes.shape[0]
    state = inner_loop.over_sets(
        lambda s, state: self.learner.adapt(state, support_codes[s], support_labels[s]),
        self.learner.initial_state(self.num_classes), number, unrolled=unrolled or number == 1)
    return tf.cast(self.learner.logits(state, codes), tf.float32)


class ManyUpdates:
  """Updates by the batches of an iterator, as many in a call as take about a second.

  Args:
    updates: `episode_graphs.Graphs.updates`.
    batches: the iterator.
  """

  def __init__(self, updates: Callable[[Any, tf.Tensor], tf.Tensor], batches: Any):
    self._updates, self._batches, self._at_once = updates, batches, 1

  def take(self, number: int) -> np.ndarray:
    """Does N updates; returns their losses, [N]."""
    losses: list[np.ndarray] = []
    done = 0
    while done < number:
      now = min(self._at_once, number - done)
      began = time.monotonic()
      losses.append(self._updates(self._batches, tf.constant(now)).numpy())
      self._at_once = max(1, int(_SECONDS * now / max(time.monotonic() - began, 1e-6)))
      done += now
    return np.concatenate(losses)

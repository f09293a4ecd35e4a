# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The compiled functions of a FLUID run: answers to a block of samples, and readings of them.

Letters: B samples of a block, C classes, M labels revealed during it.
"""

from __future__ import annotations

from typing import Any, Callable, List, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import user_code
from suite.contracts import learner as learner_lib
from suite.contracts import rehearsal
from suite.training.statistics import statistic

FAR = 2**62  # A step that never comes.


class Readings(NamedTuple):
  """The parts of the logits of B samples that are kept; arrays [B], or tensors inside a graph.

  Attributes:
    closed: int64, the best known class; -1 while there is none, or if a logit is NaN.
    max_logit: float32, that class's logit; -inf while there is none, NaN if any is NaN.
    energy: float32, log sum exp of known classes' logits.
    probability: float32, softmax over known classes at the true class; 0 if it is not known.
    second: float32, the second largest logit of a known class; -inf while there are fewer than two.
  """

  closed: Any
  max_logit: Any
  energy: Any
  probability: Any
  second: Any = -np.inf


class SampleCosts(NamedTuple):
  """Costs of one sample, taken alone."""

  encode: flops.Cost
  answer: flops.Cost
  update: flops.Cost


class _Traced:
  """A function of tensors, traced when it is first called.

  Calls go to the trace itself: `tf.function` would inspect all arguments first.
  """

  def __init__(self, function: Callable[..., Any], signature: List[tf.TensorSpec]):
    self._function, self._signature = function, signature
    self._trace: Any = None

  def __call__(self, *arguments: Any) -> Any:
    if self._trace is None:
      with tf.init_scope():  # Also if the first call is in another graph.
        function = user_code.compiled(self._function, input_signature=self._signature)
        self._trace = function.get_concrete_function()
    return self._trace(*arguments)


class SequenceGraphs:
  """The graphs of one learner, each compiled once.

  Args:
    learner: the learner.
    num_classes: C.
    images: one sample as the learner's transform makes it, [1, H, W, 3].
    code: its code, [1, ...].
  """

  def __init__(self, learner: learner_lib.SequenceLearner, num_classes: int,
               images: tf.Tensor, code: np.ndarray):
    self._learner, self._num_classes = learner, num_classes
    self._see = learner.see or (lambda codes: codes)
    codes = tf.TensorSpec([None, *code.shape[1:]], tf.as_dtype(code.dtype))
    numbers = tf.TensorSpec([None], tf.int64)
    block = [codes, tf.TensorSpec([num_classes], tf.int64), numbers, numbers]
    seen = self._see(tf.constant(code))  # Preparing an image is not counted.
    one, image = (tf.TensorSpec(part.shape, part.dtype) for part in (seen, images))

    def counted(name: str, function: Callable[..., Any], *specs: tf.TensorSpec) -> flops.Cost:
      def count() -> flops.Cost:
        graph = user_code.compiled(function).get_concrete_function(*specs)
        if name == "answer" and (shape := graph.structured_outputs.shape) != [
            1, num_classes]:
          raise ValueError(
              f"{type(learner).__name__}.answer returns logits {list(shape)} for one code; "
              f"expected [1, {num_classes}], one for each class slot, whether its class is known "
              "or not.")
        return flops.count(graph)

      return rehearsal.traced(
          (name, num_classes), learner.variables, specs, count)

    answer = counted("answer", learner.answer, one)
    encode = counted("encode", learner.encode, image)
    update = flops.ZERO
    if learner.can_update:
      update = counted("update", learner.update, one, tf.TensorSpec([1], tf.int64))
    self.costs = SampleCosts(encode, answer, update)
    self._whole, self._halves = _Traced(self._at_once, block), _Traced(self._in_halves, block)
    self.in_turn = _Traced(self._in_turn, block)
    self.one_by_one = _Traced(self._one_by_one, [*block, codes, numbers, numbers])
    if learner.can_update:
      self.update = _Traced(learner.update, [codes, numbers])

  def at_once(self, codes: tf.Tensor, known_from: np.ndarray, steps: np.ndarray,
              truth: np.ndarray) -> Readings:
    """All answers at once, for learners that labels do not change; see `read`."""
    # A half of one sample would be empty, and oneDNN's convolutions refuse that.
    function = self._halves if len(steps) > 1 else self._whole
    return function(codes, known_from, steps, truth)

  def alone(self, codes: tf.Tensor, known_from: np.ndarray, steps: np.ndarray, truth: np.ndarray
            ) -> Readings:
    """The answer to one sample, for any learner; see `read`."""
    return self._whole(codes, known_from, steps, truth)

  def _at_once(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
               ) -> Readings:
    return read(self._learner.answer(self._see(codes)), known_from, steps, truth)

  def _in_halves(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
                 ) -> Readings:
    # Calls of one trace, which TensorFlow puts in place of them before it runs the graph.
    return _merged([self._whole(codes[part], known_from, steps[part], truth[part])
                    for part in statistic.parts(tf.size(steps))])

  def _in_turn(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor
               ) -> Readings:
    """Each label revealed right after its answer; changes no variable."""
    logits = self._learner.answer_in_turn(codes, truth)
    return _merged([_read(logits[part], known_from, steps[part], truth[part])
                    for part in statistic.parts(tf.size(steps))])

  def _one_by_one(self, codes: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor,
                  truth: tf.Tensor, revealed: tf.Tensor, labels: tf.Tensor, ends: tf.Tensor
                  ) -> Readings:
    """Answers and updates in turn; the learner changes.

    Args:
      codes, known_from, steps, truth: see `read`.
      revealed, labels: codes [M, ...] and labels int64 [M] in the order of their revelation.
      ends: int64 [B], how many of them have come after each answer.
    """
    num = tf.size(steps)

    def learn(i: tf.Tensor) -> list[tf.Tensor]:
      self._learner.update(revealed[i:i + 1], labels[i:i + 1])
      return [i + 1]

    def step(t: tf.Tensor, begin: tf.Tensor, logits: tf.TensorArray) -> tuple[Any, ...]:
      logits = logits.write(t, tf.cast(
          self._learner.answer(self._see(codes[t:t + 1]))[0], tf.float32))
      tf.while_loop(lambda i: i < ends[t], learn, [begin])
      return t + 1, ends[t], logits

    array = tf.TensorArray(tf.float32, num, element_shape=[self._num_classes])
    logits = tf.while_loop(lambda t, *_: t < num, step, [0, tf.constant(0, tf.int64), array])[2]
    return read(logits.stack(), known_from, steps, truth)


def _merged(parts: List[Readings]) -> Readings:
  return Readings(*(tf.concat(pieces, axis=0) for pieces in zip(*parts)))


def read(logits: tf.Tensor, known_from: tf.Tensor, steps: tf.Tensor, truth: tf.Tensor) -> Readings:
  """The readings of logits [B, C].

  Args:
    logits: [B, C].
    known_from: int64 [C], the first step at which each class is known, or `FAR`.
    steps: int64 [B], ascending. truth: int64 [B], the labels.
  """
  # A sequence has less than 2^31 steps.
  from_step = tf.cast(tf.minimum(known_from, tf.int32.max), tf.int32)
  known = from_step <= tf.cast(steps, tf.int32)[:, None]
  masked = tf.where(known, tf.cast(logits, tf.float32), -float("inf"))
  best, answer = (part[:, 0] for part in tf.math.top_k(masked, 1))  # The first of equal ones.
  # A copy without the best: for two, top_k has no way as quick as for one.
  places = tf.stack([tf.range(tf.size(answer)), answer], axis=1)
  second = tf.reduce_max(tf.tensor_scatter_nd_update(
      masked, places, tf.fill(tf.shape(best), -float("inf"))), axis=1)
  shift = tf.where(tf.math.is_finite(best), best, 0.0)
  total = tf.reduce_sum(tf.exp(masked - shift[:, None]), axis=1)  # NaN if any logit is.
  best = tf.where(tf.math.is_nan(total), float("nan"), best)
  has_answer = tf.math.is_finite(best)
  energy = shift + tf.math.log(total)
  true_logit = tf.gather(masked, truth, axis=1, batch_dims=1)
  return Readings(
      tf.where(has_answer, tf.cast(answer, tf.int64), -1), best, energy,
      tf.where(has_answer, tf.exp(true_logit - energy), 0.0), second)


_read = tf.function(read, autograph=False)  # Traced once for all graphs of C classes.

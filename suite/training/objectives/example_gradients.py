# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sums over examples of a function of one example's gradient, for importances of weights."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import tensorflow as tf

# Gradients of all examples of a batch are made at once if they take no more than this.
_MAX_BYTES = 64 * 2**20

ValuesFn = Callable[[tf.Tensor, tf.Tensor], tf.Tensor]


def summed(function: Callable[[tf.Tensor], tf.Tensor], values_of: ValuesFn,
           variables: Sequence[tf.Variable], codes: tf.Tensor, labels: tf.Tensor,
           mask: tf.Tensor | None) -> list[tf.Tensor]:
  """sum over examples i with mask[i] of function(gradient of values_of(example i)).

  Args:
    function: elementwise, 0 at 0; such as tf.square.
    values_of: codes [B, ...], labels [B] to a value of each, [B], or to K values of each, [B, K],
      whose gradients are looked at one by one.
    variables: what the gradients are of.
    codes, labels, mask: [B, ...], [B], bool [B]; a mask of None is for the few rows of a support
      set, each of which then has its gradient in the graph, without a loop.

  Returns:
    One tensor for each variable, of its shape.
  """
  if mask is None:
    with tf.GradientTape(persistent=True, watch_accessed_variables=False) as tape:
      tape.watch(variables)
      each = tf.unstack(tf.reshape(values_of(codes, labels), [-1]))
    rows = [gradient(tape, value, variables) for value in each]
    return [tf.add_n([function(g) for g in of_one]) for of_one in zip(*rows)]
  if codes.shape[0] == 1:
    return _of_one(function, values_of, variables, codes, labels, mask)
  size = sum(v.shape.num_elements() * v.dtype.size for v in variables)
  if codes.shape[0] is not None and codes.shape[0] * size <= _MAX_BYTES:
    with tf.GradientTape() as tape:
      values = _of_real(mask, values_of(codes, labels))
    if values.shape.num_elements() * size <= _MAX_BYTES:
      rows = tape.jacobian(values, variables,
                           unconnected_gradients=tf.UnconnectedGradients.ZERO)
      return [tf.reduce_sum(function(r), axis=list(range(values.shape.rank))) for r in rows]
  return _one_by_one(function, values_of, variables, codes, labels, mask)


def rows(values_of: ValuesFn, variables: Sequence[tf.Variable], codes: tf.Tensor,
         labels: tf.Tensor) -> tf.Tensor:
  """Gradients of values_of(example i) as rows [B, P], all variables one after the other."""
  size = sum(v.shape.num_elements() * v.dtype.size for v in variables)
  if 1 < codes.shape[0] <= _MAX_BYTES // size:
    with tf.GradientTape() as tape:
      values = values_of(codes, labels)
    found = tape.jacobian(values, variables,
                          unconnected_gradients=tf.UnconnectedGradients.ZERO)
    return tf.concat([tf.reshape(f, [codes.shape[0], -1]) for f in found], 1)

  def one(example: tuple[tf.Tensor, tf.Tensor]) -> tf.Tensor:
    with tf.GradientTape() as tape:
      value = values_of(example[0][None], example[1][None])[0]
    return tf.concat([tf.reshape(f, [-1]) for f in gradient(tape, value, variables)], 0)

  return tf.map_fn(one, (codes, labels), fn_output_signature=tf.float32, parallel_iterations=1)


def largest_cosines(gradients: tf.Tensor, num: int) -> tf.Tensor:
  """The largest cosine of each row behind the first `num` with these; [num + c, P] to [c].

  A row of zeros has the cosine 0 with every other.
  """
  unit = tf.math.divide_no_nan(gradients, tf.norm(gradients, axis=1, keepdims=True))
  return tf.reduce_max(tf.matmul(unit[num:], unit[:num], transpose_b=True), axis=1)


def gradient(tape: tf.GradientTape, target: tf.Tensor, variables: Sequence[tf.Variable],
             weights: tf.Tensor | None = None) -> list[tf.Tensor]:
  """Dense gradients of a target's sum, weighted if given; zeros where it depends on no variable."""
  found = tape.gradient(target, variables, output_gradients=weights,
                        unconnected_gradients=tf.UnconnectedGradients.ZERO)
  return [tf.convert_to_tensor(g) for g in found]


def _of_real(mask: tf.Tensor, values: tf.Tensor) -> tf.Tensor:
  """Values [B] or [B, K], 0 where mask, bool [B], is False."""
  return tf.where(mask if values.shape.rank == 1 else mask[:, None], values, 0.0)


def _of_one(function: Callable[[tf.Tensor], tf.Tensor], values_of: ValuesFn,
            variables: Sequence[tf.Variable], codes: tf.Tensor, labels: tf.Tensor,
            mask: tf.Tensor) -> list[tf.Tensor]:
  """As `summed`, of one example: it goes forward once and backward once for each value."""
  with tf.GradientTape(persistent=True) as tape:
    values = _of_real(mask, values_of(codes, labels))
  if values.shape.rank == 1:
    return [function(g) for g in gradient(tape, values, variables)]
  num = values.shape[1]

  def step(k: tf.Tensor, totals: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
    found = gradient(tape, values, variables, tf.one_hot(k[None], num))
    return k + 1, [t + function(g) for t, g in zip(totals, found)]

  zeros = [tf.zeros_like(v) for v in variables]
  return list(tf.while_loop(lambda k, _: k < num, step, [tf.constant(0), zeros],
                            parallel_iterations=1)[1])


def _one_by_one(function: Callable[[tf.Tensor], tf.Tensor], values_of: ValuesFn,
                variables: Sequence[tf.Variable], codes: tf.Tensor, labels: tf.Tensor,
                mask: tf.Tensor) -> list[tf.Tensor]:
  """As `summed`, with one example's gradients in memory at a time."""
  def step(i: tf.Tensor, totals: list[tf.Tensor]) -> tuple[tf.Tensor, list[tf.Tensor]]:
    found = _of_one(function, values_of, variables, codes[i][None], labels[i][None], mask[i][None])
    return i + 1, [t + f for t, f in zip(totals, found)]

  num = tf.shape(labels)[0]
  zeros = [tf.zeros_like(v) for v in variables]
  return list(tf.while_loop(lambda i, _: i < num, step, [tf.constant(0), zeros],
                            parallel_iterations=1)[1])

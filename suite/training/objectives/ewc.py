# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Elastic weight consolidation (Kirkpatrick et al., 2017; online: Schwarz et al., 2018).

  loss = share * cross-entropy + strength * sum_i F_i (w_i - w*_i)^2

F is the diagonal of the Fisher information, estimated with the true labels ("empirical"):

  "example"     mean over examples of the squared gradient of one example's loss
  "minibatch"   mean over mini-batches of the squared gradient of the batch's mean loss: what the
                experiments of CLEAR used. With batches of B it is smaller by about a factor of B,
                and a short last batch counts as much as the others.

`anchor` says which weights w* are, and over which phases F is summed:

  "last"    the weights after the last phase; F <- decay * F + F of that phase (online EWC)
  "each"    one quadratic a phase, each around the weights after that phase, summed (EWC). A sum of
            quadratics is one, around the mean of the weights weighted by F, and a constant.
  "first"   the weights after the first phase; F is estimated before every later phase at the
            present weights, on the first phase's validation split, or on given examples of its
            classes (as FLUID's text has it, appendix E)
"""

from __future__ import annotations

import dataclasses
from typing import Any, Callable, Sequence

import tensorflow as tf
from typing_extensions import override

from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.training.objectives import example_gradients
from suite.training.objectives import objective

FISHERS = ("minibatch", "example")
ANCHORS = ("last", "each", "first")
Tensors = Sequence[tf.Tensor]


def squared_gradients(fisher: str, losses_of: objective.LossesFn, weights: Tensors,
                      codes: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor | None = None
                      ) -> tuple[list[tf.Tensor], tf.Tensor]:
  """Sums of squared gradients over a batch, and over how many: F is their quotient.

  Args:
    fisher: one of `FISHERS`. losses_of: codes and labels to losses [B].
    weights: what the gradients are of.
    codes, labels, mask: [B, ...], [B], bool [B]; see `example_gradients.summed`.
  """
  real = (tf.constant(float(labels.shape[0])) if mask is None else
          tf.math.count_nonzero(mask, dtype=tf.float32))
  if fisher == "example":
    return example_gradients.summed(tf.square, losses_of, weights, codes, labels, mask), real
  with tf.GradientTape() as tape:
    tape.watch(weights)
    values = losses_of(codes, labels)
    values = values if mask is None else tf.where(mask, values, 0.0)
    mean = tf.math.divide_no_nan(tf.reduce_sum(values), real)
  return ([tf.square(g) for g in example_gradients.gradient(tape, mean, weights)],
          tf.cast(real > 0, tf.float32))


def consolidated(anchor: str, decay: float, importance: tf.Tensor, anchored: tf.Tensor,
                 new: tf.Tensor, weight: tf.Tensor) -> tuple[tf.Tensor, tf.Tensor]:
  """F and w* after a phase, given those before it, its own F and the weight after it.

  Args:
    anchor: "last" or "each".
    decay: see `Ewc`.
    importance, anchored, new, weight: of one shape.
  """
  if anchor == "each":
    total = importance + new
    return total, tf.math.divide_no_nan(importance * anchored + new * weight, total)
  return (importance if decay == 1.0 else decay * importance) + new, weight


class Ewc(objective.Objective):
  """A quadratic penalty by Fisher information; see the module.

  Args:
    strength: lambda; no factor 1/2.
    decay: of the earlier information, from phase to phase; for "last" only.
    fisher: one of `FISHERS`.
    anchor: one of `ANCHORS`.
    share: of the cross-entropy.
  """

  def __init__(self, strength: float = 0.4, decay: float = 0.1, fisher: str = "minibatch",
               anchor: str = "last", share: float = 1.0):
    super().__init__()
    if fisher not in FISHERS:
      raise ValueError(f"Ewc.fisher is {fisher!r}; allowed are {', '.join(FISHERS)}.")
    if anchor not in ANCHORS:
      raise ValueError(f"Ewc.anchor is {anchor!r}; allowed are {', '.join(ANCHORS)}.")
    self.strength, self.decay, self.fisher = strength, decay, fisher
    self.anchor, self.share = anchor, share
    self.observes_each = fisher == "example"
    self.observes = objective.VALIDATION if anchor == "first" else objective.TRAINING

  @override
  def in_episodes(self) -> EpisodePenalty:
    if self.anchor == "first":
      raise refusals.RefusedError(
          "Ewc.anchor is 'first', which observes a validation split; few-shot episodes have none. "
          "Take 'last' or 'each'.")
    return EpisodePenalty(self.strength, self.decay, self.fisher, self.anchor, self.share)

  def build(self, model: tf.keras.Model, *, losses_of: objective.LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del losses_of, seed
    self._variables = list(model.trainable_variables)
    self.importance = objective.zeros_like(self._variables, "ewc_importance")
    self.anchors = objective.zeros_like(self._variables, "ewc_anchor")
    # Of the phase that is being observed: sums of squares, and over how many.
    self.squares = objective.zeros_like(self._variables, "ewc_squares")
    self.count = tf.Variable(0.0, trainable=False, name="ewc_count")
    self.phases = tf.Variable(0, trainable=False, name="ewc_phases")

  def loss(self, batch: objective.Batch) -> tf.Tensor:
    loss = super().loss(batch)
    if self.share != 1.0:
      loss *= self.share
    return loss + self.strength * objective.weighted_distance(
        self.importance, self._variables, self.anchors)

  def observe(self, losses_of: objective.LossesFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    mask = tf.ones(tf.shape(labels)[:1], tf.bool) if mask is None else mask
    squares, count = squared_gradients(
        self.fisher, losses_of, self._variables, codes, labels, mask)
    for total, square in zip(self.squares, squares):
      total.assign_add(square)
    self.count.assign_add(count)

  def after_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    is_first = not int(self.phases)
    self.phases.assign_add(1)
    if self.anchor == "first":
      if is_first:  # F stays 0, and nothing is guarded, until examples are observed.
        for anchor, variable in zip(self.anchors, self._variables):
          anchor.assign(variable)
        if self.count.numpy():
          self.refresh()
      return
    estimate = self._estimate()
    for importance, anchor, variable, new in zip(
        self.importance, self.anchors, self._variables, estimate):
      total, anchored = consolidated(
          self.anchor, self.decay, importance, anchor, new, variable)
      anchor.assign(anchored)
      importance.assign(total)

  def refresh(self) -> None:
    for importance, new in zip(self.importance, self._estimate()):
      importance.assign(new)

  def _estimate(self) -> list[tf.Tensor]:
    """Returns F of the observed examples and forgets them."""
    if not self.count.numpy() and rehearsal.current() is None:
      raise ValueError("Ewc observed no example of the phase. Call observe() for each of its "
                       "batches after training on it.")
    found = [tf.math.divide_no_nan(squares, self.count) for squares in self.squares]
    for squares in self.squares:
      squares.assign(tf.zeros_like(squares))
    self.count.assign(0.0)
    return found


@dataclasses.dataclass(frozen=True)
class EpisodePenalty(objective.EpisodeTerm):
  """`Ewc` within an episode; each support set is a phase, which is observed at once.

  The state is F by name. With the anchor "last" w* are the weights before the set, which the state
  of the episode holds anyway; with "each" the state is F and w*.
  """

  strength: float
  decay: float
  fisher: str
  anchor: str
  share: float

  @override
  def zero(self, weights: objective.Weights, num_classes: int) -> Any:
    zeros = {name: tf.zeros_like(value) for name, value in weights.items()}
    return (zeros, zeros) if self.anchor == "each" else zeros

  @override
  def begin_set(self, weights: objective.Weights, logits_of: Callable[..., tf.Tensor]) -> Any:
    return weights

  @override
  def add(self, loss: tf.Tensor, state: Any, begun: Any, weights: objective.Weights,
          logits_of: Callable[..., tf.Tensor]) -> tf.Tensor:
    importance, anchors = state if self.anchor == "each" else (state, begun)
    if self.share != 1.0:
      loss *= self.share
    return loss + self.strength * objective.weighted_distance(
        *([of[name] for name in sorted(weights)] for of in (importance, weights, anchors)))

  @override
  def end_set(self, state: Any, weights: objective.Weights, losses_of: Callable[..., tf.Tensor],
              codes: tf.Tensor, labels: tf.Tensor) -> Any:
    names, now = list(weights), list(weights.values())
    squares, count = squared_gradients(
        self.fisher, lambda rows, of_rows: losses_of(weights, rows, of_rows), now, codes, labels)
    importance, anchors = state if self.anchor == "each" else (state, weights)
    after = {name: consolidated(self.anchor, self.decay, importance[name], anchors[name],
                                square / count, weights[name])
             for name, square in zip(names, squares)}
    found = {name: total for name, (total, _) in after.items()}
    if self.anchor == "last":
      return found
    return found, {name: anchored for name, (_, anchored) in after.items()}

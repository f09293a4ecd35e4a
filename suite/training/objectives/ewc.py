# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Elastic weight consolidation (Kirkpatrick et al., 2017; online: Schwarz et al., 2018).

  loss = share * cross-entropy + strength * sum_i F_i (w_i - w*_i)^2

F is the diagonal of the Fisher information at the weights after a phase,

  F_i = E_x E_y~p(y|x) (d log p(y|x) / d w_i)^2

a mean over examples x. The labels y, and what is squared:

  "all"         all classes, weighted by the model's probabilities: exact. A row goes forward once
                and backward once for each class.
  "sample"      one label that is drawn from these probabilities
  "pred"        the most probable label
  "true"        the label of the example ("empirical Fisher")
  "mammoth"     the label of the example, the square times the probability of the label
  "avalanche"   the labels of the examples; the square of the gradient of the mean loss of a
                mini-batch, whose mean over batches of B is smaller by about a factor of B. A short
                last batch counts as much as the others.

The first four are `fisher_labels` of the code of van de Ven et al. (github.com/GMvandeVen/
continual-learning at e6d795a, models/cl/continual_learner.py); "mammoth" is models/ewc_on.py of
github.com/aimagelab/mammoth at e75a491, and "avalanche" avalanche/training/plugins/ewc.py of
github.com/ContinualAI/avalanche at 007d8f0, with which CLEAR's experiments were made. With several
labels for an example the labels are independent, and its loss is the mean over classes.

`anchor` says which weights w* are, and over which phases F is summed:

  "last"    the weights after the last phase; F <- decay * F + F of that phase (online EWC)
  "each"    one quadratic a phase, each around the weights after that phase, summed (EWC). A sum of
            quadratics is one, around the mean of the weights weighted by F, and a constant.
  "first"   the weights after the first phase; F is estimated before every later phase at the
            present weights, on the first phase's validation split, or on given examples of its
            classes (as FLUID's text has it, appendix E)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.contracts import refusals
from suite.contracts import rehearsal
from suite.contracts import tasks
from suite.training.memories import step_rows
from suite.training.objectives import example_gradients
from suite.training.objectives import losses
from suite.training.objectives import objective

FISHERS = ("all", "sample", "pred", "true", "mammoth", "avalanche")
ANCHORS = ("last", "each", "first")
Tensors = Sequence[tf.Tensor]


def drawn_labels(batch: objective.Batch, seed: tf.Tensor) -> tf.Tensor:
  """Labels of rows, drawn from the probabilities that the logits give; seed int [2]."""
  logits = _possible_logits(batch)
  if batch.kind == tasks.SINGLE_LABEL:
    return tf.random.stateless_categorical(logits, 1, seed)[:, 0]
  uniform = tf.random.stateless_uniform(tf.shape(logits), seed)
  return tf.cast(uniform < losses.sigmoid(logits), tf.float32)


def values_of(fisher: str, batch: objective.Batch) -> tf.Tensor:
  """Values [B] or [B, C] whose squared gradients, summed over a row, are the row's information.

  Args:
    fisher: one of `FISHERS`. batch: rows with their logits; for "sample" with drawn labels.
  """
  logits, has_one = _possible_logits(batch), batch.kind == tasks.SINGLE_LABEL
  if fisher == "all":
    if has_one:
      logs = tf.nn.log_softmax(logits)
      return tf.stop_gradient(tf.exp(logs / 2.0)) * logs
    shares = tf.stop_gradient(losses.sigmoid(logits))
    return tf.sqrt(shares * (1.0 - shares)) * logits / float(logits.shape[1])
  if fisher == "pred":
    batch = batch._replace(
        labels=tf.argmax(logits, 1) if has_one else tf.cast(logits > 0.0, tf.float32))
  found = objective.row_losses(batch, objective.known_classes(batch))
  return tf.stop_gradient(tf.exp(-found / 2.0)) * found if fisher == "mammoth" else found


def _possible_logits(batch: objective.Batch) -> tf.Tensor:
  """Logits float32 [B, C], near -1e9 for classes that a row cannot have."""
  allowed = objective.of_own_heads(batch, objective.known_classes(batch))
  logits = tf.cast(batch.logits, tf.float32)
  return logits if allowed is None else losses.among(allowed, logits)


def squared_gradients(fisher: str, answers_of: objective.AnswersFn, weights: Tensors,
                      codes: tf.Tensor, labels: tf.Tensor, mask: tf.Tensor | None = None,
                      seed: tf.Tensor | None = None) -> tuple[list[tf.Tensor], tf.Tensor]:
  """Sums of squared gradients over a batch, and over how many: F is their quotient.

  Args:
    fisher: one of `FISHERS`. answers_of: codes and labels to a batch with their logits.
    weights: what the gradients are of.
    codes, labels, mask: [B, ...], [B], bool [B]; see `example_gradients.summed`.
    seed: int [2], for "sample".
  """
  real = (tf.constant(float(labels.shape[0])) if mask is None else
          tf.math.count_nonzero(mask, dtype=tf.float32))
  if fisher == "sample":
    labels = drawn_labels(answers_of(codes, labels), seed)
  if fisher != "avalanche":
    return example_gradients.summed(
        tf.square, lambda rows, of_rows: values_of(fisher, answers_of(rows, of_rows)),
        weights, codes, labels, mask), real
  with tf.GradientTape() as tape:
    tape.watch(weights)
    values = values_of(fisher, answers_of(codes, labels))
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

  def __init__(self, strength: float = 0.4, decay: float = 0.1, fisher: str = "all",
               anchor: str = "last", share: float = 1.0):
    super().__init__()
    if fisher not in FISHERS:
      raise ValueError(f"Ewc.fisher is {fisher!r}; allowed are {', '.join(FISHERS)}.")
    if anchor not in ANCHORS:
      raise ValueError(f"Ewc.anchor is {anchor!r}; allowed are {', '.join(ANCHORS)}.")
    self.strength, self.decay, self.fisher = strength, decay, fisher
    self.anchor, self.share = anchor, share
    self.observes = objective.Observes(
        objective.VALIDATION if anchor == "first" else objective.TRAINING,
        each=fisher != "avalanche", by_class=fisher == "all")

  @override
  def in_episodes(self) -> EpisodePenalty:
    if self.anchor == "first":
      raise refusals.RefusedError(
          "Ewc.anchor is 'first', which observes a validation split; few-shot episodes have none. "
          "Take 'last' or 'each'.")
    if self.fisher == "sample":
      raise refusals.RefusedError(
          "Ewc.fisher is 'sample', which draws labels; the functions of few-shot episodes are "
          "pure. Take 'all' or 'true'.")
    return EpisodePenalty(self.strength, self.decay, self.fisher, self.anchor, self.share)

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone
    self._seed = seed[0]
    self._variables = list(model.trainable_variables)
    self.importance = objective.zeros_like(self._variables, "ewc_importance")
    self.anchors = objective.zeros_like(self._variables, "ewc_anchor")
    # Of the phase that is being observed: sums of squares, and over how many.
    self.squares = objective.zeros_like(self._variables, "ewc_squares")
    self.count = tf.Variable(0.0, trainable=False, name="ewc_count")
    self.phases = tf.Variable(0, trainable=False, name="ewc_phases")
    self.draw = tf.Variable(0, trainable=False, name="ewc_draw")

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    del now
    if self.anchor == "first" and self.count.numpy():  # The first split was observed once more.
      for importance, new in zip(self.importance, self._estimate()):
        importance.assign(new)

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    loss = net.cross_entropy(net.logits(both), both.labels)
    if self.share != 1.0:
      loss *= self.share
    net.update(loss + self.strength * objective.weighted_distance(
        self.importance, self._variables, self.anchors))
    memory.store(rows)

  def observe(self, answers_of: objective.AnswersFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    mask = tf.ones(tf.shape(labels)[:1], tf.bool) if mask is None else mask
    squares, count = squared_gradients(
        self.fisher, answers_of, self._variables, codes, labels, mask, self._next_seed())
    for total, square in zip(self.squares, squares):
      total.assign_add(square)
    self.count.assign_add(count)

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    del known
    is_first = not int(self.phases)
    self.phases.assign_add(1)
    if self.anchor == "first":
      if is_first:  # F stays 0, and nothing is guarded, until examples are observed.
        for anchor, variable in zip(self.anchors, self._variables):
          anchor.assign(variable)
        self.begin_phase()
      return
    estimate = self._estimate()
    for importance, anchor, variable, new in zip(
        self.importance, self.anchors, self._variables, estimate):
      total, anchored = consolidated(
          self.anchor, self.decay, importance, anchor, new, variable)
      anchor.assign(anchored)
      importance.assign(total)

  def _next_seed(self) -> tf.Tensor | None:
    if self.fisher != "sample":
      return None
    return tf.stack([self._seed, self.draw.assign_add(1)])

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
  def end_set(self, state: Any, weights: objective.Weights,
              answers_of: Callable[..., objective.Batch], codes: tf.Tensor, labels: tf.Tensor
              ) -> Any:
    names, now = list(weights), list(weights.values())
    squares, count = squared_gradients(
        self.fisher, lambda rows, of_rows: answers_of(weights, rows, of_rows), now, codes, labels)
    importance, anchors = state if self.anchor == "each" else (state, weights)
    after = {name: consolidated(self.anchor, self.decay, importance[name], anchors[name],
                                square / count, weights[name])
             for name, square in zip(names, squares)}
    found = {name: total for name, (total, _) in after.items()}
    if self.anchor == "last":
      return found
    return found, {name: anchored for name, (_, anchored) in after.items()}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The inner loop of MAML and MAML++: gradient steps on support sets, as pure functions.

Global step k = 0, 1, ... counts the steps of all support sets of a task, n on each set. Step k uses
row k of the learned rates (LSLR: one rate a weight tensor and step) and row k of the norms' scales
and offsets. T weight tensors; K = n * (support sets foreseen) steps; N norms of F filters each.

The loop over the support sets of a task, in a graph.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import dataclasses
from typing import Any, NamedTuple, Protocol

import numpy as np
import tensorflow as tf

from suite.models.episodic import functional_conv4
from suite.training.objectives import losses

TARGET_ROWS = ("next", "last")
ADAPTED = ("all", "head", "body")
_HEAD = "head/"  # What the names of the last layer's weights begin with.

Weights = dict[str, tf.Tensor]


class AdaptedForm(Protocol):
  """What the inner loop needs of a net: pure functions of its weights."""

  @property
  def dtype(self) -> str:
    """The type of weights and images."""

  def observe(self, weights: Weights, images: tf.Tensor, *, twice: bool = True,
              as_batch: bool = True, parts: int = 1) -> Any:
    """Returns images [B, ...] as the functions below take them, for several passes over them.

    Args:
      weights: any of the task.
      images: see above.
      twice: whether second derivatives of the passes will be asked for.
      as_batch: whether they are normalized as one batch, not by given statistics.
      parts: into how many parts a net may split them, so that each core computes one.
    """

  def apply(self, weights: Weights, norms_row: functional_conv4.Norms, images: Any,
            statistics: functional_conv4.Statistics | None = None) -> tf.Tensor:
    """Returns logits [B, W] of images, observed or not, as one batch or by given statistics."""

  def measure(self, weights: Weights, norms_row: functional_conv4.Norms, images: Any
              ) -> functional_conv4.Statistics:
    """Returns the statistics [N, F] with which `apply` normalizes these images as one batch."""


class Net(AdaptedForm, Protocol):
  """A net as pure functions of its weights; its norms' scales and offsets are no weights."""

  def initial(self, seed: int, image_shape: Sequence[int], num_classes: int
              ) -> dict[str, np.ndarray]:
    """Returns weights by name for images (H, W, C); "head/bias" [classes] is in the last layer."""

  def initial_norms(self, num_rows: int) -> functional_conv4.Norms:
    """Returns rows of scales 1 and offsets 0, [R, N, F] each."""

  def prepare(self, images: tf.Tensor) -> tf.Tensor:
    """Returns images as `apply` takes them."""


class Parameters(NamedTuple):
  """The meta-learned values.

  Attributes:
    weights: the initial weights by name.
    rates: [K, T], T in the order of the sorted names.
    norms: scales and offsets [R, N, F]; R = `InnerLoop.num_norm_rows`.
  """

  weights: Weights
  rates: tf.Tensor
  norms: functional_conv4.Norms


class State(NamedTuple):
  """The state of an episode between support sets.

  Attributes:
    weights: the adapted weights by name.
    step: int32 [], k, the number of inner steps so far.
    sums: sums over support sets of their channels' (means, mean squares), [N, F] each; empty for a
      transductive loop.
  """

  weights: Weights
  step: tf.Tensor
  sums: tuple[tf.Tensor, ...]


@dataclasses.dataclass(frozen=True)
class InnerLoop:
  """The gradient steps within a task.

  Attributes:
    steps: n, the number of steps on each support set.
    num_support_sets: the number of support sets for which rows of rates and norms are made.
    extend_rows: whether a task with more sets repeats the last row; otherwise it is refused.
    rate: the initial rate of all steps.
    learn_rates: whether rates are meta-trained (LSLR); otherwise all stay at `rate`.
    norms_by_step: whether each step has a row of scales and offsets; otherwise they share one.
    target_row: the row for targets after k steps: row k ("next", as in CFSL's code, where only
      targets use the last row) or row k - 1 ("last": that of the last step, as in MAML++'s code).
    transductive: whether targets are normalized as one batch by their own statistics, as in both
      codes, so that a target's logits depend on the other targets. Otherwise by statistics of the
      support images, computed after learning each set and averaged over the sets so far.
    adapted: the weights that a task changes: "all"; "head", the last layer's alone (ANIL, Raghu et
      al., 2020); "body", all but the last layer's (BOIL, Oh et al., 2021). Meta-training changes
      all weights in each case.
    last_set_only: whether every support set starts from the initial weights, so that only the last
      set counts. This is the defect behind CFSL's table; the step number still increases.
    unrolled: whether a graph of meta-training holds the steps of each support set. It is larger: at
      10 sets MAML++ low-end starts after 43 s in place of 14, and trains 1.1 times as fast.
  """

  steps: int = 5
  num_support_sets: int = 1
  extend_rows: bool = False
  rate: float = 0.01
  learn_rates: bool = True
  norms_by_step: bool = True
  target_row: str = "next"
  transductive: bool = False
  adapted: str = "all"
  last_set_only: bool = False
  unrolled: bool = False

  def __post_init__(self):
    if self.target_row not in TARGET_ROWS:
      raise ValueError(f"target_row is {self.target_row!r}; allowed are {', '.join(TARGET_ROWS)}.")
    if self.adapted not in ADAPTED:
      raise ValueError(f"adapted is {self.adapted!r}; allowed are {', '.join(ADAPTED)}.")
    if self.steps < 1 or self.num_support_sets < 1:
      raise ValueError(f"InnerLoop takes steps={self.steps} on each of num_support_sets="
                       f"{self.num_support_sets}; both must be at least 1.")

  @property
  def num_steps(self) -> int:
    """K."""
    return self.steps * self.num_support_sets

  @property
  def num_norm_rows(self) -> int:
    """R: one for each step, and one for the targets where they have their own."""
    if not self.norms_by_step:
      return 1
    return self.num_steps + (self.target_row == "next")

  def check(self, num_sets: int) -> None:
    """Raises an error for a task with more support sets than there are rows for."""
    if num_sets > self.num_support_sets and not self.extend_rows:
      raise ValueError(
          f"A task shows support set {num_sets}, but InnerLoop.num_support_sets = "
          f"{self.num_support_sets}: there are rates and norms for {self.num_steps} steps, "
          f"{self.steps} on each set. For a new learner set num_support_sets = {num_sets}; for a "
          "trained one set InnerLoop.extend_rows = True, which repeats the last row.")

  def begin(self, net: AdaptedForm, parameters: Parameters) -> State:
    """Returns the state before the first support set."""
    zeros = tf.zeros(parameters.norms.scale.shape[1:], net.dtype)
    sums = () if self.transductive else (zeros, zeros)
    return State(dict(parameters.weights), tf.constant(0), sums)

  def learn(self, net: AdaptedForm, parameters: Parameters, state: State,
            images: tf.Tensor, labels: tf.Tensor, *, second_order: bool = True) -> list[State]:
    """Returns the states after each of the n steps on one support set.

    Args:
      net: the net that is adapted.
      parameters: of the meta-learner.
      state: after the earlier sets.
      images: [B, H, W, C] as `net.prepare` returns them.
      labels: [B].
      second_order: whether gradients pass through the inner gradients.
    """
    step = state.step
    known = tf.get_static_value(step)
    # Each step needs a row of rates: a constant is checked now, else the graph checks.
    if known is not None:
      self.check(int(known) // self.steps + 1)
      step = tf.constant(int(known))
    elif not self.extend_rows:
      enough = tf.debugging.Assert(
          step < self.num_steps,
          [f"More support sets than InnerLoop.num_support_sets = {self.num_support_sets}; set "
           "InnerLoop.extend_rows = True to repeat the last step's rates and norms. Step:", step])
      with tf.control_dependencies([] if enough is None else [enough]):
        step = tf.identity(step)
    return self._learn(net, parameters, state._replace(step=step), images, labels, second_order)

  def _learn(self, net: AdaptedForm, parameters: Parameters, state: State,
             images: tf.Tensor, labels: tf.Tensor, second_order: bool) -> list[State]:
    first = state.step
    known = tf.get_static_value(first)  # Steps after a constant are constants, known while tracing.
    weights = dict(parameters.weights if self.last_set_only else state.weights)
    rows = tf.minimum(first + tf.range(self.steps), self.num_steps - 1)
    rates = tf.unstack(tf.gather(parameters.rates, rows), self.steps)
    norms = self._norms(parameters, rows)
    states = []
    seen = net.observe(weights, images, twice=second_order)
    for j in range(self.steps):
      wanted = {name: weights[name] for name in self._names(weights)}
      with tf.GradientTape(watch_accessed_variables=False) as tape:
        tape.watch(wanted)
        loss = cross_entropy(labels, net.apply(weights, norms[j], seen))
      gradients = tape.gradient(loss, wanted, unconnected_gradients=tf.UnconnectedGradients.ZERO)
      if not second_order:
        gradients = {name: tf.stop_gradient(g) for name, g in gradients.items()}
      weights = stepped(weights, gradients, rates[j])
      step = first + (j + 1) if known is None else tf.constant(int(known) + j + 1)
      # The statistics of the sets so far, in the net that answers targets.
      sums: tuple[tf.Tensor, ...] = ()
      if not self.transductive:
        row, = self._norms(parameters, self._target_row(step)[None])
        mean, variance = net.measure(weights, row, seen)
        sums = mean, variance + tf.square(mean)
        if not self.last_set_only:
          sums = tuple(a + b for a, b in zip(state.sums, sums))
      states.append(State(weights, step, sums))
    return states

  def learn_all(self, net: AdaptedForm, parameters: Parameters, images: tf.Tensor,
                labels: tf.Tensor, *, second_order: bool = True) -> list[State]:
    """Returns the last set's states of S support sets, images [S, B, H, W, C], labels [S, B].

    All sets but the last are a loop in the graph, unless it is `unrolled`.
    """
    num_sets = images.shape[0]
    self.check(num_sets)

    def learn(s, state):
      return self._learn(net, parameters, state, images[s], labels[s], second_order)

    state, limit = self.begin(net, parameters), num_sets - 1
    state = over_sets(
        lambda s, state: learn(s, state)[-1], state, limit, unrolled=self.unrolled)
    state = state._replace(step=tf.constant(limit * self.steps))  # A constant again after a loop.
    return learn(num_sets - 1, state)

  def logits(self, net: AdaptedForm, parameters: Parameters, state: State,
             images: tf.Tensor, *, parts: int = 1) -> tf.Tensor:
    """Returns logits [B, W] of target images [B, H, W, C] as `net.prepare` returns them."""
    row = self.target_norms(parameters, state)
    seen = net.observe(
        state.weights, images, twice=False, as_batch=self.transductive, parts=parts)
    return net.apply(state.weights, row, seen, self.statistics(state))

  def target_norms(self, parameters: Parameters, state: State) -> functional_conv4.Norms:
    """Returns scales and offsets for targets, [N, F] each."""
    row, = self._norms(parameters, self._target_row(state.step)[None])
    return row

  def _names(self, weights: Weights) -> list[str]:
    """The names of the weights that a step changes."""
    names = [name for name in weights
             if self.adapted == "all" or name.startswith(_HEAD) == (self.adapted == "head")]
    if not names:
      raise ValueError(f"adapted is {self.adapted!r}, but all weights of this net are in its "
                       f"{'body' if self.adapted == 'head' else 'last layer'}: "
                       f"{', '.join(sorted(weights))}. Set InnerLoop.adapted = 'all'.")
    return names

  def _norms(self, parameters: Parameters, rows: tf.Tensor) -> list[functional_conv4.Norms]:
    """Returns scales and offsets of R rows (a static number), [N, F] each."""
    count = rows.shape[0]
    if not self.norms_by_step:
      return [functional_conv4.Norms(*(part[0] for part in parameters.norms))] * count
    parts = [tf.unstack(tf.gather(part, rows), count) for part in parameters.norms]
    return [functional_conv4.Norms(*row) for row in zip(*parts)]

  def _target_row(self, step: tf.Tensor) -> tf.Tensor:
    if self.target_row == "last":
      step = tf.maximum(step - 1, 0)
    return tf.minimum(step, self.num_norm_rows - 1)

  def statistics(self, state: State) -> functional_conv4.Statistics | None:
    """Returns the statistics that normalize targets; None: their own."""
    if self.transductive:
      return None
    mean, square = state.sums
    if not self.last_set_only:
      # Sets that have begun count; before the first set, mean and mean square are 0.
      sets = tf.maximum((state.step + self.steps - 1) // self.steps, 1)
      count = tf.cast(sets, mean.dtype)
      mean, square = mean / count, square / count
    return functional_conv4.Statistics(mean, tf.nn.relu(square - tf.square(mean)))


def stepped(weights: Weights, gradients: Weights, rates: tf.Tensor) -> Weights:
  """Returns weights after a gradient step with rates [T], in the order of the weights' names.

  Weights without a gradient stay as they are.
  """
  by_name = dict(zip(sorted(weights), tf.unstack(rates, len(weights))))
  return {name: w - by_name[name] * gradients[name] if name in gradients else w
          for name, w in weights.items()}


def cross_entropy(labels: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """Returns the mean over labels [B] and logits [B, W], in the type of the logits."""
  return tf.reduce_mean(losses.hard_cross_entropy(labels, logits))


def over_sets(learn: Callable[[Any, Any], Any], state: Any, number: int, *, unrolled: bool) -> Any:
  """Returns the state after `number` support sets.

  Args:
    learn: learn(s, state) is the state after set s.
    state: a structure of tensors, before the first set.
    number: the number of sets.
    unrolled: whether the graph holds the operations of each set. It is larger; but in a loop of
      sets within a loop of tasks, the cores wait for each other. Otherwise a graph of many sets is
      no larger than a graph of two.
  """
  if unrolled or not number:
    for s in range(number):
      state = learn(s, state)
    return state
  _, state = tf.while_loop(
      lambda s, _: s < number, lambda s, state: (s + 1, learn(s, state)),
      (tf.constant(0), state), parallel_iterations=1, maximum_iterations=number)
  return state

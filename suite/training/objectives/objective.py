# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Objectives: what a gradient method does in each step, and before and after each phase.

A learner trains in phases: a bucket's, a task's, an offline phase of a sequence.

  objective.build(model, ...)                     once
  objective.begin_phase(now)                      each phase
  objective.step(rows, net, memory)               each step, traced into the compiled loop
  objective.observe(answers_of, codes, labels)    after the steps, each batch once, if `observes`
  objective.end_phase(known)

A step says all that happens to the rows of a step: what is drawn from the memory, the losses, the
gradients and the update, what the memory is given (`train_step.StepNet`, `step_rows.StepMemory`).
What an objective remembers is in variables, so that a checkpoint holds it. `Objective` itself is
cross-entropy of all rows: fine-tuning, and experience replay.

Within the episodes of few-shot learning nothing may be in variables. `Objective.in_episodes` is the
functional form, an `EpisodeTerm`, made of the same functions of tensors; most objectives have none.

Letters: B rows, C classes, D features, N rows of data, K of which are in the memory.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import inspect
from typing import Any, NamedTuple

import tensorflow as tf

from suite.contracts import refusals
from suite.contracts import tasks
from suite.models import keras3
from suite.models.own import own_model
from suite.training.memories import step_rows
from suite.training.objectives import losses

TRAINING, VALIDATION = "training", "validation"
# What an objective needs, see `Objective.needs`.
MEMORY, REPLAY, BUCKETS, ONE_HEAD, TASKS = "memory", "replay", "buckets", "one head", "tasks"
# Names of `Objective`, and those that a class may have been given in their place.
_INSTEAD = {"begin_phase": ("before_phase", "note_classes", "refresh"),
            "end_phase": ("after_phase",),
            "step": ("loss", "choose", "take", "gradients", "before_update", "after_update"),
            "observes": ("observes_each", "passes_of_observed")}


class Observes(NamedTuple):
  """The examples that an objective observes after each phase.

  Attributes:
    split: TRAINING, the rows trained on; VALIDATION, the validation split of the first phase.
    each: whether it takes gradients of single examples, so that the cost of an observation is that
      of one example times their number.
    by_class: whether an example goes backward once for each class.
  """

  split: str
  each: bool = False
  by_class: bool = False

  def passes(self, num_classes: int) -> int:
    """Forward and backward passes for each example."""
    return num_classes if self.by_class else 1


class Classes(NamedTuple):
  """The classes of a phase, bool [C] each.

  Attributes:
    known: classes that a label was revealed of, base classes included; the softmax is over these.
    seen: those of the data since the first phase.
    base: those of the first phase.
  """

  known: Any
  seen: Any
  base: Any


class Data(NamedTuple):
  """The rows that the steps of a phase draw from.

  Attributes:
    codes: [N, ...], what the trained part of the network takes. labels: int64 [N], or multi-hot
      [N, C].
    places: int64 [K], where the memory's rows are among the N.
    stored: float32 [K, C], logits that these rows had when they entered the memory, NaN for classes
      that were not known then; [K, 0] where none are stored.
    classes: None where every class takes part.
    groups: int64 [K], the memory's group of each of these rows, such as its bucket; None: the
      objective does not read them.
  """

  codes: tf.Tensor
  labels: tf.Tensor
  places: tf.Tensor
  stored: tf.Tensor
  classes: Classes | None = None
  groups: tf.Tensor | None = None


class Batch(NamedTuple):
  """Rows and what the model makes of them.

  Attributes:
    codes: [B, ...], as the model takes them.
    logits: [B, C].
    labels: int64 [B], or multi-hot [B, C].
    classes: see `Data`.
    kind: of the task.
    mask: bool [B], False for padding; None: no padding.
    divisor: what the sum of the losses is divided by; None: the number of rows.
    heads: int64 [C], the head of each class: a row's loss is over the classes of its label's head;
      None: all classes are of one.
  """

  codes: tf.Tensor
  logits: tf.Tensor
  labels: tf.Tensor
  classes: Classes | None = None
  kind: str = tasks.SINGLE_LABEL
  mask: tf.Tensor | None = None
  divisor: Any = None
  heads: tf.Tensor | None = None


# Codes [B, ...] and labels [B] to a batch with the logits of the rows.
AnswersFn = Callable[..., Batch]


Weights = dict[str, tf.Tensor]  # By name.


class EpisodeTerm:
  """What an objective adds to the cross-entropy of a support set: pure functions of tensors.

  Here it is nothing. W classes of the whole task; `logits_of` maps weights to the logits [B, W] of
  the rows of the set.
  """

  def zero(self, weights: Weights, num_classes: int) -> Any:
    """The state before the first set: a structure of tensors of fixed shapes."""
    del weights, num_classes
    return ()

  def begin_set(self, weights: Weights, logits_of: Callable[[Weights], tf.Tensor]) -> Any:
    """What the steps on a set compare with, made of the weights before it."""
    del weights, logits_of
    return ()

  def add(self, loss: tf.Tensor, state: Any, begun: Any, weights: Weights,
          logits_of: Callable[[Weights], tf.Tensor]) -> tf.Tensor:
    """The loss [] of a step with the term; `begun` is what `begin_set` returned."""
    del state, begun, weights, logits_of
    return loss

  def end_set(self, state: Any, weights: Weights,
              answers_of: Callable[[Weights, tf.Tensor, tf.Tensor], Batch], codes: tf.Tensor,
              labels: tf.Tensor) -> Any:
    """The state after a set: codes [B, ...] and labels int64 [B]; see `AnswersFn`."""
    del weights, answers_of, codes, labels
    return state


class Objective(tf.Module):
  """Cross-entropy of the rows of a step and of those that are replayed.

  Attributes:
    needs: a MEMORY to look at; rows of one in each step, REPLAY; one that keeps BUCKETS apart;
      ONE_HEAD, as it compares answers of several phases, which must be about the same classes;
      TASKS or buckets, not offline phases of a sequence.
    observes: the examples that `observe` is shown after each phase; None: none.
  """

  needs: frozenset[str] = frozenset()
  observes: Observes | None = None

  def __init_subclass__(cls, **arguments: Any) -> None:
    super().__init_subclass__(**arguments)
    for name, others in _INSTEAD.items():
      if found := sorted({*others} & {*vars(cls)}):
        raise TypeError(f"The objective {cls.__name__} has {found[0]!r}, which nothing calls; "
                        f"write {name!r} instead (docs/extending.md).")

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    """Makes its variables, before the first phase.

    Args:
      model: what the phases share: codes [B, ...] to logits [B, C]; with a head per task it is the
        backbone.
      backbone: codes to features [B, D], with any head; None: codes are features.
      seed: of random draws.
    """
    del model, backbone, seed

  def in_episodes(self) -> EpisodeTerm:
    """The functional form, for support sets.

    Raises:
      RefusedError: the objective, or a setting of it, has none.
    """
    if type(self) is not Objective:
      raise refusals.RefusedError(
          f"The objective {type(self).__name__} has no functional form, which few-shot episodes "
          "need. Take Ewc, Lwf or none.")
    return EpisodeTerm()

  def begin_phase(self, now: tf.Tensor | None = None) -> None:
    """Prepares for a phase, for which rows of the classes bool [C] have come; None: not known."""
    del now

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory
           ) -> tf.Tensor | None:
    """One step on incoming rows.

    Args:
      net: a `train_step.StepNet`.

    Returns:
      The loss [] to record; None: that whose gradient was taken last.
    """
    both = step_rows.joined(rows, memory.draw())
    net.update(net.cross_entropy(net.logits(both), both.labels))
    memory.store(rows)
    return None

  def observe(self, answers_of: AnswersFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    """Observes a batch [B, ...]; mask bool [B] is False on padding.

    `answers_of` runs the model as in evaluation: no example's logits depend on another.
    """
    del answers_of, codes, labels, mask

  def end_phase(self, known: tf.Tensor | None = None) -> None:
    """Concludes a phase, after which the classes `known`, bool [C], are known; None: all."""
    del known


def known_classes(batch: Batch) -> tf.Tensor | None:
  """Known classes, bool [C]; None: all."""
  return None if batch.classes is None else batch.classes.known


def cross_entropy(batch: Batch, smoothing: losses.Smoothing | None = None) -> tf.Tensor:
  """The mean cross-entropy of a batch's rows among its known classes, []."""
  each = row_losses(batch, known_classes(batch), smoothing)
  if batch.mask is None and batch.divisor is None:
    return tf.reduce_mean(each)
  return mean_of(batch, each)


def mean_of(batch: Batch, each: tf.Tensor) -> tf.Tensor:
  """The mean [] of losses [B] of the rows of a batch."""
  divisor = tf.shape(each)[0] if batch.divisor is None else batch.divisor
  return losses.scaled_sum(each, divisor, batch.mask)


def row_losses(batch: Batch, allowed: tf.Tensor | None,
               smoothing: losses.Smoothing | None = None) -> tf.Tensor:
  """The cross-entropy of each row among allowed classes, bool [C] or [B, C]; [B]."""
  allowed = of_own_heads(batch, allowed)
  logits = batch.logits if allowed is None else losses.among(allowed, batch.logits)
  if smoothing is None and batch.kind == tasks.SINGLE_LABEL:
    return losses.hard_cross_entropy(batch.labels, logits)
  return losses.per_example(
      batch.kind, batch.labels, logits, 0.0 if smoothing is None else smoothing)


def of_own_heads(batch: Batch, allowed: tf.Tensor | None) -> tf.Tensor | None:
  """The allowed classes of each row that are of its label's head, bool [B, C]; see `Batch.heads`.
  """
  if batch.heads is None or batch.kind != tasks.SINGLE_LABEL:
    return allowed
  own = tf.equal(batch.heads, tf.gather(batch.heads, tf.maximum(batch.labels, 0))[:, None])
  return own if allowed is None else own & allowed


class OldClasses(tf.Module):
  """The classes that earlier phases have taught and the present one shows no new rows of.

  A class that comes again counts as new.

  Args:
    num_classes: C.

  Attributes:
    taught: bool [C], by the phases before. now: bool [C], of the rows that came for this one.
  """

  def __init__(self, num_classes: int):
    super().__init__()
    self.taught, self.now = (
        tf.Variable(tf.zeros([num_classes], tf.bool), trainable=False, name=name)
        for name in ("taught_classes", "classes_now"))

  def begin(self, now: tf.Tensor) -> None:
    """Begins a phase whose new rows are of the classes bool [C]."""
    self.now.assign(now)

  def end(self, known: tf.Tensor | None = None) -> None:
    """Ends a phase, after which the classes bool [C] are taught; None: these and earlier ones."""
    self.taught.assign(self.taught | self.now if known is None else known)

  @property
  def old(self) -> tf.Tensor:
    """Old classes, bool [C]."""
    return self.taught & ~self.now

  @property
  def share(self) -> tf.Tensor:
    """Old classes among old and new ones, []."""
    num_old, num_all = (tf.reduce_sum(tf.cast(c, tf.float32))
                        for c in (self.old, self.taught | self.now))
    return tf.math.divide_no_nan(num_old, num_all)


def frozen_copy(model: tf.keras.Model
                ) -> tuple[tf.keras.Model, list[tuple[tf.Variable, tf.Variable]]]:
  """A copy that is not trained, and pairs of its variables and the model's, to copy again."""
  copy = own_model.copied(model)
  # Paired before freezing, which changes the order of a model's variables.
  pairs = list(zip(copy.variables, model.variables))
  for ours, theirs in pairs:
    ours.assign(theirs)
  if own_model.has_layers_of_users(model):
    own_model.check_alike(copy, model, model.input_shape[1:],
                          "The net of a method that keeps an earlier one")
  copy.trainable = False
  return copy, pairs


def zeros_like(variables: Sequence[tf.Variable], name: str) -> list[tf.Variable]:
  """Untrained variables of the same shapes, all zero."""
  return [tf.Variable(tf.zeros_like(v), trainable=False, name=name) for v in variables]


def weighted_distance(weights: Sequence[tf.Tensor], variables: Sequence[tf.Tensor],
                      anchors: Sequence[tf.Tensor]) -> tf.Tensor:
  """sum of weight * (variable - anchor)^2 over all parameters, []."""
  parts = [tf.reduce_sum(w * tf.square(v - a)) for w, v, a in zip(weights, variables, anchors)]
  return tf.add_n(parts)


class OwnLoss(Objective):
  """Minimizes a function of labels and logits, in Keras's order of arguments.

  Args:
    loss: loss(labels, logits) of labels int64 [B], or multi-hot [B, C], and logits [B, C], returns
      the loss of each row [B], or their mean []; a Keras `Loss` of logits, too. Classes
      that are not known yet have logits near -1e9.
  """

  def __init__(self, loss: Callable[[tf.Tensor, tf.Tensor], tf.Tensor]):
    super().__init__()
    keras3.refuse_foreign(loss, "The loss")
    if keras3.is_loss(loss):
      keras3.check_backend("The loss")
    if not callable(loss):
      raise ValueError(f"The loss is {loss!r}; give a function loss(labels, logits), or a "
                       "tf.keras.losses.Loss with from_logits=True.")
    is_keras = getattr(loss, "__module__", "").partition(".")[0] in ("keras", "tf_keras")
    default = inspect.signature(loss).parameters.get("from_logits") if is_keras else None
    if getattr(loss, "from_logits", True) is False or (
        hasattr(loss, "get_config") and loss.get_config().get("from_logits", True) is False) or (
            default is not None and default.default is False):
      name = getattr(loss, "__name__", type(loss).__name__)
      raise ValueError(f"The loss {name} takes probabilities, and is given logits. "
                       "Make it with from_logits=True; of a function, give a functools.partial.")
    self._loss = loss

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    net.update(self.of(net, net.logits(both), both.labels))
    memory.store(rows)

  def of(self, net: Any, logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
    """The loss [] of rows with logits [B, C] of a `train_step.StepNet`."""
    batch = net.batch(tf.cast(logits, tf.float32), labels)
    logits, allowed = batch.logits, of_own_heads(batch, known_classes(batch))
    if allowed is not None:
      logits = losses.among(allowed, logits)
    found = tf.cast(self._loss(labels, logits), tf.float32)
    if found.shape.rank == 0:
      if batch.divisor is None:
        return found
      rows = tf.cast(step_rows.length(logits), tf.float32)
      return found * (rows / tf.cast(batch.divisor, tf.float32))
    if found.shape.rank != 1 or not found.shape.is_compatible_with(logits.shape[:1]):
      name = getattr(self._loss, "__name__", type(self._loss).__name__)
      raise ValueError(f"The loss {name} returned shape {found.shape} for {logits.shape[0]} rows; "
                       "it must return [B], the loss of each row, or [], their mean.")
    return mean_of(batch, found)

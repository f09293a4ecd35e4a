# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Objectives: what a gradient learner minimizes, and when training calls each method.

A learner trains in phases: a bucket's, a task's, an offline phase of a sequence.

  objective.build(model, ...)                                       once
  objective.note_classes(now); objective.before_phase()             each phase
  each step:   rows = objective.choose(...)                         if it has `candidates`
               objective.take(step, ...)                            if it `takes_rows`: the next
                                                                    lines once for each update
               loss = objective.loss(batch)                         under the tape
               gradients = objective.gradients(gradients, data)
               objective.before_update(); optimizer; objective.after_update(gradients)
  at the end:  objective.observe(answers_of, codes, labels, mask)  each batch once, if `observes`
               objective.after_phase(known)

`loss`, `choose`, `gradients`, `before_update`, `after_update` and `observe` are traced into graphs;
the methods around a phase run eagerly. What an objective remembers is in variables, so that a
checkpoint holds it. `Objective` itself is cross-entropy: every other one changes some of this.

Within the episodes of few-shot learning nothing may be in variables. `Objective.in_episodes` is the
functional form, an `EpisodeTerm`, made of the same functions of tensors; most objectives have none.

Letters: B incoming rows, R replayed rows, C classes, N rows of data, K of which are in the memory.
"""

from __future__ import annotations

import inspect
from typing import Any, Callable, NamedTuple, Protocol, Sequence

import tensorflow as tf

from suite.compute import flops
from suite.contracts import refusals
from suite.contracts import tasks
from suite.models import keras3
from suite.training.objectives import losses

# Images [B, ...], labels [B] and known classes, bool [C] or None, to the loss of each example [B].
LossesFn = Callable[..., tf.Tensor]

TRAINING, VALIDATION = "training", "validation"


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
  """The rows of one step.

  Attributes:
    codes: [B + R, ...], incoming rows first.
    logits: [B + R, C], the model's in training.
    labels: int64 [B + R], or multi-hot [B + R, C].
    num_replayed: R, known when the graph is made.
    stored: [R, C] of the replayed rows, see `Data`; None without a memory.
    classes: see `Data`.
    kind: of the task.
    mask: bool [B + R], False for padding; None: no padding.
    divisor: what the sum of the losses is divided by; None: the number of rows.
    step_labels: labels of the step's incoming rows on all devices; None: one device has them all.
    features: [B + R, D], what the head made the logits of; None: the objective does not read them.
    heads: int64 [C], the head of each class: a row's loss is over the classes of its label's head;
      None: all classes are of one.
  """

  codes: tf.Tensor
  logits: tf.Tensor
  labels: tf.Tensor
  num_replayed: int = 0
  stored: tf.Tensor | None = None
  classes: Classes | None = None
  kind: str = tasks.SINGLE_LABEL
  mask: tf.Tensor | None = None
  divisor: Any = None
  step_labels: tf.Tensor | None = None
  features: tf.Tensor | None = None
  heads: tf.Tensor | None = None

  def incoming(self) -> Batch:
    """The incoming rows alone."""
    if not self.num_replayed:
      return self
    return self._replace(codes=self.codes[:-self.num_replayed],
                         logits=self.logits[:-self.num_replayed],
                         labels=self.labels[:-self.num_replayed], num_replayed=0, stored=None,
                         features=_rows(self.features, slice(-self.num_replayed)))

  def replayed(self) -> Batch:
    """The replayed rows alone."""
    return self._replace(codes=self.codes[-self.num_replayed:],
                         logits=self.logits[-self.num_replayed:],
                         labels=self.labels[-self.num_replayed:],
                         features=_rows(self.features, slice(-self.num_replayed, None)))


# Codes [B, ...] and labels [B] to a batch with the logits of the rows.
AnswersFn = Callable[..., Batch]


class Candidates(NamedTuple):
  """Rows of the memory from which `choose` takes R.

  Attributes:
    codes: [M, ...] as the model takes them. labels: int64 [M].
  """

  codes: tf.Tensor
  labels: tf.Tensor


class Counter(Protocol):
  """Counts what one step on B incoming rows costs, for `Objective.cost`.

  Attributes:
    held: K, rows in the memory. groups: the number of their groups, see `Data`.
  """

  held: int
  groups: int

  def step(self) -> flops.Cost:
    """Cost of the traced step."""

  def gradient(self, rows: int) -> flops.Cost:
    """The cost of a gradient of the mean cross-entropy of `rows` rows."""

  def update(self, change: Callable[[Sequence[tf.Tensor]], Sequence[tf.Tensor]]) -> flops.Cost:
    """Cost of a gradient of B rows, of `change` applied to it, and of the optimizer's step."""


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
  """Cross-entropy, the mean over all rows.

  Attributes:
    observes: examples that `observe` is shown after each phase: "training", the rows trained on;
      "validation", the validation split of the first phase; "": none.
    observes_each: whether it looks at gradients of single examples, so that the cost of an
      observation is that of one example times their number.
    has_teacher: whether each row goes through a second network, too.
    reads_logits: whether the memory stores logits for it.
    reads_features: whether a batch has the features that its logits are made of.
    reads_groups: whether it reads the memory's groups, see `Data`.
    candidates: rows of the memory that are drawn for `choose` in each step; 0: the replayed rows.
    draws: how often a step draws `replay_batch` rows of the memory; they come one after the other.
    needs_memory: whether it makes no sense without a memory.
    needs_same_classes: whether it compares answers of several phases, which must then be about
      the same classes.
    needs_tasks: whether its phases must be tasks or buckets, not offline phases of a sequence.
    takes_rows: whether it has a `take`, several updates on the rows of a step.
    calls: functions of users that it calls.
  """

  observes = ""
  observes_each = has_teacher = reads_logits = reads_features = reads_groups = False
  needs_memory = needs_same_classes = needs_tasks = takes_rows = False
  candidates, draws = 0, 1
  calls: tuple[Callable[..., Any], ...] = ()

  def build(self, model: tf.keras.Model, *, losses_of: LossesFn | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    """Makes its variables, before the first phase.

    Args:
      model: what is trained; codes [B, ...] to logits [B, C]. With a head per task it is what the
        tasks share, codes to features.
      losses_of: runs the model in training.
      seed: of random draws.
    """
    del model, losses_of, seed

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

  def note_classes(self, now: tf.Tensor) -> None:
    """Is told, before a phase, the classes of the rows that have come for it, bool [C]."""
    del now

  def before_phase(self) -> None:
    """Prepares for a phase."""

  def loss(self, batch: Batch) -> tf.Tensor:
    """The training loss, []."""
    return cross_entropy(batch)

  def choose(self, candidates: Candidates, losses_of: LossesFn,
             gradients: Sequence[tf.Tensor], variables: Sequence[tf.Variable], rate: tf.Tensor,
             num: int) -> tf.Tensor:
    """Indices int64 [num] of the candidates to replay; `gradients` are of the incoming rows."""
    raise NotImplementedError(f"{type(self).__name__} has candidates, but no choose.")

  def gradients(self, gradients: Sequence[tf.Tensor], data: Data) -> list[tf.Tensor]:
    """The gradients to follow instead of these, one for each trained variable."""
    del data
    return list(gradients)

  def take(self, update: Callable[..., tf.Tensor], variables: Sequence[tf.Variable],
           codes: tf.Tensor, labels: tf.Tensor, num_replayed: int) -> tf.Tensor:
    """Makes the updates of one step; the mean loss before them, [].

    Args:
      update: codes [n, ...] and labels [n], n known when the graph is made, to the loss before an
        update on these rows.
      variables: what it changes.
      codes, labels: [B + R, ...], incoming rows first. num_replayed: R.
    """
    raise NotImplementedError(f"{type(self).__name__} takes rows, but has no take.")

  def before_update(self) -> None:
    """Notes the model before the optimizer changes it."""
    return  # AutoGraph needs a statement.

  def after_update(self, gradients: Sequence[tf.Tensor]) -> None:
    """Notes the model after the optimizer changed it along these gradients."""
    del gradients

  def observe(self, answers_of: AnswersFn, codes: tf.Tensor, labels: tf.Tensor,
              mask: tf.Tensor | None = None) -> None:
    """Observes a batch [B, ...]; mask bool [B] is False on padding.

    `answers_of` runs the model as in evaluation: no example's logits depend on another.
    """
    del answers_of, codes, labels, mask

  def passes_of_observed(self, num_classes: int) -> int:
    """Forward and backward passes for each observed row."""
    del num_classes
    return 1

  def after_phase(self, known: tf.Tensor | None = None) -> None:
    """Concludes a phase, after which the classes `known`, bool [C], are known; None: all."""
    del known

  def refresh(self) -> None:
    """Prepares for a later phase, after the first validation split was observed again."""

  def cost(self, counter: Counter) -> flops.Cost:
    """The cost of one step."""
    return counter.step()

  def passes(self, incoming: int, replayed: int, held: int) -> tuple[int, int]:
    """Rows of one step that go forward and backward, and rows that go forward only.

    Args:
      incoming: B. replayed: R. held: K, rows in the memory.
    """
    del held
    rows = incoming + replayed
    return rows, rows * self.has_teacher


def _rows(features: tf.Tensor | None, rows: slice) -> tf.Tensor | None:
  return None if features is None else features[rows]


def known_classes(batch: Batch) -> tf.Tensor | None:
  """Known classes, bool [C]; None: all."""
  return None if batch.classes is None else batch.classes.known


def cross_entropy(batch: Batch, smoothing: losses.Smoothing | None = None) -> tf.Tensor:
  """The mean cross-entropy of a batch's rows among its known classes, []."""
  each = row_losses(batch, known_classes(batch), smoothing)
  if batch.mask is None and batch.divisor is None:
    return tf.reduce_mean(each)
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
  copy = tf.keras.models.clone_model(model)
  # Paired before freezing, which changes the order of a model's variables.
  pairs = list(zip(copy.variables, model.variables))
  copy.trainable = False
  for ours, theirs in pairs:
    ours.assign(theirs)
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

  @property
  def calls(self) -> tuple[Callable[..., Any], ...]:  # type: ignore[override]
    return (self._loss,)

  def loss(self, batch: Batch) -> tf.Tensor:
    logits = tf.cast(batch.logits, tf.float32)
    allowed = of_own_heads(batch, known_classes(batch))
    if allowed is not None:
      logits = losses.among(allowed, logits)
    found = tf.cast(self._loss(batch.labels, logits), tf.float32)
    rows = batch.logits.shape[0]
    if found.shape.rank == 0:
      if batch.divisor is None:
        return found
      return found * (tf.cast(rows, tf.float32) / tf.cast(batch.divisor, tf.float32))
    if found.shape.rank != 1 or not found.shape.is_compatible_with([rows]):
      name = getattr(self._loss, "__name__", type(self._loss).__name__)
      raise ValueError(f"The loss {name} returned shape {found.shape} for {rows} rows; it must "
                       "return [B], the loss of each row, or [], their mean.")
    divisor = rows if batch.divisor is None else batch.divisor
    return losses.scaled_sum(found, divisor, batch.mask)

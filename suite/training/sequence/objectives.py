# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What an offline phase of FLUID minimises: cross-entropy with something to remember by.

  CrossEntropy   mean CE over incoming and replayed rows: standard training, and ER with a memory
  Lwf            CE + strength T^2 KL(teacher || net), softmax at temperature T
  Ewc            share CE + sum_i strength / 2 F_i (w_i - w*_i)^2
  ErAce          CE(incoming; classes of now) + CE(replayed; known classes)
  Dark           CE + alpha D(net, stored logits) + beta CE(replayed): DER, with beta DER++

Every softmax is over known classes only. Teacher, w* and F are of the net as it was after the base
classes; F is estimated anew, at the present weights, before each phase. A teacher is asked about
the classes that it has learned and that the sequence has shown since.

Papers: Li & Hoiem 2016 (LwF), Kirkpatrick et al. 2017 (EWC), Caccia et al. 2022 (ER-ACE), Buzzega
et al. 2020 (DER, DER++); numbers are those of FLUID (Wallingford et al., 2020) where it has any.

Letters: B incoming rows, R replayed rows, C classes.
"""

from __future__ import annotations

from typing import Any, NamedTuple, Optional

import tensorflow as tf

from suite.training.penalties import ewc
from suite.training.penalties import lwf

# The logit of a class that does not take part: finite, so that no difference of two is NaN.
LOW = -1e9
CURRENT = ("batch", "novel")
DIVERGENCES = ("mse", "kl")


class Classes(NamedTuple):
  """Of a phase, bool [C] each.

  Attributes:
    known: base classes and those that labels were of.
    seen: those of the sequence so far.
    base: those that were learned before the sequence.
  """

  known: Any
  seen: Any
  base: Any


class Replayed(NamedTuple):
  """logits [R, C] of the net; labels int64 [R]; stored [R, C], NaN where nothing was stored."""

  logits: tf.Tensor
  labels: tf.Tensor
  stored: tf.Tensor


class Batch(NamedTuple):
  """One step.

  Attributes:
    images: [B + R, ...], all that went through the net, incoming rows first.
    logits: [B, C] of incoming rows. labels: int64 [B].
    replayed: None while the memory is empty, or without one.
    classes: see `Classes`.
  """

  images: tf.Tensor
  logits: tf.Tensor
  labels: tf.Tensor
  replayed: Optional[Replayed]
  classes: Classes


def among(allowed: tf.Tensor, logits: tf.Tensor) -> tf.Tensor:
  """Logits [B, C] of allowed classes, bool [C] or [B, C]; `LOW` for all others."""
  return tf.where(allowed, tf.cast(logits, tf.float32), LOW)


def cross_entropy(allowed: tf.Tensor, logits: tf.Tensor, labels: tf.Tensor) -> tf.Tensor:
  """By row, [B]: of logits [B, C] among allowed classes, and labels int64 [B]."""
  return tf.nn.sparse_softmax_cross_entropy_with_logits(
      labels=labels, logits=among(allowed, logits))


class CrossEntropy(tf.Module):
  """The mean over all rows; what the other losses are made like.

  Attributes:
    observes: whether it wants to be shown base images by its penalty's `observe`.
    has_teacher: whether each row goes through a second net, too.
    reads_logits: whether it wants logits to be stored.
  """

  observes = has_teacher = reads_logits = False

  def build(self, model: tf.keras.Model) -> None:
    """Makes its variables."""
    del model

  def remember(self) -> None:
    """The base classes are learned, and were observed."""

  def refresh(self) -> None:
    """A phase begins; base images were observed once more."""

  def __call__(self, batch: Batch) -> tf.Tensor:
    """The loss [], under the tape."""
    known = batch.classes.known
    losses = cross_entropy(known, batch.logits, batch.labels)
    if batch.replayed is not None:
      losses = tf.concat(
          [losses, cross_entropy(known, batch.replayed.logits, batch.replayed.labels)], 0)
    return tf.reduce_mean(losses)


class Lwf(CrossEntropy):
  """See the module; T^2 keeps the gradient's size as T grows."""

  has_teacher = True

  def __init__(self, strength: float = 0.2, temperature: float = 2.0):
    super().__init__()
    self._strength, self._temperature = strength, temperature
    self.penalty = lwf.Lwf([0.0, strength], temperature)

  def build(self, model: tf.keras.Model) -> None:
    self.penalty.build(model)

  def remember(self) -> None:
    self.penalty.after_bucket()  # Copies the net; there is no further bucket.

  def __call__(self, batch: Batch) -> tf.Tensor:
    taught = batch.classes.base & batch.classes.seen
    logits = batch.logits
    if batch.replayed is not None:
      logits = tf.concat([logits, batch.replayed.logits], 0)
    teacher = tf.stop_gradient(self.penalty.previous(batch.images, training=False))
    near = lwf.divergence(among(taught, teacher), among(taught, logits), self._temperature)
    return super().__call__(batch) + self._strength * self._temperature**2 * near


class Ewc(CrossEntropy):
  """See the module.

  Args:
    strength: lambda. share: of the cross-entropy. fisher: how F is estimated, see `ewc`.
  """

  observes = True

  def __init__(self, strength: float = 0.1, share: float = 0.9, fisher: str = "minibatch"):
    super().__init__()
    self._share = share
    self.penalty = ewc.Ewc(strength / 2.0, decay=0.0, fisher=fisher)

  def build(self, model: tf.keras.Model) -> None:
    self.penalty.build(model)

  def remember(self) -> None:
    self.penalty.after_bucket()

  def refresh(self) -> None:
    anchors = [anchor.read_value() for anchor in self.penalty.anchors]
    self.penalty.after_bucket()
    for anchor, value in zip(self.penalty.anchors, anchors):
      anchor.assign(value)

  def __call__(self, batch: Batch) -> tf.Tensor:
    return self._share * super().__call__(batch) + self.penalty.loss(batch.images, batch.logits)


class ErAce(CrossEntropy):
  """See the module: incoming rows push no other class down but those of now.

  Args:
    current: the classes of now are those of the "batch", as in the method's paper; or these and all
      "novel" ones that the sequence has shown, as in FLUID's.
  """

  def __init__(self, current: str = "batch"):
    super().__init__()
    if current not in CURRENT:
      raise ValueError(f"ErAce.current is {current!r}; allowed are {', '.join(CURRENT)}.")
    self._current = current

  def __call__(self, batch: Batch) -> tf.Tensor:
    classes, num = batch.classes, batch.logits.shape[1]
    now = tf.reduce_any(tf.one_hot(batch.labels, num, on_value=True, off_value=False), axis=0)
    if self._current == "novel":
      now |= classes.seen & ~classes.base
    loss = tf.reduce_mean(cross_entropy(now, batch.logits, batch.labels))
    if batch.replayed is None:
      return loss
    return loss + tf.reduce_mean(
        cross_entropy(classes.known, batch.replayed.logits, batch.replayed.labels))


class Dark(CrossEntropy):
  """See the module: DER stays near the logits that a row had when it was stored.

  Args:
    alpha: of the distance to them, beta: of the replayed rows' cross-entropy.
    divergence: D, "mse", the mean square over a row's stored logits, as in the method's paper; or
      "kl", as in FLUID's text (its code has the other).
  """

  reads_logits = True

  def __init__(self, alpha: float = 0.5, beta: float = 0.0, divergence: str = "mse"):
    super().__init__()
    if divergence not in DIVERGENCES:
      raise ValueError(f"Dark.divergence is {divergence!r}; allowed are {', '.join(DIVERGENCES)}.")
    self._alpha, self._beta, self._divergence = alpha, beta, divergence

  def __call__(self, batch: Batch) -> tf.Tensor:
    known, replayed = batch.classes.known, batch.replayed
    loss = super().__call__(batch._replace(replayed=None))
    if replayed is None:
      return loss
    loss += self._alpha * self._distance(replayed)
    if self._beta:
      loss += self._beta * tf.reduce_mean(
          cross_entropy(known, replayed.logits, replayed.labels))
    return loss

  def _distance(self, replayed: Replayed) -> tf.Tensor:
    """Over the classes that were known when a row was stored, []."""
    there = ~tf.math.is_nan(replayed.stored)
    stored = tf.where(there, replayed.stored, 0.0)
    if self._divergence == "kl":
      return lwf.divergence(among(there, stored), among(there, replayed.logits))
    squares = tf.where(there, tf.square(tf.cast(replayed.logits, tf.float32) - stored), 0.0)
    counts = tf.reduce_sum(tf.cast(there, tf.float32), axis=1)
    return tf.reduce_mean(tf.math.divide_no_nan(tf.reduce_sum(squares, axis=1), counts))

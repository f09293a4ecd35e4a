# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""SCR, supervised contrastive replay (Mai et al., 2021, section 3).

  loss = mean over rows i of - mean over p in P(i) of
         log [ exp(s_ip) / sum over a != i of exp(s_ia) ]          (Khosla et al., 2020, equation 2)

Rows are all of a step, incoming and replayed, and a second view of each: the authors' is cropped,
mirrored, of other colors or gray (agents/scr.py of github.com/RaptorMai/online-continual-learning
at 6175ca0). s is the cosine of the
projections of two rows, divided by a temperature; P(i) are the other rows of i's class. Answers are
by the nearest mean of exemplars' features, below the projection (`ProjectedExemplars`).

A row without another one of its class counts nothing, which happens without a second view alone.
The authors' code trains on nothing while the memory is empty; here the first rows are compared with
each other.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf

from suite.contracts import examples
from suite.data.images import contrastive_views
from suite.data.images import sampling
from suite.training.memories import step_rows
from suite.training.objectives import losses
from suite.training.objectives import objective

AUTHORS = "authors"
PROJECTION = "projection"  # The layer of the head whose outputs are compared.


class Scr(objective.Objective):
  """Supervised contrast of incoming and replayed rows.

  Args:
    temperature: of the cosines; the authors' code has 0.07.
    view: makes the second view of rows, images of the size of the first, which is what the step
      takes; "authors": theirs, `contrastive_views.AugPlus` without blur, for square images, and no
      second view of features; None: there is one view.
  """

  needs = frozenset({objective.REPLAY, objective.ONE_HEAD})

  def __init__(self, temperature: float = 0.07, view: examples.Transform | str | None = AUTHORS):
    super().__init__()
    if isinstance(view, str) and view != AUTHORS:
      raise ValueError(f"Scr.view is {view!r}; give {AUTHORS!r}, a transform or None.")
    if not temperature > 0:
      raise ValueError(f"Scr.temperature is {temperature}; it must be above 0.")
    self._temperature, self._view = temperature, view

  def build(self, model: tf.keras.Model, *, backbone: tf.keras.Model | None = None,
            seed: tuple[int, int] = (0, 0)) -> None:
    del backbone
    names = [layer.name for layer in model.layers[-1].layers] if len(model.layers) == 3 else []
    if PROJECTION not in names:
      raise ValueError("Scr trains a net below a projection; give GradientLearner the net "
                       "AllLayers and the head class_heads.ProjectedExemplars.")
    lower, top = model.layers[1:]
    shape = tuple(lower.input_shape[1:])
    view = self._view
    if isinstance(view, str):
      is_image = len(shape) == 3 and shape[0] == shape[1]
      view = contrastive_views.AugPlus(shape[0], blur_probability=0.0) if is_image else None
    elif view is not None and tuple(view.shape) != shape:
      raise ValueError(f"Scr.view makes examples {tuple(view.shape)}, and the net takes "
                       f"{shape}; give it the size of the learner's transform, or leave it out.")
    self._second: examples.Transform | None = view
    # In a function: the model's variables are no part of the objective's.
    projection = tf.keras.Model(top.input, top.get_layer(PROJECTION).output)
    self._projected = lambda features: projection(features)
    self._seed = seed
    self.steps = tf.Variable(0, dtype=tf.int64, trainable=False, name="scr_steps")

  def step(self, rows: step_rows.Rows, net: Any, memory: step_rows.StepMemory) -> None:
    both = step_rows.joined(rows, memory.draw())
    projections, labels = self._projected(net.answers(both)[0]), both.labels
    if self._second is not None:
      num = tf.shape(labels, tf.int64)[0]
      seeds = sampling.row_seeds(self._seed, self.steps * num + tf.range(num))
      views = tf.cast(self._second.train(tf.cast(tf.round(both.images), tf.uint8), seeds)[
          ..., :both.images.shape[-1]], both.images.dtype)  # Gray images have equal channels.
      again = net.answers(both._replace(images=views))[0]
      projections = tf.concat([projections, self._projected(again)], 0)
      labels = tf.concat([labels, labels], 0)
    net.update(contrast(tf.cast(projections, tf.float32), labels, self._temperature),
               then=lambda before: self.steps.assign_add(1))
    memory.store(rows)


def contrast(features: tf.Tensor, labels: tf.Tensor, temperature: float) -> tf.Tensor:
  """The loss, [], of features [B, D] and labels int64 [B]."""
  directions = tf.math.l2_normalize(features, axis=1)
  similar = tf.matmul(directions, directions, transpose_b=True) / temperature
  rows = tf.range(tf.shape(labels)[0])
  is_other = rows[:, None] != rows[None]
  of_class = (labels[:, None] == labels[None]) & is_other
  log_shares = similar - tf.reduce_logsumexp(
      losses.among(is_other, similar), axis=1, keepdims=True)
  num = tf.reduce_sum(tf.cast(of_class, tf.float32), axis=1)
  each = -tf.math.divide_no_nan(tf.reduce_sum(tf.where(of_class, log_shares, 0.0), axis=1), num)
  return tf.math.divide_no_nan(
      tf.reduce_sum(each), tf.reduce_sum(tf.cast(num > 0.0, tf.float32)))

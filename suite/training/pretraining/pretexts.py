# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pretexts, the tasks that an encoder is pretrained on: MoCo V2, SimCLR's loss, labels, or those
of several tasks.

A pretext is a `tf.Module`; `build` makes its variables. For each update the loop calls

  before_update()                                outside of replicas
  losses(batch, step) -> (losses [b], result)    in each replica, under a gradient tape
  after_update(result)                           outside of replicas, after the optimizer's step

Batch norm and contrastive losses. If a query and its key are normalized by the statistics of the
same batch, these statistics tell a network which key belongs to the query: the loss falls and
nothing is learned. MoCo shuffles the keys over its 8 GPUs, so that a key's statistics come from
other images than its query's. Here a batch is split into `norm_groups` groups, distributed over the
replicas, and each group is normalized separately: queries in their order, keys in an order drawn
for the step. One device thus computes what `norm_groups` devices compute; only the moving averages
of batch norm, which no loss uses, move once for each group of a device and by the mean over
devices. A net without batch norm needs one group.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Callable

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import seeds as seeds_lib
from suite.models import heads
from suite.models import initial
from suite.models import projection
from suite.training.objectives import coded_losses
from suite.training.objectives import losses as losses_lib
from suite.training.pretraining import contrastive

Backbone = Callable[[], tf.keras.Model]


class Pretext(tf.Module):
  """The interface of pretexts.

  Attributes:
    num_views: the number of views of each image in a batch: "view0", "view1".
    needs_labels: whether a batch also holds "label".
    several_tasks: whether the labels are codes of several tasks, see `class_codes`.
    backbone: the result of the pretraining, images [B, H, W, 3] to features [B, D].
    variables_to_train: the variables that gradients change.
  """

  num_views = 1
  needs_labels = several_tasks = False
  backbone: tf.keras.Model
  variables_to_train: Sequence[tf.Variable]

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    """Makes the variables, in the scope of the distribution; the seeds determine the weights."""
    raise NotImplementedError

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    """Gives the backbone these weights, in Keras order, in place of those that `build` drew."""
    self.backbone.set_weights(weights)

  def before_update(self) -> None:
    """Does nothing, unless overridden."""
    return  # AutoGraph cannot read a function of nothing but a docstring.

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    """Returns the loss of each row [b], and the argument of `after_update`; in each replica."""
    raise NotImplementedError

  def after_update(self, result: Any) -> None:
    """Does nothing, unless overridden."""
    del result


class Supervised(Pretext):
  """Cross-entropy on the classes of a labeled set."""

  needs_labels = True

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del batch_size
    self.backbone, self.model = made(
        make_backbone, lambda size: heads.linear(num_classes, size), seeds)
    self.variables_to_train = self.model.trainable_variables

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    del step
    logits = self.model(batch["view0"], training=True)
    return losses_lib.softmax_cross_entropy(batch["label"], logits), ()


class Multitask(Pretext):
  """Cross-entropy on several tasks, with a linear head for each (PT-MT of NEVIS'22).

  One labeled set, single- or multi-label, is one task.
  """

  needs_labels = several_tasks = True

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del batch_size
    self.backbone, self.model = made(
        make_backbone, lambda size: heads.linear(num_classes, size), seeds)
    self.variables_to_train = self.model.trainable_variables

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    del step
    logits = self.model(batch["view0"], training=True)
    return coded_losses.cross_entropy(batch["label"], logits), ()


class SimClr(Pretext):
  """SimCLR's loss NT-Xent on two views, both through one encoder.

  Args:
    dim: size of the embedding.
    temperature: divides the cosines.
    norm_groups: see the module; a group has both views of its images, in two passes.
  """

  num_views = 2

  def __init__(self, *, dim: int = 128, temperature: float = 0.5, norm_groups: int = 1):
    super().__init__()
    self._dim, self._temperature, self._groups = dim, temperature, norm_groups

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del num_classes
    self._here = groups_here(self._groups, batch_size, distribution)
    self.backbone, self.model = made(
        make_backbone, lambda size: projection.projection(size, size=self._dim), seeds)
    self.variables_to_train = self.model.trainable_variables

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    del step
    first, second = (by_groups(self.model, batch[v], self._here) for v in ("view0", "view1"))
    return contrastive.nt_xent(
        first, second, self._temperature, all_first=contrastive.gathered(first),
        all_second=contrastive.gathered(second), offset=contrastive.offset(first.shape[0])), ()


class Moco(Pretext):
  """MoCo V2 (He et al., 2020; Chen et al., 2020): a queue of keys from a slowly moving encoder.

  Args:
    queue_size: K, a multiple of the batch size.
    dim: size of the embedding.
    temperature: divides the cosines; 0.2 in version 2.
    momentum: momentum of the key encoder.
    norm_groups: see the module; a multiple of the number of replicas, 8 in the paper.
  """

  num_views = 2

  def __init__(self, *, queue_size: int = 65536, dim: int = 128, temperature: float = 0.2,
               momentum: float = 0.999, norm_groups: int = 8):
    super().__init__()
    self._queue_size, self._dim = queue_size, dim
    self._temperature, self._momentum, self._groups = temperature, momentum, norm_groups

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del num_classes
    self._here = groups_here(self._groups, batch_size, distribution)
    self._distribution, self._seed = distribution, seeds.pair("key order")

    def make_head(size: int) -> tf.keras.Model:
      return projection.projection(size, size=self._dim)

    self.backbone, self.model = made(make_backbone, make_head, seeds)
    _, self.key_model = made(make_backbone, make_head, seeds)
    if self._groups == 1 and _has_batch_norm(self.model):
      raise ValueError("Moco.norm_groups is 1, but the backbone has batch norm, which then tells "
                       "the keys' batch from all others. Use 2 groups or more (the paper: 8), or a "
                       "backbone with norm='group'.")
    self.queue = contrastive.Queue(self._queue_size, self._dim, seeds.pair("queue"))
    self.queue.check_batch(batch_size)
    self.variables_to_train = self.model.trainable_variables

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    super().start_from(weights)
    backbone_of(self.key_model).set_weights(weights)

  def before_update(self) -> None:
    contrastive.follow(self.key_model.trainable_variables, self.model.trainable_variables,
                       self._momentum, self._distribution.strategy)

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    queries = by_groups(self.model, batch["view0"], self._here)
    keys = tf.stop_gradient(self._keys(batch["view1"], step))
    own = contrastive.own_rows(keys, queries.shape[0])
    # The queue as a tensor: the keys of this step are pushed only after the update.
    queue = tf.convert_to_tensor(self.queue.keys)
    return contrastive.info_nce(queries, own, queue, self._temperature), keys

  def _keys(self, images: tf.Tensor, step: tf.Tensor) -> tf.Tensor:
    """Returns the keys [B, D] of the global batch, from groups of shuffled images."""
    if self._groups == 1:
      return contrastive.gathered(by_groups(self.key_model, images, 1))
    everyone = contrastive.gathered(images)
    order = contrastive.order_of(step, everyone.shape[0], self._seed)
    mixed = tf.gather(everyone, contrastive.own_rows(order, images.shape[0]))
    keys = contrastive.gathered(by_groups(self.key_model, mixed, self._here))
    return tf.gather(keys, tf.math.invert_permutation(order))

  def after_update(self, result: Any) -> None:
    keys = contrastive.results_of_one(result, self._distribution)
    self.queue.push(keys, self._distribution.strategy)


def made(make_backbone: Backbone, make_head: Callable[[int], tf.keras.Model],
          seeds: seeds_lib.Seeds) -> tuple[tf.keras.Model, tf.keras.Model]:
  """Returns the backbone, and the backbone with a head, with weights drawn by the seeds."""
  def build() -> tuple[tf.keras.Model, tf.keras.Model]:
    backbone = make_backbone()
    inputs = tf.keras.Input(backbone.input_shape[1:], dtype=backbone.inputs[0].dtype)
    head = make_head(backbone.output_shape[-1])
    return backbone, tf.keras.Model(inputs, head(backbone(inputs)))

  weights = initial.initial_weights(lambda: build()[1], seeds.integer("initial weights"))
  backbone, model = build()
  model.set_weights(weights)
  return backbone, model


def backbone_of(model: tf.keras.Model) -> tf.keras.Model:
  """Returns the backbone of a model that `made` returned beside it."""
  return next(layer for layer in model.layers if isinstance(layer, tf.keras.Model))


def by_groups(model: tf.keras.Model, images: tf.Tensor, groups: int) -> tf.Tensor:
  """Returns unit vectors [b, D] of images [b, H, W, 3]; each group is normalized separately."""
  parts: list[tf.Tensor] = tf.split(images, groups)
  return contrastive.normalized(
      tf.concat([model(part, training=True) for part in parts], axis=0))


def groups_here(groups: int, batch_size: int, distribution: distribution_lib.Distribution) -> int:
  """Returns the number of groups on each replica."""
  replicas = distribution.num_replicas
  if groups != 1 and (groups < 1 or batch_size % groups or groups % replicas):
    raise ValueError(f"norm_groups is {groups}; it must divide the batch size {batch_size} and be "
                     f"a multiple of the {replicas} replicas.")
  return max(1, groups // replicas)


def _has_batch_norm(model: tf.keras.Model) -> bool:
  return any(isinstance(layer, tf.keras.layers.BatchNormalization)
             for layer in model._flatten_layers())  # Nested models, too.

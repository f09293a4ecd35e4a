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

Contrastive losses, MoCo's queue and momentum, and their communication between replicas.

Embeddings are unit vectors [B, D], so a product of two is their cosine. B is the global batch, b a
replica's rows, R the number of replicas.

BYOL (Grill et al., 2020): an encoder predicts a slowly moving one, without negatives.

Both see the two views of an image. The online net is backbone, projector and predictor; the target
is backbone and projector, and follows the online one after each update:

  target = tau_k * target + (1 - tau_k) * online,   tau_k = 1 - (1 - tau) (cos(pi k / K) + 1) / 2

The loss of a row is the sum over both directions of 2 - 2 cos(prediction, target) (eq. 2). Batch
norm is what keeps the constant answer away: norms are of the whole batch of a replica, in backbone,
projector and predictor; no groups are needed, since no positive is told apart from negatives.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import math
from typing import Any

import numpy as np
import tensorflow as tf

from suite.compute import distribution as distribution_lib
from suite.compute import seeds as seeds_lib
from suite.data.images import sampling
from suite.models import heads
from suite.models import initial
from suite.models import keras3
from suite.training.objectives import losses as losses_lib

Backbone = Callable[[], tf.keras.Model]
_FAR = -1e9  # exp of it is 0 in float32.


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

  def begin_draws(self, seed: tuple[int, int]) -> None:
    """Makes what Keras 3 models draw from now on a function of a seed."""
    for place, name in enumerate(("model", "key_model")):
      if hasattr(self, name):
        keras3.begin_draws(getattr(self, name), (seed[0] + place, seed[1]))

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
    return losses_lib.cross_entropy(batch["label"], logits), ()


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
        make_backbone, lambda size: heads.projection(size, size=self._dim), seeds)
    self.variables_to_train = self.model.trainable_variables

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    del step
    first, second = (by_groups(self.model, batch[v], self._here) for v in ("view0", "view1"))
    return nt_xent(
        first, second, self._temperature, all_first=gathered(first),
        all_second=gathered(second), offset=offset(first.shape[0])), ()


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
      return heads.projection(size, size=self._dim)

    self.backbone, self.model = made(make_backbone, make_head, seeds)
    _, self.key_model = made(make_backbone, make_head, seeds)
    if self._groups == 1 and any(
        isinstance(layer, tf.keras.layers.BatchNormalization) or (
            isinstance(layer, keras3.HeldModel) and layer.norms())
        for layer in self.model._flatten_layers()):  # Nested models, too.
      raise ValueError("Moco.norm_groups is 1, but the backbone has batch norm, which then tells "
                       "the keys' batch from all others. Use 2 groups or more (the paper: 8), or a "
                       "backbone with norm='group'.")
    self.queue = Queue(self._queue_size, self._dim, seeds.pair("queue"))
    self.queue.check_batch(batch_size)
    self.variables_to_train = self.model.trainable_variables

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    super().start_from(weights)
    backbone_of(self.key_model).set_weights(weights)

  def before_update(self) -> None:
    follow(self.key_model.trainable_variables, self.model.trainable_variables,
                       self._momentum, self._distribution.strategy)

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    queries = by_groups(self.model, batch["view0"], self._here)
    # The keys [B, D] of the global batch, from groups of shuffled images.
    images = batch["view1"]
    if self._groups == 1:
      keys = gathered(by_groups(self.key_model, images, 1))
    else:
      everyone = gathered(images)
      order = order_of(step, everyone.shape[0], self._seed)
      mixed = tf.gather(everyone, own_rows(order, images.shape[0]))
      keys = gathered(by_groups(self.key_model, mixed, self._here))
      keys = tf.gather(keys, tf.math.invert_permutation(order))
    keys = tf.stop_gradient(keys)
    own = own_rows(keys, queries.shape[0])
    # The queue as a tensor: the keys of this step are pushed only after the update.
    queue = tf.convert_to_tensor(self.queue.keys)
    return info_nce(queries, own, queue, self._temperature), keys

  def after_update(self, result: Any) -> None:
    keys = results_of_one(result, self._distribution)
    self.queue.push(keys, self._distribution.strategy)


def made(make_backbone: Backbone, make_head: Callable[[int], tf.keras.Model],
          seeds: seeds_lib.Seeds) -> tuple[tf.keras.Model, tf.keras.Model]:
  """Returns the backbone, and the backbone with a head, with weights drawn by the seeds."""
  def build() -> tuple[tf.keras.Model, tf.keras.Model]:
    backbone = make_backbone()
    inputs = tf.keras.Input(backbone.input_shape[1:], dtype=backbone.inputs[0].dtype)
    head = make_head(backbone.output_shape[-1])
    return backbone, tf.keras.Model(inputs, head(backbone(inputs)))

  (backbone, model), weights = initial.made(
      build, seeds.integer("initial weights"), lambda made: made[1])
  model.set_weights(weights)
  return backbone, model


def backbone_of(model: tf.keras.Model) -> tf.keras.Model:
  """Returns the backbone of a model that `made` returned beside it."""
  return next(layer for layer in model.layers if isinstance(layer, tf.keras.Model))


def by_groups(model: tf.keras.Model, images: tf.Tensor, groups: int) -> tf.Tensor:
  """Returns unit vectors [b, D] of images [b, H, W, 3]; each group is normalized separately."""
  parts: list[tf.Tensor] = tf.split(images, groups)
  return normalized(
      tf.concat([model(part, training=True) for part in parts], axis=0))


def groups_here(groups: int, batch_size: int, distribution: distribution_lib.Distribution) -> int:
  """Returns the number of groups on each replica."""
  replicas = distribution.num_replicas
  if groups != 1 and (groups < 1 or batch_size % groups or groups % replicas):
    raise ValueError(f"norm_groups is {groups}; it must divide the batch size {batch_size} and be "
                     f"a multiple of the {replicas} replicas.")
  return max(1, groups // replicas)


def normalized(embeddings: tf.Tensor) -> tf.Tensor:
  """Returns embeddings [B, D] as unit vectors."""
  return tf.math.l2_normalize(tf.cast(embeddings, tf.float32), axis=1)


def info_nce(queries: tf.Tensor, keys: tf.Tensor, queue: tf.Tensor, temperature: float
             ) -> tf.Tensor:
  """Returns MoCo's loss [b] (He et al., 2020, eq. 1) of queries [b, D] and keys [b, D].

  The positive of row i is key i; its negatives are the K keys of the queue [K, D].
  """
  positive = tf.reduce_sum(queries * keys, axis=1, keepdims=True)
  negative = tf.matmul(queries, queue, transpose_b=True)
  logits = tf.concat([positive, negative], axis=1) / temperature
  return tf.reduce_logsumexp(logits, axis=1) - logits[:, 0]


def nt_xent(first: tf.Tensor, second: tf.Tensor, temperature: float, *,
            all_first: tf.Tensor, all_second: tf.Tensor, offset: Any = 0) -> tf.Tensor:
  """Returns SimCLR's loss [b] (Chen et al., 2020, eq. 1), the mean over both directions.

  Each of the 2b views has one positive, the other view of its image, and 2B - 2 negatives, the
  views of all other images.

  Args:
    first, second: embeddings [b, D] of two views of this replica's images.
    temperature: divides the cosines.
    all_first, all_second: those of all replicas, [B, D]; equal to the first two on one replica.
    offset: the first row of this replica in them.
  """
  rows, everyone = tf.shape(first)[0], tf.shape(all_first)[0]
  views = tf.concat([first, second], axis=0)
  logits = tf.matmul(
      views, tf.concat([all_first, all_second], axis=0), transpose_b=True) / temperature
  places = offset + tf.range(rows)
  itself = tf.concat([places, places + everyone], axis=0)
  other = tf.concat([places + everyone, places], axis=0)
  logits += _FAR * tf.one_hot(itself, 2 * everyone)
  losses = losses_lib.hard_cross_entropy(other, logits)
  return (losses[:rows] + losses[rows:]) / 2.0


class Queue(tf.Module):
  """The keys of the last K / B batches, first in, first out; at first random unit vectors.

  Args:
    size: K, a multiple of the batch.
    dim: D.
    seed: seed of the first keys.
  """

  def __init__(self, size: int, dim: int, seed: tuple[int, int]):
    super().__init__()
    first = np.random.default_rng(seed).normal(size=[size, dim]).astype(np.float32)
    first /= np.linalg.norm(first, axis=1, keepdims=True)
    self.keys = tf.Variable(first, trainable=False, name="queue")
    self.place = tf.Variable(0, dtype=tf.int64, trainable=False, name="queue_place")

  def check_batch(self, batch_size: int) -> None:
    """Raises an error unless whole batches fill the queue."""
    if self.keys.shape[0] % batch_size:
      raise ValueError(f"A queue of {self.keys.shape[0]} keys is no multiple of the batch size "
                       f"{batch_size}. Choose one that is, 65536 in the paper.")

  def push(self, keys: tf.Tensor, strategy: tf.distribute.Strategy) -> None:
    """Replaces the B oldest keys by keys [B, D]; called outside of replicas."""
    num = keys.shape[0]
    places = self.place.read_value() + tf.range(num, dtype=tf.int64)

    def write(queue: tf.Variable, keys: tf.Tensor, places: tf.Tensor) -> None:
      queue.scatter_update(tf.IndexedSlices(keys, places))

    def move(place: tf.Variable) -> None:
      place.assign((place + num) % self.keys.shape[0])

    strategy.extended.update(self.keys, write, args=(keys, places))
    strategy.extended.update(self.place, move)


def follow(followers: Sequence[tf.Variable], leaders: Sequence[tf.Variable], momentum: float,
           strategy: tf.distribute.Strategy) -> None:
  """Moves followers towards leaders on every replica; called outside of replicas.

  follower = momentum * follower + (1 - momentum) * leader (He et al., eq. 2)
  """
  def move(follower: tf.Variable, leader: tf.Variable) -> None:
    follower.assign(momentum * follower + (1.0 - momentum) * leader)

  for follower, leader in zip(followers, leaders):
    strategy.extended.update(follower, move, args=(leader,))


def gathered(rows: tf.Tensor) -> tf.Tensor:
  """Returns the rows [B, ...] of all replicas' rows [b, ...], in order; differentiable."""
  context = tf.distribute.get_replica_context()
  if context.num_replicas_in_sync == 1:
    return rows
  # Bytes cannot be gathered; half floats hold 0..255 exactly.
  sent = tf.cast(rows, tf.float16) if rows.dtype == tf.uint8 else rows
  found = tf.cast(context.all_gather(sent, axis=0), rows.dtype)
  return tf.ensure_shape(
      found, [rows.shape[0] * context.num_replicas_in_sync, *rows.shape[1:]])


def own_rows(everyone: tf.Tensor, num: int) -> tf.Tensor:
  """Returns the `num` rows of this replica out of the rows [B, ...] of all."""
  place = _replica() * num
  return tf.ensure_shape(everyone[place:place + num], [num, *everyone.shape[1:]])


def offset(num: int) -> tf.Tensor:
  """Returns the first row of this replica in the global batch, for `num` rows a replica."""
  return _replica() * num


def order_of(step: tf.Tensor, size: int, seed: tuple[int, int]) -> tf.Tensor:
  """Returns a permutation of 0..size-1, int64 [size], a pure function of (seed, step)."""
  key = sampling.derive(sampling.root_seed(seed, 0), step)
  return sampling.permutation(key[None], size)[0]


def results_of_one(per_replica: Any, distribution: distribution_lib.Distribution) -> tf.Tensor:
  """Returns the result of one replica, for results that are equal on all."""
  return distribution.strategy.experimental_local_results(per_replica)[0]


def _replica() -> tf.Tensor:
  context = tf.distribute.get_replica_context()
  return tf.cast(context.replica_id_in_sync_group, tf.int32)


class Byol(Pretext):
  """The pretext.

  Args:
    dim, hidden: sizes of the embedding, and of the hidden layer of projector and predictor.
    momentum: tau of the target at first.
    updates: K, over which tau rises to 1 along a cosine; None: it stays.
  """

  num_views = 2

  def __init__(self, *, dim: int = 256, hidden: int = 4096, momentum: float = 0.996,
               updates: int | None = None):
    super().__init__()
    if not 0 <= momentum <= 1 or (updates is not None and updates < 1):
      raise ValueError(f"Byol was given momentum={momentum} and updates={updates}; the first is "
                       "between 0 and 1, the other at least 1, or None.")
    self._dim, self._hidden = dim, hidden
    self._momentum, self._num_updates = momentum, updates

  def build(self, make_backbone: Backbone, *, num_classes: int, batch_size: int,
            distribution: distribution_lib.Distribution, seeds: seeds_lib.Seeds) -> None:
    del num_classes, batch_size
    self._distribution = distribution

    def project(size: int) -> tf.keras.Model:
      return heads.normalized_mlp(size, hidden=self._hidden, size=self._dim, name="projector")

    def predict() -> tf.keras.Model:
      return heads.normalized_mlp(
          self._dim, hidden=self._hidden, size=self._dim, name="predictor")

    self.backbone, self.model = made(make_backbone, project, seeds)
    _, self.target = made(make_backbone, project, seeds)
    weights = initial.initial_weights(predict, seeds.integer("predictor"))
    self.predictor = predict()
    self.predictor.set_weights(weights)
    self.variables_to_train = [
        *self.model.trainable_variables, *self.predictor.trainable_variables]

  def start_from(self, weights: Sequence[np.ndarray]) -> None:
    super().start_from(weights)
    backbone_of(self.target).set_weights(weights)

  def losses(self, batch: Any, step: tf.Tensor) -> tuple[tf.Tensor, Any]:
    first, second = batch["view0"], batch["view1"]
    return self._one_way(first, second) + self._one_way(second, first), step

  def _one_way(self, images: tf.Tensor, others: tf.Tensor) -> tf.Tensor:
    predicted = normalized(
        self.predictor(self.model(images, training=True), training=True))
    wanted = normalized(tf.stop_gradient(self.target(others, training=True)))
    return 2.0 - 2.0 * tf.reduce_sum(predicted * wanted, axis=1)

  def tau(self, step: tf.Tensor) -> tf.Tensor:
    """Returns the momentum of the target after update `step`, from 0."""
    if self._num_updates is None:
      return tf.constant(self._momentum)
    done = tf.cast(step, tf.float32) / self._num_updates
    return 1.0 - (1.0 - self._momentum) * (tf.cos(math.pi * tf.minimum(done, 1.0)) + 1.0) / 2.0

  def after_update(self, result: Any) -> None:
    step = results_of_one(result, self._distribution)
    follow(self.target.trainable_variables, self.model.trainable_variables,
                       self.tau(step), self._distribution.strategy)

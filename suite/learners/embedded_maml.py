# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML++ high-end and SCA (Antoniou et al., 2020): an embedding, and a head that tasks adapt.

The embedding is meta-trained and no task changes it, so an image is embedded once; the inner loop
runs on its codes. Meta-gradients reach the embedding through the whole inner loop. With a critic
(SCA) the head also adapts to the unlabeled targets; such a learner is transductive.
"""

from __future__ import annotations

from typing import Any

import tensorflow as tf
from typing_extensions import override

from suite.compute import seeds as seeds_lib
from suite.compute import user_code
from suite.contracts import examples
from suite.models.episodic import embedding as embedding_lib
from suite.training.episodic import adapted_net
from suite.training.episodic import inner_loop
from suite.training.episodic import meta_schedules
from suite.training.episodic import self_critique
from suite.training.episodic import tuned_embedding


class EmbeddedMaml(adapted_net.AdaptingLearner):
  """An `EpisodicLearner`; W classes of the whole task, P x P x C codes, S support sets.

  Args:
    embedding: maps images to codes [B, P, P, C], see `suite.models.episodic.embedding`.
    head: the net that is adapted.
    inner: the inner loop that adapts it.
    transform: image preparation; its `size` is H = W.
    training: how all variables are meta-trained.
    channels: channels of the prepared images.
    critique: SCA's critic; None: no critic.
    joint_norms: whether meta-training embeds all images of a task as one batch, as CFSL's code
      does. False: each support set is a batch, and so are the targets; no batch uses the
      statistics of another.
  """

  def __init__(self, embedding: tuned_embedding.EpisodeEmbedding, head: inner_loop.Net, *,
               inner: inner_loop.InnerLoop, transform: examples.Transform,
               training: meta_schedules.MetaTraining, channels: int = 3,
               critique: self_critique.SelfCritique | None = None, joint_norms: bool = False):
    super().__init__(
        adapted_net.AdaptedNet(head, inner, training, owner="EmbeddedMaml"), transform, channels)
    self._embedding, self._critique, self._joint_norms = embedding, critique, joint_norms

  @override
  def _make(self, num_classes: int, seeds: seeds_lib.Seeds, shape: tuple[int, ...]) -> None:
    self._embedding.make(seeds.integer("initial weights"), shape)
    one = tf.TensorSpec([1, *shape])
    codes = user_code.compiled(self.encode).get_concrete_function(one).output_shapes[1:]
    self._adapted.make(seeds.integer("initial head"), codes, num_classes)
    if self._critique is not None:
      self._critique.make(seeds.integer("initial critic"), num_classes, self._adapted)

  @property
  @override
  def transductive(self) -> bool:
    """Whether targets are normalized by their own statistics, or judged together by a critic."""
    return self._critique is not None or self._adapted.inner.transductive

  @override
  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Returns codes [B, P, P, C] of images [B, H, W, channels], each independent of the others."""
    return self._embedding.encode(
        adapted_net.checked_channels(images, self._channels, "EmbeddedMaml"))

  @override
  def logits(self, state: inner_loop.State, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [T, W] of all targets' codes [T, P, P, C]."""
    if self._critique is None:
      return super().logits(state, codes)
    return self._critique.logits(self._critique.parameters(), self._adapted.parameters(), state,
                                 self._adapted.prepared(codes))[1]

  @override
  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, embedding_lib.Seen]:
    """Returns the targets' cross-entropy [] after the last support set, and norm statistics.

    With a critic it is a weighted sum with the cross-entropy before the critic's last step.

    Args:
      episode: S support sets, images [S, B, H, W, channels] and labels [S, B]; T targets, images
        [T, H, W, channels] and labels [T].
    """
    support_images, support_labels, images, labels = episode[:4]
    adapted, critique = self._adapted, self._critique
    training = adapted.trained()
    epoch = training.epoch(self.optimizer.iterations)
    support_codes, codes, seen = self._embedded(support_images, images)
    support_codes, codes = (adapted.prepared(part) for part in (support_codes, codes))

    def loss(values: tuple[Any, ...], second_order: bool, multi_step: bool) -> tf.Tensor:
      parameters, own, support_codes, codes = values
      states = adapted.inner.learn_all(adapted.net, parameters, support_codes, support_labels,
                                       second_order=second_order)
      if critique is None:
        return adapted.target_loss(parameters, states, codes, labels, epoch, multi_step=multi_step)
      before, after = critique.logits(own, parameters, states[-1], codes)
      first = (adapted.target_loss(parameters, states, codes, labels, epoch, multi_step=True)
               if multi_step else inner_loop.cross_entropy(labels, before))
      shares = critique.loss_weights(epoch)
      return shares[0] * first + shares[1] * inner_loop.cross_entropy(labels, after)

    own = () if critique is None else critique.parameters()
    values = (adapted.parameters(), own, support_codes, codes)
    return training.choose(epoch, values, loss), seen

  @override
  def zero_statistics(self) -> embedding_lib.Seen:
    """Returns zeros in the form of the statistics that `meta_loss` returns."""
    return self._embedding.zero_statistics()

  @override
  def update_statistics(self, seen: embedding_lib.Seen) -> None:
    """Moves the running statistics of the embedding's norms."""
    self._embedding.update_statistics(seen)

  def _embedded(self, support_images: tf.Tensor, images: tf.Tensor
                ) -> tuple[tf.Tensor, tf.Tensor, embedding_lib.Seen]:
    """Returns codes of support images [S, B, ...] and targets [T, ...], and norm statistics."""
    num_sets, size = support_images.shape[:2]
    adapted_net.checked_channels(images, self._channels, "EmbeddedMaml")
    if self._joint_norms:
      flat = tf.reshape(support_images, [num_sets * size, *support_images.shape[2:]])
      codes, seen = self._embedding.train(tf.concat([flat, images], axis=0))
      support, targets = tf.split(codes, [num_sets * size, images.shape[0]])
      return tf.reshape(support, [num_sets, size, *codes.shape[1:]]), targets, seen
    sets = [self._embedding.train(support_images[s]) for s in range(num_sets)]
    targets, seen = self._embedding.train(images)
    support_codes, every_seen = zip(*sets)
    return tf.stack(support_codes), targets, embedding_lib.add(*every_seen, seen)

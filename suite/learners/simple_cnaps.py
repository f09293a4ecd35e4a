# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Simple CNAPS (Bateni et al., 2020): a frozen backbone with FiLM layers, a Mahalanobis head.

The set encoder's mean over a support set is the embedding z of a task, from which the adaptation
network makes a scale and an offset for each channel of the backbone's norms (`film`). Features of
support and targets by the backbone with these FiLM layers are classified by squared Mahalanobis
distances to class means (section 4; `class_covariances`),

    Q_k = l_k S_k + (1 - l_k) S + b I      l_k = n_k / (n_k + 1)
    logit of class k for features f        -(f - m_k)^T Q_k^-1 (f - m_k) / 2

Meta-training changes the adaptation network and the set encoder alone.

CFSL shows a task in several support sets, each once. Other FiLM layers after each set would change
the features of earlier sets, whose means and covariances cannot be computed again. So the first
support set makes the FiLM layers of the task, which stay; the authors' code for continual learning
has this choice, too ("first-encoding"). With one support set this is the paper's method.

B images of H x W pixels, D features, F channels of all FiLM layers, S support sets, T targets, W
classes of the whole task, Z numbers in z. `meta_statistics` runs the learner on sequences.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import functools
from typing import NamedTuple

import tensorflow as tf
from typing_extensions import override

from suite.contracts import examples
from suite.contracts import tasks
from suite.models.episodic import embedding
from suite.models.episodic import film as film_lib
from suite.models.own import own_model
from suite.state import context as context_lib
from suite.training.episodic import base_episodes
from suite.training.episodic import meta_schedules
from suite.training.gradient import frozen_backbone
from suite.training.objectives import losses
from suite.training.statistics import class_covariances


class CnapsState(NamedTuple):
  """FiLM layers of the first support set, and statistics of the features of all sets so far."""

  film: film_lib.Film
  statistics: class_covariances.Scatters


class SimpleCnaps(base_episodes.FilmedNet):
  """An `EpisodicLearner`.

  Args:
    backbone: a Keras model of images to features [B, D] with batch norms, or a function that makes
      one of image_shape (H, W, C).
    set_encoder: makes z.
    adaptation: makes FiLM layers of z.
    transform: image preparation; its `size` is H = W.
    weights: an .npz of the backbone's weights, see `FrozenBackbone`; None: random ones, which are
      the same in every run.
    training: how set encoder and adaptation network are meta-trained; None: `MetaTraining()`.
    channels: C of the prepared images.
    ridge: the multiple of the identity in every covariance; the paper's 1.

  Attributes:
    optimizer: of the meta-training, so that a checkpoint of the learner holds its moments.
    num_features, num_channels: D and F, once begun.
    ridge: as given.
  """

  transductive = False

  def __init__(self, backbone: own_model.Given, *, set_encoder: film_lib.SetEncoder,
               adaptation: film_lib.AdaptationNet, transform: examples.Transform,
               weights: str | None = None, training: meta_schedules.Training | None = None,
               channels: int = 3, ridge: float = 1.0):
    super().__init__()
    self._head = class_covariances.ClassCovariances(ridge)
    self.transform, self._channels, self.ridge = transform, channels, ridge
    # Not an attribute itself: a model that is one would be trained and saved with the learner.
    self._make_backbone: Callable[..., frozen_backbone.FrozenBackbone] = functools.partial(
        frozen_backbone.FrozenBackbone, backbone, weights=weights, channels=channels)
    self._set_encoder, self._adaptation = set_encoder, adaptation
    self._training: meta_schedules.Training = training or meta_schedules.MetaTraining()
    self._filmed: film_lib.FilmedModel | None = None
    self._num_classes = 0

  @override
  def begin(self, task: tasks.Task, context: context_lib.Context) -> None:
    """Makes the backbone, all variables and the optimizer, once: all tasks share them."""
    if task.kind != tasks.SINGLE_LABEL:
      raise ValueError(
          f"Task {task.key!r} is {task.kind}; SimpleCnaps counts each image for one class, so it "
          f"takes {tasks.SINGLE_LABEL} tasks only. Leave the task out.")
    if self._filmed is not None:
      return
    seeds, size = context.seeds, self.transform.size
    self._num_classes = task.num_classes
    # Not in the scope: the backbone never changes, so replicas need no copies.
    self._filmed = film_lib.FilmedModel(
        self._make_backbone(size).model, owner="SimpleCnaps.backbone")
    self.num_features, self.num_channels = self._filmed.num_features, sum(self._filmed.sizes)
    with context.distribution.scope():
      self._set_encoder.make(seeds.integer("initial weights"), (size, size, self._channels))
      self._adaptation.make(
          seeds.integer("initial adaptation"), self._set_encoder.width, self._filmed.sizes)
      self.optimizer = self._training.optimizer()
      self.optimizer.build(self.trainable_variables)

  @property
  @override
  def unsaved_weights(self) -> Sequence[tf.Tensor]:
    """The weights of the backbone."""
    return [] if self._filmed is None else self._filmed.weights

  @override
  def embed(self, images: tf.Tensor) -> tf.Tensor:
    """Returns the set encoder's embeddings [B, Z] of images [B, H, W, C]; their mean is z."""
    self._model.check(images)
    return self._set_encoder.encode(images)

  @override
  def film(self, z: tf.Tensor) -> film_lib.Film:
    """Returns the FiLM layers [F] of a task with embedding z [Z]."""
    return self._adaptation(z)

  @override
  def features(self, images: tf.Tensor, film: film_lib.Film) -> tf.Tensor:
    """Returns features [B, D] of images [B, H, W, C] by the backbone with FiLM layers [F]."""
    return self._model.features(images, film)

  @override
  def initial_state(self, num_classes: int) -> CnapsState:
    """Returns FiLM layers that change nothing, and statistics of no sample."""
    return CnapsState(
        self._model.identity(), self._head.zero(num_classes, self.num_features))

  @override
  def adapt(self, state: CnapsState, codes: tf.Tensor, labels: tf.Tensor) -> CnapsState:
    """Returns the state after one more support set, images [B, H, W, C] and labels [B]."""
    is_first = tf.reduce_sum(state.statistics.counts) == 0.0
    own = self.film(tf.reduce_mean(self.embed(codes), axis=0))
    film = film_lib.Film(*(tf.where(is_first, new, old) for new, old in zip(own, state.film)))
    return CnapsState(
        film, self._head.add(state.statistics, self.features(codes, film), labels))

  @override
  def logits(self, state: CnapsState, codes: tf.Tensor) -> tf.Tensor:
    """Returns logits [T, W] of images [T, H, W, C]; `class_means.NOT_SHOWN` without a sample."""
    return self._head.answers(state.statistics, self.features(codes, state.film))

  @override
  def meta_loss(self, episode: tuple[tf.Tensor, ...]) -> tuple[tf.Tensor, embedding.Seen]:
    """Returns the loss [] of an episode, and statistics for the set encoder's norms.

    It is the targets' mean cross-entropy after all support sets, and the penalty of the adaptation
    network (`film`).

    Args:
      episode: support images [S, B, H, W, C] and labels [S, B]; target images [T, H, W, C] and
        labels [T].
    """
    support, support_labels, images, labels = episode[:4]
    num_sets, size = support.shape[:2]
    self._model.check(images)
    embedded, seen = self._set_encoder.train(support[0])
    film = self.film(tf.reduce_mean(embedded, axis=0))
    # The backbone's norms are fixed: images of one batch do not depend on each other.
    every = tf.concat([tf.reshape(support, [num_sets * size, *support.shape[2:]]), images], axis=0)
    features = self.features(every, film)
    statistics = self._head.add(
        self._head.zero(self._num_classes, self.num_features),
        features[:num_sets * size], tf.reshape(support_labels, [-1]))
    logits = self._head.answers(statistics, features[num_sets * size:])
    loss = tf.reduce_mean(losses.softmax_cross_entropy(labels, logits))
    return loss + self._adaptation.penalty(), seen

  @override
  def zero_statistics(self) -> embedding.Seen:
    """Returns zeros in the form of the statistics that `meta_loss` returns."""
    return self._set_encoder.zero_statistics()

  @override
  def update_statistics(self, seen: embedding.Seen) -> None:
    """Moves the running statistics of the set encoder's norms."""
    self._set_encoder.update_statistics(seen)

  @property
  def _model(self) -> film_lib.FilmedModel:
    if self._filmed is None:
      raise RuntimeError("SimpleCnaps has no network yet; call begin(task, context) first.")
    return self._filmed

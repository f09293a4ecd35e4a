# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The part of a network that is trained besides the head: nothing, its last layers, or all of it.

Each splits the way from an example to features in two. `encode` makes what no training changes, the
code, once an example. `upper`, a Keras model, makes features of the code:

                code                            upper
    HeadOnly    features [B, D]                 none: the code is the features
    LastLayers  what the trained layers take    the trained layers
    AllLayers   the example                     the whole network
    Drifting    the example                     the whole network, of which only norms move

A code is of the example as it is in evaluation; only `AllLayers` and `Drifting` can see an image in
another way each time that it is trained on.
"""

from __future__ import annotations

from typing import Callable, Protocol

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.models import cut_net
from suite.models.own import own_model
from suite.training.gradient import frozen_backbone

MakeBackbone = own_model.Given


class TrainablePart(Protocol):
  """A network without its head.

  Attributes:
    augments: whether codes are examples, which a transform can augment.
    is_identity: whether codes are the examples and features at once: a linear model.
  """

  augments: bool
  is_identity: bool

  def prepare(self, shape: tuple[int, ...]) -> None:
    """Makes what is frozen, for examples of this shape (S, S, 3) or (D,)."""

  def code_spec(self) -> tf.TensorSpec:
    """The shape and type of one code."""

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of examples [B, ...]."""

  def upper(self) -> tf.keras.Model | None:
    """A new model, codes [B, ...] to features [B, D]; None where codes are features."""

  def first_weights(self) -> list[np.ndarray] | None:
    """The weights `upper` begins with, in Keras order; None: random ones, or a file's."""

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    """All layers with weights; `model`: what `upper` made."""


class HeadOnly:
  """A frozen network, or none: a linear model.

  Args:
    features: images [B, H, W, 3] to features [B, D]; it never changes. None: pixels of images, and
      feature vectors unchanged.
  """

  augments = False

  def __init__(self, features: Callable[[tf.Tensor], tf.Tensor] | None = None):
    self._features = features
    self.is_identity = False

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """The network, if codes are its features."""
    return frozen_backbone.of_learner(self._features)

  def prepare(self, shape: tuple[int, ...]) -> None:
    self.is_identity = self._features is None and len(shape) == 1
    if self.is_identity:
      self._spec = tf.TensorSpec(shape, tf.float32)
      return
    if len(shape) == 1:
      raise ValueError(f"HeadOnly.features makes features of images, but the examples are features "
                       f"{shape}; leave features out.")
    if self._features is None:
      self._features = frozen_backbone.pixels
    code = self._features(tf.zeros([1, *shape], tf.uint8))
    self._spec = tf.TensorSpec(code.shape[1:], code.dtype)

  def code_spec(self) -> tf.TensorSpec:
    return self._spec

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return images if self._features is None else self._features(images)

  def upper(self) -> tf.keras.Model | None:
    return None

  def first_weights(self) -> list[np.ndarray] | None:
    return None

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    del model
    return [] if self._features is None else frozen_backbone.layers(self._features)


class LastLayers:
  """The last layers are trained, those below are frozen.

  Args:
    backbone: makes the network with its first weights; it is called once, for this object alone.
    num_layers: how many layers with a kernel are trained; see `cut_net.CutNet`. (The code of
      FLUID's authors counts tensors, those of the head first: its 3 is a `num_layers` of 1 here.)
    norms: "fixed", or "trained"; the authors' code lets statistics of all norms drift: `Drifting`.
  """

  augments = is_identity = False

  def __init__(self, backbone: Callable[[], frozen_backbone.FrozenBackbone], num_layers: int = 1,
               norms: str = "fixed"):
    self._make, self._num_layers, self._norms = backbone, num_layers, norms

  def prepare(self, shape: tuple[int, ...]) -> None:
    _check_images("LastLayers", shape)
    self._backbone = self._make()
    self._cut = cut_net.CutNet(self._backbone.model, self._num_layers, self._norms)
    code = self._cut.lower(tf.zeros([1, *shape], tf.uint8))
    self._spec = tf.TensorSpec(code.shape[1:], code.dtype)
    self._first = self.upper().get_weights()  # `upper` has the layers themselves.

  def code_spec(self) -> tf.TensorSpec:
    return self._spec

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return self._cut.lower(images)

  def upper(self) -> tf.keras.Model:
    codes = tf.keras.Input(self._spec.shape, dtype=self._spec.dtype)
    return tf.keras.Model(codes, self._cut.upper(codes, None))

  def first_weights(self) -> list[np.ndarray] | None:
    return self._first

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    del model
    return mac_views.model_layers(self._backbone.model, self._cut.trained)


class AllLayers:
  """All layers are trained, on examples with the learner's augmentation.

  Args:
    backbone: a Keras model to features [B, D], or a function that makes one of image_shape
      (S, S, 3), or feature_size D for feature sets; see `own_model`.
    weights: an encoder's directory, or an .npz of weights in Keras order, of the backbone or of its
      first layers; further arrays, those of a head, are left alone. None: random ones.
    norms: "trained" takes the statistics of the batch in training; "fixed" those it began with,
      and leaves scales and offsets alone.
  """

  augments, is_identity = True, False

  def __init__(self, backbone: MakeBackbone, weights: str | None = None, norms: str = "trained"):
    if norms not in cut_net.NORMS:
      raise ValueError(f"AllLayers.norms is {norms!r}; allowed are {', '.join(cut_net.NORMS)}.")
    self.backbone = own_model.as_backbone(backbone, "AllLayers.backbone")
    self._weights, self._norms = weights, norms

  def prepare(self, shape: tuple[int, ...]) -> None:
    self._shape = tuple(shape)
    self._spec = tf.TensorSpec(shape, tf.float32 if len(shape) == 1 else tf.uint8)

  def code_spec(self) -> tf.TensorSpec:
    return self._spec

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return images

  def upper(self) -> tf.keras.Model | None:
    if len(self._shape) == 1:
      model = self.backbone(feature_size=self._shape[0])
    else:
      model = self.backbone(image_shape=self._shape)
    if self._norms == "fixed":
      for layer in cut_net.flat_layers(model):
        layer.trainable = hasattr(layer, "kernel")
    return model

  def first_weights(self) -> list[np.ndarray] | None:
    if self._weights is None:
      return None
    return frozen_backbone.weights_in(self._weights)

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    assert model is not None
    try:
      return mac_views.model_layers(model)
    except (ValueError, KeyError):  # Layers without a rule, or of a subclassed model: as one.
      spec = tf.TensorSpec([1, *self._shape], model.inputs[0].dtype)
      found = flops.count(tf.function(
          lambda x: model(x, training=False), autograph=False).get_concrete_function(spec))
      if found.macs is None:
        raise
      return [mac_views.Layer(model.name, found.macs)]


class Drifting:
  """A network whose norms drift while the head is trained, as in the code of FLUID's authors.

  Their loop puts the whole model into training mode for each offline phase: norms take the
  statistics of the batch, and the running ones, by which samples are answered, follow the batches.
  Kernels, scales and offsets stay. So no features can be stored, and those of one image change from
  phase to phase. The paper calls this network frozen, and says the cost of one whose features are
  computed once; `macs_exact_uncached` and the ledger have the cost of what runs.

  Args:
    backbone: makes the network with its first weights; it is called once, for this object alone.
    num_layers: how many of the last layers with a kernel are trained, too.
  """

  augments, is_identity = True, False

  def __init__(self, backbone: Callable[[], frozen_backbone.FrozenBackbone], num_layers: int = 0):
    self._make, self._num_layers = backbone, num_layers

  def prepare(self, shape: tuple[int, ...]) -> None:
    _check_images("Drifting", shape)
    self._model = self._make().model
    every = cut_net.flat_layers(self._model)
    kernels = [layer for layer in every if hasattr(layer, "kernel")]
    if not 0 <= self._num_layers <= len(kernels):
      raise ValueError(f"Drifting.num_layers is {self._num_layers}; {self._model.name} has "
                       f"{len(kernels)} layers with a kernel, allowed are 0 to {len(kernels)}.")
    if not any(hasattr(layer, "moving_mean") for layer in every):
      raise ValueError(f"{self._model.name} has no norm with running statistics, so nothing of it "
                       "drifts. Take HeadOnly, or LastLayers.")
    self._trained = kernels[len(kernels) - self._num_layers:]
    for layer in every:  # A norm that is not trainable runs as in evaluation.
      layer.trainable = layer in self._trained or hasattr(layer, "moving_mean")
    self._spec = tf.TensorSpec(shape, tf.uint8)
    self._first = self._model.get_weights()

  def code_spec(self) -> tf.TensorSpec:
    return self._spec

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    return images

  def upper(self) -> tf.keras.Model:
    return self._model

  def first_weights(self) -> list[np.ndarray]:
    return self._first

  def trained_variables(self) -> list[tf.Variable]:
    """The variables of the network that gradients change."""
    return [v for layer in self._trained for v in layer.trainable_variables]

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    del model
    return mac_views.model_layers(self._model, [layer.name for layer in self._trained])


RULES = ("paper", "code")


def head_only(features: Callable[[tf.Tensor], tf.Tensor] | None = None, *, rules: str = "paper",
              backbone: Callable[[], frozen_backbone.FrozenBackbone] | None = None
              ) -> TrainablePart:
  """The net of a method that trains the head alone, by the rules of FLUID's paper or of its code.

  Args:
    features, backbone: see `HeadOnly` and `Drifting`.
    rules: "paper": `HeadOnly`; "code": `Drifting`, unless there is no network (features is None).
  """
  check_rules("head_only.rules", rules)
  if rules == "paper" or features is None:
    return HeadOnly(features)
  if backbone is None:
    raise ValueError("head_only.rules is 'code', whose norms drift, and there is no backbone; give "
                     "a function that makes a FrozenBackbone.")
  return Drifting(backbone)


def check_rules(name: str, rules: str) -> None:
  """Raises an error unless `rules` is one of `RULES`; `name` is for its message."""
  if rules not in RULES:
    raise ValueError(f"{name} is {rules!r}; allowed are {', '.join(RULES)}.")


def with_first(weights: list[np.ndarray], given: list[np.ndarray] | None, num_backbone: int
               ) -> list[np.ndarray]:
  """Weights of a model whose backbone's first ones are the given ones; others are left out.

  Args:
    weights: of the whole model, those of the backbone first. num_backbone: how many these are.
  """
  given = (given or [])[:num_backbone]
  if any(a.shape != b.shape for a, b in zip(given, weights)):
    raise ValueError(f"The weights given hold {len(given)} arrays of shapes "
                     f"{[a.shape for a in given[:3]]}...; the backbone's {num_backbone} begin "
                     f"{[b.shape for b in weights[:3]]}... Give weights of this very backbone.")
  return [*given, *weights[len(given):]]


def _check_images(name: str, shape: tuple[int, ...]) -> None:
  if len(shape) == 1:
    raise ValueError(f"{name} trains layers on images, but the examples are features {shape}; "
                     "take HeadOnly, or AllLayers with a backbone on features.")

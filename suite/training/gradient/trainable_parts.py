# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The part of a network that is trained besides the head: nothing, its last layers, or all of it.

Each splits the way from an example to features in two. `encode` makes what no training changes, the
code, once an example. `upper`, a Keras model, makes features of the code:

                code                            upper
    HeadOnly    features [B, D]                 none: the code is the features
    LastLayers  what the trained layers take    the trained layers
    AllLayers   the example                     the whole network
    Drifting    the example                     the whole network, of which only norms move
    HookedVit   the example                     a frozen transformer, and what is trained in it

A code is computed from the example as it is prepared for evaluation. Only `AllLayers`, `Drifting`
and `HookedVit` (`hooked_vit`) train on augmented images.

A network cut in two: the layers that training its last layers never changes, and the rest.

`lower` computes the code of an image, once; `upper` computes features from the code in every step.
The code consists of the tensors that pass from unchanged to changed layers: one tensor in a plain
net; two in a residual block of which only the last convolution is trained (its input and the
shortcut), concatenated to one vector. So the output of an unchanged layer is computed once.
"""

from __future__ import annotations

from collections.abc import Callable
import inspect
import math
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.compute import flops
from suite.compute import mac_views
from suite.models import keras3
from suite.models.own import own_model
from suite.training.gradient import frozen_backbone

MakeBackbone = own_model.Given
RULES = ("paper", "code")
NORMS = ("fixed", "trained")
_IMAGE = ""  # The name of the first layer's input.


class TrainablePart:
  """A network without its head.

  Attributes:
    augments: whether codes are examples, which a transform can augment.
    is_identity: whether codes are the examples and features at once: a linear model.
    exports: whether `upper` can be saved as a Keras model by itself.
    backbone_with_head: the backbone, if it keeps its own head, which is then trained, too.
  """

  augments = False
  is_identity = False
  exports = True
  backbone_with_head: own_model.Backbone | None = None

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """The network, if it is frozen and codes are its features; None otherwise."""
    return None

  def frozen_weights(self) -> list[tf.Variable]:
    """Weights of what is frozen, once prepared; others may be among them."""
    return []

  def prepare(self, shape: tuple[int, ...]) -> None:
    """Makes what is frozen, for examples of this shape (S, S, 3) or (D,)."""
    raise NotImplementedError

  def code_spec(self) -> tf.TensorSpec:
    """The shape and type of one code."""
    raise NotImplementedError

  def encode(self, images: tf.Tensor) -> tf.Tensor:
    """Codes [B, ...] of examples [B, ...]."""
    raise NotImplementedError

  def upper(self) -> tf.keras.Model | None:
    """A new model, codes [B, ...] to features [B, D]; None where codes are features."""
    raise NotImplementedError

  def first_weights(self) -> list[np.ndarray] | None:
    """The weights `upper` begins with, in Keras order; None: random ones, or a file's."""
    raise NotImplementedError

  def layers(self, model: tf.keras.Model | None) -> list[mac_views.Layer]:
    """All layers with weights; `model`: what `upper` made."""
    raise NotImplementedError


class HeadOnly(TrainablePart):
  """A frozen network, or none: a linear model.

  Args:
    features: images [B, H, W, 3] to features [B, D]; it never changes. None: pixels of images, and
      feature vectors unchanged.
  """

  def __init__(self, features: Callable[[tf.Tensor], tf.Tensor] | None = None):
    self._features = features
    self.is_identity = False

  @property
  def frozen_features(self) -> frozen_backbone.FrozenBackbone | None:
    """The network, if codes are its features."""
    return frozen_backbone.of_learner(self._features)

  def frozen_weights(self) -> list[tf.Variable]:
    return frozen_backbone.weights_of(self._features)

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


class LastLayers(TrainablePart):
  """The last layers are trained, those below are frozen.

  Args:
    backbone: makes the network with its first weights; it is called once, for this object alone.
    num_layers: how many layers with a kernel are trained; see `CutNet`. (The code of
      FLUID's authors counts tensors, those of the head first: its 3 is a `num_layers` of 1 here.)
    norms: "fixed", or "trained"; the authors' code lets statistics of all norms drift: `Drifting`.
  """

  def __init__(self, backbone: Callable[[], frozen_backbone.FrozenBackbone], num_layers: int = 1,
               norms: str = "fixed"):
    self._make, self._num_layers, self._norms = backbone, num_layers, norms

  def frozen_weights(self) -> list[tf.Variable]:
    return list(self._backbone.model.weights)

  def prepare(self, shape: tuple[int, ...]) -> None:
    check_images("LastLayers", shape)
    self._backbone = self._make()
    self._cut = CutNet(self._backbone.model, self._num_layers, self._norms)
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


class AllLayers(TrainablePart):
  """All layers are trained, on examples with the learner's augmentation.

  Args:
    backbone: a Keras model to features [B, D], or a function that makes one of image_shape
      (S, S, 3), or feature_size D for feature sets; see `own_model`.
    weights: an encoder's directory, or an .npz of weights in Keras order, of the backbone or of its
      first layers; further arrays, those of a head, are left alone. None: random ones.
    norms: "trained" takes the statistics of the batch in training; "fixed" those it began with,
      and leaves scales and offsets alone.
  """

  augments = True

  def __init__(self, backbone: MakeBackbone, weights: str | None = None, norms: str = "trained"):
    if norms not in NORMS:
      raise ValueError(f"AllLayers.norms is {norms!r}; allowed are {', '.join(NORMS)}.")
    self.backbone = own_model.as_backbone(backbone, "AllLayers.backbone")
    self.backbone_with_head = self.backbone if self.backbone.keeps_head else None
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
      for layer in flat_layers(model):
        if isinstance(layer, keras3.HeldModel):
          layer.train_kernels_only()
        else:
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


class Drifting(TrainablePart):
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

  augments = True

  def __init__(self, backbone: Callable[[], frozen_backbone.FrozenBackbone], num_layers: int = 0):
    self._make, self._num_layers = backbone, num_layers

  def prepare(self, shape: tuple[int, ...]) -> None:
    check_images("Drifting", shape)
    self._model = self._make().model
    every = flat_layers(self._model)
    _check_layers("Drifting", every)
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


def check_images(name: str, shape: tuple[int, ...]) -> None:
  """Refuses feature vectors, of a shape (D,), in the place of images."""
  if len(shape) == 1:
    raise ValueError(f"{name} trains layers on images, but the examples are features {shape}; "
                     "take HeadOnly, or AllLayers with a backbone on features.")


def _check_layers(name: str, layers: list[Any]) -> None:
  held = [layer.inner.name for layer in layers if isinstance(layer, keras3.HeldModel)]
  if held:
    raise ValueError(f"{name} trains single layers of a tf.keras net; {held[0]!r} is a Keras 3 "
                     "model, which is one piece here. Take AllLayers or HeadOnly, or set "
                     "`trainable` of its layers and take AllLayers.")


class LayerInputs(NamedTuple):
  """A layer and the names of the layers whose outputs it takes."""

  layer: Any
  inputs: tuple[str, ...]


class CutNet:
  """The two parts of a functional Keras model; they share its layers and set their `trainable`.

  Args:
    model: images [B, H, W, C] -> features [B, D]; nested models are flattened.
    num_layers: number of layers with a kernel (convolutions or dense layers) that are trained: the
      last ones in the order of the model's layers.
    norms: "fixed" runs every normalization as in evaluation. "trained" trains those above the
      lowest trained layer, with the statistics of the batch.

  Attributes:
    trained: names of the trained layers.
  """

  def __init__(self, model: tf.keras.Model, num_layers: int, norms: str = "fixed"):
    if norms not in NORMS:
      raise ValueError(f"norms is {norms!r}; allowed are {', '.join(NORMS)}.")
    found: list[LayerInputs] = []
    self._output = _walk(model, _IMAGE, found)
    _check_layers("LastLayers", [step.layer for step in found])
    kernels = [s.layer.name for s in found if hasattr(s.layer, "kernel")]
    if not 1 <= num_layers <= len(kernels):
      raise ValueError(f"num_layers is {num_layers}; {model.name} has {len(kernels)} layers with a "
                       f"kernel, allowed are 1 to {len(kernels)}. For the head alone leave the "
                       "network frozen.")
    self.trained = frozenset(kernels[-num_layers:])
    moved: set[str] = set()  # Names of the layers whose outputs training changes.
    for step in found:
      if step.layer.name in self.trained or moved.intersection(step.inputs):
        moved.add(step.layer.name)
    if norms == "trained":
      self.trained |= {s.layer.name for s in found if s.layer.name in moved
                       and s.layer.trainable_weights + s.layer.non_trainable_weights}
    for step in found:
      step.layer.trainable = step.layer.name in self.trained
    self._lower = [s for s in found if s.layer.name not in moved]
    self._upper = [s for s in found if s.layer.name in moved]
    crossing = {name for s in self._upper for name in s.inputs} - moved
    if _IMAGE in crossing:
      raise ValueError(f"num_layers is {num_layers}; the layers of {model.name} that this trains "
                       "begin with the one that takes images, so that no part stays as it is. "
                       "Train fewer of its layers, or all: take AllLayers.")
    self._crossing = [s.layer for s in self._lower if s.layer.name in crossing]

  @property
  def layers(self) -> list[Any]:
    """The trained layers."""
    return [s.layer for s in self._upper if s.layer.name in self.trained]

  def lower(self, images: tf.Tensor) -> tf.Tensor:
    """Codes of images [B, H, W, C]: float32 [B, ...], or [B, N] if there are several tensors."""
    values = _run(self._lower, {_IMAGE: tf.cast(images, tf.float32)}, training=False)
    # In float32, which files hold: the next layers round them again to what they take.
    parts = [tf.cast(values[layer.name], tf.float32) for layer in self._crossing]
    if len(parts) == 1:
      return parts[0]
    return tf.concat([tf.reshape(p, [-1, math.prod(p.shape[1:])]) for p in parts], axis=1)

  def upper(self, codes: tf.Tensor, training: bool | None) -> tf.Tensor:
    """Features [B, D] of codes; training None: as a model that contains the layers is called."""
    if len(self._crossing) == 1:
      inputs = {self._crossing[0].name: codes}
    else:
      shapes = [layer.output_shape[1:] for layer in self._crossing]
      parts = tf.split(codes, [math.prod(shape) for shape in shapes], axis=1)
      inputs = {layer.name: tf.reshape(part, [-1, *shape])
                for layer, part, shape in zip(self._crossing, parts, shapes)}
    return _run(self._upper, inputs, training=training)[self._output]


def flat_layers(model: tf.keras.Model) -> list[Any]:
  """Lists the layers of a functional model and of its nested models, without inputs."""
  found: list[LayerInputs] = []
  _walk(model, _IMAGE, found)
  return [step.layer for step in found]


def _walk(model: tf.keras.Model, arriving: str, found: list[LayerInputs]) -> str:
  """Appends the steps of a model that takes the output of `arriving`; returns the last's name."""
  names: dict[str, str] = {}
  for layer in model.layers:
    parents = [parent.layer.name for node in layer.inbound_nodes for parent in node.parent_nodes]
    below = tuple(names[p] for p in parents if p in names)
    if isinstance(layer, tf.keras.layers.InputLayer):
      names[layer.name] = arriving
    elif hasattr(layer, "layers"):
      names[layer.name] = _walk(layer, below[0], found)
    else:
      found.append(LayerInputs(layer, below))
      names[layer.name] = layer.name
  return names[model.output_names[0]]


def _run(steps: list[LayerInputs], values: dict[str, tf.Tensor], training: bool | None
         ) -> dict[str, tf.Tensor]:
  """Adds the outputs of the steps to `values`, by layer name."""
  for layer, inputs in steps:
    arguments = [values[name] for name in inputs]
    settings = (
      {"training": training} if ("training" in inspect.signature(layer.call).parameters) else {}
    )
    values[layer.name] = layer(arguments if len(arguments) > 1 else arguments[0], **settings)
  return values

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A network cut in two: the layers that training its last layers never changes, and the rest.

`lower` computes the code of an image, once; `upper` computes features from the code in every step.
The code consists of the tensors that pass from unchanged to changed layers: one tensor in a plain
net; two in a residual block of which only the last convolution is trained (its input and the
shortcut), concatenated to one vector. So the output of an unchanged layer is computed once.
"""

from __future__ import annotations

import inspect
import math
from typing import Any, NamedTuple

import tensorflow as tf

NORMS = ("fixed", "trained")
_IMAGE = ""  # The name of the first layer's input.


class Step(NamedTuple):
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
    found: list[Step] = []
    self._output = _walk(model, _IMAGE, found)
    kernels = [s.layer.name for s in found if hasattr(s.layer, "kernel")]
    if not 1 <= num_layers <= len(kernels):
      raise ValueError(f"num_layers is {num_layers}; {model.name} has {len(kernels)} layers with a "
                       f"kernel, allowed are 1 to {len(kernels)}. For the head alone leave the "
                       "network frozen.")
    moved = _moved(found, frozenset(kernels[-num_layers:]))
    self.trained = frozenset(kernels[-num_layers:])
    if norms == "trained":
      self.trained |= {s.layer.name for s in found if s.layer.name in moved
                       and s.layer.trainable_weights + s.layer.non_trainable_weights}
    for step in found:
      step.layer.trainable = step.layer.name in self.trained
    self._lower = [s for s in found if s.layer.name not in moved]
    self._upper = [s for s in found if s.layer.name in moved]
    crossing = {name for s in self._upper for name in s.inputs} - moved
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
    return _run(self._upper, self._parts(codes), training=training)[self._output]

  def _parts(self, codes: tf.Tensor) -> dict[str, tf.Tensor]:
    if len(self._crossing) == 1:
      return {self._crossing[0].name: codes}
    shapes = [layer.output_shape[1:] for layer in self._crossing]
    parts = tf.split(codes, [math.prod(shape) for shape in shapes], axis=1)
    return {layer.name: tf.reshape(part, [-1, *shape])
            for layer, part, shape in zip(self._crossing, parts, shapes)}


def flat_layers(model: tf.keras.Model) -> list[Any]:
  """Lists the layers of a functional model and of its nested models, without inputs."""
  found: list[Step] = []
  _walk(model, _IMAGE, found)
  return [step.layer for step in found]


def _walk(model: tf.keras.Model, arriving: str, found: list[Step]) -> str:
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
      found.append(Step(layer, below))
      names[layer.name] = layer.name
  return names[model.output_names[0]]


def _moved(steps: list[Step], trained: frozenset[str]) -> frozenset[str]:
  """Names of the layers whose outputs training changes."""
  moved: frozenset[str] = frozenset()
  for step in steps:
    if step.layer.name in trained or moved.intersection(step.inputs):
      moved |= {step.layer.name}
  return moved


def _run(steps: list[Step], values: dict[str, tf.Tensor], training: bool | None
         ) -> dict[str, tf.Tensor]:
  """Adds the outputs of the steps to `values`, by layer name."""
  for layer, inputs in steps:
    arguments = [values[name] for name in inputs]
    settings = {"training": training} if _has_modes(layer) else {}
    values[layer.name] = layer(arguments if len(arguments) > 1 else arguments[0], **settings)
  return values


def _has_modes(layer: Any) -> bool:
  return "training" in inspect.signature(layer.call).parameters

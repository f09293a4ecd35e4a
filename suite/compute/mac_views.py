# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Multiply-adds (MACs) of training on a sequence, by three conventions ("views").

Let g be the MACs of one image through the backbone, n the number of answered samples, and P the
number of images in all passes of all updates:

    exact      the weight gradient of a trained layer costs as much as its forward pass; so does the
               gradient of a layer's input, which is needed only if a layer below it is trained.
               The head counts.
    paper_1x   n g + P g, and P g more for the backward pass if the whole backbone is trained. This
               gives FLUID's figures for ResNet-18. The head is not counted.
    paper_2x   the same with a backward pass of 2 P g: FLUID's figures for ResNet-50.

Each is given twice. "cached": activations that no update changes are computed once per image, when
it is answered, and stored; this rules out augmentation in updates. "uncached": every pass runs
through all layers.

FLUID's paper (Wallingford et al., 2020) gives no formula: these were derived from its numbers. A
net of which only some layers are trained counts there as a frozen one.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
import dataclasses
import math
from typing import Any

import tensorflow as tf

from suite.compute import flops


@dataclasses.dataclass(frozen=True)
class Layer:
  """A layer with weights.

  Attributes:
    name: unique among the layers.
    macs: MACs of the forward pass of one image; 0 for a layer that only scales and shifts.
    trained: whether updates change the layer.
    inputs: names of the layers whose outputs it takes; None: the layer listed before it.
    moves: whether updates change its output without a gradient of weights, as a memory's keys do.
  """

  name: str
  macs: int
  trained: bool = True
  inputs: tuple[str, ...] | None = None
  moves: bool = False


@dataclasses.dataclass(frozen=True)
class ImageMacs:
  """MACs of one image.

  Attributes:
    forward: through all layers.
    fixed: the part of `forward` that no update changes.
    weights: gradients of weights.
    inputs: gradients of inputs.
  """

  forward: int
  fixed: int
  weights: int
  inputs: int

  @property
  def cached_pass(self) -> int:
    """MACs of a training pass over stored features."""
    return self.uncached_pass - self.fixed

  @property
  def cached_forward(self) -> int:
    """MACs of a forward pass over stored features."""
    return self.forward - self.fixed

  @property
  def uncached_pass(self) -> int:
    """MACs of a training pass over images."""
    return self.forward + self.weights + self.inputs


def costs(layers: Sequence[Layer]) -> ImageMacs:
  """Sums the MACs of layers that are listed from the image to the output."""
  moved: dict[str, bool] = {}  # Whether updates change the output of a layer.
  forward, fixed, weights, inputs = 0, 0, 0, 0
  for number, layer in enumerate(layers):
    if layer.name in moved:
      raise ValueError(f"Two layers are called {layer.name!r}; give each layer a unique name.")
    below = layer.inputs
    if below is None:
      below = (layers[number - 1].name,) if number else ()
    unknown = [name for name in below if name not in moved]
    if unknown:
      raise ValueError(f"Layer {layer.name!r} has the input {unknown[0]!r}, which is not listed "
                       "before it. List layers from the image to the output.")
    input_moves = any(moved[name] for name in below)
    moved[layer.name] = layer.trained or layer.moves or input_moves
    forward += layer.macs
    fixed += 0 if moved[layer.name] else layer.macs
    weights += layer.macs if layer.trained else 0
    inputs += layer.macs if input_moves else 0
  return ImageMacs(forward, fixed, weights, inputs)


def passes(num_samples: int, interval: int, epochs: int) -> int:
  """P for updates after every `interval` samples, each of `epochs` over all samples so far."""
  updates = num_samples // interval
  return passes_over([interval * u for u in range(1, updates + 1)], epochs)


def passes_over(stored: Iterable[int], epochs: int) -> int:
  """P for updates of `epochs` over `stored[i]` samples each."""
  return epochs * sum(stored)


def views(backbone: Sequence[Layer], head: Sequence[Layer] = (), *, num_samples: int,
          num_passes: int, teacher_passes: int = 0) -> dict[str, int]:
  """Computes the MACs of a run: "macs_<view>_cached" and "macs_<view>_uncached" for every view.

  Args:
    backbone: layers of the backbone.
    head: layers on top of the last one of the backbone.
    num_samples: n, each answered once.
    num_passes: P.
    teacher_passes: number of further forward passes of an image through backbone and head without
      gradients, such as those of LwF's teacher or for the logits that DER stores. Cached, they
      begin above the layers that no update changes. (A teacher is fixed, but its logits cannot be
      stored: augmentation changes the image each time.)
  """
  both = costs([*backbone, *head])
  frozen = costs(backbone)
  answers = num_samples * both.forward
  found = {
      "macs_exact_cached": (
          answers + num_passes * both.cached_pass + teacher_passes * both.cached_forward),
      "macs_exact_uncached": (
          answers + num_passes * both.uncached_pass + teacher_passes * both.forward)}
  all_trained = all(layer.trained for layer in backbone if layer.macs)
  for factor in (1, 2):
    answers = num_samples * frozen.forward
    each = (1 + factor if all_trained else 1) * frozen.forward
    updates = num_passes * each + teacher_passes * frozen.forward
    # The second figure of the paper for frozen backbones counts the answers alone.
    found[f"macs_paper_{factor}x_cached"] = answers + (updates if all_trained else 0)
    found[f"macs_paper_{factor}x_uncached"] = answers + updates
  return found


def model_layers(model: Any, trained: Iterable[str] | None = None) -> list[Layer]:
  """Lists the layers with weights of a functional Keras model.

  Convolutions and dense layers have MACs.

  Args:
    model: built for images of one size.
    trained: names of trained layers; None: those with `trainable` set and trainable weights.
  """
  found: list[Layer] = []
  _walk(model, frozenset(), found)
  if trained is None:
    return found
  chosen = set(trained)
  unknown = sorted(chosen - {layer.name for layer in found})
  if unknown:
    raise ValueError(f"{model.name} has no layer {unknown[0]!r} with weights; allowed are "
                     f"{', '.join(layer.name for layer in found)}.")
  return [dataclasses.replace(layer, trained=layer.name in chosen) for layer in found]


def _walk(model: Any, arriving: frozenset[str], found: list[Layer]) -> frozenset[str]:
  """Appends the layers of a model and of its nested models; returns those its output comes from.

  arriving: the layers with weights that the model's input comes from.
  """
  sources: dict[str, frozenset[str]] = {}
  for layer in model.layers:
    parents = [parent.layer.name for node in layer.inbound_nodes for parent in node.parent_nodes]
    below = frozenset(name for p in parents if p in sources for name in sources[p])
    if hasattr(layer, "parts"):  # A whole model of Keras 3, see `suite.models.keras3`.
      sources[layer.name] = _walk_parts(layer, below, found)
    elif hasattr(layer, "layers"):
      sources[layer.name] = _walk(layer, below, found)
    elif layer.weights:
      kernel, macs = getattr(layer, "kernel", None), 0  # MACs of the forward pass of one image.
      heavy = [w.name for w in layer.weights if len(w.shape) > 1]
      if kernel is not None:  # [.., C / groups, F]; each output sums the products of one filter.
        macs = math.prod(kernel.shape[:-1]) * math.prod(layer.output_shape[1:])
      elif heavy:
        raise ValueError(f"No rule for the MACs of {type(layer).__name__} {layer.name!r}, whose "
                         f"weights are {', '.join(heavy)}. Allowed are convolutions and dense "
                         "layers; give its cost as a Layer.")
      is_trained = bool(layer.trainable and layer.trainable_weights)
      found.append(Layer(layer.name, macs, is_trained, tuple(sorted(below))))
      sources[layer.name] = frozenset([layer.name])
    else:
      sources[layer.name] = below if parents else arriving
  return sources[model.output_names[0]]


def _walk_parts(held: Any, below: frozenset[str], found: list[Layer]) -> frozenset[str]:
  """Appends the layers of a Keras 3 model as a chain; as one layer where shapes are not known."""
  parts = held.parts()
  if parts is None:
    spec = tf.TensorSpec([1, *held.input_shape[1:]], held.input.dtype)
    macs = flops.count(tf.function(
        lambda x: held(x, training=False), autograph=False).get_concrete_function(spec)).macs
    if macs is None:
      raise ValueError(f"The MACs of the Keras 3 model {held.name!r} cannot be counted. Give a "
                       "Sequential or functional model.")
    found.append(Layer(held.name, macs, bool(held.trainable_weights), tuple(sorted(below))))
    return frozenset([held.name])
  for part in parts:
    macs = math.prod(part.kernel[:-1]) * math.prod(part.output) if part.kernel else 0
    found.append(Layer(part.name, macs, part.trained, tuple(sorted(below))))
    below = frozenset([part.name])
  return below

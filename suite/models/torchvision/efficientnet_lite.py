# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""EfficientNet-Lite 0 to 4 (TensorFlow, 2020), and its weights in PyTorch's names.

EfficientNets (Tan & Le, 2019) without squeeze-and-excitation, with ReLU6 for Swish, and with a
stem, a head, and first and last stages that do not grow with the net. Convolutions pad as
TensorFlow's "same", also in PyTorch's checkpoints, which were converted from TensorFlow.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import math
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.models import image_input
from suite.models import norms
from suite.models import precision
from suite.models.torchvision import torch_weights

EPSILON = 1e-3  # Of batch norm.
LAYOUT = "efficientnet_lite_pytorch"
STEM, HEAD = "_conv_stem.weight", "_conv_head.weight"


class Stage(NamedTuple):
  """Blocks with depthwise kernels of `kernel` pixels; the first one strides."""

  blocks: int
  kernel: int
  strides: int
  expansion: int
  channels: int


class Architecture(NamedTuple):
  """An architecture; `image_size` is the side that it was trained with, `head` its features, D."""

  stages: tuple[Stage, ...]
  image_size: int
  stem: int = 32
  head: int = 1280


class Block(NamedTuple):
  """An inverted bottleneck, of which `Stage` tells."""

  inputs: int
  inner: int
  outputs: int
  kernel: int
  strides: int


_BASE = (Stage(1, 3, 1, 1, 16), Stage(2, 3, 2, 6, 24), Stage(2, 5, 2, 6, 40), Stage(3, 3, 2, 6, 80),
         Stage(3, 5, 1, 6, 112), Stage(4, 5, 2, 6, 192), Stage(1, 3, 1, 6, 320))


def _scaled(width: float, depth: float, image_size: int) -> Architecture:
  """The base net with more channels and blocks; channels are multiples of 8, at least 90%."""
  stages = []
  for i, stage in enumerate(_BASE):
    channels = max(8, int(stage.channels * width + 4) // 8 * 8)
    channels += 8 if channels < 0.9 * stage.channels * width else 0
    grows = 0 < i < len(_BASE) - 1
    blocks = math.ceil(stage.blocks * depth) if grows else stage.blocks
    stages.append(stage._replace(blocks=blocks, channels=channels))
  return Architecture(tuple(stages), image_size)


KNOWN = {
    "efficientnet_lite0": _scaled(1.0, 1.0, 224), "efficientnet_lite1": _scaled(1.0, 1.1, 240),
    "efficientnet_lite2": _scaled(1.1, 1.2, 260), "efficientnet_lite3": _scaled(1.2, 1.4, 280),
    "efficientnet_lite4": _scaled(1.4, 1.8, 300)}


def known(image_shape: tuple[int, int, int] = (224, 224, 3), *, name: str = "efficientnet_lite0"
          ) -> tf.keras.Model:
  """Builds one of `KNOWN`: pixels 0..255 [B, H, W, 3] -> features [B, 1280]."""
  return efficientnet_lite(image_shape, check_name(name), name)


def efficientnet_lite(image_shape: tuple[int, int, int], net: Architecture, name: str
                      ) -> tf.keras.Model:
  """Builds a net: pixels 0..255 [B, H, W, 3] -> features [B, D], the mean of the last map."""
  inputs, x = image_input.image_input(image_shape, "lite")
  x = _unit(x, "stem", net.stem, 3, 2)
  for i, block in enumerate(blocks(net)):
    before, name_ = x, f"block{i}"
    if block.inner != block.inputs:
      x = _unit(x, f"{name_}_expand", block.inner, 1)
    x = _unit(x, f"{name_}_depthwise", None, block.kernel, block.strides)
    x = _unit(x, f"{name_}_project", block.outputs, 1, relu=False)
    if block.strides == 1 and block.inputs == block.outputs:
      x = tf.keras.layers.Add(name=f"{name_}_add")([before, x])
  x = _unit(x, "head", net.head, 1)
  x = tf.keras.layers.GlobalAveragePooling2D(name="pool", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)


def blocks(net: Architecture) -> Iterator[Block]:
  """All blocks of all stages."""
  inputs = net.stem
  for stage in net.stages:
    for i in range(stage.blocks):
      yield Block(inputs, inputs * stage.expansion, stage.channels, stage.kernel,
                  stage.strides if i == 0 else 1)
      inputs = stage.channels


def _unit(x: tf.Tensor, name: str, filters: int | None, kernel: int, strides: int = 1, *,
          relu: bool = True) -> tf.Tensor:
  """Convolution, depthwise if `filters` is None, batch norm, ReLU6."""
  settings = {"strides": strides, "padding": "same", "use_bias": False, "name": f"{name}_conv",
              "dtype": precision.of_products()}
  if filters is None:
    x = tf.keras.layers.DepthwiseConv2D(kernel, **settings)(x)
  else:
    x = tf.keras.layers.Conv2D(filters, kernel, **settings)(x)
  x = norms.apply(x, "batch", f"{name}_norm", epsilon=EPSILON)
  return tf.keras.layers.ReLU(6.0, name=f"{name}_relu")(x) if relu else x


def check_name(name: str) -> Architecture:
  """The architecture of a name."""
  if name not in KNOWN:
    raise ValueError(f"Unknown net {name!r}; allowed are {', '.join(KNOWN)}.")
  return KNOWN[name]


def table(net: Architecture) -> list[torch_weights.TorchWeight]:
  """Lists all weights of an architecture."""
  found = list(_unit_names("stem", "_conv_stem", "_bn0", (net.stem, 3, 3, 3)))
  for i, block in enumerate(blocks(net)):
    layer, name, inner = f"block{i}", f"_blocks.{i}", block.inner
    if inner != block.inputs:
      found += _unit_names(f"{layer}_expand", f"{name}._expand_conv", f"{name}._bn0",
                           (inner, block.inputs, 1, 1))
    found += _unit_names(f"{layer}_depthwise", f"{name}._depthwise_conv", f"{name}._bn1",
                         (inner, 1, block.kernel, block.kernel), torch_weights.DEPTHWISE)
    found += _unit_names(f"{layer}_project", f"{name}._project_conv", f"{name}._bn2",
                         (block.outputs, inner, 1, 1))
  last = net.stages[-1].channels
  return [*found, *_unit_names("head", "_conv_head", "_bn1", (net.head, last, 1, 1))]


def _unit_names(layer: str, conv: str, norm: str, shape: tuple[int, ...],
                order: tuple[int, ...] = torch_weights.CONV
                ) -> Iterator[torch_weights.TorchWeight]:
  yield torch_weights.TorchWeight(f"{layer}_conv", 0, f"{conv}.weight", shape, order)
  yield from torch_weights.norm(f"{layer}_norm", norm, shape[0])


def read(arrays: Mapping[str, np.ndarray], where: str, expected: str | None = None
         ) -> torch_weights.Checkpoint:
  """Reads a checkpoint; shapes do not tell strides, so it must be one of `KNOWN`.

  Args:
    arrays: by name, as `torch_weights.arrays_in` returns them.
    where: the file, for messages.
    expected: name of the net that it must be; None: the one whose shapes it has.

  Raises:
    ValueError: it is another net's; the message names the differences.
  """
  heads = {key: value for key, value in arrays.items() if key.split(".")[0] == "_fc"}
  body = {key: value for key, value in arrays.items() if key not in heads}
  shapes = {key: value.shape for key, value in body.items()}
  tables = {name: table(check_name(name)) for name in ([expected] if expected else KNOWN)}
  wrong = {name: torch_weights.differences(rows, shapes) for name, rows in tables.items()}
  name = next((name for name in wrong if not wrong[name]), None)
  if name is None:
    # Of several, the net that it resembles most.
    name = min(tables, key=lambda name: len(
        {(one.name, one.shape) for one in tables[name]} ^ set(shapes.items())))
    raise ValueError(f"{where} is not a checkpoint of {name} {wrong[name]}. Give the checkpoint of "
                     f"an EfficientNet-Lite; known are {', '.join(KNOWN)}.")
  return torch_weights.Checkpoint(
      LAYOUT, name, KNOWN[name], tables[name], body,
      torch_weights.classifier(heads, "_fc", KNOWN[name].head, where))


def build(found: torch_weights.Checkpoint, image_size: int | None) -> tf.keras.Model:
  """Builds the net of a checkpoint, without its weights; images have its own side by default."""
  side = image_size or found.net.image_size
  return efficientnet_lite((side, side, 3), found.net, found.name)

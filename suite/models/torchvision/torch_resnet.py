# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""ResNets as torchvision has them, so that its checkpoints give the same features here.

They differ from `suite.models.resnet` in three ways: convolutions of stride 2 pad both sides alike,
where Keras's "same" pads below and on the right only; pixels are scaled by ImageNet's means and
deviations; and the deep nets have bottlenecks that stride in the 3x3 convolution (version 1.5).

Weights of a ResNet in PyTorch's names, as the weights of `torch_resnet` in Keras order.

Two layouts are read: a state dict of torchvision (`fc` is its classifier), and a checkpoint of
MoCo, whose query encoder is `module.encoder_q` and whose `fc` projects for the contrastive loss, so
that it is no classifier. A state dict may stand within a checkpoint, under `state_dict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import tensorflow as tf

from suite.models import image_input
from suite.models import norms
from suite.models import precision
from suite.models.torchvision import torch_weights

STEM_CHANNELS = 64
EXPANSION = 4  # Channels of a bottleneck's output, over those within.
ImageShape = tuple[int, int, int]
TORCHVISION, MOCO = "torchvision", "moco"
_QUERY = "encoder_q."
_SHOWN = 5  # Names in a message.


class Architecture(NamedTuple):
  """An architecture.

  Attributes:
    blocks: number of residual blocks of each stage.
    bottleneck: whether a block is 1x1, 3x3, 1x1, instead of 3x3, 3x3.
    channels: of the stem; those of a stage, within its blocks, are doubled from stage to stage.
  """

  blocks: tuple[int, ...]
  bottleneck: bool
  channels: int = STEM_CHANNELS

  @property
  def num_features(self) -> int:
    """D."""
    return self.channels * 2 ** (len(self.blocks) - 1) * (EXPANSION if self.bottleneck else 1)


KNOWN = {
    "resnet18": Architecture((2, 2, 2, 2), False), "resnet34": Architecture((3, 4, 6, 3), False),
    "resnet50": Architecture((3, 4, 6, 3), True), "resnet101": Architecture((3, 4, 23, 3), True),
    "resnet152": Architecture((3, 8, 36, 3), True)}


def resnet18(image_shape: ImageShape = (224, 224, 3)) -> tf.keras.Model:
  """Builds ResNet-18: pixels 0..255 [B, H, W, 3] -> features [B, 512]."""
  return resnet(image_shape, KNOWN["resnet18"], "resnet18")


def resnet50(image_shape: ImageShape = (224, 224, 3)) -> tf.keras.Model:
  """Builds ResNet-50 (version 1.5): pixels 0..255 [B, H, W, 3] -> features [B, 2048]."""
  return resnet(image_shape, KNOWN["resnet50"], "resnet50")


def known(image_shape: ImageShape = (224, 224, 3), *, name: str = "resnet18") -> tf.keras.Model:
  """Builds one of `KNOWN`: pixels 0..255 [B, H, W, 3] -> features [B, D]."""
  return resnet(image_shape, check_name(name), name)


def resnet(image_shape: ImageShape, net: Architecture, name: str = "resnet") -> tf.keras.Model:
  """Builds a ResNet: pixels 0..255 [B, H, W, 3] -> features [B, D]."""
  inputs, x = image_input.image_input(image_shape, "imagenet")
  x = _unit(x, net.channels, 7, strides=2, name="stem")
  # Zeros instead of -inf: nothing is below zero after the ReLU.
  x = tf.keras.layers.ZeroPadding2D(1, name="stem_pool_pad")(x)
  x = tf.keras.layers.MaxPooling2D(3, strides=2, name="stem_pool")(x)
  for stage, count in enumerate(net.blocks):
    for block in range(count):
      x = _block(x, net.channels * 2 ** stage, net.bottleneck, is_first=block == 0,
                 strides=2 if stage and not block else 1, name=f"stage{stage + 1}_block{block}")
  x = tf.keras.layers.GlobalAveragePooling2D(name="pool", dtype=precision.FLOAT32)(x)
  return tf.keras.Model(inputs, x, name=name)


def has_shortcut(net: Architecture, stage: int, block: int) -> bool:
  """Whether the shortcut of a block is a convolution: sizes or channels differ."""
  return block == 0 and (stage > 0 or net.bottleneck)


def _block(x: tf.Tensor, inner: int, bottleneck: bool, *, is_first: bool, strides: int, name: str
           ) -> tf.Tensor:
  """Applies a residual block: [B, H, W, C] -> [B, H/strides, W/strides, outer]."""
  outer = inner * (EXPANSION if bottleneck else 1)
  shortcut = x
  if is_first and (strides > 1 or x.shape[-1] != outer):
    shortcut = _unit(x, outer, 1, strides=strides, relu=False, name=f"{name}_shortcut")
  if bottleneck:
    x = _unit(x, inner, 1, name=f"{name}_1")
    x = _unit(x, inner, 3, strides=strides, name=f"{name}_2")
    x = _unit(x, outer, 1, relu=False, name=f"{name}_3")
  else:
    x = _unit(x, inner, 3, strides=strides, name=f"{name}_1")
    x = _unit(x, outer, 3, relu=False, name=f"{name}_2")
  x = tf.keras.layers.Add(name=f"{name}_add")([shortcut, x])
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x)


def _unit(x: tf.Tensor, filters: int, kernel_size: int, *, name: str, strides: int = 1,
          relu: bool = True) -> tf.Tensor:
  """Convolution with equal padding on both sides, batch norm, ReLU."""
  border = kernel_size // 2
  if border and strides > 1:
    x = tf.keras.layers.ZeroPadding2D(border, name=f"{name}_pad")(x)
  # PyTorch's kaiming_normal_(mode="fan_out"), which torchvision begins with.
  initializer = tf.keras.initializers.VarianceScaling(
      2.0, mode="fan_out", distribution="untruncated_normal")
  x = tf.keras.layers.Conv2D(
      filters, kernel_size, strides=strides, use_bias=False, name=f"{name}_conv",
      padding="same" if strides == 1 else "valid", kernel_initializer=initializer,
      dtype=precision.of_products())(x)
  x = norms.apply(x, "batch", f"{name}_norm")
  return tf.keras.layers.ReLU(name=f"{name}_relu")(x) if relu else x


def named(net: Architecture) -> str:
  """The name of a known architecture; else its blocks, kind and channels."""
  for name, known in KNOWN.items():
    if net == known:
      return name
  kind = "bottlenecks" if net.bottleneck else "basic blocks"
  return f"a ResNet of {'-'.join(map(str, net.blocks))} {kind}, {net.channels} channels"


def check_name(name: str) -> Architecture:
  """The architecture of a name."""
  if name not in KNOWN:
    raise ValueError(f"Unknown net {name!r}; allowed are {', '.join(KNOWN)}.")
  return KNOWN[name]


def counts(names: Sequence[str]) -> tuple[int, ...]:
  """Blocks by stage that names such as "layer2.1.conv1.weight" tell of."""
  found: dict[int, set[int]] = {}
  for name in names:
    first, *rest = name.split(".")
    if first.startswith("layer") and first[5:].isdigit() and rest and rest[0].isdigit():
      found.setdefault(int(first[5:]), set()).add(int(rest[0]))
  return tuple(len(found[stage]) for stage in sorted(found))


def table(net: Architecture) -> list[torch_weights.TorchWeight]:
  """Lists all weights of an architecture."""
  found: list[torch_weights.TorchWeight] = []
  found += _unit_names("stem", "conv1", "bn1", 3, net.channels, 7)
  inputs = net.channels
  for stage, count in enumerate(net.blocks):
    inner = net.channels * 2 ** stage
    for block in range(count):
      layer, name = f"stage{stage + 1}_block{block}", f"layer{stage + 1}.{block}"
      outer = inner * (EXPANSION if net.bottleneck else 1)
      kernels = (1, 3, 1) if net.bottleneck else (3, 3)
      widths = [inputs, *[inner] * (len(kernels) - 1), outer]
      for i, kernel in enumerate(kernels):
        found += _unit_names(f"{layer}_{i + 1}", f"{name}.conv{i + 1}", f"{name}.bn{i + 1}",
                         widths[i], widths[i + 1], kernel)
      if has_shortcut(net, stage, block):
        found += _unit_names(f"{layer}_shortcut", f"{name}.downsample.0", f"{name}.downsample.1",
                         inputs, outer, 1)
      inputs = outer
  return found


def _unit_names(layer: str, conv: str, norm: str, inputs: int, outputs: int, kernel: int
                ) -> Iterator[torch_weights.TorchWeight]:
  yield torch_weights.TorchWeight(f"{layer}_conv", 0, f"{conv}.weight",
                                  (outputs, inputs, kernel, kernel), torch_weights.CONV)
  yield from torch_weights.norm(f"{layer}_norm", norm, outputs)


def read(content: Any, where: str, expected: str | None = None) -> torch_weights.Checkpoint:
  """Reads what a checkpoint's file holds.

  Args:
    content: what the file's reader returned: arrays by name, perhaps under "state_dict".
    where: the file, for messages.
    expected: name of an architecture that it must be; None: any ResNet.

  Raises:
    ValueError: it is no ResNet's, or another one's; the message names the differences.
  """
  arrays = torch_weights.arrays_in(content, where)
  layout = MOCO if any(key.startswith(_QUERY) for key in arrays) else TORCHVISION
  if layout == MOCO:  # Beside it are the key encoder and the queue.
    arrays = {torch_weights.without(key, _QUERY): value for key, value in arrays.items()
              if key.startswith(_QUERY)}
  heads = {key: value for key, value in arrays.items() if key.split(".")[0] == "fc"}
  body = {key: value for key, value in arrays.items() if key not in heads}
  shapes = {key: value.shape for key, value in body.items()}
  if expected:
    net = check_name(expected)
  else:
    blocks = counts(list(shapes))
    if not blocks or len(shapes.get("conv1.weight", ())) != 4:
      raise ValueError(f"{where} holds no ResNet in torchvision's names: conv1.weight and "
                       f"layer1.0.conv1.weight are needed, and it has {len(shapes)} arrays, "
                       f"{', '.join(sorted(shapes)[:_SHOWN]) or 'none'}... Give a checkpoint of "
                       "torchvision or of MoCo.")
    net = Architecture(blocks, "layer1.0.conv3.weight" in shapes, shapes["conv1.weight"][0])
  weights = table(net)
  found = torch_weights.differences(weights, shapes)
  if found:
    raise ValueError(
        f"{where} is not a checkpoint of {named(net)} {found}. Give the checkpoint of "
        f"this net, or name its own with --net; known are {', '.join(KNOWN)}.")
  last = None if layout == MOCO else torch_weights.classifier(
      heads, "fc", net.num_features, where)
  return torch_weights.Checkpoint(layout, named(net), net, weights, body, last)


def build(found: torch_weights.Checkpoint, image_size: int | None) -> tf.keras.Model:
  """Builds the net of a checkpoint, without its weights."""
  side = image_size or 224
  return resnet((side, side, 3), found.net, found.name if found.name in KNOWN else "resnet")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights of a ResNet in PyTorch's names, as the weights of `torch_resnet` in Keras order.

Two layouts are read: a state dict of torchvision (`fc` is its classifier), and a checkpoint of
MoCo, whose query encoder is `module.encoder_q` and whose `fc` projects for the contrastive loss, so
that it is no classifier. A state dict may stand within a checkpoint, under `state_dict`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.models import weight_shapes
from suite.models.torchvision import torch_resnet

TORCHVISION, MOCO = "torchvision", "moco"
_QUERY = "encoder_q."
_PARALLEL = "module."
_NORM = ("weight", "bias", "running_mean", "running_var")
_SHOWN = 5  # Names in a message.


class Weight(NamedTuple):
  """A weight of the Keras model: its layer and place there, its name and shape in PyTorch."""

  layer: str
  place: int
  name: str
  shape: tuple[int, ...]


class Found(NamedTuple):
  """What a checkpoint holds.

  Attributes:
    layout: "torchvision" or "moco".
    net: the architecture.
    weights: by PyTorch's names, without prefixes and without `fc`.
    classifier: (kernel [D, C], bias [C]); None for MoCo.
  """

  layout: str
  net: torch_resnet.Net
  weights: Mapping[str, np.ndarray]
  classifier: tuple[np.ndarray, np.ndarray] | None


def table(net: torch_resnet.Net) -> list[Weight]:
  """Lists all weights of an architecture."""
  return list(_weights(net))


def _weights(net: torch_resnet.Net) -> Iterator[Weight]:
  yield from _unit("stem", "conv1", "bn1", 3, net.channels, 7)
  inputs = net.channels
  for stage, count in enumerate(net.blocks):
    inner = net.channels * 2 ** stage
    for block in range(count):
      layer, name = f"stage{stage + 1}_block{block}", f"layer{stage + 1}.{block}"
      outer = inner * (torch_resnet.EXPANSION if net.bottleneck else 1)
      kernels = (1, 3, 1) if net.bottleneck else (3, 3)
      widths = [inputs, *[inner] * (len(kernels) - 1), outer]
      for i, kernel in enumerate(kernels):
        yield from _unit(f"{layer}_{i + 1}", f"{name}.conv{i + 1}", f"{name}.bn{i + 1}",
                         widths[i], widths[i + 1], kernel)
      if torch_resnet.has_shortcut(net, stage, block):
        yield from _unit(f"{layer}_shortcut", f"{name}.downsample.0", f"{name}.downsample.1",
                         inputs, outer, 1)
      inputs = outer


def _unit(layer: str, conv: str, norm: str, inputs: int, outputs: int, kernel: int
          ) -> Iterator[Weight]:
  yield Weight(f"{layer}_conv", 0, f"{conv}.weight", (outputs, inputs, kernel, kernel))
  for place, name in enumerate(_NORM):
    yield Weight(f"{layer}_norm", place, f"{norm}.{name}", (outputs,))


def read(content: Any, where: str, expected: str | None = None) -> Found:
  """Reads what a checkpoint's file holds.

  Args:
    content: what the file's reader returned: arrays by name, perhaps under "state_dict".
    where: the file, for messages.
    expected: name of an architecture that it must be; None: any ResNet.

  Raises:
    ValueError: it is no ResNet's, or another one's; the message names the differences.
  """
  inner = content["state_dict"] if isinstance(content, dict) and "state_dict" in content else (
      content)
  if not isinstance(inner, Mapping):
    raise ValueError(f"{where} holds a {type(content).__name__}, no arrays by name; give the file "
                     "of a state dict.")
  arrays = {_without(str(key), _PARALLEL): value for key, value in inner.items()
            if isinstance(value, np.ndarray)}
  layout = MOCO if any(key.startswith(_QUERY) for key in arrays) else TORCHVISION
  if layout == MOCO:  # Beside it are the key encoder and the queue.
    arrays = {_without(key, _QUERY): value for key, value in arrays.items()
              if key.startswith(_QUERY)}
  heads = {key: value for key, value in arrays.items() if key.split(".")[0] == "fc"}
  body = {key: value for key, value in arrays.items()
          if key not in heads and not key.endswith(".num_batches_tracked")}
  shapes = {key: value.shape for key, value in body.items()}
  net = torch_resnet.check_name(expected) if expected else _implied(shapes, where)
  check(shapes, net, where)
  return Found(layout, net, body, None if layout == MOCO else _classifier(heads, net, where))


def _without(key: str, prefix: str) -> str:
  return key[len(prefix):] if key.startswith(prefix) else key


def _implied(shapes: Mapping[str, tuple[int, ...]], where: str) -> torch_resnet.Net:
  blocks = torch_resnet.counts(list(shapes))
  if not blocks or len(shapes.get("conv1.weight", ())) != 4:
    raise ValueError(f"{where} holds no ResNet in torchvision's names: conv1.weight and "
                     f"layer1.0.conv1.weight are needed, and it has {len(shapes)} arrays, "
                     f"{', '.join(sorted(shapes)[:_SHOWN]) or 'none'}... Give a checkpoint of "
                     "torchvision or of MoCo.")
  return torch_resnet.Net(blocks, "layer1.0.conv3.weight" in shapes, shapes["conv1.weight"][0])


def check(shapes: Mapping[str, tuple[int, ...]], net: torch_resnet.Net, where: str) -> None:
  """Raises an error that lists names and shapes in which a file differs from an architecture."""
  wanted = {one.name: one.shape for one in table(net)}
  found = weight_shapes.differences(wanted, shapes, [key for key in shapes if key not in wanted])
  if found:
    raise ValueError(
        f"{where} is not a checkpoint of {torch_resnet.named(net)} {found}. Give the checkpoint of "
        f"this net, or name its own with --net; known are {', '.join(torch_resnet.KNOWN)}.")


def _classifier(heads: Mapping[str, np.ndarray], net: torch_resnet.Net, where: str
                ) -> tuple[np.ndarray, np.ndarray] | None:
  if not heads:
    return None
  weight, bias = heads.get("fc.weight"), heads.get("fc.bias")
  if weight is None or bias is None or weight.shape != (len(bias), net.num_features):
    raise ValueError(
        f"{where} has a classifier of {', '.join(f'{k} {list(v.shape)}' for k, v in heads.items())}"
        f"; expected are fc.weight [C, {net.num_features}] and fc.bias [C]. Leave fc out of it.")
  return np.ascontiguousarray(weight.T, np.float32), np.asarray(bias, np.float32)


def assign(model: tf.keras.Model, found: Found) -> None:
  """Sets the weights of a model that `torch_resnet.resnet` made of `found.net`."""
  done = 0
  for one in table(found.net):
    array = np.asarray(found.weights[one.name], np.float32)
    if array.ndim == 4:
      array = array.transpose(2, 3, 1, 0)
    model.get_layer(one.layer).weights[one.place].assign(array)
    done += 1
  assert done == len(model.weights), (done, len(model.weights))

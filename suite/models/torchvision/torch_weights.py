# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Checkpoints in PyTorch's names, and the Keras models that take their weights.

A family of nets lists its weights once, as `TorchWeight`s: where each is in the Keras model, and
its name and shape in the checkpoint. From that list a file is checked, and a model is set.

Known files have their license, their year, and what their training cost, an estimate. A file is
known by the first eight digits of its SHA-256, which authors write into its name. Nobody published
the FLOPs of these trainings. They are estimated from the published recipe: multiply-adds of an
image forward, times 3 (forward, and both products of the backward pass), times images seen; a
multiply-add is 2 FLOPs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

IMAGENET = 1_281_167  # Training images of ILSVRC 2012.
BACKWARD = 3  # Multiply-adds of a training step over those of a forward pass.
CONV, DEPTHWISE, DENSE = (2, 3, 1, 0), (2, 3, 0, 1), (1, 0)  # PyTorch's axes in Keras's order.
_PARALLEL = "module."
_NOT_WEIGHTS = (".num_batches_tracked",)
_SHOWN = 12  # Differences in a message.

Shape = tuple[int, ...]
_LITE = ("EfficientNet, Tan & Le, 2019 (350 epochs); multiply-adds: the authors' table of "
         "EfficientNet-Lite, tensorflow/tpu, 2020")
_V1 = "torchvision, references/classification (90 epochs); multiply-adds: torchvision's table"
_VIT = "torchvision, references/classification (300 epochs); multiply-adds: torchvision's table"
_V2 = ("torchvision, new training recipe, 2021 (600 epochs at 176 pixels); multiply-adds: "
       "torchvision's table, times (176 / 224)^2")


class TorchWeight(NamedTuple):
  """A weight of the Keras model.

  Attributes:
    layer: name of its layer.
    place: index among the layer's weights.
    name, shape: in PyTorch.
    order: axes in PyTorch's array, in the order of Keras; () as it is.
    part: 0, 1 or 2 for the query's, key's or value's third of a joint projection.
  """

  layer: str
  place: int
  name: str
  shape: Shape
  order: tuple[int, ...] = ()
  part: int | None = None


class Checkpoint(NamedTuple):
  """What a checkpoint holds.

  Attributes:
    layout: whose names it has, such as "torchvision".
    name: of the net.
    net: the architecture, as its family describes it.
    table: where its weights belong.
    weights: by PyTorch's names, without prefixes and without the classifier.
    classifier: (kernel [D, C], bias [C]); None if there is none.
  """

  layout: str
  name: str
  net: Any
  table: Sequence[TorchWeight]
  weights: Mapping[str, np.ndarray]
  classifier: tuple[np.ndarray, np.ndarray] | None


def arrays_in(content: Any, where: str) -> dict[str, np.ndarray]:
  """The arrays of a file by name: those of a state dict, or of a checkpoint's "state_dict".

  Args:
    content: what the file's reader returned.
    where: the file, for messages.
  """
  inner = content["state_dict"] if isinstance(content, dict) and "state_dict" in content else (
      content)
  if not isinstance(inner, Mapping):
    raise ValueError(f"{where} holds a {type(content).__name__}, no arrays by name; give the file "
                     "of a state dict.")
  return {without(str(key), _PARALLEL): value for key, value in inner.items()
          if isinstance(value, np.ndarray) and not str(key).endswith(_NOT_WEIGHTS)}


def without(key: str, prefix: str) -> str:
  """A name without a prefix, if it has it."""
  return key[len(prefix):] if key.startswith(prefix) else key


def norm(layer: str, name: str, channels: int) -> Iterator[TorchWeight]:
  """The weights of a batch norm."""
  for place, part in enumerate(("weight", "bias", "running_mean", "running_var")):
    yield TorchWeight(layer, place, f"{name}.{part}", (channels,))


def differences(table: Iterable[TorchWeight], shapes: Mapping[str, Shape]) -> str:
  """Names and shapes in which a file differs from an architecture; "" if it does not."""
  wanted = {one.name: one.shape for one in table}
  return shape_differences(wanted, shapes, [key for key in shapes if key not in wanted])


def shape_differences(wanted: Mapping[str, Shape], found: Mapping[str, Shape],
                      more: Collection[str]) -> str:
  """What differs between the arrays of a file and those of an architecture; "" if nothing does.

  Args:
    wanted, found: shapes by name.
    more: the names in `found` that are not expected.
  """
  other = [f"{key} is {list(found[key])}, expected {list(shape)}"
           for key, shape in wanted.items() if key in found and found[key] != shape]
  missing = [f"{key} {list(shape)} is missing" for key, shape in wanted.items()
             if key not in found]
  lines = [*other, *missing, *(f"{key} {list(found[key])} is not expected" for key in more)]
  if not lines:
    return ""
  rest = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
  return (f"({len(other)} shapes differ, {len(missing)} arrays are missing, {len(more)} are "
          f"unexpected): {'; '.join(lines[:_SHOWN])}{rest}")


def classifier(heads: Mapping[str, np.ndarray], layer: str, num_features: int, where: str
               ) -> tuple[np.ndarray, np.ndarray] | None:
  """Returns (kernel [D, C], bias [C]) of the last layer, `layer` in PyTorch; None without one.

  Args:
    heads: the arrays that belong to it.
    num_features: D.
  """
  if not heads:
    return None
  weight, bias = heads.get(f"{layer}.weight"), heads.get(f"{layer}.bias")
  if weight is None or bias is None or weight.shape != (len(bias), num_features):
    raise ValueError(
        f"{where} has a classifier of {', '.join(f'{k} {list(v.shape)}' for k, v in heads.items())}"
        f"; expected are {layer}.weight [C, {num_features}] and {layer}.bias [C]. Leave {layer} "
        "out of it.")
  return np.ascontiguousarray(weight.T, np.float32), np.asarray(bias, np.float32)


def assign(model: tf.keras.Model, found: Checkpoint) -> None:
  """Sets all weights of the model of `found.net`."""
  for one in found.table:
    array = np.asarray(found.weights[one.name], np.float32)
    if one.part is not None:
      array = np.split(array, 3)[one.part]
    if one.order:
      array = array.transpose(one.order)
    variable = model.get_layer(one.layer).weights[one.place]
    variable.assign(array.reshape(variable.shape))
  assert len(found.table) == len(model.weights), (len(found.table), len(model.weights))


class Published(NamedTuple):
  """A known file.

  Attributes:
    net: its name.
    year: of its publication.
    license: SPDX identifier of what it was published under.
    macs: multiply-adds of an image forward, at the side of the training images.
    epochs: over ImageNet.
    source: where recipe and multiply-adds are from.
  """

  net: str
  year: int
  license: str
  macs: float
  epochs: int
  source: str


FILES = {
    "57934424": Published("efficientnet_lite0", 2020, "Apache-2.0", 407e6, 350, _LITE),
    "77cc7160": Published("efficientnet_lite1", 2020, "Apache-2.0", 631e6, 350, _LITE),
    "9656183e": Published("efficientnet_lite2", 2020, "Apache-2.0", 899e6, 350, _LITE),
    "f37072fd": Published("resnet18", 2017, "BSD-3-Clause", 1.814e9, 90, _V1),
    "b627a593": Published("resnet34", 2017, "BSD-3-Clause", 3.664e9, 90, _V1),
    "0676ba61": Published("resnet50", 2017, "BSD-3-Clause", 4.089e9, 90, _V1),
    "63fe2227": Published("resnet101", 2017, "BSD-3-Clause", 7.801e9, 90, _V1),
    "394f9c45": Published("resnet152", 2017, "BSD-3-Clause", 11.514e9, 90, _V1),
    "11ad3fa6": Published("resnet50", 2021, "BSD-3-Clause", 4.089e9 * (176 / 224) ** 2, 600, _V2),
    "c867db91": Published("vit_b16", 2022, "BSD-3-Clause", 17.564e9, 300, _VIT),
    "d86f8d99": Published("vit_b32", 2022, "BSD-3-Clause", 4.409e9, 300, _VIT),
}


def about(sha256: str) -> dict[str, Any]:
  """Entries of encoder.json for a file: license, year, cost and how it was estimated; {} unknown.

  Args:
    sha256: of the file, in hexadecimal.
  """
  found = FILES.get(sha256[:8])
  if found is None:
    return {}
  examples = found.epochs * IMAGENET
  macs = round(BACKWARD * found.macs * examples)
  return {
      "license": found.license, "year": found.year,
      "cost": {"flops": 2 * macs, "macs": macs, "examples": examples, "steps": None},
      "cost_is": f"an estimate: {BACKWARD} x {found.macs / 1e6:,.0f} M multiply-adds x "
                 f"{found.epochs} epochs x {IMAGENET:,} images; {found.source}"}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Weights of vision transformers of torchvision and of timm, as weights of `suite.models.vit`.

timm's checkpoints with `fc_norm` pool the mean of the patches' tokens, all others the class token.
Sizes follow from the shapes, all but the heads: they are as wide as in ViT (Dosovitskiy et al.,
2021), 64, and 80 in ViT-H. Pixels are scaled as the nets of a layout usually do: by ImageNet's
moments in torchvision, to [-1, 1] in timm.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.models import vit
from suite.models.torchvision import torch_weights

PIXELS = {"torchvision": "imagenet", "timm": "symmetric"}
_PATCHES = {"torchvision": "conv_proj", "timm": "patch_embed.proj"}
_SHOWN = 5  # Names in a message.
# Names, patch size, layers, width.
KNOWN = {"vit_ti16": (16, 12, 192), "vit_s16": (16, 12, 384), "vit_s32": (32, 12, 384),
         "vit_b8": (8, 12, 768), "vit_b16": (16, 12, 768), "vit_b32": (32, 12, 768),
         "vit_l16": (16, 24, 1024), "vit_l32": (32, 24, 1024), "vit_h14": (14, 32, 1280)}


class Architecture(NamedTuple):
  """An architecture: `side` patches in a row, of `patch_size` pixels."""

  patch_size: int
  layers: int
  width: int
  mlp_size: int
  side: int
  pool: str = "token"

  @property
  def heads(self) -> int:
    return 16 if self.width == 1280 else max(1, self.width // 64)


def layout_of(names: Mapping[str, np.ndarray]) -> str | None:
  """Whose names a checkpoint has; None: it is no vision transformer's."""
  return next((layout for layout, patches in _PATCHES.items() if f"{patches}.weight" in names),
              None)


def named(net: Architecture) -> str:
  """The name of a known architecture; else its sizes."""
  sizes = (net.patch_size, net.layers, net.width)
  return next((name for name, known in KNOWN.items() if known == sizes),
              f"a ViT of {net.layers} layers, {net.width} wide, patches of {net.patch_size}")


def table(net: Architecture, layout: str) -> list[torch_weights.TorchWeight]:
  """Lists all weights of an architecture in the names of a layout."""
  patches, width, is_timm = _PATCHES[layout], net.width, layout == "timm"
  found = [
      torch_weights.TorchWeight("patches", 0, f"{patches}.weight",
                                (width, 3, net.patch_size, net.patch_size), torch_weights.CONV),
      torch_weights.TorchWeight("patches", 1, f"{patches}.bias", (width,)),
      torch_weights.TorchWeight("tokens", 0, "cls_token" if is_timm else "class_token",
                                (1, 1, width)),
      torch_weights.TorchWeight("tokens", 1, "pos_embed" if is_timm else "encoder.pos_embedding",
                                (1, 1 + net.side ** 2, width))]
  for i in range(net.layers):
    found += _block(f"block{i + 1}", net, f"blocks.{i}" if is_timm else
                    f"encoder.layers.encoder_layer_{i}", is_timm)
  last = ("fc_norm" if net.pool == "mean" else "norm") if is_timm else "encoder.ln"
  return [*found, *_pair("final_norm", 0, last, (width,))]


def _block(layer: str, net: Architecture, there: str, is_timm: bool
           ) -> Iterator[torch_weights.TorchWeight]:
  """The weights of keras-cv's block: both norms, the attention, the MLP."""
  width, inner = net.width, net.mlp_size
  norms = ("norm1", "norm2") if is_timm else ("ln_1", "ln_2")
  joint = ("attn.qkv.weight", "attn.qkv.bias") if is_timm else (
      "self_attention.in_proj_weight", "self_attention.in_proj_bias")
  out = "attn.proj" if is_timm else "self_attention.out_proj"
  mlp = ("mlp.fc1", "mlp.fc2") if is_timm else ("mlp.0", "mlp.3")
  yield from _pair(layer, 0, f"{there}.{norms[0]}", (width,))
  yield from _pair(layer, 2, f"{there}.{norms[1]}", (width,))
  for part in range(3):
    yield torch_weights.TorchWeight(layer, 4 + 2 * part, f"{there}.{joint[0]}", (3 * width, width),
                                    torch_weights.DENSE, part)
    yield torch_weights.TorchWeight(layer, 5 + 2 * part, f"{there}.{joint[1]}", (3 * width,), (),
                                    part)
  yield from _pair(layer, 10, f"{there}.{out}", (width, width))
  yield from _pair(layer, 12, f"{there}.{mlp[0]}", (inner, width))
  yield from _pair(layer, 14, f"{there}.{mlp[1]}", (width, inner))


def _pair(layer: str, place: int, name: str, shape: tuple[int, ...]
          ) -> Iterator[torch_weights.TorchWeight]:
  """A weight and its bias."""
  yield torch_weights.TorchWeight(layer, place, f"{name}.weight", shape,
                                  torch_weights.DENSE if len(shape) == 2 else ())
  yield torch_weights.TorchWeight(layer, place + 1, f"{name}.bias", shape[:1])


def read(arrays: Mapping[str, np.ndarray], where: str, expected: str | None = None
         ) -> torch_weights.Checkpoint:
  """Reads a checkpoint.

  Args:
    arrays: by name, as `torch_weights.arrays_in` returns them.
    where: the file, for messages.
    expected: one of `KNOWN`, which it must be; None: any ViT.

  Raises:
    ValueError: it is no ViT's, or another one's; the message names the differences.
  """
  layout = layout_of(arrays) or "torchvision"
  head = "head" if layout == "timm" else "heads.head"
  heads = {key: value for key, value in arrays.items() if key.startswith(f"{head}.")}
  body = {key: value for key, value in arrays.items() if key not in heads}
  shapes = {key: value.shape for key, value in body.items()}
  numbered = {key.split(".")[1 if layout == "timm" else 2] for key in shapes
              if key.startswith(("blocks.", "encoder.layers."))}
  patches = shapes.get(f"{_PATCHES[layout]}.weight", ())
  first = "blocks.0.mlp.fc1" if layout == "timm" else "encoder.layers.encoder_layer_0.mlp.0"
  positions = shapes.get("pos_embed" if layout == "timm" else "encoder.pos_embedding", ())
  if len(patches) != 4 or len(positions) != 3 or f"{first}.weight" not in shapes:
    raise ValueError(
        f"{where} holds no vision transformer in the names of torchvision or timm: patches, "
        f"positions and {first}.weight are needed, and it has {len(shapes)} arrays, "
        f"{', '.join(sorted(shapes)[:_SHOWN]) or 'none'}... Give a checkpoint of one of them.")
  net = Architecture(
      patches[2], len(numbered), patches[0], shapes[f"{first}.weight"][0],
      round(max(0, positions[1] - 1) ** 0.5),
      "mean" if layout == "timm" and "fc_norm.weight" in shapes else "token")
  if expected:
    if expected not in KNOWN:
      raise ValueError(f"Unknown net {expected!r}; allowed are {', '.join(KNOWN)}.")
    patch_size, layers, width = KNOWN[expected]
    net = net._replace(patch_size=patch_size, layers=layers, width=width, mlp_size=4 * width)
  weights = table(net, layout)
  found = torch_weights.differences(weights, shapes)
  if found:
    raise ValueError(f"{where} is not a checkpoint of {named(net)} in the names of {layout} {found}"
                     f". Give the checkpoint of such a net; known are {', '.join(KNOWN)}.")
  return torch_weights.Checkpoint(layout, named(net), net, weights, body, torch_weights.classifier(
      heads, head, net.width, where))


def build(found: torch_weights.Checkpoint, image_size: int | None, pixels: str | None = None
          ) -> tf.keras.Model:
  """Builds the net of a checkpoint, without its weights; its positions tell the images' side."""
  net = found.net
  side = net.side * net.patch_size
  if image_size not in (None, side):
    raise ValueError(f"--image_size {image_size} was given for a transformer with positions for "
                     f"{side} pixels a side. Leave it out.")
  return vit.vit(
      (side, side, 3), patch_size=net.patch_size, layers=net.layers, width=net.width,
      heads=net.heads, mlp_size=net.mlp_size, pool=net.pool,
      pixels=pixels or PIXELS[found.layout], gelu="exact",
      name=found.name if found.name in KNOWN else "vit")

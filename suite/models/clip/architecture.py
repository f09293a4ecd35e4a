# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shapes of the published CLIP models, and of others by config.json or by their weights."""

from __future__ import annotations

from collections.abc import Mapping
import dataclasses
from typing import Any, Union

HEAD_WIDTH = 64  # Of every model of the paper (tables 19 and 20).


@dataclasses.dataclass(frozen=True)
class Body:
  """A transformer: `layers` blocks of `width` D with `heads` heads and an MLP of `mlp` units."""

  width: int
  layers: int
  heads: int
  mlp: int
  activation: str = "quick_gelu"


@dataclasses.dataclass(frozen=True)
class VisionTransformer:
  """Image tower of square images in patches."""

  image_size: int
  patch_size: int
  body: Body


@dataclasses.dataclass(frozen=True)
class AttentionResNet:
  """Image tower: a ResNet of bottlenecks, `blocks` in each of four stages, pooled by attention."""

  image_size: int
  blocks: tuple[int, ...]
  width: int


@dataclasses.dataclass(frozen=True)
class Text:
  """Text tower of `length` tokens out of a vocabulary."""

  length: int
  vocabulary: int
  body: Body


@dataclasses.dataclass(frozen=True)
class Clip:
  """Both towers and the width of their common space."""

  embedding: int
  image: Union[VisionTransformer, AttentionResNet]
  text: Text


def _body(width: int, layers: int = 12) -> Body:
  return Body(width, layers, width // HEAD_WIDTH, 4 * width)


def _text(width: int) -> Text:
  return Text(77, 49408, _body(width))


KNOWN = {
    "RN50": Clip(1024, AttentionResNet(224, (3, 4, 6, 3), 64), _text(512)),
    "RN101": Clip(512, AttentionResNet(224, (3, 4, 23, 3), 64), _text(512)),
    "ViT-B/32": Clip(512, VisionTransformer(224, 32, _body(768)), _text(512)),
    "ViT-B/16": Clip(512, VisionTransformer(224, 16, _body(768)), _text(512)),
    "ViT-L/14": Clip(768, VisionTransformer(224, 14, _body(1024, 24)), _text(768)),
}


def named(name: str) -> Clip:
  """Returns a published architecture."""
  if name not in KNOWN:
    raise ValueError(f"Unknown CLIP {name!r}; allowed are {', '.join(KNOWN)}.")
  return KNOWN[name]


def from_config(config: Mapping[str, Any]) -> Clip:
  """Reads config.json of Hugging Face; fields that are left out have the values of ViT-B/32."""
  try:
    image, text = config.get("vision_config") or {}, config.get("text_config") or {}
    return Clip(
        int(config.get("projection_dim", 512)),
        VisionTransformer(int(image.get("image_size", 224)), int(image.get("patch_size", 32)),
                          _configured(image, 768, 12)),
        Text(int(text.get("max_position_embeddings", 77)), int(text.get("vocab_size", 49408)),
             _configured(text, 512, 8)))
  except (AttributeError, TypeError, ValueError) as error:
    raise ValueError(f"The configuration is not that of a CLIP: {error}. Give the config.json "
                     "that was saved with the weights.") from error


def _configured(config: Mapping[str, Any], width: int, heads: int) -> Body:
  found = Body(int(config.get("hidden_size", width)), int(config.get("num_hidden_layers", 12)),
               int(config.get("num_attention_heads", heads)),
               int(config.get("intermediate_size", 4 * width)),
               str(config.get("hidden_act", "quick_gelu")))
  if found.activation not in ("quick_gelu", "gelu"):
    raise ValueError(f"hidden_act is {found.activation!r}, allowed are quick_gelu and gelu")
  if min(found.width, found.layers, found.heads, found.mlp) < 1 or found.width % found.heads:
    raise ValueError(f"{found.heads} heads do not divide the width {found.width}")
  return found


def from_shapes(shapes: Mapping[str, tuple[int, ...]]) -> Clip:
  """Finds the architecture that has these weights, in either layout; heads are 64 wide."""
  try:
    if "text_model.embeddings.token_embedding.weight" in shapes:
      return _from_huggingface(shapes)
    return _from_openai(shapes)
  except (KeyError, IndexError, ZeroDivisionError) as error:
    raise ValueError(
        f"These are not weights of a CLIP: {error} is not there or of another rank; the file has "
        f"{', '.join(sorted(shapes)[:5])}, ... Give the file of both towers, with the names of "
        "OpenAI or of Hugging Face.") from error


def _from_huggingface(shapes: Mapping[str, tuple[int, ...]]) -> Clip:
  patches = shapes["vision_model.embeddings.patch_embedding.weight"]
  positions = shapes["vision_model.embeddings.position_embedding.weight"][0]
  image = VisionTransformer(_edge(positions) * patches[2], patches[2],
                            _body(patches[0], _count(shapes, "vision_model.encoder.layers.", 3)))
  vocabulary, width = shapes["text_model.embeddings.token_embedding.weight"]
  length = shapes["text_model.embeddings.position_embedding.weight"][0]
  body = _body(width, _count(shapes, "text_model.encoder.layers.", 3))
  return Clip(shapes["text_projection.weight"][0], image, Text(length, vocabulary, body))


def _from_openai(shapes: Mapping[str, tuple[int, ...]]) -> Clip:
  vocabulary, width = shapes["token_embedding.weight"]
  text = Text(shapes["positional_embedding"][0], vocabulary,
              _body(width, _count(shapes, "transformer.resblocks.", 2)))
  first = shapes["visual.conv1.weight"]
  image: Union[VisionTransformer, AttentionResNet]
  if "visual.attnpool.positional_embedding" in shapes:
    blocks = tuple(_count(shapes, f"visual.layer{stage}.", 2) for stage in range(1, 5))
    positions = shapes["visual.attnpool.positional_embedding"][0]
    image = AttentionResNet(32 * _edge(positions), blocks, 2 * first[0])
  else:
    positions = shapes["visual.positional_embedding"][0]
    image = VisionTransformer(_edge(positions) * first[2], first[2],
                              _body(first[0], _count(shapes, "visual.transformer.resblocks.", 3)))
  return Clip(shapes["text_projection"][1], image, text)


def _edge(positions: int) -> int:
  """Edge of the square of patches, of which there are `positions` less the class token."""
  return round((positions - 1) ** 0.5)


def _count(shapes: Mapping[str, tuple[int, ...]], prefix: str, place: int) -> int:
  return len({name.split(".")[place] for name in shapes if name.startswith(prefix)})

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which array of a CLIP file belongs to which Keras weight, by the names of both layouts."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from suite.models.clip import architecture

# Entries of the files that no feature depends on.
UNUSED = ("logit_scale", "input_resolution", "context_length", "vocab_size")
UNUSED_ENDS = (".position_ids", ".num_batches_tracked")


class Weight(NamedTuple):
  """One Keras weight.

  Attributes:
    layer: name of the layer.
    place: number among the layer's weights.
    openai: name in OpenAI's layout.
    huggingface: name in Hugging Face's; "" if that has no such tower.
    shape: of the array, as PyTorch stores it, in OpenAI's layout; of a joint projection, one part.
    order: axes of the array in the order of Keras; () as it is.
    part: 0, 1 or 2 for the query's, key's or value's third of a joint projection.
    turned: whether Hugging Face stores the transpose.
  """

  layer: str
  place: int
  openai: str
  huggingface: str
  shape: tuple[int, ...]
  order: tuple[int, ...] = ()
  part: int | None = None
  turned: bool = False


def image_weights(clip: architecture.Clip) -> list[Weight]:
  """Lists the weights of the image tower."""
  image = clip.image
  if isinstance(image, architecture.AttentionResNet):
    return list(_resnet(image, clip.embedding))
  width, size = image.body.width, image.patch_size
  positions = (image.image_size // size) ** 2 + 1
  there = "vision_model.embeddings"
  return [
      Weight("patches", 0, "visual.conv1.weight", f"{there}.patch_embedding.weight",
             (width, 3, size, size), (2, 3, 1, 0)),
      Weight("tokens", 0, "visual.class_embedding", f"{there}.class_embedding", (width,)),
      Weight("tokens", 1, "visual.positional_embedding", f"{there}.position_embedding.weight",
             (positions, width)),
      *_pair("pre_norm", "visual.ln_pre", "vision_model.pre_layrnorm", width),
      *_blocks("visual.transformer", "vision_model", image.body),
      *_pair("post_norm", "visual.ln_post", "vision_model.post_layernorm", width),
      Weight("projection", 0, "visual.proj", "visual_projection.weight", (width, clip.embedding),
             turned=True)]


def text_weights(clip: architecture.Clip) -> list[Weight]:
  """Lists the weights of the text tower."""
  text, width, there = clip.text, clip.text.body.width, "text_model.embeddings"
  return [
      Weight("embedding", 0, "token_embedding.weight", f"{there}.token_embedding.weight",
             (text.vocabulary, width)),
      Weight("positions", 0, "positional_embedding", f"{there}.position_embedding.weight",
             (text.length, width)),
      *_blocks("transformer", "text_model", text.body),
      *_pair("final_norm", "ln_final", "text_model.final_layer_norm", width),
      Weight("projection", 0, "text_projection", "text_projection.weight", (width, clip.embedding),
             turned=True)]


def _pair(layer: str, openai: str, huggingface: str, width: int) -> Iterator[Weight]:
  for index, name in enumerate(("weight", "bias")):
    yield Weight(layer, index, f"{openai}.{name}", f"{huggingface}.{name}", (width,))


def _dense(layer: str, openai: str, huggingface: str, inputs: int, outputs: int, index: int = 0
           ) -> Iterator[Weight]:
  yield Weight(layer, index, f"{openai}.weight", huggingface and f"{huggingface}.weight",
               (outputs, inputs), (1, 0))
  yield Weight(layer, index + 1, f"{openai}.bias", huggingface and f"{huggingface}.bias",
               (outputs,))


def _blocks(openai: str, huggingface: str, body: architecture.Body) -> Iterator[Weight]:
  for i in range(body.layers):
    here, there, width = f"{openai}.resblocks.{i}", f"{huggingface}.encoder.layers.{i}", body.width
    yield from _pair(f"block{i}_norm1", f"{here}.ln_1", f"{there}.layer_norm1", width)
    for part, name in enumerate("qkv"):
      layer, other = f"block{i}_attention", f"{there}.self_attn.{name}_proj"
      yield Weight(layer, 2 * part, f"{here}.attn.in_proj_weight", f"{other}.weight",
                   (width, width), (1, 0), part)
      yield Weight(layer, 2 * part + 1, f"{here}.attn.in_proj_bias", f"{other}.bias", (width,), (),
                   part)
    yield from _dense(f"block{i}_attention", f"{here}.attn.out_proj",
                      f"{there}.self_attn.out_proj", width, width, 6)
    yield from _pair(f"block{i}_norm2", f"{here}.ln_2", f"{there}.layer_norm2", width)
    yield from _dense(f"block{i}_mlp1", f"{here}.mlp.c_fc", f"{there}.mlp.fc1", width, body.mlp)
    yield from _dense(f"block{i}_mlp2", f"{here}.mlp.c_proj", f"{there}.mlp.fc2", body.mlp, width)


def _resnet(image: architecture.AttentionResNet, embedding: int) -> Iterator[Weight]:
  half, width = image.width // 2, image.width
  for i, (inputs, outputs) in enumerate([(3, half), (half, half), (half, width)], 1):
    yield from _unit(f"stem{i}", f"visual.conv{i}", f"visual.bn{i}", inputs, outputs, 3)
  inputs = width
  for stage, count in enumerate(image.blocks):
    inner = width * 2 ** stage
    for block in range(count):
      layer, name = f"stage{stage + 1}_block{block}", f"visual.layer{stage + 1}.{block}"
      yield from _unit(f"{layer}_1", f"{name}.conv1", f"{name}.bn1", inputs, inner, 1)
      yield from _unit(f"{layer}_2", f"{name}.conv2", f"{name}.bn2", inner, inner, 3)
      yield from _unit(f"{layer}_3", f"{name}.conv3", f"{name}.bn3", inner, 4 * inner, 1)
      if not block:
        yield from _unit(f"{layer}_shortcut", f"{name}.downsample.0", f"{name}.downsample.1",
                         inputs, 4 * inner, 1)
      inputs = 4 * inner
  pool, positions = "visual.attnpool", (image.image_size // 32) ** 2 + 1
  yield Weight("positions", 0, f"{pool}.positional_embedding", "", (positions, inputs))
  for part, letter in enumerate("qkv"):
    yield from _dense("pool", f"{pool}.{letter}_proj", "", inputs, inputs, 2 * part)
  yield from _dense("pool", f"{pool}.c_proj", "", inputs, embedding, 6)


def _unit(layer: str, conv: str, norm: str, inputs: int, outputs: int, kernel: int
          ) -> Iterator[Weight]:
  yield Weight(f"{layer}_conv", 0, f"{conv}.weight", "", (outputs, inputs, kernel, kernel),
               (2, 3, 1, 0))
  for index, name in enumerate(("weight", "bias", "running_mean", "running_var")):
    yield Weight(f"{layer}_norm", index, f"{norm}.{name}", "", (outputs,))

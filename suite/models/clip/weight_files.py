# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Towers of CLIP with weights from a local .safetensors file; nothing is downloaded.

Which array of a CLIP file belongs to which Keras weight, by the names of both layouts.

Reader of .safetensors files: an 8-byte header length, a JSON header, and the arrays' bytes.

The format holds no code. Lengths, types, shapes and places are checked before any array is read;
arrays are mapped, so that only those which are used take memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
import json
import math
import pathlib
from typing import Any, NamedTuple

import numpy as np
import tensorflow as tf

from suite.models.clip import architecture
from suite.models.torchvision import torch_weights

WEIGHTS, CONFIG = "model.safetensors", "config.json"
# Entries of the files that no feature depends on.
UNUSED = ("logit_scale", "input_resolution", "context_length", "vocab_size")
UNUSED_ENDS = (".position_ids", ".num_batches_tracked")
MAX_HEADER = 100_000_000  # The format's own bound.
_TYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "BF16": "<u2", "I64": "<i8", "I32": "<i4",
          "I16": "<i2", "I8": "i1", "U8": "u1", "BOOL": "?"}


class Towers(NamedTuple):
  """A CLIP.

  Attributes:
    clip: the architecture.
    image: pixels 0..255 [B, S, S, 3] -> [B, E].
    text: token ids [B, L] -> [B, E].
  """

  clip: architecture.Clip
  image: tf.keras.Model
  text: tf.keras.Model


def files(folder: pathlib.Path) -> list[pathlib.Path]:
  """Returns the files of a folder that define the towers: the weights, and config.json if there.

  Raises:
    ValueError: there are no weights, or only a PyTorch archive.
  """
  weights = folder / WEIGHTS
  if not weights.is_file():
    others = sorted(p.name for p in folder.glob("*")) if folder.is_dir() else []
    raise ValueError(
        f"{folder} has no {WEIGHTS}; it has {', '.join(others[:6]) or 'no files'}. Nothing is "
        f"downloaded: put the file of Hugging Face there. OpenAI's .pt and pytorch_model.bin are "
        "pickles, which are not read; convert them where you trust them: safetensors.torch."
        "save_file(torch.jit.load(PATH).state_dict(), 'model.safetensors').")
  return [weights, *(path for path in [folder / CONFIG] if path.is_file())]


def load(folder: pathlib.Path, name: str | None = None) -> Towers:
  """Builds both towers and loads their weights.

  The architecture is that of `name`, one of `architecture.KNOWN`; else of config.json in the
  folder; else the one that the shapes of the weights imply.

  Raises:
    ValueError: the weights are those of another CLIP; the message lists the differences.
  """
  paths = files(folder)
  arrays = read(paths[0])
  shapes = {key: array.shape for key, array in arrays.items()}
  if name:
    clip = architecture.named(name)
  elif len(paths) > 1:
    try:
      config = json.loads(paths[1].read_text(encoding="utf-8"))
    except ValueError as error:
      raise ValueError(f"{paths[1]} is no JSON: {error}. Copy it again, or leave it out."
                       ) from error
    clip = architecture.from_config(config)
  else:
    clip = architecture.from_shapes(shapes)
  image, text = image_weights(clip), text_weights(clip)
  layout = "huggingface" if any(key.startswith("text_model.") for key in shapes) else "openai"
  check(paths[0], [*image, *text], layout, shapes, name or "its config.json")
  towers = Towers(clip, architecture.image_tower(clip), architecture.text_tower(clip))
  _assign(towers.image, image, layout, arrays)
  _assign(towers.text, text, layout, arrays)
  return towers


def check(path: pathlib.Path, weights: Sequence[Weight], layout: str,
          shapes: Mapping[str, tuple[int, ...]], expected: str) -> None:
  """Raises an error that lists names and shapes in which a file differs from `weights`."""
  wanted = {getattr(one, layout): one.shape_in_file(layout) for one in weights}
  if "" in wanted:
    raise ValueError(f"{path} has the names of Hugging Face, in which there is no CLIP with a "
                     "ResNet. Give a ViT's name, or OpenAI's weights.")
  more = [key for key in shapes if key not in wanted and key not in UNUSED
          and not key.endswith(UNUSED_ENDS)]
  found = torch_weights.shape_differences(wanted, shapes, more)
  if found:
    raise ValueError(
        f"{path} holds the weights of another CLIP than {expected} says {found}. "
        f"Give the model's own {CONFIG} or name; known are {', '.join(architecture.KNOWN)}.")


def _assign(model: tf.keras.Model, weights: Sequence[Weight], layout: str,
            arrays: Mapping[str, np.ndarray]) -> None:
  done = 0
  for one in weights:
    array = arrays[getattr(one, layout)]
    if layout == "huggingface" and one.turned:
      array = array.T
    if layout == "openai" and one.part is not None:
      array = np.split(array, 3)[one.part]
    if one.order:
      array = array.transpose(one.order)
    variable = model.get_layer(one.layer).weights[one.place]
    variable.assign(array.reshape(variable.shape))
    done += 1
  # Normalization keeps no weights, as its moments are arguments.
  assert done == len(model.weights), (done, len(model.weights))


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

  def shape_in_file(self, layout: str) -> tuple[int, ...]:
    """Shape of the whole array in a file of a layout, "openai" or "huggingface"."""
    if layout == "huggingface":
      return self.shape[::-1] if self.turned else self.shape
    return self.shape if self.part is None else (3 * self.shape[0], *self.shape[1:])


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


def read(path: pathlib.Path) -> Mapping[str, np.ndarray]:
  """Reads all arrays by name; floats of any width become float32."""
  size = path.stat().st_size
  with open(path, "rb") as file:
    start = file.read(8)
    length = int.from_bytes(start, "little")
    sensible = len(start) == 8 and 2 <= length <= min(MAX_HEADER, size - 8)
    if not sensible and start.startswith((b"PK", b"\x80")):
      raise ValueError(
          f"{path} is a PyTorch archive, which holds pickled objects and is not read. Convert it "
          "where you trust it: safetensors.torch.save_file(torch.jit.load(PATH).state_dict(), "
          "'model.safetensors'), for files of OpenAI.")
    if not sensible:
      raise ValueError(f"{path} of {size} bytes is no .safetensors file: its header would take "
                       f"{length} bytes. Copy it again.")
    text = file.read(length)
    try:
      header = json.loads(text.decode("utf-8"))
    except (UnicodeDecodeError, ValueError, RecursionError) as error:
      raise ValueError(f"The header of {path} is no JSON: {str(error)[:100]}. Copy the file again."
                       ) from error
    if not isinstance(header, dict):
      raise ValueError(f"The header of {path} is no JSON object. Copy the file again.")
    header.pop("__metadata__", None)
  begin = 8 + length
  _check_places(path, header, size - begin)
  data = np.memmap(path, np.uint8, "r", offset=begin, shape=(size - begin,)) if (
      size > begin) else np.zeros(0, np.uint8)
  arrays = {}
  for name, entry in header.items():
    first, last = entry["data_offsets"]
    found = np.frombuffer(data[first:last].tobytes(), _TYPES[entry["dtype"]])
    if entry["dtype"] == "BF16":  # The upper half of a float32.
      found = (found.astype(np.uint32) << 16).view(np.float32)
    if found.dtype.kind == "f":
      found = found.astype(np.float32)
    arrays[name] = found.reshape(entry["shape"])
  return arrays


def _check_places(path: pathlib.Path, header: Mapping[str, Any], size: int) -> None:
  """Raises an error unless the arrays fill the data without gap or overlap."""
  for name, entry in header.items():
    if not (isinstance(entry, dict) and entry.get("dtype") in _TYPES and
            _naturals(entry.get("shape")) and _naturals(entry.get("data_offsets")) and
            len(entry["data_offsets"]) == 2):
      raise ValueError(f"{path}: the entry {name!r} is {str(entry)[:100]}; needed are a dtype of "
                       f"{', '.join(_TYPES)}, a shape and two data_offsets.")
    width = np.dtype(_TYPES[entry["dtype"]]).itemsize * math.prod(entry["shape"])
    first, last = entry["data_offsets"]
    if last - first != width or last > size:
      raise ValueError(f"{path}: {name!r} of shape {entry['shape']} takes {width} bytes, but is "
                       f"said to be bytes {first} to {last} of {size}. Copy the file again.")
  end = 0
  for first, last in sorted(entry["data_offsets"] for entry in header.values()):
    if first != end:
      raise ValueError(f"{path}: arrays overlap or leave a gap at byte {first}. Copy it again.")
    end = last
  if end != size:
    raise ValueError(f"{path}: the arrays end at byte {end} of {size}. Copy the file again.")


def _naturals(values: Any) -> bool:
  return isinstance(values, list) and all(type(v) is int and 0 <= v < 1 << 48 for v in values)

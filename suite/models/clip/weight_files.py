# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Towers of CLIP with weights from a local .safetensors file; nothing is downloaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import json
import pathlib
from typing import NamedTuple

import numpy as np
import tensorflow as tf

from suite.models import weight_shapes
from suite.models.clip import architecture
from suite.models.clip import image_towers
from suite.models.clip import safetensors_file
from suite.models.clip import text_tower
from suite.models.clip import weight_table

WEIGHTS, CONFIG = "model.safetensors", "config.json"


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
  arrays = safetensors_file.read(paths[0])
  shapes = {key: array.shape for key, array in arrays.items()}
  clip = _architecture(paths, name, shapes)
  image, text = weight_table.image_weights(clip), weight_table.text_weights(clip)
  layout = _layout(shapes)
  check(paths[0], [*image, *text], layout, shapes, name or "its config.json")
  towers = Towers(clip, image_towers.image_tower(clip), text_tower.text_tower(clip))
  _assign(towers.image, image, layout, arrays)
  _assign(towers.text, text, layout, arrays)
  return towers


def _architecture(paths: Sequence[pathlib.Path], name: str | None,
                  shapes: Mapping[str, tuple[int, ...]]) -> architecture.Clip:
  if name:
    return architecture.named(name)
  if len(paths) > 1:
    try:
      config = json.loads(paths[1].read_text(encoding="utf-8"))
    except ValueError as error:
      raise ValueError(f"{paths[1]} is no JSON: {error}. Copy it again, or leave it out."
                       ) from error
    return architecture.from_config(config)
  return architecture.from_shapes(shapes)


def _layout(shapes: Mapping[str, tuple[int, ...]]) -> str:
  return "huggingface" if any(key.startswith("text_model.") for key in shapes) else "openai"


def check(path: pathlib.Path, weights: Sequence[weight_table.Weight], layout: str,
          shapes: Mapping[str, tuple[int, ...]], expected: str) -> None:
  """Raises an error that lists names and shapes in which a file differs from `weights`."""
  wanted = {getattr(one, layout): _shape(one, layout) for one in weights}
  if "" in wanted:
    raise ValueError(f"{path} has the names of Hugging Face, in which there is no CLIP with a "
                     "ResNet. Give a ViT's name, or OpenAI's weights.")
  more = [key for key in shapes if key not in wanted and key not in weight_table.UNUSED
          and not key.endswith(weight_table.UNUSED_ENDS)]
  found = weight_shapes.differences(wanted, shapes, more)
  if found:
    raise ValueError(
        f"{path} holds the weights of another CLIP than {expected} says {found}. "
        f"Give the model's own {CONFIG} or name; known are {', '.join(architecture.KNOWN)}.")


def _shape(one: weight_table.Weight, layout: str) -> tuple[int, ...]:
  """Shape of the whole array in the file."""
  if layout == "huggingface":
    return one.shape[::-1] if one.turned else one.shape
  return one.shape if one.part is None else (3 * one.shape[0], *one.shape[1:])


def _assign(model: tf.keras.Model, weights: Sequence[weight_table.Weight], layout: str,
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

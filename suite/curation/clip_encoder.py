# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLIP as an encoder of images and of texts, from a folder of local files.

    DIR/model.safetensors      weights of both towers, with the names of OpenAI or Hugging Face
    DIR/config.json            optional: shapes
    DIR/merges.txt, or DIR/bpe_simple_vocab_16e6.txt.gz     vocabulary of the texts
"""

from __future__ import annotations

from collections.abc import Sequence
import pathlib

import numpy as np

from suite.curation import encoders
from suite.curation import errors
from suite.curation import feature_files
from suite.curation import pictures
from suite.models.clip import byte_pairs
from suite.models.clip import weight_files

TEMPLATE = "{}"  # CLEAR's prompts stand alone.
_BATCH = 64


class ClipEncoder(encoders.KerasEncoder):
  """Encoder of images and texts to one space."""

  def __init__(self, towers: weight_files.Towers, pairs: byte_pairs.BytePairs,
               templates: Sequence[str] = (TEMPLATE,), batch_size: int = 64):
    """Takes the towers, their byte pairs, and templates of the prompts."""
    super().__init__(towers.image, lambda pixels: pixels, towers.clip.image.image_size, batch_size,
                     pictures.clip_square)
    check_templates(templates)
    self._text, self._pairs, self._templates = towers.text, pairs, list(templates)

  def encode_text(self, prompts: Sequence[str]) -> np.ndarray:
    """Encodes prompts to float64 [n, D]: the mean direction over the templates, of length 1."""
    texts = [template.replace("{}", prompt) for prompt in prompts for template in self._templates]
    try:
      ids = self._pairs.batch(texts)
    except ValueError as error:
      raise errors.CurationError(str(error)) from error
    parts = [np.asarray(self._text.predict_on_batch(ids[start:start + _BATCH]))
             for start in range(0, len(ids), _BATCH)]
    found = feature_files.normalized(np.concatenate(parts))
    return feature_files.normalized(
        found.reshape(len(prompts), len(self._templates), -1).mean(axis=1))


def check_templates(templates: Sequence[str]) -> None:
  """Raises an error unless each template has one place for the prompt."""
  wrong = [one for one in templates if one.count("{}") != 1]
  if wrong or not templates:
    raise errors.CurationError(f"Templates {errors.some(wrong)} need one {{}} each, where the "
                               "prompt goes, for example 'a photo of a {}.'")


def load(folder: pathlib.Path, name: str | None = None, templates: Sequence[str] = (TEMPLATE,),
         batch_size: int = 64) -> ClipEncoder:
  """Loads a CLIP; `name` is a published architecture, None: as the files say."""
  check_templates(templates)
  try:
    towers = weight_files.load(folder, name)
    text = towers.clip.text
    return ClipEncoder(towers, byte_pairs.load(folder, text.vocabulary, text.length), templates,
                       batch_size)
  except ValueError as error:
    raise errors.CurationError(str(error)) from error


def files(folder: pathlib.Path) -> list[pathlib.Path]:
  """Lists the files that define a CLIP, the weights first."""
  try:
    return [*weight_files.files(folder), byte_pairs.file(folder)]
  except ValueError as error:
    raise errors.CurationError(str(error)) from error

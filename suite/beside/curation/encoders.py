# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoders of image files to features [n, D], for example a Keras model with weights.

CLEAR takes CLIP's features of images and queries (section 3, "Visio-linguistic curation").

An encoder has `width`, D, and `encode(paths) -> float32 [n, D]`. An encoder with
`encode_text(texts)` also supports text queries (`queries.from_text`): CLIP has it. Other
Keras models have none: with these, text queries need features that were computed elsewhere.

An encoder of the suite's pretraining is a folder with encoder.json and encoder.npz. CLIP is a
folder of local files:

    DIR/model.safetensors      weights of both towers, with the names of OpenAI or Hugging Face
    DIR/config.json            optional: shapes
    DIR/merges.txt, or DIR/bpe_simple_vocab_16e6.txt.gz     vocabulary of the texts
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import pathlib
import types
from typing import Any

from absl import logging
import numpy as np

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import pictures
from suite.models import model_files
from suite.models.clip import byte_pairs
from suite.models.clip import weight_files
from suite.state import encoder_file

SCALES = ("none", "tf", "torch", "caffe")  # keras.applications.imagenet_utils.preprocess_input
TEMPLATE = "{}"  # CLEAR's prompts stand alone.
_BATCH = 64


class KerasEncoder:
  """Encoder by a Keras model on images of one size.

  Attributes:
    width: D.
    size: S of the square images.
  """

  def __init__(self, model: Any, preprocess: Callable[[np.ndarray], Any], size: int,
               batch_size: int = 64,
               read: Callable[[pathlib.Path, int], np.ndarray] = pictures.square):
    """Takes a model and how its images are read.

    Args:
      model: float32 [B, S, S, 3] -> [B, D].
      preprocess: pixels 0..255 -> the model's input.
      size: S.
      batch_size: B.
      read: (path, S) -> uint8 [S, S, 3].
    """
    shape = tuple(model.output_shape) if not isinstance(model.output_shape, list) else ()
    if len(shape) != 2 or not shape[1]:
      raise errors.CurationError(f"The model gives {model.output_shape}; features [B, D] are "
                                 "needed. Let it end with a pooling layer.")
    self.width, self.size = int(shape[1]), size
    self._model, self._preprocess, self._batch = model, preprocess, batch_size
    self._read = read

  def encode(self, paths: Sequence[pathlib.Path]) -> np.ndarray:
    """Encodes images to float32 [n, D]; batches are padded so that one shape is compiled."""
    parts = []
    for start in range(0, len(paths), self._batch):
      chosen = paths[start:start + self._batch]
      batch = np.zeros([self._batch, self.size, self.size, 3], np.float32)
      batch[:len(chosen)] = [self._read(path, self.size) for path in chosen]
      parts.append(np.asarray(self._model.predict_on_batch(self._preprocess(batch)))[:len(chosen)])
    return np.concatenate(parts).astype(np.float32)


def application(name: str, weights: pathlib.Path, size: int = 224, batch_size: int = 64
                ) -> KerasEncoder:
  """Builds a network of `tf.keras.applications` without its top, pooled; nothing is downloaded.

  Args:
    name: name of the application, for example "ResNet50".
    weights: file of weights without top ("..._notop.h5") of this network.
    size: S, edge of the images.
    batch_size: B.
  """
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  package = tf.keras.applications
  modules = [module for module in (getattr(package, entry) for entry in sorted(dir(package)))
             if isinstance(module, types.ModuleType) and hasattr(module, "preprocess_input")]
  known = {entry: (getattr(module, entry), module.preprocess_input) for module in modules
           for entry in dir(module) if entry[0].isupper() and callable(getattr(module, entry))}
  if name not in known:
    raise errors.CurationError(f"Keras has no application {name!r}; it has "
                               f"{', '.join(sorted(known))}.")
  _check_file(weights)
  make, preprocess = known[name]
  model = make(include_top=False, weights=None, input_shape=(size, size, 3), pooling="avg")
  try:
    model_files.load_weights(model, weights)
  except model_files.ModelFileError as error:
    raise errors.CurationError(str(error)) from error
  except (OSError, ValueError, KeyError) as error:
    raise errors.CurationError(
        f"{weights} does not hold weights of {name} without its top: {str(error)[:200]} Give the "
        "file whose name ends in _notop.h5, or weights saved from the same model.") from error
  return KerasEncoder(model, preprocess, size, batch_size)


def saved(path: pathlib.Path, *, scale: str = "none", batch_size: int = 64,
          size: int | None = None) -> KerasEncoder:
  """Loads a model from a file; one that holds code is refused, see `models.model_files`.

  Args:
    path: path of a .keras, .h5 or .hdf5 file.
    scale: scaling of the model's input pixels, one of `SCALES`; "none": 0..255.
    batch_size: B.
    size: S, required if the model takes images of any size.
  """
  import tensorflow as tf  # pylint: disable=import-outside-toplevel
  if scale not in SCALES:
    raise errors.CurationError(f"Unknown scale {scale!r}; allowed are {', '.join(SCALES)}.")
  _check_file(path)
  try:
    model = model_files.load(path)
  except model_files.ModelFileError as error:
    raise errors.CurationError(str(error)) from error
  shape: tuple[Any, ...] = tuple(model.input_shape)
  found = shape[1] if len(shape) == 4 and shape[1] else size
  if len(shape) != 4 or shape[3] != 3 or found is None or (size or found) != found:
    raise errors.CurationError(f"{path} takes {shape}, asked was size={size}; square images [B, S, "
                               "S, 3] are needed. Give --size if the model takes any.")
  return KerasEncoder(
      model, lambda batch: batch if scale == "none" else
      tf.keras.applications.imagenet_utils.preprocess_input(batch, mode=scale), int(found),
      batch_size)


def encode_files(encoder: Any, paths: Sequence[pathlib.Path], out: pathlib.Path,
                 batch_size: int = 1024) -> None:
  """Encodes images in parts and writes float32 [N, D] to an .npy file."""
  found = np.lib.format.open_memmap(out, mode="w+", dtype=np.float32,
                                    shape=(len(paths), encoder.width))
  for start in range(0, len(paths), batch_size):
    found[start:start + batch_size] = encoder.encode(paths[start:start + batch_size])
    logging.log_every_n_seconds(logging.INFO, "%d of %d images encoded", 30, start, len(paths))
  found.flush()


def _check_file(path: pathlib.Path) -> None:
  if not path.is_file():
    raise errors.CurationError(f"There is no file {path}. Nothing is downloaded: give a local one.")


def load(folder: pathlib.Path, batch_size: int = 64) -> KerasEncoder:
  """Loads an encoder; images are resized to the size that it was trained with."""
  try:
    found = encoder_file.load(folder)
    return KerasEncoder(found.model(), lambda pixels: pixels, found.about["image_size"],
                                 batch_size)
  except (OSError, ValueError, KeyError) as error:
    if isinstance(error, errors.CurationError):
      raise
    raise errors.CurationError(str(error)) from error


def files(folder: pathlib.Path) -> list[pathlib.Path]:
  """Lists the files that define an encoder."""
  return [folder / encoder_file.ABOUT, folder / encoder_file.WEIGHTS]


class ClipEncoder(KerasEncoder):
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


def load_clip(folder: pathlib.Path, name: str | None = None, templates: Sequence[str] = (TEMPLATE,),
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


def clip_files(folder: pathlib.Path) -> list[pathlib.Path]:
  """Lists the files that define a CLIP, the weights first."""
  try:
    return [*weight_files.files(folder), byte_pairs.file(folder)]
  except ValueError as error:
    raise errors.CurationError(str(error)) from error

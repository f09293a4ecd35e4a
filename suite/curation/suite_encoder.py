# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Encoders that the suite's pretraining wrote: a folder with encoder.json and encoder.npz."""

from __future__ import annotations

import pathlib

from suite.curation import encoders
from suite.curation import errors
from suite.state import encoder_file


def load(folder: pathlib.Path, batch_size: int = 64) -> encoders.KerasEncoder:
  """Loads an encoder; images are resized to the size that it was trained with."""
  try:
    found = encoder_file.load(folder)
    return encoders.KerasEncoder(found.model(), lambda pixels: pixels, found.about["image_size"],
                                 batch_size)
  except (OSError, ValueError, KeyError) as error:
    if isinstance(error, errors.CurationError):
      raise
    raise errors.CurationError(str(error)) from error


def files(folder: pathlib.Path) -> list[pathlib.Path]:
  """Lists the files that define an encoder."""
  return [folder / encoder_file.ABOUT, folder / encoder_file.WEIGHTS]

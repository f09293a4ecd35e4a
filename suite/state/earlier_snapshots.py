# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Snapshots as suite 0.1 wrote them: a folder with JSON and TensorFlow's or numpy's own files."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import numpy as np

CHECKPOINT = "checkpoint/"  # Before the name of a file of a checkpoint of TensorFlow.


def read(folder: pathlib.Path) -> tuple[dict[str, Any], dict[str, np.ndarray]]:
  """The values and arrays of a folder; files of a checkpoint are arrays of bytes."""
  texts = [folder / name for name in ("state.json", "journal.json") if (folder / name).exists()]
  if not texts:
    raise FileNotFoundError("state.json is missing")
  values: dict[str, Any] = json.loads(texts[0].read_text())
  arrays = {CHECKPOINT + path.name: np.fromfile(path, np.uint8)
            for path in sorted(folder.glob("learner.*"))}
  if values.get("partial") is not None:
    with np.load(folder / "partial.npz", allow_pickle=False) as data:
      arrays.update({key: data[key] for key in data.files})
  return values, arrays

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Checkpoints of PyTorch as encoders of the suite; nothing is unpickled."""

from __future__ import annotations

import hashlib
import pathlib
from typing import Any

from suite.models.clip import weight_files
from suite.models.torchvision import torch_resnet
from suite.state import encoder_file
from tfds_builders.parsers import torch_file

_SAFE = ".safetensors"


def convert(path: pathlib.Path, out: pathlib.Path, *, net: str | None = None, image_size: int = 224
            ) -> str:
  """Converts a checkpoint; returns a line that says what was found.

  Args:
    path: a file of `torch.save`, or .safetensors.
    out: directory for encoder.npz, encoder.json and classifier.npz.
    net: name of the net that it must be; None: any ResNet.
    image_size: S of the encoder.
  """
  if not path.is_file():
    raise FileNotFoundError(f"There is no file of weights {str(path)!r}.")
  found = torch_resnet.read(_content(path), str(path), net)
  name = torch_resnet.named(found.net)
  model = torch_resnet.resnet(
      (image_size, image_size, 3), found.net, name if name in torch_resnet.KNOWN else "resnet")
  torch_resnet.assign(model, found)
  encoder_file.save(out, model, {"source": {
      "file": path.name, "sha256": _sha256(path), "layout": found.layout}})
  said = f"{path.name}: {name}, {found.layout}; {out / encoder_file.WEIGHTS}"
  if found.classifier is None:
    return f"{said}; no classifier"
  encoder_file.save_classifier(out, *found.classifier)
  return f"{said}; a classifier of {len(found.classifier[1])} classes, {encoder_file.CLASSIFIER}"


def _content(path: pathlib.Path) -> Any:
  return (weight_files.read(path) if path.suffix == _SAFE
          else torch_file.load(path.read_bytes(), str(path)))


def _sha256(path: pathlib.Path) -> str:
  found = hashlib.sha256()
  with path.open("rb") as file:
    for block in iter(lambda: file.read(1 << 20), b""):
      found.update(block)
  return found.hexdigest()

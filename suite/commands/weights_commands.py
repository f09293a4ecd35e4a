# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite weights convert`: a checkpoint of PyTorch becomes an encoder; nothing is unpickled."""

from __future__ import annotations

import argparse
import hashlib
import pathlib

from suite.commands import parsing
from suite.configs import run_settings


def add(weights: argparse.ArgumentParser) -> None:
  """Adds the action of `suite weights`."""
  convert = parsing.group(weights, "actions", "ACTION").add_parser(
      "convert", help="make an encoder of a checkpoint of torchvision or MoCo",
      description="Reads a ResNet's checkpoint without unpickling it and writes encoder.npz and "
      "encoder.json, and classifier.npz if the checkpoint has a classifier.")
  run_settings.add_flags(convert, "debug")
  convert.add_argument("file", metavar="FILE", type=pathlib.Path,
                       help=".pth, .pth.tar or .pt of torch.save, or .safetensors")
  convert.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path,
                       help="directory for the encoder")
  convert.add_argument("--net", metavar="NAME",
                       help="refuse other nets than this: resnet18, resnet50, ... (any ResNet)")
  convert.add_argument("--image_size", type=run_settings.positive, default=224, metavar="S",
                       help="pixels of a side that the encoder takes (224)")
  convert.set_defaults(do=_convert)


def _convert(args: argparse.Namespace) -> int:
  print(convert_checkpoint(args.file, args.out, net=args.net, image_size=args.image_size))
  return 0


def convert_checkpoint(path: pathlib.Path, out: pathlib.Path, *, net: str | None = None,
                       image_size: int = 224) -> str:
  """Converts a checkpoint; returns a line that says what was found.

  Args:
    path: a file of `torch.save`, or .safetensors.
    out: directory for encoder.npz, encoder.json and classifier.npz.
    net: name of the net that it must be; None: any ResNet.
    image_size: S of the encoder.
  """
  from suite.models.clip import weight_files
  from suite.models.torchvision import torch_resnet
  from suite.state import encoder_file
  from tfds_builders.parsers import torch_file
  if not path.is_file():
    raise FileNotFoundError(f"There is no file of weights {str(path)!r}.")
  content = (weight_files.read(path) if path.suffix == ".safetensors"
             else torch_file.load(path.read_bytes(), str(path)))
  digest = hashlib.sha256()
  with path.open("rb") as file:
    for block in iter(lambda: file.read(1 << 20), b""):
      digest.update(block)
  found = torch_resnet.read(content, str(path), net)
  name = torch_resnet.named(found.net)
  model = torch_resnet.resnet(
      (image_size, image_size, 3), found.net, name if name in torch_resnet.KNOWN else "resnet")
  torch_resnet.assign(model, found)
  encoder_file.save(out, model, {"source": {
      "file": path.name, "sha256": digest.hexdigest(), "layout": found.layout}})
  said = f"{path.name}: {name}, {found.layout}; {out / encoder_file.WEIGHTS}"
  if found.classifier is None:
    return f"{said}; no classifier"
  encoder_file.save_classifier(out, *found.classifier)
  return f"{said}; a classifier of {len(found.classifier[1])} classes, {encoder_file.CLASSIFIER}"

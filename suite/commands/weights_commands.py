# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite weights convert`: a checkpoint of PyTorch becomes an encoder; nothing is unpickled."""

from __future__ import annotations

import argparse
from collections.abc import Mapping
import pathlib
from typing import Any

from suite.commands import parsing
from suite.configs import run_settings


def add(weights: argparse.ArgumentParser) -> None:
  """Adds the action of `suite weights`."""
  convert = parsing.group(weights, "actions", "ACTION").add_parser(
      "convert", help="make an encoder of a checkpoint of PyTorch",
      description="Reads a checkpoint without unpickling it and writes encoder.npz and "
      "encoder.json, and classifier.npz if the checkpoint has a classifier. Nets: ResNets of "
      "torchvision and MoCo, EfficientNet-Lite, vision transformers of torchvision and timm.")
  run_settings.add_flags(convert, "debug")
  convert.add_argument("file", metavar="FILE", type=pathlib.Path,
                       help=".pth, .pth.tar, .pt or .bin of torch.save, or .safetensors")
  convert.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path,
                       help="directory for the encoder")
  convert.add_argument("--net", metavar="NAME", help="refuse other nets than this: resnet50, "
                       "efficientnet_lite0, vit_b16, ... (the one whose weights the file has)")
  convert.add_argument("--image_size", type=run_settings.positive, metavar="S", help="pixels of a "
                       "side that the encoder takes (the net's own: 224, EfficientNet-Lite0 to 4 "
                       "224, 240, 260, 280, 300)")
  convert.add_argument("--pixels", choices=("symmetric", "imagenet"), help="of a transformer: how "
                       "pixels are scaled (torchvision: imagenet, timm: symmetric)")
  convert.add_argument("--license", metavar="ID", help="of the weights, for encoder.json, where "
                       "the file is not a known one")
  convert.add_argument("--year", type=run_settings.positive, metavar="Y",
                       help="in which they were published, likewise")
  convert.add_argument("--flops", type=float, metavar="N",
                       help="of their training, likewise (unknown)")
  convert.set_defaults(do=_convert)


def _convert(args: argparse.Namespace) -> int:
  given = {"license": args.license, "year": args.year}
  if args.flops is not None:
    given["cost"] = {"flops": round(args.flops), "macs": None}
    given["cost_is"] = "given with --flops"
  print(convert_checkpoint(
      args.file, args.out, net=args.net, image_size=args.image_size, pixels=args.pixels,
      given={key: value for key, value in given.items() if value is not None}))
  return 0


def convert_checkpoint(path: pathlib.Path, out: pathlib.Path, *, net: str | None = None,
                       image_size: int | None = None, pixels: str | None = None,
                       given: Mapping[str, Any] | None = None) -> str:
  """Converts a checkpoint; returns a line that says what was found.

  Args:
    path: a file of `torch.save`, or .safetensors.
    out: directory for encoder.npz, encoder.json and classifier.npz.
    net: name of the net that it must be; None: the one whose weights it has.
    image_size: S of the encoder; None: the net's own.
    pixels: "symmetric" or "imagenet", of a transformer; None: as nets of its layout have it.
    given: entries of encoder.json that replace those of a known file.
  """
  from suite.models.torchvision import efficientnet_lite
  from suite.models.torchvision import torch_resnet
  from suite.models.torchvision import torch_vit
  from suite.models.torchvision import torch_weights
  from suite.running import nets
  from suite.state import encoder_file
  families = (efficientnet_lite, torch_vit, torch_resnet)
  known = [name for family in families for name in family.KNOWN]
  if net is not None and net not in known:
    raise ValueError(f"Unknown net {net!r}; allowed are {', '.join(known)}.")
  arrays, digest = nets.read_arrays(path)
  if net is not None:
    family = next(one for one in families if net in one.KNOWN)
  elif efficientnet_lite.STEM in arrays:
    family = efficientnet_lite
  else:
    family = torch_vit if torch_vit.layout_of(arrays) else torch_resnet
  found = family.read(arrays, str(path), net)
  if pixels and family is not torch_vit:
    raise ValueError(f"--pixels {pixels} was given for {found.name}, which scales pixels in one "
                     "way. Leave it out.")
  model = (torch_vit.build(found, image_size, pixels) if family is torch_vit
           else family.build(found, image_size))
  torch_weights.assign(model, found)
  encoder_file.save(out, model, {
      "source": {"file": path.name, "sha256": digest, "layout": found.layout},
      **torch_weights.about(digest), **(given or {})})
  said = f"{path.name}: {found.name}, {found.layout}; {out / encoder_file.WEIGHTS}"
  if found.classifier is None:
    return f"{said}; no classifier"
  encoder_file.save_classifier(out, *found.classifier)
  return f"{said}; a classifier of {len(found.classifier[1])} classes, {encoder_file.CLASSIFIER}"

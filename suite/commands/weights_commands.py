# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite weights convert`: a checkpoint of PyTorch becomes an encoder of the suite."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any, Callable


def add(commands: Any, parents: list[argparse.ArgumentParser], positive: Callable[[str], int]
        ) -> None:
  """Adds the command and its action to the parser of `suite`."""
  weights = commands.add_parser("weights", help="convert weights of PyTorch")
  weights.set_defaults(do=lambda args: _help(weights))
  actions = weights.add_subparsers(title="actions", metavar="ACTION")
  convert = actions.add_parser(
      "convert", parents=parents, help="make an encoder of a checkpoint of torchvision or MoCo",
      description="Reads a ResNet's checkpoint without unpickling it and writes encoder.npz and "
      "encoder.json, and classifier.npz if the checkpoint has a classifier.")
  convert.add_argument("file", metavar="FILE", type=pathlib.Path,
                       help=".pth, .pth.tar or .pt of torch.save, or .safetensors")
  convert.add_argument("--out", required=True, metavar="DIR", type=pathlib.Path,
                       help="directory for the encoder")
  convert.add_argument("--net", metavar="NAME",
                       help="refuse other nets than this: resnet18, resnet50, ... (any ResNet)")
  convert.add_argument("--image_size", type=positive, default=224, metavar="S",
                       help="pixels of a side that the encoder takes (224)")
  convert.set_defaults(do=_convert)


def _help(parser: argparse.ArgumentParser) -> int:
  parser.print_help(sys.stderr)
  return 2


def _convert(args: argparse.Namespace) -> int:
  from suite.commands import weight_conversion
  print(weight_conversion.convert(args.file, args.out, net=args.net, image_size=args.image_size))
  return 0

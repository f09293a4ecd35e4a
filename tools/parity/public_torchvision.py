# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes ResNets with generated weights and what torchvision computes with them.

  PYTHON tools/parity/public_torchvision.py FOLDER [--small] [--size 224]

PYTHON has torch, torchvision and safetensors. FOLDER gets, for ResNet-18 and -50, NAME.pth (a state
dict, in the zip format), NAME.safetensors, and NAME_moco.pth.tar (a checkpoint as MoCo writes it,
in the format before torch 1.6), and answers.npz: pixels, features and logits. Compare by

  suite weights convert FOLDER/resnet50.pth --out DIR
  python tools/parity/torchvision_parity.py FOLDER

`--small` makes nets of few channels instead, of torchvision's own blocks, for the tests.
"""

from __future__ import annotations

import argparse
import importlib.util
import pathlib
import re
from typing import Any

import numpy as np
import torch

MEAN, STD = (.485, .456, .406), (.229, .224, .225)
NETS = ("resnet18", "resnet50")
# Stage blocks, whether bottlenecks, channels: those of --small.
SMALL = {"resnet18": ((2, 1, 1, 1), False, 4), "resnet50": ((1, 2, 1, 1), True, 2)}


def _torchvision() -> Any:
  """Imports torchvision; its compiled operations, which no ResNet needs, may be of another build.
  """
  root = pathlib.Path(importlib.util.find_spec("torchvision").submodule_search_locations[0])
  text = (root / "_meta_registrations.py").read_text()
  library = torch.library.Library("torchvision", "FRAGMENT")
  for name in {"nms", *re.findall(r'register_(?:meta|fake)\("(?:torchvision::)?(\w+)"', text)}:
    if not hasattr(torch.ops.torchvision, name):
      library.define(f"{name}(Tensor x) -> Tensor")
  import torchvision
  torchvision.kept = library  # Its definitions end with the object.
  return torchvision


def _net(torchvision: Any, name: str, small: bool) -> torch.nn.Module:
  resnet = torchvision.models.resnet
  if not small:
    return getattr(torchvision.models, name)()
  blocks, bottleneck, channels = SMALL[name]

  class Small(resnet.ResNet):
    """torchvision's ResNet, its forward pass and blocks, of few channels."""

    def __init__(self):
      torch.nn.Module.__init__(self)
      kind = resnet.Bottleneck if bottleneck else resnet.BasicBlock
      self._norm_layer, self.dilation = torch.nn.BatchNorm2d, 1
      self.inplanes, self.groups, self.base_width = channels, 1, 64
      self.conv1 = torch.nn.Conv2d(3, channels, 7, stride=2, padding=3, bias=False)
      self.bn1, self.relu = torch.nn.BatchNorm2d(channels), torch.nn.ReLU(inplace=True)
      self.maxpool = torch.nn.MaxPool2d(3, stride=2, padding=1)
      for i, count in enumerate(blocks):
        setattr(self, f"layer{i + 1}", self._make_layer(
            kind, channels * 2 ** i, count, stride=2 if i else 1))
      self.avgpool = torch.nn.AdaptiveAvgPool2d((1, 1))
      self.fc = torch.nn.Linear(channels * 8 * kind.expansion, 10)

  return Small()


@torch.no_grad()
def _generate(net: torch.nn.Module) -> None:
  """Norms, too, get weights and statistics that differ from channel to channel."""
  torch.manual_seed(0)
  for module in net.modules():
    if isinstance(module, torch.nn.BatchNorm2d):
      module.weight.uniform_(.5, 1.5)
      module.bias.uniform_(-.5, .5)
      module.running_mean.uniform_(-.5, .5)
      module.running_var.uniform_(.5, 2.)
    elif isinstance(module, torch.nn.Conv2d):
      torch.nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")


def _moco(state: dict[str, torch.Tensor], width: int) -> dict[str, Any]:
  """A checkpoint as main_moco.py of MoCo V2 writes it."""
  found = {}
  for encoder in ("encoder_q", "encoder_k"):
    for key, value in state.items():
      if not key.startswith("fc."):
        found[f"module.{encoder}.{key}"] = value if encoder == "encoder_q" else 2 * value
    for layer, outputs in ((0, width), (2, 8)):
      found[f"module.{encoder}.fc.{layer}.weight"] = torch.zeros(outputs, width)
      found[f"module.{encoder}.fc.{layer}.bias"] = torch.zeros(outputs)
  found["module.queue"], found["module.queue_ptr"] = torch.zeros(8, 16), torch.zeros(1).long()
  return {"epoch": 200, "arch": "resnet50", "state_dict": found,
          "optimizer": {"state": {}, "param_groups": [{"lr": 0.03, "momentum": 0.9}]}}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--small", action="store_true")
  parser.add_argument("--size", type=int, default=224)
  args = parser.parse_args()
  args.folder.mkdir(parents=True, exist_ok=True)
  torchvision = _torchvision()
  pixels = np.random.default_rng(0).integers(0, 256, [3, args.size, args.size, 3], np.uint8)
  inputs = torch.tensor(pixels).permute(0, 3, 1, 2) / 255.
  inputs = (inputs - torch.tensor(MEAN)[:, None, None]) / torch.tensor(STD)[:, None, None]
  answers = {"pixels": pixels}
  for name in NETS:
    net = _net(torchvision, name, args.small)
    _generate(net)
    net.eval()
    with torch.no_grad():
      logits = net(inputs)
      head, net.fc = net.fc, torch.nn.Identity()
      features = net(inputs)
      net.fc = head
    answers[f"{name}_features"], answers[f"{name}_logits"] = features.numpy(), logits.numpy()
    state = net.state_dict()
    if not args.small or name == "resnet18":
      torch.save(state, args.folder / f"{name}.pth")
    if not args.small or name == "resnet50":
      torch.save(_moco(state, features.shape[1]), args.folder / f"{name}_moco.pth.tar",
                 _use_new_zipfile_serialization=False)
    if not args.small:
      import safetensors.torch
      safetensors.torch.save_file(state, args.folder / f"{name}.safetensors")
  np.savez_compressed(args.folder / "answers.npz", **answers)


if __name__ == "__main__":
  main()

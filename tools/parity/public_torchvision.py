# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes nets with generated weights and what torchvision and timm compute with them.

  PYTHON tools/parity/public_torchvision.py FOLDER [--small] [--size 224] [--lite FILE ...]

PYTHON has torch, torchvision, timm and safetensors. FOLDER gets, for ResNet-18 and -50, NAME.pth (a
state dict, in the zip format), NAME.safetensors, and NAME_moco.pth.tar (a checkpoint as MoCo writes
it, in the format before torch 1.6); vit_b_16.pth of torchvision, vit_base.safetensors of timm; and
answers.npz: pixels, features and logits. `--lite` names files of EfficientNet-Lite, which are
linked: timm's nets compute with their weights. Compare by

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


@torch.no_grad()
def _transformers(torchvision: Any, folder: pathlib.Path, pixels: np.ndarray, inputs: torch.Tensor
                  ) -> dict[str, np.ndarray]:
  """Writes a ViT-B/16 of torchvision and one of timm, each with weights as it begins."""
  import safetensors.torch
  import timm
  net, features = torchvision.models.vit_b_16().eval(), []
  torch.nn.init.normal_(net.heads.head.weight, 0, .05)
  net.heads.register_forward_pre_hook(lambda _, given: features.append(given[0].numpy()))
  logits = net(inputs).numpy()
  torch.save(net.state_dict(), folder / "vit_b_16.pth")
  other = timm.create_model("vit_base_patch16_224", pretrained=False).eval()
  torch.nn.init.normal_(other.head.weight, 0, .05)
  for block in other.blocks:
    torch.nn.init.normal_(block.attn.qkv.weight, 0, .05)
    torch.nn.init.normal_(block.attn.qkv.bias, 0, .1)
  safetensors.torch.save_file(other.state_dict(), folder / "vit_base.safetensors")
  scaled = torch.tensor(pixels).permute(0, 3, 1, 2) / 127.5 - 1
  tokens = other.forward_features(scaled)
  return {"vit_b_16_features": features[0], "vit_b_16_logits": logits,
          "vit_base_features": other.forward_head(tokens, pre_logits=True).numpy(),
          "vit_base_logits": other.forward_head(tokens).numpy()}


@torch.no_grad()
def _lite(path: pathlib.Path, folder: pathlib.Path) -> dict[str, np.ndarray]:
  """Links a file of EfficientNet-Lite, whose arrays are in the order of timm's."""
  import timm
  number, name = int(re.search(r"lite(\d)", path.name).group(1)), path.name.split(".")[0]
  side = (224, 240, 260, 280, 300)[number]
  net = timm.create_model(f"tf_efficientnet_lite{number}", pretrained=False).eval()
  state, given = net.state_dict(), torch.load(path, map_location="cpu")
  assert [a.shape for a in state.values()] == [a.shape for a in given.values()]
  net.load_state_dict(dict(zip(state, given.values())))
  pixels = np.random.default_rng(number).integers(0, 256, [3, side, side, 3], np.uint8)
  maps = net.forward_features((torch.tensor(pixels).permute(0, 3, 1, 2) - 127.) / 128.)
  (folder / path.name).unlink(missing_ok=True)
  (folder / path.name).symlink_to(path.resolve())
  return {f"{name}_pixels": pixels, f"{name}_logits": net.forward_head(maps).numpy(),
          f"{name}_features": net.forward_head(maps, pre_logits=True).numpy()}


def main() -> None:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("folder", type=pathlib.Path)
  parser.add_argument("--small", action="store_true")
  parser.add_argument("--size", type=int, default=224)
  parser.add_argument("--lite", nargs="*", type=pathlib.Path, default=[])
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
  if not args.small:
    answers.update(_transformers(torchvision, args.folder, pixels, inputs))
  for path in args.lite:
    answers.update(_lite(path, args.folder))
  np.savez_compressed(args.folder / "answers.npz", **answers)


if __name__ == "__main__":
  main()

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The authors' and the field's public code, as published, with PyTorch; independent of the suite.

Each line "CASE NUMBER" of the input does so much of a case and prints the seconds. Rows come from
a tensor, without a loader, and are not augmented.

  er, der_plus_plus    aimagelab/mammoth: NUMBER steps of B rows
  ewc                  GMvandeVen/continual-learning: NUMBER steps of B rows, then the Fisher
                       information of M rows
  ranpac, fecam        sun-hailong/LAMDA-PILOT: ten phases of ten classes and B rows, RanPAC on M
                       random features, with NUMBER predictions after each phase. FeCAM there
                       inverts its matrices for each set of predictions.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import contextlib
import importlib
import io
import pathlib
import sys
import time
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "parity"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "parity" / "methods"))

import public_code
import public_mammoth
import torch

MODELS = {"er": ("er", "Er"), "der_plus_plus": ("derpp", "Derpp")}
_ROWS, _WIDTH, _FEATURES, _PHASES = 4096, 784, 768, 10
Act = Callable[[int], None]


class _Series:
  """What Mammoth's models ask of their data set."""

  SETTING, N_TASKS, N_CLASSES, N_CLASSES_PER_TASK = "class-il", 1, 10, 10
  get_normalization_transform = staticmethod(lambda: None)


def _batches(shape: list[int], batch: int, step: Callable[[torch.Tensor, torch.Tensor], Any]
             ) -> Act:
  generator = torch.Generator().manual_seed(0)
  rows = torch.randn([_ROWS, *shape], generator=generator)
  labels = torch.randint(10, [_ROWS], generator=generator)
  at = 0

  def act(steps: int) -> None:
    nonlocal at
    for _ in range(steps):
      step(rows[at:at + batch], labels[at:at + batch])
      at = (at + batch) % (_ROWS - batch)

  return act


def replay(method: str, net: str, batch: int, slots: int) -> Act:
  """Mammoth's model with its net, 32 x 32 images or 784 features to 10 classes."""
  for name in ("datasets", "datasets.utils", "datasets.utils.continual_dataset"):
    sys.modules[name] = public_code.blank(name)  # Theirs import what only images need.
  with public_code.stand_ins(*public_mammoth.STAND_INS):
    file, name = MODELS[method]
    module = importlib.import_module(f"models.{file}")
    nets = importlib.import_module("backbone.MNISTMLP" if net == "mlp" else "backbone.ResNetBlock")
  args = argparse.Namespace(**{
      **public_mammoth._DEFAULTS, "batch_size": batch, "buffer_size": slots,
      "minibatch_size": batch, "alpha": 0.3, "beta": 0.5, "lr": 0.03})
  made = nets.BaseMNISTMLP(_WIDTH, 10) if net == "mlp" else nets.resnet18(10)
  if net != "mlp":
    made = made.to("cpu", memory_format=torch.channels_last)
  model = getattr(module, name)(made, torch.nn.functional.cross_entropy, args, None,
                                dataset=_Series())
  model.net.train()
  return _batches([_WIDTH] if net == "mlp" else [3, 32, 32], batch,
                  lambda rows, labels: model.observe(rows, labels, rows))


def ewc(batch: int, observed: int) -> Act:
  """Their classifier of 784-100-100-10, which has learned a task before."""
  with public_code.stand_ins("torchvision", "torchvision.transforms", "torchvision.datasets"):
    module = importlib.import_module("models.classifier")
  model = module.Classifier(image_size=28, image_channels=1, classes=10, fc_layers=3, fc_units=100,
                            fc_bn=False)
  for name, value in (("weight_penalty", True), ("importance_weighting", "fisher"),
                      ("fisher_labels", "sample"), ("offline", True), ("reg_strength", 1.0)):
    assert hasattr(model, name), name
    setattr(model, name, value)
  model.optimizer = torch.optim.SGD(model.parameters(), lr=0.03)
  generator = torch.Generator().manual_seed(1)
  seen = torch.utils.data.TensorDataset(
      torch.randn([observed, 1, 28, 28], generator=generator),
      torch.randint(10, [observed], generator=generator))
  steps = _batches([1, 28, 28], batch, lambda rows, labels: model.train_a_batch(rows, labels))

  def act(number: int) -> None:
    model.train()
    steps(number)
    model.context_count = 0  # The sum of all phases stays as large: this one takes its place.
    model.estimate_fisher(seen)
    model.context_count = 1

  act(1)
  return act


def pilot(method: str, batch: int, size: int) -> Act:
  """PILOT's learner whose backbone is the identity."""
  with public_code.stand_ins("torchvision", "torchvision.transforms", "torchvision.datasets",
                             "torchvision.models", "timm", "timm.models", "timm.models.layers",
                             "timm.models.layers.weight_init", "easydict"):
    module = importlib.import_module(f"models.{method}")
  learner = object.__new__(module.Learner)
  classes = 10 * _PHASES
  generator = torch.Generator().manual_seed(0)
  rows = torch.randn([_PHASES, batch, _FEATURES], generator=generator).relu()
  labels = torch.stack([10 * phase + torch.arange(batch) % 10 for phase in range(_PHASES)])
  asked = torch.randn([_ROWS, _FEATURES], generator=generator).relu()
  network = types.SimpleNamespace(
      fc=types.SimpleNamespace(weight=torch.nn.Parameter(
          torch.zeros(classes, _FEATURES), requires_grad=False),
          in_features=_FEATURES, out_features=classes),
      extract_vector=lambda x: x, backbone=lambda x: x, feature_dim=_FEATURES)
  network.eval = lambda: network
  learner.args = {"M": size, "nb_classes": classes}
  learner._network, learner._device = network, torch.device("cpu")
  learner._total_classes, learner.alpha = classes, 100
  if method == "ranpac":
    learner.setup_RP()

  def act(number: int) -> None:
    learner.cov_mats = []
    for phase in range(_PHASES):
      learner.train_dataset = types.SimpleNamespace(labels=labels[phase].numpy())
      learner.replace_fc([(0, rows[phase], labels[phase])], network, None)
      learner._total_classes = 10 * (phase + 1)
      with torch.no_grad():
        if method == "ranpac":
          (torch.relu(asked[:number] @ learner.W_rand) @ network.fc.weight.T).argmax(1)
        else:
          learner._maha_dist(asked[:number].numpy(), network.fc.weight.data, learner.cov_mats)

  return act


def main() -> None:
  parser = argparse.ArgumentParser()
  parser.add_argument("--batches", required=True, help="CASE=METHOD,NET,B,M of each case")
  args = public_code.options(parser)
  sys.path.insert(0, str(args.checkout))
  cases: dict[str, Act] = {}
  for part in args.batches.split():
    name, _, settings = part.partition("=")
    method, net, batch, size = settings.split(",")
    with contextlib.redirect_stdout(io.StringIO()):
      if method in MODELS:
        cases[name] = replay(method, net, int(batch), int(size))
      elif method == "ewc":
        cases[name] = ewc(int(batch), int(size))
      else:
        cases[name] = pilot(method, int(batch), int(size))
  print("ready", flush=True)
  for line in sys.stdin:
    name, number = line.split()
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
      cases[name](int(number))
    print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
  main()

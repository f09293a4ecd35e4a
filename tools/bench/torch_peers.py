# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mammoth's ER and DER++, as published, in an environment with PyTorch; independent of the suite.

Each line "CASE STEPS" of the input takes so many steps and prints their seconds. Rows come from a
tensor, without a loader, and are not augmented.
"""

from __future__ import annotations

import argparse
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


class _Series:
  """What models ask of their data set."""

  SETTING, N_TASKS, N_CLASSES, N_CLASSES_PER_TASK = "class-il", 1, 10, 10
  get_normalization_transform = staticmethod(lambda: None)


def _model(method: str, net: str, batch: int, slots: int) -> Any:
  """Their model with their net, 32 x 32 images or 784 features to 10 classes."""
  for name in ("datasets", "datasets.utils", "datasets.utils.continual_dataset"):
    sys.modules[name] = public_code.blank(name)  # Theirs import what only images need.
  with public_code.stand_ins(*public_mammoth.STAND_INS):
    file, name = MODELS[method]
    module = importlib.import_module(f"models.{file}")
    nets = importlib.import_module("backbone.MNISTMLP" if net == "mlp" else "backbone.ResNetBlock")
  args = argparse.Namespace(**{
      **public_mammoth._DEFAULTS, "batch_size": batch, "buffer_size": slots,
      "minibatch_size": batch, "alpha": 0.3, "beta": 0.5, "lr": 0.03})
  made = nets.BaseMNISTMLP(784, 10) if net == "mlp" else nets.resnet18(10)
  if net != "mlp":
    made = made.to(memory_format=torch.channels_last)
  found = getattr(module, name)(made, torch.nn.functional.cross_entropy, args, None,
                                dataset=_Series())
  found.net.train()
  return found


def main() -> None:
  parser = argparse.ArgumentParser()
  parser.add_argument("--batches", required=True, help="CASE=METHOD,NET,B,M of each case")
  args = public_code.options(parser)
  sys.path.insert(0, str(args.checkout))
  cases: dict[str, Any] = {}
  for part in args.batches.split():
    name, _, settings = part.partition("=")
    method, net, batch, slots = settings.split(",")
    shape = [784] if net == "mlp" else [3, 32, 32]
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn([4096, *shape], generator=generator)
    with contextlib.redirect_stdout(io.StringIO()):
      model = _model(method, net, int(batch), int(slots))
    cases[name] = types.SimpleNamespace(
        model=model, rows=rows, batch=int(batch), at=0,
        labels=torch.randint(10, [4096], generator=generator))
  print("ready", flush=True)
  for line in sys.stdin:
    name, steps = line.split()
    case, began = cases[name], time.perf_counter()
    for _ in range(int(steps)):
      places = slice(case.at, case.at + case.batch)
      case.model.observe(case.rows[places], case.labels[places], case.rows[places])
      case.at = (case.at + case.batch) % (4096 - case.batch)
    print(time.perf_counter() - began, flush=True)


if __name__ == "__main__":
  main()

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs learners of PyCIL and SLCA that are trained by gradient on short tasks.

A step takes all rows of a task.

Settings: `method`, one of `_METHODS`; `values` of the module, which it has as global names.
"""

from __future__ import annotations

import importlib
import logging
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cpu_torch  # noqa: F401
import numpy as np
import public_code
import public_incremental
import public_nets
import torch

_STAND_INS = ("torchvision", "torchvision.transforms", "torchvision.datasets", "torchvision.models",
              "timm", "timm.models", "timm.models.layers", "timm.models.layers.weight_init",
              "timm.models.helpers", "timm.models.registry", "timm.models.vision_transformer",
              "timm.data", "easydict")
Arrays = public_code.Arrays


class _Manager(public_incremental.Manager):
  """Tasks as phases of classes."""

  dataset_name = "tasks"

  def __init__(self, arrays: Arrays):
    num, classes = len(arrays["train"]), arrays["kernel_2"].shape[1]
    super().__init__({
        "train": np.concatenate(arrays["train"]), "test": arrays["test"],
        "train_labels": np.concatenate(arrays["train_labels"]),
        "test_labels": np.zeros(len(arrays["test"]), np.int64),
        "phases": np.full(num, classes // num)})

  def get_dataset(self, *arguments: Any, with_raw: bool = False, **named: Any) -> Any:
    del with_raw  # Of SLCA.
    return super().get_dataset(*arguments, **named)


class _Body(public_nets.Mlp):
  """The hidden layer as a backbone of theirs."""

  def __init__(self, arrays: Arrays):
    super().__init__(arrays)
    del self.classifier
    self.out_dim = self.feature_dim = arrays["kernel_1"].shape[1]

  def forward(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"features": self.features(rows)}


def _column(arrays: Arrays, classes: slice) -> torch.nn.Linear:
  return public_nets.linear({name: np.ascontiguousarray(arrays[name][..., classes])
                             for name in ("kernel_2", "bias_2")}, 2)


def _wa(module: Any, arrays: Arrays) -> Any:
  """A learner whose new classes begin with the first weights."""
  learner = module.WA({"memory_size": 8, "device": [torch.device("cpu")], "convnet_type": "mlp"})
  own = learner._network.update_fc

  def update(num: int) -> None:
    known = 0 if learner._network.fc is None else learner._network.fc.out_features
    own(num)
    first = _column(arrays, slice(0, num))
    for parameter, value in zip((learner._network.fc.weight, learner._network.fc.bias),
                                (first.weight, first.bias)):
      parameter.data[known:] = value.data[known:]

  learner._network.update_fc = update
  return learner


def _slca(module: Any, arrays: Arrays) -> Any:
  """A learner whose heads begin with the first weights."""
  learner = module.SLCA({
      "model_name": "slca", "model_postfix": "", "prefix": "", "memory_size": 0, "run_id": 0,
      "device": [torch.device("cpu")], "convnet_type": "mlp", "seed": 0,
      "memory_per_class": 0, "fixed_memory": False,
      "bcb_lrscale": 0.25, "lr": 0.1, "ca_epochs": 0, "epochs": module.epochs})
  learner.save_checkpoint = lambda *_, **__: None
  own = learner._network.update_fc

  def update(num: int) -> None:
    own(num)
    heads = learner._network.fc.heads
    heads[-1][-1] = _column(arrays, slice(num * (len(heads) - 1), num * len(heads)))

  learner._network.update_fc = update
  return learner


_METHODS = {"wa": _wa, "slca": _slca}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Logits [T, M, C] of the tests after each task, 0 for classes to come."""
  sys.path.insert(0, str(checkout))
  logging.disable(logging.CRITICAL)
  with public_code.stand_ins(*_STAND_INS):
    module = importlib.import_module(f"models.{settings['method']}")
    nets = importlib.import_module("utils.inc_net")
  nets.get_convnet = lambda *_: _Body(arrays)
  for name, value in settings["values"].items():
    if not hasattr(module, name):
      raise ValueError(f"{module.__name__} has no {name!r}.")
    setattr(module, name, value)
  learner, manager = _METHODS[settings["method"]](module, arrays), _Manager(arrays)
  logits = []
  for _ in arrays["train"]:
    learner.incremental_train(manager)
    learner.after_task()
    learner._network.eval()
    with torch.no_grad():
      found = learner._network(torch.from_numpy(arrays["test"]))["logits"].numpy()
    logits.append(np.pad(found, [(0, 0), (0, arrays["kernel_2"].shape[1] - found.shape[1])]))
  return {"logits": np.stack(logits)}


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

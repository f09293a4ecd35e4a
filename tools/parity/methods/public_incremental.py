# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs learners of PyCIL and of repositories with its form on features of classes in phases.

PyCIL, LAMDA-PILOT, RanPAC, FeCAM and LoRanPAC have a class a method, which a data manager gives a
phase after the other. Here the backbone is the identity, and loaders keep the order of rows.
"""

from __future__ import annotations

import importlib
import logging
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import method_fixtures
import numpy as np
import public_code
import torch

_STAND_INS = (
    "torchvision", "torchvision.transforms", "torchvision.datasets", "torchvision.models", "timm",
    "timm.models", "timm.models.layers", "timm.models.layers.weight_init", "easydict")


class _Rows(torch.utils.data.Dataset):
  """Items are (index, features, label), as those of their data sets."""

  def __init__(self, rows: np.ndarray, labels: np.ndarray):
    self.images, self.labels = rows, labels

  def __len__(self) -> int:
    return len(self.labels)

  def __getitem__(self, place: int) -> tuple[int, torch.Tensor, int]:
    return place, torch.from_numpy(self.images[place]), int(self.labels[place])


class _Manager:
  """What learners ask of their data manager."""

  def __init__(self, arrays: method_fixtures.Arrays):
    self._arrays, self.nb_tasks = arrays, len(arrays["phases"])
    self.nb_classes = int(arrays["phases"].sum())

  def get_task_size(self, task: int) -> int:
    return int(self._arrays["phases"][task])

  def get_total_classnum(self) -> int:
    return self.nb_classes

  def get_dataset(self, indices: np.ndarray, source: str, mode: str, appendent: Any = None,
                  ret_data: bool = False) -> Any:
    del mode
    labels = self._arrays[f"{source}_labels"]
    chosen = np.isin(labels, indices)
    rows, labels = self._arrays[source][chosen], labels[chosen]
    if appendent is not None and len(appendent):
      rows, labels = np.concatenate([rows, appendent[0]]), np.concatenate([labels, appendent[1]])
    found = _Rows(rows, labels)
    return (rows, labels, found) if ret_data else found


class _Identity(torch.nn.Module):
  """A backbone that returns its inputs."""

  def __init__(self, out_dim: int):
    super().__init__()
    self.out_dim = self.feature_dim = out_dim

  def forward(self, rows: torch.Tensor) -> torch.Tensor:
    return rows


def _in_order(dataset: Any, batch_size: int = 1, **settings: Any) -> Any:
  """A loader in this process that does not shuffle."""
  del settings
  return torch.utils.data.DataLoader(dataset, batch_size=batch_size)


def _imported(module: str) -> Any:
  with public_code.stand_ins(*_STAND_INS):
    found = importlib.import_module(module)
  found.DataLoader = _in_order
  return found


def _phases(learner: Any, arrays: method_fixtures.Arrays) -> public_code.Arrays:
  """Answers after each phase, and the logits after the last one."""
  manager, logits = _Manager(arrays), []
  tests = torch.from_numpy(arrays["test"])
  for _ in range(manager.nb_tasks):
    learner.incremental_train(manager)
    learner.after_task()
    learner._network.eval()  # pylint: disable=protected-access
    with torch.no_grad():
      logits.append(learner._network(tests)["logits"].numpy())  # pylint: disable=protected-access
  return {"answers": method_fixtures.answers(logits, arrays), "logits": logits[-1][:50]}


def _simple_cil(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  module = _imported("models.simplecil")
  importlib.import_module("utils.inc_net").get_backbone = lambda *_: _Identity(
      arrays["train"].shape[1])
  return _phases(module.Learner({
      "memory_size": 0, "device": [torch.device("cpu")], "backbone_type": "identity"}), arrays)


_METHODS = {"simple_cil": _simple_cil}


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  sys.path.insert(0, str(checkout))
  torch.manual_seed(0)
  logging.disable(logging.CRITICAL)
  return _METHODS[settings["method"]](arrays)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs learners of PyCIL and of repositories with its form on features of classes in phases.

PyCIL, LAMDA-PILOT, RanPAC, FeCAM and LoRanPAC have a class a method, which a data manager gives a
phase after the other. Here the backbone is the identity, and loaders keep the order of rows.
"""

from __future__ import annotations

import importlib
import json
import logging
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cpu_torch  # noqa: F401
import method_fixtures
import numpy as np
import public_code
import torch

_STAND_INS = (
    "torchvision", "torchvision.transforms", "torchvision.datasets", "torchvision.models", "timm",
    "timm.models", "timm.models.layers", "timm.models.layers.weight_init", "easydict",
    "hickle", "tensorly")
_ON_CPU = {"memory_size": 0, "device": [torch.device("cpu")], "convnet_type": "identity",
           "backbone_type": "identity", "dataset": "features", "batch_size": 128}


class _Rows(torch.utils.data.Dataset):
  """Items are (index, features, label), as those of their data sets."""

  def __init__(self, rows: np.ndarray, labels: np.ndarray):
    self.images, self.labels = rows, labels

  def __len__(self) -> int:
    return len(self.labels)

  def __getitem__(self, place: int) -> tuple[int, torch.Tensor, int]:
    return place, torch.from_numpy(self.images[place]), int(self.labels[place])


class Manager:
  """What learners ask of their data manager."""

  def __init__(self, arrays: method_fixtures.Arrays):
    self._arrays, self.nb_tasks = arrays, len(arrays["phases"])
    self.nb_classes = int(arrays["phases"].sum())

  def get_task_size(self, task: int) -> int:
    return int(self._arrays["phases"][task])

  def get_total_classnum(self) -> int:
    return self.nb_classes

  def get_dataset(self, indices: np.ndarray, source: str, mode: str, appendent: Any = None,
                  ret_data: bool = False, shot: Any = None) -> Any:
    del mode, shot
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


def imported(module: str) -> Any:
  with public_code.stand_ins(*_STAND_INS):
    return importlib.import_module(module)


def _phases(learner: Any, arrays: method_fixtures.Arrays, logits_of: Any = None
            ) -> public_code.Arrays:
  """Answers after each phase, and the logits after the last one."""
  manager, logits = Manager(arrays), []
  tests = torch.from_numpy(arrays["test"])
  logits_of = logits_of or (lambda: learner._network(tests)["logits"].numpy())
  for _ in range(manager.nb_tasks):
    learner.incremental_train(manager)
    learner.after_task()
    learner._network.eval()
    with torch.no_grad():
      logits.append(np.asarray(logits_of()))
  return {"answers": method_fixtures.answers(logits, arrays),
          "logits": logits[-1][:50].astype(np.float32)}


def _simple_cil(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  module = imported("models.simplecil")
  importlib.import_module("utils.inc_net").get_backbone = lambda *_: _Identity(
      arrays["train"].shape[1])
  return _phases(module.Learner(_ON_CPU), arrays)


def _ranpac(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  """RanPAC on given weights; without them ridge regression of strength 1 on the features."""
  module, weights = imported("RanPAC"), arrays.get("weights")
  importlib.import_module("inc_net").get_convnet = lambda *_: _Identity(arrays["train"].shape[1])
  learner = module.Learner({**_ON_CPU, "model_name": "ncm", "use_RP": True,
                            "M": 0 if weights is None else weights.shape[1]})
  learner.is_dil = learner.dil_init = False
  own = learner.setup_RP

  def setup() -> None:
    own()
    learner.W_rand = learner._network.fc.W_rand = torch.from_numpy(weights)

  if weights is None:
    learner.optimise_ridge_parameter = lambda *_: 1.0
  else:
    learner.setup_RP = setup
  return _phases(learner, arrays)


class _Features(_Identity):
  """The identity as nets of PyCIL and FeCAM return it."""

  def forward(self, rows: torch.Tensor) -> dict[str, torch.Tensor]:
    return {"features": rows}


def _acil(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  module = imported("models.acil")
  net = importlib.import_module("utils.inc_net")
  net.get_convnet = lambda *_: _Features(arrays["train"].shape[1])
  torch.save({}, "base.pth")  # Weights of the identity: nothing is trained before.
  weights = arrays["weights"]
  learner = module.ACIL({
      **_ON_CPU, "configurations": {"features": {}}, "scheduler": {}, "seed": 0,
      "model_name": "acil", "init_cls": 0, "buffer_size": weights.shape[1], "gamma": 0.1,
      "base_weight": "base.pth"})
  own = learner._network.generate_buffer

  def generate() -> None:
    own()
    learner._network.buffer.weight.copy_(torch.from_numpy(weights.T.copy()))

  learner._network.generate_buffer = generate
  return _phases(learner, arrays)


def _loranpac(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  module = imported("models.tsvd")
  importlib.import_module("utils.inc_net").get_backbone = lambda *_: _Identity(
      arrays["train"].shape[1])
  learner = module.Learner({
      **_ON_CPU, "tsvd_batch_size": 1000, "rank": int(arrays["rank"]), "truncate_percent": 25,
      "ridge": 0, "use_RE": True, "use_relu": True, "E": arrays["weights"].shape[1],
      "save_spectrum": False, "coslinear": False, "nb_classes": int(arrays["phases"].sum())})
  learner._network.RE = torch.from_numpy(arrays["weights"])
  return _phases(learner, arrays)


def _fecam(arrays: method_fixtures.Arrays) -> public_code.Arrays:
  """The first phase is answered by a trained head there, so it is left out."""
  module = imported("models.fecam")
  importlib.import_module("utils.inc_net").get_convnet = lambda *_: _Features(
      arrays["train"].shape[1])
  settings = json.loads((pathlib.Path(module.__file__).parents[1] / "exps" / "FeCAM_cifar100.json"
                         ).read_text(encoding="utf-8"))
  learner = module.FeCAM({**settings, **_ON_CPU, "init_epochs": 0,
                          "increment": int(arrays["phases"][-1])})
  lengths = np.linalg.norm(arrays["test"], axis=1, keepdims=True)

  def logits() -> np.ndarray:  # Half of the negated distances, as ours.
    return -0.5 * learner._maha_dist(
        arrays["test"] / lengths, learner._init_protos, learner._protos).T

  found = _phases(learner, arrays, logits)
  return {**found, "answers": found["answers"][1:]}


_METHODS = {"simple_cil": _simple_cil, "ranpac": _ranpac, "acil": _acil, "loranpac": _loranpac,
            "fecam": _fecam}


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  sys.path.insert(0, str(checkout))
  torch.manual_seed(0)
  logging.disable(logging.CRITICAL)
  return _METHODS[settings["method"]](arrays)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs public code of closed forms that is no learner of PyCIL's kind: classes, functions, scripts.

Scripts run as they are, with stand-ins for their data sets and networks.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import runpy
import sys
import types
from typing import Any
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cpu_torch  # noqa: F401
import method_fixtures
import numpy as np
import public_code
import torch

Arrays = public_code.Arrays
_SHOWN = 50  # Rows whose logits are stored.


def _found(logits: list[np.ndarray], arrays: Arrays) -> Arrays:
  return {"answers": method_fixtures.answers(logits, arrays),
          "logits": logits[-1][:_SHOWN].astype(np.float32)}


def _slda(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  """Sample by sample, as `experiment.py` streams them after no base classes."""
  sys.path.insert(0, str(checkout))
  module, tests, logits = importlib.import_module("SLDA_Model"), arrays["test"], []
  model = module.StreamingLDA(tests.shape[1], int(arrays["phases"].sum()))
  for rows, _ in method_fixtures.in_phases(arrays):
    for row in rows:
      model.fit(torch.from_numpy(arrays["train"][row]), torch.tensor(arrays["train_labels"][row]))
    logits.append(model.predict(torch.from_numpy(tests)).numpy())
  return _found(logits, arrays)


def _randumb_legacy(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  """The model that made the paper's results, on given random features."""
  sys.path.insert(0, str(checkout / "src"))
  model = importlib.import_module("legacy_model").SLDA(
      arrays["weights"].shape[1], int(arrays["phases"].sum()), shrinkage_param=0.0)
  model.fit(torch.from_numpy(_fourier(arrays, arrays["train"])),
            torch.from_numpy(arrays["train_labels"]))
  # Logits are not returned: logarithms of probabilities differ from them by a number a row.
  shares = model.predict(torch.from_numpy(_fourier(arrays, arrays["test"])), return_probas=True)
  logits = np.log(shares.numpy().astype(np.float64))
  return _found([logits - logits.mean(axis=1, keepdims=True)], arrays)


def _fourier(arrays: Arrays, rows: np.ndarray) -> np.ndarray:
  weights = arrays["weights"] / np.sqrt(arrays["train"].var())
  scale = np.sqrt(2.0 / weights.shape[1])
  return (scale * np.cos(rows @ weights + arrays["phases_drawn"])).astype(np.float32)


class _Recorded(torch.Tensor):
  """Labels that remember the predictions with which they were compared."""

  predictions: list[torch.Tensor] = []

  @classmethod
  def __torch_function__(cls, function: Any, kinds: Any, arguments: Any = (), named: Any = None
                         ) -> Any:
    if getattr(function, "__name__", "") == "eq":
      cls.predictions.append(arguments[0].as_subclass(torch.Tensor))
    return super().__torch_function__(function, kinds, arguments, named or {})


def _knn(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  sys.path.insert(0, str(checkout))
  with public_code.stand_ins("torchvision", "torchvision.datasets", "torchvision.transforms",
                             "torchvision.models"):
    module = importlib.import_module("eval_knn")
  train, test = (torch.nn.functional.normalize(torch.from_numpy(arrays[name]), dim=1)
                 for name in ("train", "test"))
  labels, answers = torch.from_numpy(arrays["train_labels"]), []
  wanted = torch.from_numpy(arrays["test_labels"]).as_subclass(_Recorded)
  for phase in range(len(arrays["phases"])):
    known = labels < int(arrays["phases"][:phase + 1].sum())
    _Recorded.predictions = []
    module.knn_classifier(train[known], labels[known], test, wanted, int(arrays["k"]), 0.07,
                          int(arrays["phases"].sum()))
    found = torch.cat(_Recorded.predictions)[:, 0].numpy()
    seen = arrays["test_labels"] < int(arrays["phases"][:phase + 1].sum())
    answers.append(np.where(seen, found, -1))
  return {"answers": np.asarray(answers, np.int16)}


def _randumb(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  """The script, with given random features in scikit-learn's sampler."""
  import sklearn.kernel_approximation as approximation

  class Given(approximation.RBFSampler):
    """A sampler whose draws are given."""

    def fit(self, rows: np.ndarray, labels: Any = None) -> Any:
      super().fit(rows, labels)
      self.random_weights_ = arrays["weights"] / np.sqrt(rows.var())
      self.random_offset_ = arrays["phases_drawn"]
      return self

  for name in ("train", "test"):
    np.save(f"mnist_{name}_features.npy", arrays[name])
    np.save(f"mnist_{name}_labels.npy", arrays[f"{name}_labels"])
  arguments = ["main.py", "--embed", "--embed_dim", str(arrays["weights"].shape[1]),
               "--feature_path", ".", "--log_dir", "logs"]
  with unittest.mock.patch.object(approximation, "RBFSampler", Given), \
       unittest.mock.patch.object(sys, "argv", arguments):
    ran = runpy.run_path(str(checkout / "src" / "main.py"), run_name="__main__")
  return {"answers": np.asarray(ran["preds"], np.int16)[None]}


def _mahalanobis(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  """Simple CNAPS's classifier, between a network and adaptation that change nothing."""
  sys.path.insert(0, str(checkout / "continual-learning"))
  with public_code.stand_ins("torchvision"):
    module = importlib.import_module("simple_cnaps.simple_cnaps")
  identity = types.SimpleNamespace(
      get_encoder=lambda: lambda rows: rows, get_feature_adaptation=lambda: lambda task: None,
      get_feature_extractor=lambda: lambda rows, parameters: rows)
  module.ConfigureNetworks = lambda **_: identity
  net = module.SimpleCnaps("cpu", False, argparse.Namespace(
      pretrained_resnet_path="", feature_adaptation="film",
      continual_learning_strategy="first-encoding"))
  with torch.no_grad():
    logits = net(torch.from_numpy(arrays["train"]), torch.from_numpy(arrays["train_labels"]),
                 torch.from_numpy(arrays["test"]), list(range(int(arrays["phases"].sum()))))
  return _found([0.5 * logits[0].numpy()], arrays)  # Half, as in the paper and ours.


def _fecam_vit(checkout: pathlib.Path, arrays: Arrays) -> Arrays:
  """The script for transformers, which has ten classes a task."""
  class Scenario:
    """A scenario of continuum: its tasks' data sets, one by one or the first ones."""

    def __init__(self, split: str):
      self._split = split

    def __iter__(self) -> Any:
      return (self._of(range(10 * task, 10 * task + 10))
              for task in range(int(arrays["phases"].sum()) // 10))

    def __getitem__(self, tasks: slice) -> Any:
      return self._of(range(10 * tasks.stop))

    def _of(self, classes: range) -> Any:
      labels = arrays[f"{self._split}_labels"]
      chosen = np.isin(labels, classes)
      rows, labels = torch.from_numpy(arrays[self._split][chosen]), labels[chosen]
      return torch.utils.data.TensorDataset(rows, torch.from_numpy(labels), torch.zeros(len(rows)))

  net = types.SimpleNamespace(forward_features=lambda rows: rows[:, None])
  net.cuda = lambda: net
  continuum, timm = types.ModuleType("continuum"), types.ModuleType("timm")
  continuum.datasets = types.ModuleType("continuum.datasets")
  continuum.datasets.CIFAR100 = lambda train, **_: "train" if train else "test"
  continuum.ClassIncremental = lambda split, **_: Scenario(split)
  timm.create_model = lambda *_, **__: net
  sys.modules.update({"continuum": continuum, "continuum.datasets": continuum.datasets,
                      "timm": timm})
  own = torch.utils.data.DataLoader
  torch.utils.data.DataLoader = lambda rows, **_: own(rows, batch_size=len(rows))
  with public_code.stand_ins("torchvision", "torchvision.transforms"):
    ran = runpy.run_path(str(checkout / "FeCAM_vit_cifar100.py"))
  return {"answers": np.asarray(ran["pred"], np.int16)[None],
          "logits": -0.5 * ran["maha_dist"].T[:_SHOWN].astype(np.float32)}


_METHODS = {"slda": _slda, "randumb_legacy": _randumb_legacy, "knn": _knn, "randumb": _randumb,
            "mahalanobis": _mahalanobis, "fecam_vit": _fecam_vit}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  return _METHODS[settings["method"]](checkout, arrays)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "sklearn", "numpy")))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs Mammoth's models on short tasks; a step takes all rows of a task.

Settings: `method`, the module and class of the model; `args`, those of its command line; `steps`
of each task, `later_steps` of later ones; `first`, the task that is begun with; `last`, after how
many tasks there are answers, all if it is not given.
"""

from __future__ import annotations

import argparse
import importlib
import pathlib
import sys
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
import public_code
import public_nets
import torch

STAND_INS = ("torchvision", "torchvision.transforms", "torchvision.transforms.functional",
              "kornia", "kornia.augmentation", "kornia.augmentation.container",
              "kornia.augmentation.container.params", "kornia.constants", "kornia.geometry",
              "kornia.geometry.transform", "setproctitle", "timm", "timm.layers", "timm.models",
              "timm.models._builder", "timm.models._features", "timm.models._manipulate",
              "timm.models._registry", "timm.models.layers", "timm.models.vision_transformer",
              "timm.data", "timm.optim", "timm.optim.optim_factory", "timm.models.registry",
              "timm.models.helpers", "timm.models.features", "clip", "torchvision.models",
              "torchvision.datasets", "tqdm.auto")
_DEFAULTS = {
    "optimizer": "sgd", "optim_wd": 0.0, "optim_mom": 0.0, "optim_nesterov": False, "lr": 0.1,
    "label_perc": 1, "nowand": 1, "buffer_size": 1000, "minibatch_size": 1000, "n_epochs": 1,
    "debug_mode": 0, "device": "cpu", "drop_last": False, "num_workers": 0,
    "seed": 0}


class _Rows:
  """The data set of a task; its items are (row, label, row as it was before augmentation)."""

  def __init__(self, rows: torch.Tensor, labels: torch.Tensor):
    self.data, self.targets = rows.numpy(), labels.numpy()

  def __len__(self) -> int:
    return len(self.data)

  def __getitem__(self, place: int) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    row = torch.as_tensor(self.data[place])
    return row, torch.as_tensor(self.targets[place]), row


class _Loader:
  """All rows of a task as one batch, as they are by then."""

  def __init__(self, rows: _Rows):
    self.dataset = rows

  def __len__(self) -> int:
    return 1

  def __iter__(self) -> Any:
    rows, labels = torch.as_tensor(self.dataset.data), torch.as_tensor(self.dataset.targets)
    yield rows, labels, rows


class _Series:
  """What models ask of their data set."""

  SETTING = "class-il"

  def __init__(self, arrays: public_code.Arrays, args: argparse.Namespace):
    self.args = args
    num, classes = len(arrays["train"]), arrays["kernel_2"].shape[1]
    self.N_TASKS, self.N_CLASSES = num, classes
    self.N_CLASSES_PER_TASK = classes // num
    self.loaders = [_Loader(_Rows(torch.from_numpy(rows), torch.from_numpy(labels)))
                    for rows, labels in zip(arrays["train"], arrays["train_labels"])]
    self.test_loaders: list[None] = []
    self.task = -1

  @property
  def train_loader(self) -> _Loader:
    return self.loaders[self.task]

  def begin(self) -> None:
    self.task += 1
    self.test_loaders.append(None)

  def get_normalization_transform(self) -> None:
    return None

  def get_offsets(self, task: int | None = None) -> tuple[int, int]:
    each = self.N_CLASSES_PER_TASK
    task = self.task if task is None else task
    return each * task, each * (task + 1)


def _net(base: type, arrays: public_code.Arrays) -> Any:
  """A net of one hidden layer, with the first weights."""

  class Net(base):
    def __init__(self):
      super().__init__()
      self.hidden, self.classifier = (public_nets.linear(arrays, place) for place in (1, 2))

    def forward(self, x: torch.Tensor, returnt: str = "out") -> Any:
      features = torch.relu(self.hidden(x))
      if returnt == "features":
        return features
      logits = self.classifier(features)
      return (logits, features) if returnt == "both" else logits

  return Net()


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  """Logits [T, M, C] of the tests after each task."""
  torch.manual_seed(0)
  np.random.seed(0)  # noqa: NPY002 (theirs to use)
  sys.path.insert(0, str(checkout))
  for name in ("datasets", "datasets.utils", "datasets.utils.continual_dataset"):
    sys.modules[name] = public_code.blank(name)  # Theirs import what only images need.
  with public_code.stand_ins(*STAND_INS):
    module, name = settings["method"].split(".")
    module = importlib.import_module(f"models.{module}")
    base = importlib.import_module("backbone").MammothBackbone
  args = argparse.Namespace(**{
      **_DEFAULTS, "batch_size": arrays["train"].shape[1], **settings.get("args", {})})
  series = _Series(arrays, args)
  net = _net(base, arrays)
  module.get_backbone = lambda *_: _net(base, arrays)
  module.TF = types.SimpleNamespace(hflip=lambda rows: rows)  # Features have no mirror image.
  model = getattr(module, name)(net, torch.nn.functional.cross_entropy, args, None, dataset=series)
  logits = []
  series.task = settings.get("first", 0) - 1
  for task in range(series.task + 1, series.N_TASKS):
    series.begin()
    model.net.train()
    model.meta_begin_task(series)
    for step in range(settings["later_steps" if task and "later_steps" in settings else "steps"]):
      for rows, labels, as_is in series.train_loader:
        model.meta_observe(rows, labels, as_is, epoch=step)
    model.meta_end_task(series)
    model.net.eval()
    with torch.no_grad():
      found = model(torch.from_numpy(arrays["test"])).numpy()
    if module.__name__ == "models.icarl":
      found = 1 - found / -2  # Cosines, from square distances of directions.
    logits.append(np.pad(found, [(0, 0), (0, series.N_CLASSES - found.shape[1])]))
  return {"logits": np.stack(logits[-settings.get("last", len(logits)):])}


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

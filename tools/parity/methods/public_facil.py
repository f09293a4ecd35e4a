# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs approaches of FACIL on short tasks; a step takes all rows of a task.

FACIL has a head for each task beside the net that penalties are about. Here the net makes all
logits itself, and its heads are parts of them, so that penalties are about all weights. Losses are
over all classes so far, as FACIL has it where exemplars are kept; none are added.

Settings: `method`, the module of the approach; `args`, of its class; `steps` of each task.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
import public_code
import public_nets
import torch


class _Net(torch.nn.Module):
  """What approaches ask of their net."""

  def __init__(self, arrays: public_code.Arrays):
    super().__init__()
    self.model = public_nets.Mlp(arrays)
    self.each, self.heads = arrays["kernel_2"].shape[1] // len(arrays["train"]), []
    self.task_cls = self.task_offset = torch.zeros([0], dtype=torch.long)

  def add_head(self) -> None:
    self.heads = [*self.heads, None]
    self.task_cls = torch.full([len(self.heads)], self.each)
    self.task_offset = self.each * torch.arange(len(self.heads))

  def forward(self, rows: torch.Tensor) -> list[torch.Tensor]:
    return list(self.model(rows).split(self.each, 1)[:len(self.heads)])

  def get_copy(self) -> dict[str, torch.Tensor]:
    return {}

  def set_state_dict(self, state: Any) -> None:
    """Keeps the weights of the last epoch, where FACIL returns to the best ones."""

  def freeze_all(self) -> None:
    self.requires_grad_(False)


class _Rows(torch.utils.data.TensorDataset):
  """The rows of a task, to which no exemplars are added."""

  transform = None

  def __add__(self, other: Any) -> _Rows:
    return self


class _Exemplars:
  """There are some, but none is trained on."""

  def __len__(self) -> int:
    return 1

  def collect_exemplars(self, *args: Any) -> None:
    """Keeps none."""


class _Log:
  def log_scalar(self, **values: Any) -> None:
    """Writes nothing."""


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  """Logits [T, M, C] of the tests after each task, 0 for classes to come."""
  sys.path.insert(0, str(checkout / "src"))
  with public_code.stand_ins("torchvision", "torchvision.transforms", "torchvision.datasets",
                             "networks", "networks.network"):
    module = importlib.import_module(f"approach.{settings['method']}")
  net = _Net(arrays)
  approach = module.Appr(
      net, torch.device("cpu"), nepochs=settings["steps"], lr=0.1, lr_patience=10 ** 6,
      logger=_Log(), exemplars_dataset=_Exemplars(), **settings.get("args", {}))
  logits = []
  for task, (rows, labels) in enumerate(zip(arrays["train"], arrays["train_labels"])):
    net.add_head()
    loader = torch.utils.data.DataLoader(
        _Rows(torch.from_numpy(rows), torch.from_numpy(labels)), batch_size=len(rows))
    approach.train(task, loader, loader)
    with torch.no_grad():
      found = torch.cat(net(torch.from_numpy(arrays["test"])), 1).numpy()
    logits.append(np.pad(found, [(0, 0), (0, arrays["kernel_2"].shape[1] - found.shape[1])]))
  return {"logits": np.stack(logits)}


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

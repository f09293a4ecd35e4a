# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs the classifier of van de Ven's continual-learning on short tasks; a step takes all rows.

Features are images of one pixel with a channel each. Settings: `attributes` of the classifier and
`steps` of each task.
"""

from __future__ import annotations

import importlib
import pathlib
import sys
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import numpy as np
import public_code
import torch


def _classifier(arrays: public_code.Arrays, attributes: dict[str, Any]) -> Any:
  with public_code.stand_ins("torchvision", "torchvision.transforms", "torchvision.datasets"):
    module = importlib.import_module("models.classifier")
  width, hidden = arrays["kernel_1"].shape
  model = module.Classifier(
      image_size=1, image_channels=width, classes=arrays["kernel_2"].shape[1], fc_layers=2,
      fc_units=hidden, fc_bn=False)
  for layer, place in ((model.fcE.fcLayer1.linear, 1), (model.classifier.linear, 2)):
    layer.weight.data = torch.from_numpy(arrays[f"kernel_{place}"].T.copy())
    layer.bias.data = torch.from_numpy(arrays[f"bias_{place}"].copy())
  for name, value in attributes.items():
    if not hasattr(model, name):
      raise ValueError(f"The classifier has no attribute {name!r}.")
    setattr(model, name, value)
  model.optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
  return model


def _answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
            ) -> public_code.Arrays:
  """Logits [T, M, C] of the tests after each task."""
  sys.path.insert(0, str(checkout))
  model, logits = _classifier(arrays, settings["attributes"]), []
  rows, test = (torch.from_numpy(arrays[name][..., None, None]) for name in ("train", "test"))
  labels = torch.from_numpy(arrays["train_labels"])
  for task in range(len(rows)):
    for _ in range(settings["steps"]):
      model.train_a_batch(rows[task], labels[task], context=task + 1)
    model.estimate_fisher(torch.utils.data.TensorDataset(rows[task], labels[task]))
    model.eval()
    with torch.no_grad():
      logits.append(model(test).numpy())
  return {"logits": np.stack(logits)}


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

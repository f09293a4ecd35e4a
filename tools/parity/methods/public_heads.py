# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs public code of heads over features: episodes, imprinted weights, OLTR's visual memory."""

from __future__ import annotations

import importlib
import pathlib
import sys
import types
from typing import Any
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cpu_torch  # noqa: F401
import numpy as np
import public_code
import torch

Arrays = public_code.Arrays


def _episode(arrays: Arrays, method: str) -> Arrays:
  """Meta-Baseline's logits of an episode; "sqr" is that of prototypical networks there."""
  with public_code.stand_ins("torchvision", "torchvision.models", "torchvision.transforms",
                             "torchvision.datasets", "tensorboardX"):
    models = importlib.import_module("models")
  models.models.register("flat")(lambda: torch.nn.Flatten())
  net = models.make("meta-baseline", encoder="flat", method=method,
                    **({"temp": 1.0, "temp_learnable": False} if method == "sqr" else {}))
  support, queries = (torch.from_numpy(arrays[name]) for name in ("support", "test"))
  with torch.no_grad():  # One episode; support [way, shot, ...] as channels first.
    logits = net(support[None], queries[None])[0].numpy()
  return {"answers": logits.argmax(axis=1).astype(np.int16), "logits": logits[:50]}


def _imprinted(arrays: Arrays) -> Arrays:
  """The rows of the novel classes, which are 100 of 256 features there."""
  with public_code.stand_ins(
      "torchvision", "torchvision.transforms", "torchvision.models", "torchvision.datasets",
      "progress", "progress.bar", "matplotlib", "matplotlib.pyplot", "pandas", "PIL", "cv2"):
    module = importlib.import_module("imprint")
  bar = types.SimpleNamespace(next=lambda: None, finish=lambda: None, elapsed_td=0, eta_td=0)
  rows, labels = (torch.from_numpy(arrays[name]) for name in ("train", "train_labels"))
  net = module.models.Net.__new__(module.models.Net)
  torch.nn.Module.__init__(net)
  net.extract = net.l2_norm  # The identity as network.
  net.classifier = types.SimpleNamespace(fc=torch.nn.Linear(256, 100, bias=False))
  module.args = types.SimpleNamespace(random=False)
  with unittest.mock.patch.object(module, "Bar", lambda *_, **__: bar):
    module.imprint([(rows, labels + 100)], net)
  with torch.no_grad():
    cosines = net.l2_norm(torch.from_numpy(arrays["test"])) @ net.classifier.fc.weight[100:].T
  return {"answers": cosines.argmax(dim=1).numpy().astype(np.int16),
          "cosines": cosines[:50].detach().numpy()}


def _oltr(arrays: Arrays) -> Arrays:
  """Logits of the memory; then the loss of the centroids, and its gradients."""
  with public_code.stand_ins("matplotlib", "matplotlib.pyplot"):
    module = importlib.import_module("models.MetaEmbeddingClassifier")
    losses = importlib.import_module("loss.DiscCentroidsLoss")
  given = {name: torch.from_numpy(value) for name, value in arrays.items()}
  num, width = arrays["centroids"].shape
  net, loss = module.MetaEmbedding_Classifier(width, num), losses.DiscCentroidsLoss(num, width)
  for variable, name in (
      (net.fc_hallucinator.weight, "hallucinator_kernel"), (net.fc_selector.weight,
                                                            "selector_kernel"),
      (net.fc_hallucinator.bias, "hallucinator_bias"), (net.fc_selector.bias, "selector_bias"),
      (net.cosnorm_classifier.weight, "cosine_kernel"), (loss.centroids, "centroids")):
    variable.data = given[name].T if name.endswith("or_kernel") else given[name]
  features = given["test"].requires_grad_()
  with torch.no_grad():
    logits, _ = net(features, given["centroids"])
  value = loss(features, given["test_labels"])
  value.backward()
  return {"answers": logits.argmax(dim=1).numpy().astype(np.int16),
          "logits": logits[:50].numpy(), "loss": value.detach().numpy(),
          "gradient by features": features.grad[:50].numpy(),
          "gradient by centroids": loss.centroids.grad.numpy()}


_HEADS = {"cosines": lambda arrays: _episode(arrays, "cos"),
          "distances": lambda arrays: _episode(arrays, "sqr"),
          "imprinted": _imprinted, "oltr": _oltr}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  sys.path.insert(0, str(checkout))
  return _HEADS[settings["head"]](arrays)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Avalanche's strategies on buckets of features, for `tools/parity clear`.

CLEAR's table was made with Avalanche. Its strategies and plugins run unmodified around a linear
layer that begins at zero, on the CPU; each bucket begins with no momentum and the first rate of the
schedule, as in CLEAR's experiments. Needs torch and the packages of Avalanche; torchvision and
others that only its data sets and models use may be missing.

Settings: `method` and its `arguments`, `epochs`, `rate_falls_every`, `rate`, `batch`, `seeds`, and
`copies`: synaptic intelligence keeps copies of weights instead of views.
"""

from __future__ import annotations

import pathlib
import random
import sys
from typing import Any

import public_code

_VISION = ("datasets", "datasets.folder", "datasets.utils", "datasets.vision", "models",
           "models.detection", "models.detection.faster_rcnn", "models.detection.image_list",
           "models.detection.mask_rcnn", "models.detection.roi_heads", "models.detection.rpn",
           "models.detection.transform", "models.feature_extraction", "models.resnet", "ops",
           "transforms", "transforms.functional", "transforms.transforms", "transforms.v2", "utils")
_UNUSED = ("torchvision", *(f"torchvision.{name}" for name in _VISION), "PIL", "GPUtil", "gputil",
           "pytorchcv", "pytorchcv.model_provider", "qpsolvers", "torchmetrics", "wandb")


def _strategy(settings: dict[str, Any], width: int, num_classes: int) -> Any:
  from avalanche import core
  from avalanche import training
  from avalanche.training import plugins
  from avalanche.training import storage_policy
  import torch

  class Net(torch.nn.Module):
    def __init__(self):
      super().__init__()
      self.fc = torch.nn.Linear(width, num_classes)
      torch.nn.init.zeros_(self.fc.weight)
      torch.nn.init.zeros_(self.fc.bias)

    def forward(self, features):
      return self.fc(features)

  class NoMomentum(core.SupervisedPlugin):
    def before_training_exp(self, strategy, **kwargs):
      del kwargs
      strategy.optimizer.state.clear()

  net, arguments = Net(), dict(settings["arguments"])
  optimizer = torch.optim.SGD(net.parameters(), lr=settings["rate"], momentum=0.9)
  added = [NoMomentum(), plugins.LRSchedulerPlugin(torch.optim.lr_scheduler.StepLR(
      optimizer, step_size=settings["rate_falls_every"], gamma=0.1))]
  kind = getattr(training, settings["method"])
  if settings["method"] == "Replay":
    kind, size = training.Naive, arguments.pop("mem_size")
    added.append(plugins.ReplayPlugin(
        size, batch_size=settings["batch"], batch_size_mem=settings["batch"],
        storage_policy=storage_policy.ExperienceBalancedBuffer(size)))
  return kind(
      model=net, optimizer=optimizer, criterion=torch.nn.CrossEntropyLoss(), device="cpu",
      train_mb_size=settings["batch"], train_epochs=settings["epochs"], eval_mb_size=512,
      plugins=added, evaluator=plugins.EvaluationPlugin(loggers=[]), **arguments)


def _keep_copies(plugin: Any) -> None:
  """Lets `extract_weights` copy: on the CPU its result otherwise changes with the weights."""
  original = plugin.extract_weights

  def extract_weights(model, target, excluded_parameters):
    original(model, target, excluded_parameters)
    for value in target.values():
      value.data = value.data.clone()

  plugin.extract_weights = staticmethod(extract_weights)


def answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
           ) -> public_code.Arrays:
  """Trains on T buckets: "accuracies" [S, T, T], last "kernel" [S, D, C] and "bias", by seed.

  `arrays`: "train" [T, N, D], "train_labels" [T, N], "test" and "test_labels" likewise.
  """
  import numpy as np
  import torch
  torch.set_num_threads(1)
  sys.path.insert(0, str(checkout))
  with public_code.stand_ins(*_UNUSED):
    from avalanche.benchmarks import scenarios
    from avalanche.benchmarks.scenarios import dataset_scenario
    from avalanche.benchmarks.utils import classification_dataset
    parts = [classification_dataset._make_taskaware_tensor_classification_dataset(
        torch.from_numpy(images), torch.from_numpy(labels), targets=labels.tolist(), task_labels=0)
        for images, labels in zip(arrays["train"], arrays["train_labels"])]
    series = scenarios.with_classes_timeline(
        dataset_scenario.benchmark_from_datasets(train=parts, test=parts))
    if settings["copies"]:
      from avalanche.training import plugins
      _keep_copies(plugins.SynapticIntelligencePlugin)
    tests = [(torch.from_numpy(images), torch.from_numpy(labels))
             for images, labels in zip(arrays["test"], arrays["test_labels"])]
    found = []
    for seed in settings["seeds"]:
      random.seed(seed)
      np.random.seed(seed)  # noqa: NPY002 (theirs to use)
      torch.manual_seed(seed)
      found.append(_trained(_strategy(settings, arrays["train"].shape[2],
                                      int(arrays["train_labels"].max()) + 1), series, tests))
  return {name: np.stack([one[name] for one in found]) for name in found[0]}


def _trained(strategy: Any, series: Any, tests: list[tuple[Any, Any]]) -> public_code.Arrays:
  import numpy as np
  import torch
  accuracies = []
  for bucket in series.train_stream:
    strategy.train(bucket)
    strategy.model.eval()
    with torch.no_grad():
      accuracies.append([float((strategy.model(images).argmax(1) == labels).double().mean())
                         for images, labels in tests])
  layer = strategy.model.fc
  return {"accuracies": np.array(accuracies), "kernel": layer.weight.detach().numpy().T,
          "bias": layer.bias.detach().numpy()}


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("torch", "numpy")))

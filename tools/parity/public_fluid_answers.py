# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Answers of FLUID's published code to a sequence of features, for `tools/parity fluid`.

Their evaluation loop, trainers and models run unmodified, on the CPU. A sample is a feature vector,
shaped as an image of 1x1 pixels; the backbone returns it unchanged. The data sets are ours, so that
sample 0 comes first: theirs count from -1, and their sequence begins with its last sample. Batches
are read by the process itself instead of by eight others, which changes no batch.

Settings: `kind` (ncm, cosine, hybrid, finetune, or metrics: the scores of given answers),
`interval` (samples between updates), and of fine-tuning `epochs`, `batch`, `rate`, `momentum`,
`seed` and `masked`: logits of classes without a sample so far are -1e9, which their code does not
do.
"""

from __future__ import annotations

import os
import pathlib
import sys
import types
from typing import Any

import public_code
import public_fluid

SLOTS = 1000  # Classes; written into their code.


class Stored:
  """What has been revealed, as their trainers read it."""

  def __init__(self, features: Any, labels: Any):
    import torch
    self._images, self._labels = torch.from_numpy(features)[:, :, None, None], labels
    self.counter = 0

  def __len__(self) -> int:
    return max(1, self.counter)

  def __getitem__(self, i: int) -> tuple[Any, int]:
    return self._images[i], int(self._labels[i])

  def update(self, count: int) -> None:
    self.counter = count


class Stream(Stored):
  """The sequence, as their loop reads it: the next sample, whatever the index."""

  taken = 0

  def __len__(self) -> int:
    return len(self._labels)

  def __getitem__(self, i: int) -> tuple[Any, int, bool]:  # type: ignore[override]
    del i
    self.taken += 1
    return (*super().__getitem__(self.taken - 1), True)

  def get_samples_seen(self) -> int:
    return self.taken


class Tracker:
  """Keeps the logits instead of the accuracy, and the classes with a label so far."""

  def __init__(self):
    import torch
    self.logits, self.known = [], torch.zeros(SLOTS, dtype=torch.bool)

  def track(self, logits: Any, label: Any, seen: Any) -> None:
    del seen
    self.logits.append(logits[0].detach().numpy().copy())
    self.known[int(label)] = True

  def write_metrics(self) -> None:
    """Nothing: the logits are returned."""


def _nets(width: int) -> tuple[Any, Any]:
  """Returns (a backbone that flattens, a classifier with a linear layer that starts at zero)."""
  import torch

  class Flatten(torch.nn.Module):
    def __init__(self):
      super().__init__()
      self.unused = torch.nn.Parameter(torch.zeros(1))  # Their models ask it for the device.

    def forward(self, images):
      is_test = tuple(images.shape[1:]) == (3, 224, 224)  # They ask for the width with this.
      return torch.zeros(len(images), width) if is_test else images.flatten(1)

  class Linear(torch.nn.Module):
    def __init__(self):
      super().__init__()
      self.fc, self.mask = torch.nn.Linear(width, SLOTS), None
      torch.nn.init.zeros_(self.fc.weight)
      torch.nn.init.zeros_(self.fc.bias)

    def forward(self, images):
      logits = self.fc(images.flatten(1))
      return logits if self.mask is None else logits.masked_fill(~self.mask, -1e9)

  return Flatten(), Linear()


def scores(answers: Any, labels: Any) -> public_code.Arrays:
  """Accuracies of `answers` [T], -1 for none, by their tracker: "overall" and "by_class" [C]."""
  import metrics
  import numpy as np
  import torch
  counts = np.bincount(labels)
  num_classes = len(counts)  # One more class stands for no answer.
  tracker = metrics.OnlineMetricTracker("run", np.append(counts, 1), num_classes + 1)
  for given, label in zip(answers, labels):
    logits = torch.zeros(1, num_classes + 1)
    logits[0, given if given >= 0 else num_classes] = 1.0
    tracker.track(logits, torch.tensor([label]), True)
  by_class = tracker.per_class_acc / tracker.imgs_per_class
  return {"overall": np.array(tracker.current_accuracy(len(labels), len(labels))),
          "by_class": by_class[:num_classes]}


def answer(checkout: pathlib.Path, arrays: public_code.Arrays, settings: dict[str, Any]
           ) -> public_code.Arrays:
  """Returns logits [T, C] of `features` [T, D] whose `labels` [T] are of C classes."""
  import numpy as np
  import torch
  torch.set_num_threads(1)
  public = public_fluid.load(checkout)
  if settings["kind"] == "metrics":
    return scores(arrays["answers"], arrays["labels"])
  import models
  import trainer as trainers
  import utils
  loader = torch.utils.data.DataLoader

  def in_process(*args, **kwargs):
    return loader(*args, **{**kwargs, "num_workers": 0, "pin_memory": False})

  torch.utils.data.DataLoader = in_process
  torch.manual_seed(settings.get("seed", 0))
  features, labels = arrays["features"].astype(np.float32), arrays["labels"]
  num_classes, kind = int(labels.max()) + 1, settings["kind"]
  backbone, linear = _nets(features.shape[1])
  model = {"ncm": lambda: models.KNN(backbone, utils.euclidean_metric),
           "cosine": lambda: models.KNN(backbone, utils.cosine_sim),
           "hybrid": lambda: models.Hybrid(backbone, utils.dot_product, None),
           "finetune": lambda: linear}[kind]()
  options = types.SimpleNamespace(
      trainer={"ncm": "knn", "cosine": "knn"}.get(kind, kind), num_layers=1,
      epochs=settings.get("epochs", 4), offline_batch_size=settings.get("batch", 256),
      batch_factor=1, lr=settings.get("rate", 0.1), m=settings.get("momentum", 0.9),
      transition_num=10**9, ft_interval=10**9)
  tracker, stored = Tracker(), Stored(features, labels)
  if settings.get("masked"):
    linear.mask = tracker.known  # The same tensor; both follow the labels.
  os.makedirs("weights", exist_ok=True)
  os.chdir("weights")  # Their fine-tuning saves its weights where it is.
  trainer = trainers.create_trainer(
      model, torch.device("cpu"), stored, options, {c: c for c in range(SLOTS)})
  args = types.SimpleNamespace(
      sys_opts=types.SimpleNamespace(gpu=[0], log_interval=10**9),
      online_opts=types.SimpleNamespace(training_interval=settings["interval"]))
  public.sequential_eval(model, trainer, Stream(features, labels), tracker, args)
  logits = np.stack(tracker.logits)
  return {"logits": logits[:, :num_classes], "published": np.argmax(logits, axis=1)}


if __name__ == "__main__":
  sys.exit(public_code.serve(answer, packages=("torch", "numpy")))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Times the code that FLUID's authors published, for comparison with `tools/bench fluid`.

  git clone https://github.com/RAIVNLab/FLUID DIR
  PYTHON_WITH_TORCH tools/parity/public_fluid.py ncm resnet-18 --checkout DIR --threads 2

Their evaluation loop, models and trainers run unmodified except on the CPU, with an update after
each sample. Images are 64x64 pixels of noise in memory, instead of being read and augmented; labels
of 1,000 classes are long-tailed. "hybrid" is the centroid phase of Exemplar Tuning, the rest of
which was not published. The output is one line of JSON: samples per second, the median over
stretches of about two seconds, and their range. Requires torch, and torchvision for the nets; what
else their modules import is not used here and may be missing.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import pathlib
import statistics
import sys
import tempfile
import time
import types
from typing import Any

import public_code

CLASSES, SIZE, PIECE = 1000, 64, 2.0
MODELS = {"ncm": ("knn", "euclidean", "knn"), "hybrid": ("hybrid", "dot", "hybrid")}
NETS = {"conv-4": "convnet", "resnet-18": "resnet-18"}


class Done(Exception):
  """Raised when the measured time is over."""


class Sequence:
  """Stand-in for their training data set: samples as a trainer reads them.

  Args:
    seconds: time from the first sample on after which reading a sample raises `Done`.
    num: number of different images, read cyclically.
  """

  def __init__(self, seconds: float, num: int = 256):
    import numpy as np
    import torch
    rng = np.random.default_rng(0)
    weights = 1.0 / (25.0 + np.arange(1, CLASSES + 1))
    self._labels = rng.choice(CLASSES, 1_000_000, p=weights / weights.sum())
    self._images = torch.tensor(rng.standard_normal((num, 3, SIZE, SIZE), dtype=np.float32))
    self._seconds, self.counter, self._taken = seconds, 0, 0
    self.times: list[float] = []

  def __len__(self) -> int:
    return len(self._labels)

  def __getitem__(self, i: int) -> tuple[Any, int]:
    return self._images[i % len(self._images)], int(self._labels[i])

  def update(self, count: int) -> None:
    self.counter = count

  def get_samples_seen(self) -> int:
    return self._taken


class Stream(Sequence):
  """Stand-in for the data set of their loop: the next sample, for any index."""

  def __getitem__(self, i: int) -> tuple[Any, int, bool]:  # type: ignore[override]
    del i
    self.times.append(time.perf_counter())
    if self.times[-1] - self.times[0] > self._seconds:
      raise Done
    found = super().__getitem__(self._taken)
    self._taken += 1
    return (*found, True)


def load(checkout: pathlib.Path) -> Any:
  """Imports their main module, with the CPU in place of the GPU."""
  sys.path.insert(0, str(checkout))
  sys.argv = ["main.py"]
  with public_code.stand_ins("pytorch_lightning", "PIL", "torchvision", "torchvision.datasets",
                             "torchvision.models", "torchvision.transforms"):
    import main as public
  import torch
  public.torch = types.SimpleNamespace(device=lambda *_: torch.device("cpu"), utils=torch.utils)
  return public


def measure(name: str, net: str, checkout: pathlib.Path, seconds: float, folder: str
            ) -> dict[str, Any]:
  public = load(checkout)
  import metrics
  import models
  import numpy as np
  import torch
  import trainer as trainers
  classifier, similarity, trainer_name = MODELS[name]
  settings = types.SimpleNamespace(
      backbone=NETS[net], classifier=classifier, similarity_measure=similarity, pretrained=False,
      path_to_model=None, trainer=trainer_name, offline_batch_size=256, batch_factor=2,
      num_layers=1, transition_num=10**9, ft_interval=10**9, lr=0.1, m=0.1, epochs=4)
  model = models.create_model(settings, None, torch.device("cpu"))
  device, stored, stream = torch.device("cpu"), Sequence(seconds), Stream(seconds)
  width = model.features(torch.zeros([1, 3, SIZE, SIZE])).numel()
  model.centroids = type(model.centroids)(torch.zeros([CLASSES, width]))  # Theirs are for 224x224.
  trainer = trainers.create_trainer(model, device, stored, settings, {})
  tracker = metrics.OnlineMetricTracker(
      "run", np.ones(CLASSES), CLASSES, folder, report_ood=False)
  args = types.SimpleNamespace(
      sys_opts=types.SimpleNamespace(gpu=[0], log_interval=10**9),
      online_opts=types.SimpleNamespace(training_interval=1))
  cpu = time.process_time()
  with contextlib.suppress(Done):
    public.sequential_eval(model, trainer, stream, tracker, args)
  cores = (time.process_time() - cpu) / (stream.times[-1] - stream.times[0])
  rates = pieces(stream.times)
  return {"samples_per_second": round(statistics.median(rates), 1), "least": round(min(rates), 1),
          "most": round(max(rates), 1), "pieces": len(rates), "cores_used": round(cores, 2)}


def pieces(times: list[float]) -> list[float]:
  """Computes rates over stretches of `PIECE` seconds; the first one, a warm-up, is left out."""
  rates, first = [], 0
  for i, now in enumerate(times):
    if now - times[first] >= PIECE:
      rates.append((i - first) / (now - times[first]))
      first = i
  if len(rates) < 2:
    raise SystemExit(f"Too short for two stretches of {PIECE} seconds; give more --seconds.")
  return rates[1:]


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("learner", choices=sorted(MODELS))
  parser.add_argument("net", choices=sorted(NETS))
  options = public_code.options(parser)
  import torch
  with tempfile.TemporaryDirectory() as folder:
    found = measure(options.learner, options.net, options.checkout, options.seconds, folder)
  print(json.dumps({"learner": options.learner, "net": options.net, **found,
                    "threads": torch.get_num_threads(), "torch": torch.__version__}))
  return 0


if __name__ == "__main__":
  sys.exit(main())

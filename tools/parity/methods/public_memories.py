# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs public code of memories and of what follows a phase: herding, reservoirs, heads."""

from __future__ import annotations

import importlib
import logging
import pathlib
import random
import sys
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import cpu_torch  # noqa: F401
import memory_fixtures
import method_fixtures
import numpy as np
import public_code
import public_incremental
import public_mammoth
import torch

Arrays = public_code.Arrays


def _mammoth(module: str) -> Any:
  for name in ("datasets", "datasets.utils", "datasets.utils.continual_dataset"):
    sys.modules[name] = public_code.blank(name)  # Theirs import what only images need.
  with public_code.stand_ins(*public_mammoth.STAND_INS):
    return importlib.import_module(module)


def _herding(arrays: Arrays) -> Arrays:
  """The rows that PyCIL holds after each phase, class by class in the order of picks."""
  module = public_incremental.imported("models.base")
  learner = module.BaseLearner({"memory_size": int(arrays["capacity"]),
                                "device": [torch.device("cpu")]})
  learner._network = types.SimpleNamespace(
      feature_dim=arrays["train"].shape[1], eval=lambda: None, extract_vector=lambda rows: rows)
  manager, held = public_incremental.Manager(arrays), {}
  places = {row.tobytes(): place for place, row in enumerate(arrays["train"])}
  for phase, (_, seen) in enumerate(method_fixtures.in_phases(arrays)):
    learner._total_classes = len(seen)
    learner.build_rehearsal_memory(manager, learner.samples_per_class)
    learner._known_classes = len(seen)
    held[f"phase_{phase}"] = np.array(
        [places[row.astype(np.float32).tobytes()] for row in learner._data_memory], np.int32)
  return held


def _reservoir(arrays: Arrays) -> Arrays:
  rule, found = _mammoth("utils.buffer").ReservoirSampling, []
  for seed in range(int(arrays["num_seeds"])):
    np.random.seed(seed)  # noqa: NPY002  # Their code draws from it.
    place, slots = rule(int(arrays["capacity"]), "cpu"), np.full(int(arrays["capacity"]), -1)
    for row in range(int(arrays["rows"])):
      slot = place(row)
      if slot >= 0:
        slots[slot] = row
    found.append(slots)
  return memory_fixtures.shares_by_age(np.array(found), int(arrays["rows"]))


def _greedy(arrays: Arrays) -> Arrays:
  """GDumb's greedy balance, by what it updates alone."""
  with public_code.stand_ins(
      "torchvision", "torchvision.transforms", "torchvision.datasets", "torchvision.models",
      "kornia", "kornia.augmentation", "pandas", "psutil", "PIL", "skimage", "skimage.filters",
      "cv2", "matplotlib", "matplotlib.pyplot", "nvidia", "yaml", "easydict"):
    update = importlib.import_module("agents.gdumb").Gdumb.greedy_balancing_update
  found = []
  for seed in range(int(arrays["num_seeds"])):
    random.seed(seed)
    state = types.SimpleNamespace(
        params=types.SimpleNamespace(mem_size=int(arrays["capacity"])), mem_img={}, mem_c={})
    for row, label in enumerate(arrays["labels"]):
      update(state, row, int(label))
    found.append(sorted(sum(state.mem_img.values(), [])))
  return memory_fixtures.counts_and_places(np.array(found), arrays["labels"])


def _bias(arrays: Arrays) -> Arrays:
  """BiC's two numbers, by Mammoth's loop at the end of a task, run until they stay."""
  model = _mammoth("models.bic").BiC
  logits, labels = (torch.from_numpy(arrays[name]) for name in ("logits", "labels"))
  net = types.SimpleNamespace(eval=lambda: None, train=lambda: None)
  state = types.SimpleNamespace(
      current_task=1, net=net, device="cpu", args=types.SimpleNamespace(bic_epochs=5000),
      val_loader=[(logits, labels)], forward=lambda rows: rows, evaluate_bias=lambda prefix: None,
      loss=torch.nn.functional.cross_entropy, build_buffer=lambda dataset: None,
      n_past_classes=int(arrays["num_old"]), n_seen_classes=logits.shape[1])
  model.end_task(state, types.SimpleNamespace(evaluate=lambda *_: None))
  beta, alpha = state.corr_factors.detach().numpy()
  return {"alpha and beta": np.array([alpha, beta])}


def _aligned(arrays: Arrays) -> Arrays:
  """WA's kernel after the last phase."""
  module = public_incremental.imported("utils.inc_net")
  net = types.SimpleNamespace(fc=types.SimpleNamespace(weight=types.SimpleNamespace(
      data=torch.from_numpy(arrays["kernel"].T.copy()))))
  module.IncrementalNet.weight_align(net, arrays["kernel"].shape[1] - int(arrays["num_old"]))
  return {"kernel": net.fc.weight.data.numpy().T}


_RULES = {"herding": _herding, "reservoir": _reservoir, "greedy": _greedy, "bias": _bias,
          "aligned": _aligned}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  sys.path.insert(0, str(checkout))
  logging.disable(logging.CRITICAL)
  return _RULES[settings["rule"]](arrays)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

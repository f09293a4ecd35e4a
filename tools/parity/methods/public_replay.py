# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs parts of public code for online replay on short tasks: choices, losses and nets.

The tasks are one step each, on all of their rows; the memory holds all earlier ones, and each step
replays it, unless a method chooses from it.

Settings: `method`, one of `_METHODS`.
"""

from __future__ import annotations

import argparse
import collections
import collections.abc
from collections.abc import Callable
import importlib
import pathlib
import sys
import types
from typing import Any

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import gradient_fixtures
import numpy as np
import public_code
import public_nets
import torch
from torch.nn import functional

_RATE = 0.1
Arrays = public_code.Arrays


def _in_turn(net: torch.nn.Module, arrays: Arrays,
             loss_of: Callable[[torch.Tensor, torch.Tensor, Any], torch.Tensor],
             answers_of: Callable[[torch.Tensor, tuple[torch.Tensor, torch.Tensor]], torch.Tensor]
             ) -> Arrays:
  """Answers [T, M, C] after each task, of descent along `loss_of` its rows and the memory's."""
  optimizer = torch.optim.SGD(net.parameters(), lr=_RATE)
  memory, found, test = None, [], torch.from_numpy(arrays["test"])
  for rows, labels in zip(arrays["train"], arrays["train_labels"]):
    new = torch.from_numpy(rows), torch.from_numpy(labels)
    loss = loss_of(*new, memory)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    memory = new if memory is None else tuple(map(torch.cat, zip(memory, new)))
    with torch.no_grad():
      answers = answers_of(test, memory).numpy()
    width = arrays["kernel_2"].shape[1] - answers.shape[1]
    found.append(np.pad(answers, [(0, 0), (0, width)]))
  return {"logits": np.stack(found)}


def _mir(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Their choice among all rows of the memory; then one step on new and chosen rows as one set."""
  with public_code.stand_ins("torchvision", "torchvision.transforms", "kornia"):
    module = importlib.import_module("utils.buffer.mir_retrieve")
  net = public_nets.Mlp(arrays)
  chooser = module.MIR_retrieve(argparse.Namespace(
      subsample=10 ** 6, eps_mem_batch=settings["num"], learning_rate=_RATE))

  def loss_of(rows: torch.Tensor, labels: torch.Tensor, memory: Any) -> torch.Tensor:
    if memory is not None:
      net.zero_grad()
      functional.cross_entropy(net(rows), labels).backward()
      chosen = chooser.retrieve(types.SimpleNamespace(
          model=net, buffer_img=memory[0], buffer_label=memory[1], current_index=len(memory[1])))
      rows, labels = torch.cat([rows, chosen[0]]), torch.cat([labels, chosen[1]])
    return functional.cross_entropy(net(rows), labels)

  return _in_turn(net, arrays, loss_of, lambda test, memory: net(test))


def _scr(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Their net and loss, with one view of each row; cosines with the means of the memory's classes.
  """
  with public_code.stand_ins("torchvision", "torchvision.transforms", "kornia"):
    loss = importlib.import_module("utils.loss").SupConLoss(temperature=settings["temperature"])
    nets = importlib.import_module("models.resnet")
  net = nets.SupConResNet(arrays["projection_1"].shape[0], feat_dim=arrays["projection_2"].shape[1])
  net.encoder = public_nets.Mlp(arrays)
  for layer, name in ((net.head[0], "projection_1"), (net.head[2], "projection_2")):
    layer.weight.data, layer.bias.data = torch.from_numpy(arrays[name].T.copy()), 0 * layer.bias

  def loss_of(rows: torch.Tensor, labels: torch.Tensor, memory: Any) -> torch.Tensor:
    if memory is not None:
      rows, labels = torch.cat([memory[0], rows]), torch.cat([memory[1], labels])
    return loss(net(rows)[:, None], labels)

  def answers_of(test: torch.Tensor, memory: Any) -> torch.Tensor:
    directions = functional.normalize(net.features(memory[0]), dim=1)
    means = torch.stack([directions[memory[1] == label].mean(0)
                         for label in range(int(memory[1].max()) + 1)])
    return functional.normalize(net.features(test), dim=1) @ functional.normalize(means, dim=1).T

  return _in_turn(net, arrays, loss_of, answers_of)


def _er_aml(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Their loss of each new row beside the step's other rows of new classes, where they draw some.
  """
  collections.Iterable = collections.abc.Iterable  # type: ignore[attr-defined]
  with public_code.stand_ins("torchvision", "torchvision.transforms", "kornia", "fvcore",
                             "fvcore.nn", "wandb"):
    method = importlib.import_module("methods.er_aml").ER_AML
    normalize = importlib.import_module("model").normalize
  net = public_nets.Mlp(arrays)

  def loss_of(rows: torch.Tensor, labels: torch.Tensor, memory: Any) -> torch.Tensor:
    if memory is None:
      return functional.cross_entropy(net(rows), labels)
    of_new = torch.isin(memory[1], labels)
    every = normalize(net.features(torch.cat([rows, memory[0][of_new]])))
    of_every, total = torch.cat([labels, memory[1][of_new]]), 0.0
    for place in range(len(labels)):
      others = torch.arange(len(of_every)) != place
      num = int(others.sum())
      total += method.sup_con_loss(
          None, every[place].expand(num, -1), every[others][:, None],
          anch_labels=labels[place].expand(num), labels=of_every[others],
          temperature=settings["temperature"])
    return total / len(labels) + functional.cross_entropy(net(memory[0]), memory[1])

  return _in_turn(net, arrays, loss_of, lambda test, memory: net(test))


def _mer(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """Their net, which draws from its memory by itself."""
  module = importlib.import_module("model.meralg1")
  width, hidden = arrays["kernel_1"].shape
  net = module.Net(width, arrays["kernel_2"].shape[1], len(arrays["train"]), argparse.Namespace(
      n_layers=1, n_hiddens=hidden, lr=_RATE, replay_batch_size=1, memories=100, cuda=False,
      **settings["args"]))
  names = ("kernel_1", "bias_1", "kernel_2", "bias_2")
  for parameter, name in zip(net.parameters(), names, strict=True):
    parameter.data = torch.from_numpy(arrays[name].T.copy())
  found = []
  for task, (rows, labels) in enumerate(zip(arrays["train"], arrays["train_labels"])):
    net.observe(torch.from_numpy(rows), task, torch.from_numpy(labels))
    with torch.no_grad():
      found.append(net(torch.from_numpy(arrays["test"]), task).numpy())
  return {"logits": np.stack(found)}


def _biased_reservoir(arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  """The memory of CLEAR's fork of Avalanche; its data sets are lists here."""
  for name in ("avalanche", "avalanche.training"):  # Whose `__init__` imports all of it.
    sys.modules[name] = types.ModuleType(name)
    sys.modules[name].__path__ = [str(pathlib.Path(sys.path[0], *name.split(".")))]
  utils = sys.modules["avalanche.benchmarks.utils"] = types.ModuleType("utils")
  utils.AvalancheDataset = list  # type: ignore[attr-defined]
  utils.AvalancheConcatDataset = lambda parts: sum(parts, [])  # type: ignore[attr-defined]
  utils.AvalancheSubset = (  # type: ignore[attr-defined]
      lambda rows, places: [rows[int(place)] for place in places])
  with public_code.stand_ins("avalanche.models"):
    module = importlib.import_module("avalanche.training.storage_policy")
  held, capacity = [], int(arrays["capacity"])
  for seed in range(int(arrays["num_seeds"])):
    torch.manual_seed(seed)
    memory = module.BiasedReservoirSamplingBuffer(capacity, "Fixed", settings["alpha"])
    for bucket in range(int(arrays["buckets"])):
      rows = list(range(bucket * capacity, (bucket + 1) * capacity))
      memory.update(types.SimpleNamespace(experience=types.SimpleNamespace(
          current_experience=bucket, dataset=rows)))
    held.append(memory.buffer)
  return gradient_fixtures.shares(np.array(held), arrays)


_METHODS = {"biased_reservoir": _biased_reservoir, "mir": _mir, "scr": _scr, "er_aml": _er_aml,
            "mer": _mer}


def _answer(checkout: pathlib.Path, arrays: Arrays, settings: dict[str, Any]) -> Arrays:
  sys.path.insert(0, str(checkout))
  return _METHODS[settings["method"]](arrays, settings)


if __name__ == "__main__":
  sys.exit(public_code.serve(_answer, ("torch", "numpy")))

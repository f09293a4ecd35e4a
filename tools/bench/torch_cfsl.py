# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning in plain PyTorch, the reference of `tools/bench cfsl`.

A direct implementation of the algorithms with functional weights and the same mathematics as the
suite's learners: tests/tools/bench_cfsl_test.py compares losses and gradients. Tasks are processed
one by one. Training and evaluation read their episodes from host memory as float tensors; only the
cases "episodes" draw them. This module does not import the suite, and may run in another
environment.

S support sets of N images; T target images; W classes; C channels.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import itertools
from typing import Any, NamedTuple

import cfsl_cases
import numpy as np
import torch
from torch import nn
from torch.nn import functional
import torch_cfsl_high
import torch_cfsl_maml

RATE = 1e-3  # Learning rate of Adam.
POOL = 16  # Number of episodes in memory, which training and evaluation read cyclically.


class Episode(NamedTuple):
  """Tensors support_images [S, N, C, H, W], support_labels [S, N], images [T, C, H, W], labels [T].
  """

  support_images: torch.Tensor
  support_labels: torch.Tensor
  images: torch.Tensor
  labels: torch.Tensor


class Sampler(torch.utils.data.Dataset):
  """Data set of episodes: S sets of different classes with support and target images; uint8.

  Args:
    images: uint8 [classes, images of a class, C, H, W].
    num_sets: S.
  """

  def __init__(self, images: np.ndarray, num_sets: int):
    self._images, self._num_sets = images, num_sets
    per_set = np.arange(num_sets * cfsl_cases.WAY).reshape(num_sets, cfsl_cases.WAY)
    self._support_labels = torch.from_numpy(per_set.repeat(cfsl_cases.SHOT, axis=1))
    self._labels = torch.from_numpy(per_set.reshape(-1).repeat(cfsl_cases.TARGETS))

  def __getitem__(self, index: int) -> Episode:
    rng = np.random.default_rng(index)
    num_classes, per_class = self._images.shape[:2]
    num = self._num_sets * cfsl_cases.WAY
    classes = rng.choice(num_classes, num, replace=False)[:, None]
    order = rng.permuted(np.tile(np.arange(per_class), (num, 1)), axis=1)
    support = order[:, :cfsl_cases.SHOT]
    targets = order[:, cfsl_cases.SHOT:cfsl_cases.SHOT + cfsl_cases.TARGETS]
    shape = self._images.shape[2:]
    return Episode(
        torch.from_numpy(self._images[classes, support].reshape(self._num_sets, -1, *shape)),
        self._support_labels,
        torch.from_numpy(self._images[classes, targets].reshape(-1, *shape)), self._labels)


def sampler(case: cfsl_cases.Case) -> Sampler:
  """Sampler over noise; image content does not affect the time."""
  shape = (case.classes, case.per_class, case.channels, case.size, case.size)
  return Sampler(np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8), case.num_sets)


def pool(case: cfsl_cases.Case) -> Iterator[Episode]:
  """Yields prepared episodes endlessly, pixels 0..1."""
  source = sampler(case)
  return itertools.cycle([
      Episode(episode[0] / 255.0, episode[1], episode[2] / 255.0, episode[3])
      for episode in (source[i] for i in range(POOL))])


def episodes(case: cfsl_cases.Case) -> cfsl_cases.Step:
  loader = iter(torch.utils.data.DataLoader(
      sampler(case), batch_size=case.num_tasks, sampler=itertools.count(), num_workers=0))

  def step() -> int:
    return len(next(loader).labels)

  return step


class ProtoNet(nn.Module):
  """Prototypical network of four blocks with squared Euclidean distances."""

  def __init__(self, case: cfsl_cases.Case):
    super().__init__()
    layers: list[nn.Module] = []
    channels, filters = case.channels, cfsl_cases.PROTO_FILTERS
    for _ in range(torch_cfsl_maml.BLOCKS):
      layers += [nn.Conv2d(channels, filters, 3, padding=1, bias=False),
                 nn.BatchNorm2d(filters, eps=torch_cfsl_maml.EPSILON), nn.ReLU(), nn.MaxPool2d(2)]
      channels = filters
    self.embed = nn.Sequential(*layers, nn.Flatten())

  def forward(self, support_images: torch.Tensor, support_labels: torch.Tensor,
              images: torch.Tensor) -> torch.Tensor:
    """Logits [T, W]; the support images are normalized as one batch, the targets as another."""
    support, targets = self.embed(support_images.flatten(0, 1)), self.embed(images)
    is_class = functional.one_hot(support_labels.flatten()).to(support.dtype)  # [S * N, W]
    prototypes = is_class.T @ support / is_class.sum(0)[:, None]
    return -((targets[:, None] - prototypes) ** 2).sum(-1)

  def loss(self, support_images: torch.Tensor, support_labels: torch.Tensor, images: torch.Tensor,
           labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(self(support_images, support_labels, images), labels)

  def answer(self, *episode: torch.Tensor) -> torch.Tensor:
    """Logits [T, W] by running statistics."""
    self.eval()
    with torch.no_grad():
      return self(*episode)


def training(make: Callable[[cfsl_cases.Case], Any]) -> Callable[..., cfsl_cases.Step]:
  """Builds training by Adam on the mean loss of a case's tasks."""
  def build(case: cfsl_cases.Case) -> cfsl_cases.Step:
    learner, source = make(case), pool(case)
    optimizer = torch.optim.Adam(learner.parameters(), RATE)

    def step() -> int:
      optimizer.zero_grad()
      for _ in range(case.num_tasks):
        (learner.loss(*next(source)) / case.num_tasks).backward()
      optimizer.step()
      return case.num_tasks

    return step

  return build


def evaluation(make: Callable[[cfsl_cases.Case], Any]) -> Callable[..., cfsl_cases.Step]:
  """Builds evaluation task by task, as in the published code."""
  def build(case: cfsl_cases.Case) -> cfsl_cases.Step:
    learner, source = make(case), pool(case)

    def step() -> int:
      learner.answer(*next(source)[:3]).numpy()
      return 1

    return step

  return build


LEARNERS = {"maml": torch_cfsl_maml.Maml, "proto": ProtoNet, "high": torch_cfsl_high.MamlHigh,
            "sca": torch_cfsl_high.Sca}
MAKERS = {"episodes": episodes,
          **{f"{name}_train": training(make) for name, make in LEARNERS.items()},
          **{f"{name}_test": evaluation(make) for name, make in LEARNERS.items()}}


def configure(args: Any) -> str:
  torch.manual_seed(0)
  if args.threads:
    torch.set_num_threads(args.threads)
  torch.set_num_interop_threads(1)
  return f"PyTorch {torch.__version__}, {torch.get_num_threads()} thread(s) within an operation"


if __name__ == "__main__":
  cfsl_cases.serve(MAKERS, configure)

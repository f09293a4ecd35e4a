# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Nets in PyTorch with the first weights of `gradient_fixtures`, for programs that run public code.
"""

from __future__ import annotations

from typing import Any

import torch

Arrays = dict[str, Any]


def linear(arrays: Arrays, place: int) -> torch.nn.Linear:
  """The layer with the weights `kernel_{place}` and `bias_{place}`."""
  kernel = arrays[f"kernel_{place}"]
  layer = torch.nn.Linear(*kernel.shape)
  layer.weight.data = torch.from_numpy(kernel.T.copy())
  layer.bias.data = torch.from_numpy(arrays[f"bias_{place}"].copy())
  return layer


class Mlp(torch.nn.Module):
  """One hidden layer and one of logits."""

  def __init__(self, arrays: Arrays):
    super().__init__()
    self.hidden, self.classifier = linear(arrays, 1), linear(arrays, 2)

  def features(self, rows: torch.Tensor) -> torch.Tensor:
    return torch.relu(self.hidden(rows))

  def forward(self, rows: torch.Tensor) -> torch.Tensor:
    return self.classifier(self.features(rows))

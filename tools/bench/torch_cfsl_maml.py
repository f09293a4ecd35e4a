# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The inner loop of MAML++ in plain PyTorch, and MAML++ low-end; see torch_cfsl.py.

S support sets of N images; T targets; W classes; F filters; K inner steps in all, L weight tensors.
"""

from __future__ import annotations

from collections.abc import Callable

import cfsl_cases
import torch
from torch.nn import functional

BLOCKS, LEAK, EPSILON, RATE = 4, 0.01, 1.001e-5, 0.01

Weights = dict[str, torch.Tensor]
Apply = Callable[[Weights, torch.Tensor, torch.Tensor, torch.Tensor], torch.Tensor]


class Adapted:
  """A net whose weights are adapted to tasks by gradient steps.

  Args:
    apply: apply(weights, scale, offset, images) returns logits; scale and offset are a row each.
    weights: initial weights of the steps.
    num_norms, filters: of the rows.
    num_sets: S.

  Attributes:
    weights: by name, sorted. rates: [K, L].
    scale, offset: [K + 1, norms, F]; the last row is the targets'.
  """

  def __init__(self, apply: Apply, weights: Weights, num_norms: int, filters: int, num_sets: int):
    steps = cfsl_cases.STEPS * num_sets
    self.apply = apply
    self.weights = {name: weights[name].requires_grad_() for name in sorted(weights)}
    self.rates = torch.full([steps, len(weights)], RATE, requires_grad=True)
    self.scale = torch.ones(steps + 1, num_norms, filters, requires_grad=True)
    self.offset = torch.zeros(steps + 1, num_norms, filters, requires_grad=True)

  def parameters(self) -> list[torch.Tensor]:
    return [*self.weights.values(), self.rates, self.scale, self.offset]

  def adapt(self, images: torch.Tensor, labels: torch.Tensor, second_order: bool) -> Weights:
    """The weights after all steps on images [S, N, ...] and labels [S, N]."""
    weights = self.weights
    for step in range(len(self.rates)):
      number = step // cfsl_cases.STEPS
      logits = self.apply(weights, *self.row(step, second_order), images[number])
      loss = functional.cross_entropy(logits, labels[number])
      weights = stepped(weights, loss, self.rates[step], second_order)
    return weights

  def logits(self, weights: Weights, images: torch.Tensor) -> torch.Tensor:
    """Logits [T, W] of the targets by adapted weights."""
    return self.apply(weights, self.scale[-1], self.offset[-1], images)

  def row(self, step: int, trained: bool) -> tuple[torch.Tensor, torch.Tensor]:
    """Scale and offset of a step; in evaluation nobody asks for their gradients."""
    scale, offset = self.scale[step], self.offset[step]
    return (scale, offset) if trained else (scale.detach(), offset.detach())


def stepped(weights: Weights, loss: torch.Tensor, rates: torch.Tensor, second_order: bool
            ) -> Weights:
  """Takes one gradient step; in first order without the graph of earlier steps."""
  gradients = torch.autograd.grad(loss, list(weights.values()), create_graph=second_order)
  with torch.set_grad_enabled(second_order):
    after = {name: weight - rate * gradient
             for (name, weight), rate, gradient in zip(weights.items(), rates, gradients)}
  return after if second_order else {name: w.requires_grad_() for name, w in after.items()}


def glorot(*shape: int) -> torch.Tensor:
  return torch.nn.init.xavier_uniform_(torch.empty(*shape))


def conv4(weights: Weights, scale: torch.Tensor, offset: torch.Tensor, images: torch.Tensor
          ) -> torch.Tensor:
  """Logits [B, W] of images [B, C, H, W], normalized as one batch; scale and offset [BLOCKS, F]."""
  x = images
  for block in range(BLOCKS):
    name = f"block{block + 1}"
    x = functional.conv2d(x, weights[f"{name}/kernel"], weights[f"{name}/bias"], padding=1)
    x = functional.batch_norm(
        x, None, None, scale[block], offset[block], training=True, eps=EPSILON)
    x = functional.max_pool2d(functional.leaky_relu(x, LEAK), 2)
  return functional.linear(x.flatten(1), weights["head/kernel"], weights["head/bias"])


class Maml:
  """MAML++ low-end."""

  def __init__(self, case: cfsl_cases.Case):
    filters, weights, channels = cfsl_cases.MAML_FILTERS, {}, case.channels
    for block in range(1, BLOCKS + 1):
      weights[f"block{block}/kernel"] = glorot(filters, channels, 3, 3)
      weights[f"block{block}/bias"] = torch.zeros(filters)
      channels = filters
    weights["head/kernel"] = glorot(case.num_labels, (case.size >> BLOCKS) ** 2 * filters)
    weights["head/bias"] = torch.zeros(case.num_labels)
    self.adapted = Adapted(conv4, weights, BLOCKS, filters, case.num_sets)

  def parameters(self) -> list[torch.Tensor]:
    return self.adapted.parameters()

  def loss(self, support_images: torch.Tensor, support_labels: torch.Tensor, images: torch.Tensor,
           labels: torch.Tensor) -> torch.Tensor:
    """Cross-entropy of the targets after all sets, to be differentiated through every step."""
    weights = self.adapted.adapt(support_images, support_labels, second_order=True)
    return functional.cross_entropy(self.adapted.logits(weights, images), labels)

  def answer(self, support_images: torch.Tensor, support_labels: torch.Tensor,
             images: torch.Tensor) -> torch.Tensor:
    """Logits [T, W] after all sets; keeps no graph beyond a step."""
    weights = self.adapted.adapt(support_images, support_labels, second_order=False)
    with torch.no_grad():
      return self.adapted.logits(weights, images)

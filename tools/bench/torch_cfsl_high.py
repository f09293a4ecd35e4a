# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MAML++ high-end and SCA in plain PyTorch; see torch_cfsl.py.

Dense blocks with channel attention embed images, all images of a task as one batch in training; a
head of attention and one convolution is adapted; a critic (SCA) adapts it further to the targets.
"""

from __future__ import annotations

import cfsl_cases
import torch
from torch import nn
from torch.nn import functional
import torch_cfsl_maml

FILTERS, STAGES, BLOCKS, PLACES = 64, 2, 2, 5
HEAD_FILTERS, CRITIC_SIZES = 48, (16, 16)
# Weights of the losses before and after the critic in the first of 250 epochs.
SHARES = (0.5 - 0.5 / 250, 0.5 + 0.5 / 250)


def finished(inputs: int, outputs: int, size: int) -> nn.Sequential:
  """Convolution, batch norm, LeakyReLU."""
  return nn.Sequential(
      nn.Conv2d(inputs, outputs, size, padding=size // 2, bias=False),
      nn.BatchNorm2d(outputs, eps=torch_cfsl_maml.EPSILON), nn.LeakyReLU(torch_cfsl_maml.LEAK))


def gated(x: torch.Tensor, kernel: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
  """Multiplies channels of [B, C, H, W] by a sigmoid of a linear layer of their means."""
  gates = torch.sigmoid(functional.linear(x.mean((2, 3)), kernel, bias))
  return x * gates[:, :, None, None]


class DenseBlock(nn.Module):
  """Dense block: returns gated channels and FILTERS new ones."""

  def __init__(self, inputs: int):
    super().__init__()
    self.gate = nn.Linear(inputs, inputs)
    self.new = nn.Sequential(finished(inputs, FILTERS, 1), finished(FILTERS, FILTERS, 3))

  def forward(self, x: torch.Tensor) -> torch.Tensor:
    x = gated(x, self.gate.weight, self.gate.bias)
    return torch.cat([x, self.new(x)], dim=1)


def embedding(channels: int) -> nn.Sequential:
  """[B, C, H, W] -> [B, FILTERS * (1 + STAGES * BLOCKS), PLACES, PLACES]."""
  layers: list[nn.Module] = [finished(channels, FILTERS, 3)]
  width = FILTERS
  for _ in range(STAGES):
    for _ in range(BLOCKS):
      layers.append(DenseBlock(width))
      width += FILTERS
    layers += [nn.AvgPool2d(2), finished(width, width, 1)]
  return nn.Sequential(*layers, nn.AdaptiveAvgPool2d(PLACES))


def head(weights: torch_cfsl_maml.Weights, scale: torch.Tensor, offset: torch.Tensor,
         codes: torch.Tensor) -> torch.Tensor:
  """Logits [B, W] of codes [B, C, PLACES, PLACES], normalized as one batch."""
  x = gated(codes, weights["gate/kernel"], weights["gate/bias"])
  x = functional.conv2d(x, weights["conv/kernel"], weights["conv/bias"], padding=1)
  x = functional.batch_norm(
      x, None, None, scale[0], offset[0], training=True, eps=torch_cfsl_maml.EPSILON)
  x = functional.max_pool2d(functional.leaky_relu(x, torch_cfsl_maml.LEAK), 2)
  x = gated(x, weights["late_gate/kernel"], weights["late_gate/bias"]).mean((2, 3))
  return functional.linear(x, weights["head/kernel"], weights["head/bias"])


class MamlHigh:
  """MAML++ high-end."""

  def __init__(self, case: cfsl_cases.Case):
    self.embed, width = embedding(case.channels), FILTERS * (1 + STAGES * BLOCKS)
    kernels = {"gate": (width, width), "conv": (HEAD_FILTERS, width, 3, 3),
               "late_gate": (HEAD_FILTERS, HEAD_FILTERS), "head": (case.num_labels, HEAD_FILTERS)}
    weights = {}
    for name, shape in kernels.items():
      weights[f"{name}/kernel"] = torch_cfsl_maml.glorot(*shape)
      weights[f"{name}/bias"] = torch.zeros(shape[0])
    self.adapted = torch_cfsl_maml.Adapted(head, weights, 1, HEAD_FILTERS, case.num_sets)

  def parameters(self) -> list[torch.Tensor]:
    return [*self.embed.parameters(), *self.adapted.parameters()]

  def loss(self, support_images: torch.Tensor, support_labels: torch.Tensor, images: torch.Tensor,
           labels: torch.Tensor) -> torch.Tensor:
    """Loss of the targets after all sets, to be differentiated through every step."""
    support, targets = self._codes(support_images, images)
    weights = self.adapted.adapt(support, support_labels, second_order=True)
    return self._target_loss(weights, targets, labels)

  def answer(self, support_images: torch.Tensor, support_labels: torch.Tensor,
             images: torch.Tensor) -> torch.Tensor:
    """Logits [T, W]; every image is embedded once, by running statistics."""
    self.embed.eval()
    with torch.no_grad():
      support, targets = self._codes(support_images, images)
    return self._answer(self.adapted.adapt(support, support_labels, second_order=False), targets)

  def _codes(self, support_images: torch.Tensor, images: torch.Tensor) -> list[torch.Tensor]:
    flat = support_images.flatten(0, 1)
    codes = self.embed(torch.cat([flat, images]))
    return [codes[:len(flat)].unflatten(0, support_images.shape[:2]), codes[len(flat):]]

  def _target_loss(self, weights: torch_cfsl_maml.Weights, codes: torch.Tensor,
                   labels: torch.Tensor) -> torch.Tensor:
    return functional.cross_entropy(self.adapted.logits(weights, codes), labels)

  def _answer(self, weights: torch_cfsl_maml.Weights, codes: torch.Tensor) -> torch.Tensor:
    with torch.no_grad():
      return self.adapted.logits(weights, codes)


class Sca(MamlHigh):
  """MAML++ high-end with a critic; one step on its score adapts the head to the targets."""

  def __init__(self, case: cfsl_cases.Case):
    super().__init__(case)
    sizes = (4 * case.num_labels, *CRITIC_SIZES, 1)
    self.critic = [torch_cfsl_maml.glorot(outputs, inputs).requires_grad_()
                   for inputs, outputs in zip(sizes, sizes[1:])]
    count = len(self.adapted.weights)
    self.rates = torch.full([count], torch_cfsl_maml.RATE, requires_grad=True)
    self.scale = torch.ones(1, HEAD_FILTERS, requires_grad=True)
    self.offset = torch.zeros(1, HEAD_FILTERS, requires_grad=True)

  def parameters(self) -> list[torch.Tensor]:
    return [*super().parameters(), *self.critic, self.rates, self.scale, self.offset]

  def judge(self, logits: torch.Tensor) -> torch.Tensor:
    x = torch.cat([logits, logits.abs(), logits ** 2, logits.sign()], dim=1)
    for layer in self.critic[:-1]:
      x = functional.leaky_relu(functional.linear(x, layer), torch_cfsl_maml.LEAK)
    return functional.linear(x, self.critic[-1]).sum()

  def _target_loss(self, weights: torch_cfsl_maml.Weights, codes: torch.Tensor,
                   labels: torch.Tensor) -> torch.Tensor:
    before = self.adapted.logits(weights, codes)
    weights = torch_cfsl_maml.stepped(weights, self.judge(before), self.rates, second_order=True)
    after = head(weights, self.scale, self.offset, codes)
    losses = (functional.cross_entropy(logits, labels) for logits in (before, after))
    return sum(share * loss for share, loss in zip(SHARES, losses))

  def _answer(self, weights: torch_cfsl_maml.Weights, codes: torch.Tensor) -> torch.Tensor:
    judgement = self.judge(self.adapted.apply(weights, *self.adapted.row(-1, False), codes))
    weights = torch_cfsl_maml.stepped(weights, judgement, self.rates, second_order=False)
    with torch.no_grad():
      return head(weights, self.scale, self.offset, codes)

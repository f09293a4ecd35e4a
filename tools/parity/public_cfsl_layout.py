# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Where the parameters of the models of MAML++'s and CFSL's authors stand in the suite's arrays.

An entry is a part of one of their parameters and a part of one of our arrays. All support sets take
K steps together. The targets' pass uses row K of the norms, or row K - 1 where K rows are all
(MAML++). With a critic (SCA) their code makes a pass with row K whose result is not used; the pass
that the critic scores uses row K + 1, its step the rates K + 1, and the last pass row K + 2.
"""

from __future__ import annotations

from collections.abc import Iterator
import re
from typing import Any, NamedTuple

_ALL = slice(None)


class Entry(NamedTuple):
  """Rows `theirs` of a parameter are `ours` (an index) of the array `name`."""

  name: str
  parameter: Any
  ours: Any = ...
  theirs: slice = _ALL


class Layout:
  """The parameters of their model as our arrays.

  Args:
    model: theirs.
    arrays: ours by name, for their shapes.
  """

  def __init__(self, model: Any, arrays: dict[str, Any]):
    self._arrays = arrays
    self.entries = [*_head(model, arrays), *_embedding(model), *_critic(model), *_conv4(model)]
    missing = set(arrays) - {entry.name for entry in self.entries}
    assert not missing, f"no parameter of theirs is {sorted(missing)}"

  def assign(self) -> None:
    """Writes our arrays into their parameters."""
    import torch
    with torch.no_grad():
      for entry in self.entries:
        value = to_theirs(entry.name, self._arrays[entry.name][entry.ours])
        entry.parameter[entry.theirs] = torch.from_numpy(value.copy()).reshape(
            entry.parameter[entry.theirs].shape)

  def gradients(self) -> dict[str, Any]:
    """Returns the gradients as our arrays; what none of our arrays is must have none."""
    import torch
    found = {name: value * 0.0 for name, value in self._arrays.items()}
    rest = {}
    for entry in self.entries:
      parameter = entry.parameter
      gradient = torch.zeros_like(parameter) if parameter.grad is None else parameter.grad
      found[entry.name][entry.ours] = to_ours(
          entry.name, gradient[entry.theirs].numpy(), found[entry.name][entry.ours].shape)
      rest.setdefault(id(parameter), gradient.clone())[entry.theirs] = 0.0
    assert not any(bool(gradient.any()) for gradient in rest.values()), (
        "a row that the suite does not have has a gradient")
    return found


def _head(model: Any, arrays: dict[str, Any]) -> Iterator[Entry]:
  """The adapted net, its rates and its norms' rows, and those of the critic's step."""
  if not hasattr(model, "inner_loop_optimizer"):
    return
  steps, rows = len(arrays["inner_rates"]), len(arrays["norm_scale"])
  critic = "critic_rates" in arrays
  rates = model.inner_loop_optimizer.names_learning_rates_dict
  columns = {}
  for name, parameter in model.classifier.named_parameters():
    if "norm_layer.running" in name:
      continue
    layer = _layer(name)
    if "norm_layer" not in name:
      own = f"{layer}/{'bias' if name.endswith('bias') else 'kernel'}"
      columns[own] = rates[name.replace(".", "-")]
      yield Entry(own, parameter)
      continue
    key = "norm_scale" if name.endswith("weight") else "norm_offset"
    block = int(layer[5:]) - 1 if layer.startswith("block") else 0
    if critic:
      yield Entry(key, parameter, (slice(0, steps), block), slice(0, steps))
      yield Entry(key, parameter, (slice(steps, None), block), slice(steps + 1, steps + 2))
      yield Entry(f"critic_{key}", parameter, (_ALL, block), slice(steps + 2, steps + 3))
    else:
      yield Entry(key, parameter, (_ALL, block), slice(0, rows))
  for column, own in enumerate(sorted(columns)):
    yield Entry("inner_rates", columns[own], (_ALL, column), slice(0, steps))
    if critic:
      yield Entry("critic_rates", columns[own], (_ALL, column), slice(steps + 1, steps + 2))


def _layer(name: str) -> str:
  """Our name of a layer of the adapted net: of conv4, or of the head above an embedding."""
  if "attention_layer" in name:
    return "gate"
  if "attention_pre_logit" in name:
    return "late_gate"
  if re.search(r"conv_\d_\d\.", name):
    return "conv"
  block = re.search(r"conv_?(\d+)\.", name)
  return f"block{int(block.group(1)) + 1}" if block else "head"


def _embedding(model: Any) -> Iterator[Entry]:
  """The dense embedding of the high-end model."""
  if not hasattr(model, "dense_net_embedding"):
    return
  net, first = model.dense_net_embedding.layer_dict["dense_net_features"].layer_dict, 0
  for name, module in _in_order(net):
    if name.endswith("/gate"):
      yield Entry(f"{name}/kernel", module.weight)
      yield Entry(f"{name}/bias", module.bias)
      continue
    yield Entry(name, module.layer_dict["conv"].weight)
    norm = module.layer_dict["norm_layer"]
    yield from _norm(norm, first)
    first += len(norm.weight)


def _norm(norm: Any, first: int) -> Iterator[Entry]:
  """A norm of an embedding, whose norms are one vector of ours."""
  part = slice(first, first + len(norm.weight))
  yield Entry("embedding/norm_scale", norm.weight, part)
  yield Entry("embedding/norm_offset", norm.bias, part)


def _in_order(net: Any) -> Iterator[tuple[str, Any]]:
  """Layers of the embedding by our names, in the order in which their norms are applied."""
  yield "stem/kernel", net["stem_conv"]
  stages = sum(name.startswith("transition_layer") for name in net)
  blocks = sum(name.startswith("conv_bottleneck_0") for name in net)
  for stage in range(stages):
    for block in range(blocks):
      own = f"block{stage * blocks + block + 1}"
      yield f"{own}/gate", net[f"channel_wise_attention_output_fcc_{block}_{stage}"]
      yield f"{own}/narrow", net[f"conv_bottleneck_{stage}_{block}"]
      yield f"{own}/wide", net[f"conv_{stage}_{block}"]
    yield f"transition{stage + 1}", net[f"transition_layer_{stage}"]


def _critic(model: Any) -> Iterator[Entry]:
  if hasattr(model, "critic_network"):
    layers = model.critic_network.layer_dict
    for number, name in enumerate(("linear_0", "linear_1", "linear_preds"), 1):
      yield Entry(f"critic/layer{number}", layers[name].weight)


def _conv4(model: Any) -> Iterator[Entry]:
  """The embedding of the prototypical networks."""
  if hasattr(model, "inner_loop_optimizer"):
    return
  for number, layer in enumerate(model.classifier.layer_dict.values()):
    yield Entry(f"block{number + 1}/kernel", layer.layer_dict["conv"].weight)
    norm = layer.layer_dict["bn"]
    yield from _norm(norm, number * len(norm.weight))


def to_theirs(name: str, value: Any) -> Any:
  """Kernels [3, 3, C, F] become [F, C, 3, 3]; matrices [C, F] become [F, C]."""
  if value.ndim == 4:
    return value.transpose(3, 2, 0, 1)
  return value.T if value.ndim == 2 and _is_matrix(name) else value


def to_ours(name: str, value: Any, shape: tuple[int, ...]) -> Any:
  """The opposite; matrices of theirs may be 1x1 convolutions [F, C, 1, 1]."""
  if len(shape) == 4:
    return value.transpose(2, 3, 1, 0)
  return value.reshape(value.shape[:2]).T if len(shape) == 2 and _is_matrix(name) else value


def _is_matrix(name: str) -> bool:
  return "norm" not in name and "rates" not in name

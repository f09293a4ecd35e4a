# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""PyTorch as programs find it that ask for a GPU: what they move to one stays where it is.

Imported by `public_*.py` before the public code. Loaders there keep the order of rows, so that both
sides see the same rows in the same order.
"""

from __future__ import annotations

from typing import Any

import torch

_TENSOR_TO, _MODULE_TO = torch.Tensor.to, torch.nn.Module.to
_LOADER = torch.utils.data.DataLoader


def _is_gpu(device: Any) -> bool:
  return str(device).startswith("cuda")


def _moved(original: Any) -> Any:
  def to(self: Any, *arguments: Any, **named: Any) -> Any:
    arguments = tuple(one for one in arguments if not (
        isinstance(one, (str, torch.device)) and _is_gpu(one)))
    if _is_gpu(named.get("device")):
      del named["device"]
    return original(self, *arguments, **named) if arguments or named else self
  return to


def _stays(self: Any, *arguments: Any, **named: Any) -> Any:
  del arguments, named
  return self


def _nothing(*arguments: Any, **named: Any) -> None:
  del arguments, named


torch.Tensor.to, torch.nn.Module.to = _moved(_TENSOR_TO), _moved(_MODULE_TO)
torch.Tensor.cuda = torch.nn.Module.cuda = _stays
torch.cuda.synchronize = _nothing


def loader(dataset: Any, batch_size: int = 1, sampler: Any = None, **settings: Any) -> Any:
  """A loader of this process that does not shuffle, in place of `torch.utils.data.DataLoader`."""
  del settings
  return _LOADER(dataset, batch_size=batch_size, sampler=sampler)


torch.utils.data.DataLoader = loader

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shared parts of the programs that run the authors' code; independent of the suite.

Such a program runs in an environment with the authors' dependencies. It either times their code
(`options`) or answers a question of `tools/parity` about it (`serve`): arrays in, arrays out.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator, Sequence
import contextlib
import importlib
import io
import json
import os
import pathlib
import sys
import types
from typing import Any

Arrays = dict[str, Any]  # numpy arrays by name.


def options(parser: argparse.ArgumentParser) -> argparse.Namespace:
  """Adds the shared flags of timing, parses, and sets PyTorch to the CPU and number of threads."""
  parser.add_argument("--checkout", type=pathlib.Path, required=True)
  parser.add_argument("--seconds", type=float, default=20.0)
  parser.add_argument("--threads", type=int, default=2)
  found = parser.parse_args()
  found.checkout = found.checkout.resolve()
  _limit(found.threads)
  import torch
  torch.set_num_threads(found.threads)
  return found


def _limit(threads: int) -> None:
  os.environ.update(CUDA_VISIBLE_DEVICES="", OMP_NUM_THREADS=str(threads),
                    MKL_NUM_THREADS=str(threads))


class _Anything(type):
  """A class whose attributes are classes like it, for annotations, base classes and calls."""

  def __getattr__(cls, name: str) -> Any:
    if name.startswith("__"):
      raise AttributeError(name)
    return _anything(name)


def _anything(name: str) -> _Anything:
  return _Anything(name, (), {"__init__": lambda self, *args, **kwargs: None})


class _Missing(types.ModuleType):
  """A module whose every attribute is an `_Anything`."""

  __path__: list[str] = []  # Its submodules are looked for in sys.modules alone.

  def __getattr__(self, name: str) -> Any:
    if name.startswith("__"):
      raise AttributeError(name)
    return _anything(name)


def blank(name: str) -> types.ModuleType:
  """A module that has whatever is imported from it, and does nothing."""
  return _Missing(name)


@contextlib.contextmanager
def stand_ins(*names: str, without: Sequence[str] = ()) -> Iterator[None]:
  """Replaces missing imports that the code in question does not use, until the end of the block.

  PyTorch must not find them later.

  Args:
    names: modules, a package before its submodules; one that can be imported is left as it is.
    without: packages whose `__init__` is left out, and their parents, relative to sys.path.
  """
  for name in without:
    package = types.ModuleType(name)
    package.__path__ = [str(pathlib.Path(sys.path[0], *name.split(".")))]
    sys.modules[name] = package
  missing = []
  for name in names:
    try:
      importlib.import_module(name)
    except (ImportError, RuntimeError):  # The second: torchvision beside another PyTorch.
      missing.append(name)
  for name in missing:  # After the imports: torchvision fails with a stand-in.
    sys.modules[name] = blank(name)
  try:
    yield
  finally:
    for name in [*missing, *without]:
      sys.modules.pop(name, None)


def serve(answer: Callable[[pathlib.Path, Arrays, dict[str, Any]], Arrays],
          packages: tuple[str, ...]) -> int:
  """Answers one question: `answer(checkout, arrays, settings)` returns arrays; see `authors.py`.

  Prints of the authors' code are dropped.
  """
  parser = argparse.ArgumentParser()
  parser.add_argument("--checkout", type=pathlib.Path, required=True)
  parser.add_argument("--input", type=pathlib.Path, required=True)
  parser.add_argument("--output", type=pathlib.Path, required=True)
  parser.add_argument("--settings", type=json.loads, default={})
  found = parser.parse_args()
  _limit(1)
  import numpy as np
  with np.load(found.input) as stored:
    arrays = dict(stored)
  with contextlib.redirect_stdout(io.StringIO()):
    result = answer(found.checkout.resolve(), arrays, found.settings)
  np.savez(found.output, **result)
  versions = {"Python": sys.version.split()[0],
              **{name: __import__(name).__version__ for name in packages}}
  print(json.dumps(versions))
  return 0

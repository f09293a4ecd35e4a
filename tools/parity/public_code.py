# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Shared parts of the programs that run the authors' code; independent of the suite.

Such a program runs in an environment with the authors' dependencies. It either times their code
(`options`) or answers a question of `tools/parity` about it (`serve`): arrays in, arrays out.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import contextlib
import io
import json
import os
import pathlib
import sys
import types
from typing import Any, Callable

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


class _Missing(types.ModuleType):
  """A module whose every attribute is a new class, so that it can be imported from and derived."""

  def __getattr__(self, name: str) -> Any:
    if name.startswith("__"):
      raise AttributeError(name)
    return type(name, (), {})


@contextlib.contextmanager
def stand_ins(*names: str) -> Iterator[list[str]]:
  """Replaces missing imports that the code in question does not use; yields their names.

  They are removed at the end, since PyTorch must not find them.
  """
  missing = []
  for name in names:
    try:
      __import__(name)
    except ImportError:
      missing.append(name)
  for name in missing:  # After the imports: torchvision fails with a stand-in.
    sys.modules[name] = _Missing(name)
  try:
    yield missing
  finally:
    for name in missing:
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

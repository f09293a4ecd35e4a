# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tools are scripts beside the package: tests import them by name."""

from __future__ import annotations

import importlib.util
import pathlib
import sys

import pytest

TOOLS = pathlib.Path(__file__).parents[2] / "tools"


@pytest.fixture(scope="session")
def load_tool():
  """A function: the name of a tool to a fresh import of it; it finds the tools beside it."""

  def load(name):
    path, = TOOLS.rglob(f"{name}.py")
    spec = importlib.util.spec_from_file_location(name, path)
    module = importlib.util.module_from_spec(spec)
    before = list(sys.path)
    sys.path.insert(0, str(path.parent))
    sys.modules[name] = module  # Dataclasses look up their module.
    try:
      spec.loader.exec_module(module)
    finally:
      sys.path[:] = before
    return module

  return load

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Restriction of gin files to the names of trusted modules.

A gin file is a program: it imports modules, and can call whatever they contain. With a list of
trusted modules a run imports nothing else, and each function or class that a file names must have
been defined in one of them; `os.system` is refused wherever a trusted module has imported it. Parts
that start processes, delete files or load code have no place in a run file and are never trusted.
This is no sandbox: what is trusted can still read and write files.
"""

from __future__ import annotations

import importlib
import inspect
import types
from typing import Any

from suite.configs import gin_files

# Packages that another one's names lead to.
_PARTS = {"tensorflow": ("keras", "tf_keras"), "suite": ("tfds_builders",)}
_NEVER = ("suite.cli", "suite.commands", "suite.curation", "suite.system",
          "tensorflow.python.lib.io", "tensorflow.python.saved_model",
          "tensorflow.python.ops.io_ops", "tensorflow.python.ops.script_ops",
          "tensorflow.python.framework.load_library",
          "keras.src.saving", "keras.src.utils", "tf_keras.src.saving", "tf_keras.src.utils")


def check_imports(found: gin_files.Scan, trusted: list[str]) -> None:
  """Refuses files that import, or call on gin for, anything else; imports nothing itself.

  Args:
    found: what the files say.
    trusted: names of packages or modules, such as ["suite", "tensorflow"].

  Raises:
    gin_files.ConfigError: names the module and the file.
  """
  for statement, where in found.every_import:
    if statement.module != "__gin__.dynamic_registration" and not _is_trusted(
        statement.module, trusted):
      raise _refusal(f"{where} imports {statement.module!r}", trusted)
  for name, where in found.functions.items():
    if "." not in name and not name.startswith("gin."):
      raise _refusal(f"{where} names {name!r}, which no import of the file gives", trusted)


def check_functions(found: gin_files.Scan, trusted: list[str]) -> None:
  """Refuses files that name what a trusted module has only imported; their imports are made here.

  To be called before anything of the run is.
  """
  for name, where in found.functions.items():
    if not name.startswith("gin."):
      module = _home(name, trusted)
      if module:
        raise _refusal(f"{where} names {name}, which is defined in {module!r}", trusted)


def _home(name: str, trusted: list[str]) -> str:
  """The first module on the way to what `name` stands for that is not trusted; "" if all are."""
  first, *rest = name.split(".")
  target: Any = importlib.import_module(first)
  path = first
  for part in rest:
    path = f"{path}.{part}"
    if isinstance(target, types.ModuleType):
      module = target.__name__
      if module != first and not _is_trusted(module, trusted):
        return module
      if not hasattr(target, part):
        importlib.import_module(path)
    target = getattr(target, part)
  home = getattr(inspect.unwrap(target), "__module__", None) or type(target).__module__
  return "" if _is_trusted(home, trusted) else home


def _is_trusted(module: str, trusted: list[str]) -> bool:
  allowed = [*trusted, *(part for name in trusted for part in _PARTS.get(name, ()))]
  return _within(module, allowed) and not _within(module, list(_NEVER))


def _within(module: str, packages: list[str]) -> bool:
  return any(f"{module}.".startswith(f"{package}.") for package in packages)


def _refusal(what: str, trusted: list[str]) -> gin_files.ConfigError:
  return gin_files.ConfigError(
      f"{what}; trusted are {', '.join(trusted)}, without what starts processes, deletes files or "
      "loads code. A gin file is a program: read it, then add the module to --trusted_modules, or "
      "leave that flag out to allow everything.")

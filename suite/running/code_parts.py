# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Code of the user's own files, for `run_parts`: whose it is, its digest, and what it reads.

A function is its syntax tree without docstrings, so that comments and layout are no change; a
lambda, and code whose source is not known or was changed since this process began, is its bytecode.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Iterator
import dis
import functools
import hashlib
import importlib.util
import inspect
import os
import pathlib
import re
import site
import sys
import sysconfig
import textwrap
import time
import types
from typing import Any

import suite


@functools.cache
def _installed() -> tuple[str, ...]:
  """Folders of Python, of installed packages and of the suite: their code is no user's."""
  home = pathlib.Path(suite.__file__).resolve().parent
  paths = [*sysconfig.get_paths().values(), *site.getsitepackages(), site.getusersitepackages(),
           str(home), str(home.parent / "tfds_builders")]
  found = {os.path.realpath(path) for path in paths if path} - {os.path.realpath(sys.prefix)}
  return tuple(sorted(f"{path}{os.sep}" for path in found))


def _file(value: Any) -> str | None:
  """The file of a function's or class's code; None if it is unknown, as of a notebook's cell."""
  code = getattr(value, "__code__", None)
  if code is not None:
    return code.co_filename
  module = sys.modules.get(getattr(value, "__module__", "") or "")
  return getattr(module, "__file__", None)


def package_of(value: Any) -> str:
  return str(getattr(value, "__module__", "") or "").partition(".")[0]


def module_of(value: Any) -> str:
  """The module of a function or class; of a script the name of its file."""
  name = str(getattr(value, "__module__", "") or "")
  if name in ("__main__", "__mp_main__"):
    file = _file(value)
    name = pathlib.Path(file).stem if file and not file.startswith("<") and (
        os.path.exists(file) and "ipykernel" not in file) else "__main__"
  return name


def is_own(value: Any) -> bool:
  """Whether it is code of the user."""
  package = package_of(value)
  if package in ("__main__", "__mp_main__"):
    return True
  if package in ("suite", "tfds_builders", "builtins") or (
      package in getattr(sys, "stdlib_module_names", ())):
    return False
  file = _file(value)
  if file is None:
    return False
  if file.startswith("<"):
    return package not in sys.modules or getattr(sys.modules[package], "__file__", None) is None
  path = os.path.realpath(file)
  return not path.startswith(_installed()) and not re.search(
      r"/(site|dist)-packages/|/lib/python\d", path)


_began = time.time()


def digest_of(function: types.FunctionType) -> str:
  """Digest of a function's syntax tree; of its bytecode where its source cannot be had.

  The source of a lambda is not known apart from its line. A file that was changed after this
  process began may not be what runs.
  """
  code, tree = function.__code__, None
  changed = os.path.exists(code.co_filename) and os.path.getmtime(code.co_filename) > _began
  if code.co_name != "<lambda>" and not changed:
    try:
      tree = ast.parse(textwrap.dedent(inspect.getsource(function)))
    except (OSError, TypeError, SyntaxError, ValueError):
      tree = None
  text = _bytecode(code) if tree is None else _tree(_without_docstrings(tree))
  return f"#{hashlib.sha256(text.encode()).hexdigest()}"


def _without_docstrings(tree: ast.AST) -> ast.AST:
  for node in ast.walk(tree):
    body = getattr(node, "body", None)
    if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)) and body and (
        isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
        and isinstance(body[0].value.value, str)):
      node.body = body[1:] or [ast.Pass()]
  return tree


def _tree(node: Any) -> str:
  """A syntax tree as text, the same in all versions of Python: fields that are empty say nothing.
  """
  if isinstance(node, ast.AST):
    fields = ((name, value) for name, value in ast.iter_fields(node)
              if name not in ("ctx", "kind", "type_comment") and value not in (None, []))
    return f"{type(node).__name__}({', '.join(f'{n}={_tree(v)}' for n, v in fields)})"
  if isinstance(node, list):
    return f"[{', '.join(map(_tree, node))}]"
  return repr(node)


def _bytecode(code: types.CodeType) -> str:
  constants = [_bytecode(one) if isinstance(one, types.CodeType) else repr(one)
               for one in code.co_consts]
  return repr((code.co_code, constants, code.co_names, code.co_varnames))


def read_globals(function: types.FunctionType) -> Iterator[tuple[str, Any]]:
  """Yields (name, value) of all globals that a function reads: "RATE", "losses.focal"."""
  waiting, seen = [function.__code__], set()
  while waiting:
    code = waiting.pop()
    waiting += [one for one in code.co_consts if isinstance(one, types.CodeType)]
    found: Any = None
    name = ""
    imported: Any = None
    for step in dis.get_instructions(code):
      if step.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
        name = str(step.argval)
        found = function.__globals__.get(name, getattr(builtins, name, None))
        is_global = name in function.__globals__
      elif step.opname == "IMPORT_NAME":
        imported, found = sys.modules.get(str(step.argval)), None
        if (text := _module_digest(str(step.argval))) is not None:
          yield f"module {step.argval}", text
        continue
      elif step.opname == "IMPORT_FROM" and imported is not None:
        name, is_global = f"{imported.__name__}.{step.argval}", True
        found = getattr(imported, str(step.argval), None)
      elif step.opname in ("LOAD_ATTR", "LOAD_METHOD") and isinstance(found, types.ModuleType):
        name, found = f"{name}.{step.argval}", getattr(found, str(step.argval), None)
      else:
        found = None
        continue
      if is_global and name not in seen and not isinstance(found, types.ModuleType) and (
          found is not None or "." not in name):
        seen.add(name)
        yield name, found


def _module_digest(name: str) -> str | None:
  """Digest of a module of the user that a function imports; None for others."""
  try:
    spec = importlib.util.find_spec(name)
  except (ImportError, ValueError):
    return None
  file = spec.origin if spec is not None else None
  if not file or not file.endswith(".py") or os.path.realpath(file).startswith(_installed()):
    return None
  text = _tree(_without_docstrings(ast.parse(pathlib.Path(file).read_bytes())))
  return f"#{hashlib.sha256(text.encode()).hexdigest()}"

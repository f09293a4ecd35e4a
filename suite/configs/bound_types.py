# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Refuses a bound value whose type is not that of its parameter, before anything is computed.

Only what is certain is refused: literals for parameters that are annotated as numbers, texts or
booleans. A whole number stands for a float, and a float without a fraction for a whole number.
"""

from __future__ import annotations

import importlib
import inspect
import types
import typing
from typing import Any

from suite.configs import gin_bindings
from suite.configs import gin_files

_PLAIN = (int, float, str, bool, type(None))
_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))


def check(found: gin_files.Scan) -> None:
  """Raises a ConfigError for the first value of a wrong type that is read, or that the user set."""
  read = gin_bindings.reached(found.history)
  for (scope, name, argument), settings in found.history.items():
    setting, via = settings[-1], ""
    is_read = read is None or setting.is_users or (scope, name, argument) in read
    if name == gin_bindings.MACRO or not is_read:
      continue
    value, where = setting.value, setting.where
    if isinstance(value, gin_bindings.GinReference) and value.name == gin_bindings.MACRO:
      macro = found.history.get((value.scope, gin_bindings.MACRO, "value"))
      if not macro:
        continue
      via, value, where = f" through {value}", macro[-1].value, macro[-1].where
    allowed = _allowed(name, argument)
    if allowed and not any(_is_one(value, kind) for kind in allowed):
      label = ".".join([*name.split(".")[-2:], argument])
      kinds = " or ".join("None" if kind is type(None) else _NAMES[kind] for kind in allowed)
      raise gin_files.ConfigError(
          f"{f'{scope}/' if scope else ''}{label} is {value!r}{via} ({where}); it takes {kinds}.")


_NAMES = {int: "a whole number", float: "a number", str: "a text", bool: "True or False"}


def _is_one(value: Any, kind: type) -> bool:
  if isinstance(value, gin_bindings.GinReference) or value is gin_files.REQUIRED:
    return True  # Of what another function returns.
  if kind is bool:
    return isinstance(value, (bool, int))
  if kind is int:
    return isinstance(value, int) or isinstance(value, float) and value.is_integer()
  if kind is float:
    return isinstance(value, (int, float))
  return isinstance(value, kind)


def _allowed(name: str, argument: str) -> tuple[type, ...]:
  """The plain types of a parameter; () if it takes others, or if they are not known."""
  try:
    target = _resolve(name)
    function = target.__init__ if inspect.isclass(target) else target
    hint = typing.get_type_hints(function).get(argument)
    default = inspect.signature(function).parameters[argument].default
  except Exception:  # Annotations may name what only a type checker, or a newer Python, knows.
    return ()
  kinds = typing.get_args(hint) if typing.get_origin(hint) in _UNIONS else (hint,)
  if not all(kind in _PLAIN for kind in kinds):
    return ()
  return (*kinds, *((type(None),) if default is None and type(None) not in kinds else ()))


def _resolve(name: str) -> Any:
  """The object of a full name: modules as far as there are, then attributes."""
  parts = name.split(".")
  for length in range(len(parts) - 1, 0, -1):
    try:
      target = importlib.import_module(".".join(parts[:length]))
    except ImportError:
      continue
    for part in parts[length:]:
      target = getattr(target, part)
    return target
  raise LookupError(name)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What gin files of somebody else may name: a list, instead of all that Python can import.

A gin file is a program: it imports modules, and calls whatever they contain. With `--gin_names` a
run takes from its files only

  names      functions and classes of the list gin_names.txt ("shipped": methods, nets, data,
             protocols, tables), and those that the user names one by one
  imports    modules on the way to these names
  values     numbers, texts, True, False, None, tuples, lists and dictionaries of these, macros, and
             references to the names

and refuses everything else before anything is imported. A dictionary that describes an object of
Keras is refused: Keras imports what it names. `experiment.run` and `table.run` are run and never
referred to. Functions that take gin or code as text are never allowed.

This is no sandbox: what is allowed still computes, reads the data that texts name, and writes the
caches and copies of data that texts name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import functools
import pathlib
import re
from typing import Any

from suite.configs import gin_bindings
from suite.configs import gin_files

SHIPPED = "shipped"
_LIST = pathlib.Path(__file__).with_name("gin_names.txt")
_DYNAMIC = "__gin__.dynamic_registration"
# Packages of functions that take gin or code as text: they would let a file name everything.
_NEVER = ("gin", "suite.cli", "suite.commands", "suite.configs", "suite.running")
_PLAIN = (bool, int, float, str, type(None))
_OF_KERAS = ("class_name", "registered_name", "module")  # Keys of a described object.


@functools.cache
def shipped() -> frozenset[str]:
  """The full names of the list."""
  lines = _LIST.read_text(encoding="utf-8").splitlines()
  pairs = (line.split(": ") for line in lines if not line.startswith("#"))
  return frozenset(f"{module}.{name}" for module, names in pairs for name in names.split())


def parsed(text: str) -> tuple[str, ...]:
  """The value of the flag: "shipped", full names of functions and classes, or both.

  Raises:
    ValueError: a name is none, or is never allowed.
  """
  names = tuple(text.split(","))
  for name in names:
    if name != SHIPPED and not re.fullmatch(r"[^\W\d]\w*(\.[^\W\d]\w*)+", name):
      raise ValueError(f"got {text!r}, allowed are {SHIPPED}, and full names of single functions "
                       f"and classes: {SHIPPED},my_nets.small")
    if any(f"{name}.".startswith(f"{package}.") for package in _NEVER):
      raise ValueError(f"got {name!r}, which takes gin or code as text: a gin file could name "
                       "everything through it. Leave the flag out to allow everything")
  return names


def check(found: gin_files.Scan, names: Sequence[str]) -> None:
  """Refuses files and bindings that name, import or hold anything else; imports nothing itself.

  Args:
    found: what the files and bindings say.
    names: of `parsed`; (): everything is allowed.

  Raises:
    gin_files.ConfigError: says what is named, and by which file.
  """
  if not names:
    return
  allowed = {name for name in names if name != SHIPPED}
  allowed |= shipped() if SHIPPED in names else set()
  meant: dict[tuple[str, str], str] = {}  # What the name of an import stands for in a file.
  for statement, where in found.every_import:
    module, stands_for = statement.module, gin_files.stands_for(statement)
    if module != _DYNAMIC and not any(name.startswith(f"{module}.") for name in allowed):
      raise _refusal(f"{where} imports {module!r}, which has none of the allowed names", names)
    if meant.setdefault((where, statement.bound_name()), stands_for) != stands_for:
      raise _refusal(f"{where} imports two modules as {statement.bound_name()!r}", names)
  for name, where in found.functions.items():
    if name not in allowed:
      raise _refusal(f"{where} names {name}, which is not allowed", names)
  for macro, where in found.used.items():
    if "." in macro:
      raise _refusal(f"{where} reads the constant %{macro}, which a module declares", names)
  for settings in found.history.values():
    for setting in settings:
      for part in _parts(setting.value):
        problem = _problem(part)
        if problem:
          raise _refusal(f"{setting.where} sets {setting.text} to {problem}", names)


def _parts(value: Any) -> Iterator[Any]:
  """A value and all that it holds, keys of dictionaries too."""
  waiting = [value]
  while waiting:
    part = waiting.pop()
    yield part
    if isinstance(part, dict):
      waiting += [*part.keys(), *part.values()]
    elif isinstance(part, (list, tuple)):
      waiting += part


def _problem(part: Any) -> str:
  """What is wrong with a value or a part of one, its own parts left out; "" if nothing is."""
  if isinstance(part, gin_bindings.GinReference):
    return (f"{part}, which is run by the command and by nothing else"
            if part.name in gin_bindings.ROOTS[:2] else "")
  if isinstance(part, dict) and any(key in part for key in _OF_KERAS):
    return "a dictionary that describes an object of Keras, by which Keras imports any function"
  if part is gin_files.REQUIRED or isinstance(part, (*_PLAIN, dict, list, tuple)):
    return ""
  return f"{part!r}, which is no number, text, list, tuple, dictionary or reference"


def _refusal(what: str, names: Sequence[str]) -> gin_files.ConfigError:
  return gin_files.ConfigError(
      f"{what}; allowed are {', '.join(names)} ({SHIPPED}: the names in {_LIST.name} of "
      "suite/configs). A gin file is a program: read it, then add the full name of the function or "
      "class to --gin_names, or leave that flag out to allow everything.")

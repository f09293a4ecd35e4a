# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Commands, engines and trackers that installed packages add, those of `suite/beside` included.

    lifelong_suite.commands   NAME: a `Command`, `suite NAME`; PARENT.NAME: `suite PARENT NAME`
    lifelong_suite.engines    NAME of --engine: a class as `beside.engines.ray_tasks.RayEngine`
    lifelong_suite.trackers   NAME of --tracker: a class as `beside.trackers.wandb_run.WandbRun`

docs/extending.md has an example.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from importlib import metadata
from typing import Any, NamedTuple

from suite.configs import gin_files

COMMANDS, ENGINES, TRACKERS = (
    f"lifelong_suite.{one}" for one in ("commands", "engines", "trackers"))


class Command(NamedTuple):
  """A command, or an action of a command.

  Attributes:
    help: a line.
    add: adds flags to a parser, and sets its default `do`, a function of the parsed flags that
      returns the exit code.
  """

  help: str
  add: Callable[[argparse.ArgumentParser], None]


def found(group: str) -> dict[str, metadata.EntryPoint]:
  """The entry points of a group by name; nothing is imported."""
  return {one.name: one for one in metadata.entry_points(group=group)}


def load(group: str, name: str) -> Any:
  """Imports what an entry point names.

  Raises:
    ConfigError: there is none of this name, or what it needs is not installed.
  """
  known = found(group)
  what = group.rpartition(".")[2]
  if name not in known:
    raise gin_files.ConfigError(
        f"No installed package has {name!r} among its {what}; known are "
        f"{', '.join(known) or 'none'}. A checkout registers its own: pip install -e .")
  try:
    return known[name].load()
  except (ImportError, AttributeError) as error:
    missing = getattr(error, "name", None) or ""
    way = (f"pip install {missing.split('.')[0]}" if isinstance(error, ModuleNotFoundError)
           and missing.split(".")[0] not in ("", "suite") else
           "install the package again that has it")
    raise gin_files.ConfigError(
        f"{name!r} of {what} cannot be imported ({error}): {way}.") from error


def commands(parent: str = "") -> dict[str, Command]:
  """The commands that packages add, or the actions of one command, by name.

  One that cannot be imported says so in its help, and when it is called.
  """
  result = {}
  for name in sorted(found(COMMANDS)):
    above, _, last = name.rpartition(".")
    if above == parent:
      try:
        result[last] = load(COMMANDS, name)
      except gin_files.ConfigError as error:
        result[last] = Command(str(error), _refusing(error))
  return result


def _refusing(error: gin_files.ConfigError) -> Callable[[argparse.ArgumentParser], None]:
  def add(parser: argparse.ArgumentParser) -> None:
    def do(args: argparse.Namespace) -> int:
      del args
      raise error

    parser.set_defaults(do=do)
  return add

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of the commands' parsers: groups of actions, and what a shell completes.

Run names, data sets and bindings are completed by argcomplete (the extra `completion`):

    eval "$(register-python-argcomplete suite)"     # in ~/.bashrc, or ~/.zshrc after compinit

Nothing here imports TensorFlow before the user has typed what needs it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable
import os
import sys
from typing import Any

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import run_headers


def group(parser: argparse.ArgumentParser, title: str, metavar: str) -> Any:
  """The subparsers of a command; without a subcommand it prints its help and returns 2."""
  def show_help(args: argparse.Namespace) -> int:
    del args
    parser.print_help(sys.stderr)
    return 2

  parser.set_defaults(do=show_help)
  return parser.add_subparsers(title=title, metavar=metavar)


def by(action: argparse.Action, names: Callable[..., Iterable[str]]) -> argparse.Action:
  """Has the values of an argument completed by what `names` returns; returns the argument."""
  vars(action)["completer"] = names  # argcomplete looks for it.
  return action


def serve(parser: argparse.ArgumentParser) -> None:
  """Answers a shell that asks for completions, and ends the process; else returns."""
  if "_ARGCOMPLETE" not in os.environ:
    return
  try:
    import argcomplete
  except ImportError:
    return  # The shell was set up where the extra is installed.
  argcomplete.autocomplete(parser)


def runs(**asked: Any) -> list[str]:
  """Short names of the shipped runs."""
  del asked
  return list(gin_files.run_files())


def bindings(parsed_args: argparse.Namespace, **asked: Any) -> list[str]:
  """Macros and parameters of the run on the command line, as "X="."""
  del asked
  try:
    found = gin_files.scan([gin_files.find(parsed_args.run)[1]])
  except (gin_files.ConfigError, AttributeError, OSError):
    return []
  read = gin_bindings.reached(found.history)
  names = {settings[-1].text for key, settings in found.history.items()
           if read is None or key in read}
  return [f"{name}=" for name in (*found.macros, *found.parameters) if name in names]


def data_of_runs(**asked: Any) -> list[str]:
  """The data that headers of run files name."""
  del asked
  return sorted({name.strip() for header in run_headers.shipped()
                 for name in header.data.split(",") if " " not in name.strip()})

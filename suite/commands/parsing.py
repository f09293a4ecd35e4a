# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Parts of the commands' parsers: groups of actions, and what a shell completes.

Run names, data sets and bindings are completed by argcomplete (the extra `completion`):

    eval "$(register-python-argcomplete suite)"     # in ~/.bashrc, or ~/.zshrc after compinit

Nothing here imports TensorFlow before the user has typed what needs it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
import difflib
import os
import re
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
  found = parser.add_subparsers(title=title, metavar=metavar)
  vars(parser)["group"] = found
  return found


def refuse_unknown(parser: argparse.ArgumentParser, words: Sequence[str], unknown: Sequence[str]
                   ) -> None:
  """Raises a ConfigError for words of a command line that its parser does not know.

  Args:
    parser: of the whole command line.
    words: all words of the command line.
    unknown: those that no parser has taken.
  """
  for word in words:  # Down to the parser of the subcommand.
    parser = getattr(vars(parser).get("group"), "choices", {}).get(word, parser)
  known = re.findall(r"--[\w-]+", parser.format_usage())
  flag, _, value = unknown[0].partition("=")
  if not flag.startswith("-"):
    raise gin_files.ConfigError(f"{parser.prog} takes no further {flag!r}. See: {parser.prog} "
                                "--help")
  plain = {re.sub("[-_]", "", name): name for name in known}
  near = difflib.get_close_matches(re.sub("[-_]", "", flag.lower()), plain, n=3, cutoff=0.6)
  name = flag.lstrip("-").replace("-", "_")
  if name in ("seed", "op_threads") and "--gin_param" in known:
    value = value or "".join(unknown[1:2])
    advice = f"What runs is set by gin: --gin_param experiment.run.{name}={value or 'VALUE'}"
  elif near:
    advice = f"Nearest: {', '.join(plain[one] for one in near)}."
  elif "--gin_param" in known:
    advice = (f"Flags say where and how: {parser.prog} --help. What runs is set by gin: "
              "--gin_param X=VALUE, X is a macro of the run file or module.function.parameter.")
  else:
    advice = f"It has {', '.join(known)}."
  raise gin_files.ConfigError(f"{parser.prog} has no flag {flag!r}. {advice}")


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

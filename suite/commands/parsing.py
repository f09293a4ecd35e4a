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
import pathlib
import re
import shlex
import sys
import textwrap
from typing import Any

from suite.configs import entry_points
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import methods as methods_lib
from suite.configs import run_files
from suite.system import processes

_GPUS = ("gpu", "gpus", "gpuid", "gpuids", "cuda", "device", "deviceid")  # What others have.
_NARROWEST = 8  # A column in which words are broken.


class Parser(argparse.ArgumentParser):
  """A parser that takes flags by their whole names; so do those of its subcommands."""

  def __init__(self, **settings: Any):
    super().__init__(allow_abbrev=False, **settings)


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


def add_found(commands: Any, parent: str = "") -> None:
  """Adds the commands that installed packages have, or the actions of one command."""
  for name, one in entry_points.commands(parent).items():
    one.add(commands.add_parser(name, help=one.help.replace("%", "%%")))


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
  if not flag.startswith("-") and value and "--set" in known:
    raise gin_files.ConfigError(
        f"{parser.prog} takes no further {unknown[0]!r}. Give the flag once for each binding: "
        f"--set {shlex.quote(unknown[0])}")
  if not flag.startswith("-"):
    raise gin_files.ConfigError(f"{parser.prog} takes no further {flag!r}. See: {parser.prog} "
                                "--help")
  plain = {re.sub("[-_]", "", name): name for name in known}
  typed = re.sub("[-_]", "", flag.lower())
  near = [one for one in plain if typed and one.startswith(typed)][:3] or (
      difflib.get_close_matches(typed, plain, n=3, cutoff=0.6))
  name = flag.lstrip("-").replace("-", "_")
  if name == "op_threads" and "--gin_param" in known:
    value = value or "".join(unknown[1:2])
    advice = f"What runs is set by gin: --set experiment.run.{name}={value or 'VALUE'}"
  elif "--devices" in known and typed in _GPUS:
    value = value or "".join(unknown[1:2])
    value = value if re.fullmatch(r"[\d,]+", value) else "0"
    advice = (f"Choose GPUs before the command, CUDA_VISIBLE_DEVICES={value} {parser.prog} ..., "
              "and their number by --devices.")
  elif near:
    advice = f"Nearest: {', '.join(plain[one] for one in near)}."
  elif "--gin_param" in known:
    advice = (f"Flags say where and how: {parser.prog} --help. What runs is set by gin: --set "
              "X=VALUE, X is a macro of the run file or module.function.parameter, as `suite show "
              "RUN` lists them.")
  else:
    advice = f"It has {', '.join(known)}."
  raise gin_files.ConfigError(f"{parser.prog} has no flag {flag!r}. {advice}")


def listed(text: str) -> list[str]:
  """The value of a flag, names with commas between them."""
  names = [name.strip() for name in text.split(",") if name.strip()]
  if not names:
    raise argparse.ArgumentTypeError("it is empty; give names: er,der_plus_plus")
  return names


def file_named(*endings: str) -> Callable[[str], pathlib.Path]:
  """The type of a flag that names a file of one format, by the endings of its name."""
  def checked(text: str) -> pathlib.Path:
    path = pathlib.Path(text)
    if path.suffix.lower() not in endings:
      raise argparse.ArgumentTypeError(f"got {text!r}, and what is written is a {endings[0]}: name "
                                       f"it {path.with_suffix('')}{endings[0]}")
    return path
  return checked


def table_text(header: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
  """Columns of text, as wide as the terminal at most: longer cells continue below."""
  return "\n".join(fitted([header, *rows], processes.terminal_width()))


def fitted(rows: Sequence[Sequence[str]], most: int) -> list[str]:
  """Lines of a table: the widest columns give way first.

  Words are broken only where nothing else fits, and never in the first column, whose names are
  copied from it.
  """
  columns = list(zip(*rows))
  least = [max((len(word) for cell in column for word in cell.split()), default=0)
           for column in columns]
  widths = [max(map(len, column)) for column in columns]
  gaps = 2 * (len(widths) - 1)
  while sum(widths) + gaps > most:
    widest = max((i for i, one in enumerate(widths) if one > least[i]),
                 key=widths.__getitem__, default=None)
    if widest is None:  # All are as wide as their longest word.
      widest = max((i for i, one in enumerate(widths) if i and one > _NARROWEST),
                   key=widths.__getitem__, default=None)
    if widest is None:
      break
    widths[widest] -= 1
  lines = []
  for row in rows:
    cells = [textwrap.wrap(cell, max(1, one), break_long_words=i > 0, break_on_hyphens=False)
             if len(cell) > one else [cell] for i, (cell, one) in enumerate(zip(row, widths))]
    for number in range(max(map(len, cells))):
      lines.append("  ".join((cell[number] if number < len(cell) else "").ljust(one)
                             for cell, one in zip(cells, widths)).rstrip())
  return lines


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
  return list(run_files.shipped())


def bindings(parsed_args: argparse.Namespace, **asked: Any) -> list[str]:
  """Macros and parameters of the run on the command line, as "X="."""
  del asked
  try:
    found = gin_files.scan([run_files.find(parsed_args.run)[1]])
  except (gin_files.ConfigError, AttributeError, OSError):
    return []
  read = gin_bindings.reached(found.history)
  names = {settings[-1].text for key, settings in found.history.items()
           if read is None or key in read}
  return [f"{name}=" for name in (*found.macros, *found.parameters) if name in names]


def methods(prefix: str = "", **asked: Any) -> list[str]:
  """Names of methods, after those that are typed: "er,der_" -> "er,der_plus_plus"."""
  del asked
  before = prefix.rpartition(",")[0]
  return [f"{before},{one.name}" if before else one.name for one in methods_lib.load()]

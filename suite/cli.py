# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The command `suite`: flags say where to run, gin says what to run.

Exit codes: 0 success; 1 failure, or cells of a table that run elsewhere; 2 bad usage or config; 130
interrupted, by SIGTERM too (run again to resume).
Only the module of the command that is asked for is imported, and TensorFlow inside the commands
that need it, so help, lists and errors are fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import importlib
import os
import shlex
import sys

import suite
from suite.commands import parsing
from suite.configs import gin_files
from suite.running import this_process
from suite.system import folders
from suite.system import processes

# Command -> its module in `suite.commands`, the function that adds its flags, its help.
COMMANDS = {
    "run": ("run_commands", "add", "run one experiment, or resume it"),
    "search": ("search_commands", "add", "select settings of a method on development data"),
    "list": ("show_commands", "add_list", "list the shipped run files, or the methods"),
    "show": ("show_commands", "add_show", "show a run's parameters, methods, data and cost"),
    "compare": ("compare_commands", "add", "compare methods, and yours, on your own data"),
    "report": ("report_commands", "add_report",
               "print the tables of runs, and NEVIS'22's analyses"),
    "atlas": ("report_commands", "add_atlas", "show which failures of methods come together"),
    "export": ("report_commands", "add_export", "write what a run has trained, as a model for use "
               "elsewhere"),
    "new": ("new_commands", "add", "write a method to change, with its test, or images to try"),
    "data": ("data_commands", "add", "list, diagnose and build data sets"),
    "lifelong": ("lifelong_commands", "add", "maintain and query an accuracy cache"),
    "verify": ("verify_commands", "add",
               "read runs, tables, caches or prepared data: are they whole? Or verify a bundle"),
    "weights": ("weights_commands", "add", "convert weights of PyTorch")}


def main(argv: Sequence[str] | None = None) -> int:
  """Runs one command and returns the exit code."""
  argv = list(sys.argv[1:] if argv is None else argv)
  try:
    own = parser(next((word for word in argv if not word.startswith("-")), ""))
    args, unknown = own.parse_known_args(argv)
  except SystemExit as stop:  # Argparse has printed the reason.
    return int(stop.code or 0)
  args.command = shlex.join(["suite", *argv])
  this_process.configure_command_logging()
  try:
    if unknown:
      parsing.refuse_unknown(own, argv, unknown)
    with processes.ended_like_interrupted():
      return args.do(args)
  except (gin_files.ConfigError, folders.FolderError) as error:
    return this_process.report_error(error, args, code=2)
  except BrokenPipeError:  # The reader has closed the pipe: `suite list | head`.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
  except KeyboardInterrupt as error:
    return this_process.report_error(error, args, code=130)
  except Exception as error:
    return this_process.report_error(error, args, code=this_process.exit_code(error))


def parser(asked: str | None = None) -> argparse.ArgumentParser:
  """The parser of the command line, with the flags of one command; None: with those of all."""
  found = parsing.Parser(prog="suite", description=suite.__doc__)
  found.add_argument("--version", action="version", version=f"suite {suite.__version__}")
  found.set_defaults(debug=False)
  commands = parsing.group(found, "commands", "COMMAND")
  completes = "_ARGCOMPLETE" in os.environ
  if completes:  # The command that is typed; a parser of every command would import NumPy.
    asked = next((w for w in os.environ.get("COMP_LINE", "").split()[1:] if w in COMMANDS), "")
  for name, (module, function, text) in COMMANDS.items():
    command = commands.add_parser(name, help=text)
    if asked in (None, name):
      getattr(importlib.import_module(f"suite.commands.{module}"), function)(command)
  if asked not in COMMANDS:
    parsing.add_found(commands)
  if completes:
    parsing.serve(found)
  return found

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite verify DIR`: reads what a directory holds and says what is whole.

A kind of directory is a line of `KINDS` and a function that returns findings. Packages
add flags, and other things to verify, as actions of `verify` (`configs/entry_points.py`).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
import pathlib
from typing import TYPE_CHECKING, NamedTuple

from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import run_settings
from suite.system import file_lock

if TYPE_CHECKING:  # It imports NumPy and pyarrow, which the help does not need.
  from suite.reporting import run_check


class Kind(NamedTuple):
  """A kind of directory that can be verified.

  Attributes:
    name: in messages.
    is_one: whether a folder is of this kind.
    check: verifies it.
  """

  name: str
  is_one: Callable[[pathlib.Path], bool]
  check: Callable[[pathlib.Path], list[run_check.Finding]]


def add(verify: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite verify`."""
  verify.description = (
      "Reads every file of a run, table, accuracy cache or data set, verifies digests and "
      "checksums, and says what is whole, what is damaged and what can be made again. The exit "
      "code is 0 if all is whole.")
  run_settings.add_flags(verify, "debug")
  verify.add_argument("dirs", nargs="+", metavar="DIR", type=pathlib.Path,
                      help="a work directory, a table's, a cache, or a folder of prepared data")
  verify.add_argument("--repair", action="store_true",
                      help="remove the damaged files that the same command makes again")
  verify.set_defaults(do=_verify)
  for one in entry_points.commands("verify").values():
    one.add(verify)


def _verify(args: argparse.Namespace) -> int:
  """Prints what is not whole in each directory; returns the exit code."""
  from suite.reporting import run_check
  damaged = 0
  for folder in args.dirs:
    kind = kind_of(folder)
    found = kind.check(folder)
    _show(folder, kind.name, found)
    if args.repair and any(one.state == run_check.AGAIN for one in found):
      try:
        with file_lock.held(folder / ".lock", wait=False):
          removed = run_check.repair(found)
      except file_lock.LockedError as error:
        raise gin_files.ConfigError(
            f"A process works in {folder}, so nothing is repaired: "
            f"{file_lock.owner(folder / '.lock')}.") from error
      print(*(f"  removed {path}" for path in removed), sep="\n")
      found = kind.check(folder)
      _show(folder, kind.name, found)
    damaged += sum(one.state != run_check.WHOLE for one in found)
  return 1 if damaged else 0


def _show(folder: pathlib.Path, name: str, found: list[run_check.Finding]) -> None:
  from suite.reporting import run_check
  for one in found:
    if one.state != run_check.WHOLE:
      print(f"  {one.state}: {one.path}: {one.text}")
  counts = {state: sum(one.state == state for one in found)
            for state in (run_check.WHOLE, run_check.DAMAGED, run_check.AGAIN)}
  counted = ", ".join(
      f"{count} {state}" for state, count in counts.items() if count or state == run_check.WHOLE)
  print(f"{folder} ({name}): {counted}")


def kind_of(folder: pathlib.Path) -> Kind:
  """The kind of a directory; a ConfigError lists the kinds if it is of none."""
  if not folder.is_dir():
    raise gin_files.ConfigError(f"No such directory: {folder}. Give the --workdir of a run or "
                                "table, an accuracy cache, or a folder of prepared data.")
  for kind in KINDS:
    if kind.is_one(folder):
      return kind
  raise gin_files.ConfigError(f"{folder} is none of: {', '.join(kind.name for kind in KINDS)}.")


def _is_table(folder: pathlib.Path) -> bool:
  from suite.reporting import table_dir
  return table_dir.is_table(folder)


def _check_table(folder: pathlib.Path) -> list[run_check.Finding]:
  from suite.reporting import run_check
  from suite.reporting import table_dir
  try:
    table = table_dir.read(folder, check=False)
  except ValueError as error:
    return [run_check.Finding(folder / table_dir.FILE, run_check.DAMAGED, str(error))]
  found = [run_check.Finding(folder / table_dir.FILE, run_check.WHOLE, "the table's description")]
  found += [run_check.Finding(cell, run_check.DAMAGED, problem)
            for cell, problem in table.misplaced().items()]
  for workdir in filter(pathlib.Path.is_dir, table.workdirs()):
    found += run_check.check(workdir)
  return found


def _is_cache(folder: pathlib.Path) -> bool:
  return (folder / "format.json").exists() and any(
      any(folder.glob(name)) for name in ("cache.db", "commits.jsonl", "*.right.npy"))


def _check_cache(folder: pathlib.Path) -> list[run_check.Finding]:
  from suite.lifelong.cache import cache_check
  from suite.reporting import run_check
  return [run_check.Finding(folder, run_check.DAMAGED, problem)
          for problem in cache_check.problems(folder)] or [
              run_check.Finding(folder, run_check.WHOLE, "an accuracy cache")]


def _is_run(folder: pathlib.Path) -> bool:
  from suite.reporting import run_check
  return run_check.is_run(folder)


def _check_run(folder: pathlib.Path) -> list[run_check.Finding]:
  from suite.reporting import run_check
  return run_check.check(folder)


def _is_data(folder: pathlib.Path) -> bool:
  return any(folder.glob("**/dataset_info.json"))


def _check_data(folder: pathlib.Path) -> list[run_check.Finding]:
  from suite.commands import data_commands
  from suite.reporting import run_check
  found = []
  for info in sorted(folder.glob("**/dataset_info.json")):
    try:
      problem = data_commands.damage(info.parent)
    except (OSError, ValueError, LookupError) as error:
      problem = f"{info.name} cannot be read ({type(error).__name__}: {error})"
    found.append(run_check.Finding(
        info.parent, run_check.DAMAGED if problem else run_check.WHOLE,
        f"{problem}; build it again with: suite data build" if problem else "a data set"))
  return found


# In the order in which a directory is tried.
KINDS = (
    Kind("table", _is_table, _check_table),
    Kind("accuracy cache", _is_cache, _check_cache),
    Kind("run", _is_run, _check_run),
    Kind("prepared data", _is_data, _check_data),
)

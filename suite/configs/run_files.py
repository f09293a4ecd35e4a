# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Finds shipped run files by their short names, and those of the user by their paths."""

from __future__ import annotations

import functools
import pathlib
import re
import shlex

from suite.configs import gin_files
from suite.system import sealed_json


def shipped() -> dict[str, pathlib.Path]:
  """Short name -> path of every shipped run file, in the order of their names."""
  runs = gin_files.root() / "gin" / "runs"
  return {p.relative_to(runs).with_suffix("").as_posix(): p for p in sorted(runs.rglob("*.gin"))}


def description(path: pathlib.Path) -> str:
  """The first descriptive comment; license and commands are skipped.

  It continues in the next line until one ends with a period or is no comment for people.
  """
  others = r"(Copyright|suite run|suite data|python|Cost:) "
  spoken = ""
  for line in path.read_text(encoding="utf-8").splitlines():
    comment = line.lstrip("#").strip()
    if not line.startswith("#") or spoken and (not comment or re.match(others, comment)):
      break
    if comment and not re.match(others, comment):
      spoken = f"{spoken} {comment}".strip()
      if spoken.endswith("."):
        break
  return spoken


def find(run: str) -> tuple[str, pathlib.Path]:
  """A run's short name and file, from a shipped short name or a path."""
  name = run[: -len(".gin")] if run.endswith(".gin") else run
  parts = pathlib.PurePosixPath(name)
  path = gin_files.root() / "gin" / "runs" / f"{name}.gin"
  # Listing all files takes longer, and a table asks for each of its cells.
  if not {"/", ".."} & set(parts.parts) and parts.as_posix() == name and path.is_file():
    return name, path
  known = shipped()
  if name in known:
    return name, known[name]
  path = pathlib.Path(run)
  if path.is_file() and path.suffix == ".py":
    raise gin_files.ConfigError(f"{run} is Python; suite run takes a name from suite list, or a "
                                f"gin file. Run it with: python {run}")
  if path.is_dir():
    try:
      command = sealed_json.read(path / "environment.json").get("command", "")
    except (OSError, ValueError):
      command = ""
    files = sorted(path.glob("*.gin"))
    raise gin_files.ConfigError(
        f"{run} is a folder; suite run takes a name from suite list, or a gin file" + (
            f". To resume the run in it, give its command again: {command}" if command else
            f", such as {files[0]}." if files else "."))
  if path.is_file():
    path = path.resolve()
    names = {p.resolve(): n for n, p in known.items()}
    return names.get(path, path.stem), path
  if name in old_runs():
    raise gin_files.ConfigError(f"The run {name} is now {shlex.split(old_runs()[name])[0]}: "
                                f"suite run {old_runs()[name]}")
  raise gin_files.ConfigError(
      f"Unknown run {run!r}: no file has this path, no shipped run file has this name. "
      f"{gin_files.nearest(name, known)} See them all with: suite list")


@functools.cache
def old_runs() -> dict[str, str]:
  """Names that runs had -> the arguments of `suite run` that they are now."""
  lines = pathlib.Path(__file__).with_name("old_runs.txt").read_text(encoding="utf-8").splitlines()
  pairs = (line.partition(" -> ") for line in lines if line and not line.startswith("#"))
  return {name: arguments for name, _, arguments in pairs}

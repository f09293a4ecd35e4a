# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Refuses to continue in a folder that was made with another configuration."""

from __future__ import annotations

import difflib
import pathlib

from suite.configs import gin_files


def check(path: pathlib.Path, text: str, what: str) -> None:
  """Raises ConfigError with the differences if `path` exists and holds another text.

  Args:
    path: the file that holds the configuration of its folder.
    text: the configuration asked for.
    what: the folder's content, for the message: "a run".
  """
  before = path.read_text() if path.exists() else text
  if before != text:
    changes = "\n".join(difflib.unified_diff(
        before.splitlines(), text.splitlines(), "in the directory", "asked for", lineterm="", n=0))
    raise gin_files.ConfigError(
        f"{path.parent} holds {what} of another configuration; the differences:\n{changes}\n"
        "Give another --workdir, or the same configuration to resume it.")

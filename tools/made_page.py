# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Pages that a tool makes: written, or with --check compared with what would be written."""

from __future__ import annotations

import pathlib
import sys


def finish(page: pathlib.Path, text: str, check: bool, stale: str) -> int:
  """Writes the page, or only compares it; returns the exit status.

  Args:
    page: the file.
    text: what it is to hold.
    check: write nothing; if the file holds something else, print the page and `stale`, return 1.
    stale: what that means and what to do.
  """
  if not check:
    page.write_text(text, encoding="utf-8")
    return 0
  if page.exists() and page.read_text(encoding="utf-8") == text:
    return 0
  print(f"{page} is {stale}", file=sys.stderr)
  return 1

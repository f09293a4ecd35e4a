# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite verify DIR`: reads what a directory holds and says what is whole."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any


def add(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
  """Adds the command to the parser of `suite`."""
  verify = commands.add_parser(
      "verify", parents=parents, help="read runs, tables, caches or prepared data: are they whole?",
      description="Reads every file of a run, table, accuracy cache or data set, verifies digests "
      "and checksums, and says what is whole, what is damaged and what can be made again. The exit "
      "code is 0 if all is whole.")
  verify.add_argument("dirs", nargs="+", metavar="DIR", type=pathlib.Path,
                      help="a work directory, a table's, a cache, or a folder of prepared data")
  verify.add_argument("--repair", action="store_true",
                      help="remove the damaged files that the same command makes again")
  verify.set_defaults(do=_verify)


def _verify(args: argparse.Namespace) -> int:
  from suite.commands import verifying
  return verifying.verify(args)

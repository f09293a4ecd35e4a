# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite list`: the shipped run files by benchmark, with what they cost and need."""

from __future__ import annotations

from collections.abc import Callable, Sequence
import itertools
from typing import Any

from suite.commands import completion
from suite.configs import gin_files
from suite.configs import run_headers


def add(commands: Any, parents: Sequence[Any], print_table: Callable[..., None]) -> None:
  """Adds the command to the subparsers of the command line."""
  listing = commands.add_parser("list", parents=parents, help="list the shipped run files")
  listing.add_argument("words", nargs="*", metavar="WORD",
                       help="show runs whose name or description has every word")
  listing.add_argument("--benchmark", choices=run_headers.BENCHMARKS, metavar="NAME",
                       help=f"of one benchmark: {', '.join(run_headers.BENCHMARKS)}")
  listing.add_argument("--hardware", choices=run_headers.HARDWARE,
                       help="what a run is meant for")
  completion.by(listing.add_argument(
      "--data", metavar="NAME", help="runs that read this data: digits, cifar10, tiny_imagenet, "
      "omniglot, clear10, slimagenet64, nevis, ..."), completion.data_of_runs)
  listing.add_argument("--long", action="store_true", help="also what a run gave")
  listing.add_argument("--names", action="store_true", help="names alone, for a shell")
  listing.set_defaults(do=lambda args: _list(args, print_table))


def _list(args: Any, print_table: Callable[..., None]) -> int:
  chosen = [header for header in run_headers.shipped() if _fits(header, args)]
  if not chosen:
    raise gin_files.ConfigError("No shipped run is like that; suite list without arguments shows "
                                "all of them.")
  if args.names:
    print("\n".join(header.name for header in chosen))
    return 0
  columns = ["run", "hardware", "data", "cost", *(["gave"] if args.long else []), "what"]
  for benchmark, group in itertools.groupby(chosen, key=lambda header: header.benchmark):
    print(f"# {benchmark}")
    print_table(columns, [[header.name, header.hardware, header.data, header.cost,
                           *([header.gave] if args.long else []), header.what]
                          for header in group])
    print()
  print("Before a run: suite run RUN --dry_run says what it will cost here.")
  return 0


def _fits(header: run_headers.Header, args: Any) -> bool:
  text = " ".join((header.name, header.benchmark, header.what)).lower()
  return (all(word.lower() in text for word in args.words)
          and args.benchmark in (None, header.benchmark)
          and args.hardware in (None, header.hardware)
          and (args.data is None or args.data in header.data.replace(",", " ").split()))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: an accuracy cache from the command line."""

from __future__ import annotations

import argparse
import pathlib
import sys
from typing import Any, List

COMMAND = "lifelong"


def add(commands: Any, parents: List[argparse.ArgumentParser]) -> None:
  """Adds the command and its actions to the parser of `suite`."""
  lifelong = commands.add_parser(COMMAND, help="keep and ask an accuracy cache: who solves what")
  lifelong.set_defaults(do=lambda args: _help(lifelong))
  actions = lifelong.add_subparsers(title="actions", metavar="ACTION")
  for name, do, text in (
      ("add-models", _add_models, "add models with their answers, from files"),
      ("add-samples", _add_samples, "add samples with the answers of the models, from files"),
      ("status", _status, "say what the cache holds")):
    action = actions.add_parser(name, parents=parents, help=text)
    action.add_argument("--cache", required=True, type=pathlib.Path, metavar="DIR")
    action.set_defaults(do=do)
    if name.startswith("add"):
      action.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE",
                          help="npy, npz, csv or parquet (such as a run's predictions/*.parquet)")
      action.add_argument("--names", nargs="+", default=[], metavar="NAME",
                          help="of the models, where a single file has none")


def _help(parser: argparse.ArgumentParser) -> int:
  parser.print_help()
  return 2


def _add_models(args: argparse.Namespace) -> int:
  from suite.data import accuracy_cache
  from suite.data import accuracy_import
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  for path in args.files:
    found = accuracy_import.read(path, args.names)
    ids = found.ids
    if ids is None and not cache.num_samples:
      ids = [str(index) for index in range(found.answers.shape[1])]
    cache.add_models(found.models, found.answers, ids)
  return _status(args)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.data import accuracy_cache
  from suite.data import accuracy_import
  cache = accuracy_cache.AccuracyCache(args.cache)
  for path in args.files:
    found = accuracy_import.read(path, args.names)
    first = cache.num_samples
    ids = found.ids or [str(first + index) for index in range(found.answers.shape[1])]
    cache.add_samples(ids, found.answers, found.models)
  return _status(args)


def _status(args: argparse.Namespace) -> int:
  from suite.data import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  num_bytes = sum(path.stat().st_size for path in args.cache.iterdir())
  lines = [f"{args.cache}: {cache.num_models:,} models, {cache.num_samples:,} samples, "
           f"{num_bytes / 1e6:.1f} MB"]
  if cache.num_models and cache.num_samples:
    correct, seen = cache.counts()
    total = cache.num_models * cache.num_samples
    evaluated = total if seen is None else int(seen.sum())
    lines.append(
        f"evaluated: {evaluated:,} of {total:,} answers ({evaluated / total:.1%}); of these "
        f"correct: {int(correct.sum(dtype='int64')) / max(1, evaluated):.1%}")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: the accuracy cache on the command line."""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any

from suite.commands import lifelong_estimate
from suite.commands import lifelong_subset

COMMAND = "lifelong"


def add(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
  """Adds the command and its actions to the parser of `suite`."""
  lifelong = commands.add_parser(COMMAND, help="maintain and query an accuracy cache")
  lifelong.set_defaults(do=lambda args: _help(lifelong))
  actions = lifelong.add_subparsers(title="actions", metavar="ACTION")
  for name, do, text in (
      ("add-models", _add_models, "add models with their answers from files"),
      ("add-samples", _add_samples, "add samples with the models' answers from files"),
      ("estimate", lifelong_estimate.estimate, "estimate a new model from a few of its answers"),
      ("subset", lifelong_subset.subset, "choose a small benchmark with weights and error bars"),
      ("plot", lifelong_subset.plot, "draw the ranking and, of a subset, item curves"),
      ("rank", _rank, "list the models by accuracy"),
      ("status", _status, "describe the cache"),
      ("verify", _verify, "read every file of the cache: is it what was written?")):
    action = actions.add_parser(name, parents=parents, help=text)
    action.add_argument("--cache", required=True, type=pathlib.Path, metavar="DIR")
    action.add_argument("--json", action="store_true", help="print one JSON object")
    action.set_defaults(do=do)
    if name == "estimate":
      lifelong_estimate.add_flags(action)
    elif name == "subset":
      lifelong_subset.add_subset_flags(action)
    elif name == "plot":
      lifelong_subset.add_plot_flags(action)
    elif name.startswith("add"):
      _add_file_flags(action)


def _add_file_flags(action: argparse.ArgumentParser) -> None:
  action.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="npy, npz, csv, parquet (such as a run's predictions/*.parquet), jsonl "
                      "of lm-evaluation-harness, HELM's per_instance_stats.json")
  action.add_argument("--names", nargs="+", default=[], metavar="NAME",
                      help="names of the models, if a single file has none")
  lifelong_estimate.add_format_flags(action)


def _help(parser: argparse.ArgumentParser) -> int:
  parser.print_help()
  return 2


def _add_models(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  tables = accuracy_import.read_all(args.files, lifelong_estimate.options(args, args.names))
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  for found in tables:
    ids: Any = found.ids
    if ids is None and not cache.num_samples:
      ids = range(found.answers.shape[1])
    threshold = cache.agreed_threshold(args.threshold)
    cache.add_models(found.models, found.bits(threshold), ids,
                     threshold=threshold if found.is_graded else None)
  return _status(args)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  tables = accuracy_import.read_all(args.files, lifelong_estimate.options(args, args.names))
  cache = accuracy_cache.AccuracyCache(args.cache)
  for found in tables:
    first = cache.num_samples
    ids: Any = found.ids or range(first, first + found.answers.shape[1])
    threshold = cache.agreed_threshold(args.threshold)
    cache.add_samples(ids, found.bits(threshold), found.models,
                      threshold=threshold if found.is_graded else None)
  return _status(args)


def _rank(args: argparse.Namespace) -> int:
  from suite import lifelong
  rows = lifelong.rank(args.cache)
  if args.json:
    sys.stdout.write(json.dumps({"models": [one._asdict() for one in rows]}) + "\n")
    return 0
  width = max([len("model"), *(len(one.name) for one in rows)])
  lines = [f"{'rank':>4}  {'model':{width}}  accuracy  95% interval      evaluated"]
  for place, one in enumerate(rows, start=1):
    low, high = one.interval
    interval = "" if low == high else f"{low:.2%} to {high:.2%}"
    lines.append(f"{place:4}  {one.name:{width}}  {one.accuracy:8.2%}  {interval:16}  "
                 f"{one.num_evaluated:,}")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def _status(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import sample_counts
  cache = accuracy_cache.AccuracyCache(args.cache)
  num_bytes = sum(path.stat().st_size for path in args.cache.iterdir())
  correct, evaluated = sample_counts.SampleCounts(cache).totals.sum(axis=0).tolist()
  total = cache.num_models * cache.num_samples
  if args.json:
    sys.stdout.write(json.dumps({
        "models": cache.num_models, "samples": cache.num_samples, "bytes": num_bytes,
        "evaluated": evaluated, "correct": correct, "threshold": cache.threshold,
        "problem": cache.problem}) + "\n")
    return 0
  lines = [f"{args.cache}: {cache.num_models:,} models, {cache.num_samples:,} samples, "
           f"{num_bytes / 1e6:.1f} MB"]
  if total:
    lines.append(f"evaluated: {evaluated:,} of {total:,} answers ({evaluated / total:.1%}); of "
                 f"these correct: {correct / max(1, evaluated):.1%}")
  if cache.threshold is not None:
    lines.append(f"graded answers count as correct from {cache.threshold:g} on")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def _verify(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import cache_check
  problems = cache_check.problems(args.cache)
  if args.json:
    sys.stdout.write(json.dumps({"problems": problems}) + "\n")
    return 1 if problems else 0
  for problem in problems:
    sys.stdout.write(f"{problem}\n")
  if not problems:
    sys.stdout.write(f"{args.cache}: every file is as it was written\n")
  return 1 if problems else 0

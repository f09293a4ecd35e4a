# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: the accuracy cache on the command line."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import csv
import pathlib
import sys
from typing import Any

import numpy as np

COMMAND = "lifelong"
_CELLS = {"1": 1, "0": 0, "true": 1, "false": 0}


def add(commands: Any, parents: list[argparse.ArgumentParser]) -> None:
  """Adds the command and its actions to the parser of `suite`."""
  lifelong = commands.add_parser(COMMAND, help="maintain and query an accuracy cache")
  lifelong.set_defaults(do=lambda args: _help(lifelong))
  actions = lifelong.add_subparsers(title="actions", metavar="ACTION")
  for name, do, text in (
      ("add-models", _add_models, "add models with their answers from files"),
      ("add-samples", _add_samples, "add samples with the models' answers from files"),
      ("estimate", _estimate, "estimate a new model from a few of its answers"),
      ("rank", _rank, "list the models by accuracy"),
      ("status", _status, "describe the cache"),
      ("verify", _verify, "read every file of the cache: is it what was written?")):
    action = actions.add_parser(name, parents=parents, help=text)
    action.add_argument("--cache", required=True, type=pathlib.Path, metavar="DIR")
    action.set_defaults(do=do)
    if name == "estimate":
      _add_estimate_flags(action)
    if name.startswith("add"):
      action.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE",
                          help="npy, npz, csv or parquet (such as a run's predictions/*.parquet)")
      action.add_argument("--names", nargs="+", default=[], metavar="NAME",
                          help="names of the models, if a single file has none")


def _add_estimate_flags(action: argparse.ArgumentParser) -> None:
  action.description = (
      "First --ask FILE writes the ids that a new model should be asked. Then --answers FILE, a "
      "csv with the columns id,correct (or a parquet of saved predictions), says what they tell. "
      "A larger --budget asks the same samples first, so answers are never lost.")
  what = action.add_mutually_exclusive_group(required=True)
  what.add_argument("--ask", type=pathlib.Path, metavar="FILE",
                    help="write the ids to ask, a line each")
  what.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                    help="the answers of the new model, or of several; two are compared")
  action.add_argument("--budget", type=int, metavar="N",
                      help="samples to ask (1024, or all samples if there are fewer)")
  action.add_argument("--probabilities", type=pathlib.Path, metavar="FILE",
                      help="write what is predicted of every sample, csv")
  action.add_argument("--groups", type=pathlib.Path, metavar="FILE",
                      help="csv with a column id and one for each thing known of every sample, "
                      "such as class: predictions get better, the questions stay the same")
  action.add_argument("--keep", nargs="+", default=[], metavar="NAME",
                      help="put the models into the cache under these names, with their answers")


def _help(parser: argparse.ArgumentParser) -> int:
  parser.print_help()
  return 2


def _add_models(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  for path in args.files:
    found = accuracy_import.read(path, args.names)
    ids = found.ids
    if ids is None and not cache.num_samples:
      ids = [str(index) for index in range(found.answers.shape[1])]
    cache.add_models(found.models, found.answers, ids)
  return _status(args)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  cache = accuracy_cache.AccuracyCache(args.cache)
  for path in args.files:
    found = accuracy_import.read(path, args.names)
    first = cache.num_samples
    ids = found.ids or [str(first + index) for index in range(found.answers.shape[1])]
    cache.add_samples(ids, found.answers, found.models)
  return _status(args)


def _estimate(args: argparse.Namespace) -> int:
  from suite import lifelong
  groups = _read_groups(args.groups, args.cache) if args.groups else []
  reference = lifelong.Reference(args.cache, groups=groups)
  budget = args.budget or min(lifelong.DEFAULT_BUDGET, reference.num_samples)
  if args.ask:
    ids = reference.questions(budget)
    args.ask.write_text("\n".join([*ids.tolist(), ""]), encoding="utf-8")
    sys.stdout.write(f"{args.ask}: {len(ids):,} samples to ask, one id a line. Then:\n"
                     f"suite lifelong estimate --cache {args.cache} --answers FILE.csv\n")
    return 0
  names = args.keep or [path.stem for path in args.answers]
  if len(names) != len(args.answers):
    raise lifelong.CacheError(f"{len(names)} names for {len(args.answers)} files of answers; give "
                              "as many.")
  models = [lifelong.MemoizedModel(answers=_read_answers(path)) for path in args.answers]
  found = [reference.estimate(model, args.budget or _answered(reference, model))
           for model in models]
  lines = [line for name, one in zip(names, found) for line in _summary(name, one)]
  if len(found) == 2:
    gap, p_value = lifelong.compare(found[0], found[1], reference.num_samples)
    lines.append(f"{names[0]} - {names[1]}: {100 * gap.value:+.2f} points, 95% interval "
                 f"{100 * gap.low:+.2f} to {100 * gap.high:+.2f}, p {p_value:.2g}")
  sys.stdout.write("\n".join([*lines, ""]))
  if args.probabilities:
    _write_probabilities(args.probabilities, reference, names, found)
  for name, model in zip(args.keep, models):
    lifelong.add_estimated(reference.cache, name, model)
  return 0


def _summary(name: str, found: Any) -> list[str]:
  low, high = found.interval
  return [f"{name}: accuracy {found.accuracy:.2%}, 95% interval {low:.2%} to {high:.2%}, from "
          f"{len(found.observed):,} answers",
          f"  predictions of single samples {'' if found.supported else 'NOT '}supported: "
          f"{found.reason}"]


def _answered(reference: Any, model: Any) -> int:
  """Number of the first questions that the model has answered."""
  budget = min(len(model.answers), reference.num_samples)
  asked = reference.questions(max(1, budget)).tolist()
  first = next((place for place, one in enumerate(asked) if one not in model.answers), len(asked))
  if not first:
    from suite.lifelong.cache import accuracy_cache
    raise accuracy_cache.CacheError(
        f"There is no answer to {asked[0]!r}, the first sample to ask. Ask the samples that suite "
        "lifelong estimate --ask FILE writes: an accuracy from others would not be fair.")
  return first


def _read_answers(path: pathlib.Path) -> dict[str, int]:
  """id -> 1 or 0."""
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  if path.suffix != ".csv":
    found = accuracy_import.read(path, [path.stem])
    ids = found.ids or [str(index) for index in range(found.answers.shape[1])]
    return {one: int(value) for one, value in zip(ids, found.answers[0].tolist())
            if value != accuracy_cache.NOT_EVALUATED}
  answers: dict[str, int] = {}
  with open(path, encoding="utf-8-sig", newline="") as file:
    for number, row in enumerate(csv.DictReader(file), start=2):
      identity, value = row.get("id"), (row.get("correct") or "").strip().lower()
      if not identity or value not in _CELLS:
        raise accuracy_cache.CacheError(f"{path}, line {number}: expected a column id, and a "
                                        f"column correct with 1 or 0; got {dict(row)}.")
      answers[identity] = _CELLS[value]
  return answers


def _read_groups(path: pathlib.Path, folder: pathlib.Path) -> list[Any]:
  """int [N] of each column but `id`: equal values get equal numbers."""
  from suite.lifelong.cache import accuracy_cache
  ids = accuracy_cache.AccuracyCache(folder).ids.tolist()
  with open(path, encoding="utf-8-sig", newline="") as file:
    rows = {row.get("id"): row for row in csv.DictReader(file)}
  missing = [one for one in ids if one not in rows]
  names = [name for name in next(iter(rows.values()), {}) if name not in ("id", None)]
  if missing or not names:
    raise accuracy_cache.CacheError(
        f"{path} has columns {['id', *names]} and no line for {len(missing)} of the cache's "
        f"{len(ids)} samples, such as {missing[:2]}; a column id, another one, and a line for each "
        "sample are needed.")
  return [np.unique([str(rows[one][name]) for one in ids], return_inverse=True)[1]
          for name in names]


def _write_probabilities(path: pathlib.Path, reference: Any, names: Sequence[str],
                         found: Sequence[Any]) -> None:
  columns = [one.probabilities(np.arange(reference.num_samples)) for one in found]
  with open(path, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", *names])
    for identity, *values in zip(reference.cache.ids.tolist(), *columns):
      writer.writerow([identity, *(f"{value:.4f}" for value in values)])


def _rank(args: argparse.Namespace) -> int:
  from suite import lifelong
  rows = lifelong.rank(args.cache)
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


def _verify(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import cache_check
  problems = cache_check.problems(args.cache)
  for problem in problems:
    sys.stdout.write(f"{problem}\n")
  if not problems:
    sys.stdout.write(f"{args.cache}: every file is as it was written\n")
  return 1 if problems else 0

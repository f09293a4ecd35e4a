# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong estimate`: which samples to ask a new model, and what its answers tell."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import json
import math
import pathlib
import sys
from typing import Any

import numpy as np

_BLOCK = 1 << 16


def add_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong estimate`."""
  action.description = (
      "First --ask FILE writes the ids that a new model should be asked. Then --answers FILE, a "
      "csv with the columns id,correct (or any other file of answers), says what they tell. The "
      "questions stay when the cache grows, and a larger --budget asks the same ones first. "
      "Whatever answers there are count; with --ask and --answers, what is still to be asked is "
      "written.")
  action.add_argument("--ask", type=pathlib.Path, metavar="FILE",
                      help="write the ids to ask, a line each")
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="the answers of the new model, or of several; two are compared")
  action.add_argument("--budget", type=int, metavar="N",
                      help="samples to ask (1024, or all samples if there are fewer); with "
                      "--answers, use the answers to the first N questions only (all)")
  action.add_argument("--target-width", type=float, metavar="W",
                      help="ask as many as an interval of this width needs, such as 0.04")
  action.add_argument("--adaptive", action="store_true",
                      help="with --ask and --answers: ask what tells most about single samples, "
                      "not what makes the interval narrower")
  action.add_argument("--random", action="store_true",
                      help="the answered samples are a random choice of all samples")
  action.add_argument("--seed", type=int, default=0, metavar="S",
                      help="another one asks other questions (0)")
  action.add_argument("--factors", type=int, nargs="+", metavar="K",
                      help="numbers of factors to average over (1 4 16 32 64)")
  action.add_argument("--probabilities", type=pathlib.Path, metavar="FILE",
                      help="write what is predicted of every sample, csv")
  action.add_argument("--groups", type=pathlib.Path, metavar="FILE",
                      help="csv with a column id and one for each thing known of every sample, "
                      "such as class: predictions get better, the questions stay the same")
  action.add_argument("--keep", nargs="+", default=[], metavar="NAME",
                      help="put the models into the cache under these names, with their answers")
  add_format_flags(action)


def add_format_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags that say how files of answers are read."""
  action.add_argument("--id", default="", metavar="COLUMN", help="name of the column of ids")
  action.add_argument("--score", default="", metavar="NAME",
                      help="name of the column of answers, or of the metric of a log")
  action.add_argument("--filter", default="", metavar="NAME",
                      help="of lm-evaluation-harness, the filter whose answers are read")
  action.add_argument("--threshold", type=float, metavar="T",
                      help="scores count as correct from T on (kept with the cache)")
  action.add_argument("--repeats", choices=("refuse", "mean"), default="refuse",
                      help="different answers of one model to one sample: refuse them (default), "
                      "or take the mean of repeated runs")


def options(args: argparse.Namespace, names: Sequence[str] = ()) -> Any:
  """How the files of a command are read."""
  from suite.lifelong.cache import accuracy_import
  return accuracy_import.Options(names, args.id, args.score, args.filter, args.repeats)


def estimate(args: argparse.Namespace) -> int:
  """Runs `suite lifelong estimate`."""
  from suite import lifelong
  if not (args.ask or args.answers):
    raise lifelong.CacheError("Give --ask FILE, to write the samples to ask, or --answers FILE.")
  models = read_models(args) if args.answers else {}
  if args.keep:
    if len(args.keep) != len(models):
      raise lifelong.CacheError(f"{len(args.keep)} names for {len(models)} models in the files of "
                                "answers; give as many.")
    models = dict(zip(args.keep, models.values()))
  groups = _read_groups(args.groups, args.cache) if args.groups else []
  factors = {"num_factors": args.factors} if args.factors else {}
  reference = lifelong.Reference(args.cache, groups=groups, seed=args.seed, **factors)
  if args.ask:
    return _ask(args, reference, models)
  threshold = reference.cache.agreed_threshold(args.threshold)

  def estimated(answers: Mapping[str, float]) -> Any:
    return reference.estimate_from(answers, budget=args.budget, is_random=args.random)

  found = {name: estimated(answers) for name, answers in models.items()}
  graded = [name for name, answers in models.items() if _is_graded(answers)]
  cut = {} if threshold is None else {
      name: estimated({one: float(score >= threshold) for one, score in models[name].items()})
      for name in graded}
  gap, note = _difference(reference, found, cut, graded)
  if args.json:
    sys.stdout.write(json.dumps(_record(reference, models, found, cut, gap, threshold)) + "\n")
  else:
    lines = []
    for name, one in found.items():
      lines += _summary(args, name, one, len(models[name]),
                        "mean score" if name in graded else "accuracy")
      if name in cut:
        lines.append(f"  from {threshold:g} on correct, as in the cache: accuracy "
                     f"{cut[name].accuracy:.2%}" + _interval(cut[name]))
    if gap:
      names = list(found)
      lines.append(f"{names[0]} - {names[1]}: {100 * gap[0].value:+.2f} points, 95% interval "
                   f"{100 * gap[0].low:+.2f} to {100 * gap[0].high:+.2f}, p {gap[1]:.2g}{note}")
    elif note:
      lines.append(note)
    sys.stdout.write("\n".join([*lines, ""]))
  if args.probabilities:
    _write_probabilities(args.probabilities, reference, found)
  for name in args.keep:
    lifelong.add_estimated(reference.cache, name, lifelong.MemoizedModel(answers=models[name]),
                           args.threshold)
  return 0


def _is_graded(answers: Mapping[str, float]) -> bool:
  return any(0 < score < 1 for score in answers.values())


def _difference(reference: Any, found: Mapping[str, Any], cut: Mapping[str, Any],
                graded: Sequence[str]) -> tuple[Any, str]:
  """Compares two models, of their scores or of their answers as bits: (difference, note)."""
  from suite import lifelong
  if len(found) != 2:
    return None, ""
  note = ""
  if len(graded) == 1:
    if not cut:
      return None, (f"not compared: only the answers of {graded[0]} are graded. Say from which "
                    "score on an answer is right: --threshold 0.5")
    found, note = {**found, **cut}, " (of the share of correct answers)"
  one, two = found.values()
  if not (one.sample and two.sample):
    return None, ""
  return lifelong.compare(one, two, reference.num_samples), note


def _ask(args: argparse.Namespace, reference: Any, models: Mapping[str, Mapping[str, float]]
         ) -> int:
  """Writes the samples to ask next."""
  from suite import lifelong
  if len(models) > 1:
    raise lifelong.CacheError(f"--ask with the answers of {len(models)} models; give those of one.")
  have = next(iter(models.values()), {})
  budget = args.budget or min(lifelong.DEFAULT_BUDGET, reference.num_samples)
  if args.adaptive:
    ids = reference.informative(have, max(0, budget - len(have))).tolist()
  else:
    if args.target_width is not None:
      budget = _needed(args, reference, have)
    ids = [one for one in reference.questions(budget).tolist() if one not in have]
  args.ask.write_text("".join(f"{one}\n" for one in ids), encoding="utf-8")
  if args.json:
    sys.stdout.write(json.dumps({"file": str(args.ask), "questions": len(ids)}) + "\n")
  elif not ids:
    sys.stdout.write(f"{args.ask}: nothing is left to ask\n")
  else:
    sys.stdout.write(f"{args.ask}: {len(ids):,} samples to ask, one id a line. Then:\n"
                     f"suite lifelong estimate --cache {args.cache} --answers FILE.csv\n")
  return 0


def _needed(args: argparse.Namespace, reference: Any, have: Mapping[str, float]) -> int:
  """Number of questions for an interval of the target width."""
  from suite import lifelong
  if not 0 < args.target_width < 1:
    raise lifelong.CacheError(f"Got --target-width {args.target_width}; expected a width between 0 "
                              "and 1, such as 0.04 for 4 points.")
  found = reference.estimate_from(have, is_random=args.random) if have else None
  if found is not None and found.interval is not None:
    width = found.interval[1] - found.interval[0]
    wanted = math.ceil(len(found.sample.samples) * (width / args.target_width) ** 2)
  else:
    wanted = math.ceil((1.96 / args.target_width) ** 2)  # Of a model that is right half the time.
  num = reference.num_samples
  return max(1, min(num, math.ceil(wanted / (1 + wanted / num) if found is None else wanted)))


def _interval(found: Any) -> str:
  if found.interval is None:
    return " as predicted"
  return f", 95% interval {found.interval[0]:.2%} to {found.interval[1]:.2%}"


def _summary(args: argparse.Namespace, name: str, found: Any, given: int, what: str) -> list[str]:
  used = len(found.observed)
  ignored = f"; {given - used:,} ids are not in the cache" if given > used else ""
  predictions = (f"  predictions of single samples {'' if found.supported else 'NOT '}supported: "
                 f"{found.reason}")
  if found.interval is None:
    return [f"{name}: {what} {found.accuracy:.2%} as predicted, from {used:,} answers{ignored}",
            "  no interval: these are no answers to the questions (--ask FILE), and --random does "
            "not say that they are a random choice", predictions]
  low, high = found.interval
  lines = [f"{name}: {what} {found.accuracy:.2%}{_interval(found)}, from {used:,} answers{ignored}"]
  if len(found.sample.samples) < used:
    lines.append(f"  the interval is from {len(found.sample.samples):,} of them, a random sample; "
                 "the others serve the predictions")
  if found.sample.unknown > 0:
    lines.append(f"  it allows for any answers to {found.sample.unknown:.2%} of the samples: "
                 "questions without an answer, or samples that were added since. Ask them: "
                 "--ask FILE with --answers")
  if args.target_width is not None and high - low > args.target_width:
    lines.append(f"  wider than {args.target_width:.2%}; --ask FILE with --answers writes what is "
                 "still to be asked")
  return [*lines, predictions]


def _record(reference: Any, models: Mapping[str, Mapping[str, float]], found: Mapping[str, Any],
            cut: Mapping[str, Any], gap: Any, threshold: float | None) -> dict[str, Any]:
  rows = []
  for name, one in found.items():
    used = len(one.observed)
    rows.append({
        "model": name, "accuracy": one.accuracy, "interval": one.interval, "answers": used,
        "random_answers": 0 if one.sample is None else len(one.sample.samples),
        "unknown_share": None if one.sample is None else one.sample.unknown,
        "ignored": len(models[name]) - used, "supported": one.supported, "reason": one.reason,
        "graded": _is_graded(models[name]),
        "correct": {"accuracy": cut[name].accuracy, "interval": cut[name].interval}
                   if name in cut else None})
  record: dict[str, Any] = {"samples": reference.num_samples, "threshold": threshold,
                            "known_models": len(reference.models), "models": rows}
  if gap:
    record["difference"] = {"value": gap[0].value, "interval": [gap[0].low, gap[0].high],
                            "p": gap[1]}
  return record


def read_models(args: argparse.Namespace) -> dict[str, dict[str, float]]:
  """Model -> id -> answer, of all files."""
  from suite import lifelong
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import accuracy_import
  found: dict[str, dict[str, float]] = {}
  for table in accuracy_import.read_all(args.answers, options(args)):
    ids = table.ids or [str(index) for index in range(table.answers.shape[1])]
    for name, row in zip(table.models, np.asarray(table.answers, np.float64)):
      known = np.flatnonzero(~np.isnan(row) & (row != accuracy_cache.NOT_EVALUATED))
      if name in found:
        raise lifelong.CacheError(f"Two files have a model {name!r}. Rename one of them.")
      found[name] = {ids[place]: float(row[place]) for place in known.tolist()}
  return found


def _read_groups(path: pathlib.Path, folder: pathlib.Path) -> list[Any]:
  """int [N] of each column but `id`: equal values get equal numbers."""
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(folder)
  with open(path, encoding="utf-8-sig", newline="") as file:
    rows = list(csv.DictReader(file))
  names = [name for name in (rows[0] if rows else {}) if name not in ("id", None)]
  given = [row.get("id") or "" for row in rows]
  samples = cache.sample_ids.find(given)
  place = np.full(cache.num_samples, -1, np.int64)
  place[samples[samples >= 0]] = np.flatnonzero(samples >= 0)
  missing = np.flatnonzero(place < 0)
  if missing.size or not names:
    raise accuracy_cache.CacheError(
        f"{path} has columns {['id', *names]} and no line for {missing.size} of the cache's "
        f"{cache.num_samples} samples, such as {cache.sample_ids.at(missing[:2])}; a column id, "
        "another one, and a line for each sample are needed.")
  return [np.unique([str(row[name]) for row in rows], return_inverse=True)[1][place]
          for name in names]


def _write_probabilities(path: pathlib.Path, reference: Any, found: Mapping[str, Any]) -> None:
  with open(path, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", *found])
    for start in range(0, reference.num_samples, _BLOCK):
      samples = np.arange(start, min(reference.num_samples, start + _BLOCK))
      columns = [one.probabilities(samples) for one in found.values()]
      for identity, *values in zip(reference.cache.sample_ids.at(samples), *columns):
        writer.writerow([identity, *(f"{value:.4f}" for value in values)])

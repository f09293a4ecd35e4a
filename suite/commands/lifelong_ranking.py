# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong rank`, `compare`, `subset` and `plot`: the models that a cache has."""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import contextlib
import csv
import functools
import hashlib
import io
import json
import pathlib
import sys
from typing import Any

from suite.commands import lifelong_answers
from suite.commands import parsing
from suite.system import atomic_files
from suite.system import sealed_json

_PAIRS = 15  # Largest number of pairs that are all shown.
_MODELS = 60  # Number of models that are drawn.
_OF = "subset_sha256"  # Of error bars: the digest of the csv.
_CURVES = 8  # Number of samples whose curves are drawn, if none is named.


def add_rank_flags(action: argparse.ArgumentParser) -> None:
  action.description = (
      "Ranks the models by the mean of their tasks, or, if there are no tasks, by the mean of "
      "their samples. Of models that were not evaluated on all samples, the missing answers are "
      "predicted by the other models, and the interval says how well.")
  action.add_argument("--tasks", action="store_true", help="a row for each task, too")
  lifelong_answers.add_clusters_flag(action)
  lifelong_answers.add_scale_flags(action)


def rank(args: argparse.Namespace) -> int:
  from suite.lifelong import standings
  from suite.lifelong import watching
  cache = lifelong_answers.opened(args)
  found = standings.Standings(cache, lifelong_answers.scale(args, cache),
                              clusters=lifelong_answers.clusters(args.clusters, cache))
  rows, alarms = found.ranked(), watching.alarms(watching.history(args.cache))
  if args.json:
    sys.stdout.write(json.dumps({"by": found.by, "weights": found.weights, "models": [
        {"rank": place, **lifelong_answers.scores_record(one),
         "alarms": [watching.test_record(test) for test in alarms.get(one.name, [])]}
        for place, one in enumerate(rows, start=1)]}) + "\n")
    return 0
  width = max([len("model"), *(len(one.name) for one in rows)])
  by_tasks = found.by != standings.SAMPLES or bool(args.chance)
  is_plain = cache.value_range is None and not by_tasks
  what = (f"mean of {found.by}" if found.by != standings.SAMPLES else
          "accuracy" if is_plain else "score")
  text, ends = (functools.partial(one, bounds=found.bounds) for one in (
      lifelong_answers.score_text, lifelong_answers.interval_text))
  lines = [found.headline] if found.by == standings.GROUPS else []
  lines += [f"{'rank':>4}  {'model':{width}}  {what:>8}  95% interval      "
            + "std error  " + ("of samples  " if by_tasks else "") + "evaluated"]
  for place, one in enumerate(rows, start=1):
    lines.append(f"{place:4}  {one.name:{width}}  {text(one.score):>{max(8, len(what))}}  "
                 f"{ends(one.score_interval):16}  "
                 f"{'' if one.error is None else text(one.error):>9}  "
                 + (f"{text(one.accuracy):>10}  " if by_tasks else "") + f"{one.num_evaluated:,}"
                 + (f" (of these {text(one.observed)}; the others are predicted)"
                    if one.is_estimated else "")
                 + alarm_text(alarms.get(one.name, [])))
    if args.tasks:
      lines += lifelong_answers.task_lines(one, "      ", found.bounds)
  if any(one.is_estimated for one in rows) and found.num_references < 3:
    lines.append("Fewer than three models were evaluated on all samples: intervals of the others "
                 "have all that their missing answers may be.")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def alarm_text(alarms: Sequence[Any]) -> str:
  """What alarms are about, after a row."""
  said = [f"{one.kind} of {one.task}" if one.task else one.kind for one in alarms]
  return f"  ALARM: {', '.join(dict.fromkeys(said))}" if said else ""


def add_compare_flags(action: argparse.ArgumentParser) -> None:
  action.description = (
      "Compares all pairs of models on the samples that both have answered. Tests and intervals "
      "are about samples like these; p-values are corrected for the number of pairs (Holm).")
  action.add_argument("--models", nargs="+", default=[], metavar="NAME",
                      help="models to compare (the best ones)")
  action.add_argument("--top", type=int, default=20, metavar="N",
                      help="number of models to compare, if none are named (20)")
  action.add_argument("--level", type=float, default=0.05, metavar="P",
                      help="a corrected p-value below it is a difference (0.05)")
  lifelong_answers.add_clusters_flag(action)
  lifelong_answers.add_scale_flags(action)


def compare(args: argparse.Namespace) -> int:
  from suite.lifelong import paired_standings
  cache = lifelong_answers.opened(args)
  found = paired_standings.compare(cache, lifelong_answers.scale(args, cache),
                            models=args.models, top=args.top, level=args.level,
                            clusters=lifelong_answers.clusters(args.clusters, cache))
  if args.json:
    sys.stdout.write(json.dumps({
        "by": found.by, "level": found.level, "models": [
            {"cluster": cluster, "ranks": list(ranks), **lifelong_answers.scores_record(one)}
            for one, cluster, ranks in zip(found.models, found.clusters, found.ranks)],
        "pairs": [{"first": one.first, "second": one.second, "difference": one.difference,
                   "interval": list(one.interval), "p": one.p, "corrected": one.corrected,
                   "num_samples": one.num_samples} for one in found.pairs]}) + "\n")
    return 0
  width = max([len("model"), *(len(one.name) for one in found.models)])
  lines = [f"cluster  ranks    {'model':{width}}  {'score':>8}"]
  for one, cluster, (best, worst) in zip(found.models, found.clusters, found.ranks):
    ranks = f"{best}" if best == worst else f"{best} to {worst}"
    lines.append(f"{cluster:7}  {ranks:7}  {one.name:{width}}  "
                 f"{lifelong_answers.score_text(one.score, found.bounds):>8}")
  lines.append(f"pairs (by {found.by}; intervals of 95% about samples like these; p corrected for "
               f"{len(found.pairs):,} pairs by Holm):")
  shown = [one for one in found.pairs if len(found.pairs) <= _PAIRS] or [
      next(pair for pair in found.pairs if (pair.first, pair.second) == (a.name, b.name))
      for a, b in zip(found.models, found.models[1:])]
  for pair in shown:
    if pair.p is None:
      lines.append(f"  {pair.first} - {pair.second}: no samples of some task that both answered")
    else:
      lines.append(lifelong_answers.difference_line(
          pair.first, pair.second, pair.difference, pair.interval, pair.p, pair.corrected,
          found.bounds))
  if len(shown) < len(found.pairs):
    lines.append("  (neighbors; --json has all pairs)")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def add_subset_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong subset`."""
  action.description = (
      "Writes a csv of id,weight,solved (the share of the known models that solve it), and its "
      "error bars beside it. The accuracy of a model is estimated by the sum of weight x answer: "
      "with --answers by this command, or by any program.")
  action.add_argument("--size", type=int, default=256, metavar="N", help="number of samples (256)")
  action.add_argument("--out", type=parsing.file_named(".csv"), required=True, metavar="FILE.csv",
                      help="the csv to write, or, with --answers, to read")
  action.add_argument("--seed", type=int, default=0, metavar="S", help="of the draws (0)")
  action.add_argument("--draws", type=int, default=32, metavar="D",
                      help="number of draws to choose from (32)")
  lifelong_answers.add_scale_flags(action)
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="estimate models from their answers to the samples of --out")
  lifelong_answers.add_format_flags(action)


def subset(args: argparse.Namespace) -> int:
  """Runs `suite lifelong subset`."""
  if args.answers:
    return _score(args)
  from suite import lifelong
  from suite.lifelong import standings
  from suite.lifelong import subsets
  reference = lifelong.Reference(lifelong_answers.opened(args))
  scores = standings.TaskEstimates(reference.cache,
                                   lifelong_answers.scale(args, reference.cache))
  is_plain = scores.by == standings.SAMPLES and not args.chance
  try:
    found = subsets.choose(*reference.known_answers(), len(reference.models), args.size,
                           draws=args.draws, seed=args.seed,
                           strata=None if is_plain else scores.strata,
                           families=reference.families)
  except ValueError as error:
    raise lifelong.CacheError(str(error)) from error
  low, high = reference.bounds
  errors = [(high - low) * one for one in (found.error, found.largest, found.plain_error)]
  record = {"size": args.size, "samples": reference.num_samples, "models": len(reference.models),
            **dict(zip(("error", "largest", "plain_error"), errors)), "bounds": [low, high],
            "calibrated": found.is_calibrated, "by": scores.by, "weights": scores.weights,
            "scale": scores.scored(1.0) - scores.scored(0.0), "offset": scores.scored(0.0)}
  text = io.StringIO(newline="")
  writer = csv.writer(text)
  writer.writerow(["id", "weight", "solved"])
  for identity, weight, solved in zip(reference.cache.sample_ids.at(found.samples),
                                      found.weights.tolist(), found.solved.tolist()):
    writer.writerow([identity, repr(weight), f"{solved:.4f}"])
  content = text.getvalue().encode()
  atomic_files.write(args.out, content)
  atomic_files.write(_bars(args.out), (sealed_json.text(
      {**record, _OF: hashlib.sha256(content).hexdigest()}) + "\n").encode())
  usual, largest, plain = ([f"{100 * one:.2f}" for one in errors] if (low, high) == (0.0, 1.0) else
                           [f"{one:.4g}" for one in errors])
  what = "accuracy" if reference.cache.value_range is None else "score"
  lifelong_answers.show(args, record, [
      f"{args.out}: {args.size:,} of {reference.num_samples:,} samples. The weighted "
      f"{what if is_plain else 'score by ' + scores.by} of a model that is not known is off "
      f"by {usual}{' points' if (low, high) == (0.0, 1.0) else ''} (root mean square), by less "
      f"than {largest} for 95% of the models; the plain mean by {plain}"
      + ("" if found.is_calibrated else ". Weights from the known models are no better, so "
         "the samples have equal weights")])
  return 0


def _score(args: argparse.Namespace) -> int:
  from suite import lifelong
  try:
    record = sealed_json.load(_bars(args.out), "error bars of a subset", "", ["largest"])
    if record.get(_OF, atomic_files.sha256(args.out)) != atomic_files.sha256(args.out):
      raise ValueError("the error bars are of another subset")
    with open(args.out, encoding="utf-8", newline="") as file:
      weights = {row["id"]: float(row["weight"]) for row in csv.DictReader(file)}
  except (OSError, ValueError, KeyError) as error:
    raise lifelong.CacheError(f"{args.out} and {_bars(args.out)} are no subset ({error}); make "
                              "them with suite lifelong subset, without --answers.") from error
  low, high = record.get("bounds", (0.0, 1.0))
  rows = []
  for name, answers in lifelong_answers.read_models(args).items():
    missing = [one for one in weights if one not in answers]
    if missing:
      raise lifelong.CacheError(f"Model {name!r} has no answer to {len(missing)} of the "
                                f"{len(weights)} samples, such as {missing[0]!r}. Add them, or use "
                                "suite lifelong estimate, which takes whatever answers there are.")
    value = sum(weight * answers[one] for one, weight in weights.items())
    value = min(high, max(low, value)) * record.get("scale", 1.0) + record.get("offset", 0.0)
    rows.append({"model": name, "accuracy": value, "interval": [
        max(low + record.get("offset", 0.0), value - record["largest"]),
        min(high, value + record["largest"])]})
  is_share = (low, high) == (0.0, 1.0)
  within = f"{100 * record['largest']:.2f} points" if is_share else f"{record['largest']:.4g}"
  lifelong_answers.show(args, {"models": rows}, [
      f"{row['model']}: {'accuracy' if is_share else 'mean score'} "
      f"{lifelong_answers.score_text(row['accuracy'], (low, high))}, 95% of such estimates are "
      f"within {within}" for row in rows])
  return 0


def _bars(path: pathlib.Path) -> pathlib.Path:
  return path.with_suffix(".json")


def add_plot_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong plot`."""
  action.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                      help="folder for ranking.svg, items.svg and information.svg")
  action.add_argument("--subset", type=pathlib.Path, metavar="FILE",
                      help="samples of the item curves and of the information: csv of suite "
                      "lifelong subset (default: 256 samples of all difficulties)")
  action.add_argument("--samples", nargs="+", default=[], metavar="ID",
                      help=f"samples whose curves are drawn (default: {_CURVES} of the subset)")


def plot(args: argparse.Namespace) -> int:
  """Runs `suite lifelong plot`."""
  import numpy as np

  from suite import lifelong
  from suite.lifelong.estimators import irt_search
  args.out.mkdir(parents=True, exist_ok=True)
  rows = lifelong.rank(args.cache)[:_MODELS]
  with _figure(args.out / "ranking.svg", (7, 1 + 0.18 * len(rows))) as axes:
    values = np.array([one.score for one in rows])
    ends = np.array([one.score_interval for one in rows]).reshape(-1, 2)
    places = np.arange(len(rows))[::-1]  # The best on top.
    axes.errorbar(100 * values, places, fmt="o", markersize=3, linewidth=1,
                  xerr=100 * np.abs(np.stack([values - ends[:, 0], ends[:, 1] - values])))
    axes.set_yticks(places, [one.name for one in rows], fontsize=6)
    axes.set(xlabel="accuracy, %, with 95% intervals of partly evaluated models")
  reference = lifelong.Reference(args.cache)
  if args.subset:
    with open(args.subset, encoding="utf-8-sig", newline="") as file:
      ids = [row["id"] for row in csv.DictReader(file)]
  else:
    ids = reference.questions(min(256, reference.num_samples)).tolist()
  ids += [one for one in args.samples if one not in ids]
  samples = reference.cache.sample_ids.find(ids)
  if (samples < 0).any():
    unknown = ids[int(np.argmax(samples < 0))]
    raise lifelong.CacheError(f"{unknown!r} is no sample of {args.cache}; its ids are like "
                              f"{reference.cache.sample_ids.at([0])}.")
  _, columns = reference.known_answers()
  items, abilities = irt_search.fit_items_and_abilities(columns(samples), 1, 12)
  shown = args.samples or [ids[place] for place in np.unique(
      np.argsort(items[:, 1])[np.linspace(0, len(ids) - 1, _CURVES).astype(int)]).tolist()]
  with _figure(args.out / "items.svg", (7, 4)) as axes:
    for identity, curve in zip(shown, irt_search.curves(items[[ids.index(one) for one in shown]])):
      axes.plot(irt_search.ABILITIES, curve, label=identity)
    axes.set(xlabel="ability", ylabel="probability of a correct answer", ylim=(0, 1))
    axes.legend(fontsize=6)
  with _figure(args.out / "information.svg", (7, 4)) as axes:  # Of all items together.
    axes.plot(irt_search.ABILITIES, irt_search.information(items).sum(axis=0))
    axes.plot(abilities[:, 0], np.zeros(len(abilities)), "|", markersize=12, color="black",
              label="known models")
    axes.set(xlabel="ability", ylabel="information")
    axes.legend()
  names = ("ranking.svg", "items.svg", "information.svg")
  lifelong_answers.show(args, {"files": [str(args.out / name) for name in names]},
                        [f"{args.out}: {', '.join(names)}"])
  return 0


@contextlib.contextmanager
def _figure(path: pathlib.Path, size: tuple[float, float]) -> Iterator[Any]:
  """The axes of a new figure, which is written at the end."""
  import matplotlib
  matplotlib.use("Agg")
  matplotlib.rcParams["svg.hashsalt"] = "lifelong"
  from matplotlib import pyplot
  figure, axes = pyplot.subplots(figsize=size)
  axes.grid(alpha=0.3)
  yield axes
  figure.savefig(path, bbox_inches="tight", metadata={"Date": None})
  pyplot.close(figure)

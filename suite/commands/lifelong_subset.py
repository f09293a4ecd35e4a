# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong subset` and `plot`: a small benchmark of a cache, and figures."""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import sys
from typing import Any

import numpy as np

from suite.commands import lifelong_estimate

_CURVES = 8  # Number of samples whose curves are drawn, if none is named.


def add_subset_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong subset`."""
  action.description = (
      "Writes a csv of id,weight,solved (the share of the known models that solve it), and its "
      "error bars beside it. The accuracy of a model is estimated by the sum of weight x answer: "
      "with --answers by this command, or by any program.")
  action.add_argument("--size", type=int, default=256, metavar="N", help="number of samples (256)")
  action.add_argument("--out", type=pathlib.Path, required=True, metavar="FILE",
                      help="the csv to write, or, with --answers, to read")
  action.add_argument("--seed", type=int, default=0, metavar="S", help="of the draws (0)")
  action.add_argument("--draws", type=int, default=32, metavar="D",
                      help="number of draws to choose from (32)")
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="estimate models from their answers to the samples of --out")
  lifelong_estimate.add_format_flags(action)


def add_plot_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong plot`."""
  action.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                      help="folder for ranking.svg, items.svg and information.svg")
  action.add_argument("--subset", type=pathlib.Path, metavar="FILE",
                      help="samples of the item curves and of the information: csv of suite "
                      "lifelong subset (default: 256 samples of all difficulties)")
  action.add_argument("--samples", nargs="+", default=[], metavar="ID",
                      help=f"samples whose curves are drawn (default: {_CURVES} of the subset)")


def subset(args: argparse.Namespace) -> int:
  """Runs `suite lifelong subset`."""
  if args.answers:
    return _score(args)
  from suite import lifelong
  from suite.lifelong import subsets
  reference = lifelong.Reference(args.cache)
  try:
    found = subsets.choose(*reference.known_answers(), len(reference.models), args.size,
                           draws=args.draws, seed=args.seed)
  except ValueError as error:
    raise lifelong.CacheError(str(error)) from error
  record = {"size": args.size, "samples": reference.num_samples, "models": len(reference.models),
            "error": found.error, "largest": found.largest, "plain_error": found.plain_error}
  with open(args.out, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "weight", "solved"])
    for identity, weight, solved in zip(reference.cache.sample_ids.at(found.samples),
                                        found.weights.tolist(), found.solved.tolist()):
      writer.writerow([identity, repr(weight), f"{solved:.4f}"])
  _bars(args.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
  _show(args, record, [
      f"{args.out}: {args.size:,} of {reference.num_samples:,} samples. The weighted accuracy of a "
      f"model that is not known is off by {100 * found.error:.2f} points (root mean square), by "
      f"less than {100 * found.largest:.2f} for 95% of the models; the plain mean by "
      f"{100 * found.plain_error:.2f}"])
  return 0


def _score(args: argparse.Namespace) -> int:
  from suite import lifelong
  try:
    record = json.loads(_bars(args.out).read_text(encoding="utf-8"))
    with open(args.out, encoding="utf-8", newline="") as file:
      weights = {row["id"]: float(row["weight"]) for row in csv.DictReader(file)}
  except (OSError, ValueError, KeyError) as error:
    raise lifelong.CacheError(f"{args.out} and {_bars(args.out)} are no subset ({error}); make "
                              "them with suite lifelong subset, without --answers.") from error
  rows = []
  for name, answers in lifelong_estimate.read_models(args).items():
    missing = [one for one in weights if one not in answers]
    if missing:
      raise lifelong.CacheError(f"Model {name!r} has no answer to {len(missing)} of the "
                                f"{len(weights)} samples, such as {missing[0]!r}. Add them, or use "
                                "suite lifelong estimate, which takes whatever answers there are.")
    value = sum(weight * answers[one] for one, weight in weights.items())
    value = min(1.0, max(0.0, value))
    rows.append({"model": name, "accuracy": value, "interval": [
        max(0.0, value - record["largest"]), min(1.0, value + record["largest"])]})
  _show(args, {"models": rows}, [
      f"{row['model']}: accuracy {row['accuracy']:.2%}, 95% of such estimates are within "
      f"{100 * record['largest']:.2f} points" for row in rows])
  return 0


def plot(args: argparse.Namespace) -> int:
  """Runs `suite lifelong plot`."""
  from suite import lifelong
  from suite.lifelong import cache_figures
  from suite.lifelong.estimators import irt_search
  args.out.mkdir(parents=True, exist_ok=True)
  rows = lifelong.rank(args.cache)
  cache_figures.draw_ranking(args.out / "ranking.svg", [one.name for one in rows],
                             [one.accuracy for one in rows], [one.interval for one in rows])
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
  places = [ids.index(one) for one in shown]
  cache_figures.draw_items(args.out / "items.svg", shown, items[places])
  cache_figures.draw_information(args.out / "information.svg", items, abilities[:, 0])
  _show(args, {"files": [str(args.out / name) for name in
                         ("ranking.svg", "items.svg", "information.svg")]},
        [f"{args.out}: ranking.svg, items.svg, information.svg"])
  return 0


def _bars(path: pathlib.Path) -> pathlib.Path:
  return path.with_suffix(".json")


def _show(args: argparse.Namespace, record: dict[str, Any], lines: list[str]) -> None:
  sys.stdout.write((json.dumps(record) if args.json else "\n".join(lines)) + "\n")

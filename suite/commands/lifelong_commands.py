# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: the accuracy cache, estimates from it, and small benchmarks of it."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import itertools
import json
import math
import pathlib
import sys
from typing import Any

from suite.commands import parsing
from suite.configs import run_settings

_BLOCK = 1 << 16
_PAIRS = 15  # Largest number of pairs that are all shown.
_CURVES = 8  # Number of samples whose curves are drawn, if none is named.


def add(lifelong: argparse.ArgumentParser) -> None:
  """Adds the actions of `suite lifelong`."""
  actions = parsing.group(lifelong, "actions", "ACTION")
  for name, do, add_flags, text in (
      ("add-models", _add_models, _add_file_flags, "add models with their answers from files"),
      ("add-samples", _add_samples, _add_file_flags,
       "add samples with the models' answers from files"),
      ("insert-samples", _insert_samples, _add_insert_flags,
       "add samples by the answers of a few models, and say how hard they are"),
      ("estimate", _estimate, _add_estimate_flags,
       "estimate a new model from a few of its answers"),
      ("session", _session, _add_session_flags,
       "ask a new model what its answers so far leave open, until an interval is narrow enough"),
      ("subset", _subset, _add_subset_flags,
       "choose a small benchmark with weights and error bars"),
      ("plot", _plot, _add_plot_flags, "draw the ranking and, of a subset, item curves"),
      ("rank", _rank, _add_rank_flags, "list the models by their scores"),
      ("compare", _compare, _add_compare_flags,
       "test which models differ, in pairs, with clusters of ranks"),
      ("status", _status, None, "describe the cache"),
      ("verify", _verify, None, "read every file of the cache: is it what was written?")):
    action = actions.add_parser(name, help=text)
    run_settings.add_flags(action, "debug")
    action.add_argument("--cache", required=True, type=pathlib.Path, metavar="DIR")
    action.add_argument("--json", action="store_true", help="print one JSON object")
    action.set_defaults(do=do)
    if add_flags is not None:
      add_flags(action)


def _add_file_flags(action: argparse.ArgumentParser) -> None:
  action.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="npy, npz, csv, tsv, parquet (such as a run's predictions/*.parquet); "
                      "logs of lm-evaluation-harness, HELM (per_instance_stats.json), inspect-ai "
                      "(.eval), openai/evals, py-irt")
  action.add_argument("--names", nargs="+", default=[], metavar="NAME",
                      help="names of the models, if a single file has none")
  _add_format_flags(action)


def _add_models(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  tables, report = _read(args, args.files, cache, args.names)
  for found in tables:
    ids: Any = found.ids
    if ids is None and not cache.num_samples:
      ids = range(found.answers.shape[1])
    threshold = cache.agreed_threshold(args.threshold)
    cache.add_models(found.models, found.bits(threshold), ids,
                     threshold=threshold if found.is_graded else None, tasks=found.tasks,
                     hashes=found.hashes)
  return _status(args, report)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  tables, report = _read(args, args.files, cache, args.names)
  for found in tables:
    first = cache.num_samples
    ids: Any = found.ids or range(first, first + found.answers.shape[1])
    threshold = cache.agreed_threshold(args.threshold)
    cache.add_samples(ids, found.bits(threshold), found.models,
                      threshold=threshold if found.is_graded else None, tasks=found.tasks,
                      hashes=found.hashes)
  return _status(args, report)


def _read(args: argparse.Namespace, files: Sequence[pathlib.Path], cache: Any,
          names: Sequence[str] = ()) -> tuple[list[Any], Any]:
  """Tables of answers as the cache keeps them, whose documents are checked; what was read."""
  from suite.lifelong.cache import accuracy_import
  tables, report = accuracy_import.read_reported(files, accuracy_import.Options(
      names, args.id, args.score, args.filter, args.repeats, args.model, args.task, cache.tasks))
  for found in tables:
    if found.ids is not None and found.sources is not None:
      cache.check_documents(found.ids, found.hashes, found.sources)
  return tables, report


def _add_insert_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong insert-samples`."""
  action.description = (
      "First --ask FILE --budget M writes the names of the models to evaluate on the new samples, "
      "evenly spaced from the best to the worst; or choose them yourself. Then --answers FILE adds "
      "the samples, with the answers of the models in the file.")
  action.add_argument("--ask", type=pathlib.Path, metavar="FILE",
                      help="write the names of the models to evaluate, a line each")
  action.add_argument("--budget", type=int, default=16, metavar="M",
                      help="number of models to evaluate (16, or all if there are fewer)")
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="their answers to the new samples")
  action.add_argument("--place-by", choices=("mean", "cut"), default="mean",
                      help="how many models solve a sample: by the mean of the answers, or by the "
                      "paper's cut")
  action.add_argument("--out", type=pathlib.Path, metavar="FILE",
                      help="csv of id, solved (estimated number of models) and cut, hardest first")
  _add_format_flags(action)


def _insert_samples(args: argparse.Namespace) -> int:
  """Runs `suite lifelong insert-samples`."""
  import numpy as np

  from suite import lifelong
  from suite.lifelong.cache import accuracy_cache
  if bool(args.ask) == bool(args.answers):
    raise lifelong.CacheError("Give --ask FILE, to write the models to evaluate, or --answers FILE "
                              "with their answers.")
  cache = accuracy_cache.AccuracyCache(args.cache)
  if args.ask:
    names = lifelong.models_to_ask(cache, min(args.budget, cache.num_models))
    args.ask.write_text("".join(f"{name}\n" for name in names), encoding="utf-8")
    _show(args, {"file": str(args.ask), "models": names}, [
        f"{args.ask}: {len(names):,} models to evaluate on the new samples, a name a line. Then:",
        f"suite lifelong insert-samples --cache {args.cache} --answers FILE.csv"])
    return 0
  threshold = cache.agreed_threshold(args.threshold)
  tables, _ = _read(args, args.answers, cache)
  if len(tables) != 1:
    raise lifelong.CacheError(f"The files hold {len(tables)} tables; give one, with the answers of "
                              "all models that were asked.")
  table, = tables
  first = cache.num_samples
  ids = list(table.ids or map(str, range(first, first + table.answers.shape[1])))
  answers = dict(zip(table.models, table.bits(threshold)))
  if any((row == accuracy_cache.NOT_EVALUATED).any() for row in answers.values()):
    raise lifelong.CacheError("A model has no answer to some of the samples; each model that is "
                              "asked answers all. Other files: suite lifelong add-samples.")
  found = lifelong.insert_samples(cache, ids, lambda names: np.stack([
      answers[name] for name in names]), models=table.models, place_by=args.place_by,
                                  threshold=threshold if table.is_graded else None,
                                  tasks=table.tasks, hashes=table.hashes)
  order = np.argsort(found.counts, kind="stable").tolist()
  if args.out:
    with open(args.out, "w", encoding="utf-8", newline="") as file:
      writer = csv.writer(file)
      writer.writerow(["id", "solved", "cut"])
      writer.writerows([ids[place], int(found.counts[place]), int(found.cuts[place])]
                       for place in order)
  low, middle, high = np.quantile(found.counts, (0.0, 0.5, 1.0), method="nearest").tolist()
  _show(args, {"samples": len(ids), "asked": len(table.models), "models": cache.num_models,
               "place_by": args.place_by, "solved": dict(zip(ids, found.counts.tolist()))}, [
      f"{len(ids):,} samples added with the answers of {len(table.models):,} of "
      f"{cache.num_models:,} models, which solve an estimated {low:,} to {high:,} of all models "
      f"(median {middle:,}), by the {args.place_by}"])
  return 0


def _add_rank_flags(action: argparse.ArgumentParser) -> None:
  action.description = (
      "Ranks the models by the mean of their tasks, or, if there are no tasks, by the mean of "
      "their samples. Of models that were not evaluated on all samples, the missing answers are "
      "predicted by the other models, and the interval says how well.")
  action.add_argument("--tasks", action="store_true", help="a row for each task, too")
  _add_scale_flags(action)


def _add_compare_flags(action: argparse.ArgumentParser) -> None:
  action.description = (
      "Compares all pairs of models on the samples that both have answered. Tests and intervals "
      "are about samples like these; p-values are corrected for the number of pairs (Holm).")
  action.add_argument("--models", nargs="+", default=[], metavar="NAME",
                      help="models to compare (the best ones)")
  action.add_argument("--top", type=int, default=20, metavar="N",
                      help="number of models to compare, if none are named (20)")
  action.add_argument("--level", type=float, default=0.05, metavar="P",
                      help="a corrected p-value below it is a difference (0.05)")
  _add_scale_flags(action)


def _compare(args: argparse.Namespace) -> int:
  from suite.lifelong import comparison
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  found = comparison.compare(cache, _scale(args, list(cache.tasks)), models=args.models,
                             top=args.top, level=args.level)
  if args.json:
    sys.stdout.write(json.dumps({
        "by": found.by, "level": found.level, "models": [
            {"cluster": cluster, "ranks": list(ranks), **_scores(one)}
            for one, cluster, ranks in zip(found.models, found.clusters, found.ranks)],
        "pairs": [{"first": one.first, "second": one.second, "difference": one.difference,
                   "interval": list(one.interval), "p": one.p, "corrected": one.corrected,
                   "num_samples": one.num_samples} for one in found.pairs]}) + "\n")
    return 0
  width = max([len("model"), *(len(one.name) for one in found.models)])
  lines = [f"cluster  ranks    {'model':{width}}  {'score':>8}"]
  for one, cluster, (best, worst) in zip(found.models, found.clusters, found.ranks):
    ranks = f"{best}" if best == worst else f"{best} to {worst}"
    lines.append(f"{cluster:7}  {ranks:7}  {one.name:{width}}  {one.score:8.2%}")
  lines.append(f"pairs (by {found.by}; intervals of 95% about samples like these; p corrected for "
               f"{len(found.pairs):,} pairs by Holm):")
  shown = [one for one in found.pairs if len(found.pairs) <= _PAIRS] or [
      next(pair for pair in found.pairs if (pair.first, pair.second) == (a.name, b.name))
      for a, b in zip(found.models, found.models[1:])]
  for pair in shown:
    if pair.p is None:
      lines.append(f"  {pair.first} - {pair.second}: no samples of some task that both answered")
    else:
      lines.append(_gap_line(pair.first, pair.second, pair.difference, pair.interval, pair.p,
                             pair.corrected))
  if len(shown) < len(found.pairs):
    lines.append("  (neighbors; --json has all pairs)")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def _gap_line(first: str, second: str, value: float, interval: Sequence[float], p: float,
              corrected: float | None = None) -> str:
  more = "" if corrected is None else f", corrected {corrected:.2g}"
  return (f"  {first} - {second}: {100 * value:+.2f} points, 95% interval "
          f"{100 * interval[0]:+.2f} to {100 * interval[1]:+.2f}, p {p:.2g}{more}")


def _add_scale_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags that say what a score is."""
  action.add_argument("--by", choices=("tasks", "samples"), default="",
                      help="score by the mean of tasks (default, if there are two) or of samples")
  action.add_argument("--weights", default="", metavar="TASK=W,...",
                      help="weights of tasks (1): arc=2,mmlu_*=0.1")
  action.add_argument("--chance", default="", metavar="TASK=C,...",
                      help="accuracy of guessing, for all tasks or by task: scores are "
                      "(accuracy - C) / (1 - C)")


def _scale(args: argparse.Namespace, tasks: Sequence[str]) -> Any:
  """The mean, over tasks or over samples, that the flags ask for."""
  from suite import lifelong
  from suite.lifelong.cache import accuracy_import
  found = {}
  for flag, text in (("--weights", args.weights), ("--chance", args.chance)):
    choice = accuracy_import.Choice(text, flag)
    names = {name: choice.of(name)[0] for name in tasks}
    choice.check(tasks)
    try:
      found[flag] = {name: float(value) for name, value in names.items() if value}
    except ValueError as error:
      raise lifelong.CacheError(f"Got {flag} {text!r}; expected numbers, such as {flag} "
                                f"{next(iter(tasks), 'TASK')}=0.25.") from error
    if text and not found[flag]:
      raise lifelong.CacheError(f"Got {flag} {text!r}, but the samples have no tasks.")
  return lifelong.Scale(args.by, found["--weights"], found["--chance"])


def _rank(args: argparse.Namespace) -> int:
  from suite.lifelong import standings
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  found = standings.Standings(cache, _scale(args, list(cache.tasks)))
  rows = found.ranked()
  if args.json:
    sys.stdout.write(json.dumps({"by": found.by, "weights": found.weights, "models": [
        {"rank": place, **_scores(one)} for place, one in enumerate(rows, start=1)]}) + "\n")
    return 0
  width = max([len("model"), *(len(one.name) for one in rows)])
  by_tasks = found.by == standings.TASKS or bool(args.chance)
  what = "mean of tasks" if found.by == standings.TASKS else "score" if by_tasks else "accuracy"
  lines = [f"{'rank':>4}  {'model':{width}}  {what:>8}  95% interval      "
           + ("of samples  " if by_tasks else "") + "evaluated"]
  for place, one in enumerate(rows, start=1):
    lines.append(f"{place:4}  {one.name:{width}}  {one.score:{max(8, len(what))}.2%}  "
                 f"{_ends(one.score_interval):16}  "
                 + (f"{one.accuracy:10.2%}  " if by_tasks else "") + f"{one.num_evaluated:,}"
                 + (f" (of these {one.observed:.2%}; the others are predicted)"
                    if one.is_estimated else ""))
    if args.tasks:
      lines += [f"      {name}: {task.accuracy:.2%}  {_ends(task.interval)}  "
                f"{task.num_evaluated:,} of {task.num_samples:,}"
                for name, task in one.tasks.items()]
  if any(one.is_estimated for one in rows) and found.num_references < 3:
    lines.append("Fewer than three models were evaluated on all samples: intervals of the others "
                 "have all that their missing answers may be.")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def _ends(interval: Sequence[float]) -> str:
  low, high = interval
  return "" if low == high or low != low else f"{low:.2%} to {high:.2%}"


def _scores(one: Any) -> dict[str, Any]:
  """A model of a ranking, or an estimate of one, as JSON."""
  def pair(ends: Sequence[float]) -> list[float] | None:
    return None if any(end != end for end in ends) else list(ends)

  return {"name": one.name, "accuracy": one.accuracy, "interval": pair(one.interval),
          "num_evaluated": one.num_evaluated, "score": one.score,
          "score_interval": pair(one.score_interval), "is_estimated": one.is_estimated,
          "observed": one.observed, "tasks": {
              name: {"accuracy": task.accuracy, "interval": pair(task.interval),
                     "num_evaluated": task.num_evaluated, "num_samples": task.num_samples}
              for name, task in one.tasks.items()}}


def _status(args: argparse.Namespace, report: Any = None) -> int:
  import numpy as np

  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import sample_counts
  cache = accuracy_cache.AccuracyCache(args.cache)
  num_bytes = sum(path.stat().st_size for path in args.cache.iterdir())
  correct, evaluated = sample_counts.SampleCounts(cache).totals.sum(axis=0).tolist()
  total = cache.num_models * cache.num_samples
  names, codes = cache.sample_tasks()
  tasks = {name: {"metric": cache.tasks[name].metric, "filter": cache.tasks[name].filter,
                  "samples": int(np.sum(codes == index))} for index, name in enumerate(names)}
  if args.json:
    sys.stdout.write(json.dumps({
        "models": cache.num_models, "samples": cache.num_samples, "bytes": num_bytes,
        "evaluated": evaluated, "correct": correct, "threshold": cache.threshold,
        "tasks": tasks, "problem": cache.problem,
        **({"read": report.record()} if report else {})}) + "\n")
    return 0
  lines = report.lines() if report else []
  lines += [f"{args.cache}: {cache.num_models:,} models, {cache.num_samples:,} samples, "
           f"{num_bytes / 1e6:.1f} MB"]
  if total:
    lines.append(f"evaluated: {evaluated:,} of {total:,} answers ({evaluated / total:.1%}); of "
                 f"these correct: {correct / max(1, evaluated):.1%}")
  lines += [f"task {name}: {one['samples']:,} samples, metric {one['metric'] or 'not known'}"
            + (f", filter {one['filter']}" if one["filter"] else "")
            for name, one in tasks.items() if not report]
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


def _add_estimate_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong estimate`."""
  action.description = (
      "First --ask FILE writes the ids that a new model should be asked. Then --answers FILE, a "
      "csv with the columns id,correct (or any other file of answers), says what they tell. The "
      "questions stay when the cache grows, and a larger --budget asks the same ones first. "
      "Whatever answers there are count; with --ask and --answers, what is still to be asked is "
      "written.")
  action.add_argument("--ask", type=pathlib.Path, metavar="FILE",
                      help="write the ids to ask, a line each, or, to a .json, by task, as "
                      "lm_eval --samples takes them")
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
  _add_scale_flags(action)
  _add_format_flags(action)


def _add_format_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags that say how files of answers are read."""
  for name, text in (("id", "ids"), ("model", "names of models"), ("task", "names of tasks")):
    action.add_argument(f"--{name}", default="", metavar="COLUMN",
                        help=f"of a table, the column of {text}")
  action.add_argument("--score", default="", metavar="NAME",
                      help="name of the column of answers, or of the metric of a log: for all "
                      "tasks, or by task: arc=acc_norm,gsm8k=exact_match (kept with the cache)")
  action.add_argument("--filter", default="", metavar="NAME",
                      help="of lm-evaluation-harness, the filter whose answers are read, or of "
                      "HELM, the perturbation: for all tasks, or by task (kept with the cache)")
  action.add_argument("--threshold", type=float, metavar="T",
                      help="scores count as correct from T on (kept with the cache)")
  action.add_argument("--repeats", choices=("refuse", "mean"), default="refuse",
                      help="different answers of one model to one sample: refuse them (default), "
                      "or take the mean of repeated runs")


def _estimate(args: argparse.Namespace) -> int:
  """Runs `suite lifelong estimate`."""
  from suite import lifelong
  from suite.lifelong import standings
  from suite.lifelong.cache import accuracy_cache
  from suite.metrics import paired_tests
  if not (args.ask or args.answers):
    raise lifelong.CacheError("Give --ask FILE, to write the samples to ask, or --answers FILE.")
  models = _read_models(args) if args.answers else {}
  if args.keep:
    if len(args.keep) != len(models):
      raise lifelong.CacheError(f"{len(args.keep)} names for {len(models)} models in the files of "
                                "answers; give as many.")
    models = dict(zip(args.keep, models.values()))
  groups = _read_groups(args.groups, args.cache) if args.groups else []
  factors = {"num_factors": args.factors} if args.factors else {}
  scale = _scale(args, list(accuracy_cache.AccuracyCache(args.cache).tasks))
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
  # Models are compared by their scores, or by their answers as bits if only some are graded.
  compared = [cut.get(name, one) if 0 < len(graded) < len(found) else one
              for name, one in found.items()]
  is_comparable = len(graded) in (0, len(found)) or bool(cut)
  scores = standings.TaskEstimates(reference.cache, scale)
  ranked = {name: scores.score(name, one) for name, one in found.items()}
  gaps = {}
  if len(compared) > 1 and is_comparable and all(one.sample for one in compared):
    ones = dict(zip(found, compared))
    gaps = {pair: lifelong.compare(ones[pair[0]], ones[pair[1]], reference.num_samples)
            for pair in itertools.combinations(ones, 2)}
  fixed = dict(zip(gaps, paired_tests.holm([p for _, p in gaps.values()]).tolist()))
  if args.json:
    record = _record(reference, models, found, cut, threshold)
    record["differences"] = [
        {"first": first, "second": second, "value": gap.value, "interval": [gap.low, gap.high],
         "p": p, "corrected": fixed[first, second]} for (first, second), (gap, p) in gaps.items()]
    if len(gaps) == 1:
      record["difference"] = {key: record["differences"][0][key]
                              for key in ("value", "interval", "p")}
    for row in record["models"]:
      extra = _scores(ranked[row["model"]])
      row.update({key: extra[key] for key in ("score", "score_interval", "tasks")})
    record.update({"by": scores.by, "weights": scores.weights})
    sys.stdout.write(json.dumps(record) + "\n")
  else:
    lines = []
    for name, one in found.items():
      lines += _summary(args, name, one, len(models[name]),
                        "mean score" if name in graded else "accuracy")
      lines += _task_lines(scores, ranked[name])
      if name in cut:
        lines.append(f"  from {threshold:g} on correct, as in the cache: accuracy "
                     f"{cut[name].accuracy:.2%}" + _interval(cut[name]))
    if gaps:
      lines.append("differences, about samples like these"
                   + (" (of the share of correct answers):" if 0 < len(graded) < len(found)
                   else ":"))
    lines += [_gap_line(*pair, gap.value, (gap.low, gap.high), p,
                        fixed[pair] if len(gaps) > 1 else None) for pair, (gap, p) in gaps.items()]
    if len(compared) > 1 and not is_comparable:
      lines.append(f"not compared: only the answers of {graded[0]} are graded. Say from which "
                   "score on an answer is right: --threshold 0.5")
    sys.stdout.write("\n".join([*lines, ""]))
  if args.probabilities:
    _write_probabilities(args.probabilities, reference, found)
  for name in args.keep:
    lifelong.add_estimated(reference.cache, name, lifelong.MemoizedModel(answers=models[name]),
                           args.threshold)
  return 0


def _task_lines(scores: Any, one: Any) -> list[str]:
  """The mean of tasks and the tasks of an estimate; [] without tasks."""
  if not one.tasks and scores.by == "samples":
    return []
  what = "mean of tasks" if scores.by == "tasks" else "score"
  lines = [f"  {what} {one.score:.2%}" + (
      f", 95% interval {_ends(one.score_interval)}" if _ends(one.score_interval) else "")]
  return lines + [f"  {name}: {task.accuracy:.2%}  {_ends(task.interval)}  "
                  f"{task.num_evaluated:,} of {task.num_samples:,}"
                  for name, task in one.tasks.items()]


def _is_graded(answers: Mapping[str, float]) -> bool:
  return any(0 < score < 1 for score in answers.values())


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
      if not 0 < args.target_width < 1:
        raise lifelong.CacheError(f"Got --target-width {args.target_width}; expected a width "
                                  "between 0 and 1, such as 0.04 for 4 points.")
      found = reference.estimate_from(have, is_random=args.random) if have else None
      if found is not None and found.interval is not None:
        width = found.interval[1] - found.interval[0]
        wanted = math.ceil(len(found.sample.samples) * (width / args.target_width) ** 2)
      else:  # Of a model that is right half the time.
        wanted = math.ceil((1.96 / args.target_width) ** 2)
      num = reference.num_samples
      budget = max(1, min(num, math.ceil(
          wanted / (1 + wanted / num) if found is None else wanted)))
    ids = [one for one in reference.questions(budget).tolist() if one not in have]
  _write_questions(args.ask, ids, reference.cache)
  if args.json:
    sys.stdout.write(json.dumps({"file": str(args.ask), "questions": len(ids)}) + "\n")
  elif not ids:
    sys.stdout.write(f"{args.ask}: nothing is left to ask\n")
  else:
    sys.stdout.write(f"{args.ask}: {len(ids):,} samples to ask, "
                     + ("by task" if args.ask.suffix == ".json" else "one id a line") + ". Then:\n"
                     f"suite lifelong estimate --cache {args.cache} --answers FILE.csv\n")
  return 0


def _write_questions(path: pathlib.Path, ids: Sequence[str], cache: Any) -> None:
  """Writes ids, a line each, or, to a .json, by task."""
  text = (json.dumps(_by_task(ids, cache)) + "\n" if path.suffix == ".json" else
          "".join(f"{one}\n" for one in ids))
  path.write_text(text, encoding="utf-8")


def _by_task(ids: Sequence[str], cache: Any) -> dict[str, list[Any]]:
  """Samples by task, as lm-evaluation-harness takes them (--samples): {task: [numbers]}."""
  from suite import lifelong
  tasks = set(cache.tasks)
  found: dict[str, list[Any]] = {}
  for one in ids:
    task = one
    while task and task not in tasks:
      task = task.rpartition("/")[0]
    if not task:
      raise lifelong.CacheError(f"Sample {one!r} is of no task, so it cannot be written by task: "
                                "--ask FILE.txt writes one id a line.")
    name = one[len(task) + 1:]
    found.setdefault(task, []).append(int(name) if name.isdigit() else name)
  return {task: sorted(names, key=lambda name: (isinstance(name, str), name))
          for task, names in found.items()}


def _add_session_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong session`."""
  action.description = (
      "The first call writes questions to --ask FILE. Each further call takes their answers by "
      "--answers FILE, a csv with the columns id,correct or logs, and writes the next ones, until "
      "the 95% interval is narrow enough. What was asked and answered is kept in the folder "
      "--state: after an interruption, the same command resumes.")
  action.add_argument("--state", required=True, type=pathlib.Path, metavar="DIR",
                      help="folder of the session, one for each new model")
  action.add_argument("--ask", required=True, type=pathlib.Path, metavar="FILE",
                      help="write the next ids to ask, a line each, or, to a .json, by task, as "
                      "lm_eval --samples takes them")
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="the answers of the model to all questions of the last call")
  action.add_argument("--target-width", type=float, metavar="W",
                      help="end when the interval is no wider (0.02, which is +-1 point)")
  action.add_argument("--budget", type=int, metavar="N", help="ask N samples at most (all)")
  action.add_argument("--seed", type=int, metavar="S", help="another one draws other questions (0)")
  _add_format_flags(action)


def _session(args: argparse.Namespace) -> int:
  """Runs `suite lifelong session`."""
  from suite import lifelong
  asking = lifelong.Session(args.cache, args.target_width, args.budget, state=args.state,
                            seed=args.seed)
  models = _read_models(args) if args.answers else {}
  if len(models) > 1:
    raise lifelong.CacheError(f"Got the answers of {len(models)} models, such as "
                              f"{next(iter(models))!r}; a session is about one.")
  ids, lines = asking.questions().tolist(), []
  for given in models.values():
    if not any(one in given for one in ids) and given.keys() & asking.answers().keys():
      lines.append("These answers were taken before.")
    else:
      asking.answer(given)
      ids = asking.questions().tolist()
  _write_questions(args.ask, ids, asking.cache)
  record: dict[str, Any] = {
      "file": str(args.ask), "questions": len(ids), "answers": asking.num_answers,
      "done": asking.is_done, "accuracy": None, "interval": None,
      "target_width": asking.target_width}
  if asking.num_answers:
    found = asking.accuracy()
    record.update(accuracy=found.value, interval=[found.low, found.high])
    lines.append(f"accuracy {found.value:.2%}, 95% interval {found.low:.2%} to {found.high:.2%}, "
                 f"from {asking.num_answers:,} answers")
  if asking.is_done:
    wide = record["interval"][1] - record["interval"][0] > asking.target_width
    lines.append("The session has ended" + (
        f": the budget of {asking.budget:,} is spent, and the interval is wider than "
        f"{asking.target_width:.2%}." if wide else ": the interval is narrow enough."))
  else:
    lines += [f"{args.ask}: {len(ids):,} samples to ask. Then:",
              f"suite lifelong session --cache {args.cache} --state {args.state} --ask {args.ask} "
              "--answers FILE"]
  _show(args, record, lines)
  return 0


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
            cut: Mapping[str, Any], threshold: float | None) -> dict[str, Any]:
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
  return record


def _read_models(args: argparse.Namespace) -> dict[str, dict[str, float]]:
  """Model -> id -> answer, of all files."""
  import numpy as np

  from suite import lifelong
  from suite.lifelong.cache import accuracy_cache
  found: dict[str, dict[str, float]] = {}
  for table in _read(args, args.answers, accuracy_cache.AccuracyCache(args.cache))[0]:
    ids = table.ids or [str(index) for index in range(table.answers.shape[1])]
    for name, row in zip(table.models, np.asarray(table.answers, np.float64)):
      known = np.flatnonzero(~np.isnan(row) & (row != accuracy_cache.NOT_EVALUATED))
      if name in found:
        raise lifelong.CacheError(f"Two files have a model {name!r}. Rename one of them.")
      found[name] = {ids[place]: float(row[place]) for place in known.tolist()}
  return found


def _read_groups(path: pathlib.Path, folder: pathlib.Path) -> list[Any]:
  """int [N] of each column but `id`: equal values get equal numbers."""
  import numpy as np

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
  import numpy as np
  with open(path, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", *found])
    for start in range(0, reference.num_samples, _BLOCK):
      samples = np.arange(start, min(reference.num_samples, start + _BLOCK))
      columns = [one.probabilities(samples) for one in found.values()]
      for identity, *values in zip(reference.cache.sample_ids.at(samples), *columns):
        writer.writerow([identity, *(f"{value:.4f}" for value in values)])


def _add_subset_flags(action: argparse.ArgumentParser) -> None:
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
  _add_scale_flags(action)
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="estimate models from their answers to the samples of --out")
  _add_format_flags(action)


def _add_plot_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong plot`."""
  action.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                      help="folder for ranking.svg, items.svg and information.svg")
  action.add_argument("--subset", type=pathlib.Path, metavar="FILE",
                      help="samples of the item curves and of the information: csv of suite "
                      "lifelong subset (default: 256 samples of all difficulties)")
  action.add_argument("--samples", nargs="+", default=[], metavar="ID",
                      help=f"samples whose curves are drawn (default: {_CURVES} of the subset)")


def _subset(args: argparse.Namespace) -> int:
  """Runs `suite lifelong subset`."""
  if args.answers:
    return _score(args)
  from suite import lifelong
  from suite.lifelong import standings
  from suite.lifelong import subsets
  reference = lifelong.Reference(args.cache)
  scores = standings.TaskEstimates(reference.cache, _scale(args, list(reference.cache.tasks)))
  is_plain = scores.by == standings.SAMPLES and not args.chance
  try:
    found = subsets.choose(*reference.known_answers(), len(reference.models), args.size,
                           draws=args.draws, seed=args.seed,
                           strata=None if is_plain else scores.strata)
  except ValueError as error:
    raise lifelong.CacheError(str(error)) from error
  record = {"size": args.size, "samples": reference.num_samples, "models": len(reference.models),
            "error": found.error, "largest": found.largest, "plain_error": found.plain_error,
            "calibrated": found.is_calibrated, "by": scores.by, "weights": scores.weights,
            "scale": scores.scored(1.0) - scores.scored(0.0), "offset": scores.scored(0.0)}
  with open(args.out, "w", encoding="utf-8", newline="") as file:
    writer = csv.writer(file)
    writer.writerow(["id", "weight", "solved"])
    for identity, weight, solved in zip(reference.cache.sample_ids.at(found.samples),
                                        found.weights.tolist(), found.solved.tolist()):
      writer.writerow([identity, repr(weight), f"{solved:.4f}"])
  _bars(args.out).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
  _show(args, record, [
      f"{args.out}: {args.size:,} of {reference.num_samples:,} samples. The weighted "
      f"{'accuracy' if is_plain else 'score by ' + scores.by} of a model that is not known is off "
      f"by {100 * found.error:.2f} points (root mean square), by less than "
      f"{100 * found.largest:.2f} for 95% of the models; the plain mean by "
      f"{100 * found.plain_error:.2f}"
      + ("" if found.is_calibrated else ". Weights from the known models are no better, so "
         "the samples have equal weights")])
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
  for name, answers in _read_models(args).items():
    missing = [one for one in weights if one not in answers]
    if missing:
      raise lifelong.CacheError(f"Model {name!r} has no answer to {len(missing)} of the "
                                f"{len(weights)} samples, such as {missing[0]!r}. Add them, or use "
                                "suite lifelong estimate, which takes whatever answers there are.")
    value = sum(weight * answers[one] for one, weight in weights.items())
    value = min(1.0, max(0.0, value)) * record.get("scale", 1.0) + record.get("offset", 0.0)
    rows.append({"model": name, "accuracy": value, "interval": [
        max(record.get("offset", 0.0), value - record["largest"]),
        min(1.0, value + record["largest"])]})
  _show(args, {"models": rows}, [
      f"{row['model']}: accuracy {row['accuracy']:.2%}, 95% of such estimates are within "
      f"{100 * record['largest']:.2f} points" for row in rows])
  return 0


def _plot(args: argparse.Namespace) -> int:
  """Runs `suite lifelong plot`."""
  import numpy as np

  from suite import lifelong
  from suite.lifelong import cache_figures
  from suite.lifelong.estimators import irt_search
  args.out.mkdir(parents=True, exist_ok=True)
  rows = lifelong.rank(args.cache)
  cache_figures.draw_ranking(args.out / "ranking.svg", [one.name for one in rows],
                             [one.score for one in rows], [one.score_interval for one in rows])
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

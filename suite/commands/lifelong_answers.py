# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of answers that `suite lifelong ...` reads, what a score is there, and scores as text."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Mapping, Sequence
import csv
import json
import pathlib
import sys
from typing import Any

from suite.configs import run_settings


def add_cache_flags(action: argparse.ArgumentParser, do: Callable[[argparse.Namespace], int],
                    default: str = "") -> None:
  """Adds what every action of `suite lifelong` has; `default` names a cache if none is given."""
  run_settings.add_flags(action, "debug")
  action.add_argument("--cache", required=not default, default=pathlib.Path(default),
                      type=pathlib.Path, metavar="DIR",
                      help=f"folder of the answers{f' ({default})' if default else ''}")
  action.add_argument("--json", action="store_true", help="print one JSON object")
  action.set_defaults(do=do)


def add_format_flags(action: argparse.ArgumentParser) -> None:
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
  action.add_argument("--repeats", type=_repeats, default="refuse", metavar="HOW",
                      help="different answers of one model to one sample: refuse them (default), "
                      "or take the mean of repeated runs, epochs and generations, pass@K (one of K "
                      "is right) or maj@K (more than half are), unbiased; folder: the mean, also "
                      "where nothing but their folder says that logs are of one model")


def _repeats(text: str) -> str:
  if text in ("refuse", "mean", "folder"):
    return text
  from suite.lifelong.answers import generations
  if not generations.parsed(text)[1]:
    raise argparse.ArgumentTypeError(f"{text!r} is none of refuse, mean, folder, pass@K, maj@K")
  return text


def read(args: argparse.Namespace, files: Sequence[pathlib.Path], cache: Any,
         names: Sequence[str] = ()) -> tuple[list[Any], Any]:
  """Tables of answers as the cache keeps them, whose documents are checked; what was read."""
  from suite.lifelong.cache import accuracy_import
  from suite.lifelong.cache import cache_growth
  tables, report = accuracy_import.read_reported(
      files, options(args, cache.tasks, names, keeps_values(args, cache)))
  if getattr(args, "changed", cache_growth.REFUSE) == cache_growth.VERSION:
    return tables, report  # `cache_growth.add` names the versions of their documents.
  tables = [cache_growth.versioned(cache, one)[0] for one in tables]
  for found in tables:
    if found.ids is not None and found.sources is not None:
      cache.check_documents(found.ids, found.hashes, found.sources)
  return tables, report


def options(args: argparse.Namespace, tasks: Mapping[str, Any], names: Sequence[str] = (),
            values: bool = False) -> Any:
  """How files are read; `tasks`: of the cache; `values`: scores are kept as they are."""
  from suite.lifelong.cache import accuracy_import
  return accuracy_import.Options(names, args.id, args.score, args.filter, args.repeats, args.model,
                                 args.task, tasks, values)


def add_changed_flag(action: argparse.ArgumentParser) -> None:
  """Adds --changed."""
  action.add_argument("--changed", choices=("refuse", "version"), default="refuse",
                      help="documents that are not those that the cache has under their ids: "
                      "refuse them (default), or take them as a new version, ID@2, and retire the "
                      "earlier one")


def opened(args: argparse.Namespace) -> Any:
  """The cache, without retired samples unless they are asked for."""
  from suite.lifelong.cache import active_samples
  return active_samples.opened(args.cache, with_retired=args.with_retired)


def keeps_values(args: argparse.Namespace, cache: Any) -> bool:
  """Whether scores are kept as values: the cache does so, or --values asks for it."""
  return cache.value_range is not None or getattr(args, "values", False)


def read_models(args: argparse.Namespace) -> dict[str, dict[str, float]]:
  """Model -> id -> answer, of all files."""
  import numpy as np

  from suite import lifelong
  from suite.lifelong.cache import accuracy_cache
  found: dict[str, dict[str, float]] = {}
  for table in read(args, args.answers, accuracy_cache.AccuracyCache(args.cache))[0]:
    ids = table.ids or [str(index) for index in range(table.answers.shape[1])]
    for name, row in zip(table.models, table.values()):
      known = np.flatnonzero(~np.isnan(row))
      if name in found:
        raise lifelong.CacheError(f"Two files have a model {name!r}. Rename one of them.")
      found[name] = {ids[place]: float(row[place]) for place in known.tolist()}
  return found


def add_scale_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags that say what a score is."""
  action.add_argument("--by", choices=("groups", "tasks", "samples"), default="",
                      help="score by the mean of groups of tasks, of tasks or of samples (the "
                      "first that there are)")
  action.add_argument("--task-groups", type=pathlib.Path, metavar="FILE",
                      help="csv with the columns group and task, in place of the groups that the "
                      "logs had")
  action.add_argument("--weights", default="", metavar="TASK=W,...",
                      help="weights of tasks or groups (1): arc=2,mmlu_*=0.1")
  action.add_argument("--chance", default="", metavar="TASK=C,...",
                      help="accuracy of guessing, for all tasks or by task: scores are "
                      "(accuracy - C) / (1 - C)")
  action.add_argument("--with-retired", action="store_true",
                      help="also the samples that suite lifelong retire has retired")


def add_clusters_flag(action: argparse.ArgumentParser) -> None:
  """Adds --clusters."""
  action.add_argument("--clusters", type=pathlib.Path, metavar="FILE",
                      help="csv with the columns id and cluster, such as the passage of a "
                      "question: samples of one cluster are not independent")


def scale(args: argparse.Namespace, cache: Any) -> Any:
  """The mean, over groups, tasks or samples of the cache, that the flags ask for."""
  from suite import lifelong
  from suite.lifelong import standings
  from suite.lifelong.cache import accuracy_import
  from suite.lifelong.cache import task_groups
  found, tasks = {}, list(cache.tasks)
  groups = (task_groups.of_table(args.task_groups, tasks) if args.task_groups else
            standings.groups_of(cache.folder, tasks))
  for flag, text in (("--weights", args.weights), ("--chance", args.chance)):
    choice = accuracy_import.Choice(text, flag)
    known = [*tasks, *groups] if flag == "--weights" and args.by in ("", "groups") else tasks
    names = {name: choice.of(name)[0] for name in known}
    choice.check(known)
    try:
      found[flag] = {name: float(value) for name, value in names.items() if value}
    except ValueError as error:
      raise lifelong.CacheError(f"Got {flag} {text!r}; expected numbers, such as {flag} "
                                f"{next(iter(tasks), 'TASK')}=0.25.") from error
    if text and not found[flag]:
      raise lifelong.CacheError(f"Got {flag} {text!r}, but the samples have no tasks.")
  return lifelong.Scale(args.by, found["--weights"], found["--chance"], groups)


def cluster_names(path: pathlib.Path) -> dict[str, str]:
  """id -> cluster of the rows of a csv that have one."""
  from suite import lifelong
  with open(path, encoding="utf-8-sig", newline="") as file:
    rows = csv.DictReader(file)
    if not {"id", "cluster"} <= set(rows.fieldnames or ()):
      raise lifelong.CacheError(f"{path} has the columns {rows.fieldnames}; expected id and "
                                "cluster.")
    found: dict[str, str] = {}
    for row in rows:
      if row["cluster"] and found.setdefault(row["id"], row["cluster"]) != row["cluster"]:
        raise lifelong.CacheError(f"{path} has two clusters of {row['id']!r}. Give one.")
    return found


def clusters(path: pathlib.Path | None, cache: Any) -> Any:
  """The cluster of each sample, int64 [N], of a csv of id and cluster; else that of the cache."""
  if path is None:
    return cache.clusters
  import numpy as np

  from suite import lifelong
  from suite.lifelong.cache import accuracy_cache
  given = cluster_names(path)
  found = np.zeros([cache.num_samples], np.int64)
  places = cache.sample_ids.find(list(given))
  codes = np.unique(list(given.values()), return_inverse=True)[1] + 1
  found[places[places >= 0]] = codes[places >= 0]
  if np.any(found == 0):
    missing = int(np.argmin(found))
    raise lifelong.CacheError(
        f"{path} has no cluster of {int(np.sum(found == 0)):,} of the {cache.num_samples:,} "
        f"samples, such as {cache.sample_ids.at([missing])[0]!r}. Give each one; a "
        "sample by itself is a cluster, too.")
  accuracy_cache.check_clusters(found, str(path))
  return found - 1


def scores_record(one: Any) -> dict[str, Any]:
  """A model of a ranking, or an estimate of one, as JSON."""
  def pair(ends: Sequence[float]) -> list[float] | None:
    return None if any(end != end for end in ends) else list(ends)

  return {"name": one.name, "accuracy": one.accuracy, "interval": pair(one.interval),
          "num_evaluated": one.num_evaluated, "score": one.score,
          "score_interval": pair(one.score_interval), "is_estimated": one.is_estimated,
          "observed": one.observed, "error": one.error, "tasks": {
              name: {"accuracy": task.accuracy, "interval": pair(task.interval),
                     "num_evaluated": task.num_evaluated, "num_samples": task.num_samples}
              for name, task in one.tasks.items()}}


def score_text(value: float, bounds: Sequence[float]) -> str:
  """A mean score in percent, or, of scores of another range than 0 to 1, as it is."""
  return f"{value:.2%}" if tuple(bounds) == (0.0, 1.0) else f"{value:.4g}"


def interval_text(interval: Sequence[float], bounds: Sequence[float]) -> str:
  """The ends of an interval as of `score_text`; "" if it is a point, or unknown."""
  low, high = interval
  return "" if low == high or low != low else (
      f"{score_text(low, bounds)} to {score_text(high, bounds)}")


def task_lines(one: Any, indent: str, bounds: Sequence[float]) -> list[str]:
  """A line for each task of a model."""
  return [f"{indent}{name}: {score_text(task.accuracy, bounds)}  "
          f"{interval_text(task.interval, bounds)}  "
          f"{task.num_evaluated:,} of {task.num_samples:,}" for name, task in one.tasks.items()]


def difference_line(first: str, second: str, value: float, interval: Sequence[float], p: float,
                    corrected: float | None = None, bounds: Sequence[float] = (0.0, 1.0)) -> str:
  """A line about the difference of two models, in points or in the unit of the scores."""
  more = "" if corrected is None else f", corrected {corrected:.2g}"
  if tuple(bounds) != (0.0, 1.0):
    return (f"  {first} - {second}: {value:+.4g}, 95% interval {interval[0]:+.4g} to "
            f"{interval[1]:+.4g}, p {p:.2g}{more}")
  return (f"  {first} - {second}: {100 * value:+.2f} points, 95% interval "
          f"{100 * interval[0]:+.2f} to {100 * interval[1]:+.2f}, p {p:.2g}{more}")


def show(args: argparse.Namespace, record: dict[str, Any], lines: list[str]) -> None:
  """Writes the record as JSON if --json is given, else the lines."""
  sys.stdout.write((json.dumps(record) if args.json else "\n".join(lines)) + "\n")

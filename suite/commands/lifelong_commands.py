# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: the accuracy cache, estimates from it, and small benchmarks of it.

What writes to a cache, or describes it, is here: answers that are added, samples
that are retired, families. What asks it is in `lifelong_estimation` and `lifelong_ranking`.
"""

from __future__ import annotations

import argparse
import csv
import json
import pathlib
import sys
from typing import Any

from suite.commands import lifelong_answers
from suite.commands import lifelong_estimation
from suite.commands import lifelong_ranking
from suite.commands import parsing
from suite.system import atomic_files


def add(lifelong: argparse.ArgumentParser) -> None:
  """Adds the actions of `suite lifelong`."""
  actions = parsing.group(lifelong, "actions", "ACTION")
  for name, do, add_flags, text in (
      ("add", _add, _add_any_flags,
       "add whatever files have that the cache has not: models, samples and missing answers"),
      ("add-models", _add_models, _add_whole_flags, "add models with their answers from files"),
      ("add-samples", _add_samples, _add_whole_flags,
       "add samples with the models' answers from files"),
      ("insert-samples", _insert_samples, _add_insert_flags,
       "add samples by the answers of a few models, and say how hard they are"),
      ("estimate", lifelong_estimation.estimate, lifelong_estimation.add_estimate_flags,
       "estimate a new model from a few of its answers"),
      ("session", lifelong_estimation.session, lifelong_estimation.add_session_flags,
       "ask a new model what its answers so far leave open, until an interval is narrow enough"),
      ("subset", lifelong_ranking.subset, lifelong_ranking.add_subset_flags,
       "choose a small benchmark with weights and error bars"),
      ("plot", lifelong_ranking.plot, lifelong_ranking.add_plot_flags,
       "draw the ranking and, of a subset, item curves"),
      ("rank", lifelong_ranking.rank, lifelong_ranking.add_rank_flags,
       "list the models by their scores"),
      ("compare", lifelong_ranking.compare, lifelong_ranking.add_compare_flags,
       "test which models differ, in pairs, with clusters of ranks"),
      ("retire", _retire, _add_retire_flags,
       "leave samples out of estimates, rankings and subsets, or take them back"),
      ("families", _families, _add_families_flags,
       "say which models are of one family, so that they do not count twice"),
      ("clusters", _clusters, _add_clusters_flags,
       "say which samples belong together, such as the questions on one passage"),
      ("export", _export, _add_export_flags,
       "write all answers as rows that pandas, DuckDB and others read"),
      ("convert", _convert, _add_convert_flags,
       "copy a cache of an earlier version to one of this version"),
      ("status", _status, None, "describe the cache"),
      ("verify", _verify, _add_verify_flags,
       "read every file of the cache: is it what was written?")):
    action = actions.add_parser(name, help=text)
    lifelong_answers.add_cache_flags(action, do)
    if add_flags is not None:
      add_flags(action)
  parsing.add_found(actions, "lifelong")


def _add_file_flags(action: argparse.ArgumentParser) -> None:
  action.add_argument("files", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="npy, npz, csv, tsv, parquet (such as a run's predictions/*.parquet); "
                      "logs of lm-evaluation-harness, HELM (per_instance_stats.json), inspect-ai "
                      "(.eval), openai/evals, py-irt")
  action.add_argument("--names", nargs="+", default=[], metavar="NAME",
                      help="names of the models, if a single file has none")
  lifelong_answers.add_format_flags(action)


def _add_whole_flags(action: argparse.ArgumentParser) -> None:
  _add_file_flags(action)
  action.add_argument("--values", action="store_true",
                      help="keep scores as they are, such as F1, BLEU or preferences, in place of "
                      "right and wrong (kept with the cache)")


def _add_any_flags(action: argparse.ArgumentParser) -> None:
  _add_whole_flags(action)
  lifelong_answers.add_changed_flag(action)


def _add(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import cache_growth
  from suite.lifelong.cache import task_groups
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  tables, report = lifelong_answers.read(args, args.files, cache, args.names)
  for table in tables:
    with task_groups.joining(cache.folder, table.groups):
      found = cache_growth.add(cache, table, threshold=args.threshold, changed=args.changed,
                               values=_keeps_values(args, cache))
    report.notes.append(
        f"{found.num_answers:,} new answers, {len(found.models):,} new models, "
        f"{found.num_samples:,} new samples" + (
            f"; {len(found.retired):,} documents have changed and are retired, such as "
            f"{found.retired[0]}" if found.retired else ""))
  return _status(args, report)


def _add_models(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import task_groups
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  tables, report = lifelong_answers.read(args, args.files, cache, args.names)
  for found in tables:
    ids: Any = found.ids
    if ids is None and not cache.num_samples:
      ids = range(found.answers.shape[1])
    with task_groups.joining(cache.folder, found.groups):
      answers, facts = _given(args, cache, found)
      cache.add_models(found.models, answers, ids, **facts)
  return _status(args, report)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  tables, report = lifelong_answers.read(args, args.files, cache, args.names)
  for found in tables:
    first = cache.num_samples
    ids: Any = found.ids or range(first, first + found.answers.shape[1])
    answers, facts = _given(args, cache, found)
    cache.add_samples(ids, answers, found.models, **facts)
  return _status(args, report)


def _given(args: argparse.Namespace, cache: Any, table: Any) -> tuple[Any, dict[str, Any]]:
  from suite.lifelong.cache import cache_growth
  return cache_growth.given(cache, table, args.threshold, _keeps_values(args, cache))


def _keeps_values(args: argparse.Namespace, cache: Any) -> bool:
  from suite import lifelong
  found = lifelong_answers.keeps_values(args, cache)
  if found and args.threshold is not None:
    raise lifelong.CacheError("Got --threshold for scores that are kept as values: right and wrong "
                              "is one, values the other. Leave one out.")
  return found


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
  action.add_argument("--out", type=parsing.file_named(".csv"), metavar="FILE.csv",
                      help="csv of id, solved (estimated number of models) and cut, hardest first")
  lifelong_answers.add_format_flags(action)


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
    lifelong_answers.show(args, {"file": str(args.ask), "models": names}, [
        f"{args.ask}: {len(names):,} models to evaluate on the new samples, a name a line. Then:",
        f"suite lifelong insert-samples --cache {args.cache} --answers FILE.csv"])
    return 0
  threshold = cache.agreed_threshold(args.threshold)
  tables, _ = lifelong_answers.read(args, args.answers, cache)
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
  lifelong_answers.show(args, {
      "samples": len(ids), "asked": len(table.models), "models": cache.num_models,
      "place_by": args.place_by, "solved": dict(zip(ids, found.counts.tolist()))}, [
      f"{len(ids):,} samples added with the answers of {len(table.models):,} of "
      f"{cache.num_models:,} models, which solve an estimated {low:,} to {high:,} of all models "
      f"(median {middle:,}), by the {args.place_by}"])
  return 0


def _add_retire_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong retire`."""
  action.description = (
      "Retired samples, such as leaked questions or wrong labels, keep their answers, and leave "
      "questions, estimates, rankings and subsets, unless --with-retired asks for them. Without "
      "samples: lists the retired ones.")
  action.add_argument("ids", nargs="*", metavar="ID", help="samples")
  action.add_argument("--file", type=pathlib.Path, metavar="FILE", help="ids, a line each")
  action.add_argument("--tasks", nargs="+", default=[], metavar="TASK",
                      help="all samples of tasks")
  action.add_argument("--restore", action="store_true", help="take the samples back")


def _retire(args: argparse.Namespace) -> int:
  """Runs `suite lifelong retire`."""
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import active_samples
  cache = accuracy_cache.AccuracyCache(args.cache)
  ids = [*args.ids, *active_samples.ids_of_tasks(cache, args.tasks)]
  if args.file:
    ids += args.file.read_text(encoding="utf-8-sig").split("\n")
  ids = [one.strip("\r") for one in ids if one.strip()]
  num = active_samples.retire(cache, ids, restore=args.restore) if ids else 0
  retired = sorted(active_samples.read(cache.folder).retired)
  lines = [f"{num:,} samples {'restored' if args.restore else 'retired'}; {len(retired):,} of "
           f"{cache.num_samples:,} are retired"]
  lifelong_answers.show(args, {"changed": num, "retired": retired}, [
      *lines, *([] if ids else retired)])
  return 0


def _add_families_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong families`."""
  action.description = (
      "Models of one family, such as checkpoints of one run, answer alike. What is missing of a "
      "model is then predicted without its family, and a family counts as one model: in "
      "predictions, in their errors, and in the error bars of subsets. Without options: lists the "
      "families.")
  action.add_argument("--csv", type=pathlib.Path, metavar="FILE",
                      help="csv with the columns model and family; it replaces an earlier one")
  action.add_argument("--pattern", metavar="REGEX",
                      help="of models that are not in a csv: a regular expression of the whole "
                      "name, whose first group is the family, such as '(.+)-[0-9]+'; '' for none")


def _families(args: argparse.Namespace) -> int:
  """Runs `suite lifelong families`."""
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import active_samples
  cache = accuracy_cache.AccuracyCache(args.cache)
  given = None
  if args.csv:
    with open(args.csv, encoding="utf-8-sig", newline="") as file:
      rows = csv.DictReader(file)
      if not {"model", "family"} <= set(rows.fieldnames or ()):
        raise accuracy_cache.CacheError(f"{args.csv} has the columns {rows.fieldnames}; expected "
                                        "model and family.")
      given = {row["model"]: row["family"] for row in rows if row["family"]}
  roster = (active_samples.set_families(cache, given, args.pattern)
            if given is not None or args.pattern is not None else active_samples.read(cache.folder))
  found: dict[str, list[str]] = {}
  for name in cache.models:
    found.setdefault(roster.family(name), []).append(name)
  shared = {name: models for name, models in found.items() if len(models) > 1}
  lifelong_answers.show(args, {"families": found, "pattern": roster.pattern}, [
      f"{cache.num_models:,} models of {len(found):,} families",
      *(f"  {name}: {', '.join(models)}" for name, models in shared.items())])
  return 0


def _status(args: argparse.Namespace, report: Any = None) -> int:
  import numpy as np

  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import active_samples
  from suite.lifelong.cache import sample_counts
  cache = accuracy_cache.AccuracyCache(args.cache)
  num_bytes = sum(path.stat().st_size for path in args.cache.iterdir())
  correct, evaluated = sample_counts.SampleCounts(cache).totals.sum(axis=0).tolist()
  total = cache.num_models * cache.num_samples
  names, codes = cache.sample_tasks()
  tasks = {name: {"metric": cache.tasks[name].metric, "filter": cache.tasks[name].filter,
                  "samples": int(np.sum(codes == index))} for index, name in enumerate(names)}
  roster = active_samples.read(cache.folder)
  versions = active_samples.versions(cache) if roster.retired else {}
  if args.json:
    sys.stdout.write(json.dumps({
        "models": cache.num_models, "samples": cache.num_samples, "bytes": num_bytes,
        "evaluated": evaluated, "correct": correct, "threshold": cache.threshold,
        "range": None if cache.value_range is None else list(cache.value_range),
        "tasks": tasks, "problem": cache.problem, "retired": len(roster.retired),
        "families": len(set(roster.codes(cache.models).tolist())), "versions": versions,
        **({"read": report.record()} if report else {})}) + "\n")
    return 0
  lines = report.lines() if report else []
  lines += [f"{args.cache}: {cache.num_models:,} models, {cache.num_samples:,} samples, "
           f"{num_bytes / 1e6:.1f} MB"]
  if total:
    lines.append(f"evaluated: {evaluated:,} of {total:,} answers ({evaluated / total:.1%})" + (
        "" if cache.value_range else f"; of these correct: {correct / max(1, evaluated):.1%}"))
  if cache.value_range is not None:
    lines.append(f"scores are kept as values, from {cache.value_range.low:g} to "
                 f"{cache.value_range.high:g}")
  lines += [f"task {name}: {one['samples']:,} samples, metric {one['metric'] or 'not known'}"
            + (f", filter {one['filter']}" if one["filter"] else "")
            for name, one in tasks.items() if not report]
  if roster.retired:
    lines.append(f"{len(roster.retired):,} samples are retired: they leave estimates, and keep "
                 "their answers")
  lines += [f"task {name}: {sum(one.values()):,} documents of later versions (up to "
            f"{max(one)})" for name, one in versions.items()]
  if cache.threshold is not None:
    lines.append(f"graded answers count as correct from {cache.threshold:g} on")
  sys.stdout.write("\n".join([*lines, ""]))
  return 0


def _add_clusters_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong clusters`."""
  action.description = (
      "Samples of one cluster are not independent. Clusters are kept with the cache, and "
      "comparisons use them. Without options: says how many there are.")
  action.add_argument("--csv", type=pathlib.Path, metavar="FILE",
                      help="csv with the columns id and cluster")
  action.add_argument("--replace", action="store_true",
                      help="the file's clusters replace other ones that the cache has")


def _clusters(args: argparse.Namespace) -> int:
  """Runs `suite lifelong clusters`."""
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  if args.csv:
    given = lifelong_answers.cluster_names(args.csv)
    cache.set_clusters(list(given), list(given.values()), replace=args.replace)
  found = cache.clusters
  num = 0 if found is None else len(set(found.tolist()))
  lifelong_answers.show(args, {"clusters": num, "samples": cache.num_samples}, [
      f"{cache.num_samples:,} samples in {num:,} clusters" if num else "no clusters are known"])
  return 0


def _add_export_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong export`."""
  action.description = (
      "Writes a row for each answer that there is: model, task, id, value, which is 1 or 0, or a "
      "score that is kept as it is, and number of runs or generations that the value is of.")
  action.add_argument("--parquet", type=parsing.file_named(".parquet"), required=True,
                      metavar="FILE.parquet", help="the file to write")


def _export(args: argparse.Namespace) -> int:
  """Runs `suite lifelong export`."""
  import numpy as np
  import pyarrow as pa
  from pyarrow import parquet

  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  names, codes = cache.sample_tasks()
  every, ids, num = np.arange(cache.num_samples), pa.array(cache.ids), 0
  tasks = pa.array(names, pa.string()).take(pa.array(codes, mask=codes < 0)) if names else (
      pa.nulls(len(every), pa.string()))
  schema = pa.schema([("model", pa.string()), ("task", pa.string()), ("id", pa.string()),
                      ("value", pa.float32()), ("number", pa.uint16())])
  with atomic_files.replacing(args.parquet) as path, parquet.ParquetWriter(path, schema) as writer:
    for index, name in enumerate(cache.models):
      values = cache.values(every, [index])[0]
      known = pa.array(np.flatnonzero(~np.isnan(values)))
      writer.write_table(pa.table([pa.repeat(name, len(known)), tasks.take(known),
                                   ids.take(known).cast(pa.string()),
                                   pa.array(values).take(known),
                                   pa.array(cache.numbers(every, [index])[0]).take(known)],
                                  schema=schema))
      num += len(known)
  lifelong_answers.show(args, {"file": str(args.parquet), "rows": num}, [
      f"{args.parquet}: {num:,} rows of model, task, id, value and number"])
  return 0


def _add_convert_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong convert`."""
  action.description = "The earlier cache stays as it is. The copy is compared answer by answer."
  action.add_argument("--out", type=pathlib.Path, required=True, metavar="NEW",
                      help="folder of the new cache, which must not exist")


def _convert(args: argparse.Namespace) -> int:
  """Runs `suite lifelong convert`."""
  from suite.lifelong.cache import earlier_cache
  cache = earlier_cache.convert(args.cache, args.out)
  lifelong_answers.show(args, {"cache": str(args.out), "models": cache.num_models,
                               "samples": cache.num_samples}, [
      f"{args.out}: {cache.num_models:,} models and {cache.num_samples:,} samples, compared answer "
      f"by answer with {args.cache}, which can be removed"])
  return 0


def _add_verify_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong verify`."""
  action.add_argument("--cut", action="store_true",
                      help="give up, for good, what was added since the damaged file was written")


def _verify(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import cache_check
  if args.cut:
    accuracy_cache.AccuracyCache(args.cache).cut()
  problems = cache_check.problems(args.cache)
  if args.json:
    sys.stdout.write(json.dumps({"problems": problems}) + "\n")
    return 1 if problems else 0
  for problem in problems:
    sys.stdout.write(f"{problem}\n")
  if not problems:
    sys.stdout.write(f"{args.cache}: every file is as it was written\n")
  return 1 if problems else 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...`: the accuracy cache, estimates from it, and small benchmarks of it.

What writes to a cache, or describes it, is here: answers that are added, a folder that is watched,
samples that are retired, families. What asks it is in `lifelong_estimation` and `lifelong_ranking`.
"""

from __future__ import annotations

import argparse
import csv
import datetime
import importlib.util
import json
import pathlib
import sys
import time
from typing import Any

from suite.commands import lifelong_answers
from suite.commands import lifelong_estimation
from suite.commands import lifelong_ranking
from suite.commands import parsing
from suite.configs import run_settings
from suite.system import atomic_files

_EVERY = 10.0
_SHOWN = 8


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
      ("board", lifelong_ranking.board, lifelong_ranking.add_board_flags,
       "read the new logs of a folder, and list models with errors, possible ranks, alarms and "
       "the answers that are still needed"),
      ("watch", _watch, _add_watch_flags,
       "add new logs of a folder as they come, with a page and alarms where predictions fail"),
      ("retire", _retire, _add_retire_flags,
       "leave samples out of estimates, rankings and subsets, or take them back"),
      ("families", _families, _add_families_flags,
       "say which models are of one family, so that they do not count twice"),
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
  lifelong_answers.add_format_flags(action)


def _add_whole_flags(action: argparse.ArgumentParser) -> None:
  _add_file_flags(action)
  action.add_argument("--values", action="store_true",
                      help="keep scores as they are, such as F1, BLEU or preferences, in place of "
                      "right and wrong (kept with the cache)")


def _add_any_flags(action: argparse.ArgumentParser) -> None:
  _add_file_flags(action)
  lifelong_answers.add_changed_flag(action)


def _add(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  from suite.lifelong.cache import cache_growth
  from suite.lifelong.cache import task_groups
  cache = accuracy_cache.AccuracyCache(args.cache, create=True)
  tables, report = lifelong_answers.read(args, args.files, cache, args.names)
  for table in tables:
    with task_groups.joining(cache.folder, table.groups):
      found = cache_growth.add(cache, table, threshold=args.threshold, changed=args.changed)
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
      if _keeps_values(args, cache):
        cache.add_models(found.models, found.values(), ids, tasks=found.tasks, hashes=found.hashes,
                         values=True)
        continue
      threshold = cache.agreed_threshold(args.threshold)
      cache.add_models(found.models, found.bits(threshold), ids,
                       threshold=threshold if found.is_graded else None, tasks=found.tasks,
                       hashes=found.hashes)
  return _status(args, report)


def _add_samples(args: argparse.Namespace) -> int:
  from suite.lifelong.cache import accuracy_cache
  cache = accuracy_cache.AccuracyCache(args.cache)
  tables, report = lifelong_answers.read(args, args.files, cache, args.names)
  for found in tables:
    first = cache.num_samples
    ids: Any = found.ids or range(first, first + found.answers.shape[1])
    if _keeps_values(args, cache):
      cache.add_samples(ids, found.values(), found.models, tasks=found.tasks, hashes=found.hashes,
                        values=True)
      continue
    threshold = cache.agreed_threshold(args.threshold)
    cache.add_samples(ids, found.bits(threshold), found.models,
                      threshold=threshold if found.is_graded else None, tasks=found.tasks,
                      hashes=found.hashes)
  return _status(args, report)


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


def _add_watch_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong watch`."""
  action.description = (
      "Reads the logs in a folder, at any depth, and adds what the cache has not; then new files, "
      "as they come. Answers that came are compared with predictions that were made without them, "
      "and an alarm is raised where predictions fail. A file that cannot be read is set aside, and "
      "the others are added. The folder is never written to. After a kill the same command "
      "resumes.")
  action.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="where logs are written")
  action.add_argument("--out", type=parsing.file_named(".html", ".htm"), metavar="FILE.html",
                      help="write a page: ranking, tasks, what was saved, alarms")
  times = action.add_mutually_exclusive_group()
  times.add_argument("--once", action="store_true", help="look once, as from cron")
  times.add_argument("--every", type=float, default=_EVERY, metavar="MINUTES",
                     help="look again and again (10)")
  action.add_argument("--settle", type=float, default=60.0, metavar="SECONDS",
                      help="a file that cannot be read waits until it has not changed for so long: "
                      "it may be half-written (60)")
  action.add_argument("--costs", type=pathlib.Path, metavar="FILE",
                      help="csv of model,flops,gpu_seconds of one answer (* stands for all "
                      "others), to say what was saved")
  action.add_argument("--false-alarms", type=float, default=0.01, metavar="P",
                      help="share of the updates with an alarm although nothing changed (0.01)")
  lifelong_answers.add_changed_flag(action)
  lifelong_answers.add_scale_flags(action)
  lifelong_answers.add_format_flags(action)


def _watch(args: argparse.Namespace) -> int:
  """Runs `suite lifelong watch`."""
  from suite.lifelong import answer_tables
  from suite.lifelong import watching
  from suite.lifelong.cache import accuracy_cache
  if not args.once and not args.every > 0 or args.settle < 0 or not 0 < args.false_alarms < 1:
    raise accuracy_cache.CacheError(
        f"Got --every {args.every:g}, --settle {args.settle:g} and --false-alarms "
        f"{args.false_alarms:g}; expected minutes above 0, seconds of 0 or more, and a share "
        "between 0 and 1.")
  missing = [name for name in ("jinja2", "plotly", "matplotlib")
             if args.out and importlib.util.find_spec(name) is None]
  if missing:
    raise accuracy_cache.CacheError(f"The page needs {' and '.join(missing)}: pip install "
                                    f"{' '.join(missing)}, or leave out --out.")
  costs = answer_tables.load_costs(str(args.costs)) if args.costs else {}
  settings = watching.Settings(
      lifelong_answers.options(args, {}), args.threshold, args.changed, args.settle,
      args.false_alarms)
  while True:
    found = watching.update(args.cache, args.folder, settings)
    _report_update(args, found, costs)
    if args.once:
      return 0
    sys.stdout.flush()
    try:
      time.sleep(60.0 * args.every)
    except KeyboardInterrupt:
      return 0


def _report_update(args: argparse.Namespace, found: Any, costs: Any) -> None:
  """Writes the page, and what an update found."""
  from suite.lifelong import answer_tables
  from suite.lifelong import drift
  from suite.lifelong import standings
  from suite.lifelong import watching
  from suite.lifelong.cache import accuracy_cache
  by_status: dict[str, list[Any]] = {one: [] for one in (
      watching.ADDED, watching.SKIPPED, watching.REFUSED, watching.WAITING)}
  for one in found.files:
    by_status[one.status].append(one)
  reasons = {status: [{"path": one.path, "reason": one.reason} for one in by_status[status]]
             for status in (watching.REFUSED, watching.WAITING)}
  alarms = [watching.test_record(one) for one in found.tests if one.is_alarm]
  record: dict[str, Any] = {
      "time": datetime.datetime.fromtimestamp(
          found.time, datetime.timezone.utc).strftime("%Y-%m-%d %H:%M UTC"),
      "added": [one.path for one in by_status[watching.ADDED]],
      "skipped": len(by_status[watching.SKIPPED]), **reasons, "new_models": found.models,
      "new_samples": found.num_samples, "new_answers": found.num_answers,
      "retired": found.retired, "tests": len(found.tests), "alarms": alarms, "models": 0,
      "samples": 0, "saved": None, "page": None}
  if accuracy_cache.is_cache(args.cache):
    cache = lifelong_answers.opened(args)
    scores = standings.Standings(cache, lifelong_answers.scale(args, cache))
    ranked = scores.ranked()
    left = {one.name: cache.num_samples - one.num_evaluated for one in ranked}
    saved: list[dict[str, Any]] = [
        answer_tables.cost_of(costs, name).saved(num) if num else
        answer_tables.AnswerCost(0.0, 0.0).saved(0) for name, num in left.items()]
    record.update(models=cache.num_models, samples=cache.num_samples, saved={
        name: None if any(one[name] is None for one in saved) else sum(one[name] for one in saved)
        for name in ("saved_answers", "saved_flops", "saved_gpu_hours")})
    is_new = bool(by_status[watching.ADDED] or reasons[watching.REFUSED])
    if args.out and (is_new or not args.out.exists()):
      from suite.reporting import watch_page
      from suite.reporting.formats import renderers
      updates = watching.history(args.cache)
      order = (watching.REFUSED, watching.WAITING, watching.ADDED, watching.SKIPPED)
      files = {**watching.files(updates), **{one.path: one for one in by_status[watching.WAITING]}}
      section = watch_page.section(
          cache, args.folder, scores, ranked, saved, updates,
          sorted(files.values(), key=lambda one: (order.index(one.status), one.path)),
          args.false_alarms)
      atomic_files.write(args.out, renderers.html_page([section], args.out).encode())
    record["page"] = str(args.out) if args.out else None
  lines = [f"{record['time']}: {len(record['added']):,} files added, {found.num_answers:,} new "
           f"answers, {len(found.models):,} new models, {found.num_samples:,} new samples"]
  if found.retired:
    lines.append(f"  {len(found.retired):,} documents have changed and are retired, such as "
                 f"{found.retired[0]}")
  for status, what in ((watching.REFUSED, "set aside"), (watching.WAITING, "waiting")):
    lines += [f"  {what}: {one['path']}: {one['reason']}" for one in reasons[status][:_SHOWN]]
    if len(reasons[status]) > _SHOWN:
      lines.append(f"  {what}: {len(reasons[status]) - _SHOWN:,} more (--json has all)")
  lines += [f"  ALARM: {drift.text(one)}" for one in found.tests if one.is_alarm]
  if record["page"]:
    lines.append(f"  page: {record['page']}")
  lifelong_answers.show(args, record, lines)


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

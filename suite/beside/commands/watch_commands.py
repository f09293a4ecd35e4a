# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong watch`: an accuracy cache follows a folder of logs."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import datetime
import functools
import importlib.util
import pathlib
import sys
import time
from typing import Any

from suite.commands import lifelong_answers
from suite.commands import lifelong_ranking
from suite.commands import parsing
from suite.configs import entry_points
from suite.system import atomic_files

_EVERY = 10.0
_SHOWN = 8


def _add_folder_flags(action: argparse.ArgumentParser, do: Callable[[argparse.Namespace], int],
                      out: str) -> None:
  """Adds what `watch` and `board` have: the folder, the page, how logs are read and scored."""
  lifelong_answers.add_cache_flags(action, do, "board")
  action.add_argument("folder", type=pathlib.Path, metavar="FOLDER", help="where logs are written")
  action.add_argument("--out", type=parsing.file_named(".html", ".htm"), metavar="FILE.html",
                      help=out)
  lifelong_answers.add_changed_flag(action)
  lifelong_answers.add_scale_flags(action)
  lifelong_answers.add_format_flags(action)


def _add(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong watch`."""
  _add_folder_flags(action, _watch, "write a page: ranking, tasks, what was saved, alarms")
  action.description = (
      "Reads the logs in a folder, at any depth, and adds what the cache has not; then new files, "
      "as they come. Answers that came are compared with predictions that were made without them, "
      "and an alarm is raised where predictions fail. A file that cannot be read is set aside, and "
      "the others are added. The folder is never written to. After a kill the same command "
      "resumes.")
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


def _watch(args: argparse.Namespace) -> int:
  """Runs `suite lifelong watch`."""
  from suite.lifelong import watching
  from suite.lifelong.cache import accuracy_cache
  from suite.state import answer_tables
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
  from suite.lifelong import drift
  from suite.lifelong import standings
  from suite.lifelong import watching
  from suite.lifelong.cache import accuracy_cache
  from suite.state import answer_tables
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
      from suite.beside.watching import watch_page
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


def _add_board(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong board`."""
  _add_folder_flags(action, _board, "write a page, too")
  action.description = (
      "One command for the week: reads what is new in a folder of logs into the cache, as watch "
      "--once does, and lists the models with standard errors or intervals, the ranks that paired "
      "tests leave open, alarms, and the answers that a partly evaluated model still needs.")
  action.add_argument("--target-width", type=float, default=0.04, metavar="W",
                      help="width of an interval that is narrow enough, as a share (0.04)")
  lifelong_answers.add_clusters_flag(action)


def _board(args: argparse.Namespace) -> int:
  """Runs `suite lifelong board`."""
  from suite import lifelong
  from suite.lifelong import drift
  from suite.lifelong import watching
  from suite.lifelong import week_board
  from suite.lifelong.cache import accuracy_cache
  if not 0 < args.target_width < 1:
    raise lifelong.CacheError(f"Got --target-width {args.target_width:g}; expected a share between "
                              "0 and 1, such as 0.04.")
  done = watching.update(args.cache, args.folder, watching.Settings(
      lifelong_answers.options(args, {}), args.threshold, args.changed, settle=0.0))
  refused = [one for one in done.files if one.status == watching.REFUSED]
  if not accuracy_cache.is_cache(args.cache):
    raise lifelong.CacheError(f"{args.folder} has no logs that can be read" + (
        f": {refused[0].path}: {refused[0].reason}" if refused else "."))
  cache, updates = lifelong_answers.opened(args), watching.history(args.cache)
  scores, rows = week_board.rows(cache, lifelong_answers.scale(args, cache), updates=updates,
                                 clusters=lifelong_answers.clusters(args.clusters, cache),
                                 target_width=args.target_width)
  if args.out:
    from suite.beside.watching import watch_page
    from suite.reporting.formats import renderers
    section = watch_page.board_section(cache, args.folder, scores, rows, updates)
    atomic_files.write(args.out, renderers.html_page([section], args.out).encode())
  record = {
      "by": scores.by, "groups": scores.num_units, "new_models": done.models,
      "new_answers": done.num_answers, "page": str(args.out) if args.out else None,
      "refused": [{"path": one.path, "reason": one.reason} for one in refused], "models": [
          {"rank": place, **lifelong_answers.scores_record(one.model), "ranks": one.ranks,
           "needed": one.needed, "alarms": [watching.test_record(test) for test in one.alarms]}
          for place, one in enumerate(rows, start=1)]}
  width = max([len("model"), *(len(one.model.name) for one in rows)])
  lines = [f"{done.num_answers:,} new answers, {len(done.models):,} new models. Scores: "
           f"{scores.headline}.",
           f"{'rank':>4}  {'possible':8}  {'model':{width}}  {'score':>8}  +- standard error, or "
           "95% interval"]
  for place, one in enumerate(rows, start=1):
    ranks = "" if one.ranks is None else (
        f"{one.ranks[0]}" if one.ranks[0] == one.ranks[1] else f"{one.ranks[0]} to {one.ranks[1]}")
    text = functools.partial(lifelong_answers.score_text, bounds=scores.bounds)
    error = (lifelong_answers.interval_text(one.model.score_interval, scores.bounds)
             if one.model.is_estimated else
             "" if one.model.error is None else f"+- {text(one.model.error)}")
    lines.append(f"{place:4}  {ranks:8}  {one.model.name:{width}}  {text(one.model.score):>8}  "
                 f"{error}" + (f"  needs {one.needed:,} more answers" if one.needed else "")
                 + lifelong_ranking.alarm_text(one.alarms))
  lines += [f"  ALARM: {drift.text(one)}" for one in done.tests if one.is_alarm]
  lines += [f"  set aside: {one.path}: {one.reason}" for one in refused]
  lines += [f"  page: {args.out}"] if args.out else []
  lifelong_answers.show(args, record, lines)
  return 0


COMMAND = entry_points.Command(
    "add new logs of a folder as they come, with a page and alarms where predictions fail", _add)
BOARD = entry_points.Command(
    "read the new logs of a folder, and list models with errors, possible ranks, alarms and the "
    "answers that are still needed", _add_board)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The page of `suite lifelong watch`, as panels: alarms, ranking, tasks, what was saved, files."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import datetime
import pathlib
from typing import Any

from suite.lifelong import drift
from suite.lifelong import standings
from suite.lifelong import watching
from suite.lifelong import week_board
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.reporting import panels

_DRAWN = 60  # Number of models in the figure of the ranking.
_MOST = 2000  # Number of rows of a table.
_TEST_COLUMNS = (
    panels.Column("what"), panels.Column("model"), panels.Column("task"),
    panels.Column("answers", panels.COUNT), panels.Column("observed", panels.MIXED),
    panels.Column("expected", panels.MIXED), panels.Column("corrected p", panels.MIXED))


def section(cache: accuracy_cache.AccuracyCache, folder: pathlib.Path,
            scores: standings.Standings, ranked: Sequence[standings.RankedModel],
            saved: Sequence[Mapping[str, Any]], updates: Sequence[watching.Update],
            files: Sequence[watching.WatchedFile], level: float) -> panels.Section:
  """Makes the page.

  Args:
    cache: the cache, without retired samples unless they are asked for.
    folder: the folder of logs.
    scores: what a score is; `ranked`: all models, the best first.
    saved: of each ranked model, what the answers save that were not asked.
    updates: all of them, the last one last.
    files: all of them, those that need attention first.
    level: share of the updates with a false alarm.
  """
  last = updates[-1].time if updates else 0.0
  about = [("run", cache.folder.name), ("date", _time(last)), ("logs", str(folder)),
           ("models", f"{cache.num_models:,}"), ("samples", f"{cache.num_samples:,}"),
           ("retired samples", f"{len(active_samples.read(cache.folder).retired):,}"),
           ("files", f"{sum(one.status == watching.ADDED for one in files):,} added, "
                     f"{sum(one.status == watching.REFUSED for one in files):,} set aside, "
                     f"{sum(one.status == watching.WAITING for one in files):,} waiting")]
  found = [_alarms(updates, level), _ranking(scores, ranked)]
  if any(one.tasks for one in ranked):
    found.append(_tasks(ranked))
  found += [_saved(ranked, saved), _versions(cache, scores), _tests(updates), panels.Panel(
      "files", "Files", [panels.Column("file"), panels.Column("state"), panels.Column("reason")],
      [[one.path, {watching.REFUSED: "set aside"}.get(one.status, one.status), one.reason]
       for one in files[:_MOST]],
      notes=[f"The first {_MOST:,} of {len(files):,}."] if len(files) > _MOST else [])]
  return panels.Section("Lifelong evaluation", found, None, about)


def board_section(cache: accuracy_cache.AccuracyCache, folder: pathlib.Path,
                  scores: standings.Standings, rows: Sequence[week_board.Row],
                  updates: Sequence[watching.Update]) -> panels.Section:
  """Makes the page of `suite lifelong board`; the arguments are those of `section`."""
  about = [("run", cache.folder.name), ("date", _time(updates[-1].time if updates else 0.0)),
           ("logs", str(folder)), ("models", f"{cache.num_models:,}"),
           ("samples", f"{cache.num_samples:,}")]
  ranked = [one.model for one in rows]
  table = panels.Panel(
      "board", "Board", [
          panels.Column("model"), panels.Column("rank", panels.COUNT),
          panels.Column("possible ranks", panels.MIXED), panels.Column("score", panels.PERCENT),
          panels.Column("std error", panels.PERCENT), panels.Column("from", panels.PERCENT),
          panels.Column("to", panels.PERCENT), panels.Column("answers needed", panels.COUNT),
          panels.Column("alarms")],
      [[one.model.name, place, "" if one.ranks is None else "{} to {}".format(*one.ranks),
        one.model.score, one.model.error, *one.model.score_interval, one.needed,
        ", ".join(dict.fromkeys(f"{test.kind} {test.task}" for test in one.alarms))]
       for place, one in enumerate(rows[:_MOST], start=1)],
      notes=["Ranks are those that paired tests leave open (Holm, 5%). A model with all answers "
             "has a standard error, a partly evaluated one an interval and the answers that it "
             "needs."])
  found = [table, _alarms(updates, drift.LEVEL), _ranking(scores, ranked)]
  if any(one.tasks for one in ranked):
    found.append(_tasks(ranked))
  return panels.Section("Lifelong evaluation", found, None, about)


def _alarms(updates: Sequence[watching.Update], level: float) -> panels.Panel:
  rows = [[_time(update.time), *_test_row(one)] for update in reversed(updates)
          for one in update.tests if one.is_alarm]
  num = sum(len(one.tests) for one in updates)
  return panels.Panel(
      "alarms", "Drift alarms", [panels.Column("update"), *_TEST_COLUMNS], rows[:_MOST], notes=[
          f"Alarms: {len(rows):,}; tests: {num:,}; updates: {len(updates):,}. While nothing "
          f"changes, at most {level:.1%} of the updates have an alarm.",
          "level: the accuracy on a task is not what the model's other answers predict. order: the "
          "model solves other questions of the task than all models do. task: several new models "
          "are off on a task in the same direction."])


def _test_row(one: drift.Test) -> list[Any]:
  return [one.kind, one.model, one.task, one.num_answers, *drift.values_text(one),
          f"{one.corrected:.2g}"]


def _ranking(scores: standings.Standings, ranked: Sequence[standings.RankedModel]
             ) -> panels.Panel:
  rows = [[one.name, place, one.score, *one.score_interval, one.accuracy, one.num_evaluated]
          for place, one in enumerate(ranked, start=1)]
  drawn = ranked[:_DRAWN]
  chart = panels.Plot("model", "score", [panels.PlotSeries(
      "score with 95% interval", [one.name for one in drawn], [100 * one.score for one in drawn],
      deviation=[50 * (one.score_interval[1] - one.score_interval[0]) for one in drawn],
      shape=panels.POINTS)], y_unit="%")
  by = f"mean of {scores.by}"
  notes = [f"Score: {by}. Missing answers are predicted from those of other models; the interval "
           "is 95% and a point where every question was asked."]
  if any(one.is_estimated for one in ranked) and scores.num_references < 3:
    notes.append("Fewer than three models were evaluated on all samples: intervals of the others "
                 "have all that their missing answers may be.")
  return panels.Panel(
      "ranking", "Ranking", [
          panels.Column("model"), panels.Column("rank", panels.COUNT),
          panels.Column("score", panels.PERCENT), panels.Column("from", panels.PERCENT),
          panels.Column("to", panels.PERCENT), panels.Column("of samples", panels.PERCENT),
          panels.Column("answers", panels.COUNT)], rows[:_MOST], notes=notes,
      chart=chart if len(drawn) > 1 else None)


def _tasks(ranked: Sequence[standings.RankedModel]) -> panels.Panel:
  rows = [[one.name, name, task.accuracy, *task.interval, task.num_evaluated, task.num_samples]
          for one in ranked for name, task in one.tasks.items()]
  notes = [f"The first {_MOST:,} of {len(rows):,} rows."] if len(rows) > _MOST else []
  return panels.Panel(
      "tasks", "Tasks", [
          panels.Column("model"), panels.Column("task"), panels.Column("accuracy", panels.PERCENT),
          panels.Column("from", panels.PERCENT), panels.Column("to", panels.PERCENT),
          panels.Column("answers", panels.COUNT), panels.Column("samples", panels.COUNT)],
      rows[:_MOST], notes=notes)


def _saved(ranked: Sequence[standings.RankedModel], saved: Sequence[Mapping[str, Any]]
           ) -> panels.Panel:
  def total(name: str) -> float | None:
    values = [one[name] for one in saved]
    return None if any(value is None for value in values) else sum(values)

  names = ("saved_answers", "saved_flops", "saved_gpu_hours")
  rows = [["all models", *map(total, names)],
          *([one.name, *(values[name] for name in names)] for one, values in zip(ranked, saved)
            if values["saved_answers"])]
  return panels.Panel(
      "saved", "What was not asked", [
          panels.Column("model"), panels.Column("answers not asked", panels.COUNT),
          panels.Column("FLOPs saved", panels.FLOPS),
          panels.Column("GPU hours saved", panels.NUMBER)], rows[:_MOST],
      notes=[] if total("saved_flops") is not None else [
          "What an answer costs is known of models in --costs FILE, a csv of model,flops,"
          "gpu_seconds."])


def _versions(cache: accuracy_cache.AccuracyCache, scores: standings.Standings) -> panels.Panel:
  tasks = cache.tasks
  later = active_samples.versions(cache)
  rows = [[name, tasks[name].metric or "not known", tasks[name].filter, size,
           sum(later.get(name, {}).values()), max(later.get(name, {1: 1}))]
          for name, size in scores.sizes.items() if name in tasks]
  return panels.Panel(
      "versions", "Tasks of the cache", [
          panels.Column("task"), panels.Column("metric"), panels.Column("filter"),
          panels.Column("samples", panels.COUNT), panels.Column("changed", panels.COUNT),
          panels.Column("version", panels.COUNT)], rows[:_MOST], notes=[
              "Documents that changed are counted in their last version; earlier ones are "
              "retired."] if later else [])


def _tests(updates: Sequence[watching.Update]) -> panels.Panel:
  tests = next((one.tests for one in reversed(updates) if one.tests), [])
  rows = [_test_row(one) for one in sorted(tests, key=lambda one: one.p)]
  return panels.Panel(
      "tests", "Tests of the last answers", _TEST_COLUMNS, rows[:_MOST], notes=[
          "Predictions are from the answers that a model had before, or to other tasks. They are "
          "compared where eight models, of as many families, have answered the same questions."])


def _time(seconds: float) -> str:
  return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime(
      "%Y-%m-%d %H:%M UTC")

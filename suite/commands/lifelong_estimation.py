# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong estimate` and `session`: a new model by a few of its answers."""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import dataclasses
import itertools
import json
import math
import pathlib
import sys
from typing import Any

from suite.commands import lifelong_answers

_BLOCK = 1 << 16


def add_estimate_flags(action: argparse.ArgumentParser) -> None:
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
  _add_instances_flag(action)
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
                      help="the answered samples are a random choice of all samples, or of their "
                      "clusters")
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
  lifelong_answers.add_clusters_flag(action)
  lifelong_answers.add_scale_flags(action)
  lifelong_answers.add_format_flags(action)


def estimate(args: argparse.Namespace) -> int:
  """Runs `suite lifelong estimate`."""
  from suite import lifelong
  from suite.lifelong import standings
  from suite.metrics import paired_tests
  if not (args.ask or args.answers):
    raise lifelong.CacheError("Give --ask FILE, to write the samples to ask, or --answers FILE.")
  models = lifelong_answers.read_models(args) if args.answers else {}
  if args.keep:
    if len(args.keep) != len(models):
      raise lifelong.CacheError(f"{len(args.keep)} names for {len(models)} models in the files of "
                                "answers; give as many.")
    models = dict(zip(args.keep, models.values()))
  cache = lifelong_answers.opened(args)
  groups = _read_groups(args.groups, cache) if args.groups else []
  factors = {"num_factors": args.factors} if args.factors else {}
  scale = lifelong_answers.scale(args, cache)
  reference = lifelong.Reference(
      cache, groups=groups, seed=args.seed,
      clusters=lifelong_answers.clusters(args.clusters, cache), **factors)
  if args.ask:
    return _ask(args, reference, models)
  threshold = reference.cache.agreed_threshold(args.threshold)

  def estimated(answers: Mapping[str, float]) -> Any:
    return reference.estimate_from(answers, budget=args.budget, is_random=args.random)

  found = {name: estimated(answers) for name, answers in models.items()}
  keeps_values = reference.cache.value_range is not None
  graded = [] if keeps_values else [
      name for name, answers in models.items() if _is_graded(answers)]
  cut = {} if threshold is None else {
      name: estimated({one: float(score >= threshold) for one, score in models[name].items()})
      for name in graded}
  # Models are compared by their scores, or by their answers as bits if only some are graded.
  compared = [cut.get(name, one) if 0 < len(graded) < len(found) else one
              for name, one in found.items()]
  is_comparable = len(graded) in (0, len(found)) or bool(cut)
  scores = standings.TaskEstimates(reference.cache, scale)
  ranked = {name: scores.score(name, one) for name, one in found.items()}
  if any(one.sample is None for one in found.values()) and not keeps_values:
    # No random sample: as the model would be ranked.
    rows = standings.Standings(cache, scale)
    for name, one in found.items():
      if one.sample is None:
        ranked[name] = rows.of_answers(name, one.observed, one.observed_answers)
        found[name] = dataclasses.replace(one, accuracy=ranked[name].accuracy,
                                          interval=ranked[name].interval)
  gaps = {}
  if len(compared) > 1 and is_comparable and all(one.sample for one in compared):
    ones = dict(zip(found, compared))
    gaps = {pair: lifelong.compare(ones[pair[0]], ones[pair[1]], reference.num_samples,
                                   reference.clusters)
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
      extra = lifelong_answers.scores_record(ranked[row["model"]])
      row.update({key: extra[key] for key in ("score", "score_interval", "tasks")})
    record.update({"by": scores.by, "weights": scores.weights})
    sys.stdout.write(json.dumps(record) + "\n")
  else:
    lines = []
    for name, one in found.items():
      lines += _summary(args, name, one, len(models[name]),
                        "mean score" if name in graded or keeps_values else "accuracy")
      if ranked[name].tasks or scores.by != "samples":
        what = "score" if scores.by == "samples" else f"mean of {scores.by}"
        lines.append(f"  {what} {lifelong_answers.score_text(ranked[name].score, one.bounds)}" + (
            f", 95% interval {ends}" if (ends := lifelong_answers.interval_text(
                ranked[name].score_interval, one.bounds)) else ""))
        lines += lifelong_answers.task_lines(ranked[name], "  ", one.bounds)
      if name in cut:
        lines.append(f"  from {threshold:g} on correct, as in the cache: accuracy "
                     f"{cut[name].accuracy:.2%}" + _interval(cut[name]))
    if gaps:
      lines.append("differences, about samples like these"
                   + (" (of the share of correct answers):" if 0 < len(graded) < len(found)
                   else ":"))
    lines += [lifelong_answers.difference_line(
        *pair, gap.value, (gap.low, gap.high), p, fixed[pair] if len(gaps) > 1 else None,
        reference.bounds)
              for pair, (gap, p) in gaps.items()]
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


def _summary(args: argparse.Namespace, name: str, found: Any, given: int, what: str) -> list[str]:
  used = len(found.observed)
  ignored = f"; {given - used:,} ids are not in the cache" if given > used else ""
  predictions = (f"  predictions of single samples {'' if found.supported else 'NOT '}supported: "
                 f"{found.reason}")
  text = lifelong_answers.score_text(found.accuracy, found.bounds)
  if found.sample is None:
    return [f"{name}: {what} {text} as predicted{_interval(found)}, from {used:,} answers{ignored}",
            "  by other models, as suite lifelong rank: these are no answers to the questions "
            "(--ask FILE), and --random does not say that they are a random choice", predictions]
  low, high = found.interval
  lines = [f"{name}: {what} {text}{_interval(found)}, from {used:,} answers{ignored}"]
  if len(found.sample.samples) < used:
    lines.append(f"  the interval is from {len(found.sample.samples):,} of them, a random sample; "
                 "the others serve the predictions")
  if found.sample.unknown > 0:
    lines.append(f"  it allows for any answers to {found.sample.unknown:.2%} of the samples: "
                 "questions without an answer, or samples that were added since. Ask them: "
                 "--ask FILE with --answers")
  if args.target_width is not None and high - low > args.target_width:
    width = lifelong_answers.score_text(args.target_width, found.bounds)
    lines.append(f"  wider than {width}; --ask FILE with --answers writes what is still to be "
                 "asked")
  return [*lines, predictions]


def _interval(found: Any) -> str:
  if found.interval is None:
    return ""
  low, high = (lifelong_answers.score_text(end, found.bounds) for end in found.interval)
  return f", 95% interval {low} to {high}"


def _is_graded(answers: Mapping[str, float]) -> bool:
  return any(0 < score < 1 for score in answers.values())


def _read_groups(path: pathlib.Path, cache: Any) -> list[Any]:
  """int [N] of each column but `id`: equal values get equal numbers."""
  import numpy as np

  from suite.lifelong.cache import accuracy_cache
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
      span = reference.bounds[1] - reference.bounds[0]
      if not 0 < args.target_width < span:
        raise lifelong.CacheError(f"Got --target-width {args.target_width}; expected a width "
                                  f"between 0 and {span:g}, such as {0.04 * span:g} for 4 points.")
      found = reference.estimate_from(have, is_random=args.random) if have else None
      if found is not None and found.interval is not None:
        width = found.interval[1] - found.interval[0]
        wanted = math.ceil(len(found.sample.samples) * (width / args.target_width) ** 2)
      else:  # Of a model that is right half the time.
        wanted = math.ceil((1.96 * span / args.target_width) ** 2)
      num = reference.num_samples
      budget = max(1, min(num, math.ceil(
          wanted / (1 + wanted / num) if found is None else wanted)))
    ids = [one for one in reference.questions(budget).tolist() if one not in have]
  _write_questions(args, ids, reference.cache)
  if args.json:
    sys.stdout.write(json.dumps({"file": str(args.ask), "questions": len(ids)}) + "\n")
  elif not ids:
    sys.stdout.write(f"{args.ask}: nothing is left to ask\n")
  else:
    sys.stdout.write(f"{args.ask}: {len(ids):,} samples to ask, "
                     + ("as instances of HELM" if args.instances else "by task"
                        if args.ask.suffix == ".json" else "one id a line") + ". Then:\n"
                     f"suite lifelong estimate --cache {args.cache} --answers FILE.csv\n")
  return 0


def _add_instances_flag(action: argparse.ArgumentParser) -> None:
  action.add_argument("--instances", nargs="+", default=[], type=pathlib.Path, metavar="FILE",
                      help="of HELM, instances.json of a run of each task: --ask is then a folder, "
                      "to which the instances to evaluate are written as TASK/instances.json")


def _write_questions(args: argparse.Namespace, ids: Sequence[str], cache: Any) -> None:
  """Writes ids to --ask: a line each, or, to a .json, by task, or as instances of HELM."""
  from suite.lifelong.cache import helm_logs
  path = args.ask
  if args.instances:
    asked = {task: set(map(str, names)) for task, names in _by_task(ids, cache).items()}
    lists = helm_logs.instance_lists(args.instances, asked)
    for task, instances in lists.items():
      (path / task).mkdir(parents=True, exist_ok=True)
      (path / task / "instances.json").write_text(json.dumps(instances, indent=2) + "\n",
                                                  encoding="utf-8")
    return
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


def add_session_flags(action: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite lifelong session`."""
  action.description = (
      "The first call writes questions to --ask FILE. Each further call takes their answers by "
      "--answers FILE, a csv with the columns id,correct or logs, and writes the next ones, until "
      "the 95% interval is narrow enough. What was asked and answered is kept in the folder "
      "--state: after an interruption, the same command resumes.")
  action.add_argument("models", nargs="*", metavar="NAME",
                      help="two models, as their answers name them: both are asked the same "
                      "questions until they are told apart, or the interval of their difference "
                      "is narrow enough (none: one model, whatever its name)")
  action.add_argument("--level", type=float, metavar="P",
                      help="of two models: share of sessions in which equal ones are told apart "
                      "(0.05)")
  action.add_argument("--state", required=True, type=pathlib.Path, metavar="DIR",
                      help="folder of the session, one for each new model")
  action.add_argument("--ask", required=True, type=pathlib.Path, metavar="FILE",
                      help="write the next ids to ask, a line each, or, to a .json, by task, as "
                      "lm_eval --samples takes them")
  _add_instances_flag(action)
  action.add_argument("--answers", nargs="+", type=pathlib.Path, metavar="FILE",
                      help="the answers of the model to all questions of the last call")
  action.add_argument("--target-width", type=float, metavar="W",
                      help="end when the interval is no wider (0.02, which is +-1 point)")
  action.add_argument("--budget", type=int, metavar="N",
                      help="ask N samples at most (all); up to 64 are chosen by item response "
                      "theory, if that told more of the known models")
  action.add_argument("--seed", type=int, metavar="S",
                      help="another one draws other questions (one of the folder of --state)")
  lifelong_answers.add_format_flags(action)


def session(args: argparse.Namespace) -> int:
  """Runs `suite lifelong session`."""
  from suite import lifelong
  if args.models:
    return _pair_session(args)
  asking = lifelong.Session(args.cache, args.target_width, args.budget, state=args.state,
                            seed=args.seed)
  models = lifelong_answers.read_models(args) if args.answers else {}
  if len(models) > 1:
    raise lifelong.CacheError(f"Got the answers of {len(models)} models, such as "
                              f"{next(iter(models))!r}; a session is about one.")
  bounds = tuple(asking.cache.value_range or (0.0, 1.0))
  ids, lines = asking.questions().tolist(), []
  for given in models.values():
    if not any(one in given for one in ids) and given.keys() & asking.answers().keys():
      lines.append("These answers were taken before.")
    else:
      asking.answer(given)
      ids = asking.questions().tolist()
  _write_questions(args, ids, asking.cache)
  record: dict[str, Any] = {
      "file": str(args.ask), "questions": len(ids), "answers": asking.num_answers,
      "done": asking.is_done, "accuracy": None, "interval": None,
      "target_width": asking.target_width}
  if asking.num_answers:
    found = asking.accuracy()
    record.update(accuracy=found.value, interval=[found.low, found.high])
    value, low, high = (lifelong_answers.score_text(one, bounds)
                        for one in (found.value, found.low, found.high))
    what = "accuracy" if asking.cache.value_range is None else "mean score"
    lines.append(f"{what} {value}, 95% interval {low} to {high}, from {asking.num_answers:,} "
                 "answers")
    if asking.is_start:
      lines.append("  by item response theory; the interval is that of the errors of known models, "
                   "each without its family")
  if asking.is_done:
    wide = record["interval"][1] - record["interval"][0] > asking.target_width
    lines.append("The session has ended" + (
        f": the budget of {asking.budget:,} is spent, and the interval is wider than "
        f"{lifelong_answers.score_text(asking.target_width, bounds)}." if wide else
        ": the interval is narrow enough."))
  else:
    lines += [f"{args.ask}: {len(ids):,} samples to ask. Then:",
              f"suite lifelong session --cache {args.cache} --state {args.state} --ask {args.ask} "
              "--answers FILE"]
  lifelong_answers.show(args, record, lines)
  return 0


def _pair_session(args: argparse.Namespace) -> int:
  """A session of two models."""
  from suite.lifelong import pair_session
  asking = pair_session.PairSession(args.cache, args.models, args.target_width, args.budget,
                                    level=args.level, state=args.state, seed=args.seed)
  if args.answers:
    asking.answer(lifelong_answers.read_models(args))
  ids, lines = asking.questions(), []
  _write_questions(args, ids, asking.cache)
  record: dict[str, Any] = {
      "file": str(args.ask), "questions": len(ids), "answers": asking.num_answers,
      "done": asking.is_done, "apart": asking.are_apart, "difference": None, "interval": None,
      "p": None, "looks": asking.num_looks, "target_width": asking.target_width}
  if asking.num_answers:
    gap, p = asking.difference()
    bounds = tuple(asking.cache.value_range or (0.0, 1.0))
    record.update(difference=gap.value, interval=[gap.low, gap.high], p=p)
    lines += [f"{name}: {lifelong_answers.score_text(one.accuracy, bounds)}{_interval(one)}"
              for name, one in zip(asking.names, asking.estimates())]
    lines.append(lifelong_answers.difference_line(
        asking.names[0], asking.names[1], gap.value, (gap.low, gap.high), p,
        min(1.0, p * asking.num_looks), bounds))
  if asking.is_done:
    lines.append(f"The session has ended after {asking.num_answers:,} questions: the models "
                 + ("are told apart." if asking.are_apart else "are not told apart."))
  else:
    lines += [f"{args.ask}: {len(ids):,} samples to ask both models. Then:",
              f"suite lifelong session {' '.join(asking.names)} --cache {args.cache} --state "
              f"{args.state} --ask {args.ask} --answers FILE FILE"]
  lifelong_answers.show(args, record, lines)
  return 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Groups of tasks: the scores are those that lm-evaluation-harness reports, and the order, too."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite import cli
from suite import lifelong
from suite.lifelong import paired_standings
from suite.lifelong import standings
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import task_groups

# Right answers of two models to each task, and its number of documents: A is better at arc and
# gsm8k, B at each of the many parts of mmlu, which are of different sizes.
TASKS = {"arc": (90, 50, 100), "gsm8k": (80, 40, 100), "mmlu_law": (40, 70, 100),
         "mmlu_math": (10, 14, 20), "mmlu_chess": (6, 9, 10), "mmlu_logic": (5, 9, 10)}
BELOW = {"mmlu": ["mmlu_humanities", "mmlu_logic"], "mmlu_humanities": [
    "mmlu_law", "mmlu_math", "mmlu_chess"], "mine": ["arc", "mmlu"]}


def _write_logs(folder, by_size=True):
  """Logs of two models as lm-evaluation-harness writes them."""
  reported = {}
  for place, model in enumerate("AB"):
    here = folder / model
    here.mkdir(parents=True)
    scores = {task: {"acc,none": one[place] / one[2], "alias": task} for task, one in TASKS.items()}
    leaves = [task for task in TASKS if task.startswith("mmlu")]

    whole, part = (float(np.average(
        [scores[task]["acc,none"] for task in tasks],
        weights=[TASKS[task][2] for task in tasks] if by_size else None))
                   for tasks in (leaves, leaves[:3]))
    groups = {"mmlu": {"acc,none": whole, "acc_stderr,none": 0.01, "alias": "mmlu"},
              "mmlu_humanities": {"acc,none": part, "alias": " - humanities"}}
    reported[model] = groups["mmlu"]["acc,none"]
    stamp = f"2026-11-2{place}T10-00-00.000000"
    (here / f"results_{stamp}.json").write_text(json.dumps({
        "model_name": model, "results": {**scores, **groups}, "groups": groups,
        "group_subtasks": BELOW, "n-samples": {
            task: {"original": one[2], "effective": one[2]} for task, one in TASKS.items()}}))
    for task, one in TASKS.items():
      rows = [{"doc_id": i, "doc_hash": f"{task}{i}", "target": "x", "acc": float(i < one[place])}
              for i in range(one[2])]
      (here / f"samples_{task}_{stamp}.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
  return reported


@pytest.mark.parametrize("by_size", [True, False])
def test_groups_of_logs_give_the_scores_that_the_harness_reports(tmp_path, capsys, by_size):
  reported = _write_logs(tmp_path / "logs", by_size)
  files = [str(path) for path in sorted((tmp_path / "logs").rglob("samples_*"))]
  assert cli.main(["lifelong", "add-models", *files, "--cache", str(tmp_path / "c")]) == 0
  cache = accuracy_cache.AccuracyCache(tmp_path / "c")
  groups = task_groups.read(cache.folder)
  assert groups == {"mmlu": task_groups.Group(
      ("mmlu_chess", "mmlu_law", "mmlu_logic", "mmlu_math"), by_size)}
  found = {one.name: one.score for one in standings.rank(cache)}
  for place, model in enumerate("AB"):
    arc, gsm8k = (TASKS[task][place] / 100 for task in ("arc", "gsm8k"))
    assert found[model] == pytest.approx((arc + gsm8k + reported[model]) / 3, abs=1e-12)
  # The mean of tasks says the opposite.
  over = {one.name: one.score for one in standings.rank(cache, standings.Scale("tasks"))}
  assert found["A"] > found["B"] and over["A"] < over["B"]
  capsys.readouterr()
  assert cli.main(["lifelong", "rank", "--cache", str(tmp_path / "c")]) == 0
  said = capsys.readouterr().out.splitlines()
  assert said[0] == "mean of 1 group and 2 single tasks, 6 tasks in all" and "A" in said[2].split()
  pair, = paired_standings.compare(cache).pairs
  assert pair.first == "A" and pair.difference == pytest.approx(found["A"] - found["B"])
  scale = standings.Scale(weights={"mmlu": 2.0})
  twice = {one.name: one.score for one in standings.rank(cache, scale)}
  assert twice["B"] == pytest.approx((0.5 + 0.4 + 2 * reported["B"]) / 4)


def test_a_table_of_the_user_wins_and_what_is_wrong_is_named(tmp_path, capsys):
  _write_logs(tmp_path / "logs")
  files = [str(path) for path in sorted((tmp_path / "logs").rglob("samples_*"))]
  folder = str(tmp_path / "c")
  cli.main(["lifelong", "add-models", *files, "--cache", folder])
  table = tmp_path / "groups.csv"
  table.write_text("group,task\nshort,arc\nshort,gsm8k\n")
  capsys.readouterr()
  assert cli.main(["lifelong", "rank", "--cache", folder, "--task-groups", str(table)]) == 0
  assert capsys.readouterr().out.startswith("mean of 1 group and 4 single tasks")
  for text, said in (("group,task\nshort,ark\n", "the task 'ark'; expected a name and one of arc"),
                     ("group,task\nshort,\n", "the group 'short' and the task ''"),
                     ("a,b\n", "expected group and task"), ("group,task\n", "has no group")):
    table.write_text(text)
    with pytest.raises(lifelong.CacheError, match=said):
      task_groups.of_table(table, TASKS)
  cache = accuracy_cache.AccuracyCache(folder)
  other = task_groups.joining(cache.folder, {"mmlu": task_groups.Group(("arc",))})
  with pytest.raises(lifelong.CacheError, match="group 'mmlu' of 4 tasks.* one of 1"), other:
    raise AssertionError("added")
  with pytest.raises(lifelong.CacheError, match="expected one of samples, tasks, groups"):
    standings.rank(cache, standings.Scale("means"))
  with pytest.raises(lifelong.CacheError, match="weight is given for .*'arcs'.*; the groups are"):
    standings.rank(cache, standings.Scale(weights={"arcs": 2.0}))


def test_results_without_scores_of_groups_or_in_a_circle_have_none():
  of = task_groups.of_results
  assert of({}) == of({"group_subtasks": {"a": ["b"]}}) == {}
  assert of({"group_subtasks": {"a": ["b"]}, "groups": {}, "results": {"b": {}}}) == {}
  assert of({"group_subtasks": {"a": ["b"], "b": ["a"]}, "groups": {"a": {}}, "results": {}}) == {}
  found = of({"group_subtasks": {"a": ["b", "c"]}, "groups": {"a": {"acc,none": 0.5}},
              "results": {"b": {"acc,none": 0.25}, "c": {"acc,none": 0.75}}})
  assert found == {"a": task_groups.Group(("b", "c"), False)}

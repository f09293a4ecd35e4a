# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A search from its command to the run that takes its choice; trials run in this process."""

from __future__ import annotations

import dataclasses
import json
import shlex

import cells_here
import numpy as np
import pytest

from suite import cli
from suite.configs import gin_files
from suite.configs import run_settings
from suite.contracts import descriptions
from suite.data.digits import digits
from suite.reporting import run_dir
from suite.running import method_search
from suite.system import processes
from suite.tables import table

RUN = "digits/incremental"
MEASURE = descriptions.named("incremental").measures[0]
OVER = ("shrinkage=0.001..0.9 log",)


@pytest.fixture(autouse=True)
def _one_process(monkeypatch):
  monkeypatch.setattr(table, "check_parameters", lambda *unused: None)
  monkeypatch.setattr(processes, "run_all", cells_here.run_all)


def order(folder, **changes):
  return dataclasses.replace(method_search.SearchOrder(
      RUN, "slda", OVER, run_settings.RunSettings(workdir=str(folder)), trials=2, tasks=2),
                             **changes)


def best(folder):
  return json.loads((folder / "best.json").read_text())


def with_other_test_labels(monkeypatch):
  made = digits.train_and_test

  def changed(as_features=False):
    train, test = made(as_features)
    labels = np.roll(test.labels, 7)
    return train, type(test)(test.name, test.store, labels, kind=test.kind, num_classes=10,
                             ids=test.ids)

  monkeypatch.setattr(digits, "train_and_test", changed)


def test_a_search_that_is_stopped_chooses_the_same_whatever_the_test_labels_are(
    tmp_path, monkeypatch, capsys):
  first, second = tmp_path / "first", tmp_path / "second"
  found = method_search.run(order(first))
  chosen = best(first)
  assert found.best == first / "best.json" and not found.failed
  scores = [trial["score"] for trial in chosen["trials"]]
  assert len(scores) == 2 and len(set(scores)) > 1
  assert chosen["trials"][chosen["best_trial"]]["score"] == max(scores)
  assert chosen["settings"] == {
      "shrinkage": chosen["trials"][chosen["best_trial"]]["shrinkage"]}
  for name in ("flops", "macs", "examples", "steps"):
    assert chosen["cost"][name] == sum(trial[name] for trial in chosen["trials"])

  with_other_test_labels(monkeypatch)

  def stopped(jobs, at_once):
    cells_here.run_all(jobs[-1:], at_once)  # Another order, too, as of several processes.
    raise KeyboardInterrupt

  with pytest.raises(KeyboardInterrupt):
    method_search.run(order(second, run_all=stopped))
  assert not (second / "best.json").exists()
  method_search.run(order(second))
  assert best(second) == chosen

  # The run that takes the choice.
  advised = shlex.split(found.report.rpartition("To use it: suite ")[2])
  assert advised == ["run", RUN, "--methods", "slda", "--settings", str(first / "best.json")]
  capsys.readouterr()
  assert cli.main([*advised, "--set", "NUM_TASKS=2", "--workdir", str(tmp_path / "run")]) == 0
  report = capsys.readouterr().out
  assert "selected on training images of task_01 to task_02" in report.replace("\n", " ")
  run, = run_dir.load([tmp_path / "run"])
  begin = run.records[0]
  assert begin["flops_search"] == chosen["cost"]["flops"] == run.summary["flops_search"]
  assert begin["selected_on"] == chosen["selected_on"] == run.summary["selected_on"]
  assert all(record["flops_search"] == begin["flops_search"] for record in run.records)


def test_proposals_do_not_depend_on_their_number_and_a_failed_trial_is_no_choice(
    tmp_path, monkeypatch):
  """Nothing runs: tables are recorded, and scores are what a trial's settings make of them."""
  rows: list[dict] = []

  def runs(**given):
    rows.append(given["runs"])
    names = given["order"].only
    return table.TableResult("", [f"{names[0]}/slda/0: no score (log)"], [])

  monkeypatch.setattr(table, "run", runs)
  monkeypatch.setattr(method_search, "_selected_on", lambda *unused: ("two tasks", MEASURE))
  monkeypatch.setattr(method_search._Search, "results", lambda self: [
      {"trial": number, "shrinkage": one["shrinkage"],
       "score": None if number == 0 else -abs(one["shrinkage"] - 0.5),
       "flops": None if number == 1 else 3, "macs": 2, "examples": 1, "steps": 0}
      for number, one in enumerate(self._places[:self._num_ran])])
  few, many = tmp_path / "few", tmp_path / "many"
  found = method_search.run(order(few, trials=3))
  assert found.failed == ["trial_000/slda/0: no score (log)"] and best(few)["best_trial"] > 0
  assert best(few)["cost"] == {"flops": None, "macs": 6, "examples": 3, "steps": 0}
  method_search.run(order(many, trials=6))
  method_search.run(order(few, trials=6))  # More trials of the same search.
  assert rows[0] == {name: rows[1][name] for name in rows[0]} and rows[2] == rows[1]
  rows.clear()
  method_search.run(order(tmp_path / "bayesian", trials=5, oracle="bayesian", at_once=2))
  assert [len(one) for one in rows] == [2, 4, 5]
  assert rows[2].items() >= rows[1].items() >= rows[0].items()
  grid = method_search.run(order(tmp_path / "grid", oracle="grid", over=["shrinkage=0.1,0.2"]))
  assert [part["SLDA_SHRINKAGE"] for _, part in rows[-1].values()] == [0.1, 0.2] and grid.best


@pytest.mark.parametrize("changes, message", [
    ({"tasks": 9}, "--tasks 9: 'split digits' has 5 tasks .* allowed are 1 to 5"),
    ({"tasks": 1}, "has 1 task\\(s\\); give at least 2"),
    ({"over": []}, "A search needs a space: --over .* suite show slda"),
    ({"params": ["shrinkage=0.1"]}, "searches shrinkage, which --set gives a value. Leave one"),
    ({"oracle": "grid"}, "--oracle grid tries values, and .* is a range. Give values"),
    ({"oracle": "grid", "over": ["shrinkage=0.1,0.2,0.3"]}, "has 3 trials here, .* give --trials"),
    ({"on": "digits/fluid"}, "--on digits/fluid runs fluid, and digits/incremental incremental"),
    ({"on": "nevis/mnist"}, "does not read its data by the name .*Give a run of the same protocol"),
    ({"run": "digits/fluid", "tasks": None, "method": "bic"}, "'bic' does not run under fluid"),
    ({"run": "clear/table1"}, "clear/table1 is a table")])
def test_a_search_is_refused_in_one_line_before_anything_runs(tmp_path, changes, message):
  with pytest.raises((gin_files.ConfigError, ValueError), match=message) as caught:
    method_search.run(order(tmp_path / "a", **changes))
  assert "\n" not in gin_files.first_line(caught.value) and not (tmp_path / "a").exists()


def test_a_folder_holds_one_search(tmp_path, monkeypatch):
  monkeypatch.setattr(method_search, "_selected_on", lambda *unused: ("two tasks", MEASURE))
  monkeypatch.setattr(table, "run", lambda **unused: table.TableResult("", [], []))
  found = method_search.run(order(tmp_path / "a"))
  assert found.best is None
  with pytest.raises(gin_files.ConfigError, match="holds another search: seed was 0, and is 1 now"):
    method_search.run(order(tmp_path / "a", seed=1))
  (tmp_path / "a" / "trials").mkdir()
  path = tmp_path / "a" / method_search.FILE
  whole = path.read_text()
  path.write_text(whole[:50])
  with pytest.raises(ValueError, match="search.json is not JSON.* delete it and run the same comm"):
    method_search.run(order(tmp_path / "a"))
  path.unlink()
  method_search.run(order(tmp_path / "a"))
  assert path.read_text() == whole
  (tmp_path / "b").mkdir()
  (tmp_path / "b" / "notes.txt").write_text("mine")
  with pytest.raises(gin_files.ConfigError, match="is not empty and holds no search; give another"):
    method_search.run(order(tmp_path / "b"))


def test_another_data_set_takes_the_place_of_the_runs():
  made = method_search.SearchOrder("incremental/split_cifar10", "er", [],
                                   run_settings.RunSettings(), on="nevis/mnist")
  file = method_search._on(made, made.find(made.run))
  assert "buckets.of_classes.data='nevis/mnist'" in file.params


@pytest.mark.parametrize("words, message", [
    (["--methods", "er,der"], "a search is of one method, --methods er. Give a command for each"),
    ([], "--methods has no name"),
    (["--methods", "er", "--at_once", "2"], "--at_once is a flag of --oracle bayesian"),
    (["--methods", "er", "--address", "auto"], "--address is a flag of --engine ray")])
def test_flags_are_refused(words, message, capsys):
  assert cli.main(["search", RUN, "--over", "lr=0.1,0.2", *words]) == 2
  assert message in capsys.readouterr().err

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Finding and reading run directories."""

from __future__ import annotations

import json

import pytest

from suite.reporting import run_dir


def _make(folder, *, summary=None, records=({"event": 0, "protocol": "nevis", "flops": 5},)):
  folder.mkdir(parents=True)
  (folder / "records.jsonl").write_text("".join(json.dumps(r) + "\n" for r in records))
  if summary is not None:
    (folder / "summary.json").write_text(json.dumps(summary))


def test_a_directory_of_runs_or_a_run_itself(tmp_path):
  _make(tmp_path / "w" / "indep", summary={"protocol": "nevis"})
  _make(tmp_path / "w" / "ft", summary={"protocol": "nevis"})
  (tmp_path / "w" / "tensorboard").mkdir()
  (tmp_path / "w" / "environment.json").write_text('{"seed": 3}')
  assert [run.label for run in run_dir.load([tmp_path / "w"])] == ["ft", "indep"]
  (run,) = run_dir.load([str(tmp_path / "w" / "indep")])
  assert run.environment == {"seed": 3} and run.is_finished
  every = run_dir.load([tmp_path / "w" / "indep", tmp_path / "w"])
  assert [r.label for r in every] == ["indep", "ft"]


def test_learners_come_in_the_order_of_their_configuration(tmp_path):
  for name in ("er", "ft", "indep", "older"):
    _make(tmp_path / name)
  (tmp_path / "environment.json").write_text('{"learners": ["indep", "ft", "gone", "er"]}')
  assert [run.label for run in run_dir.load([tmp_path])] == ["indep", "ft", "er", "older"]


def test_runs_of_one_name_are_told_apart_by_their_path(tmp_path):
  for place in ("a/seed0/ft", "a/seed1/ft", "a/seed1/indep"):
    _make(tmp_path / place)
  found = run_dir.load([tmp_path / "a" / "seed0", tmp_path / "a" / "seed1"])
  assert [run.label for run in found] == ["seed0/ft", "seed1/ft", "indep"]


def test_an_unfinished_run_has_records_but_no_summary(tmp_path):
  _make(tmp_path / "ft")
  with open(tmp_path / "ft" / "records.jsonl", "a") as file:
    file.write('{"event": 1, "to')
  (run,) = run_dir.load([tmp_path])
  assert not run.is_finished and run.protocol == "nevis" and len(run.records) == 1
  assert run.last("flops") == 5 and run.last("macs") is None


def test_totals_come_from_the_summary_first(tmp_path):
  _make(tmp_path / "ft", summary={"protocol": "clear", "flops": None})
  (run,) = run_dir.load([tmp_path])
  assert run.last("flops") is None and run.protocol == "clear"


def test_a_directory_without_runs_says_the_next_step(tmp_path):
  with pytest.raises(FileNotFoundError, match="no run in .*records.jsonl. Give the --workdir"):
    run_dir.load([tmp_path])


def test_a_damaged_summary_is_named(tmp_path):
  _make(tmp_path / "ft")
  (tmp_path / "ft" / "summary.json").write_text("{")
  with pytest.raises(ValueError, match=r"summary\.json is not JSON"):
    run_dir.load([tmp_path])


def test_a_finished_run_that_has_lost_records_is_no_result(tmp_path):
  _make(tmp_path / "ft", records=[{"event": i} for i in range(3)])
  (tmp_path / "ft" / "summary.json").write_text(
      run_dir.sealed({"protocol": "clear"}, num_records=4))
  with pytest.raises(ValueError, match="has 3 records, and the finished run had 4. Restore it"):
    run_dir.load([tmp_path])
  (tmp_path / "ft" / "summary.json").write_text(
      run_dir.sealed({"protocol": "clear"}, num_records=3))
  (run,) = run_dir.load([tmp_path])
  assert run.summary == {"protocol": "clear"}


def test_runs_lie_at_any_depth_and_those_of_another_version_are_refused(tmp_path):
  _make(tmp_path / "a" / "b" / "c" / "ft")
  (tmp_path / "a" / "b" / "c" / "environment.json").write_text(
      json.dumps({"suite": "0.1.0", "command": "suite run quickstart"}))
  _make(tmp_path / "a" / "indep")
  assert [run.label for run in run_dir.load([tmp_path])] == ["indep", "ft"]
  (tmp_path / "a" / "environment.json").write_text(
      '{"suite": "7.2.0", "command": "suite run digits/nevis"}')
  with pytest.raises(ValueError, match="indep/records.jsonl was written by suite 7.2.0, and this is"
                     ".* run its command again in a new work directory: suite run digits/nevis"):
    run_dir.load([tmp_path])

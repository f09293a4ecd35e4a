# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A folder of logs is followed: each file once, bad ones set aside, nothing lost by a kill."""

from __future__ import annotations

import json
import os

import numpy as np
import pytest

from suite.lifelong import drift
from suite.lifelong import watching
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_growth
from suite.system import file_lock

DATE = "2026-01-31T12-00-00.000000"


def _log(folder, model, task, answers):
  path = folder / model / f"samples_{task}_{DATE}.jsonl"
  path.parent.mkdir(parents=True, exist_ok=True)
  path.write_text("".join(json.dumps({
      "doc_id": i, "doc_hash": f"{task}{i}", "filter": "none", "metrics": ["acc"],
      "acc": float(one)}) + "\n" for i, one in enumerate(answers)))
  return path


def _old(path):
  """A file that has not changed for an hour."""
  past = path.stat().st_mtime - 3600
  os.utime(path, (past, past))


def _states(found):
  return {one.path.split("/")[0]: one.status for one in found.files}


def test_each_file_is_added_once_and_a_bad_one_does_not_stop_the_others(tmp_path):
  logs, cache = tmp_path / "logs", tmp_path / "logs" / "cache"
  for k in range(3):
    _log(logs, f"m{k}", "arc", np.arange(20) % (k + 2) > 0)
  (logs / "m0" / f"results_{DATE}.json").write_text('{"results": {}, "model_name": "org/zero"}')
  bad = _log(logs, "m3", "arc", np.ones(20))
  bad.write_text(bad.read_text()[:-30])
  (logs / "notes").mkdir()
  (logs / "notes" / "readme.txt").write_text("not a log")
  first = watching.update(cache, logs)
  assert (first.models, first.num_samples, first.num_answers) == (["org/zero", "m1", "m2"], 20, 60)
  assert [one.status for one in first.files].count("skipped") == 1
  assert _states(first)["m3"] == "waiting"  # It may be half-written.
  assert watching.update(cache, logs).files[0].status == "waiting"
  _old(bad)
  second = watching.update(cache, logs)
  assert [one.path for one in second.files] == [f"m3/samples_arc_{DATE}.jsonl"]
  assert _states(second) == {"m3": "refused"} and "is no JSON" in second.files[0].reason
  assert watching.update(cache, logs).files == []  # It is told once, and not tried again,
  _log(logs, "m3", "arc", np.ones(20))
  assert watching.update(cache, logs).models == ["m3"]  # until it changes.
  # The same model on another task, and the rest of a file that was cut at the end of a line.
  _log(logs, "m1", "boolq", np.ones(8))
  _log(logs, "m2", "boolq", np.ones(5))
  assert watching.update(cache, logs).num_answers == 13
  _log(logs, "m2", "boolq", np.ones(8))
  # Tasks that are named need not come in each update.
  named = watching.Settings(accuracy_import.Options(score="boolq=acc,arc=acc"))
  assert watching.update(cache, logs, named).num_answers == 3
  found = accuracy_cache.AccuracyCache(cache)
  assert found.num_samples == 28 and not cache_check.problems(cache)
  (tmp_path / "copy").mkdir()
  with file_lock.held(cache / watching.LOCK), pytest.raises(file_lock.LockedError):
    watching.update(cache, logs)
  with pytest.raises(accuracy_cache.CacheError, match="is no folder"):
    watching.update(cache, tmp_path / "none")


def test_contradictions_and_two_files_of_one_name_are_set_aside(tmp_path):
  logs, cache = tmp_path / "logs", tmp_path / "cache"
  for week, answers in (("week1", "a,1\nb,0\n"), ("week2", "c,1\nd,0\n")):
    (logs / week).mkdir(parents=True)
    (logs / week / "gpt.csv").write_text(f"id,correct\n{answers}")
  (logs / "week3").mkdir()
  (logs / "week3" / "all.csv").write_text("model,id,correct\nx,a,1\nx,b,1\n")
  for path in logs.glob("*/*.csv"):
    _old(path)
  found = watching.update(cache, logs)
  assert _states(found) == {"week1": "added", "week2": "refused", "week3": "added"}
  assert "both have a model 'gpt'" in next(
      one.reason for one in found.files if one.status == "refused")
  (logs / "week4").mkdir()
  (logs / "week4" / "all.csv").write_text("model,id,correct\nx,a,0\n")
  _old(logs / "week4" / "all.csv")
  found = watching.update(cache, logs)
  assert _states(found) == {"week4": "refused"} and "another answer to 'a'" in found.files[0].reason
  # It is read again where it is to be read in another way.
  again = watching.update(cache, logs, watching.Settings(threshold=0.5))
  assert set(_states(again)) == {"week2", "week4"}


@pytest.mark.parametrize("place", ["add", "test", "line"])
def test_a_killed_update_is_made_again(tmp_path, monkeypatch, place):
  rng = np.random.default_rng(0)
  hard = rng.normal(0, 1.5, (2, 60))

  def answers(shift=0.0):
    level = rng.normal(0.5, 1.0)
    return rng.random((2, 60)) < 1 / (1 + np.exp(hard - level - np.array([[0.0], [shift]])))

  logs, cache = tmp_path / "logs", tmp_path / "cache"
  for k in range(12):
    for task, row in zip(("arc", "boolq"), answers()):
      _log(logs, f"m{k:02d}", task, row)
  assert watching.update(cache, logs).tests == []
  for task, row in zip(("arc", "boolq"), answers(shift=6.0)):
    _log(logs, "new", task, row)
  with monkeypatch.context() as patch:
    def stop(*_, **__):
      raise KeyboardInterrupt

    if place == "add":
      add = cache_growth.add
      patch.setattr(cache_growth, "add", lambda *a, **k: (add(*a, **k), stop()))
    elif place == "test":
      patch.setattr(drift, "tests", stop)
    else:
      append = watching.sealed_lines.append
      patch.setattr(watching.sealed_lines, "append", lambda path, line, at: (
          stop() if line.get("kind") == "update" else append(path, line, at=at)))
    with pytest.raises(KeyboardInterrupt):
      watching.update(cache, logs)
  found = watching.update(cache, logs)
  assert {one.status for one in found.files} == {"added"} and len(found.files) == 2
  # Two tasks: of each, whether the answers are in order, and as many as the other task predicts.
  assert sorted((one.kind, one.task) for one in found.tests) == [
      ("level", "arc"), ("level", "boolq"), ("order", "arc"), ("order", "boolq")]
  assert accuracy_cache.AccuracyCache(cache).num_models == 13
  assert [len(one.tests) for one in watching.history(cache)] == [0, 4]
  assert watching.update(cache, logs).files == []

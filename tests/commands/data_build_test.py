# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Many builds: in this process, and several at a time."""

from __future__ import annotations

import os
import sys
import time

import pytest

from suite.commands import data_build

# Stands in for `suite data build NAME ...`: bad names fail with a reason, all say when they ran.
_STAND_IN = """
import sys, time, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[3])
(folder / f"{name}.began").write_text(str(time.time()))
time.sleep(60 if name == "endless" else 0.5)
if name.startswith("bad"):
  print("noise", file=sys.stderr)
  print(f"suite: {name}: dead link", file=sys.stderr)
  print("Not built", file=sys.stderr)
  sys.exit(1)
(folder / f"{name}.ended").write_text(str(time.time()))
"""


def _run(names, jobs, tmp_path):
  return data_build.in_processes(names, ["--data_dir", str(tmp_path)], jobs,
                                 command=[sys.executable, "-c", _STAND_IN])


def test_failures_are_told_and_the_rest_is_built(tmp_path):
  found = _run(["a", "bad", "c"], 2, tmp_path)
  assert [(one.name, one.problem) for one in found] == [
      ("a", ""), ("bad", "suite: bad: dead link"), ("c", "")]
  assert all(one.seconds > 0.4 for one in found)
  assert sorted(path.name for path in tmp_path.glob("*.ended")) == ["a.ended", "c.ended"]


def test_no_more_than_so_many_at_a_time(tmp_path):
  _run([f"n{i}" for i in range(4)], 2, tmp_path)
  spans = [tuple(float((tmp_path / f"n{i}.{end}").read_text()) for end in ("began", "ended"))
           for i in range(4)]
  for began, _ in spans:
    assert sum(b <= began < e for b, e in spans) <= 2


def test_an_interrupt_stops_the_processes(tmp_path, monkeypatch):
  def interrupted(self, build, names):
    for name in names:
      self.submit(build, name)
    while not (tmp_path / "endless.began").exists():
      time.sleep(0.05)
    raise KeyboardInterrupt

  monkeypatch.setattr(data_build.concurrent.futures.ThreadPoolExecutor, "map", interrupted)
  began = time.monotonic()
  with pytest.raises(KeyboardInterrupt):
    _run(["endless", "later"], 1, tmp_path)
  assert time.monotonic() - began < 30
  assert not os.path.exists(tmp_path / "later.began")


def test_one_by_one_goes_on_past_a_failure():
  said = []

  def build(name):
    if name == "bad":
      raise ValueError("no")

  def say(name, error):
    said.append((name, str(error)))
    return str(error)

  found = data_build.one_by_one(["a", "bad", "c"], build, say)
  assert [one.problem for one in found] == ["", "no", ""] and said == [("bad", "no")]

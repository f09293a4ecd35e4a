# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Many builds: in this process, and several at a time."""

from __future__ import annotations

import sys

from suite.commands import data_commands

# Stands in for `suite data build NAME ...`: bad names fail with a reason.
_STAND_IN = """
import sys, time, pathlib
name, folder = sys.argv[1], pathlib.Path(sys.argv[3])
time.sleep(0.5)
if name.startswith("bad"):
  print("noise", file=sys.stderr)
  print(f"suite: {name}: dead link", file=sys.stderr)
  print("Not built", file=sys.stderr)
  sys.exit(1)
if name.startswith("broken"):
  print(f"{name}: no such archive", file=sys.stderr)  # As `suite data build` labels its errors.
  print("Not built", file=sys.stderr)
  sys.exit(1)
(folder / f"{name}.ended").write_text("")
"""


def test_failures_are_told_and_the_rest_is_built(tmp_path):
  found = data_commands.in_processes(["a", "bad", "broken", "c"], ["--data_dir", str(tmp_path)], 2,
                                  command=[sys.executable, "-c", _STAND_IN])
  assert [(one.name, one.problem) for one in found] == [
      ("a", ""), ("bad", "dead link"), ("broken", "no such archive"), ("c", "")]
  assert all(one.seconds > 0.4 for one in found)
  assert sorted(path.name for path in tmp_path.glob("*.ended")) == ["a.ended", "c.ended"]


def test_the_processes_are_those_of_the_command():
  one, = data_commands.in_processes(["no_such_data"], [], 1)
  assert one.problem.startswith("Unknown data set 'no_such_data'")


def test_one_by_one_goes_on_past_a_failure():
  said = []

  def build(name):
    if name == "bad":
      raise ValueError("no")

  def say(name, error):
    said.append((name, str(error)))
    return str(error)

  found = data_commands.one_by_one(["a", "bad", "c"], build, say)
  assert [one.problem for one in found] == ["", "no", ""] and said == [("bad", "no")]

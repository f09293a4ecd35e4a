# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`kill -9` inside an event, then the same command again: the same records, byte for byte.

The run has a budget that ends within its last training.

The long version, on the whole quickstart: tools/kill_resume.py.
"""

from __future__ import annotations

import functools
import json
import types

import pytest

# The quickstart on one of its tasks, and on it met again: a start by kNN, then training that is
# saved every 2 steps.
RUN_FILE = """
from __gin__ import dynamic_registration
from suite.protocols import nevis
import two_tasks
include 'gin/runs/quickstart.gin'
nevis.run.stream = @two_tasks.stream()
"""
MODULE = """
from suite.data.digits import digits
from suite.data.streams import streams


def stream():
  entries = digits.nevis_stream(max_train_images=64).entries
  return streams.Stream("two", [entries[place] for place in (1, 7)])
"""
SMALLER = [
    "experiment.run.learners={'ft_d': %FT_D}", "conv4.conv4.filters=4", "conv4.conv4.blocks=1",
    "STEPS=12", "VALIDATE_EVERY=4", "trainer.Trainer.save_every=2",
    # Of 242: the training of the second task is cut.
    "experiment.run.budget='200 MFLOP'"
]


@pytest.fixture(name="tool")
def _tool(processes):
  return processes.tool


def _journal(workdir):
  """The journal of the event in progress, {} if nothing of it is saved (or is being replaced)."""
  for path in sorted((workdir / "ft_d" / "state" / "progress").glob("[0-9]*.json"), reverse=True):
    try:
      return json.loads(path.read_text().splitlines()[0])["values"]
    except (OSError, ValueError, IndexError):
      continue
  return {}


def _in_training_of_the_first_task(workdir):
  saved = _journal(workdir)
  return saved.get("event") == 0 and bool(saved["partial"])


def _after_the_knn_of_the_last_task(workdir):
  saved = _journal(workdir)
  return saved.get("event") == 2 and any(key.startswith("select/") for key in saved["done"])


def test_killed_inside_events_and_resumed_gives_the_same_records(processes, tmp_path):
  (tmp_path / "two.gin").write_text(RUN_FILE)
  (tmp_path / "two_tasks.py").write_text(MODULE)
  whole, killed = tmp_path / "whole", tmp_path / "killed"

  def start(workdir):
    return processes.start(tmp_path / "two.gin", workdir, params=SMALLER, path=tmp_path)

  processes.finish_here(tmp_path / "two.gin", whole, params=SMALLER, path=tmp_path)
  for is_time, num_records in ((_in_training_of_the_first_task, 0),
                               (_after_the_knn_of_the_last_task, 2)):
    processes.kill_when(start(killed), functools.partial(is_time, killed))
    assert processes.num_records(killed / "ft_d") == num_records
    assert not (killed / "ft_d" / "summary.json").exists()
    position = processes.tool.position(killed)
    assert f"ft_d {num_records} records; ft_d in event {num_records} with" in position
  # Whatever the kill left beyond the last saved state is cut off: half a record, too.
  with open(killed / "ft_d" / "records.jsonl", "a", encoding="utf-8") as file:
    file.write('{"event": 2, "kind": "tr')
  processes.finish(start(killed))
  assert processes.num_records(whole / "ft_d") == 4
  processes.assert_same(whole, killed, ["ft_d"])
  lines = (killed / "ft_d" / "records.jsonl").read_text(encoding="utf-8").splitlines()
  records = [json.loads(line) for line in lines]
  assert [record["budget_cut"] for record in records] == [False, False, True, True]
  assert records[0]["steps"] == 12 < records[2]["steps"] < 24


def test_the_tool_tells_different_records(tool, tmp_path):
  for name, value in (("a", 1), ("b", 1.0)):
    (tmp_path / name / "x").mkdir(parents=True)
    (tmp_path / name / "x" /
     "records.jsonl").write_text(json.dumps({"n": value, "seconds": value + 1}) + "\n")
  assert tool.compare(tmp_path / "a", tmp_path / "a") == []
  assert tool.compare(tmp_path / "a", tmp_path / "b") == ["x: [0].n: 1 != 1.0"]
  (tmp_path / "c").mkdir()
  assert tool.compare(tmp_path / "a", tmp_path / "c") == ["learners ['x'] and []"]


def test_the_tool_says_where_a_run_is(tool, tmp_path):
  assert tool.position(tmp_path) == "before its first event"
  folder = tmp_path / "ada"
  (folder / "state" / "progress").mkdir(parents=True)
  (folder / "records.jsonl").write_text("{}\n{}\n")
  assert tool.position(tmp_path) == "ada 2 records; ada with nothing saved inside its event"
  journal = {"event": 2, "done": {"a": 1}, "partial": {"key": "t/trial0", "values": {"step": 30}}}
  (folder / "state" / "progress" / "00000003.json").write_text(
      json.dumps({"values": journal, "arrays": {}}) + "\n0123456789abcdef\n")
  assert tool.position(
      tmp_path) == "ada 2 records; ada in event 2 with 1 finished parts, step 30 of t/trial0"
  (folder / "summary.json").write_text("{}")
  assert tool.position(tmp_path) == "ada 2 records; between two learners"


def test_the_tool_spreads_its_kills_over_the_whole_run(tool):
  timeline = tool.Timeline(10.0, [40.0, 0.0, 30.0, 20.0])
  draw = types.SimpleNamespace(random=lambda: 0.5)
  # Half-way through each tenth of 98 s: 4.9 s is start-up, 14.7 s is 4.7 s into event 0, ...
  found = tool.moments(timeline, 10, draw)
  assert [m.num_records for m in found] == [-1, 0, 0, 0, 0, 2, 2, 2, 3, 3]
  assert [round(m.seconds, 1) for m in found] == [
      4.9, 4.7, 14.5, 24.3, 34.1, 3.9, 13.7, 23.5, 3.3, 13.1]

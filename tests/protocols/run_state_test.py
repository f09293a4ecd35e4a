# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import errno
import json
import os

import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.state import snapshots

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)


class Counter(tf.Module):
  """Its whole knowledge is a sum over its tasks' variables, made in begin."""

  def __init__(self):
    super().__init__()
    self.totals = {}

  def begin(self, task, context):
    if task.key not in self.totals:
      self.totals[task.key] = tf.Variable(0)

  def learn(self, context):
    context.ledger.charge("train", flops=context.seeds.integer("cost"), macs=1)
    self.totals["t"].assign_add(context.event + 1)


def _state(folder):
  return run_state.RunState(
      folder, run_writer.RunWriter(folder, None, progress.Progress("x")), name="counter", seed=3,
      distribution=distribution.build())


def _run(folder, num_events, stop_after=None, broken=None):
  state = _state(folder)
  learner = Counter()
  state.resume(learner, begin=[TASK] * state.done)
  while state.done < num_events:
    if stop_after is not None and state.done == stop_after:
      return state
    context = state.context()
    learner.begin(TASK, context)
    learner.learn(context)
    if broken:
      broken(state)
    state.commit({"kind": "train", "total": int(learner.totals["t"])})
  return state


def _records(folder):
  return [{k: v for k, v in json.loads(line).items() if not k.startswith("seconds")}
          for line in (folder / "records.jsonl").read_text().splitlines()]


def test_a_run_stopped_after_any_event_goes_on_the_same(tmp_path):
  whole = tmp_path / "whole"
  whole.mkdir()
  _run(whole, 4)
  assert [r["total"] for r in _records(whole)] == [1, 3, 6, 10]
  for stop in range(5):
    folder = tmp_path / f"stopped{stop}"
    folder.mkdir()
    _run(folder, 4, stop_after=stop)
    _run(folder, 4)
    assert _records(folder) == _records(whole)


def test_a_record_without_its_snapshot_is_cut_off(tmp_path):
  state = _run(tmp_path, 2)
  state._writer.write({"event": 2, "kind": "train", "total": -1})  # killed before the snapshot
  assert len(_records(tmp_path)) == 3
  state = _run(tmp_path, 3)
  assert [r["total"] for r in _records(tmp_path)] == [1, 3, 6]


def test_a_full_disk_stops_the_run_and_keeps_the_last_good_state(tmp_path, monkeypatch):
  def full(state):
    if state.done == 2:
      def write(record):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
      monkeypatch.setattr(state._writer, "write", write)

  with pytest.raises(snapshots.SaveError, match="No space left on device. The last good"):
    _run(tmp_path, 4, broken=full)
  monkeypatch.undo()
  state = _run(tmp_path, 4)
  assert [r["total"] for r in state.records] == [1, 3, 6, 10]


def test_files_changed_by_something_else_are_refused(tmp_path):
  _run(tmp_path, 2)
  size = (tmp_path / "records.jsonl").stat().st_size
  (tmp_path / "records.jsonl").write_text("{}".ljust(size - 1) + "\n")
  with pytest.raises(RuntimeError, match="has 1 records for 2 finished events"):
    _run(tmp_path, 3)


def test_records_in_memory_are_those_on_disk(tmp_path):
  state = _state(tmp_path)
  state.commit({"kind": "k", "nan": float("nan"), "tuple": (1, 2)})
  assert state.records[0]["nan"] is None and state.records[0]["tuple"] == [1, 2]
  again = _state(tmp_path)
  assert again.records == state.records


def test_a_learner_that_does_not_make_its_variables_again_is_caught(tmp_path):
  _run(tmp_path, 1)
  state = _state(tmp_path)
  with pytest.raises(AssertionError):
    state.resume(Counter(), begin=[])


class Second(distribution.Distribution):
  """Of a process that is not the chief and is told what `answers` holds."""

  is_chief = False

  def __init__(self, *answers):
    super().__init__(distribution.build().strategy, "one_device")
    self.answers, self.asked = list(answers), []

  def agreed(self, value):
    self.asked.append(value)
    return self.answers.pop(0)


def _second(folder, *answers):
  return run_state.RunState(
      folder, run_writer.Follower(folder), name="counter", seed=3, distribution=Second(*answers))


def test_a_process_keeps_the_records_of_the_chief_and_writes_none(tmp_path):
  _run(tmp_path, 1)
  before = {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()}
  state = _second(tmp_path, "open", 1, {"event": 1, "kind": "train", "total": 7})
  state.resume(Counter(), begin=[TASK])
  state.commit({"kind": "train", "total": 8})
  assert [r["total"] for r in state.records] == [1, 7]
  assert state.distribution.asked[2]["total"] == 8
  assert {p: p.read_bytes() for p in tmp_path.rglob("*") if p.is_file()} == before


def test_a_process_that_finds_other_state_than_the_chief_stops(tmp_path):
  _run(tmp_path, 1)
  with pytest.raises(RuntimeError, match="finds 1 finished events in .*, the chief 3. Give all"):
    _second(tmp_path, "open", 3)


@pytest.mark.parametrize("file", ["state.json", "learner.index", "learner.data-00000-of-00001"])
@pytest.mark.parametrize("damage", ["deleted", "empty"])
def test_damaged_state_is_named(tmp_path, file, damage):
  _run(tmp_path, 2)
  path = next(tmp_path.glob(f"state/events/*/{file}"))
  path.unlink()
  if damage == "empty":
    path.touch()
  with pytest.raises(snapshots.DamagedError, match="Could not read .*state/events.* it is damaged"):
    _run(tmp_path, 3)

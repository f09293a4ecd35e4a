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
from suite.reporting import records as records_lib
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
    state.flush()  # Then the last two snapshots are all that is kept.
  return state


def _records(folder):
  return records_lib.strip_times(records_lib.read(folder / "records.jsonl"))


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


def test_the_keepers_that_are_named_keep_an_event(tmp_path):
  state = _state(tmp_path)
  state.keepers = ("record", "state")
  state.resume(Counter())
  state.commit({"kind": "train"})
  state.flush()
  assert _records(tmp_path) == [{"event": 0, "run": "counter", "kind": "train"}]
  with pytest.raises(ValueError, match="names the keepers record, state. Add 'predictions'"):
    state.commit({"kind": "predict"}, {"ids": []})
  assert _state(tmp_path).done == 1


def test_a_record_without_its_snapshot_is_cut_off(tmp_path):
  state = _run(tmp_path, 2)
  state._writer.write({"event": 2, "kind": "train", "total": -1})  # killed before the snapshot
  assert len(_records(tmp_path)) == 3
  state = _run(tmp_path, 3)
  assert [r["total"] for r in _records(tmp_path)] == [1, 3, 6]


def test_a_run_whose_only_snapshot_is_torn_begins_again(tmp_path, caplog):
  """What a power cut leaves of the first event; two records are finished work and are kept."""
  _run(tmp_path / "whole", 3)
  for num_events in (1, 2):
    folder = tmp_path / str(num_events)
    _run(folder, num_events)
    files = sorted((folder / "state" / "events").iterdir())
    for path in files:
      path.write_bytes(path.read_bytes()[:-3])
    if num_events == 2:
      with pytest.raises(snapshots.DamagedError):
        _run(folder, 3)
      assert len(_records(folder)) == 2
    else:
      _run(folder, 3)
      assert "the run begins again" in caplog.text
      assert _records(folder) == _records(tmp_path / "whole")


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
  with pytest.raises(snapshots.DamagedError, match="ValueError: .* has other records than when"):
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


def _damage(path, damage):
  content = path.read_bytes()
  path.unlink()
  if damage != "deleted":
    path.write_bytes({"empty": b"", "cut": content[:-3],
                      "flipped": content[:2] + bytes([content[2] ^ 1]) + content[3:]}[damage])


@pytest.mark.parametrize("file", ["00000002.json", "00000002.bin"])
@pytest.mark.parametrize("damage", ["deleted", "empty", "cut", "flipped"])
def test_a_damaged_snapshot_is_replaced_by_the_one_before(tmp_path, file, damage):
  _run(tmp_path, 3)
  whole = _records(tmp_path)
  _damage(tmp_path / "state/events" / file, damage)
  assert _state(tmp_path).done == 2
  _run(tmp_path, 3)
  assert _records(tmp_path) == whole


@pytest.mark.parametrize("damage", ["deleted", "empty", "cut", "flipped"])
def test_two_damaged_snapshots_are_named(tmp_path, damage):
  _run(tmp_path, 3)
  for path in sorted(tmp_path.glob("state/events/*")):
    _damage(path, damage)
  with pytest.raises(snapshots.DamagedError, match=(
      "records.jsonl has records, but .* missing or empty. Restore it from a copy"
      if damage == "deleted" else
      "Could not read the run state in .*state/events/00000002.json .* damaged. Restore it from a"
  )):
    _run(tmp_path, 4)
  assert len(_records(tmp_path)) == 3


def test_a_lost_last_record_is_computed_again(tmp_path):
  _run(tmp_path, 3)
  whole, path = _records(tmp_path), tmp_path / "records.jsonl"
  path.write_bytes(path.read_bytes()[:-20])
  assert _state(tmp_path).done == 2
  _run(tmp_path, 3)
  assert _records(tmp_path) == whole


def test_a_changed_record_of_any_event_is_named(tmp_path):
  _run(tmp_path, 3)
  path = tmp_path / "records.jsonl"
  path.write_bytes(path.read_bytes().replace(b'"total": 3', b'"total": 9'))
  with pytest.raises(snapshots.DamagedError, match="records.jsonl, line 2 is not what was written"):
    _run(tmp_path, 4)


def test_predictions_that_were_not_on_the_disk_are_computed_again(tmp_path):
  """As after a power cut: the newest snapshot is there, a file of its event is not whole."""
  state, learner = _state(tmp_path), Counter()
  state.resume(learner)
  state.flush()
  predictions = {"ids": ["a"], "labels": [0], "top1": [0], "true_class_probability": [1.0],
                 "correct": [True]}
  for _ in range(3):
    state.commit({"kind": "predict"}, predictions)
  (tmp_path / "predictions/0002.parquet").write_bytes(b"")
  assert _state(tmp_path).done == 2


def test_a_run_of_an_earlier_version_goes_on(tmp_path):
  """Its snapshots were folders with TensorFlow's files; its records had no digests."""
  whole, folder = tmp_path / "whole", tmp_path / "old"
  state = _run(whole, 4)
  learner, lines = Counter(), []
  learner.begin(TASK, None)
  learner.totals["t"].assign(3)
  for line in (whole / "records.jsonl").read_bytes().splitlines()[:2]:
    lines.append(line[:line.index(b', "digest"')] + b"}\n")
  (folder / "state/events/00000001").mkdir(parents=True)
  (folder / "records.jsonl").write_bytes(b"".join(lines))
  totals = {"done": 2, "position": len(b"".join(lines)),
            "ledger": _run(tmp_path / "two", 2).ledger.snapshot()}
  (folder / "state/events/00000001/state.json").write_text(json.dumps(totals))
  tf.train.Checkpoint(learner=learner).write(str(folder / "state/events/00000001/learner"))
  _run(folder, 4)
  assert _records(folder) == _records(whole) == records_lib.strip_times(state.records)
  assert (folder / "state/events/00000003.json").exists()


@pytest.mark.parametrize("spoil", [
    lambda path: path.unlink(), lambda path: path.write_bytes(b""),
    lambda path: path.write_bytes(path.read_bytes()[:-5])])
def test_predictions_of_a_finished_event_that_are_gone_are_made_again_or_named(tmp_path, spoil):
  predictions = dict(ids=["a"], labels=[0], top1=[0], true_class_probability=[1.0], correct=[True])

  def finish(num):
    state = _state(tmp_path)
    state.resume(tf.Module())
    while state.done < num:
      state.commit({"kind": "predict"}, predictions=predictions)
      state.flush()
    return state

  finish(3)
  files = sorted((tmp_path / "predictions").iterdir())
  whole = [path.read_bytes() for path in files]
  spoil(files[2])  # After the snapshot before the last one.
  assert finish(3).done == 3 and [path.read_bytes() for path in files] == whole
  records = (tmp_path / "records.jsonl").read_bytes()
  spoil(files[0])
  with pytest.raises(snapshots.DamagedError, match="0000.parquet"):
    finish(4)
  assert (tmp_path / "records.jsonl").read_bytes() == records
  files[0].write_bytes(whole[0])
  assert finish(4).done == 4

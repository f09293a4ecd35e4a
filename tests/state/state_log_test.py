# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import hashlib
import io
import json
import shutil
import time

import numpy as np
import pytest
import tensorflow as tf

from suite.compute import distribution
from suite.contracts import tasks
from suite.protocols import run_state
from suite.reporting import progress
from suite.reporting import run_writer
from suite.state import run_identity
from suite.state import state_log

TASK = tasks.Task("t", tasks.SINGLE_LABEL, 2)


class Counter(tf.Module):
  """Adds the numbers of events, and stores each sum."""

  def begin(self, task, context):
    if not hasattr(self, "total"):
      self.total = tf.Variable([0.0, 0.0])

  def learn(self, context):
    self.total.assign_add([context.event + 1.0, 1.0])
    context.ledger.charge("train", flops=7, macs=3, seconds=time.monotonic() % 1)
    context.store.save("sum", [self.total.numpy()])


def _run(workdir, num_events, *, keep=2, lost=0):
  """Runs up to an event, then loses the last snapshots as a kill does that came before them."""
  workdir.mkdir(exist_ok=True)
  (workdir / "config.gin").write_text("x = 1\n")
  folder = workdir / "counter"
  writer = run_writer.RunWriter(folder, None, progress.Silent())
  state = run_state.RunState(folder, writer, name="counter", seed=0,
                             distribution=distribution.build(), keep_every=keep)
  learner = Counter()
  state.resume(learner, begin=[TASK] * bool(state.done))
  for event in range(state.done, num_events):
    context = state.context()
    learner.begin(TASK, context)
    learner.learn(context)
    if event >= num_events - lost:
      state._save = lambda: None
    state.commit({"kind": "train", "total": float(learner.total[0])})
  writer.close()
  return folder


def _content(folder):
  return (folder / state_log.FILE).read_bytes()


def test_digests_and_kept_states_are_those_of_a_run_that_never_stopped(tmp_path):
  whole = _run(tmp_path / "whole", 5)
  header, digests = state_log.read(whole / state_log.FILE)
  assert header["keep_every"] == 2 and len(set(digests)) == 6
  for stop, lost in ((1, 0), (1, 1), (2, 1), (4, 1)):
    _run(tmp_path / f"{stop}{lost}", stop, lost=lost)
    folder = _run(tmp_path / f"{stop}{lost}", 5)
    assert _content(folder) == _content(whole)
    assert list(state_log.kept_states(folder)) == [2, 4]
  # The digest of event 2's state, by hand: 1 + 2, two events, the stored sums.
  stored = [hashlib.sha256(b"0000.npy\0" + _npy(sums)).hexdigest() for sums in ([1, 1], [3, 2])]
  ledger = {phase: dict(flops=0, macs=0, examples=0, steps=0) for phase in (
      "pretrain", "meta_train", "train", "search", "select", "validate", "predict")}
  ledger["train"].update(flops=14, macs=6)
  identity = run_identity.of(whole)
  found = hashlib.sha256(json.dumps([identity, 2, ledger], sort_keys=True).encode())
  name, = state_log.load_kept(state_log.kept_states(whole)[2], identity)[0].arrays
  found.update(json.dumps([name, "float32", [2]]).encode() + np.float32([3, 2]).tobytes())
  found.update(json.dumps([[f"00000{i}.sum.npz", one] for i, one in enumerate(stored)]).encode())
  assert found.hexdigest() == digests[2]


def _npy(sums):
  file = io.BytesIO()
  np.lib.format.write_array(file, np.float32(sums))
  return file.getvalue()


def test_a_kept_state_has_the_digest_that_was_written_before(tmp_path):
  folder = _run(tmp_path / "w", 5)
  digests, identity = state_log.read(folder / state_log.FILE)[1], run_identity.of(folder)
  kept = state_log.kept_states(folder)
  assert {n: state_log.load_kept(path, identity)[1] for n, path in kept.items()} == {
      2: digests[2], 4: digests[4]}
  assert state_log.load_kept(kept[2], "other")[1] != digests[2]
  (kept[2] / "weights" / "000000.sum.npz").unlink()
  assert state_log.load_kept(kept[2], identity)[1] != digests[2]
  shutil.rmtree(kept[4])
  shutil.copytree(kept[2], kept[4])
  assert state_log.load_kept(kept[4], identity)[1] not in digests
  path = kept[2] / "00000000.json"
  path.write_text(path.read_text().replace('"shape": [2]', '"shape": [99999999999]'))
  with pytest.raises(ValueError, match="describes arrays of"):
    state_log.load_kept(kept[2], identity)


def test_records_are_the_same_and_the_number_of_kept_states_stays(tmp_path):
  kept, plain = _run(tmp_path / "kept", 3), _run(tmp_path / "plain", 3, keep=None)
  assert not (plain / state_log.FILE).exists() and not state_log.kept_states(plain)
  drop = [{k: v for k, v in json.loads(line).items() if not k.startswith(("seconds", "digest"))}
          for line in (kept / "records.jsonl").read_text().splitlines()]
  assert drop == [
      {k: v for k, v in json.loads(line).items() if not k.startswith(("seconds", "digest"))}
      for line in (plain / "records.jsonl").read_text().splitlines()]
  with pytest.raises(ValueError, match="keeps every 2th state, and now --keep states=3"):
    _run(tmp_path / "kept", 4, keep=3)
  with pytest.raises(ValueError, match="began without --keep"):
    _run(tmp_path / "plain", 4)
  _run(tmp_path / "kept", 5, keep=None)  # Goes on as it began.
  assert list(state_log.kept_states(kept)) == [2, 4]


def test_a_test_set_that_has_changed_is_refused(tmp_path):
  log = state_log.StateLog(tmp_path, "", 1)
  log.add_data("bucket", {"examples": "1", "content": "2"})
  state_log.StateLog(tmp_path, "", 1).add_data("bucket", {"examples": "1", "content": "2"})
  with pytest.raises(ValueError, match="'bucket' are not those with which the run"):
    state_log.StateLog(tmp_path, "", 1).add_data("bucket", {"examples": "1", "content": "3"})
  path = tmp_path / state_log.DATA_FILE
  whole = path.read_text()
  path.write_text(json.dumps({"bucket": {"examples": "1", "content": "2"}}))  # Of an earlier one.
  assert state_log.read_data(tmp_path) == {"bucket": {"examples": "1", "content": "2"}}
  for damaged in (whole.replace('"2"', '"3"'), "[]", "[" * 100_000, '{"data": 1}', '{"a": 1}'):
    path.write_text(damaged)
    with pytest.raises(ValueError, match="no list of digests of data.*Put it back"):
      state_log.read_data(tmp_path)

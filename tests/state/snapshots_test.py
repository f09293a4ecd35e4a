# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Snapshots: which one counts, what is written of arrays, what damage does, what is removed."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from suite.state import snapshots
from suite.system import atomic_files

ROWS = np.arange(40 * 50_000, dtype=np.int64).reshape(40, -1)  # 16 MB in chunks of 400 kB.


def _names(folder):
  return sorted(path.name for path in folder.iterdir())


def _values(store):
  found = store.read()
  return found and found.values


def test_the_newest_counts_and_the_last_two_stay(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  assert store.read() is None
  for text in "abc":
    store.write({"text": text})
  assert _names(tmp_path / "s") == ["00000001.json", "00000002.json"]
  assert _values(snapshots.Snapshots(tmp_path / "s")) == {"text": "c"}


@pytest.mark.parametrize("array", [
    np.float32(1.5), np.zeros((0, 3)), np.arange(5, dtype=">i4"), np.array(["a", "bc"]),
    np.array([True, False]), np.zeros((2, 3), np.complex64), np.arange(20.0).reshape(4, 5).T,
])
def test_arrays_come_back_as_they_were(tmp_path, array):
  snapshots.Snapshots(tmp_path).write({}, {"x": np.asarray(array)})
  found = snapshots.Snapshots(tmp_path).read().arrays["x"]
  assert found.dtype == np.asarray(array).dtype and found.shape == np.shape(array)
  np.testing.assert_array_equal(found, array)


def test_objects_are_refused(tmp_path):
  with pytest.raises(ValueError, match="Python objects"):
    snapshots.Snapshots(tmp_path).write({}, {"x": np.array([{}])})


def test_arrays_that_did_not_change_are_not_written_again(tmp_path):
  store = snapshots.Snapshots(tmp_path)
  for step in range(4):
    store.write({"step": step}, {"x": np.ones(3)})
  assert _names(tmp_path) == ["00000000.bin", "00000002.json", "00000003.json"]
  assert snapshots.Snapshots(tmp_path).read().arrays["x"].tolist() == [1, 1, 1]


def test_of_a_large_array_only_what_changed_is_written(tmp_path):
  store, rows = snapshots.Snapshots(tmp_path), ROWS.copy()
  store.write({}, {"x": rows})
  rows[[3, 20]] = -1
  store = snapshots.Snapshots(tmp_path)  # In another process.
  store.read()
  store.write({}, {"x": rows})
  assert (tmp_path / "00000001.bin").stat().st_size == 2 * rows[0].nbytes
  rows[20] = -2
  store.write({}, {"x": rows})
  np.testing.assert_array_equal(snapshots.Snapshots(tmp_path).read().arrays["x"], rows)


def test_what_is_out_of_date_never_takes_more_space_than_the_state(tmp_path):
  store, rows = snapshots.Snapshots(tmp_path), ROWS.copy()
  for step in range(60):
    rows[step % 40] = step
    store.write({}, {"x": rows})
    size = sum(path.stat().st_size for path in tmp_path.glob("*.bin"))
    assert size <= 3 * rows.nbytes  # Two snapshots; the older one may be of before a whole one.
  np.testing.assert_array_equal(snapshots.Snapshots(tmp_path).read().arrays["x"], rows)


@pytest.mark.parametrize("damage", ["cut", "zero", "flip", "delete"])
@pytest.mark.parametrize("file", ["00000001.json", "00000001.bin"])
def test_the_older_snapshot_replaces_a_damaged_one(tmp_path, file, damage, caplog):
  store = snapshots.Snapshots(tmp_path)
  for step in range(2):
    store.write({"step": step}, {"x": np.full(1000, step)})
  path = tmp_path / file
  content = bytearray(path.read_bytes())
  content[len(content) // 2] ^= 1
  path.unlink()
  if damage != "delete":
    path.write_bytes({"cut": content[:-3], "zero": b"", "flip": content}[damage])
  assert [bool(p) for p in snapshots.Snapshots(tmp_path).problems().values()] in (
      [False, True], [False])
  store = snapshots.Snapshots(tmp_path)
  found = store.read()
  assert found.values == {"step": 0} and found.arrays["x"].tolist() == [0] * 1000
  if (tmp_path / "00000001.json").exists():
    assert "Could not read the run state in " in caplog.text and "is damaged" in caplog.text
    assert "the one before it is used" in caplog.text
  for step in (1, 2):
    store.write({"step": step}, {"x": np.full(1000, step)})
  assert snapshots.Snapshots(tmp_path).read().values == {"step": 2}
  assert len(_names(tmp_path)) == 4


def test_if_all_are_damaged_an_error_names_the_newest(tmp_path):
  store = snapshots.Snapshots(tmp_path)
  for step in range(2):
    store.write({"step": step})
  for path in tmp_path.iterdir():
    path.write_text("{}")
  with pytest.raises(snapshots.DamagedError, match="00000001.json .ValueError: it is not what"):
    snapshots.Snapshots(tmp_path).read()


def test_a_snapshot_is_passed_over_if_its_caller_finds_damage(tmp_path):
  store = snapshots.Snapshots(tmp_path)
  for step in range(2):
    store.write({"step": step})

  def check(found):
    if found.values["step"]:
      raise KeyError("a record is gone")

  assert snapshots.Snapshots(tmp_path).read(check).values == {"step": 0}


def test_a_failed_write_leaves_the_last_good_one(tmp_path, monkeypatch):
  store = snapshots.Snapshots(tmp_path)
  store.write({"x": "good"}, {"a": np.ones(2)})

  def full(*unused):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

  for place in ("fsync", "replace"):
    with monkeypatch.context() as patch:
      patch.setattr(os, place, full)
      with pytest.raises(snapshots.SaveError, match="No space left.*last good state is intact"):
        store.write({"x": "half"}, {"a": np.zeros(2)})
    assert _names(tmp_path) == ["00000000.bin", "00000000.json"]
  store.write({"x": "new"}, {"a": np.zeros(2)})
  found = snapshots.Snapshots(tmp_path).read()
  assert found.values == {"x": "new"} and found.arrays["a"].tolist() == [0, 0]


@pytest.mark.parametrize("call", ["replace", "unlink"])
def test_a_write_that_is_killed_anywhere_leaves_an_intact_snapshot(tmp_path, monkeypatch, call):
  class Killed(BaseException):
    pass

  for limit in range(8):
    folder = tmp_path / str(limit)
    store, left = snapshots.Snapshots(folder), [limit + 1]
    real = getattr(os, call)

    def stop(*arguments, real=real, left=left, **named):
      left[0] -= 1
      if not left[0]:
        raise Killed
      real(*arguments, **named)

    step = -1
    with monkeypatch.context() as patch:
      patch.setattr(os, call, stop)
      try:
        for step in range(6):
          store.write({"step": step}, {"x": np.full(10, step)})
      except Killed:
        pass
    found = snapshots.Snapshots(folder).read()
    if found is None:
      assert step == 0
    else:
      assert found.values["step"] in (step - 1, step)
      assert found.arrays["x"].tolist() == [found.values["step"]] * 10


def test_later_flushes_keep_the_snapshot_that_is_on_the_disk(tmp_path):
  disk = atomic_files.Flusher(seconds=1e9)
  store = snapshots.Snapshots(tmp_path, "x", disk)
  store.write({"step": 0})  # The first is flushed at once.
  disk.flush()
  for step in range(1, 5):
    store.write({"step": step})
  assert [p.name for p in sorted(tmp_path.glob("*.json"))] == [
      "00000000.json", "00000003.json", "00000004.json"]
  disk.flush()
  store.write({"step": 5})
  assert [p.name for p in sorted(tmp_path.glob("*.json"))] == ["00000004.json", "00000005.json"]


def test_what_a_killed_process_left_is_never_read_and_swept(tmp_path):
  store = snapshots.Snapshots(tmp_path)
  store.write({"x": 1})
  (tmp_path / "tmp-123-00000009.json.part").write_text("half")
  (tmp_path / "tmp-old-00000009").mkdir()
  assert _values(snapshots.Snapshots(tmp_path)) == {"x": 1}
  store.sweep()
  assert _names(tmp_path) == ["00000000.json"]


def test_clear(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  store.clear()
  store.write({}, {"x": np.ones(3)})
  store.clear()
  assert store.read() is None and not _names(tmp_path / "s")


def test_chunks_are_whole_rows():
  assert snapshots.chunk_size(np.zeros((10, 100_000), np.uint8)) == 100_000
  assert snapshots.chunk_size(np.zeros((100, 2048), np.float32)) == 8 * 8192
  assert snapshots.chunk_size(np.zeros((5, 0), np.float32)) == 1


def test_a_file_is_replaced_whole(tmp_path):
  path = tmp_path / "f"
  with snapshots.saving("it", path) as temporary:
    temporary.write_text("new")
  assert path.read_text() == "new" and [p.name for p in tmp_path.iterdir()] == ["f"]


def test_other_errors_pass_and_leave_nothing(tmp_path):
  with pytest.raises(KeyError), snapshots.saving("it", tmp_path / "f") as temporary:
    temporary.write_text("half")
    raise KeyError("x")
  assert not list(tmp_path.iterdir())

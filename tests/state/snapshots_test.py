# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import errno
import os

import pytest

from suite.state import snapshots


def _write(store, text):
  with store.write() as folder:
    (folder / "x").write_text(text)


def test_the_newest_counts_and_older_ones_go(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  assert store.latest() is None
  _write(store, "a")
  _write(store, "b")
  assert (store.latest() / "x").read_text() == "b"
  assert len(list((tmp_path / "s").iterdir())) == 1


def test_a_failed_write_leaves_the_last_good_one(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  _write(store, "good")
  message = "No space left.*last good state is intact"
  with pytest.raises(snapshots.SaveError, match=message), store.write() as folder:
    (folder / "x").write_text("half")
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
  assert (store.latest() / "x").read_text() == "good"
  assert len(list((tmp_path / "s").iterdir())) == 1


def test_what_a_killed_process_left_is_never_read_and_swept(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  _write(store, "good")
  half = tmp_path / "s" / "tmp-123-00000009"
  half.mkdir()
  assert (store.latest() / "x").read_text() == "good"
  store.sweep()
  assert not half.exists()


def test_clear(tmp_path):
  store = snapshots.Snapshots(tmp_path / "s")
  _write(store, "a")
  store.clear()
  assert store.latest() is None


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

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Flushing in a thread: what is flushed, in which order and how often, and what an error does."""

from __future__ import annotations

import errno
import os
import pathlib

import pytest

from suite.system import atomic_files


@pytest.fixture(name="flushed")
def _flushed(monkeypatch):
  """The names of what is flushed, in order."""
  found = []
  monkeypatch.setattr(os, "fsync", lambda descriptor: found.append(
      pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}")).name))
  return found


def _files(folder, names):
  paths = [folder / name for name in names]
  for path in paths:
    path.touch()
  return paths


def test_files_are_flushed_in_the_order_in_which_they_were_added_last(tmp_path, flushed):
  a, b, c = _files(tmp_path, "abc")
  disk, done = atomic_files.Flusher(), []
  disk.add(a, b, then=lambda: done.append(list(flushed)))
  disk.add(c, a, tmp_path)
  disk.flush()
  assert flushed == ["b", "c", "a", tmp_path.name] and done == [flushed]
  disk.flush()
  assert len(flushed) == 4  # Nothing was added.


def test_a_tick_flushes_once_in_a_while(tmp_path, flushed):
  a, b = _files(tmp_path, "ab")
  disk = atomic_files.Flusher(seconds=1e9)
  disk.add(a)
  disk.tick()
  disk.add(b)
  disk.tick()
  disk.flush()
  assert flushed == ["a", "b"]
  now = atomic_files.Flusher(seconds=0.0)
  for path in (a, b):
    now.add(path)
    now.flush()
  assert flushed == ["a", "b", "a", "b"]


def test_what_was_removed_since_is_left_out(tmp_path, flushed):
  a, b = _files(tmp_path, "ab")
  disk, done = atomic_files.Flusher(), []
  disk.add(a, b, then=lambda: done.append(1))
  a.unlink()
  disk.flush()
  assert flushed == ["b"] and done == [1]


def test_an_error_of_the_disk_is_raised_once_and_nothing_is_called(tmp_path, monkeypatch):
  def full(descriptor):
    raise OSError(errno.EIO, os.strerror(errno.EIO))

  disk, done = atomic_files.Flusher(), []
  disk.add(*_files(tmp_path, "a"), then=lambda: done.append(1))
  with monkeypatch.context() as patch:
    patch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="Input/output error"):
      disk.flush()
  disk.flush()
  assert not done

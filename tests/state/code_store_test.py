# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Codes on disk: of other processes, cut files, a limit, a full disk."""

from __future__ import annotations

import errno
import os

import numpy as np
import pytest

from suite.state import code_store
from suite.system import atomic_files

KEY = code_store.digest(b"net")
IMAGES = [code_store.digest(bytes([i])) for i in range(5)]
CODES = np.arange(15, dtype=np.float32).reshape([5, 3])


def _store(folder, limit=1 << 20):
  return code_store.CodeStore(folder / "codes", limit)


def _files(folder):
  return sorted((folder / "codes").rglob("*.npy"))


def test_what_one_process_keeps_another_finds(tmp_path):
  one, other = _store(tmp_path).of_net(KEY), _store(tmp_path).of_net(KEY)
  assert other.find(IMAGES) == [None] * 5
  one.add(IMAGES[:2], CODES[:2])
  other.add(IMAGES[2:4], CODES[2:4])
  one.add(IMAGES[2:4], CODES[2:4])  # The same content: the same file.
  for kept in (one, other, _store(tmp_path).of_net(KEY)):
    found = kept.find(IMAGES)
    np.testing.assert_array_equal(np.stack(found[:4]), CODES[:4])
    assert found[4] is None
  assert len(_files(tmp_path)) == 2
  assert _store(tmp_path).of_net(code_store.digest(b"another net")).find(IMAGES) == [None] * 5


@pytest.mark.parametrize("damage", ["cut", "changed", "empty", "other"])
def test_a_damaged_file_is_left_out_and_named(damage, tmp_path, caplog):
  _store(tmp_path).of_net(KEY).add(IMAGES[:1], CODES[:1])
  _store(tmp_path).of_net(KEY).add(IMAGES[1:], CODES[1:])
  path = _files(tmp_path)[0]
  whole = path.read_bytes()
  path.write_bytes({"cut": whole[:-1], "changed": whole[:-1] + b"?", "empty": b"",
                    "other": b"text"}[damage])
  kept = _store(tmp_path).of_net(KEY)
  found = kept.find(IMAGES)
  assert sum(one is None for one in found) in (1, 4)
  assert f"The codes in {path} cannot be read" in caplog.text
  missing = [i for i, one in enumerate(found) if one is None]
  kept.add([IMAGES[i] for i in missing], CODES[missing])  # The whole file again.
  np.testing.assert_array_equal(np.stack(kept.find(IMAGES)), CODES)
  np.testing.assert_array_equal(np.stack(_store(tmp_path).of_net(KEY).find(IMAGES)), CODES)


def test_a_whole_file_of_another_form_is_left_out(tmp_path, caplog):
  store = _store(tmp_path)
  store.of_net(KEY).add(IMAGES[:1], CODES[:1])
  store.write(_files(tmp_path)[0].parent, CODES)
  kept = _store(tmp_path).of_net(KEY)
  np.testing.assert_array_equal(kept.find(IMAGES[:1])[0], CODES[0])
  assert kept.find(IMAGES[1:]) == [None] * 4
  assert "cannot be read" in caplog.text


def test_beyond_the_limit_nothing_is_kept_and_one_line_says_so(tmp_path, caplog):
  kept = _store(tmp_path, 300).of_net(KEY)
  kept.add(IMAGES[:2], CODES[:2])
  kept.add(IMAGES[2:], np.zeros([3, 90], np.float32))
  kept.add(IMAGES[2:], CODES[2:])
  assert [one is None for one in kept.find(IMAGES)] == [False, False, True, True, True]
  assert caplog.text.count("--codes_gb allows") == 1


def test_a_full_disk_does_not_end_a_run(tmp_path, caplog, monkeypatch):
  def full(*arguments, **named):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

  kept = _store(tmp_path).of_net(KEY)
  monkeypatch.setattr(atomic_files, "opening", full)
  kept.add(IMAGES, CODES)
  monkeypatch.undo()
  kept.add(IMAGES, CODES)
  assert kept.find(IMAGES) == [None] * 5
  assert caplog.text.count("No space left on device). Free some space") == 1

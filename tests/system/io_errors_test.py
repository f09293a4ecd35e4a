# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import argparse
import errno
import os
import shutil

import gin
import pytest

from suite.running import this_process
from suite.state import snapshots
from suite.system import io_errors


def _raised(do):
  with pytest.raises(OSError) as caught:
    do()
  return caught.value


def _fail(error, *arguments):
  raise OSError(error, os.strerror(error), *arguments)


@pytest.mark.parametrize("error, reason, remedy", [
    (errno.ENOSPC, "No space left on device", "Free some space"),
    (errno.EIO, "Input/output error", "Look after the disk"),
    (errno.ENFILE, "Too many open files in system", "Raise the limit of open files")])
def test_an_error_of_a_disk_is_one_line(capsys, error, reason, remedy):
  found = _raised(lambda: _fail(error, "/data/x"))
  code = this_process.report_error(found, argparse.Namespace(debug=False), code=1)
  said = capsys.readouterr().err
  assert code == 1 and said.count("\n") == 1
  assert said.startswith(f"suite: /data/x: {reason}. {remedy}")


def test_an_error_at_an_open_file_names_it(tmp_path):
  def write(path):
    with open(path, "wb") as file:
      file.write(b"x")
      _fail(errno.ENOSPC)

  found = _raised(lambda: write(str(tmp_path / "f")))
  assert io_errors.message(found).startswith(f"{tmp_path / 'f'}: No space left")


def test_an_error_within_a_folder_names_its_path(tmp_path, monkeypatch):
  """shutil.rmtree removes files by their name within an open folder."""
  (tmp_path / "folder").mkdir()
  (tmp_path / "folder" / "a.csv").touch()
  monkeypatch.setattr(os, "unlink", lambda name, **_: _fail(errno.EIO, name))
  found = _raised(lambda: shutil.rmtree(tmp_path / "folder"))
  assert io_errors.message(found).startswith(f"{tmp_path / 'folder' / 'a.csv'}: Input/output")


def test_gins_copy_of_an_error_is_still_one():
  """What gin raises in place of an error has no number and no file."""
  function = gin.configurable("io_errors_test_fails")(lambda: _fail(errno.EIO, "/data/y"))
  found = _raised(function)
  assert io_errors.message(io_errors.of(found)).startswith("/data/y: Input/output error")


def test_other_errors_are_none():
  assert io_errors.of(ValueError("x")) is None
  assert io_errors.of(_raised(lambda: _fail(errno.ENOENT, "/x"))) is None


def test_a_snapshot_that_cannot_be_opened_for_want_of_files_is_not_damaged(tmp_path, monkeypatch):
  """Else it would be passed over, and what came after the one before it done again."""
  saved = snapshots.Snapshots(tmp_path)
  for number in range(2):
    saved.write({"n": number})
  monkeypatch.setattr(snapshots.Snapshots, "_load", lambda *_: _fail(errno.EMFILE, "/data/z"))
  with pytest.raises(OSError, match="Too many open files"):
    snapshots.Snapshots(tmp_path).read()

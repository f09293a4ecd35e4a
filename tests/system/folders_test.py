# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import os

import pytest

from suite.system import folders


def test_a_folder_is_made_with_its_parents(tmp_path):
  folders.make(tmp_path / "a" / "b", "--x")
  folders.make(tmp_path / "a" / "b", "--x")
  folders.check(tmp_path / "c" / "d", "--x")
  assert (tmp_path / "a" / "b").is_dir() and not (tmp_path / "c").exists()


@pytest.mark.parametrize("function", [folders.check, folders.make])
def test_a_file_and_what_lies_under_one_are_refused(tmp_path, function):
  path = tmp_path / "file"
  path.touch()
  with pytest.raises(folders.FolderError, match="file is a file. Give --x a folder"):
    function(path, "--x")
  with pytest.raises(folders.FolderError, match="a/b lies under .*file, which is a file"):
    function(path / "a" / "b", "--x")


def test_what_cannot_be_made_or_written_is_refused(tmp_path, monkeypatch):
  with pytest.raises(folders.FolderError, match="/proc/no/w cannot be made: No such file.* may"):
    folders.make("/proc/no/w", "--x")
  monkeypatch.setattr(os, "access", lambda *unused: False)
  with pytest.raises(folders.FolderError, match="is read-only. Give --x a folder in which you may"):
    folders.make(tmp_path, "--x")

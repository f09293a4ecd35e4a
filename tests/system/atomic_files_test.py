# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Complete files or none: what a failure leaves, and the order of flushes and renames."""

from __future__ import annotations

import os
import pathlib
import re

import pytest

from suite.system import atomic_files


def test_a_file_and_a_folder_appear_at_the_end_of_the_block(tmp_path):
  with atomic_files.replacing(tmp_path / "new" / "f.npz") as temporary:
    assert temporary.suffix == ".npz" and temporary.parent == tmp_path / "new"
    temporary.write_text("a")
    assert not (tmp_path / "new" / "f.npz").exists()
  with atomic_files.replacing(tmp_path / "folder") as temporary:
    temporary.mkdir()
    (temporary / "x").write_text("b")
  assert (tmp_path / "new" / "f.npz").read_text() == "a"
  assert (tmp_path / "folder" / "x").read_text() == "b"
  assert sorted(p.name for p in tmp_path.iterdir()) == ["folder", "new"]


def test_an_open_file_replaces_and_patterns_do_not_match_its_temporary(tmp_path):
  path = tmp_path / "f.parquet"
  atomic_files.write(path, b"old")
  with atomic_files.opening(path) as file:
    file.write(b"new")
    assert list(tmp_path.glob("*.parquet")) == [path] and path.read_bytes() == b"old"
    assert [p.name for p in tmp_path.iterdir() if p != path][0].startswith(atomic_files.TEMPORARY)
  assert path.read_bytes() == b"new" and list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("manager", [atomic_files.replacing, atomic_files.opening])
def test_a_failure_leaves_the_old_file_and_no_temporary(tmp_path, manager):
  (tmp_path / "f").write_text("old")
  with pytest.raises(KeyError), manager(tmp_path / "f") as target:
    (target.write_text if isinstance(target, pathlib.Path) else target.write)(
        "half" if isinstance(target, pathlib.Path) else b"half")
    raise KeyError("x")
  assert [p.name for p in tmp_path.iterdir()] == ["f"] and (tmp_path / "f").read_text() == "old"


def _plain(name):
  """A temporary's name without machine, process and random digits."""
  return re.sub(r"^tmp-\w*-\d+-[0-9a-f]{8}-", "tmp-", name)


@pytest.fixture(name="steps")
def _steps(monkeypatch):
  """The names that are flushed and renamed, in order."""
  found = []
  fsync, replace = os.fsync, os.replace

  def note_fsync(descriptor):
    found.append(f"fsync {_plain(pathlib.Path(os.readlink(f'/proc/self/fd/{descriptor}')).name)}")
    fsync(descriptor)

  def note_replace(source, target):
    found.append(f"rename {_plain(pathlib.Path(source).name)} {pathlib.Path(target).name}")
    replace(source, target)

  monkeypatch.setattr(os, "fsync", note_fsync)
  monkeypatch.setattr(os, "replace", note_replace)
  return found


def test_content_is_flushed_before_the_rename_and_the_name_after_it(tmp_path, steps):
  atomic_files.write(tmp_path / "f", b"x")
  temporary = "tmp-f.part"
  assert steps == [f"fsync {temporary}", f"rename {temporary} f", f"fsync {tmp_path.name}"]


def test_a_folder_is_flushed_with_all_that_it_holds(tmp_path, steps):
  with atomic_files.replacing(tmp_path / "d") as temporary:
    temporary.mkdir()
    (temporary / "x").write_text("")
  name = "tmp-d"
  assert steps == ["fsync x", f"fsync {name}", f"rename {name} d", f"fsync {tmp_path.name}"]


def test_a_folder_replaces_an_older_one(tmp_path, steps):
  for content in ("old", "new"):
    (tmp_path / "made").mkdir()
    (tmp_path / "made" / "x").write_text(content)
    atomic_files.replace_folder(tmp_path / "made", tmp_path / "d")
  assert (tmp_path / "d" / "x").read_text() == "new"
  assert [p.name for p in tmp_path.iterdir()] == ["d"]
  assert steps[-5:] == ["fsync x", "fsync made", "rename d .d.old", "rename made d",
                        f"fsync {tmp_path.name}"]


def test_temporaries_of_processes_of_one_number_differ_and_names_are_not_too_long(
    tmp_path, monkeypatch):
  """Containers number their processes alike."""
  monkeypatch.setattr(os, "getpid", lambda: 7)
  with atomic_files.opening(tmp_path / "f") as one, atomic_files.opening(tmp_path / "f") as other:
    assert one.name != other.name
    one.write(b"1")
    other.write(b"2")
  assert (tmp_path / "f").read_bytes() == b"1" and len(list(tmp_path.iterdir())) == 1
  name = "\u00e9" * 124 + ".json"
  atomic_files.write(tmp_path / name, b"x")
  assert (tmp_path / name).read_bytes() == b"x"


def test_the_names_of_new_folders_are_flushed_once(tmp_path, steps):
  atomic_files.make_folder(tmp_path / "a" / "b")
  atomic_files.make_folder(tmp_path / "a" / "b")
  assert steps == [f"fsync {tmp_path.name}", "fsync a"]


def test_files_that_are_removed_in_the_end_need_not_be_flushed(tmp_path, steps):
  with atomic_files.unflushed():
    with atomic_files.replacing(tmp_path / "new" / "f") as temporary:
      temporary.write_text("a")
    with (tmp_path / "g").open("w") as file:
      file.write("b")
      atomic_files.sync_file(file)
      assert (tmp_path / "g").read_text() == "b"  # Written, all the same.
  assert steps == ["rename tmp-f f"]
  atomic_files.sync_path(tmp_path / "g")
  assert steps[1:] == ["fsync g"]

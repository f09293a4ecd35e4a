# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""States of a disk after a power cut, worked out by hand; a few of a real writer; other faults."""

from __future__ import annotations

import pathlib
import random
import shutil
import sys

import pytest

import suite

ROOT = pathlib.Path(suite.__file__).parents[1]


@pytest.fixture(name="power_cuts", scope="module")
def _power_cuts():
  with pytest.MonkeyPatch.context() as patch:
    for folder in ("tools", "tools/faults"):
      patch.syspath_prepend(str(ROOT / folder))
    import power_cuts
    yield power_cuts


needs_cc = pytest.mark.skipif(
    not sys.platform.startswith("linux") or not shutil.which("cc"),
    reason="calls on files are caught by LD_PRELOAD, which needs Linux and cc")


def _operations(power_cuts, *lines):
  """"kind path [second | data]", each file by its first path."""
  files, found = {}, []
  for line in lines:
    kind, path, *rest = line.split()
    path = "" if path == "." else path
    if kind == "create":
      files[path] = (len(files) + 1, 1)
    file = files.get(path) if kind not in ("rename", "mkdir", "unlink") else None
    if kind == "rename":
      files[rest[0]] = files.pop(path)
    found.append(power_cuts.Operation(
        kind, file, 0, rest[0].encode() if kind == "write" else b"", path,
        rest[0] if kind == "rename" else ""))
  return found


def _states(power_cuts, tmp_path, model, *lines):
  """All states that 200 draws make: {path: content}."""
  found = set()
  for seed in range(200):
    power_cuts.build(_operations(power_cuts, *lines), tmp_path / "s", model, random.Random(seed))
    found.add(tuple(sorted((path.relative_to(tmp_path / "s").as_posix(), path.read_bytes())
                           for path in (tmp_path / "s").rglob("*") if path.is_file())))
  return found


REPLACED = ("create a", "write a old", "flush a", "flushed a", "flush .", "flushed .",
            "create t", "write t new")


def test_what_is_not_flushed_may_be_there_or_not(power_cuts, tmp_path):
  """A rename without a flush before it may leave an empty file, one of zeros, or the old one."""
  renamed = (*REPLACED, "rename t a")
  assert _states(power_cuts, tmp_path, "flushed", *renamed) == {(("a", b"old"),)}
  found = _states(power_cuts, tmp_path, "ordered", *renamed)
  contents = {b"", b"new", b"\0\0\0"}
  assert found == {(("a", b"old"),), *((("a", b"old"), ("t", c)) for c in contents),
                   *((("a", c),) for c in contents)}


def test_flushed_before_the_rename_it_is_the_old_or_the_new_one(power_cuts, tmp_path):
  renamed = (*REPLACED, "flush t", "flushed t", "rename t a")
  # A journal has the names before a flush; the new one is there under one name or the other.
  assert _states(power_cuts, tmp_path, "ordered", *renamed) == {
      (("a", b"old"), ("t", b"new")), (("a", b"new"),)}
  assert _states(power_cuts, tmp_path, "posix", *renamed) == {
      (("a", b"old"),), (("a", b"old"), ("t", b"new")), (("a", b"new"),)}
  assert _states(power_cuts, tmp_path, "posix", *renamed, "flush .", "flushed .") == {
      (("a", b"new"),)}


def test_a_flush_that_has_not_ended_promises_nothing(power_cuts, tmp_path):
  assert () in _states(power_cuts, tmp_path, "flushed", "create a", "write a x", "flush a")


def test_a_file_is_lost_with_the_name_of_its_folder(power_cuts, tmp_path):
  made = ("mkdir d", "create d/a", "write d/a x", "flush d/a", "flushed d/a", "flush d",
          "flushed d")
  assert _states(power_cuts, tmp_path, "posix", *made) == {(), (("d/a", b"x"),)}
  assert _states(power_cuts, tmp_path, "posix", *made, "flush .", "flushed .") == {
      (("d/a", b"x"),)}


@needs_cc
def test_states_of_a_curation_are_survived(python):
  done = python.run([ROOT / "tools" / "faults", "--power", "8", "--workloads", "curation"],
                    timeout=300)
  assert done.returncode == 0, done.stdout + done.stderr[-3000:]
  assert "| power cut: curation | 8 |" in done.stdout


@needs_cc
def test_calls_of_a_curation_that_fail_end_in_one_line(python):
  done = python.run([ROOT / "tools" / "faults", "--calls", "20", "--workloads", "curation"],
                    timeout=300)
  assert done.returncode == 0, done.stdout + done.stderr[-3000:]
  assert "| no space |" in done.stdout and "| all | 20 |" in done.stdout


def test_two_hosts_add_to_one_cache(power_cuts, tmp_path):
  import two_hosts
  (found,) = two_hosts.of_caches(tmp_path, random.Random(0))
  assert found.outcome == "survived", found

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Concurrent builds, interrupted builds and full disks."""

import errno
import fcntl
import os
import subprocess
import sys
import time

import pytest
import tensorflow as tf

import tfds_builders
from tfds_builders import errors
from tfds_builders import row_builder
from tfds_builders import testing
from tfds_builders.rows.nevis.ocr import semeion


@pytest.fixture(name="row")
def _row(tmp_path):
  return testing.write(semeion.ROW, semeion.ROW.layouts[0], tmp_path / "mirror")[0]


def test_the_second_of_two_builds_waits_for_the_first(tmp_path, row):
  data_dir = tmp_path / "data"
  data_dir.mkdir()
  lock = data_dir / ".nevis.semeion.lock"
  # Another process holds the lock for two seconds.
  holder = subprocess.Popen([sys.executable, "-c", (
      "import fcntl, sys, time\n"
      "lock = open(sys.argv[1], 'a'); fcntl.flock(lock, fcntl.LOCK_EX)\n"
      "print('held', flush=True); time.sleep(2)"), str(lock)], stdout=subprocess.PIPE, text=True)
  assert holder.stdout.readline() == "held\n"
  began = time.monotonic()
  with testing.installed(row, tmp_path / "mirror"):
    builder = tfds_builders.build("nevis/semeion", data_dir)
  assert time.monotonic() - began > 1.0 and holder.wait() == 0
  assert builder.info.splits["train"].num_examples > 0
  with open(lock, "a", encoding="ascii") as free:
    fcntl.flock(free, fcntl.LOCK_EX | fcntl.LOCK_NB)


def test_the_next_build_removes_what_an_interrupted_one_left(tmp_path, row):
  left = tmp_path / "data" / "nevis" / "semeion" / "incomplete.ABC_1.0.0"
  left.mkdir(parents=True)
  (left / "nevis-train.tfrecord").write_text("half")
  assert tfds_builders.status.inspect("nevis/semeion", tmp_path / "data").state != "prepared"
  with testing.installed(row, tmp_path / "mirror"):
    tfds_builders.build("nevis/semeion", tmp_path / "data")
  assert not left.exists()
  assert tfds_builders.status.inspect("nevis/semeion", tmp_path / "data").state == "prepared"


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="names come from /proc")
def test_records_are_flushed_before_they_have_their_name(tmp_path, row, monkeypatch):
  flushed, sync = {}, os.fsync

  def recorded(descriptor):
    flushed.setdefault(os.fstat(descriptor).st_ino, os.readlink(f"/proc/self/fd/{descriptor}"))
    sync(descriptor)

  monkeypatch.setattr(os, "fsync", recorded)
  with testing.installed(row, tmp_path / "mirror"):
    builder = tfds_builders.build("nevis/semeion", tmp_path / "data")
  files = [path for path in builder.data_path.iterdir() if "record-" in path.name]
  assert files and all("incomplete" in flushed[os.stat(path).st_ino] for path in files)
  assert set(map(str, builder.data_path.glob("*.json"))) <= set(flushed.values())


def test_a_full_disk_says_what_is_free_and_leaves_nothing(tmp_path, row, monkeypatch):
  def fill(self, spool, split):
    raise OSError(errno.ENOSPC, "No space left on device")
    yield

  monkeypatch.setattr(row_builder.RowBuilder, "_generate_examples", fill)
  with testing.installed(row, tmp_path / "mirror"), \
      pytest.raises(errors.DataError, match=(
          "is full .No space left on device. while nevis/semeion is prepared: .* GB are")):
    tfds_builders.build("nevis/semeion", tmp_path / "data")
  assert not list((tmp_path / "data").rglob("*incomplete*"))
  assert not list((tmp_path / "data").rglob("*record*"))


def test_an_error_of_the_disk_within_tensorflow_is_one_line(tmp_path, row, monkeypatch):
  def fail(*unused, **named):
    cause = tf.errors.UnknownError(None, None, "/x.tfrecord; Input/output error")
    raise RuntimeError(f"UnknownError: {cause.message}") from cause

  monkeypatch.setattr(row_builder.RowBuilder, "_download_and_prepare", fail)
  with testing.installed(row, tmp_path / "mirror"), \
      pytest.raises(errors.DataError, match="/x.tfrecord; Input/output error. Look after the disk"):
    tfds_builders.build("nevis/semeion", tmp_path / "data")

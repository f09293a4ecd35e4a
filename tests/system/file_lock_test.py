# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import errno
import fcntl
import os
import platform
import subprocess
import sys
import threading
import time

import pytest

from suite.system import file_lock

HOLD = """
import pathlib
import sys
from suite.system import file_lock
with file_lock.held(pathlib.Path(sys.argv[1])):
  print("held", flush=True)
  sys.stdin.read()
"""


@pytest.fixture(name="other")
def _other(tmp_path):
  """A process that holds the lock until its standard input ends."""
  process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path / "lock")], text=True,
                             stdin=subprocess.PIPE, stdout=subprocess.PIPE)
  assert process.stdout.readline() == "held\n"
  yield process
  process.kill()
  process.communicate()


def test_a_lock_that_another_process_holds_is_refused_without_waiting(other, tmp_path):
  message = f"holds .*lock: process {other.pid} on {platform.node()}.*, 20.* -c .*/lock. Wait until"
  with pytest.raises(file_lock.LockedError, match=message), \
      file_lock.held(tmp_path / "lock", wait=False):
    pass
  with open(tmp_path / "lock", "a", encoding="ascii") as file:
    assert not file_lock.try_lock(file)


def test_the_lock_of_a_killed_process_is_free(other, tmp_path):
  other.kill()
  with file_lock.held(tmp_path / "lock"), open(tmp_path / "lock", encoding="ascii") as file:
    assert not file_lock.try_lock(file)
  with open(tmp_path / "lock", "a", encoding="ascii") as file:
    assert file_lock.try_lock(file)


def test_a_lock_that_was_released_has_no_owner(tmp_path):
  path = tmp_path / "lock"
  with file_lock.held(path):
    assert f"process {os.getpid()} on " in file_lock.owner(path)
  assert path.read_text() == "" and file_lock.owner(tmp_path / "none") == "an unknown process"


def test_who_waits_for_a_removed_lock_takes_that_of_the_new_file(tmp_path):
  """A holds and removes it, B waits for it, C makes a new one: B and C are not in at once."""
  path, inside, most, waits = tmp_path / "new" / "lock", [], [], threading.Event()

  def enter(name):
    with file_lock.held(path):
      inside.append(name)
      most.append(len(inside))
      time.sleep(0.05)
      inside.remove(name)

  others = [threading.Thread(target=enter, args=(name,)) for name in "BCDE"]
  with file_lock.held(path):
    others[0].start()
    waits.wait(0.05)
    path.unlink()
    path.parent.rmdir()
  for thread in others[1:]:
    thread.start()
  for thread in others:
    thread.join()
  assert most == [1] * 4


def test_a_file_system_without_locks_is_named(tmp_path, monkeypatch):
  def flock(*unused):
    raise OSError(errno.ENOLCK, "No locks available")

  monkeypatch.setattr(fcntl, "flock", flock)
  with pytest.raises(file_lock.NoLocksError, match="lock has no locks .* such as a local disk"), \
      file_lock.held(tmp_path / "lock", wait=False):
    pass

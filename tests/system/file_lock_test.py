# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import subprocess
import sys

import pytest

from suite.system import file_lock

HOLD = """
import sys
from suite.system import file_lock
with file_lock.held(sys.argv[1]):
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
  message = "Another process holds .*lock. Wait until it"
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

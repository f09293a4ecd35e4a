# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Commands of `suite` in forked children, which can be made to die, to wait or to lack something.

The parent of a run has imported TensorFlow (`import_runs`), but run no op: a child begins within
milliseconds.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
import fcntl
import os
import pathlib
import resource
import shutil
import signal
import sys
import time
from typing import NamedTuple

from suite import cli

MAX_SECONDS = 300.0
_SET_PIPE_SIZE = 1031  # fcntl.F_SETPIPE_SZ, which Python has from 3.10 on.
# Functions at whose N-th call a child can die: those that make a change last or be seen.
CALLS = (("os", os, "fsync"), ("os", os, "replace"), ("os", os, "rename"),
         ("shutil", shutil, "rmtree"), ("pathlib.Path", pathlib.Path, "unlink"),
         ("os", os, "ftruncate"))


class Result(NamedTuple):
  """How a child ended; `code` is negative for a signal, and None if its time was over."""

  code: int | None
  output: str


class Child:
  """A command in a child of its own.

  Args:
    arguments: of `suite`.
    before: called in the child first, to install what goes wrong.
  """

  def __init__(self, arguments: Sequence[str], before: Callable[[], None] = lambda: None):
    # No file: limits of the child may hold for it, too. What does not fit is lost.
    self._output, output = os.pipe()
    fcntl.fcntl(output, _SET_PIPE_SIZE, 1 << 20)
    os.set_blocking(output, False)
    sys.stdout.flush()
    self.pid = os.fork()
    if self.pid == 0:
      code = 70
      try:
        os.setpgid(0, 0)
        for number in (1, 2):
          os.dup2(output, number)
        sys.stdout = sys.stderr = open(1, "w", encoding="utf-8", closefd=False)  # noqa: SIM115
        before()
        code = cli.main(list(arguments))
        sys.stdout.flush()
      finally:
        os._exit(code)
    os.close(output)

  def ended(self) -> bool:
    """Whether it has ended; it is not waited for."""
    return os.waitid(os.P_PID, self.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None

  def kill(self) -> None:
    """Kills it and its children."""
    try:
      os.killpg(self.pid, signal.SIGKILL)
    except ProcessLookupError:  # It has not yet made its group.
      os.kill(self.pid, signal.SIGKILL)

  def finish(self, seconds: float = MAX_SECONDS) -> Result:
    """Waits for its end, at most so long."""
    deadline = time.monotonic() + seconds
    late = False
    while not self.ended():
      if time.monotonic() > deadline:
        late = True
        self.kill()
      time.sleep(0.005)
    _, status = os.waitpid(self.pid, 0)
    os.set_blocking(self._output, False)
    parts = []
    try:
      while part := os.read(self._output, 1 << 16):
        parts.append(part)
    except BlockingIOError:  # A grandchild still has the other end.
      pass
    os.close(self._output)
    output = b"".join(parts).decode("utf-8", "replace")
    return Result(None if late else os.waitstatus_to_exitcode(status), output)


def import_runs() -> None:
  """Imports what runs need, once; other commands do without TensorFlow."""
  from suite import experiment  # noqa: F401
  from suite.protocols import clear  # noqa: F401
  from suite.protocols import fluid  # noqa: F401
  from suite.protocols import nevis  # noqa: F401


def run(arguments: Sequence[str], before: Callable[[], None] = lambda: None,
        seconds: float = MAX_SECONDS) -> Result:
  """Runs a command to its end."""
  return Child(arguments, before).finish(seconds)


def die_at(owner: object, name: str, number: int, *, after: bool) -> None:
  """Lets this process be killed at the N-th call of a function, before or after it is done."""
  function, calls = getattr(owner, name), 0

  def counting(*args, **kwargs):
    nonlocal calls
    calls += 1
    if calls == number and not after:
      os.kill(os.getpid(), signal.SIGKILL)
    found = function(*args, **kwargs)
    if calls == number:
      os.kill(os.getpid(), signal.SIGKILL)
    return found

  setattr(owner, name, counting)


def limited(kind: int, amount: int) -> Callable[[], None]:
  """Sets a limit of the system in the child, `resource.RLIMIT_FSIZE` say."""
  def limit() -> None:
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)  # A write then fails with an error.
    resource.setrlimit(kind, (amount, amount))

  return limit


def jumping_clock(seconds: float) -> Callable[[], None]:
  """Lets the clock of the day jump after its fifth reading in the child."""
  def install() -> None:
    now, calls = time.time, 0

    def jumped() -> float:
      nonlocal calls
      calls += 1
      return now() + (seconds if calls > 5 else 0.0)

    time.time = jumped

  return install

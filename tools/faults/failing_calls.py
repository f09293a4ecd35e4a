# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Calls on files that fail: no space, an error of the device, too many open files.

Each workload is done once to count its calls. Then the n-th call fails, for every n in a random
order. `no space` lasts, and may let the half of the first write through; `device error` is one
call; `open files` is either. Calls that only read are counted, and fail, in a run that was killed
and is resumed. The command must go on or say in one line what could not be done, where and why; the
same command without the fault must then come to what it comes to without one.

C's compiler and LD_PRELOAD are needed: Linux. See file_calls.c.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
import ctypes
import errno
import os
import pathlib
import random
import shutil
import subprocess
import sys
from typing import NamedTuple

import forked
import outcomes
import power_cuts
import workloads

# As in file_calls.c.
_OPEN, _LIST, _READ, _CREATE, _WRITE, _FLUSH, _MKDIR, _RENAME, _UNLINK, _TRUNCATE = (
    1 << bit for bit in range(10))
_CHANGES = _CREATE | _WRITE | _FLUSH | _MKDIR | _RENAME | _UNLINK | _TRUNCATE
_KILL = -1  # In place of an error: the process is killed.
_GROWS = _CREATE | _WRITE | _FLUSH | _MKDIR | _RENAME


class Class(NamedTuple):
  """A class of failing calls.

  Attributes:
    kinds: of calls, a sum of the numbers above.
    error: their `errno`.
    onward: whether all later ones fail, too.
    half: whether the first write does the half of its work.
    resumes: whether it happens to a run that was killed.
  """

  kinds: int
  error: int
  onward: bool = False
  half: bool = False
  resumes: bool = False


CLASSES = {
    "no space": Class(_GROWS, errno.ENOSPC, onward=True),
    "no space, half written": Class(_GROWS, errno.ENOSPC, onward=True, half=True),
    "no space, resumed": Class(_GROWS, errno.ENOSPC, onward=True, half=True, resumes=True),
    "device error at a change": Class(_CHANGES, errno.EIO),
    "device error at a change, resumed": Class(_CHANGES, errno.EIO, resumes=True),
    "device error at a read": Class(_OPEN | _LIST | _READ, errno.EIO, resumes=True),
    "open files": Class(_OPEN | _LIST | _CREATE, errno.ENFILE),
    "open files from then on": Class(_OPEN | _LIST | _CREATE, errno.ENFILE, onward=True),
    "open files, resumed": Class(_OPEN | _LIST | _CREATE, errno.ENFILE, resumes=True)}


def are_caught() -> bool:
  """Whether this process has the library."""
  return hasattr(ctypes.CDLL(None), "fail_calls")


def restart(folder: pathlib.Path) -> int:
  """Runs this command again with the library; returns its exit code."""
  library = power_cuts.build_library(folder)
  return subprocess.run([sys.executable, *sys.argv], check=False,
                        env={**os.environ, "LD_PRELOAD": str(library)}).returncode


class _Counted:
  """A workload, what it comes to, and a state of it that a kill has left."""

  def __init__(self, name: str, folder: pathlib.Path):
    self.name, self._work = name, workloads.WORKLOADS[name][0]
    self._root, self._part = folder / "root", folder / "part"
    workloads.prepare(name)
    folder.mkdir()
    self.num_calls: dict[str, int] = {}
    self._begin(resumes=False)
    done = self._do(Class(_CHANGES, 0), 0)
    self._result = workloads.result(done.output)
    if done.code or self._result == "none":
      raise RuntimeError(f"{name} fails without a fault:\n{done.output[-2000:]}")
    self._begin(resumes=False)
    self._do(Class(_CHANGES, _KILL), int(0.7 * _library().calls_made()))
    shutil.copytree(self._root, self._part, symlinks=True)
    for kind, what in CLASSES.items():
      self._begin(what.resumes)
      self._do(what._replace(error=0), 0)
      self.num_calls[kind] = _library().calls_made()

  def _begin(self, resumes: bool) -> None:
    workloads.acknowledge(self._root, 0)
    shutil.rmtree(self._root, ignore_errors=True)
    if resumes:
      shutil.copytree(self._part, self._root, symlinks=True)
    else:
      self._root.mkdir(parents=True)

  def _do(self, what: Class, call: int) -> forked.Result:
    """Does the work; its `call`-th call fails, none of 0."""
    def install() -> None:
      _library().calls_in(os.fsencode(self._root))
      _library().fail_calls(what.kinds, ctypes.c_long(call or sys.maxsize), what.error, what.onward,
                            what.half)
      workloads.do(self._work, self._root)

    _library().fail_calls(0, ctypes.c_long(sys.maxsize), 0, 0, 0)  # Shares the counter.
    done = forked.run([], install)
    _library().stop_failing()
    return done

  def fail(self, kind: str, call: int) -> outcomes.Fault:
    """Lets one call fail, and does the work again."""
    what = CLASSES[kind]
    self._begin(what.resumes)
    done = self._do(what, call)
    workloads.acknowledge(self._root, done.output.count(workloads.ACKNOWLEDGED))
    again = self._do(what, 0)
    found, line = workloads.result(again.output), outcomes.last_line(done.output)
    results = {found} if done.code else {found, workloads.result(done.output)}
    outcome, said = outcomes.SURVIVED if done.code == 0 else outcomes.of_failure(done), line
    if outcome == outcomes.REFUSED and not self._is_clear(line, what.error):
      outcome = outcomes.TRACEBACK
    if outcome == outcomes.TRACEBACK:
      said = line if outcome != outcomes.of_failure(done) else done.output[-1500:]
    elif "LOST" in again.output or again.code:
      outcome, said = outcomes.LOST, f"{line}; then {again.output[-500:]}"
    elif results != {self._result}:
      outcome, said = outcomes.SILENT, f"{line}; then {found}"
    return outcomes.Fault(kind, f"{self.name}: {kind}, call {call} of {self.num_calls[kind]}",
                          outcome, said)

  def _is_clear(self, line: str, error: int) -> bool:
    """Whether a message says where and why."""
    return os.strerror(error) in line and str(self._root) in line


def _library() -> ctypes.CDLL:
  found = ctypes.CDLL(None)
  found.calls_made.restype = ctypes.c_long
  return found


def campaign(folder: pathlib.Path, *, number: int, seed: int, first: int = 0,
             names: Sequence[str] = ()) -> Iterator[outcomes.Fault]:
  """Yields the outcomes of failing calls, each of a workload's calls once.

  Args:
    folder: for scratch files.
    number: of calls that fail, at most.
    seed: of their order.
    first: so many are left out.
    names: of workloads, one after the other; (): all.
  """
  for name in names or workloads.WORKLOADS:
    counted = _Counted(name, folder / name)
    calls = [(kind, call + 1) for kind, count in counted.num_calls.items() for call in range(count)]
    random.Random(f"calls/{seed}/{name}").shuffle(calls)
    for place, (kind, call) in enumerate(calls[first:first + number], first):
      fault = counted.fail(kind, call)
      yield fault._replace(what=f"{fault.what} (--from {place})")

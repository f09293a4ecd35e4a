# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Two hosts on one folder: processes with names of hosts, and process numbers, of their own.

Where the system lets us, each has namespaces of its own (`unshare`), so that both are process 1 of
their host, as in two containers; else their names and numbers are put in place of the system's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
import ctypes
import functools
import os
import pathlib
import platform
import random
import shutil
import signal
import time

import forked
import numpy as np
import outcomes
import run_faults

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_check
from suite.system import atomic_files

_NEW_NAMES, _NEW_NUMBERS = 0x04000000, 0x20000000  # CLONE_NEWUTS, CLONE_NEWPID.


@functools.cache
def has_namespaces() -> bool:
  """Whether this user may have namespaces."""
  pid = os.fork()
  if pid == 0:
    os._exit(int(ctypes.CDLL(None).unshare(_NEW_NAMES | _NEW_NUMBERS) != 0))
  return os.waitpid(pid, 0)[1] == 0


def on_host(name: str) -> Callable[[], None]:
  """What makes a child process 1 of a host of this name."""
  def install() -> None:
    if not has_namespaces():
      platform.node = lambda: name
      os.getpid = lambda: 1
      return
    libc = ctypes.CDLL(None)
    libc.unshare(_NEW_NAMES | _NEW_NUMBERS)
    libc.sethostname(name.encode(), len(name))
    vars(platform)["_uname_cache"] = None  # It was read before.
    pid = os.fork()  # The child is the first process of the new numbers.
    if pid:
      os._exit(abs(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])))

  return install


def _both(work: Callable[[int], None]) -> list[forked.Result]:
  """Does work(0) and work(1) on two hosts at once."""
  def begin(number: int) -> forked.Child:
    def before() -> None:
      on_host(f"host{number}")()
      work(number)
      os._exit(0)
    return forked.Child([], before)

  return [child.finish() for child in [begin(0), begin(1)]]


def of_caches(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Both add models to one cache."""
  path, rng = folder / "cache", np.random.default_rng(draw.randrange(1 << 30))
  shutil.rmtree(path, ignore_errors=True)
  answers = rng.integers(0, 2, (16, 200)).astype(np.int8)
  ids = [f"s{i}" for i in range(200)]
  accuracy_cache.AccuracyCache(path, create=True).add_models(["first"], answers[:1], ids)

  def work(number: int) -> None:
    for index in range(number, 16, 2):
      accuracy_cache.AccuracyCache(path).add_models([f"m{index}"], answers[index:index + 1])

  done = _both(work)
  cache = accuracy_cache.AccuracyCache(path)
  names = [f"m{i}" for i in range(16)]
  whole = set(names) <= set(cache.models) and np.array_equal(cache.matrix(names), answers)
  yield _outcome("cache", done, whole and not cache_check.problems(path))


def of_files(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """Both write one file again and again: it is always that of one of them."""
  path, size = folder / "file", draw.randint(1, 1 << 16)
  texts = [bytes([65 + number]) * size for number in range(2)]

  def work(number: int) -> None:
    for _ in range(200):
      atomic_files.write(path, texts[number])
      if path.read_bytes() not in texts:
        raise ValueError("a torn file")

  done = _both(work)
  left = [p for p in folder.iterdir() if p.name.startswith(atomic_files.TEMPORARY)]
  yield _outcome(f"file of {size} bytes", done, path.read_bytes() in texts and not left)


def of_runs(folder: pathlib.Path, draw: random.Random) -> Iterator[outcomes.Fault]:
  """One runs, the other is refused and told who does; the first is killed, the other goes on."""
  load = _workload(folder)
  workdir = load.fresh("hosts")
  first = forked.Child(load.command(workdir), on_host("host0"))
  while not (workdir / ".lock").exists() and not first.ended():
    time.sleep(0.01)
  time.sleep(draw.uniform(0.1, 1.5))
  running = not first.ended()
  second = forked.run(load.command(workdir), on_host("host1"))
  still_running = not first.ended()
  os.killpg(first.pid, signal.SIGKILL)
  first.finish()
  fault = load.judge("two hosts", "a run", workdir,
                     forked.run(load.command(workdir), on_host("host1")))
  told = outcomes.of_failure(second) == outcomes.REFUSED and "host0" in second.output
  if running and still_running and not (second.code == 2 and told):
    said = f"exit code {second.code}: {second.output[-500:]}"
    fault = fault._replace(outcome=outcomes.TRACEBACK, said=said)
  yield fault


@functools.cache
def _workload(folder: pathlib.Path) -> run_faults.Workload:
  (folder / "run").mkdir()
  return run_faults.Workload("fluid", folder / "run")


def _outcome(what: str, done: list[forked.Result], whole: bool) -> outcomes.Fault:
  failed = [one.output[-500:] for one in done if one.code]
  return outcomes.Fault("two hosts", what, outcomes.TRACEBACK if failed else
                        outcomes.SURVIVED if whole else outcomes.LOST, "; ".join(failed))


def campaign(folder: pathlib.Path, *, number: int, seed: int, first: int = 0,
             names: Sequence[str] = ()) -> Iterator[outcomes.Fault]:
  """Yields the outcomes of two hosts on one folder; each is a function of the seed and its number.
  """
  del names
  kinds = (of_caches, of_files, of_runs)
  for one in range(first, first + number):
    for fault in kinds[one % len(kinds)](folder, random.Random(f"hosts/{seed}/{one}")):
      yield fault._replace(what=f"{fault.what}, {one}")

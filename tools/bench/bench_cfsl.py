# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Continual few-shot learning: the suite compared with a plain PyTorch implementation.

Omniglot's shapes, 5-way 1-shot, 25 targets per set, 5 inner steps of second order in training and
of first order in evaluation. For each case (cfsl_cases.py) two processes build everything and warm
up; then they work in alternating rounds while the other one sleeps. The table has medians over the
rounds with their range, the median of the rounds' ratios, the extra seconds of the first step (in
which the suite traces its graphs), and peak memory. "others" is the number of usable cores that
other processes took. Do not quote a ratio marked "busy": a parallel operation waits for its slowest
part, and PyTorch spins while it waits.

Threads: `--threads N` gives each side N threads in total. PyTorch parallelizes within operations;
for the suite's small operations it is faster to run N at once, one thread each (`--intra`,
`--inter`).

PyTorch is needed by this comparison only (`pip install '.[bench]'`); it may be
installed in another environment, `--torch_python PATH`.
"""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import shlex
import statistics
import subprocess
import sys
import time
from typing import Any, NamedTuple

import cfsl_cases

FOLDER = pathlib.Path(__file__).resolve().parent
_PAUSE = 0.3  # Seconds until the threads of the last active process sleep.
_BUSY = 0.3  # Number of cores taken by other processes above which a ratio is marked.
_HEAD = ("| case | unit | suite | PyTorch | suite is | start, s | peak GiB | others |\n"
         "|---|---|---:|---:|---:|---:|---:|---:|")


class Worker:
  """A process that serves one case (cfsl_cases.serve) and is killed at the end."""

  def __init__(self, command: list[str]):
    path = os.pathsep.join(filter(None, [str(FOLDER.parent), os.environ.get("PYTHONPATH")]))
    self._command = command
    self._process = subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, text=True)

  def close(self) -> None:
    self._process.kill()
    self._process.communicate()

  def answer(self) -> dict[str, Any]:
    assert self._process.stdout is not None
    line = self._process.stdout.readline()
    if not line:
      raise RuntimeError(f"{shlex.join(self._command)} ended with status {self._process.wait()}; "
                         "what it said is above.")
    return json.loads(line)

  def round(self) -> dict[str, Any]:
    assert self._process.stdin is not None
    time.sleep(_PAUSE)
    self._process.stdin.write("\n")
    self._process.stdin.flush()
    return self.answer()


class Measured(NamedTuple):
  """Measurements of one side of a case: `start` is its first answer, `rounds` the later ones."""

  start: dict[str, Any]
  rounds: list[dict[str, Any]]

  @property
  def rates(self) -> list[float]:
    return [one["tasks_per_second"] for one in self.rounds]


def measure(commands: dict[str, list[str]], num_rounds: int
            ) -> tuple[dict[str, Measured], float | None]:
  """Measures the sides in alternating order; also returns the cores that other processes took.

  A side without the case is left out.
  """
  workers: dict[str, Worker] = {}
  sides: dict[str, Measured] = {}
  try:
    for name, command in commands.items():
      worker = Worker(command)
      workers[name] = worker
      start = worker.answer()
      if not start.get("missing"):
        sides[name] = Measured(start, [])
    busy, began = busy_seconds(), time.monotonic()
    for number in range(num_rounds):
      for name in list(sides)[::1 if number % 2 == 0 else -1]:
        sides[name].rounds.append(workers[name].round())
    took = time.monotonic() - began
    return sides, _others(busy, busy_seconds(), sides, took)
  finally:
    for worker in workers.values():
      worker.close()


def busy_seconds(path: str = "/proc/stat") -> float | None:
  """CPU seconds of all processes on the usable cores; None where the system has no such file."""
  try:
    with open(path, encoding="utf-8") as file:
      cores = {row.split()[0]: row.split()[1:] for row in file if row.startswith("cpu")}
  except OSError:
    return None
  # user nice system idle iowait irq softirq steal
  return sum(int(cores[f"cpu{core}"][i]) for core in os.sched_getaffinity(0)
             for i in (0, 1, 2, 5, 6, 7)) / os.sysconf("SC_CLK_TCK")


def _others(before: float | None, after: float | None, sides: dict[str, Measured],
            took: float) -> float | None:
  if before is None or after is None:
    return None
  ours = sum(one["seconds_cpu"] for side in sides.values() for one in side.rounds)
  return max(0.0, after - before - ours) / took


def line(case: cfsl_cases.Case, sides: dict[str, Measured], others: float | None) -> str:
  """Formats a row of the table."""
  ours, theirs = sides.get("suite"), sides.get("PyTorch")
  ratio = ""
  if ours and theirs:
    times = statistics.median(a / b for a, b in zip(ours.rates, theirs.rates))
    ratio = f"{times:.2f} x as fast" + " (busy)" * bool(others and others > _BUSY)
  values = [case.title, case.unit, _shown(case, ours), _shown(case, theirs), ratio,
            _both(ours, theirs, lambda side: side.start["seconds_start"], "{:.1f}"),
            _both(ours, theirs, lambda side: max(r["peak_gib"] for r in side.rounds), "{:.2f}"),
            "-" if others is None else f"{others:.2f}"]
  return f"| {' | '.join(values)} |"


def _shown(case: cfsl_cases.Case, side: Measured | None) -> str:
  if side is None:
    return "-"
  median, *ends = (_number(case.value(rate)) for rate in (
      statistics.median(side.rates), min(side.rates), max(side.rates)))
  return f"{median} [{' - '.join(ends[::-1] if case.as_seconds else ends)}]"


def _number(value: float) -> str:
  return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _both(ours: Measured | None, theirs: Measured | None, value: Any, form: str) -> str:
  return " / ".join("-" if side is None else form.format(value(side)) for side in (ours, theirs))


def has_torch(python: str) -> bool:
  done = subprocess.run([python, "-c", "import torch"], check=False, capture_output=True)
  return done.returncode == 0


def commands(name: str, args: argparse.Namespace) -> dict[str, list[str]]:
  """Commands that start both sides of a case."""
  options = ["--case", name, "--seconds", str(args.seconds)]
  if args.threads:
    options += ["--threads", str(args.threads)]
  ours = [f"--{part}={getattr(args, part)}" for part in ("intra", "inter") if getattr(args, part)]
  started = {"suite": [sys.executable, str(FOLDER / "suite_cfsl.py"), *options, *ours]}
  if not args.without_torch:
    started["PyTorch"] = [args.torch_python, str(FOLDER / "torch_cfsl.py"), *options]
  return started


def run(args: argparse.Namespace, machine: str) -> None:
  """Prints the table, each row when its case is measured."""
  names = cfsl_cases.chosen(args.cases)
  if not args.without_torch and not has_torch(args.torch_python):
    raise SystemExit(
        f"{args.torch_python} has no PyTorch. Install it (pip install '.[bench]'), "
        "name another Python with --torch_python, or measure the suite alone: --without_torch.")
  print(f"{machine}\n`{shlex.join(['python', *sys.argv])}`: {args.rounds} rounds of about "
        f"{args.seconds:g} s\n")
  head = _HEAD
  for name in names:
    sides, others = measure(commands(name, args), args.rounds)
    if not sides:
      print(f"No side has the case {name} yet.", file=sys.stderr)
      continue
    if head:
      print("\n".join(f"- {side}: {made.start['version']}" for side, made in sides.items()))
      print(f"\n{head}")
      head = ""
    print(line(cfsl_cases.CASES[name], sides, others), flush=True)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Measures what dry runs take, and writes it into the table of docs/costs.md.

    python tools/plans.py                     all shipped runs and tables
    python tools/plans.py fluid/paper_table   these; the lines of others stay
    python tools/plans.py --papers            those of docs/papers.csv
    python tools/plans.py --missing           those without a line: goes on where it was stopped
    python tools/plans.py --limit 180         seconds of all cores after which one is stopped

Each is one process, `suite run NAME --dry_run --rate 1e13`, with its children; it is a fork of this
one, whose start, TensorFlow's import above all, is taken once and counts each time. Seconds are
those of the clock and of all cores; memory is the greatest sum over the processes, with the files
that they map once; FLOPs are those of all phases and cells.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import importlib
import os
import pathlib
import signal
import sys
import tempfile
import time
from typing import NamedTuple

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite import cli
from suite.configs import run_files
from suite.running import this_process

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "costs.md"
HEAD = ("| dry run | seconds | of all cores | memory | FLOPs | |", "|---|---:|---:|---:|---:|---|")
_POLL_SECONDS = 2.0
_FLOPS = "FLOPs: ", " in all."  # Around what a dry run says of all its FLOPs.


class DryRun(NamedTuple):
  """What a dry run took; `says` is "" if it ended well."""

  seconds: float
  cpu_seconds: float
  num_bytes: int
  flops: str
  says: str

  def line(self, name: str) -> str:
    """A line of the table."""
    return (f"| `{name}` | {self.seconds:.0f} | {self.cpu_seconds:.0f} | "
            f"{self.num_bytes / 1e9:.1f} GB | {self.flops} | {self.says} |")


def known(text: str) -> dict[str, str]:
  """The lines of the page's table by the name of the run."""
  lines = text.splitlines()
  first = lines.index(HEAD[0]) + len(HEAD)
  end = next((i for i in range(first, len(lines)) if not lines[i].startswith("| `")), len(lines))
  return {line.split("`")[1]: line for line in lines[first:end]}


def merged(text: str, found: Mapping[str, DryRun]) -> str:
  """The page with the lines of these runs in its table, sorted by name; other lines stay."""
  lines, rows = text.splitlines(), known(text)
  first = lines.index(HEAD[0]) + len(HEAD)
  end = first + len(rows)
  rows.update({name: one.line(name) for name, one in found.items()})
  return "\n".join([*lines[:first], *(rows[name] for name in sorted(rows)), *lines[end:]]) + "\n"


def measured(name: str, limit: float, start: float) -> DryRun:
  """Plans one run or table in a fork of this process, whose start has taken so many seconds."""
  with tempfile.TemporaryDirectory(prefix="lifelong-plans-") as folder:
    log, began, peak = pathlib.Path(folder, "log.txt"), time.monotonic(), 0
    child = os.fork()
    if not child:
      code = 1
      try:
        os.setsid()
        with log.open("wb") as stream:
          for number in (1, 2):
            os.dup2(stream.fileno(), number)
          code = cli.main(["run", name, "--dry_run", "--rate", "1e13",
                           "--workdir", str(pathlib.Path(folder, "run"))])
          sys.stdout.flush()
      finally:
        os._exit(code)
    pid, status, usage, says, spent = 0, 0, None, "", 0.0
    while not pid:
      time.sleep(_POLL_SECONDS)
      size, now = _of_group(child)
      peak, spent = max(peak, size), max(spent, now)
      if not says and spent > limit:
        says = f"stopped after {limit:.0f} s of all cores"
        os.killpg(child, signal.SIGKILL)
      pid, status, usage = os.wait4(child, os.WNOHANG)
    lines = log.read_text(encoding="utf-8", errors="replace").strip().splitlines() or ["nothing"]
    if os.waitstatus_to_exitcode(status) and not says:
      says = lines[-1][:120].replace("|", "/")
    amount = next((line[len(_FLOPS[0]):-len(_FLOPS[1])] for line in lines
                   if line.startswith(_FLOPS[0]) and line.endswith(_FLOPS[1])), "")
    # Processes that are forks of a server are not among the children that the system counts.
    spent = max(spent, usage.ru_utime + usage.ru_stime)
    return DryRun(time.monotonic() - began + start, spent + start, peak, amount, says)


def _of_group(group: int) -> tuple[int, float]:
  """The memory of a process group, mapped files once, and its seconds of all cores."""
  size, files, ticks = 0, 0, 0
  for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
    try:
      stat = path.read_text().rpartition(")")[2].split()
      if int(stat[2]) == group:
        ticks += sum(map(int, stat[11:15]))  # Of children that have ended, too.
        lines = path.with_name("smaps_rollup").read_text().splitlines()
        rss, own = (1024 * int(next(one for one in lines if one.startswith(name)).split()[1])
                    for name in ("Rss:", "Anonymous:"))
        size, files = size + own, max(files, rss - own)
    except (OSError, ValueError, IndexError, StopIteration):
      continue  # It has ended.
  return size + files, ticks / os.sysconf("SC_CLK_TCK")


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("names", nargs="*", help="shipped runs (all)")
  parser.add_argument("--limit", type=float, default=600.0,
                      help="seconds of all cores (600)")
  parser.add_argument("--missing", action="store_true", help="only those without a line")
  parser.add_argument("--papers", action="store_true", help="the runs of docs/papers.csv")
  args = parser.parse_args(arguments)
  names = list(args.names)
  if args.papers:
    with open(PAGE.with_name("papers.csv"), encoding="utf-8", newline="") as file:
      names += [line["run"] for line in csv.DictReader(file) if line["run"]]
  this_process.import_tensorflow()
  importlib.import_module("suite.running.dry_run")
  start = time.process_time()
  for name in dict.fromkeys(names or run_files.shipped()):
    if args.missing and name in known(PAGE.read_text(encoding="utf-8")):
      continue
    one = measured(name, args.limit, start)
    print(one.line(name), flush=True)
    PAGE.write_text(merged(PAGE.read_text(encoding="utf-8"), {name: one}), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Measures what dry runs take, and writes it into the table of docs/costs.md.

    python tools/plans.py                     all shipped runs and tables
    python tools/plans.py fluid/paper_table   these; the lines of others stay
    python tools/plans.py --papers            those of docs/papers.csv
    python tools/plans.py --limit 180         seconds after which one is stopped

Each is one process, `suite run NAME --dry_run --rate 1e13`, with its children. Seconds are those of
the clock and of all cores; memory is the greatest sum over the processes, shared pages once.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time
from typing import NamedTuple

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.configs import gin_files

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "costs.md"
HEAD = ("| dry run | seconds | of all cores | memory | |", "|---|---:|---:|---:|---|")
_POLL_SECONDS = 1.0


class DryRun(NamedTuple):
  """What a dry run took; `says` is "" if it ended well."""

  seconds: float
  cpu_seconds: float
  num_bytes: int
  says: str

  def line(self, name: str) -> str:
    """A line of the table."""
    return (f"| `{name}` | {self.seconds:.0f} | {self.cpu_seconds:.0f} | "
            f"{self.num_bytes / 1e9:.1f} GB | {self.says} |")


def merged(text: str, found: Mapping[str, DryRun]) -> str:
  """The page with the lines of these runs in its table, sorted by name; other lines stay."""
  lines = text.splitlines()
  first = lines.index(HEAD[0]) + len(HEAD)
  end = next((i for i in range(first, len(lines)) if not lines[i].startswith("| `")), len(lines))
  rows = {line.split("`")[1]: line for line in lines[first:end]}
  rows.update({name: one.line(name) for name, one in found.items()})
  return "\n".join([*lines[:first], *(rows[name] for name in sorted(rows)), *lines[end:]]) + "\n"


def measured(name: str, limit: float) -> DryRun:
  """Plans one run or table in a process of its own."""
  with tempfile.TemporaryDirectory(prefix="lifelong-plans-") as folder:
    log, began, peak = pathlib.Path(folder, "log.txt"), time.monotonic(), 0
    command = [sys.executable, "-m", "suite", "run", name, "--dry_run", "--rate", "1e13",
               "--workdir", str(pathlib.Path(folder, "run"))]
    with log.open("wb") as stream:
      process = subprocess.Popen(command, stdout=stream, stderr=stream, start_new_session=True)
      pid, status, usage, says = 0, 0, None, ""
      while not pid:
        time.sleep(_POLL_SECONDS)
        peak = max(peak, _group_bytes(process.pid))
        if not says and time.monotonic() - began > limit:
          says = f"stopped after {limit:.0f} s"
          os.killpg(process.pid, signal.SIGKILL)
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode and not says:
      text = log.read_text(encoding="utf-8", errors="replace").strip()
      says = (text.splitlines() or ["nothing"])[-1][:120].replace("|", "/")
    return DryRun(time.monotonic() - began, usage.ru_utime + usage.ru_stime, peak, says)


def _group_bytes(group: int) -> int:
  """The memory of a process group; pages that several share count once."""
  total = 0
  for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
    try:
      if int(path.read_text().rpartition(")")[2].split()[2]) == group:
        lines = path.with_name("smaps_rollup").read_text().splitlines()
        total += 1024 * int(next(one for one in lines if one.startswith("Pss:")).split()[1])
    except (OSError, ValueError, IndexError, StopIteration):
      continue  # It has ended.
  return total


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("names", nargs="*", help="shipped runs (all)")
  parser.add_argument("--limit", type=float, default=600.0, help="seconds (600)")
  parser.add_argument("--papers", action="store_true", help="the runs of docs/papers.csv")
  args = parser.parse_args(arguments)
  names = list(args.names)
  if args.papers:
    with open(PAGE.with_name("papers.csv"), encoding="utf-8", newline="") as file:
      names += [line["run"] for line in csv.DictReader(file) if line["run"]]
  for name in dict.fromkeys(names or gin_files.run_files()):
    one = measured(name, args.limit)
    print(one.line(name), flush=True)
    PAGE.write_text(merged(PAGE.read_text(encoding="utf-8"), {name: one}), encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())

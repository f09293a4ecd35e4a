# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Kills a run at random moments, resumes it, and compares its records with those of an undisturbed run.

  python tools/kill_resume.py quickstart --kills 10 --seed 0 [--gin_param X=Y ...]

Every kill is a SIGKILL of the whole process; each time the same command goes on. Records must be the same byte for byte
once wall-clock times (keys that start with "seconds") are taken out. Exit code 0 if they are.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time
from typing import List

from suite.reporting import records

_MAX_SECONDS = 3600


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("run")
  parser.add_argument("--kills", type=int, default=10)
  parser.add_argument("--seed", type=int, default=0, help="of the moments of the kills")
  parser.add_argument("--gin_param", action="append", default=[])
  parser.add_argument("--keep", help="keep both work directories here")
  args = parser.parse_args()
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(args.keep or scratch)
    command = [sys.executable, "-m", "suite", "run", args.run]
    command += [part for p in args.gin_param for part in ("--gin_param", p)]
    seconds = undisturbed(command, folder / "whole")
    kills = disturbed(command, folder / "killed", seconds, args.kills, random.Random(args.seed))
    differences = compare(folder / "whole", folder / "killed")
  print(f"{kills} kills of a run of {seconds:.0f} s: "
        + ("records identical" if not differences else "RECORDS DIFFER"))
  print("\n".join(differences[:20]))
  return 1 if differences else 0


def undisturbed(command: List[str], workdir: pathlib.Path) -> float:
  """Runs to the end; returns the seconds it took."""
  start = time.monotonic()
  subprocess.run([*command, "--workdir", str(workdir)], check=True, timeout=_MAX_SECONDS,
                 stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
  return time.monotonic() - start


def disturbed(command: List[str], workdir: pathlib.Path, seconds: float, kills: int,
              moments: random.Random) -> int:
  """Runs to the end through kills at random moments; returns how many there were."""
  command = [*command, "--workdir", str(workdir)]
  killed = 0
  while killed < kills:
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
      # Start-up alone must not use up the time in which something happens.
      process.wait(timeout=moments.uniform(0.05, 1.0) * seconds / max(2, kills / 3) + 8)
      break  # finished before all kills were made
    except subprocess.TimeoutExpired:
      process.kill()
      process.wait()
      killed += 1
      print(f"kill {killed}: {_position(workdir)}", flush=True)
  undisturbed(command[:-2], workdir)
  return killed


def _position(workdir: pathlib.Path) -> str:
  return ", ".join(f"{p.parent.name} {len(p.read_bytes().splitlines())} records"
                   for p in sorted(workdir.glob("*/records.jsonl")))


def compare(first: pathlib.Path, second: pathlib.Path) -> List[str]:
  """What differs between the records of two work directories, times taken out."""
  differences = []
  names = sorted(p.parent.name for p in first.glob("*/records.jsonl"))
  others = sorted(p.parent.name for p in second.glob("*/records.jsonl"))
  if names != others or not names:
    return [f"learners {names} and {others}"]
  for name in names:
    a, b = (records.strip_times(records.read(d / name / "records.jsonl")) for d in (first, second))
    # The text decides, not the values: 1 and 1.0 are different bytes.
    if json.dumps(a) != json.dumps(b):
      differences += [f"{name}: {line}" for line in records.diff(a, b)] or [f"{name}: order of keys"]
  return differences


if __name__ == "__main__":
  sys.exit(main())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A campaign of faults: what kills, damage, shortages and crafted data come to.

  python tools/faults --faults 1000 --seed 0     the whole campaign
  python tools/faults --seconds 600              as much of it as fits
  python tools/faults --power 5000 --seed 0      states that power cuts may leave (power_cuts.py)
  python tools/faults --calls 2000 --seed 0      calls on files that fail (failing_calls.py)
  python tools/faults --hosts 20 --seed 0        two hosts on one folder (two_hosts.py)

Faults are drawn from the seed, so that each can be made again: `--from N --faults 1` repeats the
N-th. Those that are lost, silent or a traceback are printed with what was done. The exit code is 0
if none is.
It runs on POSIX systems. docs/reliability.md has a table that it made.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import random
import sys
import tempfile
import time

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import data_faults
import failing_calls
import outcomes
import power_cuts
import run_faults
import two_hosts
import workloads


def campaign(folder: pathlib.Path, *, faults: int, seed: int, seconds: float, first: int = 0,
             share_of_runs: float = 0.4) -> list[outcomes.Fault]:
  """Makes faults until so many are made or the time is over.

  Args:
    folder: for scratch files.
    faults: at most so many.
    seed: of the draws; fault n is a function of (seed, n).
    seconds: no fault begins later.
    first: number of the first fault.
    share_of_runs: share of faults of runs; the others are of data and are a hundred times as fast.
  """
  loads: dict[str, run_faults.Workload] = {}
  made: list[outcomes.Fault] = []
  deadline, number = time.monotonic() + seconds, first
  while len(made) < faults and time.monotonic() < deadline:
    draw = random.Random(f"{seed}/{number}")
    number += 1
    of_runs = draw.random() < share_of_runs
    kinds = run_faults.KINDS if of_runs else data_faults.KINDS
    make = draw.choices([kind for kind, _ in kinds], [often for _, often in kinds])[0]
    if of_runs:
      name = draw.choice(sorted(run_faults.RUNS))
      if name not in loads:
        (folder / name).mkdir()
        loads[name] = run_faults.Workload(name, folder / name)
      found = list(make(loads[name], draw))
    else:
      found = list(make(folder, draw))
    made += found
    for fault in found[:1]:
      if fault.outcome in outcomes.BAD:
        print(f"{fault.outcome}: fault {number - 1} ({fault.kind}): {fault.what}\n  {fault.said}",
              flush=True)
  return made


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--faults", type=int, default=1000)
  parser.add_argument("--seed", type=int, default=0)
  parser.add_argument("--seconds", type=float, default=float("inf"))
  parser.add_argument("--from", type=int, default=0, dest="first", metavar="N")
  parser.add_argument("--share_of_runs", type=float, default=0.4)
  parser.add_argument("--power", type=int, default=0, metavar="N",
                      help="N states after power cuts in place of other faults")
  parser.add_argument("--calls", type=int, default=0, metavar="N",
                      help="N calls on files that fail in place of other faults")
  parser.add_argument("--hosts", type=int, default=0, metavar="N",
                      help="N times two hosts on one folder in place of other faults")
  parser.add_argument("--workloads", nargs="*", default=(), choices=sorted(workloads.WORKLOADS))
  parser.add_argument("--record", nargs=2, metavar=("WORKLOAD", "FOLDER"), help=argparse.SUPPRESS)
  args = parser.parse_args()
  if args.record:
    workloads.main(*args.record)
  with tempfile.TemporaryDirectory() as scratch:
    folder = pathlib.Path(scratch)
    if args.calls and not failing_calls.are_caught():
      return failing_calls.restart(folder)
    begun = time.monotonic()
    many = {"power": power_cuts.campaign, "calls": failing_calls.campaign,
            "hosts": two_hosts.campaign}
    chosen = next((name for name in many if getattr(args, name)), None)
    if chosen:
      made = []
      for fault in many[chosen](folder, number=getattr(args, chosen), seed=args.seed,
                                first=args.first, names=args.workloads):
        made.append(fault)
        if fault.outcome in outcomes.BAD:
          print(f"{fault.outcome}: {fault.what}\n  {fault.said}", flush=True)
        if time.monotonic() - begun > args.seconds:
          break
    else:
      made = campaign(folder, faults=args.faults, seed=args.seed, first=args.first,
                      seconds=args.seconds, share_of_runs=args.share_of_runs)
  print(f"{len(made)} faults in {time.monotonic() - begun:.0f} s, seed {args.seed}\n")
  print(outcomes.table(made))
  return 1 if any(f.outcome in outcomes.BAD for f in made) else 0


if __name__ == "__main__":
  sys.exit(main())

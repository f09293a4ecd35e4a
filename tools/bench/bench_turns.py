# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A case of this checkout and of another one's in turns, in CPU time.

Each round runs `tools/bench CASE --rounds 1` of both checkouts, one after the other in alternating
order, in processes whose `time.perf_counter` is `time.process_time`: what other processes of the
machine take is not counted, and one thread a process (`--threads 1`) leaves nothing that waits.
A row's value is the first number beside its name; rows that both checkouts print are compared.
"""

from __future__ import annotations

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

_ROOT = pathlib.Path(__file__).resolve().parents[2]
CASES = ("train", "clear", "fluid", "cfsl", "lifelong")
_SITE = "import time\ntime.perf_counter = time.process_time\n"


def run(args: argparse.Namespace) -> None:
  """Prints, for each row, the median and the range of the ratios this / other; 2 is twice as fast.

  Raises:
    SystemExit: a checkout's case fails; its last lines are shown.
  """
  if not args.other or args.case not in CASES:
    raise SystemExit(f"turns needs --case (got {args.case!r}; allowed: {', '.join(CASES)}) and "
                     f"--other FOLDER, a checkout (got {args.other!r}).")
  checkouts = {"this": _ROOT, "other": pathlib.Path(args.other).resolve()}
  options = ["--rounds", "1", "--steps", str(args.steps)]
  options += ["--threads", str(args.threads)] if args.threads else []
  if args.case == "cfsl":
    options += ["--without_torch", "--seconds", str(args.seconds)]
    options += ["--cases", args.cases] if args.cases else []
  found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
  with tempfile.TemporaryDirectory() as site:
    pathlib.Path(site, "sitecustomize.py").write_text(_SITE, encoding="utf-8")
    for number in range(args.rounds):
      for name in sorted(checkouts, reverse=number % 2 == 0):
        folder = checkouts[name]
        done = subprocess.run(
            [sys.executable, str(folder / "tools/bench"), args.case, *options], check=False,
            capture_output=True, text=True,
            env={**os.environ, "PYTHONPATH": os.pathsep.join([site, str(folder)])})
        if done.returncode:
          raise SystemExit(f"tools/bench {args.case} of {folder} ends with {done.returncode}:\n"
                           f"{(done.stdout + done.stderr)[-2000:]}")
        found[name].append(speeds(done.stdout))
  print(f"| {args.case} | this / other, CPU time | range |\n| --- | ---: | ---: |")
  for row in found["this"][0]:
    ratios = [one[row] / two[row] for one, two in zip(*found.values()) if row in one and row in two]
    if ratios:
      print(f"| {row} | {statistics.median(ratios):.3f} | "
            f"{min(ratios):.3f} to {max(ratios):.3f} |")


def speeds(printed: str) -> dict[str, float]:
  """Reads what a case has printed: for each row of the suite's, a value that grows with speed."""
  found = {}
  for line in printed.splitlines():
    if line.startswith("| ") and not line.startswith(("| |", "| ---")):  # clear, fluid, cfsl
      name, *cells = (cell.strip() for cell in line.strip("|").split("|"))
      number = next((match for cell in cells if (match := re.match(r"[\d.,]+(e[+-]?\d+)?", cell))),
                    None)
      if number:
        value = float(number[0].replace(",", ""))
        is_time = any(re.fullmatch(r"m?s( .*)?|seconds.*", cell) for cell in cells)
        found[name] = 1 / value if is_time else value
    elif match := re.match(r"(.+?) +median +([\d.]+) images/s", line):  # train
      found[match[1]] = float(match[2])
    elif match := re.match(r" *([\d,]+) suite +([\d. ]+?) {2,}\S+$", line):  # lifelong
      for step, value in enumerate(match[2].split()):
        found[f"{match[1]} samples, column {step + 1}"] = 1 / float(value)
  return found

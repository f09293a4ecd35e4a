# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reproduces published numbers of methods, with the settings of their papers.

  python tools/proofs                                    # lists them
  python tools/proofs permuted_mnist --data DIR --methods er der_plus_plus --seeds 0 1 2 --store
  python tools/proofs page                               # docs/proofs.md

DIR holds mnist/, the four idx files. `--store` puts each result into docs/results/proofs.csv as
soon as it is there, and leaves out methods and seeds that are in the file. With `--tasks 2` the
first two tasks alone are run, and their CPU time is stored: what the page says of numbers not run.
docs/results/published.csv has the published numbers, with remarks on differences.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import csv
import dataclasses
import os
import pathlib
import sys
import time

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import baselines
import dark_experience
import gdumb_memories
import proof
import proofs_page
import randumb
import three_scenarios

ROOT = pathlib.Path(__file__).resolve().parents[2]
BENCHMARKS: Mapping[str, proof.Benchmark] = {
    **dark_experience.BENCHMARKS, **three_scenarios.BENCHMARKS, **gdumb_memories.BENCHMARKS,
    **baselines.BENCHMARKS, **randumb.BENCHMARKS}


def main(argv: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
  parser.add_argument("benchmarks", nargs="*", metavar="BENCHMARK", help="or page")
  parser.add_argument("--data", default=os.environ.get("LIFELONG_DATA", "../shared/data"))
  parser.add_argument("--methods", nargs="+", help="all of the benchmark, if not given")
  parser.add_argument("--seeds", nargs="+", type=int, default=[0])
  parser.add_argument("--tasks", type=int, help="the first tasks alone, for their CPU time")
  parser.add_argument("--check", action="store_true", help="whether the page is of its rows")
  parser.add_argument("--store", action="store_true", help="put each result into the file")
  args = parser.parse_args(argv)
  published = proofs_page.read(proofs_page.PUBLISHED)
  if not args.benchmarks:
    for row in published:
      print("{benchmark:<24} {method:<20} {published:>6}  {title}".format(**row))
    return 0
  if args.benchmarks == ["page"]:
    return proofs_page.make(BENCHMARKS, proofs_page.read(proofs_page.STORED), published, args.check)
  for name in args.benchmarks:
    if name not in BENCHMARKS:
      print(f"Unknown benchmark {name}; there are {', '.join(BENCHMARKS)}, and page.")
      return 2
  known = [method for name in args.benchmarks for method in BENCHMARKS[name].methods]
  unknown = sorted(set(args.methods or ()) - set(known))
  if unknown:
    print(f"{' and '.join(args.benchmarks)}: no method {', '.join(unknown)}; there are "
          f"{', '.join(known)}.")
    return 2
  folder = pathlib.Path(args.data) / "mnist"
  if not folder.is_dir():
    print(f"{folder} is not there; give --data a folder with mnist/, the four idx files.")
    return 2
  numbers = {(row["benchmark"], row["method"]): row["published"] for row in published}
  for name in args.benchmarks:
    for seed in args.seeds:
      for method in BENCHMARKS[name].methods:
        if method in (args.methods or known):
          run(name, method, seed, folder, args.store, numbers.get((name, method), "nothing"),
              args.tasks)
  return 0


def run(name: str, method: str, seed: int, folder: pathlib.Path, stores: bool, published: str,
        first: int | None = None) -> None:
  """Runs one method, unless its result is stored already, and prints its line.

  Args:
    first: as many tasks as are run; None: all of them.
  """
  tasks = "" if first is None else str(first)
  key = {"benchmark": name, "method": method, "seed": str(seed), "tasks": tasks}
  if stores and any(key.items() <= row.items() for row in proofs_page.read(proofs_page.STORED)):
    return
  benchmark, began = BENCHMARKS[name], time.monotonic()
  made = benchmark.tasks(proof.mnist(folder), seed)
  cpu = time.process_time()
  accuracy = proof.run(benchmark, method, dataclasses.replace(
      made, buckets=made.buckets[:first]), seed)
  cpu = time.process_time() - cpu
  print(f"{name} {method}, seed {seed}: {accuracy:.2f} (published {published}), "
        f"{time.monotonic() - began:.0f} s, {cpu:.0f} CPU s", flush=True)
  if stores:
    ours, of = (f"{accuracy:.2f}", "") if first is None else ("", str(len(made)))
    with open(proofs_page.STORED, "a", newline="") as file:
      csv.writer(file, lineterminator="\n").writerow(
          [name, method, seed, ours, f"{cpu:.0f}", tasks, of])


if __name__ == "__main__":
  sys.exit(main())

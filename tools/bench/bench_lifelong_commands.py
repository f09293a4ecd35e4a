# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The commands of an accuracy cache at scale: time and peak memory of each.

  python tools/bench/bench_lifelong_commands.py --samples 100000 1000000 10000000 --models 1000

Each command runs in a process of its own on one cache, in the order of the table. Seconds and peak
memory count from the moment that `suite` is imported (the last line says what that takes). The last
estimate is measured inside a process, with all files in memory. With `--text` the ids are text with
an index, not numbers. Afterwards `--growth` models are added one by one; the questions are asked
ten times in between.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np

from suite import lifelong
from suite.lifelong.cache import accuracy_cache

BUDGET = 1024
_RUN = """
import json, sys, time
from suite import cli

def peak():
  with open("/proc/self/status") as file:
    return next(int(line.split()[1]) for line in file if line.startswith("VmHWM:"))

start, cpu, before = time.perf_counter(), time.process_time(), peak()
code = cli.main(sys.argv[1:])
print("\\n" + json.dumps([code, time.perf_counter() - start, time.process_time() - cpu,
                         peak() - before, before]))
"""


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--samples", type=int, nargs="+", default=[10**5, 10**6])
  parser.add_argument("--models", type=int, default=1000)
  parser.add_argument("--growth", type=int, default=0, help="models to add one by one")
  parser.add_argument("--text", action="store_true", help="ids are text, not numbers")
  parser.add_argument("--folder", type=pathlib.Path, help="where to make the caches")
  args = parser.parse_args(arguments)
  for size in args.samples:
    with tempfile.TemporaryDirectory(prefix="lifelong-bench-", dir=args.folder) as folder:
      for row in bench(pathlib.Path(folder), size, args.models, args.text):
        print(f"| {size:,} x {args.models:,} | {row} |", flush=True)
      if args.growth:
        print(growth(pathlib.Path(folder) / "cache", args.growth), flush=True)
  return 0


def rows(size: int, num: int, seed: int = 0) -> Iterator[np.ndarray]:
  """Yields answers of models of many abilities to samples of many difficulties: bool [size]."""
  rng = np.random.default_rng(seed)
  difficulty = np.random.default_rng(1000).integers(30, 226, size, np.uint8)
  for _ in range(num):
    shift = int(rng.integers(-40, 41))
    limit = np.clip(difficulty.astype(np.int16) + shift, 2, 254)
    yield rng.integers(0, 256, size, np.uint8) < limit


def bench(folder: pathlib.Path, size: int, num: int, text: bool) -> Iterator[str]:
  """Yields "command | seconds | seconds of the processor | MB" of each command."""
  cache, one = folder / "cache", folder / "one.npy"
  began = time.perf_counter()
  ids = [f"image-{index:010d}" for index in range(size)] if text else range(size)
  accuracy_cache.AccuracyCache(cache, create=True).add_models(
      [f"m{index}" for index in range(num)], rows(size, num), ids)
  yield f"made | {time.perf_counter() - began:.1f} | | "
  np.save(one, next(rows(size, 1, seed=1)).astype(np.int8)[None])
  sample = folder / "sample.csv"
  sample.write_text("model,id,correct\n" + "".join(f"m{i},new-1,{i % 2}\n" for i in range(num)))
  base = ("--cache", str(cache))
  commands = [
      ("status, first", ["status", *base]), ("status", ["status", *base]),
      ("rank", ["rank", *base]),
      ("add one model", ["add-models", *base, str(one)]),
      ("add one sample", ["add-samples", *base, str(sample), "--names",
                          *(f"m{i}" for i in range(num))]),
      ("add one more sample", ["add-samples", *base, str(folder / "sample2.csv"), "--names",
                               *(f"m{i}" for i in range(num))]),
      ("ask, first", ["estimate", *base, "--ask", str(folder / "ask.txt")]),
      ("ask", ["estimate", *base, "--ask", str(folder / "ask.txt")])]
  (folder / "sample2.csv").write_text(sample.read_text().replace("new-1", "new-2"))
  start = 0
  for name, command in commands:
    *found, start = run(command)
    yield f"{name} | {_cells(found)}"
  answers = np.load(one)[0]
  found = accuracy_cache.AccuracyCache(cache)
  asked = (folder / "ask.txt").read_text().split()
  places = found.sample_ids.find(asked)
  (folder / "answers.csv").write_text("id,correct\n" + "".join(
      f"{identity},{answers[min(place, size - 1)]}\n" for identity, place in
      zip(asked, places.tolist())))
  *measured, start = run(["estimate", *base, "--answers", str(folder / "answers.csv")])
  yield f"estimate | {_cells(measured)}"
  reference = lifelong.Reference(cache)
  model = {identity: int(answers[min(place, size - 1)]) for identity, place in
           zip(asked, places.tolist())}
  times, cpu = [], []
  for _ in range(7):
    began, busy = time.perf_counter(), time.process_time()
    reference.estimate_from(model)
    times.append(time.perf_counter() - began)
    cpu.append(time.process_time() - busy)
  yield f"first estimate from {BUDGET} answers, in a process | {times[0]:.3f} | {cpu[0]:.3f} | "
  began = time.perf_counter()
  lifelong.Reference(cache)
  opened = time.perf_counter() - began
  yield (f"estimate from {BUDGET} answers, in a process (opening: {opened:.3f}) | "
         f"{statistics.median(times):.3f} | {statistics.median(cpu):.3f} | ")
  # Answers of a known model to samples that it was not evaluated on; then without some samples.
  for name, some in (("gap", range(1000)), ("rest", range(1000, 2000))):
    (folder / f"{name}.csv").write_text("model,id,correct\n" + "".join(
        f"late,{identity},{place % 2}\n" for place, identity in enumerate(cache_ids(found, some))))
  (folder / "gone.txt").write_text("\n".join(cache_ids(found, range(0, size, size // 100))))
  for name, command in (
      ("add a model with 1,000 answers", ["add", *base, str(folder / "gap.csv")]),
      ("add 1,000 more answers of it", ["add", *base, str(folder / "rest.csv")]),
      ("status after it", ["status", *base]),
      ("retire 100 samples", ["retire", *base, "--file", str(folder / "gone.txt")]),
      ("rank without them", ["rank", *base])):
    *measured, start = run(command)
    yield f"{name} | {_cells(measured)}"
  *measured, start = run(["verify", *base])
  yield f"verify | {_cells(measured)}"
  num_bytes = sum(path.stat().st_size for path in cache.iterdir())
  index = sum(path.stat().st_size for path in cache.glob("*.ids.bin"))
  yield f"files: {num_bytes / 1e6:.0f} MB; of ids {index / size:.1f} bytes a sample | | | "
  yield f"memory of an imported suite | | | {start:.0f}"


def cache_ids(cache: accuracy_cache.AccuracyCache, places: Sequence[int]) -> list[str]:
  """Ids of samples of a cache."""
  return cache.sample_ids.at(np.array(places))


def _cells(found: Sequence[float]) -> str:
  seconds, cpu, memory = found
  return f"{seconds:.2f} | {cpu:.2f} | {memory:.0f}"


def run(command: Sequence[str]) -> tuple[float, float, float, float]:
  """Runs a command; returns (seconds, seconds of the processor, MB above the start, MB then)."""
  done = subprocess.run([sys.executable, "-c", _RUN, "lifelong", *command], check=False,
                        capture_output=True, text=True, env={**os.environ})
  if done.returncode:
    raise RuntimeError(f"{command} failed:\n{done.stdout}\n{done.stderr}")
  code, seconds, cpu, memory, start = json.loads(done.stdout.splitlines()[-1])
  if code:
    raise RuntimeError(f"{command} returned {code}:\n{done.stdout}\n{done.stderr}")
  return seconds, cpu, memory / 1024, start / 1024


def growth(folder: pathlib.Path, num: int) -> str:
  """Adds models one by one and asks after each; says how many of the questions stay."""
  cache = accuracy_cache.AccuracyCache(folder)
  before = lifelong.Reference(cache).questions(256).tolist()
  times, descriptors, kept = [], 0, 256
  for index, row in enumerate(rows(cache.num_samples, num, seed=2)):
    began = time.perf_counter()
    cache.add_models([f"grown{index}"], [row])
    times.append(time.perf_counter() - began)
    descriptors = max(descriptors, len(os.listdir("/proc/self/fd")))
    if index % max(1, num // 10) == 0 or index == num - 1:
      after = lifelong.Reference(cache).questions(256).tolist()
      kept = min(kept, len(set(before) & set(after)))
  return (f"{num:,} models added one by one to {cache.num_samples:,} samples: median "
          f"{statistics.median(times):.3f} s, longest {max(times):.2f} s; {kept} of 256 questions "
          f"stayed; at most {descriptors} descriptors; {len(list(folder.iterdir()))} files")


if __name__ == "__main__":
  sys.exit(main())

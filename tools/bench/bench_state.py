# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What saving an event costs, and what a run of many events holds in memory.

Nothing is learned: all time is that of `RunState.commit`. Short events are FLUID's: predictions and
lists of 500 samples each, saved four times a second. Long ones are saved each, with a memory of
2,000 x 2,048 floats of which 20 rows are new. Events of one sample show what grows with a run, and
a report what reading them takes.

`--other FOLDER` measures a checkout of another revision in turns, in processes of their own.
"""

from __future__ import annotations

import json
import os
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile
import time

import numpy as np
import tensorflow as tf

_ROOT = pathlib.Path(__file__).resolve().parents[2]


def _commits(folder: pathlib.Path, events: int, samples: int, shape: tuple[int, int], *,
             is_short: bool) -> dict[str, float]:
  """Commits events; returns CPU and wall-clock milliseconds an event, and MB of memory.

  Memory is read after a tenth of the events and after all of them.
  """
  from suite.compute import distribution
  from suite.protocols import run_state
  from suite.reporting import progress
  from suite.reporting import run_writer
  rng = np.random.default_rng(0)
  learner = tf.Module()
  learner.memory = tf.Variable(rng.normal(size=shape).astype(np.float32))
  writer = run_writer.RunWriter(folder, None, progress.Progress("x"))
  state = run_state.RunState(folder, writer, name="x", seed=0, distribution=distribution.build())
  state.resume(learner)
  labels = rng.integers(0, 1000, samples)
  record = {"kind": "steps", "protocol": "fluid", "labels": labels.tolist(),
            "answers": labels.tolist(), "max_logits": rng.normal(size=samples).tolist()}
  saved = {"labels": labels, "top1": labels, "true_class_probability": np.ones(samples),
           "correct": np.ones(samples, bool)}
  rows = tf.constant(rng.normal(size=(20, shape[1])).astype(np.float32))
  begun, cpu, early = time.monotonic(), time.process_time(), 0.0
  for event in range(events):
    if not is_short:
      first = 20 * event % (shape[0] - 20)
      learner.memory[first:first + 20].assign(rows)
    state.ledger.charge("train", flops=10**9, macs=10**9 // 2, examples=samples, steps=1)
    state.commit(record, {"ids": [f"{event}/{i}" for i in range(samples)], **saved},
                 is_short=is_short)
    if event == events // 10:
      early = _megabytes()
  cpu, wall = time.process_time() - cpu, time.monotonic() - begun
  late = _megabytes()
  state.flush()
  writer.close()
  return {"CPU ms an event": 1e3 * cpu / events, "ms an event": 1e3 * wall / events,
          "MB after a tenth": early, "MB after all": late,
          "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
          "MB of records": os.path.getsize(folder / "records.jsonl") / 1e6}


def _megabytes() -> float:
  with open("/proc/self/statm", encoding="ascii") as file:
    return int(file.read().split()[1]) * resource.getpagesize() / 1e6


def _report(folder: pathlib.Path, events: int) -> dict[str, float]:
  """Reports a run with this many records of one sample."""
  from suite.compute import ledger
  from suite.reporting import records
  from suite.reporting import tables
  cost = ledger.Ledger()
  with records.RecordWriter(folder / "x" / "records.jsonl", sync=False) as writer:
    for event in range(events):
      cost.charge("train", flops=10**9, macs=10**9 // 2, examples=1, steps=1)
      writer.write({"event": event, "run": "x", "kind": "steps", "protocol": "bench",
                    "labels": [event % 1000], "answers": [event % 999], "max_logits": [0.5],
                    **cost.totals(), "seconds_event": 0.01})
    size = writer.offset
  before, begun, cpu = _megabytes(), time.monotonic(), time.process_time()
  tables.report([folder])
  return {"CPU s": time.process_time() - cpu, "s": time.monotonic() - begun, "MB before": before,
          "peak MB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
          "MB of records": size / 1e6}


CASES = {
    "report": _report,
    "short events": lambda folder, n: _commits(folder, n, 500, (1000, 512), is_short=True),
    "long events": lambda folder, n: _commits(folder, n // 10, 500, (2000, 2048), is_short=False),
    "events of one sample": lambda folder, n: _commits(folder, n, 1, (10, 8), is_short=True)}


def run(rounds: int, events: int, other: str | None, cases: list[str]) -> None:
  """Prints medians of all rounds, each in a process of its own, and ratios of CPU time."""
  checkouts = {"this": _ROOT, **({"other": pathlib.Path(other).resolve()} if other else {})}
  for case in cases or CASES:
    found: dict[str, list[dict[str, float]]] = {name: [] for name in checkouts}
    for number in range(rounds):
      for name in sorted(checkouts, reverse=number % 2 == 0):
        done = subprocess.run(
            [sys.executable, __file__, case, str(events)], check=True, capture_output=True,
            text=True, env={**os.environ, "PYTHONPATH": str(checkouts[name])})
        found[name].append(json.loads(done.stdout))
    for name, values in found.items():
      print(f"{case}, {name}: " + ", ".join(
          f"{statistics.median(one[key] for one in values):.4g} {key}" for key in values[0]))
    if other:
      ratios = [next(iter(a.values())) / next(iter(b.values())) for a, b in zip(*found.values())]
      print(f"{case}, this / other, CPU: {statistics.median(ratios):.3f} "
            f"({min(ratios):.3f} to {max(ratios):.3f})", flush=True)


if __name__ == "__main__":
  with tempfile.TemporaryDirectory() as scratch:
    print(json.dumps(CASES[sys.argv[1]](pathlib.Path(scratch) / "w", int(sys.argv[2]))))

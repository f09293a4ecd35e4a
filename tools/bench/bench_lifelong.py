# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sort & Search at scale: the suite compared with the paper's algorithm in plain numpy.

  sort            the order of N samples from 100 models' answers in memory: int8 [M, N] for numpy,
                  bits for the suite
  model added     the order with one more model
  threshold       the cut of one new model from its 1,024 answers
  1,000 asked     its predicted answers to 1,000 given samples (numpy predicts all)
  peak            peak memory of the sort, beyond the answers, in bytes per sample

Then a cache of 1,000,000 samples x 1,000 models on disk. Sizes for which numpy needs more memory
than available are left out. Without `--large` N is at most 10,000,000.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
import ctypes
import os
import pathlib
import statistics
import tempfile
import time
from typing import Any

import numpy as np

from suite.lifelong.answers import rank_order
from suite.lifelong.answers import ranking
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import bit_rows
from suite.lifelong.cache import sample_counts

MODELS, BUDGET, ASKED = 100, 1024, 1000
_PATTERN = 1 << 17  # Number of samples whose answers are drawn; more are shifted repetitions.
# Peak memory of numpy's sort, bytes per sample: int64 sums, order and the reversed order.
_NUMPY_PEAK = 32
_STEPS = ("sort", "model added", "threshold", f"{ASKED:,} asked")

Work = Callable[[], Any]


def answers_in_bits(size: int) -> np.ndarray:
  """Draws answers of logistic models (skill minus difficulty) as bits: uint8 [M, N / 8]."""
  rng = np.random.default_rng(0)
  num = min(size, _PATTERN)
  chance = rng.normal(size=(MODELS, 1)) - rng.normal(size=num)
  pattern = bit_rows.pack(rng.logistic(size=(MODELS, num)) < chance)
  rows = np.empty((MODELS, (size + 7) // 8), np.uint8)
  for start in range(0, rows.shape[1], pattern.shape[1]):
    shifted = np.roll(pattern, start // pattern.shape[1], axis=1)
    rows[:, start:start + pattern.shape[1]] = shifted[:, :rows.shape[1] - start]
  rows[:, -1] &= np.uint8(256 - (1 << -size % 8) & 255)  # Bits behind the end are 0.
  return rows


class Suite:
  """The suite's implementation, on bits."""

  def __init__(self, rows: np.ndarray, size: int):
    self._rows, self._size = list(rows), size

  def sort(self) -> None:
    self._counts = bit_rows.column_counts(self._rows, self._size)
    self._order = rank_order.RankOrder(self._counts)

  def add_model(self) -> None:
    counts = self._counts + bit_rows.column_counts(self._rows[:1], self._size)
    rank_order.RankOrder(counts)

  def prepare(self, asked: np.ndarray) -> None:
    self._questions = ranking.OrderQuestions(self._order,
                                          rank_order.nested_ranks(self._size, BUDGET))
    self._answers = bit_rows.at(self._rows[0], self._questions.samples)
    self._asked = asked

  def search(self) -> int:
    self._found = self._questions.threshold(self._answers)
    return self._found.cut

  def predict(self) -> np.ndarray:
    return self._found.probabilities(self._asked)

  def samples_from(self, ranks: np.ndarray) -> np.ndarray:
    return self._order.samples_at(ranks)


class Numpy:
  """A direct implementation of the paper's algorithm (sections 3.1 and 3.2), on int8 answers."""

  def __init__(self, rows: np.ndarray, size: int):
    self._answers, self._size = np.empty((len(rows), size), np.int8), size
    for row, bits in zip(self._answers, rows):
      row[:] = bit_rows.unpack(bits, size)

  def sort(self) -> None:
    self._order = np.argsort(-self._answers.sum(axis=0), kind="stable")

  add_model = sort  # The algorithm has no incremental update.

  def prepare(self, asked: np.ndarray) -> None:
    self._ranks = (np.arange(BUDGET) * 2 + 1) * self._size // (2 * BUDGET)
    self._row = self._answers[0][self._order[self._ranks]]
    self._asked = asked

  def search(self) -> int:
    gains = np.concatenate([[0], np.cumsum(2 * self._row.astype(np.int64) - 1)])
    self._cut = int(np.argmax(gains)) * self._size // BUDGET
    return self._cut

  def predict(self) -> np.ndarray:
    predicted = np.zeros(self._size, np.int8)
    predicted[self._order[:self._cut]] = 1
    return predicted[self._asked]

  def samples_from(self, ranks: np.ndarray) -> np.ndarray:
    return self._order[ranks]


def run(num_rounds: int, large: bool) -> None:
  """Prints the tables."""
  print(f"{MODELS} models, {num_rounds} rounds, medians of alternating turns in ms\n"
        f"{'samples':>11s} {'':8s}" + "".join(f"{step:>14s}" for step in _STEPS) + f"{'peak':>14s}")
  for size in (10 ** 5, 10 ** 6, 10 ** 7) + ((10 ** 8,) if large else ()):
    for name, times, peak in _measured(size, num_rounds if size <= 10 ** 7 else 3):
      cells = "".join(f"{1e3 * one:14.3f}" for one in times)
      print(f"{size:11,d} {name:8s}{cells}{peak:>14s}", flush=True)
  cache_on_disk(num_rounds)


def _measured(size: int, num_rounds: int) -> list[tuple[str, list[float], str]]:
  """Measures (name, median seconds of each step, peak) of both."""
  rows = answers_in_bits(size)
  candidates: dict[str, Any] = {"suite": Suite(rows, size)}
  left_out = size * (MODELS + _NUMPY_PEAK) > _free_memory() * 0.6
  if not left_out:
    candidates["numpy"] = Numpy(rows, size)
  peaks = {name: _peak(one.sort) for name, one in candidates.items()}
  asked = np.random.default_rng(1).integers(0, size, ASKED)
  times: dict[str, list[list[float]]] = {name: [[], [], [], []] for name in candidates}
  for number in range(num_rounds):
    for name in list(candidates)[::1 if number % 2 == 0 else -1]:
      one, taken = candidates[name], times[name]
      taken[0].append(_seconds(one.sort))
      taken[1].append(_seconds(one.add_model))
      one.prepare(asked)
      taken[2].append(_seconds(one.search, 20))
      taken[3].append(_seconds(one.predict, 20 if name == "suite" else 1))
  if not left_out:
    ranks = np.random.default_rng(2).integers(0, size, 1000)
    if not np.array_equal(*(one.samples_from(ranks) for one in candidates.values())):
      raise AssertionError("The two orders differ: a mistake in one of them.")
  found = [(name, [statistics.median(part) for part in times[name]],
            "?" if peaks[name] is None else f"{peaks[name] / size:.1f}") for name in candidates]
  if left_out:
    print(f"{size:11,d} numpy    needs {size * (MODELS + _NUMPY_PEAK) / 1e9:.0f} GB; left out")
  return found


def cache_on_disk(num_rounds: int, num_samples: int = 1_000_000, num_models: int = 1000) -> None:
  """Measures the size of a cache and the time to open it, to count it and to add a model."""
  rng = np.random.default_rng(0)

  def answers() -> Iterator[np.ndarray]:
    for _ in range(num_models):
      yield np.unpackbits(rng.integers(0, 256, num_samples // 8, dtype=np.uint8)).view(bool)

  with tempfile.TemporaryDirectory(prefix="lifelong-bench-") as folder:
    cache = accuracy_cache.AccuracyCache(folder, create=True)
    cache.add_models([f"model{i:04d}" for i in range(num_models)], answers(),
                     [f"sample{i:07d}" for i in range(num_samples)])
    size = sum(path.stat().st_size for path in pathlib.Path(folder).iterdir())
    rounds = range(num_rounds)
    opened = [_seconds(lambda: accuracy_cache.AccuracyCache(folder)) for _ in rounds]
    ids = _seconds(lambda: accuracy_cache.AccuracyCache(folder).ids)
    counted = [_seconds(lambda: sample_counts.SampleCounts(cache, keep=False)) for _ in rounds]
    counts = sample_counts.SampleCounts(cache)
    again = [_seconds(lambda: sample_counts.SampleCounts(cache)) for _ in rounds]
    cache.add_models(["one more"], [np.ones(num_samples, bool)])
    grown = _seconds(counts.update)
  print(f"\ncache of {num_samples:,} samples x {num_models:,} models: {size / 1e6:.1f} MB with its "
        f"ids; opened in {1e3 * statistics.median(opened):.2f} ms (ids are read when asked for: "
        f"{1e3 * ids:.0f} ms)\nits counts: from scratch {1e3 * statistics.median(counted):.0f} ms, "
        f"as saved {1e3 * statistics.median(again):.2f} ms, with one more model and saved again "
        f"{1e3 * grown:.1f} ms")


def _seconds(work: Work, times: int = 1) -> float:
  began = time.perf_counter()
  for _ in range(times):
    work()
  return (time.perf_counter() - began) / times


def _peak(work: Work) -> int | None:
  """Peak memory of `work` in bytes; None where the system (not Linux) does not report it."""
  try:
    ctypes.CDLL(None).malloc_trim(0)  # Returns freed memory, so that its reuse is counted.
    with open("/proc/self/clear_refs", "w", encoding="ascii") as file:
      file.write("5")  # Resets the peak to the present value.
    before = _status("VmHWM")
    work()
    return _status("VmHWM") - before
  except (OSError, AttributeError):
    work()
    return None


def _status(key: str) -> int:
  with open("/proc/self/status", encoding="ascii") as file:
    return next(int(line.split()[1]) * 1024 for line in file if line.startswith(f"{key}:"))


def _free_memory() -> int:
  try:
    with open("/proc/meminfo", encoding="ascii") as file:
      return next(int(line.split()[1]) * 1024 for line in file if line.startswith("MemAvailable:"))
  except OSError:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") // 2

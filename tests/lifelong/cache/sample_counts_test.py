# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Counts kept up to date are those counted from scratch, and so is the order by them."""

from __future__ import annotations

import fractions
import math
import os

import numpy as np
import pytest

from suite.lifelong.answers import rank_order
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import bit_rows
from suite.lifelong.cache import sample_counts


def _cache(folder, answers):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  answers = np.asarray(answers)
  cache.add_models([f"m{i}" for i in range(len(answers))], answers,
                   [f"s{i}" for i in range(answers.shape[1])])
  return cache


def _grow(cache, rng, num, *, missing):
  """Adds models, or samples, at random."""
  low, m, n = (-1 if missing else 0), cache.num_models, cache.num_samples
  if rng.integers(2):
    cache.add_models([f"m{i}" for i in range(m, m + num)], rng.integers(low, 2, (num, n)))
  else:
    cache.add_samples([f"s{i}" for i in range(n, n + num)], rng.integers(low, 2, (m, num)))


def _slow_order(matrix):
  """Easy to hard by exact fractions, one sample at a time."""
  num_models, correct, seen = len(matrix), (matrix == 1).sum(0), (matrix >= 0).sum(0)
  mean = fractions.Fraction(int(correct.sum()), max(1, int(seen.sum())))
  keys = [math.floor(c + (num_models - s) * (c + 2 * mean) / (s + 2) + fractions.Fraction(1, 2))
          for c, s in zip(correct.tolist(), seen.tolist())]
  return sorted(range(len(keys)), key=lambda sample: (-keys[sample], sample))


@pytest.mark.parametrize("missing", [False, True])
@pytest.mark.parametrize("seed", range(8))
def test_incremental_is_from_scratch(tmp_path, seed, missing):
  rng = np.random.default_rng(seed)
  cache = _cache(tmp_path, rng.integers(-1 if missing and seed % 2 else 0, 2, (3, 40)))
  counts = sample_counts.SampleCounts(cache)
  order = rank_order.RankOrder(counts.ranked())
  for _ in range(8):
    models = cache.num_models
    _grow(cache, rng, int(rng.integers(1, 20)), missing=missing and bool(rng.integers(2)))
    if rng.integers(3) == 0:
      continue  # Several growths are taken in at once.
    counts.update()
    matrix = cache.matrix()
    np.testing.assert_array_equal(counts.correct, (matrix == 1).sum(0))
    if (matrix == -1).any():
      np.testing.assert_array_equal(counts.seen, (matrix >= 0).sum(0))
    scratch = sample_counts.SampleCounts(accuracy_cache.AccuracyCache(tmp_path), keep=False)
    np.testing.assert_array_equal(counts.ranked(), scratch.ranked())
    assert counts.correct.dtype == scratch.correct.dtype
    slow = _slow_order(matrix)
    ranked = counts.ranked()
    same_models = cache.num_models == models and len(ranked) >= order.size
    if same_models and (ranked[:order.size] == order.counts).all():
      order = order.grown(ranked)
    else:
      order = rank_order.RankOrder(ranked)
    assert order.samples_at(np.arange(len(slow))).tolist() == slow
    saved = sample_counts.SampleCounts(accuracy_cache.AccuracyCache(tmp_path))
    np.testing.assert_array_equal(saved.ranked(), ranked)


@pytest.mark.parametrize("missing", [0, -1])
def test_counts_without_some_models_are_those_of_the_others(tmp_path, missing):
  cache = _cache(tmp_path, np.random.default_rng(0).integers(missing, 2, (6, 50)))
  cache.add_models(["partly"], [np.where(np.arange(50) < 9, 1, -1)])
  counts = sample_counts.SampleCounts(cache)
  for rest in (["partly"], ["partly", cache.models[2]], cache.models[:5]):
    others = [name for name in cache.models if name not in rest]
    correct, seen = counts.without(rest)
    expected, evaluated = cache.counts(others)
    np.testing.assert_array_equal(correct, expected)
    assert correct.dtype == expected.dtype
    if evaluated is None:
      assert seen is None
    else:
      np.testing.assert_array_equal(seen, evaluated)


def test_by_hand(tmp_path):
  cache = _cache(tmp_path, [[1, 0, 1, -1], [1, 0, -1, -1]])
  counts = sample_counts.SampleCounts(cache)
  assert counts.correct.tolist() == [2, 0, 1, 0]
  assert counts.seen.tolist() == [2, 2, 1, 0]
  # 3 of 5 are correct. Sample 2: 1 + 1 (1 + 1.2) / 3 = 1.73; sample 3: 0 + 2 (0 + 1.2) / 2 = 1.2.
  assert counts.ranked().tolist() == [2, 0, 2, 1]
  order = rank_order.RankOrder(counts.ranked())
  assert order.samples_at(np.arange(4)).tolist() == [0, 2, 3, 1]


def test_complete_counts_are_not_shrunken(tmp_path):
  cache = _cache(tmp_path, [[1, 0, 1], [0, 0, 1]])
  counts = sample_counts.SampleCounts(cache)
  assert counts.seen is None and counts.ranked() is counts.correct
  cache.add_samples(["x"], np.array([[1], [-1]]))
  counts.update()
  np.testing.assert_array_equal(counts.ranked()[:3], [1, 0, 2])


def test_a_growth_costs_what_is_new(tmp_path, monkeypatch):
  cache = _cache(tmp_path, np.ones((5, 30), int))
  counts = sample_counts.SampleCounts(cache)
  counted = []
  slow = bit_rows.column_counts

  def spy(rows, num, **kwargs):
    counted.append((len(rows), num))
    return slow(rows, num, **kwargs)

  monkeypatch.setattr(bit_rows, "column_counts", spy)
  cache.add_models(["new"], [np.zeros(30, int)])
  counts.update()
  cache.add_samples(["x", "y"], np.zeros((6, 2), int))
  counts.update()
  counts.update()
  assert counted == [(1, 30), (6, 2)]
  assert counts.correct.tolist() == [5] * 30 + [0, 0]
  sample_counts.SampleCounts(accuracy_cache.AccuracyCache(tmp_path))
  assert len(counted) == 2  # They were saved.


def test_saved_counts_are_taken_up_where_they_were_left(tmp_path, monkeypatch):
  rng = np.random.default_rng(0)
  cache = _cache(tmp_path, rng.integers(0, 2, (250, 9)))
  assert sample_counts.SampleCounts(cache).correct.dtype == np.uint8
  cache.add_models([f"n{i}" for i in range(10)], rng.integers(0, 2, (10, 9)))
  monkeypatch.setattr(bit_rows, "BLOCK", 64)
  counts = sample_counts.SampleCounts(cache)
  assert counts.correct.dtype == np.uint16
  np.testing.assert_array_equal(counts.correct, cache.matrix().sum(0))
  assert os.listdir(tmp_path).count(sample_counts.FILE) == 1
  assert not [name for name in os.listdir(tmp_path) if name.startswith(f"{sample_counts.FILE}.")]


def _truncated(path):
  path.write_bytes(path.read_bytes()[:-1])


def _no_zip(path):
  path.write_bytes(b"\0" * 5000)


def _changed(path, **values):
  with np.load(path) as saved:
    arrays = {**saved, **values}
  with open(path, "wb") as file:
    np.savez(file, **arrays)


def _a_newer_version(path):
  _changed(path, version=sample_counts.VERSION + 1)


def _of_another_cache(path):
  _changed(path, state="0" * 16)


def _a_flipped_bit(path):
  data = path.read_bytes()
  at = data.index(b"correct.npy") + 180
  path.write_bytes(data[:at] + bytes([data[at] ^ 1]) + data[at + 1:])


@pytest.mark.parametrize("harm", [_truncated, _no_zip, _a_newer_version, _of_another_cache,
                                  _a_flipped_bit])
def test_a_file_that_is_not_right_is_built_from_scratch(tmp_path, harm):
  cache = _cache(tmp_path, np.eye(4, dtype=int))
  sample_counts.SampleCounts(cache)
  path = tmp_path / sample_counts.FILE
  harm(path)
  harmed = path.read_bytes()
  assert sample_counts.SampleCounts(cache).correct.tolist() == [1, 1, 1, 1]
  assert path.read_bytes() != harmed
  with np.load(path) as saved:
    assert saved["correct"].tolist() == [1, 1, 1, 1]


def test_a_cache_that_was_cut_back_and_grew_another_way(tmp_path):
  cache = _cache(tmp_path, np.ones((2, 3), int))
  cache.add_models(["a"], [np.ones(3, int)])
  counts = sample_counts.SampleCounts(cache)
  max(tmp_path.glob("*.right.npy")).unlink()
  cache.refresh()
  cache.cut()
  cache.add_models(["b"], [np.zeros(3, int)])
  counts.update()
  assert counts.correct.tolist() == [2, 2, 2]
  assert sample_counts.SampleCounts(cache).correct.tolist() == [2, 2, 2]


def test_a_cache_that_may_not_be_written_to_is_counted_all_the_same(tmp_path, monkeypatch):
  cache = _cache(tmp_path, np.ones((2, 3), int))

  def refuse(*unused):
    raise PermissionError("read-only")

  monkeypatch.setattr(os, "replace", refuse)
  assert sample_counts.SampleCounts(cache).correct.tolist() == [2, 2, 2]
  assert not [name for name in os.listdir(tmp_path) if name.startswith(sample_counts.FILE)]


def test_an_empty_cache_has_no_counts(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  counts = sample_counts.SampleCounts(cache)
  assert not counts.correct.size and not counts.ranked().size
  cache.add_models(["a"], [np.array([0, 1])], ["x", "y"])
  counts.update()
  assert counts.correct.tolist() == [0, 1]

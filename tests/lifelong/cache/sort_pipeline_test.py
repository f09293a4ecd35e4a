# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Sorted on Beam is sorted here."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.answers import rank_order
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import sample_counts
from suite.lifelong.cache import sort_pipeline

pytest.importorskip("apache_beam", reason="needs the extra: pip install lifelong-suite[beam]")


def _cache(folder, rng, missing):
  """Three batches of models and three of samples."""
  low = -1 if missing else 0
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models(["a", "b"], rng.integers(0, 2, (2, 150)), [f"s{i}" for i in range(150)])
  cache.add_samples([f"t{i}" for i in range(70)], rng.integers(low, 2, (2, 70)))
  cache.add_models(["c", "d", "e"], rng.integers(low, 2, (3, 220)))
  cache.add_samples([f"u{i}" for i in range(3)], rng.integers(low, 2, (5, 3)))
  cache.add_models(["f"], rng.integers(0, 2, (1, 223)))
  return cache


@pytest.mark.parametrize("missing", [False, True])
def test_a_cache_is_sorted_as_here(tmp_path, missing):
  cache = _cache(tmp_path / "cache", np.random.default_rng(0), missing)
  sort_pipeline.sort(str(tmp_path / "cache"), str(tmp_path / "out"), size=64)
  counts = sample_counts.SampleCounts(cache)
  order = rank_order.RankOrder(counts.ranked())
  np.testing.assert_array_equal(sort_pipeline.read_counts(str(tmp_path / "out")), order.counts)
  found = list(sort_pipeline.read(str(tmp_path / "out")))
  assert [one.first for one in found] == [0, 64, 128, 150, 214, 220]
  np.testing.assert_array_equal(np.concatenate([one.ranks for one in found]),
                                np.argsort(order.samples_at(np.arange(223))))


def test_blocks_cover_every_answer_once(tmp_path):
  cache = _cache(tmp_path, np.random.default_rng(1), missing=True)
  matrix = cache.matrix()
  correct, seen = np.zeros([2, 223], int)
  for block in sort_pipeline.blocks(cache, 128):
    first, found = sort_pipeline.tally(block)
    correct[first:first + block.size] += found[0]
    seen[first:first + block.size] += found[1]
  np.testing.assert_array_equal(correct, (matrix == 1).sum(0))
  np.testing.assert_array_equal(seen, (matrix >= 0).sum(0))


def test_bad_input(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "cache", create=True)
  with pytest.raises(accuracy_cache.CacheError, match="0 models and 0 samples: there is nothing"):
    sort_pipeline.sort(str(cache.folder), str(tmp_path / "out"))
  with pytest.raises(ValueError, match="blocks of 100 samples; expected a multiple of 64"):
    list(sort_pipeline.blocks(cache, 100))
  with pytest.raises(accuracy_cache.CacheError, match="no sorted blocks"):
    sort_pipeline.read_counts(str(tmp_path / "out"))
  cache.add_models(["a"], [np.array([0, 1] * 50)], [f"s{i}" for i in range(100)])
  out = tmp_path / "out"
  sort_pipeline.sort(str(cache.folder), str(out), size=64)
  with pytest.raises(accuracy_cache.CacheError, match="has sorted blocks already"):
    sort_pipeline.sort(str(cache.folder), str(out))
  (out / "ranked-00000000000000.npz").unlink()
  with pytest.raises(accuracy_cache.CacheError, match="has no block of sample 0"):
    sort_pipeline.read_counts(str(out))
  with pytest.raises(accuracy_cache.CacheError, match="must share its disk"):
    sort_pipeline._opened(str(cache.folder), ((2,), (100,)))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files bring models, samples and missing answers; documents that change are versions."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_growth
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import sample_counts

NUM = 40
TRUTH = np.random.default_rng(0).integers(0, 2, (9, NUM)).astype(np.int8)
IDS = [f"arc/{i}" for i in range(NUM)]


def _table(models, samples, hashes=None, answers=None):
  samples = list(samples)
  rows = TRUTH[np.ix_(models, samples)] if answers is None else np.array(answers, np.int8)
  hashes = np.array([100 + i for i in samples] if hashes is None else hashes, np.uint64)
  return accuracy_import.ImportedAnswers(
      [f"m{i}" for i in models], [IDS[i] for i in samples], rows, {"arc": cache_tasks.Task("acc")},
      hashes, ["file"] * len(samples))


def test_answers_come_in_any_order_and_again(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  parts = [([0, 1, 2], range(20)), ([3], range(10, 40)), ([0, 3], range(15, 30)),
           ([4, 5, 6, 7, 8], range(40)), ([1, 2], range(30, 40)), ([0], range(40))]
  want = np.full(TRUTH.shape, -1)
  for models, samples in parts:
    before = int(np.sum(want >= 0))
    want[np.ix_(models, list(samples))] = TRUTH[np.ix_(models, list(samples))]
    added = cache_growth.add(cache, _table(models, samples))
    assert added.num_answers == int(np.sum(want >= 0)) - before
    again = cache_growth.add(cache, _table(models, samples))
    assert (again.num_answers, again.models, again.num_samples) == (0, [], 0)
    found = accuracy_cache.AccuracyCache(cache.folder)
    order = found.sample_ids.find(IDS)
    have = [int(name[1:]) for name in found.models]
    known = order >= 0
    assert np.array_equal(found.matrix()[:, order[known]], want[have][:, known])
    counted = sample_counts.SampleCounts(found)  # Saved by the state before; counted again.
    assert np.array_equal(counted.totals[:, 1], (want[have] >= 0).sum(axis=1))
  assert not cache_check.problems(cache.folder)
  assert len(cache.documents) == NUM
  wrong = _table([0, 8], range(5), answers=1 - TRUTH[np.ix_([0, 8], range(5))])
  with pytest.raises(accuracy_cache.CacheError, match="another answer to 'arc/0' .* 5 of 5"):
    cache_growth.add(cache, wrong)


def test_a_file_of_another_process_is_read_after_answers_were_filled_in(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache_growth.add(cache, _table([0, 1], range(20)))
  cache_growth.add(cache, _table([2], range(5)))
  reader = accuracy_cache.AccuracyCache(cache.folder)
  cache_growth.add(cache, _table([2], range(20)))
  assert reader.state != cache.state and reader.answers("m2", np.arange(20))[19] == -1
  reader.refresh()
  assert reader.answers("m2", np.arange(20)).tolist() == TRUTH[2, :20].tolist()


def test_changed_documents_are_versions_and_the_earlier_ones_retire(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache_growth.add(cache, _table([0, 1], range(6)))
  # In the new version 1 and 2 have changed places, and 3 is another document.
  hashes = [100, 102, 101, 999, 104, 105]
  new = _table([2], range(6), hashes)
  with pytest.raises(accuracy_cache.CacheError, match="is not the document"):
    cache_growth.add(cache, new)
  assert cache.models == ["m0", "m1"]
  added = cache_growth.add(cache, new, changed="version")
  assert added.retired == ["arc/3"] and added.num_samples == 1
  assert active_samples.read(cache.folder).retired == {"arc/3"}
  assert active_samples.versions(cache) == {"arc": {2: 1}}
  view = active_samples.opened(cache.folder)
  places = view.sample_ids.find(["arc/0", "arc/1", "arc/2", "arc/3@2", "arc/4"])
  assert view.answers("m2", places).tolist() == TRUTH[2, [0, 2, 1, 3, 4]].tolist()
  assert view.answers("m0", places).tolist() == [*TRUTH[0, :3].tolist(), -1, TRUTH[0, 4]]
  # A later file of the changed document needs no option, one of the earlier document neither.
  later = cache_growth.versioned(cache, _table([3], [3], [999]))[0]
  assert later.ids == ["arc/3@2"]
  cache_growth.add(cache, _table([3], [3], [999]))
  cache_growth.add(cache, _table([4], [3]))
  assert cache.answers("m3", cache.sample_ids.find(["arc/3", "arc/3@2"])).tolist() == [
      -1, TRUTH[3, 3]]
  assert cache.answers("m4", cache.sample_ids.find(["arc/3", "arc/3@2"])).tolist() == [
      TRUTH[4, 3], -1]
  third = cache_growth.add(cache, _table([5], [3], [777]), changed="version")
  assert third.retired == ["arc/3", "arc/3@2"] and third.ids == ["arc/3@3"]

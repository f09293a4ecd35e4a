# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ids of samples: numbers without a file, and an index."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_ids


def _written(tmp_path, ids, chunk=700):
  batch, facts = sample_ids.write(
      tmp_path, 1, [ids[i:i + chunk] for i in range(0, len(ids), chunk)])
  return batch, batch.opened({one.name: piece_files.Checked(tmp_path, one) for one in facts})


@pytest.mark.parametrize("ids", [
    [f"image-{i % 7}/{i}" for i in range(2500)], ["ä b", "0007", "7"],
    [str(i) for i in range(5, 9)],
    [str(i) for i in range(1500)] + ["x"]])
def test_ids_and_places_are_each_others_inverse(tmp_path, ids):
  batch, found = _written(tmp_path, ids)
  places = np.random.default_rng(0).permutation(len(ids))
  assert found.at(places) == [ids[place] for place in places]
  np.testing.assert_array_equal(found.find([ids[place] for place in places]), places)
  assert found.find(["no", "-1", "00", ids[0]]).tolist() == [-1, -1, -1, 0]
  is_numbered = ids == [str(i) for i in range(5, 9)]
  assert (batch == (4, 5, None, 0)) == is_numbered
  assert (tmp_path / "0001.ids.bin").exists() != is_numbered


def test_a_range_of_a_million_ids_is_one_number(tmp_path):
  batch, facts = sample_ids.write(tmp_path, 1, [range(3, 10**6)])
  assert batch == (10**6 - 3, 3, None, 0) and not facts
  assert sample_ids.RangeIds(3, 10).find(range(12, 15)).tolist() == [9, -1, -1]


def test_ids_with_equal_hashes_are_told_apart(tmp_path, monkeypatch):
  monkeypatch.setattr(sample_ids, "hashes", lambda ids: np.array([len(one) for one in ids],
                                                                 np.uint64))
  ids = ["a", "b", "cc", "d", "ee"]
  _, found = _written(tmp_path, ids)
  assert found.find([*ids, "z", "zz", "zzz"]).tolist() == [0, 1, 2, 3, 4, -1, -1, -1]


def test_the_hash_is_the_same_forever():
  assert sample_ids.hashes(["image-1"]).tolist() == [int.from_bytes(bytes.fromhex(
      "5a662670a32308e4"), "little")]


def test_what_is_refused_changes_nothing(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "new" / "c", create=True)
  for ids, names, answers in ((["x", "x"], ["a"], [[1, 0]]), (["x", ""], ["a"], [[1, 0]]),
                              (["x", "y"], [" "], [[1, 0]]), (["x", "y"], ["a"], [[1, 0.5]]),
                              (["x", "y"], ["a", "b"], [[1, 0]])):
    with pytest.raises(accuracy_cache.CacheError):
      cache.add_models(names, answers, ids)
    assert not (tmp_path / "new").exists()
  cache.add_models(["a"], [[1, 0]], ["x", "y"])
  with pytest.raises(accuracy_cache.CacheError, match="no model -1; its 1 models are 0 to 0"):
    cache.answers(-1, np.array([0]))


def test_numbers_that_follow_each_other_are_one_range(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], [[1, 0]], ["0", "1"])
  cache.add_samples(["2"], [[1]])
  cache.add_samples(range(3, 5), [[1, 0]])
  assert catalog.read(tmp_path, ["ids"])["ids"] == [(5, 0, None, 0)]
  cache.add_samples(["7"], [[1]])
  assert accuracy_cache.AccuracyCache(tmp_path).ids.tolist() == ["0", "1", "2", "3", "4", "7"]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tasks, metrics and hashes of documents in a cache."""

from __future__ import annotations

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_tasks

ARC = {"arc": cache_tasks.Task("acc", "", "a.jsonl")}


def test_a_task_is_the_longest_prefix():
  assert cache_tasks.codes(["a", "a/b"], [["a/1", "a/b/1", "c/1", "x"]]).tolist() == [0, 1, -1, -1]


def test_another_metric_is_refused_and_changes_nothing(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], [[1, 0]], ["arc/0", "arc/1"], tasks=ARC)
  before = (tmp_path / "cache.db").read_bytes()
  other = {"arc": cache_tasks.Task("acc_norm", "")}
  with pytest.raises(accuracy_cache.CacheError, match="arc by metric acc; got acc_norm"):
    cache.add_models(["b"], [[1, 0]], tasks=other)
  with pytest.raises(accuracy_cache.CacheError, match="arc/0"):
    cache.add_samples(["arc/0"], [[1]], tasks={"boolq": cache_tasks.Task("acc")})
  assert (tmp_path / "cache.db").read_bytes() == before and cache.tasks == ARC
  cache.add_samples(["boolq/0"], [[1]], tasks={"boolq": cache_tasks.Task("acc")})
  assert list(accuracy_cache.AccuracyCache(tmp_path).tasks) == ["arc", "boolq"]


def test_documents_are_compared_with_those_of_the_cache(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  ids, hashes = ["arc/0", "arc/1"], np.array([5, 0], np.uint64)
  cache.add_models(["a"], [[1, 0]], ids, tasks=ARC, hashes=hashes)
  cache.add_samples(["arc/2"], [[1]], hashes=np.array([7], np.uint64))
  cache.add_models(["b"], [[1, 0]], ids[::-1], hashes=np.array([6, 5], np.uint64))
  again = accuracy_cache.AccuracyCache(tmp_path)
  for wrong in ([4, 6, 7], [5, 5, 7], [5, 6, 8]):
    with pytest.raises(accuracy_cache.CacheError,
                       match="new.jsonl: .*from a.jsonl; 1 of 3 documents differ"):
      again.check_documents([*ids, "arc/2"], np.array(wrong, np.uint64), "new.jsonl")
  again.check_documents([*ids, "arc/2"], np.array([5, 0, 7], np.uint64), "new.jsonl")
  with pytest.raises(accuracy_cache.CacheError, match="is not the document"):
    again.add_models(["c"], [[1, 0, 1]], hashes=np.array([5, 6, 9], np.uint64),
                     ids=[*ids, "arc/2"])
  assert again.models == ["a", "b"] and cache_check.problems(tmp_path) == []
  path = next(tmp_path.glob("*.documents.npy"))
  path.write_bytes(path.read_bytes()[:-1] + b"x")
  assert "documents.npy is damaged" in cache_check.problems(tmp_path)[0]
  again.refresh()
  again.check_documents(ids, np.array([1, 1], np.uint64), "x")  # They are not read.
  with pytest.raises(accuracy_cache.CacheError, match="so nothing can be added"):
    again.add_models(["c"], [[1, 0, 1]])
  again.cut()
  again.add_models(["c"], [[1, 0, 1]])
  assert again.models == ["a", "b", "c"]

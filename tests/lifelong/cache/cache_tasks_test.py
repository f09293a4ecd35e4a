# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tasks, metrics and hashes of documents in a cache, and caches that were written before."""

from __future__ import annotations

import json
import pathlib
import shutil

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_tasks

ARC = {"arc": cache_tasks.Task("acc", "", "a.jsonl")}


@pytest.fixture(name="earlier")
def _earlier(tmp_path):
  """A cache of format 2: models a and b on arc (12) and gsm8k (8), c on arc; threshold 0.5."""
  shutil.copytree(pathlib.Path(__file__).parent / "format_2", tmp_path / "c")
  return tmp_path / "c"


def test_a_cache_of_format_2_is_read_with_the_tasks_of_its_ids(earlier):
  cache = accuracy_cache.AccuracyCache(earlier)
  names, codes = cache.sample_tasks()
  assert names == ["arc", "gsm8k"] and np.bincount(codes).tolist() == [12, 8]
  assert cache.totals().tolist() == [[13, 20], [14, 20], [8, 12]]
  assert cache.threshold == 0.5 and cache_check.problems(earlier) == []
  assert json.loads((earlier / "format.json").read_text())["version"] == 2


def test_a_cache_of_format_2_is_converted_when_it_grows(earlier):
  cache = accuracy_cache.AccuracyCache(earlier)
  states, questions = cache.states(), (earlier / "questions.jsonl").read_bytes()
  ids = [f"arc/{index}" for index in range(12)]
  cache.add_models(["d"], [np.ones(12, np.int8)], ids, tasks=ARC,
                   hashes=np.arange(1, 13, dtype=np.uint64))
  again = accuracy_cache.AccuracyCache(earlier)
  assert json.loads((earlier / "format.json").read_text()) == {
      "version": 3, "threshold": 0.5,
      "tasks": {"arc": {"metric": "acc", "source": "a.jsonl"}, "gsm8k": {}}}
  assert states.items() <= again.states().items() and again.matrix()[3, :12].tolist() == [1] * 12
  assert (earlier / "questions.jsonl").read_bytes() == questions
  assert again.totals().tolist()[:3] == [[13, 20], [14, 20], [8, 12]]
  assert cache_check.problems(earlier) == []


def test_ids_of_other_forms_have_no_tasks():
  assert cache_tasks.inferred([["cat/001.jpg", "dog/2"]]) == {}
  assert cache_tasks.inferred([["0", "1"]]) == {}
  assert list(cache_tasks.inferred([["a/b/3", "mmlu:k=1/id7/typos"]])) == ["a/b", "mmlu:k=1"]
  assert cache_tasks.codes(["a", "a/b"], [["a/1", "a/b/1", "c/1", "x"]]).tolist() == [0, 1, -1, -1]


def test_another_metric_is_refused_and_changes_nothing(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], [[1, 0]], ["arc/0", "arc/1"], tasks=ARC)
  before = (tmp_path / "format.json").read_bytes()
  other = {"arc": cache_tasks.Task("acc_norm", "")}
  with pytest.raises(accuracy_cache.CacheError, match="arc by metric acc; got acc_norm"):
    cache.add_models(["b"], [[1, 0]], tasks=other)
  with pytest.raises(accuracy_cache.CacheError, match="arc/0"):
    cache.add_samples(["arc/0"], [[1]], tasks={"boolq": cache_tasks.Task("acc")})
  assert (tmp_path / "format.json").read_bytes() == before and cache.tasks == ARC
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
  data = bytearray((tmp_path / "documents.bin").read_bytes())
  data[-1] ^= 1
  (tmp_path / "documents.bin").write_bytes(data)
  assert "documents.bin is damaged" in cache_check.problems(tmp_path)[0]
  again.check_documents(ids, np.array([1, 1], np.uint64), "x")  # It is not read.


@pytest.mark.parametrize("tasks", [3, {"a": 3}, {"a": {"metric": 3}}, {"a": {"other": ""}}])
def test_damaged_tasks_are_told(tmp_path, tasks):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(["a"], [[1]], ["arc/0"], tasks=ARC)
  (tmp_path / "format.json").write_text(json.dumps({"version": 3, "tasks": tasks}))
  with pytest.raises(accuracy_cache.CacheError, match="format.json is damaged"):
    accuracy_cache.AccuracyCache(tmp_path)

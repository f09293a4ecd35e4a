# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The cache grows both ways, forgets nothing it committed, and says what it does not know."""

from __future__ import annotations

import json
import os
import time

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import catalog


def _random(rng, m, n, missing=True):
  low = -1 if missing else 0
  return rng.integers(low, 2, (m, n)).astype(np.int8)


def _ids(first, num):
  return [f"s{i}" for i in range(first, first + num)]


def _open(folder):
  return accuracy_cache.AccuracyCache(folder, create=True)


@pytest.mark.parametrize("seed", range(6))
def test_it_holds_what_was_put_in_however_it_grew(tmp_path, seed):
  rng = np.random.default_rng(seed)
  cache = _open(tmp_path)
  whole = _random(rng, int(rng.integers(1, 5)), int(rng.integers(1, 90)), missing=seed % 2)
  cache.add_models([f"m{i}" for i in range(len(whole))], whole, _ids(0, whole.shape[1]))
  for _ in range(6):
    m, n = whole.shape
    more = int(rng.integers(1, 40))
    if rng.integers(2):
      rows = _random(rng, more % 4 + 1, n, missing=seed % 2)
      cache.add_models([f"m{i}" for i in range(m, m + len(rows))], rows)
      whole = np.concatenate([whole, rows])
    else:
      columns = _random(rng, m, more, missing=seed % 2)
      cache.add_samples(_ids(n, more), columns)
      whole = np.concatenate([whole, columns], axis=1)
  for reader in (cache, accuracy_cache.AccuracyCache(tmp_path)):
    assert reader.models == [f"m{i}" for i in range(len(whole))]
    assert reader.ids.tolist() == _ids(0, whole.shape[1])
    np.testing.assert_array_equal(reader.matrix(), whole)
    correct, seen = reader.counts()
    np.testing.assert_array_equal(correct, (whole == 1).sum(0))
    if seen is None:
      assert (whole >= 0).all()
    else:
      np.testing.assert_array_equal(seen, (whole >= 0).sum(0))
    some = rng.integers(0, whole.shape[1], 20)
    np.testing.assert_array_equal(reader.answers("m0", some), whole[0, some])
  chosen = list(range(0, len(whole), 2))
  np.testing.assert_array_equal(cache.counts(chosen)[0], (whole[chosen] == 1).sum(0))


def test_rows_and_columns_are_put_in_order_by_their_names(tmp_path):
  cache = _open(tmp_path)
  cache.add_models(["a", "b"], [[1, 0, 1], [0, 0, 1]], ["x", "y", "z"])
  cache.add_models(["c"], [[0, 1]], ["z", "x"])  # y was not evaluated.
  cache.add_samples(["w"], [[1], [0]], models=["c", "a"])  # b was not evaluated.
  assert cache.matrix().tolist() == [[1, 0, 1, 0], [0, 0, 1, -1], [1, -1, 0, 1]]


def test_a_complete_model_beside_an_incomplete_one_is_complete(tmp_path):
  cache = _open(tmp_path)
  cache.add_models(["a", "b"], [[1, 0, 1], [1, -1, 0]], ["x", "y", "z"])
  assert cache.totals().tolist() == [[2, 3], [1, 2]]
  assert cache.complete_models() == ["a"]


def test_a_row_costs_a_bit_an_answer(tmp_path):
  cache = _open(tmp_path)
  cache.add_models(["a"] , [np.ones(80_000)], _ids(0, 80_000))
  before = sum(path.stat().st_size for path in tmp_path.glob("*.npy"))
  cache.add_models([f"m{i}" for i in range(10)], np.ones((10, 80_000), bool))
  more = sum(path.stat().st_size for path in tmp_path.glob("*.npy")) - before
  assert 100_000 < more < 100_200  # And the head of the file.


@pytest.mark.parametrize("act, message", [
    (lambda c: c.add_models(["n"], [[1, 2, 0]]), r"must be 1 \(correct\), 0 \(wrong\) or -1 .* got "
     r"\[2\] too"),
    (lambda c: c.add_models(["n"], [[1.0, np.nan, 0]]), r"got \[nan\] too"),
    (lambda c: c.add_models(["a"], [[1, 1, 0]]), r"already there: \['a'\]"),
    (lambda c: c.add_models(["n", "n"], [[1, 1, 0]] * 2), "given: 2, different: 1"),
    (lambda c: c.add_models(["n"], [[1, 1]]), r"shape \[2\]; expected \[3\]"),
    (lambda c: c.add_models(["n", "o"], [[1, 1, 1]]), "no row of answers for model 'o'"),
    (lambda c: c.add_models(["n"], [[1, 1, 1]] * 2), "more rows of answers than the 1 names"),
    (lambda c: c.add_models(["n"], [[1, 1]], ["x", "q"]), r"1 ids are not in the cache.*\['q'\]"),
    (lambda c: c.add_models(["n"], [[1, 1]], ["x", "x"]), "1 of the 2 ids are given twice"),
    (lambda c: c.add_samples(["x"], [[1], [1]]), r"in the cache already.*\['x'\]"),
    (lambda c: c.add_samples(["q"], [[1]]), r"shape \[1, 1\] for 2 models and 1 new samples"),
    (lambda c: c.add_samples(["q"], [[1]], models=["z"]), r"unknown: \['z'\]"),
    (lambda c: c.answers("z", [0]), "no model 'z'; it has 2"),
])
def test_bad_input_is_named_and_changes_nothing(tmp_path, act, message):
  cache = _open(tmp_path)
  cache.add_models(["a", "b"], [[1, 0, 1], [0, 0, 1]], ["x", "y", "z"])
  with pytest.raises(accuracy_cache.CacheError, match=message):
    act(cache)
  again = accuracy_cache.AccuracyCache(tmp_path)
  assert again.models == ["a", "b"] and again.num_samples == 3


def test_what_is_not_a_cache_and_what_is_newer(tmp_path):
  with pytest.raises(accuracy_cache.CacheError, match="no accuracy cache .*add-models"):
    accuracy_cache.AccuracyCache(tmp_path)
  (tmp_path / "format.json").write_text(json.dumps({"version": 99}))
  with pytest.raises(accuracy_cache.CacheError, match=r"newer version \(format 99; this one reads"):
    accuracy_cache.AccuracyCache(tmp_path)
  with pytest.raises(accuracy_cache.CacheError, match="empty cache takes its samples from the fir"):
    _open(tmp_path / "new").add_models(["a"], [[1]])


def _grown(folder):
  cache = _open(folder)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  cache.add_models(["b"], [[0, 0, 1]])
  return cache


def test_a_crash_before_the_rows_are_committed_changes_nothing(tmp_path, monkeypatch):
  cache = _grown(tmp_path)
  monkeypatch.setattr(catalog, "_commit", lambda *a: (_ for _ in ()).throw(OSError("full")))
  with pytest.raises(OSError, match="full"):
    cache.add_models(["c"], [[1, 1, 1]])
  monkeypatch.undo()
  assert accuracy_cache.AccuracyCache(tmp_path).models == ["a", "b"] == cache.models
  cache.add_models(["c"], [[1, 1, 0]])
  assert accuracy_cache.AccuracyCache(tmp_path).matrix()[2].tolist() == [1, 1, 0]


def test_a_truncated_file_opens_the_state_before_it_and_stops_growth(tmp_path, caplog):
  _grown(tmp_path)
  last = sorted(tmp_path.glob("*.right.npy"))[-1]
  data = last.read_bytes()
  last.write_bytes(b"")
  cache = accuracy_cache.AccuracyCache(tmp_path)
  assert cache.models == ["a"] and "truncated or missing" in caplog.text
  assert cache.matrix().tolist() == [[1, 0, 1]]
  with pytest.raises(accuracy_cache.CacheError, match="so nothing can be added. Put the file back"):
    cache.add_models(["c"], [[1, 1, 1]])
  last.write_bytes(data)
  assert accuracy_cache.AccuracyCache(tmp_path).models == ["a", "b"]


def test_what_was_added_after_a_lost_file_is_given_up_on_request(tmp_path):
  cache = _grown(tmp_path)
  cache.add_samples(["w"], [[1], [0]], hashes=np.array([7], np.uint64))
  cache.add_models(["c"], [[1, 1, 1, 0]])
  cache.add_models(["d"], [[0, 1, 1, 0]])
  lost = max(tmp_path.glob("*.ids.bin"))
  lost.unlink()
  cache.refresh()
  assert cache.models == ["a", "b"] and cache.ids.tolist() == ["x", "y", "z"]
  cache.cut()
  assert cache.problem == "" and cache.matrix().tolist() == [[1, 0, 1], [0, 0, 1]]
  cache.add_samples(["w"], [[0], [1]], hashes=np.array([8], np.uint64))
  assert accuracy_cache.AccuracyCache(tmp_path).matrix().tolist() == [[1, 0, 1, 0], [0, 0, 1, 1]]


WRITE_MANY = """
import sys
from suite.lifelong.cache import accuracy_cache
cache = accuracy_cache.AccuracyCache(sys.argv[1])
for i in range(8):
  cache.add_models([f"{sys.argv[2]}{i}"], [[1, 0, 1]])
"""


def test_two_writers_at_once_lose_nothing(python, tmp_path):
  _grown(tmp_path)
  writers = [python.start(["-c", WRITE_MANY, tmp_path, name]) for name in "pq"]
  for writer in writers:
    output, _ = writer.communicate(timeout=100)
    assert writer.returncode == 0, output
  cache = accuracy_cache.AccuracyCache(tmp_path)
  assert sorted(cache.models[2:]) == [f"{name}{i}" for name in "pq" for i in range(8)]
  assert cache.matrix()[2:].tolist() == [[1, 0, 1]] * 16


def test_the_lock_of_a_killed_writer_is_free(tmp_path):
  _grown(tmp_path)
  reader, writer = os.pipe()
  child = os.fork()
  if child == 0:
    try:
      with accuracy_cache.AccuracyCache(tmp_path)._writing():
        os.write(writer, b"held")
        time.sleep(60)
    finally:
      os._exit(1)  # Whatever happens: a child that went on would report tests of its own.
  os.close(writer)
  held = os.read(reader, 4)
  os.close(reader)
  os.kill(child, 9)
  os.waitpid(child, 0)
  assert held == b"held"
  accuracy_cache.AccuracyCache(tmp_path).add_models(["c"], [[1, 1, 1]])


def test_a_cache_has_one_threshold_of_graded_answers(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  assert cache.threshold is None and cache.agreed_threshold(0.7) == 0.7
  cache.add_models(["a"], [np.array([1, 0])], ["x", "y"])
  with pytest.raises(accuracy_cache.CacheError, match="already there"):
    cache.add_models(["a"], [np.array([1, 0])], threshold=0.4)
  assert cache.threshold is None  # What was refused leaves none.
  cache.add_models(["b"], [np.array([1, 0])], threshold=0.5)
  again = accuracy_cache.AccuracyCache(tmp_path / "c")
  assert again.threshold == 0.5 == again.agreed_threshold(None)
  with pytest.raises(accuracy_cache.CacheError, match="from 0.5 on; got a threshold of 0.7"):
    again.add_samples(["z"], np.array([[1], [1]]), threshold=0.7)
  assert again.num_samples == 2 and again.threshold == 0.5
  for index in range(20):  # Small additions are joined in between.
    again.add_models([f"m{index}"], [np.array([0, 1])], threshold=0.5 if index % 2 else None)
  assert accuracy_cache.AccuracyCache(tmp_path / "c").threshold == 0.5
  with pytest.raises(accuracy_cache.CacheError, match="Got a threshold of 0; expected a score"):
    cache.agreed_threshold(0.0)
  (tmp_path / "c" / "format.json").write_text('{"version": "x"}')
  with pytest.raises(accuracy_cache.CacheError, match="format.json is damaged"):
    accuracy_cache.AccuracyCache(tmp_path / "c")


def test_a_new_cache_that_refuses_graded_answers_leaves_nothing(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  with pytest.raises(accuracy_cache.CacheError, match="empty name"):
    cache.add_models([""], [np.array([1])], ["x"], threshold=0.5)
  assert not (tmp_path / "c").exists()

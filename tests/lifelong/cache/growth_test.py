# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A cache that grows by many small additions stays small, and no damage of it is silent."""

from __future__ import annotations

import os
import sqlite3

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_changes
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import catalog
from suite.lifelong.cache import piece_files
from suite.lifelong.cache import sample_counts


def _random(rng, m, n, missing=True):
  return rng.integers(-1 if missing else 0, 2, (m, n)).astype(np.int8)


def _ids(first, num):
  return [f"s{i}" for i in range(first, first + num)]


def _open(folder):
  return accuracy_cache.AccuracyCache(folder, create=True)


def _grown(folder):
  cache = _open(folder)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  cache.add_models(["b"], [[0, 0, 1]])
  return cache


def _files(folder):
  return len(list(folder.glob("*.right.npy")))


@pytest.mark.parametrize("kinds", ["models", "samples", "alternating"])
def test_many_small_additions_are_joined_and_answers_stay(tmp_path, kinds, monkeypatch):
  monkeypatch.setattr(cache_changes, "MOST", 24)
  rng = np.random.default_rng(7)
  whole = _random(rng, 2, 11)
  cache, reader = _open(tmp_path), _open(tmp_path)
  cache.add_models(["m0", "m1"], whole, _ids(0, 11))
  counts = sample_counts.SampleCounts(cache)
  for turn in range(70):
    m, n = whole.shape
    if kinds == "models" or (kinds == "alternating" and turn % 2):
      whole = np.concatenate([whole, _random(rng, 1, n, missing=turn % 3 == 0)])
      cache.add_models([f"m{m}"], whole[-1:])
    else:
      whole = np.concatenate([whole, _random(rng, m, 1, missing=turn % 3 == 0)], axis=1)
      cache.add_samples(_ids(n, 1), whole[:, -1:])
    if turn % 10 == 9:
      counts.update()  # From what it knew, whatever has been joined since.
      np.testing.assert_array_equal(counts.correct, (whole == 1).sum(0))
      np.testing.assert_array_equal(counts.seen, (whole >= 0).sum(0))
      np.testing.assert_array_equal(counts.totals, np.stack(
          [(whole == 1).sum(1), (whole >= 0).sum(1)], axis=1))
  assert _files(tmp_path) <= 26
  reader.refresh()
  for one in (cache, reader, accuracy_cache.AccuracyCache(tmp_path)):
    np.testing.assert_array_equal(one.matrix(), whole)
    assert one.ids.tolist() == _ids(0, whole.shape[1])
    assert one.models == [f"m{i}" for i in range(len(whole))]
    np.testing.assert_array_equal(one.totals()[:, 1], (whole >= 0).sum(1))
  assert cache_check.problems(tmp_path) == []


def test_counts_of_a_state_between_joined_additions_are_still_known(tmp_path):
  cache = _open(tmp_path)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  for index in range(9):
    cache.add_models([f"m{index}"], [[0, 0, 1]])
  before = cache.states()
  sample_counts.SampleCounts(cache)
  for index in range(9, 20):
    cache.add_models([f"m{index}"], [[0, 1, 1]])
  assert len(cache.pieces) < 8
  assert before.items() <= cache.states().items()
  assert sample_counts.SampleCounts(cache).correct.tolist() == [1, 11, 21]


def test_many_additions_need_few_file_descriptors(tmp_path, monkeypatch):
  monkeypatch.setattr(piece_files, "MAPPED_BYTES", 0)  # All files are mapped.
  cache = _open(tmp_path)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  before = len(os.listdir("/proc/self/fd"))
  for index in range(120):
    cache.add_models([f"m{index}"], [[0, 0, 1]])
  assert len(os.listdir("/proc/self/fd")) - before < 48


@pytest.mark.parametrize("killed_in", ["_commit", "unlink"])
def test_a_crash_while_additions_are_joined_loses_nothing(tmp_path, monkeypatch, killed_in):
  cache = _open(tmp_path)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  for index in range(14):
    cache.add_models([f"m{index}"], [[0, 0, 1]])

  unlink = type(tmp_path).unlink

  def die(path, *args, **kwargs):
    if killed_in == "_commit" or path.suffix == ".npy":
      raise KeyboardInterrupt
    unlink(path, *args, **kwargs)

  owner = catalog if killed_in == "_commit" else type(tmp_path)
  monkeypatch.setattr(owner, killed_in, die)
  with pytest.raises(KeyboardInterrupt):
    cache.add_models(["last"], [[0, 1, 0]])
  monkeypatch.undo()
  again = accuracy_cache.AccuracyCache(tmp_path)
  if killed_in == "_commit":
    assert again.num_models == 15
    again.add_models(["last"], [[0, 1, 0]])
  assert again.models[-1] == "last" and again.matrix()[-1].tolist() == [0, 1, 0]
  again.add_models(["more"], [[1, 1, 1]])
  assert accuracy_cache.AccuracyCache(tmp_path).matrix()[-2:].tolist() == [[0, 1, 0], [1, 1, 1]]
  assert cache_check.problems(tmp_path) == [] and _files(tmp_path) == 2


def test_a_reader_that_meets_files_being_replaced_reads_the_new_ones(tmp_path, monkeypatch):
  cache = _open(tmp_path)
  cache.add_models(["a"], [[1, 0, 1]], ["x", "y", "z"])
  for index in range(14):
    cache.add_models([f"m{index}"], [[0, 0, 1]])
  read, calls = catalog.read, []

  def old_rows_first(*args):
    found = read(*args)
    if not calls:
      calls.append(1)
      cache.add_models(["last"], [[0, 1, 0]])  # Joins the files that `found` names.
    return found

  monkeypatch.setattr(catalog, "read", old_rows_first)
  reader = accuracy_cache.AccuracyCache(tmp_path)
  assert not reader.problem and reader.models[-1] == "last"


@pytest.mark.parametrize("table", sorted(catalog.TABLES))
def test_a_changed_cell_of_any_table_is_refused(tmp_path, table):
  cache = _grown(tmp_path)
  cache.add_models(["c"], [[1, 1, 1]], threshold=0.5, tasks={"t": cache_tasks.Task("acc")})
  cache.set_clusters(["x", "y"], ["p", "q"])
  active_samples.retire(cache, ["y"])
  with catalog.changing(tmp_path, ["groups", "questions"]) as tables:
    tables["groups"].append(("g", 1, "t"))
    tables["questions"].append((0, 0, 3, "", b"", b""))
  db = sqlite3.connect(tmp_path / catalog.FILE)
  column = db.execute(f"SELECT * FROM {table}").description[0][0]
  assert db.execute(f"UPDATE {table} SET {column} = 'other' WHERE rowid = 1").rowcount == 1
  db.commit()
  db.close()
  with pytest.raises(accuracy_cache.CacheError, match=f"damaged in its table {table}"):
    cache.add_models(["new"], [[1, 1, 1]])
  assert "is damaged" in cache_check.problems(tmp_path)[0]


def test_a_crash_while_the_data_base_was_made_leaves_a_new_cache(tmp_path):
  (tmp_path / catalog.MARK).write_text('{"version": 5}')
  (tmp_path / catalog.FILE).write_bytes(b"")
  assert accuracy_cache.AccuracyCache(tmp_path).num_models == 0
  assert _grown(tmp_path).models == ["a", "b"]


@pytest.mark.parametrize("spoil, said", [
    (lambda path: path.unlink(), "is missing or empty although there are files of answers"),
    (lambda path: path.write_bytes(b""), "is missing or empty although there are files of answ"),
    (lambda path: path.write_bytes(path.read_bytes()[:5000]), "is damaged"),
    (lambda path: (path.unlink(), sqlite3.connect(path).execute("CREATE TABLE models (x)")),
     "is damaged, or a data base of another program")])
def test_a_lost_or_foreign_data_base_stops_growth(tmp_path, spoil, said):
  cache = _grown(tmp_path)
  spoil(tmp_path / catalog.FILE)
  files = {path: path.read_bytes() for path in tmp_path.glob("*.npy")}
  with pytest.raises(accuracy_cache.CacheError, match=said):
    cache.add_models(["c"], [[1, 1, 1]], ["x", "y", "z"])
  with pytest.raises(accuracy_cache.CacheError, match=said):
    accuracy_cache.AccuracyCache(tmp_path)
  assert {path: path.read_bytes() for path in tmp_path.glob("*.npy")} == files


def test_a_read_only_disk_is_read_unless_a_journal_lies_there(tmp_path, monkeypatch):
  _grown(tmp_path)
  found = os.statvfs(tmp_path)
  read_only = type("", (), {"f_flag": found.f_flag | os.ST_RDONLY})
  monkeypatch.setattr(os, "statvfs", lambda path: read_only)
  assert accuracy_cache.AccuracyCache(tmp_path).matrix().tolist() == [[1, 0, 1], [0, 0, 1]]
  (tmp_path / f"{catalog.FILE}-journal").write_bytes(b"x")
  with pytest.raises(accuracy_cache.CacheError, match="was being written when its disk became"):
    accuracy_cache.AccuracyCache(tmp_path)


@pytest.mark.parametrize("name", ["0003.right.npy", "0001.ids.bin", "counts.npz"])
def test_a_changed_byte_in_any_file_is_found_when_the_cache_is_opened(tmp_path, name):
  cache = _grown(tmp_path)
  counts = sample_counts.SampleCounts(cache).correct.copy()
  path = tmp_path / name
  data = bytearray(path.read_bytes())
  data[-1] ^= 64
  path.write_bytes(bytes(data))
  cache = accuracy_cache.AccuracyCache(tmp_path)
  if name == "counts.npz":  # It is made again.
    assert cache_check.problems(tmp_path) == []
    assert sample_counts.SampleCounts(cache).correct.tolist() == counts.tolist()
  else:
    assert f"{name} is damaged" in cache.problem
    assert "Put the file back" in cache_check.problems(tmp_path)[0]


def test_no_flipped_bit_changes_an_answer_a_count_or_an_id_silently(tmp_path, monkeypatch):
  """Where a file is too large to be read when the cache is opened, too."""
  monkeypatch.setattr(piece_files, "_CRC_BYTES", 256)
  monkeypatch.setattr(piece_files, "MAPPED_BYTES", 512)
  rng = np.random.default_rng(0)
  cache = _open(tmp_path)
  cache.add_models(["a", "b"], rng.integers(0, 2, (2, 3000), np.int8), _ids(0, 3000))
  cache.add_models(["c"], rng.integers(-1, 2, (1, 3000), np.int8))
  sample_counts.SampleCounts(cache)

  def read():
    cache = accuracy_cache.AccuracyCache(tmp_path)
    if cache.problem:
      raise accuracy_cache.CacheError(cache.problem)
    counts = sample_counts.SampleCounts(cache, save=False)
    return (cache.matrix().tolist(), cache.columns(np.arange(9, 2999, 7)).tolist(),
            counts.correct.tolist(), counts.totals.tolist(), list(cache.ids),
            cache.sample_ids.find(_ids(2990, 3000)).tolist())

  wanted, found = read(), {"same": 0, "refused": 0}
  for path in sorted(tmp_path.iterdir()):
    whole = path.read_bytes()
    for place in rng.integers(0, 8 * len(whole), 25) if whole else ():
      data = bytearray(whole)
      data[place // 8] ^= 1 << (place % 8)
      path.write_bytes(bytes(data))
      try:
        assert read() == wanted, (path.name, place)
        found["same"] += 1
      except accuracy_cache.CacheError:
        found["refused"] += 1
    path.write_bytes(whole)
  assert found["refused"] > 50 and found["same"] > 10  # counts.npz is made again.

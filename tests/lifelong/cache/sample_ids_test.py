# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Ids of samples: numbers without a file, an index, and the files of early versions."""

from __future__ import annotations

import json
import zlib

import numpy as np
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import committed
from suite.lifelong.cache import sample_ids


def _written(tmp_path, ids, chunk=700):
  line = {"samples": len(ids), **sample_ids.write(
      tmp_path / "0001.index", [ids[i:i + chunk] for i in range(0, len(ids), chunk)])}
  return line, sample_ids.read(tmp_path, json.loads(json.dumps(line)))


@pytest.mark.parametrize("ids", [
    [f"image-{i % 7}/{i}" for i in range(2500)], ["ä b", "0007", "7"],
    [str(i) for i in range(5, 9)],
    [str(i) for i in range(1500)] + ["x"]])
def test_ids_and_places_are_each_others_inverse(tmp_path, ids):
  line, found = _written(tmp_path, ids)
  places = np.random.default_rng(0).permutation(len(ids))
  assert found.at(places) == [ids[place] for place in places]
  np.testing.assert_array_equal(found.find([ids[place] for place in places]), places)
  assert found.find(["no", "-1", "00", ids[0]]).tolist() == [-1, -1, -1, 0]
  is_numbered = ids == [str(i) for i in range(5, 9)]
  assert (line == {"samples": 4, "id_first": 5}) == is_numbered
  assert (tmp_path / "0001.index").exists() != is_numbered


def test_a_range_of_a_million_ids_is_one_number(tmp_path):
  line = sample_ids.write(tmp_path / "0001.index", [range(3, 10**6)])
  assert line == {"id_first": 3}
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


def _early(folder):
  """Rewrites a cache as version 1 wrote it: ids as text, without an index."""
  log = committed.read(folder / committed.COMMITS)
  lines, number = [], 0
  for line in log.lines:
    if "samples" in line:
      ids = sample_ids.SampleIds([sample_ids.read(folder, line)]).at(np.arange(line["samples"]))
      (folder / line.pop("ids", "none")).unlink(missing_ok=True)
      line = {key: value for key, value in line.items() if not key.startswith("id")}
      text = zlib.compress("\n".join(ids).encode(), 1)
      number += 1
      (folder / f"{number:04d}.ids").write_bytes(text)
      line.update(ids=f"{number:04d}.ids", id_bytes=len(text))
    lines.append(line)
  committed.replace(folder / committed.COMMITS, lines)
  (folder / "format.json").write_text('{"version": 1}')


def test_a_cache_of_an_early_version_is_read_and_converted_when_it_grows(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache.add_models(["a", "b"], [[1, 0, 1], [0, 0, 1]], ["x", "y", "7"])
  cache.add_samples(["z"], [[1], [0]])
  states = cache.states()
  _early(tmp_path / "c")
  early = accuracy_cache.AccuracyCache(tmp_path / "c")
  assert early.ids.tolist() == ["x", "y", "7", "z"] and early.states() == states
  assert early.sample_ids.find(["z", "x", "w"]).tolist() == [3, 0, -1]
  assert cache_check.problems(tmp_path / "c") == []
  with pytest.raises(accuracy_cache.CacheError, match="in the cache already.*'y'"):
    early.add_samples(["y"], [[1], [0]])
  early.add_models(["c"], [[1, 1, 1]], ["z", "7", "y"])
  again = accuracy_cache.AccuracyCache(tmp_path / "c")
  assert again.ids.tolist() == ["x", "y", "7", "z"] and states.items() <= again.states().items()
  assert again.matrix().tolist() == [[1, 0, 1, 1], [0, 0, 1, 0], [-1, 1, 1, 1]]
  assert not list((tmp_path / "c").glob("*.ids")) and list((tmp_path / "c").glob("*.index"))
  assert json.loads((tmp_path / "c" / "format.json").read_text()) == {"version": 3}
  assert cache_check.problems(tmp_path / "c") == []


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

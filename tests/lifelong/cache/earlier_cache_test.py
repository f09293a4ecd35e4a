# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Caches of earlier formats become new ones with all that they held."""

from __future__ import annotations

import json
import pathlib
import shutil

import numpy as np
import pytest

from suite import cli
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import active_samples
from suite.lifelong.cache import cache_check
from suite.lifelong.cache import cache_tasks
from suite.lifelong.cache import catalog
from suite.lifelong.cache import earlier_cache
from suite.lifelong.cache import question_sets
from suite.lifelong.cache import task_groups

HERE = pathlib.Path(__file__).parent


def _converted(tmp_path, version):
  return earlier_cache.convert(HERE / f"format_{version}", tmp_path / "new")


def test_format_1_has_ids_as_text_and_no_sums(tmp_path):
  cache = _converted(tmp_path, 1)
  assert cache.ids.tolist() == ["x", "y", "7", "z"] and cache.models == ["a", "b"]
  assert cache.matrix().tolist() == [[1, 0, 1, 1], [0, 0, 1, 0]] and not cache.tasks


def test_format_2_has_the_tasks_of_its_ids(tmp_path):
  cache = _converted(tmp_path, 2)
  names, codes = cache.sample_tasks()
  assert names == ["arc", "gsm8k"] and np.bincount(codes).tolist() == [12, 8]
  assert cache.totals().tolist() == [[13, 20], [14, 20], [8, 12]]
  assert cache.threshold == 0.5 and cache_check.problems(cache.folder) == []


def test_format_3_has_documents_families_groups_and_questions(tmp_path):
  cache = _converted(tmp_path, 3)
  assert cache.matrix().tolist() == [[1, 1, 1, 0, 0, 0, 0, 0], [0, 0, 0, 1, 1, 1, 1, 1],
                                     [1, 0, 1, 1, 0, -1, 0, 0]]
  assert cache.documents.tolist() == [11, 12, 13, 14, 15, 16, 17, 0]
  assert cache.tasks["gsm8k"] == cache_tasks.Task("exact", "strict", "g.jsonl")
  assert active_samples.read(cache.folder) == active_samples.Roster(
      frozenset({"arc/3"}), {"b": "a"}, "(.+)-[0-9]+")
  assert task_groups.read(cache.folder) == {"both": task_groups.Group(("arc", "gsm8k"), False)}
  line = json.loads((HERE / "format_3" / "questions.jsonl").read_text().partition(" ")[2])
  found = question_sets.QuestionSet(cache, lambda: 1 / 0).first(5)
  assert found.tolist() == np.array(line["samples"])[:5].tolist()


def test_format_4_has_scores(tmp_path):
  cache = _converted(tmp_path, 4)
  np.testing.assert_array_equal(cache.values(np.arange(4)), np.array(
      [[1, 0, np.nan, 2.5], [0.25, 31, np.nan, np.nan]], np.float32))
  assert cache.value_range == (0.0, 100.0)


def test_the_command_and_what_it_refuses(tmp_path, capsys):
  old, new = tmp_path / "old", tmp_path / "new"
  shutil.copytree(HERE / "format_3", old)
  assert cli.main(["lifelong", "status", "--cache", str(old)]) == 1
  said = capsys.readouterr().err
  assert "by an earlier version (format 3; this one reads 5)" in said and "convert --cache" in said
  with pytest.raises(accuracy_cache.CacheError, match="earlier version"):
    accuracy_cache.AccuracyCache(old, create=True).add_models(["x"], [[1]], ["1"])
  assert cli.main(["lifelong", "convert", "--cache", str(old), "--out", str(new)]) == 0
  assert "3 models and 8 samples, compared answer by answer" in capsys.readouterr().out
  for arguments, message in (((old, new), "exists. Give a folder"),
                             ((new, tmp_path / "x"), "of format 5; nothing is to be converted")):
    with pytest.raises(accuracy_cache.CacheError, match=message):
      earlier_cache.convert(*arguments)
  (old / catalog.MARK).write_text('{"version": 6}')
  assert cli.main(["lifelong", "status", "--cache", str(old)]) == 1
  assert "newer version (format 6; this one reads 5)" in capsys.readouterr().err
  (old / catalog.MARK).write_text('{"version": 3}')
  path = old / "0002.bits"
  path.write_bytes(bytes([path.read_bytes()[0] ^ 1]) + path.read_bytes()[1:])
  with pytest.raises(accuracy_cache.CacheError, match="0002.bits is damaged"):
    earlier_cache.convert(old, tmp_path / "x")
  assert not (tmp_path / "x").exists()

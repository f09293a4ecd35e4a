# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...` on small files."""

from __future__ import annotations

import numpy as np

from suite import cli
from suite.data import accuracy_cache


def _suite(*arguments):
  return cli.main(["lifelong", *map(str, arguments)])


def test_models_and_samples_are_added_and_counted(tmp_path, capsys):
  cache = tmp_path / "cache"
  (tmp_path / "a.csv").write_text("model,x,y,z\np,1,0,\nq,1,1,0\n")
  np.save(tmp_path / "b.npy", np.array([[1, 1, 1]]))
  assert _suite("add-models", "--cache", cache, tmp_path / "a.csv") == 0
  assert _suite("add-models", "--cache", cache, tmp_path / "b.npy", "--names", "r") == 0
  (tmp_path / "new.csv").write_text("model,w\nq,1\np,0\n")
  assert _suite("add-samples", "--cache", cache, tmp_path / "new.csv") == 0
  out = capsys.readouterr().out
  assert "3 models, 4 samples" in out
  assert "evaluated: 10 of 12 answers (83.3%); of these correct: 70.0%" in out
  assert accuracy_cache.AccuracyCache(cache).matrix().tolist() == [
      [1, 0, -1, 0], [1, 1, 0, 1], [1, 1, 1, -1]]


def test_mistakes_are_told_and_change_nothing(tmp_path, capsys):
  (tmp_path / "a.csv").write_text("model,x\np,1\n")
  assert _suite("status", "--cache", tmp_path / "none") == 1
  assert "no accuracy cache" in capsys.readouterr().err
  assert _suite("add-models", "--cache", tmp_path / "c", tmp_path / "a.csv") == 0
  assert _suite("add-models", "--cache", tmp_path / "c", tmp_path / "a.csv") == 1
  assert "already there: ['p']" in capsys.readouterr().err
  assert _suite() == 2

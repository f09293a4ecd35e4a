# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...` on small files."""

from __future__ import annotations

import numpy as np

from suite import cli
from suite.lifelong.cache import accuracy_cache


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


def test_a_damaged_cache_is_told_with_the_remedy(tmp_path, capsys):
  (tmp_path / "a.csv").write_text("model,x,y\np,1,0\n")
  assert _suite("add-models", "--cache", tmp_path / "c", tmp_path / "a.csv") == 0
  assert _suite("verify", "--cache", tmp_path / "c") == 0
  (tmp_path / "c" / "0002.bits").write_bytes(b"\x00")
  assert _suite("verify", "--cache", tmp_path / "c") == 1
  assert "0002.bits is damaged" in (out := capsys.readouterr().out) and "truncate -s" in out


def _cache_of(tmp_path, num_samples=600):
  rng = np.random.default_rng(0)
  difficulty = rng.normal(0, 1.5, num_samples)
  answers = (rng.random((9, num_samples)) < 1 / (1 + np.exp(difficulty - 0.5))).astype(np.int8)
  np.save(tmp_path / "known.npy", answers[:8])
  cache = tmp_path / "cache"
  assert _suite("add-models", "--cache", cache, tmp_path / "known.npy", "--names",
                *(f"m{i}" for i in range(8))) == 0
  return cache, answers[8]


def _answer(tmp_path, row, name="new.csv"):
  ids = (tmp_path / "ask.txt").read_text().split()
  lines = [f"{one},{row[int(one)]}" for one in ids]
  (tmp_path / name).write_text("\n".join(["id,correct", *lines]))
  return ids


def test_a_new_model_is_asked_and_estimated(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  ask = ("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt")
  assert _suite(*ask, "--budget", 100) == 0
  ids = _answer(tmp_path, row)
  assert len(set(ids)) == 100
  capsys.readouterr()
  assert _suite("estimate", "--cache", cache, "--answers", tmp_path / "new.csv",
                "--probabilities", tmp_path / "p.csv", "--keep", "newest") == 0
  out = capsys.readouterr().out
  assert "newest: accuracy" in out and "from 100 answers" in out and "supported:" in out
  lines = (tmp_path / "p.csv").read_text().splitlines()
  assert lines[0] == "id,newest" and len(lines) == 601
  observed = dict(line.split(",") for line in lines[1:])
  assert all(float(observed[one]) == row[int(one)] for one in ids)
  assert accuracy_cache.AccuracyCache(cache).models[-1] == "newest"
  assert _suite("rank", "--cache", cache) == 0
  ranking = capsys.readouterr().out.splitlines()
  assert len(ranking) == 10
  line, = (one for one in ranking if "newest" in one)
  assert " to " in line and line.endswith(" 100")


def test_two_models_are_compared(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  _suite("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt", "--budget", 200)
  _answer(tmp_path, row)
  _answer(tmp_path, np.ones_like(row), "perfect.csv")
  capsys.readouterr()
  assert _suite("estimate", "--cache", cache, "--answers", tmp_path / "perfect.csv",
                tmp_path / "new.csv") == 0
  out = capsys.readouterr().out
  assert "perfect - new: +" in out and "p " in out


def test_answers_to_other_samples_are_refused(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  _suite("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt", "--budget", 10)
  ids = _answer(tmp_path, row)
  other = next(str(i) for i in range(600) if str(i) not in ids)
  (tmp_path / "new.csv").write_text(f"id,correct\n{other},1\n")
  assert _suite("estimate", "--cache", cache, "--answers", tmp_path / "new.csv") == 1
  assert f"There is no answer to {ids[0]!r}, the first sample to ask" in capsys.readouterr().err
  (tmp_path / "new.csv").write_text(f"id,correct\n{ids[0]},maybe\n")
  assert _suite("estimate", "--cache", cache, "--answers", tmp_path / "new.csv") == 1
  assert "line 2: expected a column id" in capsys.readouterr().err
  # Of a longer list the first answers are enough.
  _answer(tmp_path, row)
  text = (tmp_path / "new.csv").read_text().splitlines()
  (tmp_path / "new.csv").write_text("\n".join(text[:8]))
  assert _suite("estimate", "--cache", cache, "--answers", tmp_path / "new.csv") == 0
  assert "from 7 answers" in capsys.readouterr().out


def test_groups_of_samples_are_taken_by_id(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  _suite("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt", "--budget", 200)
  ids = (tmp_path / "ask.txt").read_text()
  groups = tmp_path / "groups.csv"
  groups.write_text("\n".join(["id,class", *(f"{i},{'ab'[i % 2]}" for i in reversed(range(600)))]))
  # The new model knows one class only, which no order of difficulty tells.
  _answer(tmp_path, np.arange(600) % 2)
  both = ("estimate", "--cache", cache, "--groups", groups)
  assert _suite(*both, "--ask", tmp_path / "ask.txt", "--budget", 200) == 0
  assert (tmp_path / "ask.txt").read_text() == ids
  assert _suite(*both, "--answers", tmp_path / "new.csv", "--probabilities",
                tmp_path / "p.csv") == 0
  assert "predictions of single samples supported" in capsys.readouterr().out
  found = dict(line.split(",") for line in (tmp_path / "p.csv").read_text().splitlines()[1:])
  assert sum((float(value) > 0.5) == int(one) % 2 for one, value in found.items()) > 590
  groups.write_text("id,class\n0,a\n")
  assert _suite(*both, "--answers", tmp_path / "new.csv") == 1
  assert "no line for 599 of the cache's 600 samples" in capsys.readouterr().err

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong ...` on small files."""

from __future__ import annotations

import csv
import json
import re

import numpy as np
from pyarrow import parquet
import pytest

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


def test_samples_are_inserted_by_the_models_that_are_asked(tmp_path, capsys):
  cache = tmp_path / "cache"
  (tmp_path / "a.csv").write_text("model,a,b,c,d\np,1,1,1,0\nq,1,0,0,0\nr,1,1,0,0\ns,0,0,0,0\n")
  assert _suite("add-models", "--cache", cache, tmp_path / "a.csv") == 0
  names = tmp_path / "names.txt"
  assert _suite("insert-samples", "--cache", cache, "--ask", names, "--budget", 2) == 0
  assert names.read_text().split() == ["r", "s"]
  (tmp_path / "new.csv").write_text("model,e,f\nq,1,1\np,0,1\n")
  assert _suite("insert-samples", "--cache", cache, "--answers", tmp_path / "new.csv", "--out",
                tmp_path / "places.csv") == 0
  # q stands for three of the four, see tests/lifelong/api_test.py.
  assert (tmp_path / "places.csv").read_text().split() == ["id,solved,cut", "e,3,0", "f,4,4"]
  assert "2 samples added with the answers of 2 of 4 models" in capsys.readouterr().out
  (tmp_path / "more.csv").write_text("model,g,h\nq,1,1\np,0,1\n")
  assert _suite("insert-samples", "--cache", cache, "--answers", tmp_path / "more.csv",
                "--place-by", "cut", "--json") == 0
  assert json.loads(capsys.readouterr().out)["solved"] == {"g": 0, "h": 4}
  assert accuracy_cache.AccuracyCache(cache).num_samples == 8
  (tmp_path / "gap.csv").write_text("model,i,j\nq,1,\np,0,1\n")
  for wrong in (["--answers", tmp_path / "gap.csv"], [], ["--ask", names, "--answers", names]):
    assert _suite("insert-samples", "--cache", cache, *wrong) == 1
  assert "no answer to some of the samples" in capsys.readouterr().err


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
  (tmp_path / "b.csv").write_text("model,x,y\nq,0,0\n")
  assert _suite("add-models", "--cache", tmp_path / "c", tmp_path / "b.csv") == 0
  path = max((tmp_path / "c").glob("*.right.npy"))
  path.write_bytes(path.read_bytes()[:-1] + b"\x80")
  assert _suite("verify", "--cache", tmp_path / "c") == 1
  assert f"{path.name} is damaged" in (out := capsys.readouterr().out) and "--cut" in out
  assert _suite("verify", "--cache", tmp_path / "c", "--cut") == 0
  assert accuracy_cache.AccuracyCache(tmp_path / "c").models == ["p"]


def test_clusters_are_kept_and_answers_exported(tmp_path, capsys):
  (tmp_path / "a.csv").write_text("model,x,y,z\np,1,0,\nq,0,0,1\n")
  cache = ("--cache", tmp_path / "c")
  assert _suite("add-models", *cache, tmp_path / "a.csv") == 0
  (tmp_path / "clusters.csv").write_text("id,cluster\nx,one\ny,one\n")
  assert _suite("clusters", *cache, "--csv", tmp_path / "clusters.csv") == 0
  assert "3 samples in 2 clusters" in capsys.readouterr().out
  found = accuracy_cache.AccuracyCache(tmp_path / "c")
  assert found.clusters.tolist() == [0, 0, 1]
  assert _suite("add-samples", *cache, _csv(tmp_path, "model,w\np,1\nq,1\n")) == 0
  assert accuracy_cache.AccuracyCache(tmp_path / "c").clusters.tolist() == [0, 0, 1, 2]
  assert _suite("export", *cache, "--parquet", tmp_path / "rows.parquet") == 0
  assert "7 rows of model, task, id, value and number" in capsys.readouterr().out
  rows = parquet.read_table(tmp_path / "rows.parquet").to_pylist()
  assert rows[0] == {"model": "p", "task": None, "id": "x", "value": 1.0,
                     "number": 1}
  assert [(row["model"], row["id"], row["value"]) for row in rows[1:]] == [
      ("p", "y", 0), ("p", "w", 1), ("q", "x", 0), ("q", "y", 0), ("q", "z", 1), ("q", "w", 1)]


@pytest.mark.parametrize("rows, action, message", [
    ("x,one\ny,one\nz,one", "clusters", "one cluster for all samples"),
    ("x,a\ny,a\nz,a", "compare", "one cluster for all samples"),
    ("x,a\nx,b\nz,a", "clusters", "two clusters of 'x'"),
    ("x,a\ny,b", "rank", "no cluster of 1 of the 3 samples, such as 'z'"),
    ("x,two", "clusters", "'x' is of cluster 'one' in .*got 'two', as of 1 samples.*--replace"),
    ("nowhere,a", "clusters", "'nowhere'")])
def test_bad_clusters_are_told_in_a_line(tmp_path, capsys, rows, action, message):
  (tmp_path / "a.csv").write_text("model,x,y,z\np,1,0,1\nq,0,0,1\n")
  cache = ("--cache", tmp_path / "c")
  assert _suite("add-models", *cache, tmp_path / "a.csv") == 0
  (tmp_path / "good.csv").write_text("id,cluster\nx,one\ny,one\n")
  assert _suite("clusters", *cache, "--csv", tmp_path / "good.csv") == 0
  (tmp_path / "bad.csv").write_text(f"id,cluster\n{rows}\n")
  capsys.readouterr()
  flag = "--csv" if action == "clusters" else "--clusters"
  assert _suite(action, *cache, flag, tmp_path / "bad.csv") == 1
  said = capsys.readouterr().err
  assert re.search(message, said) and said.count("\n") == 1
  assert accuracy_cache.AccuracyCache(tmp_path / "c").clusters.tolist() == [0, 0, 1]
  if "--replace" in said:
    assert _suite("clusters", *cache, "--csv", tmp_path / "bad.csv", "--replace") == 0
    assert accuracy_cache.AccuracyCache(tmp_path / "c").clusters.tolist() == [1, 0, 2]


def _csv(tmp_path, text):
  (tmp_path / "more.csv").write_text(text)
  return tmp_path / "more.csv"


def _cache_of(tmp_path, num_samples=600, num_models=8):
  rng = np.random.default_rng(0)
  difficulty = rng.normal(0, 1.5, num_samples)
  chance = 1 / (1 + np.exp(difficulty - 0.5))
  answers = (rng.random((num_models + 1, num_samples)) < chance).astype(np.int8)
  np.save(tmp_path / "known.npy", answers[:-1])
  cache = tmp_path / "cache"
  assert _suite("add-models", "--cache", cache, tmp_path / "known.npy", "--names",
                *(f"m{i}" for i in range(num_models))) == 0
  return cache, answers[-1]


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
  assert " to " in line and " 100 (of these " in line


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


def test_whatever_answers_there_are_count(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  _suite("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt", "--budget", 100)
  ids = _answer(tmp_path, row)
  estimate = ("estimate", "--cache", cache, "--answers", tmp_path / "new.csv")
  text = (tmp_path / "new.csv").read_text().splitlines()
  (tmp_path / "new.csv").write_text("\n".join(text[:8]))
  capsys.readouterr()
  assert _suite(*estimate) == 0
  assert "from 7 answers" in capsys.readouterr().out
  # In any order, with a gap, an unknown id, and answers to samples that were not asked.
  others = [str(i) for i in range(600) if str(i) not in ids][:20]
  lines = [*reversed(text[1:50]), *text[51:], "unknown,1", *(f"{i},{row[int(i)]}" for i in others)]
  (tmp_path / "new.csv").write_text("\n".join(["id,correct", *lines]))
  assert _suite(*estimate) == 0
  out = capsys.readouterr().out
  assert "from 119 answers; 1 ids are not in the cache" in out
  assert "the interval is from 99 of them" in out and "any answers to 1.00%" in out
  assert _suite(*estimate, "--json", "--budget", 50) == 0
  found, = json.loads(capsys.readouterr().out)["models"]
  assert found["answers"] == found["random_answers"] == 49 and found["interval"][0] < row.mean()
  # None of them was asked: predictions, and an interval if they are a random choice.
  (tmp_path / "new.csv").write_text("\n".join(
      ["id,correct", *(f"{i},{row[int(i)]}" for i in others)]))
  assert _suite(*estimate) == 0
  out = capsys.readouterr().out
  assert "as predicted, 95% interval" in out and "as suite lifelong rank" in out
  assert _suite(*estimate, "--random") == 0
  assert "95% interval" in capsys.readouterr().out
  (tmp_path / "new.csv").write_text("id,correct\nunknown,1\n")
  assert _suite(*estimate) == 1
  assert "None of the 1 ids with an answer" in capsys.readouterr().err
  (tmp_path / "new.csv").write_text("id,correct\n5,maybe\n")
  assert _suite(*estimate) == 1
  assert "line 2: 'maybe' is no answer" in capsys.readouterr().err


def test_questions_stay_and_only_what_is_missing_is_asked(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  ask = ("estimate", "--cache", cache, "--ask", tmp_path / "ask.txt")
  assert _suite(*ask, "--budget", 100) == 0
  ids = _answer(tmp_path, row)
  np.save(tmp_path / "more.npy", np.random.default_rng(2).integers(0, 2, (1, 600)))
  assert _suite("add-models", "--cache", cache, tmp_path / "more.npy") == 0
  assert _suite(*ask, "--budget", 130, "--answers", tmp_path / "new.csv") == 0
  more = (tmp_path / "ask.txt").read_text().split()
  assert len(more) == 30 and not set(more) & set(ids)
  assert _suite(*ask, "--budget", 130) == 0
  assert (tmp_path / "ask.txt").read_text().split() == [*ids, *more]
  assert _suite(*ask, "--budget", 130, "--seed", 1) == 0
  assert (tmp_path / "ask.txt").read_text().split() != [*ids, *more]
  # As many as a width needs; and those that tell most about single samples.
  assert _suite(*ask, "--target-width", "0.1", "--answers", tmp_path / "new.csv") == 0
  assert 50 < len((tmp_path / "ask.txt").read_text().split()) < 400
  assert _suite(*ask, "--target-width", "0.2", "--json") == 0
  assert 70 < json.loads(capsys.readouterr().out.splitlines()[-1])["questions"] < 97
  adaptive = (*ask, "--budget", 110, "--answers", tmp_path / "new.csv", "--adaptive")
  assert _suite(*adaptive, "--factors", 2) == 0
  found = (tmp_path / "ask.txt").read_text().split()
  assert len(found) == 10 and not set(found) & set(ids)


def test_what_is_refused_leaves_no_cache(tmp_path, capsys):
  for text, message in (("model,x\n,1\n", "empty name"), ("model,x,\np,1,0\n", "empty"),
                        ("model,id,correct\np,x,1\np,x,0\n", "another answer"),
                        ("model,id,correct\np,x,0.5\n", "--threshold 0.5")):
    (tmp_path / "a.csv").write_text(text)
    assert _suite("add-models", "--cache", tmp_path / "c", tmp_path / "a.csv") == 1
    assert message in capsys.readouterr().err
    assert not (tmp_path / "c").exists()
  scores = ("add-models", "--cache", tmp_path / "c", tmp_path / "a.csv", "--threshold", "0.5")
  assert _suite(*scores) == 0
  assert accuracy_cache.AccuracyCache(tmp_path / "c").matrix().tolist() == [[1]]
  assert _suite("status", "--cache", tmp_path / "c", "--json") == 0
  assert json.loads(capsys.readouterr().out.splitlines()[-1])["evaluated"] == 1


def test_graded_scores_have_the_threshold_of_the_cache(tmp_path, capsys):
  cache, row = _cache_of(tmp_path)
  status = ("status", "--cache", cache)
  scores = np.where(row == 1, 0.8, 0.4)
  for name, values in (("graded", scores), ("other", np.where(row == 1, 0.9, 0.1)), ("bits", row)):
    (tmp_path / f"{name}.csv").write_text("id,score\n" + "".join(
        f"{index},{value}\n" for index, value in enumerate(values[:300])))
  (tmp_path / "known.csv").write_text("id,graded2\n" + "".join(
      f"{index},{value}\n" for index, value in enumerate(scores)))
  add = ("add-models", "--cache", cache, tmp_path / "known.csv")
  estimate = ("estimate", "--cache", cache, "--random", "--answers")
  assert _suite(*add) == 1
  assert "'graded2' on '0'" in (said := capsys.readouterr().err) and "--threshold 0.5" in said
  assert _suite(*estimate, tmp_path / "graded.csv") == 0
  assert "mean score" in (out := capsys.readouterr().out) and "correct" not in out
  assert _suite(*estimate, tmp_path / "graded.csv", tmp_path / "bits.csv") == 0
  assert "not compared: only the answers of graded are graded" in capsys.readouterr().out
  assert _suite(*add, "--threshold", "0.5") == 0
  assert "graded answers count as correct from 0.5 on" in capsys.readouterr().out
  assert accuracy_cache.AccuracyCache(cache).answers(
      "graded2", np.arange(len(row))).tolist() == row.tolist()
  assert _suite(*status, "--json") == 0
  assert json.loads(capsys.readouterr().out)["threshold"] == 0.5
  assert _suite(*estimate, tmp_path / "graded.csv", "--threshold", "0.6") == 1
  assert "from 0.5 on; got a threshold of 0.6" in capsys.readouterr().err
  # The mean score, and the accuracy that the same model has as bits.
  assert _suite(*estimate, tmp_path / "graded.csv", tmp_path / "bits.csv", "--json") == 0
  found = json.loads(capsys.readouterr().out)
  graded, bits = found["models"]
  assert graded["graded"] and not bits["graded"] and bits["correct"] is None
  assert graded["correct"] == {key: bits[key] for key in ("accuracy", "interval")}
  assert graded["interval"][0] < 0.4 + 0.4 * row.mean() < graded["interval"][1]
  assert found["difference"]["value"] == 0 and found["threshold"] == 0.5
  assert _suite(*estimate, tmp_path / "graded.csv", tmp_path / "other.csv") == 0
  out = capsys.readouterr().out
  assert out.count("from 0.5 on correct, as in the cache: accuracy") == 2
  gap = 100 * np.mean(scores[:300] - np.where(row == 1, 0.9, 0.1)[:300])
  assert f"graded - other: {gap:+.2f} points" in out
  assert _suite(*estimate, tmp_path / "graded.csv", "--keep", "kept") == 0
  assert accuracy_cache.AccuracyCache(cache).answers("kept", np.arange(300)).tolist() == (
      row[:300].tolist())


def test_a_subset_estimates_by_a_weighted_sum(tmp_path, capsys):
  cache, row = _cache_of(tmp_path, num_models=20)
  subset = ("subset", "--cache", cache, "--out", tmp_path / "subset.csv")
  assert _suite(*subset, "--size", 64, "--draws", 3, "--json") == 0
  found = json.loads(capsys.readouterr().out.splitlines()[-1])
  assert 0 < found["error"] <= found["largest"] < 0.2
  with open(tmp_path / "subset.csv", encoding="utf-8") as file:
    weights = {line["id"]: float(line["weight"]) for line in csv.DictReader(file)}
  assert len(weights) == 64 and abs(sum(weights.values()) - 1) < 1e-9
  (tmp_path / "new.csv").write_text("\n".join(
      ["id,correct", *(f"{one},{row[int(one)]}" for one in weights)]))
  assert _suite(*subset, "--answers", tmp_path / "new.csv", "--json") == 0
  one, = json.loads(capsys.readouterr().out)["models"]
  assert abs(one["accuracy"] - sum(weight * row[int(i)] for i, weight in weights.items())) < 1e-9
  assert one["interval"][0] <= row.mean() <= one["interval"][1]
  assert _suite("plot", "--cache", cache, "--out", tmp_path / "figures", "--subset",
                tmp_path / "subset.csv") == 0
  assert {path.name for path in (tmp_path / "figures").iterdir()} == {
      "ranking.svg", "items.svg", "information.svg"}
  (tmp_path / "new.csv").write_text("id,correct\n0,1\n")
  assert _suite(*subset, "--answers", tmp_path / "new.csv") == 1
  assert "no answer to" in capsys.readouterr().err


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

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Scores that a cache keeps as values: what is stored, and means of them."""

from __future__ import annotations

import json

import numpy as np
from pyarrow import parquet
import pytest

from suite import cli
from suite import lifelong
from suite.lifelong import paired_standings
from suite.lifelong import standings
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.lifelong.cache import cache_check


def _scores(num_models, num_samples=600, seed=0):
  """Scores in [0, 1] that are no bits: float64 [M, N]."""
  rng = np.random.default_rng(seed)
  logits = rng.normal(0, 1, (num_models, 1)) - rng.normal(0, 1, num_samples)
  return 1 / (1 + np.exp(-logits - rng.normal(0, 0.5, logits.shape)))


def _cache(folder, scores, ids=None):
  cache = accuracy_cache.AccuracyCache(folder, create=True)
  cache.add_models([f"m{i}" for i in range(len(scores))], scores, ids or range(scores.shape[1]),
                   values=True)
  return cache


def test_scores_survive_joins_growth_and_another_process(tmp_path):
  scores = 100 * _scores(40, 50)
  scores[3, 7] = np.nan
  cache = accuracy_cache.AccuracyCache(tmp_path / "c", create=True)
  cache.add_models(["bits"], [np.arange(50) % 2], range(50))
  for number in range(20):  # The first 16 are joined.
    cache.add_models([f"m{number}"], scores[number:number + 1], values=True)
  for sample in range(50, 70):
    cache.add_samples([str(sample)], np.full([2, 1], -2.5 * sample), ["m0", "m3"], values=True)
  again = accuracy_cache.AccuracyCache(tmp_path / "c")
  assert len(again.pieces) < 16 and cache_check.problems(tmp_path / "c") == []
  found = again.values(np.arange(50))
  np.testing.assert_array_equal(found[0], np.arange(50) % 2)
  np.testing.assert_array_equal(found[1:], scores[:20].astype(np.float32))
  added = again.values(np.arange(50, 70))
  np.testing.assert_array_equal(added[[1, 4]], [-2.5 * np.arange(50, 70)] * 2)
  assert np.isnan(np.delete(added, [1, 4], axis=0)).all()
  assert again.value_range == (-172.5, 100.0)


def test_the_range_ends_at_a_round_number_if_it_can(tmp_path):
  for number, (low, high, wanted) in enumerate((
      (0.2, 0.9, (0, 1)), (0.0, 4.0, (0, 10)), (0.5, 31.0, (0, 100)), (0.0, 250.0, (0, 250)),
      (-1.0, 0.5, (-1, 1)))):
    assert _cache(tmp_path / str(number), np.array([[low, high]])).value_range == wanted


def test_what_is_no_score_is_refused_by_name(tmp_path):
  cache = _cache(tmp_path / "c", _scores(3, 20))
  with pytest.raises(lifelong.CacheError, match=r"model 'x' must be finite numbers.*got inf"):
    cache.add_models(["x"], [np.full(20, np.inf)], values=True)
  with pytest.raises(lifelong.CacheError, match="keeps scores as values; got a threshold"):
    cache.add_models(["x"], [np.ones(20)], threshold=0.5)
  reference = lifelong.Reference(cache, save=False)
  with pytest.raises(ValueError, match="The score of sample '4' is nan; .*finite"):
    reference.estimate_from({"3": 0.5, "4": float("nan")})
  with pytest.raises(ValueError, match="The score of sample '.*' is inf"):
    reference.estimate(lambda ids: np.full(len(ids), np.inf), 8)
  for text, said in (("nan", "'nan' is no score"), ("inf", "'inf' is no score")):
    path = tmp_path / "a.csv"
    path.write_text(f"model,id,score\na,x,3.5\na,y,{text}\n")
    with pytest.raises(lifelong.CacheError, match=f"line 3: {said}; expected a finite number"):
      accuracy_import.read_all([path], accuracy_import.Options(values=True))
  path.write_text("model,id,score\na,x,-1\na,y,\na,z,7\n")
  table, = accuracy_import.read_all([path], accuracy_import.Options(values=True))
  np.testing.assert_array_equal(table.values(), [[-1.0, np.nan, 7.0]])
  bits = accuracy_cache.AccuracyCache(tmp_path / "bits", create=True)
  bits.add_models(["a"], [np.array([1, 0])], ["x", "y"], threshold=0.5)
  with pytest.raises(lifelong.CacheError, match="as correct from 0.5 on, so it keeps no scores"):
    bits.add_models(["b"], [np.array([0.2, 0.4])], values=True)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (-3.0, 5.0)])
def test_ranking_and_pairs_are_of_means(tmp_path, low, high):
  scores = low + (high - low) * _scores(5, 200)
  scores[0, 0], scores[0, 1] = low, high
  partial = scores.copy()
  partial[4, 60:] = np.nan
  cache = _cache(tmp_path, partial)
  rows = {one.name: one for one in standings.rank(cache)}
  for index in range(4):
    assert rows[f"m{index}"].score == pytest.approx(scores[index].mean(), abs=1e-6)
    assert rows[f"m{index}"].score_interval == (rows[f"m{index}"].score,) * 2
  one = rows["m4"]
  assert one.is_estimated and one.observed == pytest.approx(scores[4, :60].mean(), abs=1e-6)
  assert one.interval[0] < one.accuracy < one.interval[1]
  assert one.interval[0] <= scores[4].mean() <= one.interval[1]
  pair = paired_standings.compare(cache, models=["m0", "m1"]).pairs[0]
  change = scores[int(pair.first[1])] - scores[int(pair.second[1])]
  assert pair.difference == pytest.approx(change.mean(), abs=1e-6)
  error = change.std() / np.sqrt(200)
  assert pair.interval[1] - pair.interval[0] == pytest.approx(2 * 1.96 * error, rel=0.1)


@pytest.mark.parametrize("low, high", [(0.0, 1.0), (0.0, 100.0), (-20.0, 4.0)])
def test_estimates_are_means_with_intervals(tmp_path, low, high):
  scores = low + (high - low) * _scores(24)
  scores[0, :2] = low, high
  cache = _cache(tmp_path, scores[:20])
  reference = lifelong.Reference(cache, num_factors=[4], save=False)
  inside = []
  for row in scores[20:]:
    found = reference.estimate(lambda ids, row=row: row[ids.astype(int)], 64)
    inside.append(found.interval[0] <= row.mean() <= found.interval[1])
    width = found.interval[1] - found.interval[0]
    assert abs(found.accuracy - row.mean()) < width < 0.25 * (high - low)
    np.testing.assert_allclose(found.observed_answers, row[found.observed], atol=1e-6 * width)
    task = standings.TaskEstimates(cache).score("new", found)
    assert task.score == pytest.approx(found.accuracy) and task.interval == pytest.approx(
        found.interval)
  assert sum(inside) >= 3
  gap, p = lifelong.compare(*(reference.estimate(lambda ids, row=row: row[ids.astype(int)], 64)
                              for row in scores[20:22]), 600)
  assert gap.low < scores[20].mean() - scores[21].mean() < gap.high and 0 <= p <= 1
  asking = lifelong.Session(reference, target_width=0.1 * (high - low))
  while len(ids := asking.questions()):
    asking.answer(scores[20][ids.astype(int)])
  found = asking.accuracy()
  assert found.width <= 0.1 * (high - low)
  assert found.low - 0.02 * (high - low) < scores[20].mean() < found.high + 0.02 * (high - low)


def test_a_model_outside_of_the_range_widens_it(tmp_path):
  scores = 100 * _scores(13, 200)
  cache = _cache(tmp_path, scores[:12])
  reference = lifelong.Reference(cache, num_factors=[1], save=False)
  found = reference.estimate(lambda ids: 130 + scores[12, ids.astype(int)], 100)
  assert found.bounds[1] > 130 and found.interval[0] < 130 + scores[12].mean() < found.interval[1]


def test_commands_take_scores_as_values(tmp_path, capsys):
  scores = 40 * _scores(13, 100)
  np.save(tmp_path / "known.npy", scores[:12])

  def run(*args):
    return cli.main(["lifelong", *map(str, args)])

  cache = ("--cache", tmp_path / "c")
  assert run("add-models", *cache, tmp_path / "known.npy") == 1  # Neither bits nor --values.
  assert "--values" in capsys.readouterr().err
  assert run("add-models", *cache, tmp_path / "known.npy", "--values") == 0
  assert "scores are kept as values, from 0 to 100" in capsys.readouterr().out
  assert run("rank", *cache, "--json") == 0
  rows = json.loads(capsys.readouterr().out)["models"]
  assert rows[0]["score"] == pytest.approx(scores[:12].mean(axis=1).max(), rel=1e-5)
  (tmp_path / "new.csv").write_text("id,score\n" + "".join(
      f"{i},{value}\n" for i, value in enumerate(scores[12])))
  assert run("estimate", *cache, "--answers", tmp_path / "new.csv") == 0
  assert f"mean score {scores[12].mean():.4g}" in capsys.readouterr().out
  assert run("subset", *cache, "--size", 40, "--draws", 4, "--out", tmp_path / "s.csv") == 0
  capsys.readouterr()
  assert run("subset", *cache, "--out", tmp_path / "s.csv", "--answers", tmp_path / "new.csv",
             "--json") == 0
  row, = json.loads(capsys.readouterr().out)["models"]
  assert row["interval"][0] < row["accuracy"] < row["interval"][1] < 40
  assert abs(row["accuracy"] - scores[12].mean()) < row["interval"][1] - row["interval"][0]


def test_files_and_folders_bring_scores_one_by_one(tmp_path, capsys):
  """A cache that keeps scores takes whatever a file has that it has not, and is watched."""
  scores = np.round(40 * _scores(3, 12), 3)
  logs, cache = tmp_path / "logs", ("--cache", tmp_path / "c")
  logs.mkdir()

  def write(name, model, places):
    (logs / name).write_text("model,id,score\n" + "".join(
        f"m{model},x{place},{scores[model, place]}\n" for place in places))
    return logs / name

  def run(*args):
    code = cli.main(["lifelong", *map(str, args)])
    return code, capsys.readouterr()

  assert run("add", *cache, write("a.csv", 0, range(8)), "--values")[0] == 0
  assert run("add", *cache, write("b.csv", 1, range(4)))[0] == 0
  for _ in range(2):  # The second time nothing is new.
    assert run("add", *cache, write("b.csv", 1, range(12)))[0] == 0
  found = accuracy_cache.AccuracyCache(tmp_path / "c")
  want = scores[:2].astype(np.float32)
  want[0, 8:] = np.nan
  np.testing.assert_array_equal(found.values(np.arange(12)), want)
  write("c.csv", 2, range(12))
  write("a.csv", 0, range(12))
  code, said = run("watch", *cache, logs, "--once", "--settle", 0)
  assert code == 0 and "3 files added, 16 new answers, 1 new models" in said.out
  np.testing.assert_array_equal(
      accuracy_cache.AccuracyCache(tmp_path / "c").values(np.arange(12)),
      scores.astype(np.float32))
  (logs / "d.csv").write_text("model,id,score\nm2,x0,7.5\n")
  code, said = run("add", *cache, logs / "d.csv")
  assert code == 1 and "another answer to 'x0'" in said.err
  assert not cache_check.problems(tmp_path / "c")


def test_numbers_of_runs_come_from_files(tmp_path, capsys):
  runs = {("a", "x"): 3, ("a", "y"): 1, ("b", "x"): 2, ("b", "z"): 2, ("a", "w"): 4}
  cache = tmp_path / "c"
  for cells, action, flags in (("ax ay", "add-models", ["--values"]), ("bx bz", "add", []),
                               ("aw", "add", [])):
    path = tmp_path / f"{cells[:2]}.csv"
    path.write_text("model,id,epoch,correct\n" + "".join(
        f"{model},{one},{run},{run % 2}\n" for model, one in cells.split()
        for run in range(runs[model, one])))
    assert cli.main(["lifelong", action, "--cache", str(cache), str(path), "--repeats", "mean",
                     *flags]) == 0
  cli.main(["lifelong", "export", "--cache", str(cache), "--parquet", str(tmp_path / "o.parquet")])
  found = parquet.read_table(tmp_path / "o.parquet").to_pylist()
  assert {(one["model"], one["id"]): one["number"] for one in found} == runs
  capsys.readouterr()


def test_a_score_may_be_the_mean_of_generations(tmp_path):
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  numbers = np.array([[4, 8, 0]], np.int64)
  cache.add_models(["a"], [[0.25, 0.5, np.nan]], ["x", "y", "z"], values=True, numbers=numbers)
  cache.add_models(["b"], [[1.0, 0.0]], ["z", "x"], values=True, numbers=np.array([[2, 16]]))
  cache.add_models(["c"], [[1.0, 0.0, 1.0]], values=True)
  cache.add_samples(["w"], [[0.5], [0.5], [np.nan]], values=True)
  for index in range(16):  # They are joined.
    cache.add_models([f"m{index}"], [[1.0, 0.0, 1.0, 0.0]], values=True)
  cache.add_answers(["a"], np.array([[0.75]]), ["z"], values=True)
  found = accuracy_cache.AccuracyCache(tmp_path)
  assert found.numbers(np.arange(4), ["a", "b", "c", "m3"]).tolist() == [
      [4, 8, 1, 1], [16, 0, 2, 1], [1, 1, 1, 0], [1, 1, 1, 1]]
  right = found.numbers(np.arange(3), ["a"]) * found.values(np.arange(3), ["a"])
  assert right.tolist() == [[1, 4, 0.75]]
  with pytest.raises(lifelong.CacheError, match="from 0 to 65,535; got int64 from -1"):
    cache.add_models(["d"], [[1.0, 0.0, 1.0, 0.0]], values=True, numbers=np.array([[1, 1, 1, -1]]))

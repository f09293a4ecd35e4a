# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

from __future__ import annotations

import json
import os
import pathlib

import numpy as np
import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import accuracy_import
from suite.state import predictions

ANSWERS = np.array([[1, 0, -1], [0, 1, 1]], np.int8)


def test_numpy_with_and_without_names(tmp_path):
  np.save(tmp_path / "a.npy", ANSWERS)
  found = accuracy_import.read(tmp_path / "a.npy")
  assert found.models == ["a/0", "a/1"] and found.ids is None
  np.testing.assert_array_equal(found.answers, ANSWERS)
  np.savez(tmp_path / "b.npz", answers=ANSWERS, ids=["x", "y", "z"], model_names=["p", "q"])
  found = accuracy_import.read(tmp_path / "b.npz")
  assert (found.models, found.ids) == (["p", "q"], ["x", "y", "z"])
  np.savez(tmp_path / "c.npz", A_packed=np.packbits([[1, 0, 1]], axis=1), n_samples=3)
  found = accuracy_import.read(tmp_path / "c.npz", names=["r"])
  assert found.models == ["r"] and found.answers.tolist() == [[1, 0, 1]]


def test_csv_with_empty_cells(tmp_path):
  (tmp_path / "a.csv").write_text("model,x,y,z\np,1,0,\nq, 0 ,true,-1\n")
  found = accuracy_import.read(tmp_path / "a.csv")
  assert (found.models, found.ids) == (["p", "q"], ["x", "y", "z"])
  assert found.answers.tolist() == [[1, 0, -1], [0, 1, -1]]


def test_parquet_of_a_run_and_with_a_column_a_model(tmp_path):
  path = tmp_path / "work" / "indep" / "predictions" / "0003.parquet"
  predictions.save(path, ids=["x", "y"], labels=np.array([0, 1]), top1=np.array([0, 0]),
                   true_class_probability=np.array([0.9, 0.1]), correct=np.array([True, False]))
  found = accuracy_import.read(path)
  assert found.models == ["work/indep/0003"] and found.ids == ["x", "y"]
  assert found.answers.tolist() == [[True, False]]
  table = pa.table({"id": ["x", "y"], "p": [True, None], "q": [0, 1]})
  parquet.write_table(table, tmp_path / "t.parquet")
  found = accuracy_import.read(tmp_path / "t.parquet")
  assert found.models == ["p", "q"] and found.answers.tolist() == [[1, -1], [0, 1]]


@pytest.mark.parametrize("name, text, message", [
    ("a.txt", "", r"a.txt is none of .csv, .eval, .json, .*, some also as .gz"),
    ("a.csv", "", r"begins with \[\]; expected model,ID"),
    ("a.csv", "model,x\n", "a header and no models"),
    ("a.csv", "model,x,y\np,1\n", "line 2: 2 cells for a header of 3"),
    ("a.csv", "model,x,y\np,1,maybe\n", "line 2, column 'y': 'maybe' is no answer"),
    ("a.npy", "no array", "is damaged, or holds Python objects"),
    ("a.parquet", "no table", "cannot be read"),
])
def test_what_is_no_such_file_is_named(tmp_path, name, text, message):
  (tmp_path / name).write_text(text)
  with pytest.raises(accuracy_cache.CacheError, match=message):
    accuracy_import.read(tmp_path / name)


def _same(found, models, ids, answers):
  assert (found.models, found.ids) == (models, ids)
  np.testing.assert_array_equal(found.answers, answers)


MATRIX = (["p", "q"], ["x", "y", "z"], [[1, 0, -1], [0, 1, 1]])


@pytest.mark.parametrize("text", [
    "model,id,correct\np,x,1\np,y,0\np,z,\nq,z,True\nq,y,1.0\nq,x, 0.0\n",
    "\ufeffitem,model,score\nx,p,1\ny,p,0\nz,p,null\nz,q,1\ny,q,1\nx,q,0\n",
    "id,p,q\nx,1,0\ny,0,1.0\nz,NaN,true\n", "\ufeffmodel,x,y,z\np,1,0,\nq,0.0,1,1\n"])
def test_tables_of_any_orientation(tmp_path, text):
  (tmp_path / "a.csv").write_text(text, encoding="utf-8")
  options = accuracy_import.Options(id_column="item" if "item" in text else "")
  found, = accuracy_import.read_all([tmp_path / "a.csv"], options)
  _same(found, *MATRIX)


def test_parquet_with_a_line_an_answer(tmp_path):
  parquet.write_table(pa.table({"doc_id": [7, 8, 7], "model": ["p", "p", "q"],
                                "correct": [1.0, None, 0.0]}), tmp_path / "a.parquet")
  _same(accuracy_import.read(tmp_path / "a.parquet"), ["p", "q"], ["7", "8"], [[1, -1], [0, -1]])


def test_scores_and_repeated_runs(tmp_path):
  (tmp_path / "a.csv").write_text("model,id,correct\np,x,1\np,y,0\np,x,0\np,x,1\n")
  message = "line 4: model 'p' and id 'x' .*line 2. Remove one.$"
  with pytest.raises(accuracy_cache.CacheError, match=message):
    accuracy_import.read(tmp_path / "a.csv")
  found, = accuracy_import.read_all([tmp_path / "a.csv"], accuracy_import.Options(repeats="mean"))
  np.testing.assert_allclose(found.answers, [[2 / 3, 0]])
  with pytest.raises(accuracy_cache.CacheError, match="on 'x' is 0.666667; .*--threshold 0.5"):
    found.bits()
  assert found.bits(0.5).tolist() == [[1, 0]] and found.bits(0.7).tolist() == [[0, 0]]


def test_two_files_of_one_name_are_not_one_model(tmp_path):
  for folder in ("a", "b"):
    (tmp_path / folder).mkdir()
    (tmp_path / folder / "new.csv").write_text(f"id,correct\n{folder},1\n")
  with pytest.raises(accuracy_cache.CacheError, match="both have a model 'new'. Rename one"):
    accuracy_import.read_all([tmp_path / "a" / "new.csv", tmp_path / "b" / "new.csv"],
                             accuracy_import.Options())


def _lines(path, rows):
  path.parent.mkdir(exist_ok=True)
  path.write_text("\n".join(json.dumps(row) for row in rows) + "\n")
  return path


def test_logs_of_lm_evaluation_harness(tmp_path):
  rows = [{"doc_id": i, "filter": "none", "metrics": ["acc"], "acc": float(i % 2), "acc_norm": 1.0}
          for i in range(3)]
  first = _lines(tmp_path / "gpt" / "samples_arc_easy_2024-05-01T10-11-12.345678.jsonl", rows)
  second = _lines(tmp_path / "gpt" / "samples_boolq.jsonl", rows[:1])
  found, = accuracy_import.read_all([first, second], accuracy_import.Options())
  _same(found, ["gpt"], ["arc_easy/0", "arc_easy/1", "arc_easy/2", "boolq/0"], [[0, 1, 0, 0]])
  found, = accuracy_import.read_all([first], accuracy_import.Options(score="acc_norm"))
  assert found.answers.tolist() == [[1, 1, 1]]
  _lines(first, [rows[0], {**rows[0], "filter": "flexible-extract"}])
  with pytest.raises(accuracy_cache.CacheError,
                     match="has filters none, flexible-extract.*--filter arc_easy=none"):
    accuracy_import.read(first)
  first.write_text('{"doc_id": 1, "acc": 1}\n{"doc_id"')
  with pytest.raises(accuracy_cache.CacheError, match="line 2 is no JSON.*remove the line"):
    accuracy_import.read(first)


def test_instances_of_helm(tmp_path):
  def one(name, value, **more):
    return {"instance_id": name, "train_trial_index": 0, **more, "stats": [
        {"name": {"name": "num_tokens"}, "count": 1, "sum": 9.0},
        {"name": {"name": "exact_match", "split": "test"}, "count": 2, "sum": 2 * value}]}

  path = tmp_path / "mmlu:subject=anatomy,model=openai_gpt2" / "per_instance_stats.json"
  path.parent.mkdir()
  path.write_text(json.dumps([one("id1", 1.0), one("id2", 0.0), one("id1", 0.0, perturbation={
      "name": "typos"})]))
  _same(accuracy_import.read(path), ["openai_gpt2"],
        ["mmlu:subject=anatomy/id1", "mmlu:subject=anatomy/id2"], [[1, 0]])
  found, = accuracy_import.read_all([path], accuracy_import.Options(keep="typos"))
  _same(found, ["openai_gpt2"], ["mmlu:subject=anatomy/id1/typos"], [[0]])
  with pytest.raises(accuracy_cache.CacheError,
                     match="no metric 'bleu'; it has exact_match, num_tokens"):
    accuracy_import.read_all([path], accuracy_import.Options(score="bleu"))


@pytest.mark.parametrize("text, message", [
    ("model,id,correct\np,x,1\n,y,1\n", "line 3: an empty model"),
    ("model,id,correct\np,,1\n", "line 2: an empty id"),
    ("model,id,correct\np,x,2\n", "line 2: '2' is no answer"),
    ("model,id,correct\np,x\n", "no table of 3 columns"),
    ("id,p,p\nx,1,1\n", "line 1: columns \\['p'\\] are given twice"),
    ("question,p\nx,1\n", "a line a sample has --id only; a line a model"),
    ("id\nx\n", "no column but 'id'"), ("id,p\n", "a header and no samples")])
def test_refusals_name_the_line_and_the_remedy(tmp_path, text, message):
  (tmp_path / "a.csv").write_text(text)
  with pytest.raises(accuracy_cache.CacheError, match=message):
    accuracy_import.read(tmp_path / "a.csv")


def test_python_objects_are_not_read(tmp_path):
  np.save(tmp_path / "a.npy", np.array([{}], object), allow_pickle=True)
  with pytest.raises(accuracy_cache.CacheError, match="Python objects, which are not read"):
    accuracy_import.read(tmp_path / "a.npy")
  np.save(tmp_path / "b.npy", ANSWERS)
  with pytest.raises(accuracy_cache.CacheError, match="answers of 2 models, but 1 names are given"):
    accuracy_import.read(tmp_path / "b.npy", names=["one"])


def test_the_real_matrix(tmp_path):
  path = pathlib.Path(os.environ.get("LIFELONG_DATA", "../shared/data"),
                      "sort_and_search", "cifar10_matrix.npz")
  if not path.is_file():
    pytest.skip(f"no real data: {path} is not a file")
  found = accuracy_import.read(path)
  assert found.answers.shape == (220, 60000) and len(found.models) == 220
  cache = accuracy_cache.AccuracyCache(tmp_path, create=True)
  cache.add_models(found.models, found.answers, [str(i) for i in range(60000)])
  np.testing.assert_array_equal(cache.counts()[0], found.answers.sum(0, dtype=int))


def test_generations_are_reduced_to_one_value(tmp_path):
  rows = [("a", 0, (1, 0, 0, 1)), ("a", 1, (0, 0, 0)), ("b", 0, (1, 1, 1, 0))]  # Unequal numbers.
  path = tmp_path / "runs.csv"
  path.write_text("model,id,epoch,correct\n" + "".join(
      f"{model},{one},{epoch},{value}\n" for model, one, values in rows
      for epoch, value in enumerate(values)))

  def scores(repeats):
    found, = accuracy_import.read_all([path], accuracy_import.Options(repeats=repeats))
    return found.values()

  np.testing.assert_allclose(scores("mean"), [[0.5, 0], [0.75, np.nan]])
  np.testing.assert_allclose(scores("pass@2"), [[5 / 6, 0], [1, np.nan]], atol=1e-12)
  np.testing.assert_allclose(scores("maj@3"), [[0.5, 0], [1, np.nan]])
  with pytest.raises(accuracy_cache.CacheError, match="'a' has 3 answers to '1'; pass@4 needs"):
    scores("pass@4")
  path.write_text("model,id,epoch,correct\na,0,0,0.4\na,0,1,1\n")
  with pytest.raises(accuracy_cache.CacheError, match="not right or wrong; pass@2 counts"):
    scores("pass@2")

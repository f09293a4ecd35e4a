# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

from __future__ import annotations

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
    ("a.txt", "", r"a.txt is none of .csv, .npy, .npz, .parquet"),
    ("a.csv", "", r"begins with \[\]; needed is a header model,ID"),
    ("a.csv", "model,x\n", "a header and no models"),
    ("a.csv", "model,x,y\np,1\n", "line 2: 2 cells for a header of 3"),
    ("a.csv", "model,x,y\np,1,maybe\n", r"line 2: .*empty: \['maybe'\]"),
    ("a.npy", "no array", "is damaged, or holds Python objects"),
    ("a.parquet", "no table", "cannot be read"),
])
def test_what_is_no_such_file_is_named(tmp_path, name, text, message):
  (tmp_path / name).write_text(text)
  with pytest.raises(accuracy_cache.CacheError, match=message):
    accuracy_import.read(tmp_path / name)


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

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Exact search: the same as sorting everything, whatever the blocks."""

import sys

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import nearest_images

needs_faiss = pytest.mark.skipif(not nearest_images.installed(),
                                 reason="needs faiss: pip install '.[curate]'")
by_both = pytest.mark.parametrize("by_faiss", [False, pytest.param(True, marks=needs_faiss)])


def _files(tmp_path, array, cuts=()):
  paths = []
  for number, part in enumerate(np.split(array, cuts)):
    paths.append(tmp_path / f"{number}.npy")
    np.save(paths[-1], part)
  return feature_files.FeatureFiles(paths)


def _queries(vectors):
  return nearest_images.as_queries(np.array(vectors), [str(i) for i in range(len(vectors))])


def _task(queries, buckets, numbers, order):
  return nearest_images.SearchTask(queries, buckets, numbers, order)


def _brute(array, task):
  """Sorts all scores of a bucket by (score down, order up)."""
  unit = array / np.linalg.norm(array.astype(np.float64), axis=1, keepdims=True)
  scores = np.round(unit @ task.queries.T, 12)
  found = []
  for bucket, number in enumerate(task.numbers):
    rows = np.flatnonzero(task.buckets == bucket)
    found.append([rows[np.lexsort((task.order[rows], -scores[rows, q]))][:number].tolist()
                  for q in range(len(task.queries))])
  return found


def test_scores_are_cosines_worked_by_hand(tmp_path):
  features = _files(tmp_path, np.array([[3, 4], [0, 2], [-1, 0], [10, 0]], np.float32))
  task = _task(_queries([[2, 0]]), np.zeros(4, int), np.array([3]), np.arange(4))
  best, = nearest_images.search(features, task)[0]
  assert best.rows.tolist() == [3, 0, 1] and best.scores.tolist() == [1.0, 0.6, 0.0]


_BLOCKS = [(block_rows, dtype, False) for block_rows in (1, 7, 64, 1000)
           for dtype in (np.float16, np.float32, np.float64)]


@pytest.mark.parametrize("block_rows, dtype, by_faiss", [
    *_BLOCKS, pytest.param(64, np.float64, True, marks=needs_faiss)])
def test_blocks_and_types_do_not_change_what_is_found(tmp_path, block_rows, dtype, by_faiss):
  rng = np.random.default_rng(3)
  array = rng.standard_normal((300, 16)).astype(dtype)
  task = _task(_queries(rng.standard_normal((4, 16))), rng.integers(-1, 3, 300),
                     np.array([5, 0, 40]), rng.permutation(300))
  found = nearest_images.search(_files(tmp_path, array, [10, 111]), task, block_rows,
                                by_faiss=by_faiss)
  assert [[best.rows.tolist() for best in row] for row in found] == _brute(array, task)


@by_both
def test_equal_scores_go_by_order_even_among_many(tmp_path, by_faiss):
  array = np.repeat(np.array([[1, 0], [0, 1]], np.float32), 50, axis=0)
  array[:50] *= np.linspace(0.1, 1e4, 50, dtype=np.float32)[:, None]  # One direction, 50 lengths.
  order = np.random.default_rng(0).permutation(100)
  task = _task(_queries([[1, 0], [1, 1]]), np.zeros(100, int), np.array([3]), order)
  for block_rows in (4, 100):
    first, both = nearest_images.search(_files(tmp_path, array), task, block_rows,
                                        by_faiss=by_faiss)[0]
    assert order[first.rows].tolist() == sorted(order[:50])[:3]
    assert order[both.rows].tolist() == [0, 1, 2]


@by_both
def test_near_ties_are_decided_in_double_precision(tmp_path, by_faiss):
  array = np.ones((64, 512), np.float32)
  array[:, 0] += np.arange(64, dtype=np.float32) * 1e-5  # Scores differ by less than float32 has.
  query = np.zeros((1, 512))
  query[0, 0] = 1
  task = _task(_queries(query), np.zeros(64, int), np.array([4]), np.arange(64))
  best = nearest_images.search(_files(tmp_path, array), task, 16, by_faiss=by_faiss)[0][0]
  assert best.rows.tolist() == [63, 62, 61, 60]


@by_both
def test_lengths_beyond_float32_squares_are_normalised_first(tmp_path, by_faiss):
  array = np.array([[1e30, 1e30], [1e-30, 0], [0, 1]], np.float32)
  task = _task(_queries([[1, 0]]), np.zeros(3, int), np.array([3]), np.arange(3))
  best = nearest_images.search(_files(tmp_path, array), task, by_faiss=by_faiss)[0][0]
  assert best.rows.tolist() == [1, 0, 2]
  np.testing.assert_allclose(best.scores, [1, 0.5 ** 0.5, 0], atol=1e-12)
  _files(tmp_path, array).check(str)


def test_faiss_is_used_from_a_million_rows_on(tmp_path, monkeypatch):
  calls = []
  monkeypatch.setattr(nearest_images, "installed", lambda: True)
  monkeypatch.setattr(nearest_images, "_Faiss", lambda task: calls.append(
      "faiss") or nearest_images._Numpy(task))
  task = _task(_queries([[1, 0]]), np.zeros(4, int), np.array([1]), np.arange(4))
  files = _files(tmp_path, np.ones((4, 2), np.float32))
  nearest_images.search(files, task)
  assert not calls and nearest_images.ROWS == 10**6
  monkeypatch.setattr(nearest_images, "ROWS", 4)
  nearest_images.search(files, task)
  assert calls == ["faiss"]


def test_faiss_that_is_not_installed_is_said(tmp_path, monkeypatch):
  monkeypatch.setitem(sys.modules, "faiss", None)
  task = _task(_queries([[1, 0]]), np.zeros(4, int), np.array([1]), np.arange(4))
  with pytest.raises(errors.CurationError, match=r"faiss is not installed: pip install '.\[curate"):
    nearest_images.search(_files(tmp_path, np.ones((4, 2), np.float32)), task, by_faiss=True)


def test_bad_features_are_named(tmp_path):
  array = np.ones((9, 2), np.float32)
  array[2], array[5, 1], array[7, 0] = 0, np.nan, np.inf
  features = _files(tmp_path, array, [4])
  with pytest.raises(errors.CurationError, match="3 of 9 feature vectors .* 'im2', 'im5', 'im7'"):
    features.check(lambda row: f"im{row}")
  task = _task(_queries([[1, 0]]), np.zeros(9, int), np.array([3]), np.arange(9))
  with pytest.raises(errors.CurationError, match="row 2 are NaN, infinite or all zero"):
    nearest_images.search(features, task)


def test_widths_must_agree(tmp_path):
  np.save(tmp_path / "a.npy", np.ones((2, 3)))
  np.save(tmp_path / "b.npy", np.ones((2, 4)))
  with pytest.raises(errors.CurationError, match=r"different widths: .*a.npy of 3, .*b.npy of 4"):
    feature_files.FeatureFiles([tmp_path / "a.npy", tmp_path / "b.npy"])
  task = _task(_queries([[1, 0]]), np.zeros(2, int), np.array([1]), np.arange(2))
  with pytest.raises(errors.CurationError, match="Queries are of width 2, features of 3"):
    nearest_images.search(feature_files.FeatureFiles([tmp_path / "a.npy"]), task)


@pytest.mark.parametrize("array, message", [
    (np.ones(3), r"float64 \(3,\); floats \[N, D\]"), (np.ones((2, 2), int), "int64"),
    (np.ones((0, 4)), "is empty"), (np.array([["a"]], object), "cannot be read")])
def test_files_that_hold_no_features(tmp_path, array, message):
  np.save(tmp_path / "a.npy", array, allow_pickle=True)
  with pytest.raises(errors.CurationError, match=message):
    feature_files.FeatureFiles([tmp_path / "a.npy"])


def test_queries_without_a_direction_are_named():
  with pytest.raises(errors.CurationError, match="queries 'bus', 'car' are NaN"):
    nearest_images.as_queries(np.array([[1, 1], [0, 0], [np.nan, 1]]), ["dog", "bus", "car"])

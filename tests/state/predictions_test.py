# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Prediction files: round trip, compression, checks, and no half-written file."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from pyarrow import parquet
import pytest

from suite.state import predictions

SINGLE = {
    "ids": ["a", "b", "ü"],
    "labels": np.array([0, 2, 1]),
    "top1": np.array([0, 1, -1]),
    "true_class_probability": np.array([0.75, 0.25, 0.0]),
    "correct": np.array([True, False, False]),
}
MULTI = {
    "ids": np.array([b"a", b"b"]),
    "labels": np.array([[1, 0, 1], [0, 0, 0]], np.uint8),
    "top1": np.array([2, 0]),
    "true_class_probability": [np.array([0.5, 0.75]), np.array([])],
    "correct": np.array([True, False]),
    "scores": np.array([[0.5, 0.25, 0.75], [0.5, 0.25, 0.125]]),
}


def test_single_label_round_trip(tmp_path):
  path = tmp_path / "predictions" / "0001.parquet"
  predictions.save(path, **SINGLE)
  found = predictions.load(path)
  assert len(found) == 3 and not found.is_multi_label
  assert found.id.tolist() == ["a", "b", "ü"]
  assert found.label.tolist() == [0, 2, 1] and found.label.dtype == np.int64
  assert found.top1.tolist() == [0, 1, -1]
  assert found.true_class_probability.tolist() == [0.75, 0.25, 0.0]
  assert found.correct.tolist() == [True, False, False] and found.correct.dtype == bool


def test_names_of_classes_are_kept_and_files_without_them_are_unchanged(tmp_path):
  predictions.save(tmp_path / "named.parquet", **SINGLE, class_names=["ä", "b", "c"])
  assert predictions.load(tmp_path / "named.parquet").class_names == ("ä", "b", "c")
  predictions.save(tmp_path / "bare.parquet", **SINGLE)
  assert predictions.load(tmp_path / "bare.parquet").class_names is None
  assert parquet.read_schema(tmp_path / "bare.parquet").metadata is None


def test_multi_label_round_trip_keeps_all_that_mean_average_precision_needs(tmp_path):
  path = tmp_path / "0001.parquet"
  predictions.save(path, **MULTI)
  found = predictions.load(path)
  assert found.is_multi_label and found.id.tolist() == ["a", "b"]
  assert [row.tolist() for row in found.label] == [[0, 2], []]
  assert [row.tolist() for row in found.true_class_probability] == [[0.5, 0.75], []]
  np.testing.assert_array_equal(found.multi_hot(), MULTI["labels"])
  np.testing.assert_array_equal(found.scores, MULTI["scores"])


def test_single_label_predictions_have_no_multi_hot(tmp_path):
  predictions.save(tmp_path / "p.parquet", **SINGLE)
  with pytest.raises(ValueError, match="single-label"):
    predictions.load(tmp_path / "p.parquet").multi_hot()


def test_columns_and_compression(tmp_path):
  predictions.save(tmp_path / "p.parquet", **SINGLE)
  file = parquet.ParquetFile(tmp_path / "p.parquet")
  assert file.schema_arrow.names == list(predictions.COLUMNS)
  groups = file.metadata.row_group(0)
  assert {groups.column(i).compression for i in range(groups.num_columns)} == {"ZSTD"}


def test_equal_predictions_give_equal_bytes(tmp_path):
  for name in ("a", "b"):
    predictions.save(tmp_path / name, **MULTI)
  assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()


def test_no_predictions_round_trip(tmp_path):
  empty = np.zeros([0], np.int64)
  predictions.save(tmp_path / "p", ids=[], labels=empty, top1=empty, true_class_probability=empty,
                   correct=empty)
  assert len(predictions.load(tmp_path / "p")) == 0


def test_failing_to_write_keeps_the_old_file_and_leaves_no_other(tmp_path, monkeypatch):
  path = tmp_path / "p.parquet"
  predictions.save(path, **SINGLE)
  before = path.read_bytes()

  def fail(table, file, **unused_options):
    file.write(b"half")
    raise OSError("disk full")

  monkeypatch.setattr(parquet, "write_table", fail)
  with pytest.raises(OSError, match="disk full"):
    predictions.save(path, **MULTI)
  assert path.read_bytes() == before
  assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("change, message", [
    ({"ids": ["a", "b"]}, r"different lengths: \{'id': 2, 'label': 3"),
    ({"ids": ["a", "b", "a"]}, "repeat 1 ids"),
    ({"scores": np.ones([3, 2])}, r"shape \[3\] with scores given"),
])
def test_save_refuses_what_does_not_fit(tmp_path, change, message):
  with pytest.raises(ValueError, match=message):
    predictions.save(tmp_path / "p", **{**SINGLE, **change})
  assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("change, message", [
    ({"scores": None}, r"shape \[2, 3\] with scores missing"),
    ({"scores": np.ones([2, 2])}, "expected 3 scores an example"),
    ({"true_class_probability": [[0.5], []]}, "one true_class_probability a positive class"),
])
def test_save_refuses_what_does_not_fit_a_multi_label_task(tmp_path, change, message):
  with pytest.raises(ValueError, match=message):
    predictions.save(tmp_path / "p", **{**MULTI, **change})


def test_a_missing_file_says_the_next_step(tmp_path):
  with pytest.raises(FileNotFoundError, match="no predictions at .*0003.parquet. Restore it"):
    predictions.load(tmp_path / "0003.parquet")


@pytest.mark.parametrize("keep", [0, 3, 40, -1])
def test_a_damaged_file_is_named(tmp_path, keep):
  path = tmp_path / "0003.parquet"
  predictions.save(path, **SINGLE)
  path.write_bytes(path.read_bytes()[:keep])
  with pytest.raises(ValueError, match=r"0003\.parquet cannot be read as Parquet"):
    predictions.load(path)


def test_a_damaged_page_is_named(tmp_path):
  path = tmp_path / "0003.parquet"
  predictions.save(path, **SINGLE)
  data = bytearray(path.read_bytes())
  data[4:60] = bytes(56)
  path.write_bytes(bytes(data))
  with pytest.raises(ValueError, match=r"0003\.parquet"):
    predictions.load(path)


def test_no_flipped_bit_of_a_page_goes_unseen(tmp_path):
  path = tmp_path / "0003.parquet"
  predictions.save(path, **SINGLE)
  good, found = path.read_bytes(), predictions.load(path)
  silent = 0
  for place in range(4, len(good), 5):
    path.write_bytes(good[:place] + bytes([good[place] ^ 0x10]) + good[place + 1:])
    try:
      again = predictions.load(path)
    except ValueError as error:
      assert "0003.parquet" in str(error) and "\n" not in str(error)
      continue
    silent += 1  # In what nobody reads, such as statistics.
    for name in predictions.COLUMNS:
      np.testing.assert_array_equal(getattr(again, name), getattr(found, name))
  assert silent < len(good) / 10


@pytest.mark.parametrize("columns, message", [
    ({"id": ["a"]}, r"has no columns \['label', 'top1'"),
    ({"id": ["a"], "label": [0.5], "top1": [0], "true_class_probability": [0.5],
      "correct": [True]}, "column 'label' is double; expected int64"),
])
def test_another_parquet_file_is_refused(tmp_path, columns, message):
  parquet.write_table(pa.table(columns), tmp_path / "p")
  with pytest.raises(ValueError, match=message):
    predictions.load(tmp_path / "p")


def test_an_empty_cell_is_refused(tmp_path):
  predictions.save(tmp_path / "p", **SINGLE)
  table = parquet.read_table(tmp_path / "p")
  holed = table.set_column(2, "top1", pa.array([0, None, 1], pa.int64()))
  parquet.write_table(holed, tmp_path / "q")
  with pytest.raises(ValueError, match="column 'top1' has 1 empty cells"):
    predictions.load(tmp_path / "q")

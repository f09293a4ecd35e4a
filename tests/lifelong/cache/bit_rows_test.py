# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import numpy as np
import pytest

from suite.lifelong.cache import bit_rows


def test_the_first_answer_is_the_highest_bit():
  row = bit_rows.pack(np.array([1, 0, 1, 1, 0, 0, 0, 1, 1]))
  assert row.tolist() == [0b10110001, 0b10000000]
  assert bit_rows.unpack(row, 9).tolist() == [1, 0, 1, 1, 0, 0, 0, 1, 1]
  assert bit_rows.at(row, np.array([8, 0, 1, 7])).tolist() == [1, 1, 0, 1]
  assert bit_rows.row_counts(row[None], 9).tolist() == [5]


@pytest.mark.parametrize("num_models", [0, 1, 2, 3, 7, 8, 100, 255, 256, 300])
@pytest.mark.parametrize("num", [1, 63, 64, 65, 1000])
def test_column_counts_are_sums_of_columns(num_models, num):
  answers = np.random.default_rng(num + num_models).integers(0, 2, (num_models, num))
  counts = bit_rows.column_counts(list(bit_rows.pack(answers)), num)
  assert counts.dtype == (np.uint8 if num_models < 256 else np.uint16)
  np.testing.assert_array_equal(counts, answers.sum(0))


def test_all_ones_count_to_the_number_of_rows():
  rows = list(bit_rows.pack(np.ones((255, 70))))
  assert set(bit_rows.column_counts(rows, 70)) == {255}


def test_blocks_and_a_first_column(monkeypatch):
  monkeypatch.setattr(bit_rows, "BLOCK", 128)
  answers = np.random.default_rng(0).integers(0, 2, (20, 1000))
  rows = list(bit_rows.pack(answers))
  np.testing.assert_array_equal(bit_rows.column_counts(rows, 1000), answers.sum(0))
  np.testing.assert_array_equal(bit_rows.column_counts(rows, 300, first=640),
                                answers.sum(0)[640:940])
  with pytest.raises(ValueError, match="from a multiple of 64; got 8"):
    bit_rows.column_counts(rows, 3, first=8)

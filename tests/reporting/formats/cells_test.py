# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cells of a panel: numbers of printed values, and wide tables transposed."""

import pytest

from suite.reporting import panel as panel_lib
from suite.reporting.formats import cells


@pytest.mark.parametrize("text, value", [
    ("719 GFLOP", 719e9), ("1.26 TFLOP", 1.26e12), ("12 MAC", 12), ("86.12 ±0.31 (2/3)", 86.12),
    ("-8.81", -8.81), ("1,200", 1200), ("5 h 07 min", 18420), ("3 min 20 s", 200), ("8.6 s", 8.6),
    ("-", None), ("unknown", None), ("[10 x 10]", None)])
def test_printed_values_sort_as_numbers(text, value):
  assert cells.number(text) == (None if value is None else pytest.approx(value))


def test_a_table_wider_than_long_is_transposed():
  columns = [panel_lib.Column("learner"), *(panel_lib.Column(f"t{i}", panel_lib.PERCENT)
                                            for i in range(14))]
  panel = panel_lib.Panel("p", "title", columns, [["a", *[0.5] * 14], ["b", *[None] * 14]])
  table = cells.table(panel)
  assert list(table.header) == ["learner", "a", "b"] and len(table.rows) == 14
  assert [cell.text for cell in table.rows[13]] == ["t13, %", "50.00", "-"]
  assert table.text_table(panel).num_left == 1
  assert len(cells.table(panel, is_fitted=False).header) == 15

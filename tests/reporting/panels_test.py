# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A panel's plain values as text."""

import numpy as np
import pytest

from suite.reporting import panels
from suite.reporting import tables
from suite.reporting.formats import renderers

COLUMNS = [panels.Column("learner"), panels.Column("seeds", panels.COUNT),
           panels.Column("error", panels.PERCENT), panels.Column("cost", panels.FLOPS),
           panels.Column("transfer", panels.NUMBER)]


def test_unknown_values_are_dashes_and_unknown_costs_say_so():
  panel = panels.Panel("p", "title", COLUMNS, [
      ["a", 1200, 0.12345, 10**20, 0.5], ["b", None, -1e-9, None, None]], notes=["a note"])
  table = panel.text_table()
  assert table.header == ["learner", "seeds", "error, %", "cost", "transfer"]
  assert [list(map(str, row)) for row in table.rows] == [
      ["a", "1,200", "12.35", "100 EFLOP", "0.5000"],
      ["b", "-", "0.00", "not counted", "-"]]
  assert (table.num_left, table.notes) == (1, ["a note"])


def test_arrays_become_plain_lists():
  assert panels.plain_list(np.array([[0.5, np.nan], [1.0, 2.0]])) == [[0.5, None], [1.0, 2.0]]


@pytest.mark.parametrize("columns, rows, message", [
    ([panels.Column("x", "ratio")], [], "'p' has columns of kind ratio; allowed are text, li"),
    (COLUMNS, [["a", 1]], "'p' has 5 columns and a row of 2 values")])
def test_wrong_panels_are_refused(columns, rows, message):
  with pytest.raises(ValueError, match=message):
    panels.Panel("p", "title", columns, rows)


def test_a_table_wider_than_long_is_transposed():
  columns = [panels.Column("learner"), *(panels.Column(f"t{i}", panels.PERCENT)
                                            for i in range(14))]
  panel = panels.Panel("p", "title", columns, [["a", *[0.5] * 14], ["b", *[None] * 14]])
  table = panel.table()
  assert list(table.header) == ["learner", "a", "b"] and len(table.rows) == 14
  assert [str(cell) for cell in table.rows[13]] == ["t13, %", "50.00", "-"]
  assert panel.text_table(is_fitted=True).num_left == 1
  assert len(panel.table(is_fitted=False).header) == 15


def test_a_long_label_is_short_in_tables_and_whole_in_a_line_below():
  said = "selected on training images of task_01 to task_02, 2 of 5 tasks of split toy, alpha=0.1"
  labels = [f"der_plus_plus ({said})", f"er ({said})", "er (memory_size=200)",
            f"er (selected on {said}), paper"]
  panel = panels.Panel("p", "title", COLUMNS[:2], [[label, 1] for label in labels], notes=["n"])
  turned = panels.Panel("p", "title", [panels.Column(""), *map(panels.Column, labels)], [])
  assert [str(row[0]) for row in panel.text_table().rows] == [
      "der_plus_plus (a)", "er (a)", "er (memory_size=200)", "er (b), paper"]
  assert panel.text_table().notes == ["n", f"(a) {said}", f"(b) selected on {said}"]
  assert turned.text_table().header[1:3] == ["der_plus_plus (a)", "er (a)"]
  assert panels.short_label(labels[0]) == "der_plus_plus"
  section = panels.Section("title", [panel])
  for form in ("text", "markdown", "html", "latex"):
    text = renderers.render([section], form)
    assert text.count("images of task") == 2, form  # In the two lines below.
  assert renderers.render([section], "csv").count(said) > 2  # For programs.
  width = max(map(len, tables.text([section], 100).partition("\nn\n")[0].splitlines()))
  assert width <= 100

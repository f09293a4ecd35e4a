# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import json
import math

import pytest


@pytest.fixture(name="rows", scope="module")
def _rows(load_tool):
  return load_tool("parity_rows")


def _row(rows, difference, **settings):
  return rows.Row("what", "inputs", "1", "2", difference, "points", **settings)


def test_a_verdict_follows_from_the_numbers(rows):
  assert _row(rows, 0.0).verdict == rows.EQUAL
  assert _row(rows, 0.0, allowed=0.1).verdict == rows.EQUAL
  assert _row(rows, 0.1, allowed=0.1).verdict == rows.AGREES
  assert _row(rows, 0.2, allowed=0.1).verdict == rows.DIFFERS
  assert _row(rows, math.nan, allowed=0.1).verdict == rows.DIFFERS


def test_an_explanation_of_a_difference_that_is_not_there_is_out_of_date(rows):
  assert _row(rows, 0.2, allowed=0.1, reason="a defect").verdict == rows.KNOWN
  assert _row(rows, 0.1, allowed=0.1, reason="a defect").verdict == rows.DIFFERS
  assert _row(rows, 0.2, allowed=0.1, reason="a defect", least=0.3).verdict == rows.DIFFERS
  assert _row(rows, math.nan, reason="a defect").verdict == rows.DIFFERS


def test_seeds_agree_within_three_standard_errors(rows):
  # Variances 1 and 4, three values each: the error is sqrt(1/3 + 4/3).
  row = rows.within_seeds("what", "inputs", [0.0, 1.0, 2.0], [2.0, 4.0, 6.0])
  assert row.difference == 3.0 and row.allowed == pytest.approx(3 * math.sqrt(5 / 3))
  assert row.verdict == rows.AGREES and (row.theirs, row.ours) == ("1.0000 ± 1.0000",
                                                                   "4.0000 ± 2.0000")
  assert rows.within_seeds("what", "inputs", [0.5, 0.5], [0.503, 0.503]).verdict == rows.DIFFERS


def test_a_stored_result_is_read_back_and_an_edited_verdict_is_refused(rows, tmp_path):
  result = rows.Result("title", "command", "code", "2026-01-31", {"here": {"numpy": "1"}},
                       (_row(rows, 0.0), _row(rows, 2.0, reason="a defect"), _row(rows, 2.0)))
  path = tmp_path / "folder" / "one.json"
  rows.store(result, path)
  assert rows.load(path) == result
  assert rows.load(path).failed() == [result.rows[2]]
  edited = json.loads(path.read_text(encoding="utf-8"))
  edited["rows"][2]["verdict"] = rows.EQUAL
  path.write_text(json.dumps(edited), encoding="utf-8")
  with pytest.raises(ValueError, match="the verdict of 'what' is 'equal', but .* 'DIFFERS'"):
    rows.load(path)

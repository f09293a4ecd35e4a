# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_parity_page")


def test_the_page_is_of_the_stored_results(tool, capsys):
  assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_every_comparison_is_stored_and_no_difference_is_unexplained(tool):
  stored = {path.stem for path in tool.parity_rows.FOLDER.glob("*.json")}
  assert stored == set(tool.parity_benchmarks.BENCHMARKS)
  for result in tool.results().values():
    assert result.rows and not result.failed(), result.title
    assert "unknown" not in result.code and result.versions["there"]


def test_notes_are_numbered_once_and_cells_are_escaped(tool):
  rows = tool.parity_rows
  row = rows.Row("a | b", "inputs", "1", "2", 2.0, "points", reason="why")
  text = tool.page({"nevis": rows.Result(
      "T", "command", "code", "2026-01-31", {"here": {"numpy": "1"}},
      (row, row, rows.Row("c", "inputs", "1", "1", 0.0, "points")))})
  assert text.count("| a \\| b | inputs | 1 | 2 | 2 points | 0 | differs, explained [1] |") == 2
  assert text.count("1. why") == 1 and "| T | 3 | 1 | 0 | 2 | 0 |" in text

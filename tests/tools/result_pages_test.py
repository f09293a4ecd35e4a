# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods of tables are found, and pages made before values changed say so."""

from __future__ import annotations

import pytest

PAGE = """# Title

<!-- Made by a tool. -->

Text about wa and `mer`.

| method | ncm, % | online EWC |
| --- | ---: | ---: |
| every 53 head_only | 1.0 | icarl |
| der_plus_plus (alpha=0.5) | 2.0 | 3.0 |
| mean, all tasks | 2.0 | 3.0 |
| cumulative FLOPs | 3 GFLOP | 1 GFLOP |
"""


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("result_pages")


def test_methods_are_those_of_rows_and_columns(tool):
  assert tool.methods_on(PAGE) == {"ncm", "online_ewc", "head_only", "der_plus_plus"}


def test_a_page_names_what_has_changed_since(tool, tmp_path, monkeypatch):
  monkeypatch.setattr(tool, "CHANGES", tmp_path / "changes.csv")
  tool.CHANGES.write_text("methods,protocols,except,reason\n"
                          "ncm online_ewc si,clear,,more rows\n"
                          "der_plus_plus,,clear/new.md,two draws\n"
                          "head_only,fluid,,a rate\n")
  old, new = tool.RESULTS / "clear" / "old.md", tool.RESULTS / "clear" / "new.md"
  text = tool.marked(old, PAGE)
  line = ("*Made before [values changed](../../records_changed.md).* `ncm`, `online_ewc`: more "
          "rows; `der_plus_plus`: two draws.\n\n")
  assert text == PAGE.replace("Text about", f"{line}Text about")
  assert tool.marked(old, text) == text
  assert tool.marked(new, text) == PAGE.replace(
      "Text about", f"{line.replace('; `der_plus_plus`: two draws', '')}Text about")
  tool.CHANGES.write_text("methods,protocols,except,reason\n")
  assert tool.marked(old, text) == PAGE


def test_a_change_is_of_protocols_that_a_method_has(tool, tmp_path, monkeypatch):
  monkeypatch.setattr(tool, "CHANGES", tmp_path / "changes.csv")
  tool.CHANGES.write_text("methods,protocols,except,reason\nder_plus_plus,nevis,,a rate\n")
  page = tool.RESULTS / "leaderboard" / "cpu.md"  # Of all protocols; NEVIS refuses DER++.
  assert tool.marked(page, PAGE) == PAGE


def test_the_pages_have_their_marks(tool, capsys):
  assert tool.main(["--check"]) == 0, capsys.readouterr().err


def test_proofs_are_numbers_of_their_methods(tool):
  numbers = tool.numbers()
  assert "proofs.md" in numbers["rwalk"] and "proofs.md" in numbers["gdumb"]
  assert "results/leaderboard/frozen.md" in numbers["ranpac"]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.configs import methods


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_methods_page")


def test_the_page_is_what_the_table_gives(tool):
  assert tool.main(["--check"]) == 0


def test_a_stale_page_is_named(tool, tmp_path, monkeypatch, capsys):
  monkeypatch.setattr(tool, "PAGE", tmp_path / "methods.md")
  assert tool.main(["--check"]) == 1
  assert "is stale. Run: python tools/make_methods_page.py" in capsys.readouterr().err


def test_each_method_is_on_the_page_and_each_refusal(tool):
  page = tool.page()
  for method in methods.load():
    assert method.title.replace("*", "\\*") in page
    assert f"`{method.macro}`" in page
    assert all(refusal in page for refusal in method.refusals.values())


def test_a_tick_has_a_number_or_says_that_there_is_none(tool, monkeypatch):
  rows = {line.split("`")[1]: line for line in tool.page().splitlines()
          if line.startswith("| `") and "](../gin/learners/" in line}
  for method in methods.load():
    row, has = rows[method.name], method.name in tool.result_pages.numbers()
    assert ("no number" in row) != has and ("](results/" in row or "](proofs.md" in row) == has
  monkeypatch.setattr(tool.result_pages, "numbers", lambda: {"coda_prompt": ["results/a.md"]})
  row, = (line for line in tool.page().splitlines() if line.startswith("| `coda_prompt`")
          and "](../gin" in line)
  assert row.endswith("| ✓ | ✓ | - | - | [a](results/a.md) |")

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

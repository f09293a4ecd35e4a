# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every tutorial runs as it stands and prints the lines that its page has; notebooks are of it."""

from __future__ import annotations

import json
import pathlib

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md")
               if path.stem != "README")
PAGE = "# Title\n\n```python\nx = 2\nprint(x)\n```\n\n```text\n2\n```\n\nSee [it](../it.md).\n"


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_tutorials")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_tutorial_runs_and_prints_what_its_page_says(tool, path, tmp_path, monkeypatch):
  monkeypatch.chdir(tmp_path)
  assert not tool.problem(path)


def test_every_tutorial_ends_with_what_is_the_readers_own(tool):
  for path in tool.pages():
    assert path.read_text(encoding="utf-8").split("\n## ")[-1].startswith("Now yours\n"), path.name


def test_there_is_a_tutorial_for_each_benchmark_and_two_notebooks(tool):
  assert {path.stem for path in PAGES} == {"nevis", "clear", "cfsl", "fluid", "lifelong"}
  assert tool.pages() == PAGES and len(tool.NOTEBOOKS) == 2


def test_the_first_cell_of_a_notebook_installs_nothing_where_the_suite_is(tool):
  cells = json.loads(tool.notebook(PAGE))["cells"]
  names = {}
  exec("".join(cells[0]["source"]), names)
  assert "wheels" not in names
  assert [cell["cell_type"] for cell in cells] == ["code", "markdown", "code", "markdown"]
  assert "".join(cells[2]["source"]) == "x = 2\nprint(x)"
  assert cells[2]["outputs"][0]["text"] == ["2\n"] and cells[3]["source"] == ["See it."]


@pytest.mark.parametrize("old, new, message", [
    ("", "", ""), ("\n2\n", "\n3\n", ""), ("print(x)", "print('is', x)", "does not print 'is'"),
    ("print(x)", "print(y)", "NameError")])
def test_a_page_that_prints_other_words_or_fails_is_named(tool, old, new, message, tmp_path):
  path = tmp_path / "page.md"
  path.write_text(PAGE.replace(old, new))
  found = tool.problem(path)
  assert message in found and bool(message) == bool(found)


def test_a_stale_notebook_is_named(tool, tmp_path):
  path = tmp_path / "nevis.md"
  path.write_text(PAGE)
  assert "nevis.ipynb is stale. Run:" in tool.problem(path)
  path.with_suffix(".ipynb").write_text(tool.notebook(PAGE))
  assert not tool.problem(path)


def test_what_is_printed_takes_the_place_of_what_was(tool):
  assert tool.run(PAGE.replace("\n2\n", "\n7\n")) == (PAGE, "")
  assert tool.run(PAGE.replace("\n```text\n2\n```\n", "")) == (PAGE, "")

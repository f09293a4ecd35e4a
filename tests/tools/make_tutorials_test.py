# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Every tutorial runs and prints the lines that its page has; notebooks are of it.

Its runs are shorter here; `make_tutorials.py --check` runs the pages as they stand.
"""

from __future__ import annotations

import json
import pathlib
import re
import types

import pytest

import suite
from suite.data.digits import digits
from suite.data.streams import streams

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = sorted(path for path in (ROOT / "docs" / "tutorials").glob("*.md")
               if path.stem != "README")
PAGE = "# Title\n\n```python\nx = 2\nprint(x)\n```\n\n```text\n2\n```\n\nSee [it](../it.md).\n"


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("make_tutorials")


# What a page's runs of run files set besides; other runs take arguments.
SHORTER = {
    "nevis": {"STEPS": 2, "VALIDATE_EVERY": 2, "conv4.conv4.filters": 4, "conv4.conv4.blocks": 1,
              "digits.nevis_stream.max_train_images": 64},
    "clear": {"EPOCHS": 1, "conv4.conv4.blocks": 1},
    "cfsl": {"cfsl.run.test_episodes": 5, "digits.episodes.num_support_sets": 1},
    # Classes of some samples are heads and tails, as of many.
    "fluid": {"digits.sequence.num_samples": 100, "fluid.Scores.head_above": 8}}
# Of six tasks the runs of NEVIS'22 have the first one and the meta-test task.
NOT_RUN = re.compile(r"^(?!digits_0_4 |digits_5_9 )\S+ <- .*\n", re.MULTILINE)


@pytest.fixture(name="shorter")
def _shorter(monkeypatch, tool):
  """shorter(page) makes its runs short. Which of the past nets is the best start then differs."""
  run, shape = suite.run, tool.shape

  def first_and_last(name, entries):
    return streams.Stream(name, [entries[0], entries[-1]])

  def shorten(page):
    def short(*arguments, **named):
      if arguments:
        named["params"] = {**named.get("params", {}), **SHORTER[page]}
      else:
        named |= {key: 5 for key in ("updates", "updates_per_event", "test_episodes")
                  if key in named}
      with pytest.MonkeyPatch.context() as patch:
        patch.setattr(digits, "streams", types.SimpleNamespace(
            **{**vars(streams), "Stream": first_and_last}))
        return run(*arguments, **named)

    monkeypatch.setattr(suite, "run", short)
    monkeypatch.setattr(tool, "shape", lambda text: shape(
        re.sub("<- [a-z0-9_@]+", "<- ", NOT_RUN.sub("", text))))

  return shorten


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_tutorial_runs_and_prints_what_its_page_says(tool, path, tmp_path, monkeypatch, shorter):
  monkeypatch.chdir(tmp_path)
  shorter(path.stem)
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

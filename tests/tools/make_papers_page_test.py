# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import pytest

from suite.configs import gin_files
from suite.reporting.run_panels import budget_panels


@pytest.fixture(name="tool")
def _tool(load_tool):
  return load_tool("make_papers_page")


def test_the_page_is_up_to_date(tool):
  assert tool.main(["--check"]) == 0


def test_each_command_is_a_shipped_run_with_its_macros_and_each_page_has_the_panel(tool):
  for line in tool.read():
    if line["run"]:
      path = gin_files.run_files()[line["run"]]
      macros = gin_files.scan([path]).macros
      assert {one.partition("=")[0] for one in line["parameters"].split()} <= set(macros)
      assert tool.command(line).startswith(f"suite run {line['run']}")
    if line["page"]:
      assert line["panel"] in budget_panels.NAMES and len(tool.facts(line["page"])) == 2
    assert line["note"] or line["state"] in ("reproduced", "other data")


def test_states_and_pages_are_checked(tool, tmp_path, monkeypatch):
  monkeypatch.setattr(tool, "TABLE", tmp_path / "papers.csv")
  head = "paper,item,shows,run,parameters,needs,page,panel,state,note\n"
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,perfect,\n")
  with pytest.raises(ValueError, match="Figure 1 has the state 'perfect'; allowed are reproduced"):
    tool.read()
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,reproduced,\n")
  with pytest.raises(ValueError, match="'reproduced' and has the page ''; a page belongs"):
    tool.read()

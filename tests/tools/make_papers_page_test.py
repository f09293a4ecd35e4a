# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import pathlib
import re

import pytest

from suite.configs import gin_files
from suite.reporting.run_panels import budget_panels

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(name="tool")
def _tool(load_tool):
  return load_tool("make_papers_page")


def test_the_page_is_up_to_date(tool):
  assert tool.main(["--check"]) == 0


def test_each_command_is_a_shipped_run_with_its_macros_and_each_page_has_the_panel(tool):
  for line in tool.read():
    if line["run"]:
      path = gin_files.run_files()[line["run"]]
      rows = set(re.findall(r"'(\w+/\w+)'", path.read_text())) & set(gin_files.run_files())
      found = gin_files.scan([path, *(gin_files.run_files()[row] for row in sorted(rows))])
      names = {one.partition("=")[0] for one in line["parameters"].split()}
      assert all(name in found.macros or name.startswith(("table.run.", "table.Report."))
                 for name in names), line["item"]
      assert tool.command(line).startswith(f"suite run {line['run']}")
    if line["page"]:
      assert (DOCS / line["page"]).exists() and line["panel"]
      if line["run"] == "lifelong/paper_figures":
        assert line["panel"] in budget_panels.NAMES and len(tool.facts(line["page"])) == 2
    assert line["note"] or line["state"] in (*tool.RUN, "planned")


def test_each_figure_and_table_of_the_five_papers_has_a_line(tool):
  lines = tool.read()
  papers = {line["paper"] for line in lines}
  assert papers == {"Sort & Search", "NEVIS'22", "CLEAR", "CFSL", "FLUID"}
  assert len({(line["paper"], line["item"]) for line in lines}) == len(lines)
  for paper, figures, tables in (("NEVIS'22", 25, 6), ("CLEAR", 6, 2), ("CFSL", 4, 2),
                                 ("FLUID", 6, 15), ("Sort & Search", 8, 1)):
    items = [line["item"] for line in lines if line["paper"] == paper]
    for kind, most in (("Figure", figures), ("Table", tables)):
      assert all(any(re.match(rf"{kind} {i}(?!\d)", item) for item in items)
                 for i in range(1, most + 1)), paper


def test_states_and_pages_are_checked(tool, tmp_path, monkeypatch):
  monkeypatch.setattr(tool, "TABLE", tmp_path / "papers.csv")
  head = "paper,item,shows,run,parameters,needs,page,panel,state,note\n"
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,perfect,\n")
  with pytest.raises(ValueError, match="Figure 1 has the state 'perfect'; allowed are reproduced"):
    tool.read()
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,reproduced,\n")
  with pytest.raises(ValueError, match="'reproduced' and has the page ''; a page belongs"):
    tool.read()

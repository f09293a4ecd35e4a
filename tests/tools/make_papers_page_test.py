# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

from __future__ import annotations

import pathlib
import re

import pytest

from suite.configs import gin_parse
from suite.configs import run_files
from suite.configs import run_settings
from suite.models.episodic import dense_attention
from suite.models.episodic import functional_conv4
from suite.models.episodic import proto_conv4
from suite.reporting.run_panels import budget_panels
from suite.tables import table
from suite.training.episodic import meta_schedules

DOCS = pathlib.Path(__file__).resolve().parents[2] / "docs"


@pytest.fixture(name="tool")
def _tool(load_tool):
  return load_tool("make_papers_page")


def test_the_page_is_up_to_date(tool):
  assert tool.main(["--check"]) == 0


def test_each_command_parses_with_its_parameters_and_each_page_has_the_panel(
    tool, tmp_path, monkeypatch):
  settings_texts = table.settings_texts
  # Of a table's cells the first of each row is read.
  monkeypatch.setattr(table, "settings_texts", lambda cells, names: settings_texts(
      list({cell.row: cell for cell in reversed(cells)}.values()), names))
  lines = tool.read()
  assert {line["run"] for line in lines} - {""} <= set(run_files.shipped())
  # tests/configs/debug_runs_test.py parses and builds every run as it is.
  for run, parameters in sorted({(line["run"], line["parameters"]) for line in lines}):
    if parameters:
      path, params = run_files.shipped()[run], parameters.split()
      if table.is_table(path):
        first = _cells(run, path, params, tmp_path / "table")[0]
        path, params = run_files.shipped()[first.run], list(first.params)
      gin_parse.parse([path], params)  # An unknown macro or parameter is an error.
  for line in lines:
    assert tool.command(line).startswith(f"suite run {line['run']}" if line["run"] else "")
    if line["page"]:
      assert (DOCS / line["page"]).exists() and line["panel"]
      if line["run"] == "lifelong/paper_figures":
        assert line["panel"] in budget_panels.NAMES and len(tool.facts(line["page"])) >= 2
      made = tool.facts(line["page"])
      assert line["sets"] or "cache" in made or line["state"] == "reproduced"
      assert "revision" in made or line["page"] == "nevis.md"  # Of the stream's table: no run.
    assert line["note"] or line["state"] in (*tool.RUN, "planned")


def _cells(name, path, params, folder):
  """The cells of `suite run NAME --gin_param X=Y ...`."""
  ours, others = table.divide(path, params)
  gin_parse.parse([path], ours)
  seen = []
  gin_parse.configured(table.run, {
      "report": gin_parse.group(table.Report), "order": table.TableOrder(
          run_settings.RunFile(name, path, params=others),
          run_settings.RunSettings(workdir=str(folder)),
          instead=lambda cells, _: seen.extend(cells))})()
  return seen


def test_rows_of_cfsl_are_alike_in_optimizer_decay_schedule_and_pixels(tmp_path):
  cells = {cell.row: cell for cell in _cells(
      "cfsl/table2", run_files.shipped()["cfsl/table2"], [], tmp_path / "table")}
  nets = {"protonet": ("", proto_conv4.ProtoConv4), "pretrain_tune": (
      "decoupled", functional_conv4.Conv4), "maml_low": ("decoupled", functional_conv4.Conv4),
          "maml_high": ("coupled", dense_attention.DenseAttention),
          "sca": ("coupled", dense_attention.DenseAttention)}
  for row, (scope, net) in nets.items():
    cell = cells[f"omniglot_{row}"]
    gin_parse.parse([run_files.shipped()[cell.run]], list(cell.params))
    with gin_parse.gin.config_scope(scope or None):
      made = gin_parse.configured(meta_schedules.MetaTraining, {})()
    assert (made.learning_rate, made.end_rate, made.weight_decay, made.decoupled) == (
        0.001, None, 0.0001, True), row
    assert gin_parse.gin.get_bindings(net).get("pixel_range") == (0.0, 1.0), row


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
  head = "paper,item,shows,run,parameters,needs,page,panel,sets,date,state,note\n"
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,,,perfect,\n")
  with pytest.raises(ValueError, match="Figure 1 has the state 'perfect'; allowed are reproduced"):
    tool.read()
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,,,,,reproduced,\n")
  with pytest.raises(ValueError, match="'reproduced' and has the page ''; a page belongs"):
    tool.read()
  (tmp_path / "papers.csv").write_text(head + "P,Figure 1,x,,,,a.md,b,,,reproduced,\n")
  with pytest.raises(ValueError, match="has the page 'a.md' and the date ''; a page has the date"):
    tool.read()
  assert tool.digest("nevis/cifar10") == "nevis/cifar10 `3448a12c`"

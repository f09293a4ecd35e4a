# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Each format has every panel and every value."""

import base64
import csv
import gzip
import io
import pathlib
import shutil
import subprocess

import pytest

from suite.commands import report_commands
from suite.reporting import panels
from suite.reporting.formats import renderers

COLUMNS = [panels.Column("learner"), panels.Column("error", panels.PERCENT),
           panels.Column("cost", panels.FLOPS), panels.Column("records", panels.LINK)]


def section(*rows, chart=None):
  return panels.Section("nevis (toy)", [panels.Panel(
      "scores", "nevis (toy): scores", COLUMNS, rows, ["a note"], chart=chart)])


SECTION = section(["a_b & c|d", 1 / 3, 2 * 10**9, "/r/w/a/records.jsonl"], ["e", None, None, "/x"])


def test_text_and_markdown():
  text = renderers.render([SECTION], "text")
  assert "a_b & c|d     33.33   2.00 GFLOP" in text and "not counted" in text and "a note" in text
  page = renderers.render([SECTION], "markdown")
  assert page.startswith("## nevis (toy)\n") and "| a_b & c\\|d | 33.33 | 2.00 GFLOP |" in page


def test_csv_has_a_line_for_each_cell_with_whole_numbers():
  rows = list(csv.DictReader(io.StringIO(renderers.render([SECTION], "csv"))))
  assert len(rows) == 8 and rows[1] == {
      "section": "nevis (toy)", "panel": "scores", "row": "0", "name": "a_b & c|d",
      "column": "error", "value": str(1 / 3), "text": "33.33"}
  assert rows[2]["value"] == "2000000000" and rows[6]["value"] == ""


@pytest.mark.parametrize("name, plain", [
    ("a\x1b[2Jb", "a\\x1b[2Jb"), ("a\nb", "a\\nb"), ("a\rb\u2028c", "a\\rb\\u2028c"),
    ("a\u202eb", "a\\u202eb"), ("caf\u00e9 \u6f22", "caf\u00e9 \u6f22")])
def test_names_cannot_control_a_terminal_or_break_a_line(name, plain):
  hostile = panels.Section(name, [panels.Panel(
      "scores", name, [panels.Column(name), panels.Column("n", panels.COUNT)], [[name, 1]],
      [f"{name}"])])
  for form in ("text", "markdown", "csv"):
    text = renderers.render([hostile], form)
    assert plain in text and (name == plain or name not in text), form
  if pytest.importorskip("jinja2"):
    text = renderers.render([hostile], "latex")
    assert name == plain or name not in text
    assert f"% {plain}\n" in text


@pytest.mark.parametrize("name", ["=1+1", "+x", "-x", "@SUM(A1)"])
def test_csv_has_no_formulas(name):
  rows = list(csv.DictReader(io.StringIO(renderers.render([section([name, -0.5, None, name])],
                                                          "csv"))))
  assert {row["name"] for row in rows} == {f"'{name}"}
  assert rows[0]["value"] == rows[3]["text"] == f"'{name}" and rows[1]["value"] == "-0.5"


def test_latex(tmp_path):
  pytest.importorskip("jinja2")
  text = renderers.render([SECTION], "latex")
  assert r"a\_b \& c|d & 33.33 & 2.00 GFLOP" in text and r"error, \%" in text
  assert text.count(r"\begin{table}") == text.count(r"\end{table}") == 1
  compiler = shutil.which("pdflatex")
  if compiler:
    (tmp_path / "x.tex").write_text("\\documentclass{article}\\usepackage{booktabs}\n"
                                    f"\\begin{{document}}\n{text}\\end{{document}}\n")
    done = subprocess.run([compiler, "-interaction=nonstopmode", "x.tex"], cwd=tmp_path,
                          capture_output=True, check=False)
    assert done.returncode == 0, done.stdout


def test_a_page_is_whole_and_escaped():
  pytest.importorskip("jinja2")
  offline = pytest.importorskip("plotly.offline")
  evil = "</script><script>alert(1)</script>"
  plot = panels.Plot("FLOPs", "Error", [panels.PlotSeries(evil, [1e9, 1e10], [40.0, 50.0])],
                     log_x=True, y_unit="%")
  page = renderers.render([section([evil, 0.25, 1, "/r/w/a b/records.jsonl"], chart=plot)],
                          "html", pathlib.Path("/r/page.html"))
  assert evil not in page and "&lt;script&gt;alert(1)" in page
  assert 'href="w/a%20b/records.jsonl"' in page and 'data-value="0.25"' in page
  assert len(page) < 2_000_000
  size, text = page.partition('id="library">')[2].partition("</script>")[0].strip().split(":")
  program = gzip.decompress(base64.b85decode(text.replace(",", "<"))[:int(size)])
  assert program.decode().startswith(offline.get_plotlyjs()) and b"&lt;script&gt;" in program
  assert "default-src 'none'" in page and "<script src" not in page and "<link" not in page


def test_formats_are_those_of_the_command():
  assert report_commands.FORMATS == renderers.FORMATS
  with pytest.raises(ValueError, match="Unknown format 'pdf'; allowed are text, html"):
    renderers.render([], "pdf")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite report --panel`: tables on the terminal, figures in a folder."""

import re

import nevis_runs
import pytest

from suite import cli


def test_panels_are_printed_and_drawn(tmp_path, capsys):
  nevis_runs.write(tmp_path / "w" / "indep", (0.4, 0.5, 0.4, 0.6))
  nevis_runs.write(tmp_path / "w" / "ft_d", (0.4, 0.5, 0.3, 0.4))
  assert cli.main(["report", str(tmp_path / "w"), "--panel", "regret", "--figures",
                   str(tmp_path / "f"), "--figure_format", "svg"]) == 0
  out = capsys.readouterr().out
  assert out.startswith("nevis (toy): regret against Independent, negative is better\n")
  assert f"Figure: {tmp_path}/f/regret.svg" in out and "-30.00" in out
  assert [path.name for path in (tmp_path / "f").iterdir()] == ["regret.svg"]


@pytest.mark.parametrize("flags, message", [
    (["--panel", "pie"], "Unknown panel 'pie'; allowed are all, headline, samples, scores, pareto"),
    (["--panel", "starst"], "Unknown panel 'starst'; the nearest are starts"),
    (["--panel", "pie", "--figures", "f"], "Unknown panel 'pie'; allowed are all, headline"),
    (["--panel", "forward_transfer"], "Nothing in .* has what forward_transfer shows"),
    (["--figures", "f"], "--figures draws what --panel names: add --panel all"),
    (["--panel", "all", "--figures", "f", "--format", "html"], "has its own figures: leave"),
    (["--panel", "all", "--task_facts", "no.csv"], "No such file: no.csv.*columns task, domain")])
def test_bad_requests_say_what_is_allowed(tmp_path, capsys, flags, message):
  nevis_runs.write(tmp_path / "indep", (0.4, 0.5))
  assert cli.main(["report", str(tmp_path), *flags]) == 2
  assert re.search(message, capsys.readouterr().err)


def test_every_format_is_written_or_printed(tmp_path, capsys):
  nevis_runs.write(tmp_path / "w" / "indep", (0.4, 0.5, 0.4, 0.6))
  out = tmp_path / "new" / "report.csv"
  assert cli.main(["report", str(tmp_path), "--format", "csv", "--out", str(out)]) == 0
  assert capsys.readouterr().out == f"Report: {out}\n"
  assert out.read_text().startswith("section,panel,row,name,column,value,text\n")
  assert cli.main(["report", str(tmp_path), "--format", "markdown"]) == 0
  assert capsys.readouterr().out.startswith("## nevis (toy)\n")
  assert cli.main(["report", str(tmp_path), "--format", "html"]) == 2
  assert "add --out FILE.html" in capsys.readouterr().err
  for ending, start in ((".md", "## nevis (toy)"), (".tex", "% Needs"), (".html", "<!DOCTYPE")):
    assert cli.main(["report", str(tmp_path), "--out", str(out.with_suffix(ending))]) == 0
    assert out.with_suffix(ending).read_text().startswith(start)


def test_a_format_shows_the_panels_that_are_named(tmp_path, capsys):
  nevis_runs.write(tmp_path / "w" / "indep", (0.4, 0.5, 0.4, 0.6))
  nevis_runs.write(tmp_path / "w" / "ft_d", (0.4, 0.5, 0.3, 0.4))
  (tmp_path / "facts.csv").write_text("task,domain,size,height,width\na,faces,10,8,8\n")
  assert cli.main(["report", str(tmp_path), "--format", "csv", "--panel", "regret", "--panel",
                   "summary", "--task_facts", str(tmp_path / "facts.csv")]) == 0
  lines = capsys.readouterr().out.splitlines()
  assert {line.split(",")[1] for line in lines[1:]} == {"regret", "summary"}
  assert cli.main(["report", str(tmp_path), "--all"]) == 0
  plain = capsys.readouterr().out
  assert cli.main(["report", str(tmp_path), "--panel", "summary"]) == 0
  assert capsys.readouterr().out == plain[:-1]  # The same mechanism prints both.

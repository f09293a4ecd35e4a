# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite lifelong watch`, `add`, `retire` and `families`: what they print, and the page."""

from __future__ import annotations

import json
import pathlib
import re

import browsers
import numpy as np
import pytest

from suite import cli

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
PAGE = (pathlib.Path(__file__).resolve().parents[3] / "docs" / "lifelong.md").read_text(
    encoding="utf-8").partition("## Fields of --json\n")[2]


def _run(capsys, *arguments):
  capsys.readouterr()
  code = cli.main(["lifelong", *map(str, arguments)])
  found = capsys.readouterr()
  assert code == 0, found.err
  return found.out


def _fields(action):
  """Fields of an action in docs/lifelong.md."""
  lines, mine = [], False
  for line in PAGE.splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if line.startswith("|") and cells[0]:
      mine = action in cells[0].split(", ")
    lines += re.findall(r"`(\w+)`", cells[1]) if line.startswith("|") and mine else []
  return set(lines)


def _logs(folder):
  """12 models on two tasks; a late one on the first task, and one that has learned the second."""
  rng = np.random.default_rng(0)
  hard = rng.normal(0, 1.5, (2, 80))
  for k in range(14):
    level = rng.normal(0.5, 0.7) + np.array([[0.0], [6.0 if k == 13 else 0.0]])
    rows = rng.random((2, 80)) < 1 / (1 + np.exp(hard - level))
    path = folder(k) / (f"run-{k:02d}" if k < 12 else "late" if k == 12 else "learned")
    path.mkdir(parents=True, exist_ok=True)
    for task, row in zip(("arc", "gsm8k") if k != 12 else ("arc",), rows):
      name = f"samples_{task}_2026-01-31T12-00-00.000000.jsonl"
      (path / name).write_text("".join(json.dumps({
          "doc_id": i, "filter": "none", "metrics": ["acc"], "acc": float(one)}) + "\n"
                                       for i, one in enumerate(row)))


@pytest.fixture(name="watched")
def _watched(tmp_path, capsys):
  """(folder, what the second update printed as JSON, page)."""
  _logs(lambda k: tmp_path / ("logs" if k < 12 else "later"))
  (tmp_path / "costs.csv").write_text("model,flops,gpu_seconds\n*,2e9,0.5\n")
  command = ("watch", tmp_path / "logs", "--cache", tmp_path / "c", "--once", "--out",
             tmp_path / "page.html", "--costs", tmp_path / "costs.csv", "--json")
  first = json.loads(_run(capsys, *command))
  assert (len(first["added"]), first["models"], first["tests"]) == (24, 12, 0)
  (tmp_path / "later").rename(tmp_path / "logs" / "later")
  return tmp_path, json.loads(_run(capsys, *command))


def test_new_logs_are_added_and_failing_predictions_are_told(watched, capsys):
  folder, found = watched
  assert found.keys() == _fields("watch")
  assert (len(found["added"]), found["models"], found["new_answers"]) == (3, 14, 240)
  assert found["saved"] == {"saved_answers": 80, "saved_flops": 1.6e11,
                            "saved_gpu_hours": pytest.approx(80 * 0.5 / 3600)}
  alarm, = found["alarms"]
  assert (alarm["model"], alarm["task"], alarm["kind"]) == ("learned", "gsm8k", "level")
  assert alarm["observed"] > alarm["high"] > alarm["predicted"]
  base = ("--cache", folder / "c")
  text = _run(capsys, "watch", folder / "logs", *base, "--once")
  assert "0 files added" in text
  said = json.loads(_run(capsys, "families", *base, "--pattern", "(run)-[0-9]+", "--json"))
  assert said.keys() == _fields("families") and len(said["families"]["run"]) >= 12
  assert "14 models of " in _run(capsys, "families", *base)
  gone = json.loads(_run(capsys, "retire", *base, "arc/3", "arc/4", "--json"))
  assert gone == {"changed": 2, "retired": ["arc/3", "arc/4"]}
  assert gone.keys() == _fields("retire")
  ranked = json.loads(_run(capsys, "rank", *base, "--json"))["models"]
  assert ranked[0]["tasks"]["arc"]["num_samples"] == 78
  every = json.loads(_run(capsys, "rank", *base, "--with-retired", "--json"))["models"]
  assert every[0]["tasks"]["arc"]["num_samples"] == 80
  (folder / "more.csv").write_text("model,id,correct\nother,arc/3,1\nother,arc/5,1\n")
  status = json.loads(_run(capsys, "add", *base, "--json", folder / "more.csv"))
  assert status.keys() == _fields("add") and status["models"] == 15
  assert (status["retired"], status["families"]) == (2, 4)


@browsers.needed
def test_the_page_is_whole_on_small_and_large_screens(watched):
  folder, _ = watched
  with browsers.opened(folder / "page.html", 400) as driver:
    for width in (400, 1300):
      browsers.resize(driver, width)
      assert browsers.fits(driver), width
    assert not browsers.complaints(driver)
    text = driver.find_element("tag name", "main").text
    for words in ("Drift alarms", "Ranking", "Tasks of the cache", "What was not asked", "learned"):
      assert words in text
    rows = driver.find_elements("css selector", "[data-panel=alarms] tbody tr")
    assert len(rows) == 1 and "learned" in rows[0].text and "gsm8k" in rows[0].text


def test_the_board_of_the_week(tmp_path, capsys):
  _logs(lambda k: tmp_path / ("logs" if k < 12 else "later"))
  command = ("board", tmp_path / "logs", "--cache", tmp_path / "c", "--out", tmp_path / "b.html")
  found = json.loads(_run(capsys, *command, "--json"))
  assert found.keys() == _fields("board") and len(found["models"]) == 12
  assert all(one["error"] > 0 and not one["needed"] for one in found["models"])
  (tmp_path / "later").rename(tmp_path / "logs" / "later")
  out = _run(capsys, *command)
  late, learned = (next(line for line in out.splitlines() if f" {name} " in line)
                   for name in ("late", "learned"))
  assert "needs" in late and "more answers" in late and " to " in late
  assert "ALARM: level of gsm8k" in learned and "+- " in learned
  assert "learned" in (tmp_path / "b.html").read_text()
  assert re.search(r"learned .*ALARM: level of gsm8k", _run(capsys, "rank", "--cache",
                                                            tmp_path / "c"))
  again = json.loads(_run(capsys, *command, "--json"))  # Nothing new: the same board.
  assert again["new_answers"] == 0 and len(again["models"]) == 14
  (tmp_path / "passages.csv").write_text("id,cluster\n" + "".join(
      f"{task}/{i},{task}{i // 8}\n" for task in ("arc", "gsm8k") for i in range(80)))
  clustered = json.loads(_run(capsys, *command, "--clusters", tmp_path / "passages.csv", "--json"))
  assert clustered["models"][0]["error"] != again["models"][0]["error"]

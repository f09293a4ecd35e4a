# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The fields of `suite lifelong --json` are those of docs/lifelong.md; a mixed suite."""

from __future__ import annotations

import json
import pathlib
import re

import numpy as np
import pytest

from suite import cli

PAGE = (pathlib.Path(__file__).resolve().parents[2] / "docs" / "lifelong.md").read_text(
    encoding="utf-8").partition("## Fields of --json\n")[2]


def _fields():
  """Action -> fields of its object; "MODEL" -> those of a model."""
  found, actions, table = {"MODEL": set()}, [], ""
  for line in PAGE.splitlines():
    cells = [cell.strip() for cell in line.strip("|").split("|")]
    if line.startswith(("| action", "| field")):
      table = cells[0]
    elif line.startswith("|") and not line.startswith("|---"):
      if table == "action":
        actions = cells[0].split(", ") if cells[0] else actions
      names = set(re.findall(r"`(\w+)`", cells[1] if table == "action" else cells[0]))
      for action in actions if table == "action" else ["MODEL"]:
        found.setdefault(action, set()).update(names)
  return found


FIELDS = _fields()


def _run(capsys, *arguments):
  capsys.readouterr()
  assert cli.main(["lifelong", *map(str, arguments), "--json"]) == 0
  return json.loads(capsys.readouterr().out)


def _logs(folder, num=12):
  """`num` models on arc (metrics acc, acc_norm) and gsm8k (two filters), and a new one."""
  rng = np.random.default_rng(0)
  hard = {"arc": rng.normal(0, 1, 60), "gsm8k": rng.normal(1, 1, 30)}
  for k in range(num + 1):
    name = folder / ("new" if k == num else "logs") / f"m{k}"
    name.mkdir(parents=True)
    right = {task: rng.random(len(one)) < 1 / (1 + np.exp(one - k / 4)) for task, one in
             hard.items()}
    arc = [{"doc_id": i, "filter": "none", "metrics": ["acc", "acc_norm"], "acc": 0.0,
            "acc_norm": float(one), "doc_hash": f"a{i}"} for i, one in enumerate(right["arc"])]
    gsm8k = [{"doc_id": i, "filter": kind, "metrics": ["exact_match"],
              "exact_match": float(one and kind == "strict"), "doc_hash": f"g{i}"}
             for kind in ("strict", "loose") for i, one in enumerate(right["gsm8k"])]
    for task, rows in (("arc", arc), ("gsm8k", gsm8k)):
      (name / f"samples_{task}_2026-01-31T12-00-00.000000.jsonl").write_text(
          "\n".join(map(json.dumps, rows)))
  return sorted(folder.glob("logs/*/*.jsonl")), sorted(folder.glob("new/*/*.jsonl"))


@pytest.fixture(name="mixed")
def _mixed(tmp_path, capsys):
  """(a cache of a mixed suite, the logs of a new model, what was printed)."""
  known, new = _logs(tmp_path)
  said = _run(capsys, "add-models", "--cache", tmp_path / "c", "--score", "arc=acc_norm",
              "--filter", "gsm8k=strict", *known)
  return tmp_path / "c", new, said


def test_fields_are_those_of_the_page_and_a_mixed_suite_is_estimated(mixed, tmp_path, capsys):
  cache, new, said = mixed
  assert said.keys() == FIELDS["add-models"] and set(said["read"]) >= {"files", "merged", "tasks"}
  assert said["tasks"] == {"arc": {"metric": "acc_norm", "filter": "", "samples": 60},
                           "gsm8k": {"metric": "exact_match", "filter": "strict", "samples": 30}}
  base = ("--cache", cache)
  assert _run(capsys, "status", *base).keys() == FIELDS["status"]
  ranked = _run(capsys, "rank", *base, "--chance", "arc=0.25")
  assert ranked.keys() == FIELDS["rank"]
  assert all(one.keys() == FIELDS["MODEL"] | {"rank", "alarms"} for one in ranked["models"])
  first = ranked["models"][0]
  shares = {task: one["accuracy"] for task, one in first["tasks"].items()}
  assert first["score"] == pytest.approx(((shares["arc"] - 0.25) / 0.75 + shares["gsm8k"]) / 2)
  compared = _run(capsys, "compare", *base, "--top", 3)
  assert compared.keys() == FIELDS["compare"] and len(compared["pairs"]) == 3
  assert all(one.keys() == FIELDS["MODEL"] | {"cluster", "ranks"} for one in compared["models"])
  # The new model's logs have both metrics and filters: the cache says which are read.
  found = _run(capsys, "estimate", *base, "--answers", *new)
  assert found.keys() == FIELDS["estimate --answers"] - {"differences", "difference"} | {
      "differences"}
  model, = found["models"]
  right = {}
  for path, metric in zip(new, ("acc_norm", "exact_match")):
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    right[path.name.split("_")[1]] = np.mean([
        row[metric] for row in rows if row["filter"] in ("none", "strict")])
  assert {task: one["accuracy"] for task, one in model["tasks"].items()} == pytest.approx(right)
  assert model["score"] == pytest.approx(np.mean(list(right.values())))
  asked = _run(capsys, "estimate", *base, "--ask", tmp_path / "ask.json", "--budget", 20)
  assert asked.keys() == FIELDS["estimate --ask"]
  questions = json.loads((tmp_path / "ask.json").read_text())
  assert set(questions) <= {"arc", "gsm8k"} and sum(map(len, questions.values())) == 20
  session = _run(capsys, "session", *base, "--ask", tmp_path / "ask.json", "--state",
                 tmp_path / "session")
  assert session.keys() == FIELDS["session"]
  subset = _run(capsys, "subset", *base, "--size", 30, "--draws", 4, "--out", tmp_path / "s.csv")
  assert subset.keys() == FIELDS["subset"]
  lines = (tmp_path / "s.csv").read_text().splitlines()[1:]
  assert sum(one.startswith("gsm8k/") for one in lines) == 15  # Half of the score, half of it.
  scored = _run(capsys, "subset", *base, "--out", tmp_path / "s.csv", "--answers", *new)
  assert scored.keys() == FIELDS["subset --answers"]
  assert abs(scored["models"][0]["accuracy"] - model["score"]) < 0.3
  assert _run(capsys, "verify", *base).keys() == FIELDS["verify"]


def test_documents_and_metrics_are_those_of_the_cache(mixed, capsys):
  cache, new, _ = mixed
  assert cli.main(["lifelong", "estimate", "--cache", str(cache), "--score", "arc=acc", "--answers",
                   *map(str, new)]) == 1
  assert "keeps the answers to arc by metric acc_norm; got --score acc" in capsys.readouterr().err
  rows = new[0].read_text().replace('"doc_hash": "a', '"doc_hash": "b')
  new[0].write_text(rows)
  assert cli.main(["lifelong", "estimate", "--cache", str(cache), "--answers",
                   *map(str, new)]) == 1
  said = capsys.readouterr().err
  assert "is not the document" in said and "60 of 90" in said and str(new[0]) in said
  assert cli.main(["lifelong", "rank", "--cache", str(cache), "--weights", "ark=2"]) == 1
  assert "names ark; the tasks are arc, gsm8k" in capsys.readouterr().err

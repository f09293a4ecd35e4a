# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The card of a method, from runs that are written by hand."""

import json

import pytest

import suite
from suite import cli
from suite.reporting.formats import model_card
from suite.system import atomic_files


def _write(workdir, learner="er", *, seed=0, accuracy=0.5, flops=10, is_finished=True):
  """A work directory with one learner's run of CLEAR."""
  folder = workdir / learner
  folder.mkdir(parents=True)
  (workdir / "config.gin").write_text(f"STEPS = 10\nexperiment.run.seed = {seed}\n")
  (workdir / "environment.json").write_text(json.dumps({
      "command": f"suite run x --seed {seed}", "seed": seed, "suite": suite.__version__,
      "python": "3.11.7", "device": "CPU", "packages": {"tensorflow": "2.15.1"},
      "arithmetic": {"precision": "float32"}}))
  costs = {"flops": flops and flops + 4, "flops_train": flops, "flops_predict": 4,
           "examples": 30, "examples_train": 20, "examples_predict": 10}
  (folder / "records.jsonl").write_text(json.dumps({
      "event": 0, "protocol": "clear", "kind": "train", "task": "digits", **costs}) + "\n")
  if is_finished:
    (folder / "summary.json").write_text(json.dumps({
        "protocol": "clear", "stream": "digits, 2 buckets", "in_domain": accuracy, **costs}))
  return workdir


def _cells(card, first):
  """The cells after the first of the row that begins with it."""
  row = next(line for line in card.splitlines() if line.startswith(f"| {first} |"))
  return [cell.strip() for cell in row.strip("|").split("|")][1:]


def test_a_card_has_the_method_its_scores_costs_and_versions(tmp_path):
  for seed, accuracy, flops in ((0, 0.5, 10), (1, 0.7, 30)):
    _write(tmp_path / f"s{seed}", seed=seed, accuracy=accuracy, flops=flops)
  dirs = [tmp_path / "s0", tmp_path / "s1"]
  card = model_card.render(dirs, {"er": ("Experience replay", "Chaudhry et al., 2019")})
  _, front, body = card.split("---\n", 2)
  assert body.startswith("\n# er\n\nExperience replay (Chaudhry et al., 2019).\n")
  assert "## clear (digits, 2 buckets)" in body and "finished; seeds: 0, 1." in body
  name = next(line.split("|")[1].strip() for line in body.splitlines() if "| higher |" in line)
  # Mean of 50 and 70; deviation with n - 1: 10 * sqrt(2).
  assert name.endswith(", %") and _cells(body, name) == ["higher", "60.00", "14.14", "2"]
  assert _cells(body, "train") == ["20 FLOP", "20", "-", "-"]
  assert _cells(body, "in all") == ["24 FLOP", "30", "-", "-"]
  assert _cells(body, "command") == ["suite run x --seed 0; suite run x --seed 1"]
  assert _cells(body, "tensorflow") == ["2.15.1"]
  assert _cells(body, "config.gin, SHA-256") == [
      "; ".join(atomic_files.sha256(one / "config.gin") for one in dirs)]
  yaml = pytest.importorskip("yaml", reason="PyYAML, which reads front matter, is not installed")
  head = yaml.safe_load(front)
  assert head["model-index"] == [{"name": "er", "results": [{
      "task": {"type": "image-classification", "name": "clear"},
      "dataset": {"name": "clear (digits, 2 buckets)", "type": "digits"},
      "metrics": [{"type": "in_domain", "name": name[:-3], "value": pytest.approx(0.6)}]}]}]


def test_what_is_unknown_or_not_finished_is_no_number(tmp_path):
  card = model_card.render([_write(tmp_path / "a", "mine", flops=None, is_finished=False)], {})
  assert "model-index" not in card and "partial, 1 events so far" in card
  assert "Not in the suite's table of methods" in card
  assert _cells(card, "train") == ["not counted", "20", "-", "-"]
  assert _cells(card, "in all") == ["not counted", "30", "-", "-"]


def test_the_command_writes_a_card_of_one_method(tmp_path, capsys):
  _write(tmp_path / "a")
  out = tmp_path / "cards" / "er.md"
  assert cli.main(["report", str(tmp_path / "a"), "--format", "card", "--out", str(out)]) == 0
  assert out.read_text(encoding="utf-8").startswith("---\nlibrary_name: lifelong-suite\n")
  _write(tmp_path / "b", "ewc")
  capsys.readouterr()
  for flags, said in (([], "there are 2: er, ewc"), (["--all"], "--all chooses")):
    assert cli.main(["report", str(tmp_path), "--format", "card", *flags]) != 0
    told = capsys.readouterr().err
    assert said in told and told.count("\n") == 1
  assert cli.main(["report", str(tmp_path / "a"), "--format", "card", "--out", str(tmp_path)]) == 2
  assert "is a folder; give a file" in capsys.readouterr().err

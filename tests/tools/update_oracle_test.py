# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The tool that searches update times: stopped and resumed, by brute force, and in real runs."""

from __future__ import annotations

import itertools
import json

import pytest
import stopped_runs

import suite

SMALL = ("digits.sequence.num_samples=60", "EPOCHS=1", "RATE=0.3")


def arguments(folder, *more):
  found = ["digits/fluid_strategies", "--learner", "exemplar_tuning", "--candidates", "20",
           "40", "--budget", "45", "--sequences", "--workdir", str(folder), "--output",
           str(folder / "times.json"), *more]
  for param in SMALL:
    found += ["--gin_param", param]
  return found


def summary_of(folder):
  return json.loads((folder / "exemplar_tuning" / "summary.json").read_text())


def test_runs_of_all_plans_stopped_and_resumed_give_the_best_by_brute_force(
    load_tool, tmp_path, monkeypatch):
  tool, calls = load_tool("update_oracle"), []

  def scored(run, *, workdir, params):
    """Writes a score that both updates raise, the second one more."""
    del run
    calls.append(workdir.name)
    if len(calls) == 3:
      raise stopped_runs.Stop
    assert set(SMALL) <= set(params)
    (workdir / "exemplar_tuning").mkdir(parents=True)
    (workdir / "exemplar_tuning" / "summary.json").write_text(json.dumps(
        {"overall": 0.25 + 0.125 * ("_20" in workdir.name) + 0.25 * ("_40" in workdir.name)}))

  run = suite.run
  monkeypatch.setattr(suite, "run", scored)
  with pytest.raises(stopped_runs.Stop):
    tool.main(arguments(tmp_path, "--width", "0"))
  assert not (tmp_path / "times.json").exists()
  assert tool.main(arguments(tmp_path, "--width", "0")) == 0
  assert calls == ["at", "at_20", "at_40", "at_40"]  # Finished runs are not repeated.

  found = json.loads((tmp_path / "times.json").read_text())
  plans = [plan for size in range(3) for plan in itertools.combinations((20, 40), size)
           if sum(plan) <= 45]
  scores = {plan: summary_of(tmp_path / "run" / "_".join(["at", *map(str, plan)]))["overall"]
            for plan in plans}
  assert found["steps"] == [40] and found["cost"] == 40
  assert found["score"] == max(scores.values())
  assert scores[tuple(found["steps"])] == found["score"]
  assert {tuple(one["steps"]): one["score"] for one in found["tried"]} == scores
  text = (tmp_path / "times.json").read_bytes()
  assert tool.main(arguments(tmp_path, "--width", "0")) == 0
  assert (tmp_path / "times.json").read_bytes() == text and len(calls) == 4

  # A real run of this plan, and one that takes its times from the file.
  monkeypatch.setattr(suite, "run", run)
  score, = tool.Runs("digits/fluid_strategies", "exemplar_tuning", tmp_path / "real", (),
                     SMALL).scores([(40,)])
  run("digits/fluid_strategies", workdir=tmp_path / "taken", params=[
      *SMALL, "STRATEGY='at'", f"TIMES={str(tmp_path / 'times.json')!r}"])
  taken = summary_of(tmp_path / "taken")
  assert taken["update_steps"] == [40] and taken["overall"] == score


def test_a_score_is_the_mean_over_the_sequences(load_tool, tmp_path, monkeypatch):
  tool, asked = load_tool("update_oracle"), []

  def fake(run, *, workdir, params, data_dir):
    asked.append((run, workdir.relative_to(tmp_path).as_posix(), params, data_dir))
    (workdir / "a").mkdir(parents=True)
    (workdir / "a" / "summary.json").write_text(json.dumps({"overall": 0.25 * len(asked)}))

  monkeypatch.setattr(suite, "run", fake)
  runs = tool.Runs("r", "a", tmp_path, ("v0", "v1"), ["X=1"], data_dir="d")
  for _ in range(2):
    assert runs.scores([(3, 5)]) == [(0.25 + 0.5) / 2]
  assert asked == [("r", f"{v}/at_3_5", [
      "STRATEGY='at'", "TIMES=(3, 5)", "experiment.run.only='a'", f"SEQUENCE='{v}'", "X=1"], "d")
                   for v in ("v0", "v1")]
  with pytest.raises(ValueError, match="has no 'loss'; give another --measure: overall"):
    tool.Runs("r", "a", tmp_path, ("v0", "v1"), measure="loss").scores([(3, 5)])

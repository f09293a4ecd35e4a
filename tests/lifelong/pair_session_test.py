# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Two models are asked the same questions until they are told apart."""

from __future__ import annotations

import json

import numpy as np
import pytest

from suite import cli
from suite import lifelong
from suite.lifelong import pair_session
from suite.lifelong.cache import accuracy_cache


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory):
  rng = np.random.default_rng(0)
  ability = np.array([*rng.normal(0.5, 1, 12), 1.5, -0.5, 0.4])[:, None]
  answers = (rng.random((15, 600)) < 1 / (1 + np.exp(rng.normal(0, 2, 600) - ability)))
  cache = accuracy_cache.AccuracyCache(tmp_path_factory.mktemp("cache"), create=True)
  cache.add_models([f"m{i}" for i in range(12)], answers[:12].astype(np.int8),
                   [str(i) for i in range(600)])
  return cache, {name: {str(i): float(one) for i, one in enumerate(row)}
                 for name, row in zip(("good", "bad", "same"), answers[12:])}


def test_different_models_are_told_apart_and_equal_ones_are_not(made, tmp_path):
  cache, answers = made

  def run(names, state, **how):
    asking = pair_session.PairSession(cache, names, state=state, **how)
    while asking.questions():
      asking.answer(answers)
    return asking

  apart = run(("good", "bad"), tmp_path / "apart")
  assert apart.are_apart and apart.num_answers <= 128
  assert apart.difference()[0].low > 0 and apart.num_looks == 5
  again = pair_session.PairSession(cache, ("good", "bad"), state=tmp_path / "apart")
  assert again.is_done and again.num_answers == apart.num_answers  # Answers are kept.
  answers = {**answers, "twin": answers["same"]}
  twins = run(("same", "twin"), tmp_path / "twins", budget=128)
  assert not twins.are_apart and twins.num_answers == 128 and twins.difference()[0].value == 0
  wide = run(("same", "twin"), tmp_path / "wide", target_width=0.3)
  assert wide.num_answers == 64
  with pytest.raises(lifelong.CacheError, match="was started with budget=128; got 256"):
    pair_session.PairSession(cache, ("same", "twin"), budget=256, state=tmp_path / "twins")


def test_clusters_of_the_cache_count(made, tmp_path):
  cache, answers = made
  mine = accuracy_cache.AccuracyCache(tmp_path / "cache", create=True)
  ids = [str(i) for i in range(600)]
  mine.add_models(cache.models, cache.columns(np.arange(600)).astype(np.int8), ids)

  def tested():
    reference = lifelong.Reference(mine)
    ones = [reference.estimate_from({one: answers[name][one] for one in reference.questions(
        200).tolist()}) for name in ("good", "same")]
    return lifelong.compare(*ones, 600, reference.clusters), reference

  (plain, p), reference = tested()
  assert reference.clusters is None
  mine.set_clusters(ids, [str(i // 30) for i in range(600)])
  (found, other), reference = tested()
  assert found.value == plain.value and other != p
  asking = pair_session.PairSession(mine, ("good", "same"), state=tmp_path / "s", budget=64)
  asking.answer(answers)
  one, two = asking.estimates()
  assert asking.difference() == lifelong.compare(one, two, 600, reference.clusters)
  # Answers to whole passages, called random, have a wider interval than as many single ones.
  whole = {one: answers["good"][one] for one in ids[:300]}
  wide, narrow = (np.ptp(one.estimate_from(whole, is_random=True).interval) for one in (
      reference, lifelong.Reference(cache)))
  assert wide >= narrow


def test_the_command_asks_both(made, tmp_path, capsys):
  cache, answers = made
  command = ["lifelong", "session", "good", "bad", "--cache", str(cache.folder), "--state",
             str(tmp_path / "state"), "--ask", str(tmp_path / "ask.txt")]
  assert cli.main(command) == 0
  assert "64 samples to ask both models" in capsys.readouterr().out
  path = tmp_path / "answers.csv"
  path.write_text("model,id,correct\n" + "".join(
      f"good,{one},{answers['good'][one]:g}\n" for one in answers["good"]))
  assert cli.main([*command, "--answers", str(path)]) != 0
  assert "have no answer of 'bad'" in capsys.readouterr().err
  path.write_text("model,id,correct\n" + "".join(
      f"{name},{one},{answers[name][one]:g}\n" for name in ("good", "bad") for one in
      answers[name]))
  assert cli.main([*command, "--answers", str(path), "--json"]) == 0
  found = json.loads(capsys.readouterr().out)
  assert found["answers"] == 64 and found["interval"][0] < found["difference"]

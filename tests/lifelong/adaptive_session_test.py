# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A session asks, stops and resumes."""

from __future__ import annotations

import json
import shutil

import numpy as np
import pytest

from suite import cli
from suite import lifelong
from suite.lifelong.cache import accuracy_cache
from suite.lifelong.cache import cache_tasks


@pytest.fixture(name="made", scope="module")
def _made(tmp_path_factory):
  """(cache of 12 models and 2,000 samples of two tasks, id -> answer of a new one)."""
  rng = np.random.default_rng(0)
  ability, hard = rng.normal(0.5, 1, (13, 1)), rng.normal(0, 2.5, 2000)
  answers = (rng.random((13, 2000)) < 1 / (1 + np.exp(hard - ability))).astype(np.int8)
  cache = accuracy_cache.AccuracyCache(tmp_path_factory.mktemp("cache"), create=True)
  ids = [f"{task}/{index}" for task in ("arc", "math") for index in range(1000)]
  cache.add_models([f"m{index}" for index in range(12)], answers[:12], ids,
                   tasks={task: cache_tasks.Task() for task in ("arc", "math")})
  return lifelong.Reference(cache), dict(zip(ids, answers[12].astype(float).tolist()))


def test_the_generator_ends_at_the_width_and_resumes_from_every_file(made, tmp_path):
  reference, answers = made

  def run(state):
    asking, asked = lifelong.session(reference, 0.08, state=state), []
    try:
      ids = next(asking)
      while True:
        asked.append(ids.tolist())
        ids = asking.send(answers)
    except StopIteration as end:
      return asked, end.value

  asked, found = run(None)
  flat = sum(asked, [])
  assert len(asked) > 2 and len(set(flat)) == len(flat) < 1000
  low, high = found.interval
  assert high - low <= 0.08 and low <= np.mean(list(answers.values())) <= high
  assert set(np.array(found.observed_answers)) == {0.0, 1.0} and found.sample is None
  whole, same = run(tmp_path / "whole")
  assert whole == asked and same.interval == found.interval
  # A kill leaves the first n of these files.
  files = ["session.json", *(f"{kind}_{number:04d}.json" for number in range(1, len(asked) + 1)
                             for kind in ("round", "answers"))]
  assert sorted(files) == sorted(path.name for path in (tmp_path / "whole").iterdir())
  for num in range(len(files) + 1):
    state = tmp_path / str(num)
    state.mkdir()
    for name in files[:num]:
      shutil.copy(tmp_path / "whole" / name, state)
    rest, again = run(state)
    assert again.interval == found.interval and rest == asked[len(asked) - len(rest):]


def test_what_a_session_refuses(made, tmp_path):
  reference, answers = made
  with pytest.raises(lifelong.CacheError, match="target width of 2; expected"):
    lifelong.Session(reference, 2)
  with pytest.raises(lifelong.CacheError, match="2,001 questions; expected 1 to the 2,000"):
    lifelong.Session(reference, budget=2001)
  asking = lifelong.Session(reference, 0.05, 100, state=tmp_path)
  ids = asking.questions().tolist()
  with pytest.raises(lifelong.CacheError, match="2 of the 64 questions of round 1 have no answer"):
    asking.answer({one: answers[one] for one in ids[2:]})
  with pytest.raises(lifelong.CacheError, match="started with target_width=0.05; got 0.1"):
    lifelong.Session(reference, 0.1, state=tmp_path)
  assert asking.answer(answers) == 2000 - 64
  asking.answer(answers)
  assert asking.is_done and asking.num_answers == 100 and asking.accuracy().width > 0.05
  assert not len(asking.questions())
  with pytest.raises(lifelong.CacheError, match="has ended"):
    asking.answer(answers)
  settings = json.loads((tmp_path / "session.json").read_text())
  (tmp_path / "session.json").write_text(json.dumps({**settings, "num_samples": 9}))
  with pytest.raises(lifelong.CacheError, match="started with 9 samples; the cache has 2,000"):
    lifelong.Session(reference, state=tmp_path)


def test_the_command_is_a_loop(made, tmp_path, capsys):
  reference, answers = made
  ask = tmp_path / "ask.json"
  base = ["lifelong", "session", "--cache", str(reference.cache.folder), "--state",
          str(tmp_path / "state"), "--ask", str(ask), "--json"]

  def run(*more):
    capsys.readouterr()
    assert cli.main([*base, *map(str, more)]) == 0
    return json.loads(capsys.readouterr().out)

  said = run("--target-width", 0.13)
  assert said["questions"] == 64 and said["interval"] is None and not said["done"]
  asked = json.loads(ask.read_text())
  assert set(asked) <= {"arc", "math"}
  file, before = tmp_path / "answers.csv", None
  while not said["done"]:
    ids = [f"{task}/{one}" for task, ones in json.loads(ask.read_text()).items() for one in ones]
    file.write_text("id,correct\n" + "".join(f"{one},{int(answers[one])}\n" for one in ids))
    said = run("--answers", file)
    # The same call again, as after a kill, takes nothing twice.
    assert run("--answers", file) == said
    assert before is None or said["answers"] > before
    before = said["answers"]
  assert said["interval"][1] - said["interval"][0] <= 0.13 and before > 64
  assert json.loads(ask.read_text()) == {}

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
from suite.system import sealed_json


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
    asking, asked = lifelong.session(reference, 0.08, state=state, seed=0), []
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
  settings.pop("digest")
  (tmp_path / "session.json").write_text(sealed_json.text({**settings, "num_samples": 9}))
  with pytest.raises(lifelong.CacheError, match="started with 9 samples; the cache has 2,000"):
    lifelong.Session(reference, state=tmp_path)


@pytest.fixture(name="two_rounds", scope="module")
def _two_rounds(made, tmp_path_factory):
  """The folder of a session with two rounds that are answered."""
  reference, answers = made
  folder = tmp_path_factory.mktemp("session")
  asking = lifelong.Session(reference, 0.05, state=folder)
  for _ in range(2):
    asking.questions()
    asking.answer(answers)
  return folder


def _changed(path, change):
  values = json.loads(path.read_text())
  change(values)
  path.write_text(json.dumps(values))


def _swapped(folder, first, second):
  (folder / first).rename(folder / "x")
  (folder / second).rename(folder / first)
  (folder / "x").rename(folder / second)


@pytest.mark.parametrize("damage, said", [
    (lambda d: _changed(d / "answers_0002.json", lambda v: v["scores"].update(
        {name: 1 - score for name, score in v["scores"].items()})), "answers_0002.*digest differs"),
    (lambda d: _changed(d / "round_0002.json", lambda v: v["chances"].__setitem__(0, 0.01)),
     "round_0002.*digest differs"),
    (lambda d: _changed(d / "round_0002.json", lambda v: v.pop("digest")), "it has no digest"),
    (lambda d: (d / "round_0002.json").write_text("[]"), "no object with values"),
    (lambda d: (d / "round_0002.json").write_text("[" * 100_000), "nested too deeply"),
    (lambda d: (d / "round_0002.json").write_text('{"a"'), "round_0002.json is not as .* wrote it"),
    (lambda d: ((d / "session.json").unlink(), (d / "session.json").mkdir()), "it is a folder"),
    (lambda d: (d / "session.json").write_text("[]"), "session.json .*no object"),
    (lambda d: _swapped(d, "round_0001.json", "round_0002.json"), "round_0001.* of another place"),
    (lambda d: (d / "round_0001.json").write_text(sealed_json.text(
        {"ids": ["arc/1"], "chances": [0], "after": json.loads(
            (d / "session.json").read_text())["digest"]})), "no questions with their chances")])
def test_a_damaged_session_is_refused_in_one_line(made, two_rounds, tmp_path, damage, said):
  folder = tmp_path / "state"
  shutil.copytree(two_rounds, folder)
  damage(folder)
  with pytest.raises(lifelong.CacheError, match=said) as error:
    lifelong.Session(made[0], state=folder)
  assert "\n" not in str(error.value)


def test_each_folder_has_draws_for_itself(made, tmp_path):
  asked = [lifelong.Session(made[0], 0.05, state=tmp_path / name).questions().tolist()
           for name in ("a", "b", "a")]
  assert asked[0] == asked[2] != asked[1]
  given = [lifelong.Session(made[0], 0.05, state=tmp_path / name, seed=7).questions().tolist()
           for name in ("c", "d")]
  assert given[0] == given[1]


def test_a_session_of_an_earlier_version_goes_on_without_digests(made, two_rounds, tmp_path):
  reference, answers = made
  shutil.copytree(two_rounds, tmp_path / "old")
  for path in (tmp_path / "old").iterdir():
    values = json.loads(path.read_text())
    values = {k: v for k, v in values.items() if k not in ("digest", "after")}
    if path.name == "session.json":
      values["format"] = 1
    path.write_text(json.dumps(values.get("scores", values)))
  old, new = (lifelong.Session(reference, state=folder)
              for folder in (tmp_path / "old", two_rounds))
  assert old.accuracy() == new.accuracy() and old.num_answers > 64
  assert old.questions().tolist() == new.questions().tolist()
  old.answer(answers)
  assert lifelong.Session(reference, state=tmp_path / "old").num_answers == old.num_answers


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

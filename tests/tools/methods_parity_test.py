# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods of the suite beside the stored answers of public code."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import numpy as np
import pytest

from suite.configs import methods

sys.path.append(str(pathlib.Path(__file__).parents[2] / "tools" / "parity" / "methods"))

import method_cases

_CASES = method_cases.load()


@pytest.mark.parametrize("name", _CASES)
def test_ours_equals_the_stored_answers_of_the_public_code(name):
  case = _CASES[name]
  rows = list(case.rows(case.stored()))
  assert rows and not [row.line() for row in rows if row.verdict == "DIFFERS"]


def test_every_method_has_one_verdict():
  stored = method_cases.stored_rows()
  found = [one.method for one in method_cases.verdicts(stored.rows)]
  assert sorted(found) == sorted(method.name for method in methods.load())
  for one in method_cases.verdicts(stored.rows):
    assert one.verdict in method_cases.VERDICTS and one.why, one


def test_listed_verdicts_follow_from_the_rows_that_they_name():
  for one, rows in method_cases.listed():
    assert "DIFFERS" not in {row.verdict for row in rows}, one
    if one.verdict == method_cases.EQUAL:
      assert not any(row.reason for row in rows), one


def test_every_case_has_rows_and_small_answers():
  stored = method_cases.stored_rows()
  assert [name for name, case in _CASES.items()
          if not method_cases.rows_of(case, stored.rows)] == []
  files = list(method_cases.FOLDER.iterdir())
  assert {file.stem for file in files} == set(_CASES)
  assert sum(file.stat().st_size for file in files) < 2 ** 20


def _checkout(case, folder):
  place = folder / case.repository.replace("/", "+")
  place.mkdir(parents=True)
  git = ["git", "-C", str(place), "-c", "user.name=n", "-c", "user.email=e"]
  for command in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "other"]):
    subprocess.run([*git, *command], check=True, capture_output=True)


def test_a_missing_checkout_and_another_commit_are_one_line(tmp_path):
  case = next(iter(_CASES.values()))
  with pytest.raises(SystemExit, match=f"no checkout of {case.repository} in .* Run: git clone"):
    case.checkout(tmp_path)
  _checkout(case, tmp_path)
  with pytest.raises(SystemExit, match=f"but the answers are those of {case.commit}. Run: .* gone"):
    case.checkout(tmp_path)


def test_stored_answers_of_another_commit_are_refused(tmp_path, monkeypatch):
  case = next(iter(_CASES.values()))
  monkeypatch.setattr(method_cases, "FOLDER", tmp_path)
  with pytest.raises(SystemExit, match="no stored answers.* --only"):
    case.stored()
  np.savez(case.path, commit=np.array("0" * 40), answers=np.zeros(3))
  with pytest.raises(SystemExit, match="are of another commit"):
    case.stored()


def test_cases_are_compared_by_name_with_code_or_without(tmp_path, load_tool, capsys):
  authors = load_tool("authors").Authors(tmp_path, sys.executable)
  name = "weight_alignment"
  assert not list(method_cases.compare(authors, [name], False))
  assert f"not compared: {name}: no checkout of" in capsys.readouterr().out
  row, = method_cases.compare(None, [name], False)
  assert row.verdict == "agrees" and row.what == f"{name}: kernel"
  with pytest.raises(SystemExit, match="There is no case 'weights'; there are simple_cil, "):
    next(method_cases.compare(None, ["weights"], False))


def test_one_other_answer_is_a_difference():
  case = next(iter(_CASES.values()))
  theirs = case.stored()
  theirs["answers"][-1, 0] += 1
  changed, = [row for row in case.rows(theirs) if row.what.endswith("answers")]
  assert changed.verdict == "DIFFERS" and changed.difference == 1

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Mutations of a few lines, worked by hand, and of a package whose tests see some of them."""

from __future__ import annotations

import dataclasses
import json

import pytest

_SOURCE = '''
def scale(é: int = 1) -> float:
  """1 + 1"""
  if é < 2 and é != 5:
    raise ValueError(f"{é - 1}" + "!")
  return divide(é * 2, -é) - 3
'''


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("mutations")


def test_the_mutations_of_a_function(tool):
  found = {}
  for one in tool.mutations("a.py", _SOURCE):
    found.setdefault((one.line, one.kind), []).append((one.before, one.after))
    assert _SOURCE.encode()[one.start:one.end].decode() == one.before
    compile(one.apply(_SOURCE.encode()), "a.py", "exec")
  assert found == {
      (2, "off by one"): [("1", "2")],
      (4, "comparison"): [("é < 2 and é != 5", "(é < 2 or é != 5)"), ("é < 2", "(é <= 2)"),
                          ("é != 5", "(é == 5)")],
      (4, "off by one"): [("2", "3"), ("5", "6")],
      (6, "sign"): [("divide(é * 2, -é) - 3", "(divide(é * 2, -é) + 3)"), ("é * 2", "(é / 2)"),
                    ("-é", "(é)")],
      (6, "dropped term"): [("divide(é * 2, -é) - 3", "divide(é * 2, -é)")],
      (6, "swapped arguments"): [("divide(é * 2, -é)", "divide(-é, é * 2)")],
      (6, "off by one"): [("2", "3"), ("3", "4")],
  }


def test_the_same_seed_draws_the_same_and_a_line_once(tool):
  candidates = tool.mutations("a.py", _SOURCE)
  first = tool.draw(candidates, 3, seed=1)
  assert first == tool.draw(list(reversed(candidates)), 3, seed=1) or len(first) == 3
  assert tool.draw(candidates, 3, seed=1) == first
  assert sorted(one.line for one in first) == [2, 4, 6]
  assert len(tool.draw(candidates, 2, seed=1)) == 2


@pytest.fixture(name="checkout")
def _checkout(tmp_path):
  root = tmp_path / "checkout"
  for path, text in (
      ("pkg/__init__.py", ""),
      ("pkg/sums.py", "def total(a, b):\n  return a + b\n\n\ndef unseen(a):\n  return a - 0\n"),
      ("tests/sums_test.py",
       "from pkg import sums\n\n\ndef test_broken():\n  assert False\n\n\n"
       "def test_total():\n  assert sums.total(2, 1) == 3\n\n\n"
       "def test_unseen():\n  sums.unseen(1)\n"),
      ("setup.cfg", "[tool:pytest]\naddopts = --import-mode=importlib\n")):
    (root / path).parent.mkdir(parents=True, exist_ok=True)
    (root / path).write_text(text)
  return root


def test_outcomes_of_a_package(tool, checkout, tmp_path, capsys):
  code = tool.main(["--root", str(checkout), "--files", "pkg/*.py", "--tests",
                    *(f"tests/sums_test.py::test_{name}" for name in ("broken", "total", "unseen")),
                    "--number", "9", "--json", str(tmp_path / "found.json")])
  output = capsys.readouterr().out
  assert code == 1 and "1 of 2 mutations are caught." in output
  found = {one["mutation"]["line"]: one for one in json.loads(
      (tmp_path / "found.json").read_text())}
  assert found[2]["state"] == "caught" and found[2]["test"] == "tests/sums_test.py::test_total"
  # The test that fails without a mutation does not count.
  assert (found[6]["state"], found[6]["num_tests"]) == ("survived", 2)
  assert "return a + b" in (checkout / "pkg/sums.py").read_text()


def test_times_of_tests(tool):
  text = """
=== slowest durations ===
12.50s call     tests/a_test.py::test_a[x y]
 0.50s setup    tests/a_test.py::test_a[x y]
(3 durations < 0.3s hidden.)
"""
  assert tool.read_times(text) == {"tests/a_test.py::test_a[x y]": 13.0}


def test_tests_are_those_that_run_the_line(tool, tmp_path):
  coverage = pytest.importorskip("coverage")
  data = coverage.CoverageData(str(tmp_path / "map"))
  for context, lines in (("", [1]), ("tests/a_test.py::test_a|run", [2]),
                         ("tests/b_test.py::test_b|setup", [2, 3])):
    data.set_context(context)
    data.add_lines({str(tmp_path / "suite/a.py"): lines})
  data.write()
  covered = tool.read_coverage(tmp_path / "map", tmp_path)
  assert covered == {("suite/a.py", 2): ["tests/a_test.py::test_a", "tests/b_test.py::test_b"],
                     ("suite/a.py", 3): ["tests/b_test.py::test_b"]}
  (tmp_path / "suite").mkdir()
  (tmp_path / "suite/a.py").write_text("x = 1 + 1\ny = x + 1\nz = -y\n")

  def lines(*only):
    return {one.line for one in tool._candidates(tmp_path, ["suite/*.py"], covered, only)}

  assert lines() == {2, 3} and lines("tests/b_test.py") == {3}


def test_a_table_has_a_line_for_each(tool):
  one = tool.Mutation("a.py", 3, "sign", 0, 5, "a |\n b", "(a - b)")
  outcome = tool.Outcome(one, tool.TIMEOUT, 4, 1.2)
  text = tool.table([outcome, dataclasses.replace(outcome, state=tool.SURVIVED)])
  assert "| a.py:3 | sign | `a \\| b` | `(a - b)` | 4 | time limit | 1 |  |" in text
  assert text.endswith("0 of 2 mutations are caught, and 1 ended at the time limit.")

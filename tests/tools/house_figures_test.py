# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures of a house of five modules, counted by hand."""

from __future__ import annotations

import ast
import pathlib

import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("house_figures")


@pytest.fixture(name="house")
def _house(tmp_path):
  for path, text in (
      ("suite/__init__.py", ""),
      ("suite/cli.py", "from suite.data import a\nimport suite.models.b"),
      ("suite/data/__init__.py", ""), ("suite/data/a.py", "from suite.models import b"),
      ("suite/data/c.py", "from suite.data import a\nfrom suite import cli"),
      ("suite/models/__init__.py", ""),
      ("suite/models/b.py", "def f():\n  from suite.data import a"),
      ("suite/models/c.py", "import suite\nfrom . import b"), ("tfds_builders/a.py", "")):
    (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
    (tmp_path / path).write_text(text)
  return tmp_path


def test_figures_of_a_small_house(tool, house):
  assert tool.figures(house) == {
      "code lines": 9, "code tokens": 45, "refusals": 0, "lines of refusals": "0.0%",
      "modules": 5, "rooms": 3, "floors": 3,
      "arrows between rooms": 5,  # suite -> data, models; data -> models, suite; models -> data.
      "arrows upward": 2, "circles of rooms": 1, "circles of modules": 1,
      "modules in the largest room": "2 (suite/data)", "module names used twice": 1,
      "imports between modules": 7,
      "modules with one importer": 1,  # suite/cli.py.
      "modules under 60 lines": 5, "functions": 1, "lines of a function": 2.0,
      "private functions called once": "0 (0.0%)", "private functions passed once": "0 (0.0%)",
      "imports under another name": 0, "of these without need": 0}
  assert tool.circles(tool.graph(tool.parsed(house))) == [["suite.data.a", "suite.models.b"]]


def test_code_is_what_is_no_blank_line_comment_or_docstring(tool, house):
  (house / "suite/data/c.py").write_text(
      '"""Text\n\nof a module."""\n\n# A comment.\ndef f(x):\n  """Text."""\n  if x:\n'
      '    raise ValueError(\n        "no")  # So.\n  return 1\n')
  found = tool.code_by_wing(house)["suite/data"]
  assert found == (6, 22, 1, 2)  # With the line of a.py, of 6 tokens.
  assert list(tool.code_by_wing(house)) == ["suite", "suite/data", "suite/models"]


def test_climbs_are_calls_of_a_floor_above(tool):
  assert tool.climbs(["suite/cli.py:1 main", "suite/training/a.py:1 f", "suite/learners/b.py:2 g",
                      "suite/learners/c.py:3 h"]) == 1


def test_imports_say_where_they_stand(tool):
  source = "import a.b\ndef f():\n  from ..c import d\nclass E:\n  from f import g as h"
  found = list(tool.imports(pathlib.PurePath("suite/data/images/x.py"), ast.parse(source)))
  assert [one[:3] for one in found] == [
      (1, "a.b", False), (3, "suite.data.c.d", True), (5, "f.g", False)]


def test_what_is_called_once_is_told_from_what_is_passed(tool, house):
  (house / "suite/data/c.py").write_text("""
import functools

def _in_place(): return 1
def _twice(): return 2
def _value(): return 3
def _listed(): yield 4
@functools.cache
def _cached(): return 5
def __dunder__(): return 6

class Own(Base):
  def _method(self): return self._helper()
  def _helper(self): return _in_place() + _cached() + sum(_listed())
  def _override(self): return super()._override()

TABLE = {"value": _value, "sum": lambda: _twice() + _twice()}
""")
  found = tool.figures(house)
  # _in_place, _listed and _helper; _value, _cached and _override. Nothing names _method.
  assert found["private functions called once"] == "3 (30.0%)"
  assert found["private functions passed once"] == "3 (30.0%)"


def test_another_name_is_needed_where_something_else_has_the_name(tool, house):
  (house / "suite/data/c.py").write_text(
      "from suite.models import b as b_lib, c as c_lib\nfrom suite.data import a as a_lib\n"
      "def f(b): return b_lib, c_lib.c(c=1), a_lib\na = 1")
  found = tool.figures(house)
  assert found["imports under another name"] == 3 and found["of these without need"] == 1  # c

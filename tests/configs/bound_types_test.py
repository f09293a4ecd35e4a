# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Bound values of a wrong type are refused, and all others pass."""

from __future__ import annotations

import sys

import gin
import pytest

from suite.configs import gin_files
from suite.configs import gin_parse

MODULE = """
from __future__ import annotations
from typing import Any, Literal, Mapping, NamedTuple, Optional, Sequence, Tuple, Union

Mode = Literal["fast", "slow"]

def run(count: int = 1, rate: float = 0.1, name: str = "", flag: bool = False,
        maybe: Optional[int] = None, none: int = None, many: Union[int, Sequence[int]] = 1,
        pair: Tuple[int, float] = (1, 1.0), either: Union[int, float] = 1,
        counts: Sequence[int] = (), by_name: Mapping[str, int] = {}, anything: Any = 1, plain=1,
        make: int = 1, mode: Mode = "fast", order: Optional[Literal["up", 3]] = None):
  return locals()

class Part:
  def __init__(self, size: int):
    self.size = size

class Fields(NamedTuple):
  width: int = 1
  rate: float = 1.0
"""
RUN_FILE = """
from __gin__ import dynamic_registration
import typed_parts
SIZE = 3
part/typed_parts.Part.size = %SIZE
typed_parts.run.anything = @part/typed_parts.Part()
"""


@pytest.fixture(name="parse")
def _parse(tmp_path, monkeypatch):
  (tmp_path / "typed_parts.py").write_text(MODULE)
  (tmp_path / "typed.gin").write_text(RUN_FILE)
  monkeypatch.syspath_prepend(str(tmp_path))
  monkeypatch.delitem(sys.modules, "typed_parts", raising=False)
  return lambda *bindings: gin_parse.parse([tmp_path / "typed.gin"], bindings)


@pytest.mark.parametrize("binding, message", [
    ("typed_parts.run.count='many'", "typed_parts.run.count is 'many' (the command line); it takes "
     "a whole number."),
    ("typed_parts.run.count=1.5", "takes a whole number"),
    ("typed_parts.run.count=[1, 2]", r"takes a whole number"),
    ("typed_parts.run.count=None", "takes a whole number"),
    ("typed_parts.run.rate='0.1'", "takes a number"),
    ("typed_parts.run.name=3", "takes a text"),
    ("typed_parts.run.flag='yes'", "takes True or False"),
    ("typed_parts.run.maybe='x'", "takes a whole number or None"),
    ("typed_parts.run.mode='slo'", "typed_parts.run.mode is 'slo' (the command line); it takes one "
     "of 'fast', 'slow'. Nearest: slow."),
    ("typed_parts.run.mode=None", "run.mode is None (the command line); it takes one of 'fast', "),
    ("typed_parts.run.order=4", "is 4 (the command line); it takes one of 'up', 3 or None."),
    ("typed_parts.run.order=['up']", "it takes one of 'up', 3 or None."),
    ("typed_parts.run.counts=[3.5, 4]", "counts is [3.5, 4] (the command line); it takes who"),
    ("typed_parts.run.many=(1.5, 2)", "it takes whole numbers in a list"),
    ("SIZE='big'", "part/typed_parts.Part.size is 'big' through %SIZE (the command line); it takes "
     "a whole number."),
])
def test_a_value_of_a_wrong_type_is_refused(parse, binding, message):
  with pytest.raises(gin_files.ConfigError) as refused:
    parse(binding)
  assert message in str(refused.value)


@pytest.mark.parametrize("binding", [
    "count=3", "count=3.0", "count=True", "rate=1", "rate=1e-3", "name='x'", "flag=0", "maybe=None",
    "none=None", "many=(1, 2)", "many='x'", "anything='x'", "plain='x'",
    "make=@typed_parts.Part()", "count=%SIZE", "mode='slow'", "order='up'", "order=3.0",
    "order=None", "mode=@typed_parts.Part()",
])
def test_what_may_fit_passes(parse, binding):
  parse(f"typed_parts.run.{binding}")


@pytest.mark.parametrize("binding, value", [
    ("count=3.0", 3), ("count=1e3", 1000), ("maybe=2.0", 2), ("none=2.0", 2), ("many=2.0", 2),
    ("many=(1.0, 2)", (1, 2)), ("counts=[3.0, 4]", [3, 4]), ("pair=(3.0, 4.0)", (3, 4.0)),
    ("by_name={'a': 3.0}", {"a": 3}), ("either=3.0", 3.0), ("rate=3.0", 3.0), ("rate=3", 3),
    ("anything=3.0", 3.0), ("plain=3.0", 3.0), ("plain=[3.0]", [3.0]), ("many=2.5", 2.5)])
def test_a_whole_float_is_converted_by_the_annotation_of_its_parameter(parse, binding, value):
  parse(f"typed_parts.run.{binding}")
  found = gin.get_configurable(sys.modules["typed_parts"].run)()[binding.partition("=")[0]]
  assert repr(found) == repr(value)


def test_a_record_is_converted_by_its_fields(parse, tmp_path):
  with open(tmp_path / "typed.gin", "a") as file:
    file.write("typed_parts.run.plain = @typed_parts.Fields()\n")
  parse("typed_parts.Fields.width=8.0", "typed_parts.Fields.rate=8.0")
  found = gin.get_configurable(sys.modules["typed_parts"].run)()
  assert repr(found["plain"]) == "Fields(width=8, rate=8.0)"


def test_a_macro_is_converted_where_a_whole_number_is_wanted(parse, tmp_path):
  whole = parse("SIZE=1e1")
  assert whole.macros["SIZE"].text == "SIZE" and "SIZE = 10\n" in gin_parse.config_text()
  run = sys.modules["typed_parts"].run
  assert repr(gin.get_configurable(run)()["anything"].size) == "10"
  path = tmp_path / "config.gin"
  path.write_text(gin_parse.config_text())
  parse("SIZE=10")
  assert path.read_text() == gin_parse.config_text()
  # An unannotated parameter keeps the float of the same macro; the annotated one does not.
  parse("SIZE=1e1", "typed_parts.run.plain=%SIZE")
  found = gin.get_configurable(run)()
  assert (repr(found["plain"]), repr(found["anything"].size)) == ("10.0", "10")


def test_a_run_is_resumed_with_either_number(parse):
  for first, second in ((("plain=3.0",), ("plain=3",)), (("count=1e1",), ("count=10",)),
                        (("plain=[1, {'a': 3}]",), ("plain=[1, {'a': 3.0}]",)),
                        (("plain=%SIZE", "SIZE=3.0"), ("plain=%SIZE", "SIZE=3"))):
    for one, other in ((first, second), (second, first)):
      parse(*(b if b.startswith("SIZE") else f"typed_parts.run.{b}" for b in one))
      text = gin_parse.config_text()
      parse(*(b if b.startswith("SIZE") else f"typed_parts.run.{b}" for b in other))
      assert gin_parse.are_same(text, gin_parse.config_text())
  assert gin_parse.are_same("# a run\nx = 3\n", "# a run\nx = 3.0\n")
  for text in ("# a run\nx = 3.5\n", "# other\nx = 3\n", "# a run\nx = '3'\n", "# a run\ny = 3\n"):
    assert not gin_parse.are_same("# a run\nx = 3\n", text)
  assert not gin_parse.are_same("x = True\n", "x = 1\n")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Bound values of a wrong type are refused, and all others pass."""

from __future__ import annotations

import sys

import pytest

from suite.configs import gin_files
from suite.configs import gin_parse

MODULE = """
from __future__ import annotations
from typing import Any, Optional, Sequence, Union

def run(count: int = 1, rate: float = 0.1, name: str = "", flag: bool = False,
        maybe: Optional[int] = None, none: int = None, many: Union[int, Sequence[int]] = 1,
        anything: Any = 1, plain=1, make: int = 1):
  pass

class Part:
  def __init__(self, size: int):
    pass
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
    "make=@typed_parts.Part()", "count=%SIZE",
])
def test_what_may_fit_passes(parse, binding):
  parse(f"typed_parts.run.{binding}")

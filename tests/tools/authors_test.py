# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The way to the authors' code and back, with a stand-in for their repository."""

from __future__ import annotations

import sys

import numpy as np
import pytest

_SCRIPT = """
import pandas
from utils import seed_everything
def dynamic_programming_threshold(rows):
  print("a line that is dropped")
  return rows.sum(axis=1) + 1
"""


@pytest.fixture(name="authors", scope="module")
def _authors(load_tool):
  return load_tool("authors")


@pytest.fixture(name="code")
def _code(tmp_path):
  (tmp_path / "src").mkdir()
  (tmp_path / "src" / "sort_and_search.py").write_text(_SCRIPT, encoding="utf-8")
  return tmp_path


def test_arrays_go_to_their_code_and_come_back(authors, code):
  there = authors.Authors(code, sys.executable)
  found = there.ask("public_lifelong_search", {"answers": np.eye(3, dtype=np.int8)}, what="cuts")
  assert found["index"].tolist() == [2, 2, 2]
  assert there.versions["numpy"] == np.__version__
  assert there.revision() == "unknown"


def test_what_fails_there_is_told_here(authors, code):
  with pytest.raises(SystemExit, match="(?s)KeyError.*Give --python an environment"):
    authors.Authors(code, sys.executable).ask("public_lifelong_search", {}, what="cuts")


def test_stand_ins_replace_what_is_missing_and_vanish(load_tool):
  public_code = load_tool("public_code")
  with public_code.stand_ins("no_such_package", "no_such_package.part", "json"):
    import no_such_package
    from no_such_package import part
    from no_such_package.part import Base
    assert "json" in sys.modules and hasattr(sys.modules["json"], "loads")

    class Derived(Base):
      annotated: no_such_package.data.Set = part.make(1, two=2)

    assert isinstance(Derived("anything"), Base)
  assert not any(name.startswith("no_such_package") for name in sys.modules)
  with pytest.raises(ImportError):
    import no_such_package

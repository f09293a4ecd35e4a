# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import numpy as np
import pytest


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("nevis_parity")


class _Agreeing:
  """A reference whose splits are ours, but for the last example of the last set."""

  def __init__(self, tool):
    self._tool = tool

  def ask(self, program, arrays, *, what, sizes):
    assert program == "public_nevis" and what == "draws"
    found = {f"{rule}_{size}": np.array(draw.assign(size), "U8")
             for rule, draw in self._tool.RULES.items() for size in sizes}
    found[f"pooled_{sizes[-1]}"][-1] = "elsewhere"
    return found


def test_examples_in_another_part_are_counted(tool, monkeypatch):
  monkeypatch.setattr(tool, "SIZES", (3, 50))
  rows = tool._draw_rows(_Agreeing(tool))
  assert [row.difference for row in rows] == [1.0, 0.0, 0.0]
  assert [row.verdict for row in rows] == ["DIFFERS", "equal", "equal"]


def test_names_of_the_reference_are_ours(tool):
  assert [tool.canonical(name) for name in ("voc/2007", "emnist/balanced", "pascal_voc2005")] == [
      "voc2007", "emnist_balanced", "pascal_voc2005"]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The bench of Sort & Search compares two that agree, and prints what it measured."""

from __future__ import annotations

import numpy as np
import pytest

SIZE = 5003  # No multiple of eight.


@pytest.fixture(name="tool", scope="module")
def _tool(load_tool):
  return load_tool("bench_lifelong")


@pytest.fixture(name="rows", scope="module")
def _rows(tool):
  return tool.answers_in_bits(SIZE)


def test_models_are_bits_of_different_ability(tool, rows):
  assert rows.shape == (tool.MODELS, 626) and not (rows[:, -1] & 31).any()  # Five bits of padding.
  answers = np.unpackbits(rows, axis=1, count=SIZE)
  assert np.ptp(answers.mean(axis=1)) > 0.3
  assert np.corrcoef(answers[:50].sum(axis=0), answers[50:].sum(axis=0))[0, 1] > 0.8


def test_both_have_one_order_and_cuts_of_one_error(tool, rows):
  both = tool.Suite(rows, SIZE), tool.Numpy(rows, SIZE)
  asked, errors = np.arange(SIZE), []
  truth = np.unpackbits(rows[0], count=SIZE)
  for one in both:
    one.sort()
    one.prepare(asked)
    assert 0 <= one.search() <= SIZE
    errors.append(np.mean((one.predict() > 0.5) != truth))
    one.add_model()
  np.testing.assert_array_equal(*(one.samples_from(asked) for one in both))
  # They ask other ranks of the same order, and the suite keeps its 1,024 answers, a fifth of all.
  assert errors[0] < errors[1] < 0.45
  assert errors[0] / (1 - tool.BUDGET / SIZE) == pytest.approx(errors[1], abs=0.03)


def test_what_is_measured_is_printed(tool, monkeypatch, capsys):
  monkeypatch.setattr(tool, "_seconds", lambda work, times=1: (work(), 0.25)[1])
  found = tool._measured(SIZE, 2)
  assert [name for name, *_ in found] == ["suite", "numpy"]
  assert all(times == [0.25] * 4 for _, times, _ in found)
  monkeypatch.setattr(tool, "_free_memory", lambda: 1000)
  (only,) = tool._measured(SIZE, 1)
  assert only[0] == "suite" and "numpy    needs 0 GB; left out" in capsys.readouterr().out
  tool.cache_on_disk(1, 800, 6)
  said = capsys.readouterr().out
  assert "cache of 800 samples x 6 models" in said and "250" in said


def test_two_orders_that_differ_are_a_mistake(tool, monkeypatch):
  monkeypatch.setattr(tool.Numpy, "samples_from", lambda self, ranks: self._order[ranks][::-1])
  with pytest.raises(AssertionError, match="The two orders differ"):
    tool._measured(2000, 1)

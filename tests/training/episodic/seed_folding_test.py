# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs of several seeds in one process take turns, and meet where graphs compute."""

from __future__ import annotations

import types

import pytest

from suite.training.episodic import seed_folding


def _runs(*numbers):
  """Calls that want something computed after each of their numbers of updates, and what was.

  A negative number ends a call with an error.
  """
  folding, computed = seed_folding.SeedFolding(), []

  def compute(arguments):
    computed.append(arguments)
    return [f"{argument}!" for argument in arguments]

  def call(name, wanted):
    learner = types.SimpleNamespace(can_fold=True, optimizer=types.SimpleNamespace(iterations=0))
    assert seed_folding.begin("x", learner) is folding
    found = []
    for number in wanted:
      if number < 0:
        raise ArithmeticError(name)
      learner.optimizer.iterations = number
      found.append(folding.meet(learner, "update", "", f"{name}{number}", compute))
    return found

  return folding, computed, [lambda name=name, wanted=wanted: call(name, wanted)
                             for name, wanted in zip("abc", numbers)]


def test_what_lags_catches_up_alone():
  folding, computed, calls = _runs([2, 3], [0, 1, 2, 3], [2, 3])
  assert folding.run(calls)[1] == ["b0!", "b1!", "b2!", "b3!"]
  assert computed == [["b0"], ["b1"], ["a2", "b2", "c2"], ["a3", "b3", "c3"]]
  assert seed_folding.current() is None


def test_an_error_ends_its_own_run_only():
  folding, computed, calls = _runs([0, 1, 2], [0, -1], [0, 1])
  with pytest.raises(ArithmeticError, match="b"):
    folding.run(calls)
  assert computed == [["a0", "b0", "c0"], ["a1", "c1"], ["a2"]]

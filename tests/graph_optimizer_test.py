# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""TensorFlow's graph optimizer, which most tests run without, changes no result but by rounding."""

from __future__ import annotations

import matrix_runs
import pytest
import tensorflow as tf

from suite.configs import methods

FEW_UPDATES = """UPDATES = 2
cfsl.run.updates_per_event = 2
cfsl.run.test_episodes = 8"""
METHODS = {method.name: method for method in methods.load()}


def _summary(folder, name, protocol, *, optimized):
  before = tf.config.optimizer.get_experimental_options()
  tf.config.optimizer.set_experimental_options({"disable_meta_optimizer": not optimized})
  try:
    extra = FEW_UPDATES if protocol == "cfsl" else ""
    return matrix_runs.CellRun(folder, METHODS[name], protocol, extra).whole(0)
  finally:
    tf.config.optimizer.set_experimental_options(
        {"disable_meta_optimizer": before.get("disable_meta_optimizer", False)})


def _numbers(value, path=""):
  """(path, number) of all numbers of a summary, times aside."""
  if isinstance(value, dict):
    return [n for key, part in value.items() if "seconds" not in key and "date" not in key
            for n in _numbers(part, f"{path}/{key}")]
  if isinstance(value, list):
    return [n for i, part in enumerate(value) for n in _numbers(part, f"{path}/{i}")]
  return [(path, value)] if isinstance(value, (int, float)) else []


@pytest.mark.parametrize("name, protocol", [
    ("er", "clear"), ("maml_low", "cfsl")])
def test_a_run_gives_the_same_with_it_and_without(name, protocol, tmp_path):
  with_it, without = (dict(_numbers(_summary(tmp_path / str(on), name, protocol, optimized=on)))
                      for on in (True, False))
  assert with_it.keys() == without.keys() and len(with_it) > 3
  for path, number in with_it.items():
    # FLOPs and other whole numbers are exact.
    expected = number if isinstance(number, int) else pytest.approx(number, rel=1e-3, abs=0.02)
    assert without[path] == expected, path

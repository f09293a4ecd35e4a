# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is read of constructors without importing them is what Python says of them."""

from __future__ import annotations

import inspect

import pytest

from suite.configs import signatures
from suite.data.images import image_ops
from suite.learners import gradient
from suite.learners import meta_statistics
from suite.metrics import sequence_log
from suite.protocols import clear
from suite.training.episodic import inner_loop
from suite.training.memories import reservoir


@pytest.mark.parametrize("target", [
    gradient.GradientLearner, image_ops.Nevis, inner_loop.InnerLoop, reservoir.GroupBalanced,
    meta_statistics.MetaCentroids, sequence_log.Novelty, clear.run])
def test_names_and_defaults_are_those_of_the_signature(target):
  found = signatures.parameters(f"{target.__module__}.{target.__qualname__}")
  wanted = inspect.signature(target).parameters
  assert list(found) == list(wanted)
  assert [name for name, one in found.items() if one.default is None] == [
      name for name, one in wanted.items() if one.default is one.empty]


def test_types_and_meanings_are_in_words():
  found = signatures.parameters("suite.learners.gradient.GradientLearner")
  assert found["epochs"] == ("epochs", "float", "100", "passes over the data of a phase")
  assert found["learning_rate"].kind_in_words == "number or None"
  assert found["train_on"].meaning.startswith('"current", what came last;')
  assert not found["net"].is_plain and not found["net"].kind_in_words
  rule = signatures.parameters("suite.training.memories.memory.Memory")["rule"]
  assert rule.meaning == "which examples are held"  # Attributes that follow are another section.
  run = signatures.parameters("suite.protocols.incremental.run")
  assert run["scenario"].kind_in_words == "'domain', 'class', 'task'" and run["scenario"].is_plain
  scores = signatures.parameters("suite.protocols.fluid.Scores")  # Of another module.
  assert scores["head_is"].kind_in_words == "'>', '>='"
  assert signatures.parameters("numpy.zeros") == signatures.parameters("suite.nothing.at_all") == {}


@pytest.mark.parametrize("kind, meaning, unit", [
    ("int", "k, the number of examples held at most", "examples"),
    ("float", "passes over the data of a phase", "passes"),
    ("int | None", "steps between validations", "steps"),
    ("int", "linear warm-up, in epochs", "epochs"), ("float", "weight of the distance", ""),
    ("str", "images and labels", "")])
def test_a_unit_is_what_the_docstring_says_is_counted(kind, meaning, unit):
  assert signatures.Parameter("x", kind, None, meaning).unit == unit

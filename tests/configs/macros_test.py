# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A macro means the same in every shipped run: it sets arguments of one name."""

from __future__ import annotations

import collections
import functools

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import run_files

# What has several names by its nature; any other macro sets one.
SEVERAL = {
    "COUNT": {"first", "interval", "count", "threshold"},  # By update strategy.
    "DATA": {"data", "name"},  # Of sets that are divided into tasks, of a timeline.
    "IMAGE_SIZE": {"side", "size"},
    "MODE": {"mode", "protocol"},
    "VALIDATE_EVERY": {"every", "validate_every"},  # Events of CFSL, steps of a trainer.
}


@functools.cache
def _arguments() -> dict[str, set[str]]:
  """The arguments that each macro sets in any run."""
  found = collections.defaultdict(set)
  for path in run_files.shipped().values():
    for (_, name, argument), settings in gin_files.scan([path]).history.items():
      for value in (setting.value for setting in settings):
        is_macro = isinstance(value, gin_bindings.GinReference) and value.name == gin_bindings.MACRO
        if is_macro and name != gin_bindings.MACRO:
          found[value.scope].add(argument)
  return found


def test_a_macro_sets_arguments_of_one_name():
  several = {macro: names for macro, names in _arguments().items() if len(names) > 1}
  assert several == SEVERAL


@pytest.mark.parametrize("macro, argument", [
    ("RATE", "learning_rate"), ("EPOCHS", "epochs"), ("BATCH_SIZE", "batch_size"),
    ("WEIGHT_DECAY", "weight_decay"), ("META_DECAY", "weight_decay"),
    ("MEMORY", "memory_size"), ("TRANSFORM", "transform"),
    ("BACKBONE", "backbone"), ("STEPS", "steps"), ("UPDATES", "updates"), ("WEIGHTS", "weights")])
def test_the_macros_of_learners_set_what_they_are_called(macro, argument):
  assert _arguments()[macro] == {argument}


@pytest.mark.parametrize("run, macro", [
    ("quickstart", "RATE"), ("quickstart", "EPOCHS"), ("digits/fluid", "EPOCHS"),
    ("fluid/tiny_imagenet_baselines", "MAML_RATE"), ("cfsl/omniglot_protonet", "RATE")])
def test_a_macro_that_no_learner_of_the_run_reads_is_refused(run, macro):
  with pytest.raises(gin_files.ConfigError, match=f"{macro}"):
    gin_files.scan([run_files.shipped()[run]], [f"{macro}=1"])

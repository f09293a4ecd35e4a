# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Methods by their names: their settings, what a binding of each names, and what is refused."""

from __future__ import annotations

import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import methods
from suite.configs import run_settings

METHODS = {method.name: method for method in methods.load()}


def of(name, protocol=""):
  return methods.settings_of(METHODS[name], protocol)


def test_settings_are_those_of_the_learner_and_of_its_parts():
  found = of("der_plus_plus", "clear")
  assert {name: found[name].value for name in (
      "memory_size", "replay_batch", "alpha", "beta", "epochs", "momentum")} == {
          "memory_size": 1000, "replay_batch": 32, "alpha": 0.2, "beta": 0.5, "epochs": 10,
          "momentum": 0.9}
  assert found["beta"].binds == "DERPP_BETA"
  assert found["memory_size"].binds == "MEMORY" and found["batch_size"].binds == "INCOMING_BATCH"
  assert found["memory_size"].kind == "whole number"
  assert "size" not in found and "image_shape" not in found  # Of the data and the network.


def test_a_protocols_shelf_has_its_values_and_a_second_name_its_part():
  found = of("er", "fluid")
  assert (found["memory_size"].value, found["epochs"].value) == (7600, 4)
  assert found["base_epochs"].value == 20 and found["base_epochs"].parameter == (
      "composition.Base.epochs")


@pytest.mark.parametrize("protocol", methods.PROTOCOLS)
def test_every_method_has_settings_and_is_found_with_all_that_it_needs(protocol):
  """Nothing that it reads stays required, but what the run's data must say; each setting is read.

  `suite show` lists these settings, and `suite.learner` and --set bind them.
  """
  for method in methods.load():
    if protocol not in method.protocols:
      continue
    settings = methods.build_of(method, protocol).settings
    assert settings.keys() == methods.settings_of(method, protocol).keys() != set(), method.name
    paths = [gin_files.find_file(name, "") for name in methods.own_shelves(
        method, protocol)]
    missing = ["NUM_TRAIN_CLASSES=6"] * (method.name == "pretrain_tune")
    given = [f"{one.binds}={one.value!r}" for one in settings.values()]
    found = gin_files.scan(paths, [methods.learners([method]), *missing, *given],
                           protocol=protocol)
    assert found.history["", "suite.experiment.run", "learners"]
    assert not gin_bindings.unread(found.history), method.name


@pytest.mark.parametrize("names, protocol, message", [
    (["der_pluss"], "clear", "no method 'der_pluss'. Nearest: der_plus_plus, .*--methods clear"),
    (["er", "er"], "", "'er' is given twice"),
    (["er"], "nevis", "'er' does not run under nevis: head PerTask, .* It runs under clear, flui")])
def test_names_are_refused(names, protocol, message):
  with pytest.raises(gin_files.ConfigError, match=message):
    methods.named(names, protocol)


def test_a_run_takes_methods_and_their_settings():
  file = run_settings.find("digits/clear", methods=["er", "der_plus_plus"],
                           params=["memory_size=7", "beta=0.1", "digits.buckets.num_buckets=2"])
  assert file.folder == "digits/clear-er-der_plus_plus"
  assert file.params == ("MEMORY=7", "DERPP_BETA=0.1", "digits.buckets.num_buckets=2")
  found = gin_files.scan(file.paths(), file.bindings())
  assert found.macros["MEMORY"].value == 7
  assert found.macros["BACKBONE"].value == "@conv4.conv4"  # The run's.
  assert found.macros["EPOCHS"].value == 10  # Of gin/defaults: the run has none.


@pytest.mark.parametrize("run, methods_, params, message", [
    ("digits/clear_table", ["er"], ["memory=7"], "setting 'memory', and no .*Nearest: memory_size"),
    ("clear/table1", ["er"], [], "clear/table1 is a table, whose rows name their methods"),
    ("quickstart", ["slda", "er"], [], "'er' does not run under nevis")])
def test_a_run_refuses(run, methods_, params, message):
  with pytest.raises(gin_files.ConfigError, match=message):
    run_settings.find(run, methods=methods_, params=params)


def test_what_the_run_sets_goes_before_the_defaults():
  file = run_settings.find("digits/clear_table", methods=["er"])
  found = gin_files.scan(file.paths(), file.bindings())
  assert (found.macros["EPOCHS"].value, found.macros["MEMORY"].value) == (12, 250)
  assert found.macros["ER_RULE"].value == "@er/reservoir.GroupBalanced()"  # Of clear.gin.

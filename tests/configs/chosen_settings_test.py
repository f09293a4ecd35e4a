# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`--settings best.json`: what a run takes from it, and what is refused in one line."""

from __future__ import annotations

import pytest

from suite.configs import gin_files
from suite.configs import run_settings
from suite.reporting import run_dir

VALUES = {"method": "der_plus_plus", "settings": {"alpha": 0.3, "memory_size": 70},
          "selected_on": "two tasks", "trials": [{}, {}],
          "cost": {"flops": 9, "macs": 4, "examples": 3, "steps": 2}}


@pytest.fixture(name="path")
def _path(tmp_path):
  path = tmp_path / "best.json"
  path.write_text(run_dir.sealed(VALUES))
  return str(path)


def find(path, methods=("der++",), params=()):
  return run_settings.find("digits/incremental", methods=methods, params=params,
                           method_settings=str(path))


def test_a_run_has_the_settings_their_cost_and_the_data(path):
  file = find(path, params=["epochs=3"])
  assert file.folder == "digits/incremental-der_plus_plus-best"
  found = gin_files.scan(file.paths(), file.bindings())
  assert [found.macros[name].value for name in ("DERPP_ALPHA", "MEMORY", "EPOCHS")] == [0.3, 70, 3]
  assert gin_files.value_in(found.history, gin_files.SELECTED) == {
      "on": "two tasks", "trials": 2, "flops": 9, "macs": 4, "examples": 3, "steps": 2}
  assert file.changes(found) == {
      "der_plus_plus": "selected on two tasks, epochs=3, alpha=0.3, memory_size=70"}


@pytest.mark.parametrize("given, message", [
    ({"methods": ["er"]}, "has settings of der_plus_plus, and the methods of this run are er: t"),
    ({"methods": ["der++", "er"]}, "are der_plus_plus, er: take --methods der_plus_plus alone"),
    ({"methods": []}, "the run has its own learners: add --methods der_plus_plus"),
    ({"params": ["alpha=0.1"]}, "has alpha=0.3, and --set alpha=0.1 another value: .* Leave one")])
def test_another_method_and_another_value_are_refused(path, given, message):
  with pytest.raises(gin_files.ConfigError, match=message) as caught:
    find(path, **given)
  assert "\n" not in str(caught.value)


@pytest.mark.parametrize("change, message", [
    (lambda text: text[:80], "is damaged, or was edited: .*Give the command.*values of your own"),
    (lambda text: text.replace("0.3", "0.4"), "its digest differs from its values"),
    (lambda text: run_dir.sealed({"a": 1}), "is no choice of a search: it has no method. --settin"),
    (lambda text: run_dir.sealed({**VALUES, "cost": {"flops": "9"}}), "has no flops")])
def test_a_damaged_file_is_refused(path, change, message):
  with open(path, encoding="utf-8") as file:
    text = change(file.read())
  with open(path, "w", encoding="utf-8") as file:
    file.write(text)
  with pytest.raises(gin_files.ConfigError, match=message) as caught:
    find(path)
  assert "\n" not in str(caught.value)


def test_a_file_that_is_not_there_and_a_name_that_is_none(tmp_path):
  with pytest.raises(gin_files.ConfigError, match="There is no file .* takes the best.json of"):
    find(tmp_path / "other.json")
  with pytest.raises(gin_files.ConfigError, match="no settings 'fast'; allowed are cpu, or n"):
    find("fast")

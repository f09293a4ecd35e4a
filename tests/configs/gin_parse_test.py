# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Gin's complaints come out as got, allowed, next step; what was bound reaches the function."""

from __future__ import annotations

import importlib
import logging

import gin
import pytest

from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_parse

TOY = """
def run(learner, steps=1, *, seed=0, workdir=None):
  return learner, steps, seed, workdir

def fit(epochs):
  return "fit", epochs

class Learner:
  def __init__(self, rate=0.1):
    self.rate = rate
"""
HEADER = "from __gin__ import dynamic_registration\nimport toybox.toy\nfrom toybox import toy\n"


@pytest.fixture
def toy(tmp_path, monkeypatch):
  """A library that gin files can name, and the folder they stand in as the root."""
  (tmp_path / "toybox").mkdir()
  (tmp_path / "toybox" / "__init__.py").write_text("")
  (tmp_path / "toybox" / "toy.py").write_text(TOY)
  (tmp_path / "gin").mkdir()
  monkeypatch.setattr(gin_files, "root", lambda: tmp_path)
  monkeypatch.syspath_prepend(str(tmp_path))
  for name in ("toybox", "toybox.toy"):
    monkeypatch.delitem(importlib.sys.modules, name, raising=False)
  yield importlib.import_module("toybox.toy")
  for name in ("toybox", "toybox.toy"):
    importlib.sys.modules.pop(name, None)


@pytest.fixture
def parse(tmp_path):
  def parse_text(text, bindings=(), header=HEADER):
    run = tmp_path / "run.gin"
    run.write_text(header + text)
    return gin_parse.parse([run], bindings)

  return parse_text


def test_bindings_macros_and_references_reach_the_function(toy, parse):
  parse("toy.run.learner = @toy.fit()\ntoy.fit.epochs = %EPOCHS\nEPOCHS = 2\n",
        ["EPOCHS=5", "toy.run.seed=7"])
  assert gin_parse.configured(toy.run, {"workdir": "w"})() == (("fit", 5), 1, 7, "w")


def test_a_second_parse_starts_from_nothing(toy, parse):
  parse("toy.run.learner = 1\ntoy.run.seed = 3\n")
  parse("toy.run.learner = 2\n")
  assert gin_parse.configured(toy.run, {})() == (2, 1, 0, None)


def test_includes_are_found_from_any_folder_without_a_log_line(
    toy, parse, tmp_path, monkeypatch, caplog):
  (tmp_path / "gin" / "fit.gin").write_text(HEADER + "toy.run.learner = 'included'\n")
  (tmp_path / "elsewhere").mkdir()
  monkeypatch.chdir(tmp_path / "elsewhere")
  with caplog.at_level(logging.INFO):
    parse("include 'gin/fit.gin'\n")
  assert gin_parse.configured(toy.run, {})()[0] == "included"
  assert "Path not found" not in caplog.text


@pytest.mark.parametrize("text, message", [
    ("toy.run.sed = 1\n", r"line 4: toy\.run has no parameter 'sed'; it has learner, seed, steps, "
                          r"workdir\. Nearest: seed, steps\."),
    ("toy.rum.seed = 1\n", r"line 4: toy has no 'rum'\. Nearest: run\."),
    ("toi.run.seed = 1\n", r"line 4: no import gives the name 'toi'\. Nearest: toy"),
    ("toy.run.learner = @toy.Lerner\n", r"toy has no 'Lerner'\. Nearest: Learner\."),
    ("toy.Learner.rat = 1\n", r"toy\.Learner has no parameter 'rat'; it has rate\."),
    ("from toybox import toys\n", r"line 4: there is no module 'toybox\.toys'\. Nearest: toy\."),
    ("import toybax\n", r"there is no module 'toybax'"),
])
def test_mistakes_say_got_allowed_and_where(toy, parse, text, message):
  with pytest.raises(gin_files.ConfigError, match=message):
    parse(text)


def test_a_mistake_on_the_command_line_names_the_flag(toy, parse):
  message = r"In --gin_param 'toy\.run\.sed=3': toy\.run has no parameter 'sed'"
  with pytest.raises(gin_files.ConfigError, match=message):
    parse("toy.run.learner = 1\n", ["toy.run.sed=3"])


def test_an_error_inside_an_imported_module_is_not_a_config_error(toy, parse, tmp_path):
  (tmp_path / "toybox" / "broken.py").write_text("raise ValueError('inside')\n")
  with pytest.raises(ValueError, match="inside") as error:
    parse("from toybox import broken\n")
  assert not isinstance(error.value, gin_files.ConfigError)


def test_what_a_flag_sets_gin_may_not(toy, parse):
  parse("toy.run.learner = 1\ntoy.run.workdir = 'there'\n")
  with pytest.raises(gin_files.ConfigError, match=r"sets workdir of toybox\.toy\.run"):
    gin_parse.configured(toy.run, {"workdir": "here"})


def test_what_a_run_file_leaves_out_is_named(toy, parse):
  parse("toy.run.seed = 1\n")
  with pytest.raises(gin_files.ConfigError, match=r"toybox\.toy\.run needs learner, which"):
    gin_parse.configured(toy.run, {})
  parse("toy.fit.epochs = 1\n")
  gin.config._INVERSE_REGISTRY.pop(toy.run)  # As in a fresh process: never named.
  with pytest.raises(gin_files.ConfigError, match=r"sets nothing of toybox\.toy\.run"):
    gin_parse.configured(toy.run, {})


def test_the_operative_text_of_a_resumed_run_keeps_what_was_used_before(toy, parse, tmp_path):
  text = "toy.run.learner = @toy.fit()\ntoy.fit.epochs = %EPOCHS\nEPOCHS = (" + "100, " * 40 + ")\n"
  parse(text)
  gin_parse.configured(toy.run, {"workdir": "w"})()
  whole = gin_parse.operative_text()
  assert "toy.fit.epochs = %EPOCHS" in whole and "EPOCHS = \\\n    (100," in whole
  assert gin_parse.operative_text(whole) == whole
  parse(text)  # A new process, in which nothing is left to do.
  assert "epochs" not in gin_parse.operative_text()
  assert gin_parse.operative_text(whole) == whole
  parse(text, ["toy.Learner.rate=0.2"])
  gin.get_configurable(toy.Learner)()
  merged = gin_parse.operative_text(whole)
  assert "toy.fit.epochs = %EPOCHS" in merged and "toy.Learner.rate = 0.2" in merged
  (tmp_path / "again.gin").write_text(merged)
  gin_parse.parse([tmp_path / "again.gin"])
  assert gin_parse.configured(toy.run, {"workdir": "w"})()[0] == ("fit", (100,) * 40)


def test_the_operative_text_can_be_run_again(toy, parse, tmp_path):
  parse("toy.run.learner = @toy.fit()\ntoy.fit.epochs = %EPOCHS\nEPOCHS = 2\n", ["toy.run.seed=7"])
  result = gin_parse.configured(toy.run, {"workdir": "w"})()
  for text in (gin_parse.config_text(), gin_parse.operative_text()):
    assert "workdir" not in text
    again = tmp_path / "again.gin"
    again.write_text(text)
    gin_parse.parse([again])
    assert gin_parse.configured(toy.run, {"workdir": "w"})() == result


def test_a_binding_that_the_code_replaces_or_never_calls_is_reported_at_the_end(
    toy, parse, monkeypatch):
  monkeypatch.setattr(gin_bindings, "ROOTS", ("toybox.toy.run",))
  found = parse("toy.run.learner = @toy.fit\ntoy.run.steps = @toy.Learner\n",
                ["toy.fit.epochs=3", "toy.Learner.rate=0.2"])
  fit, learner, *_ = gin_parse.configured(toy.run, {})()
  lines = [f"{name}  (set by the command line)" for name in ("toy.fit.epochs", "toy.Learner.rate")]
  assert gin_parse.unused_bindings(found, gin_parse.operative_text()) == lines
  assert (fit(epochs=1), learner().rate) == (("fit", 1), 0.2)
  assert gin_parse.unused_bindings(found, gin_parse.operative_text()) == lines[:1]
  assert fit() == ("fit", 3)
  assert gin_parse.unused_bindings(found, gin_parse.operative_text()) == []

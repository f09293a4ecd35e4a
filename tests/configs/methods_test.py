# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import pytest

from suite.configs import gin_files
from suite.configs import methods


def by_name():
  return {method.name: method for method in methods.load()}


def test_a_method_has_one_macro_and_runs_where_it_is_not_refused():
  er = by_name()["er"]
  assert (er.file, er.macro) == ("gradient", "ER")
  assert er.refusals["nevis"].startswith("head PerTask")
  assert er.protocols == ["clear", "fluid", "cfsl"]


def test_names_are_unique_and_every_method_runs_somewhere():
  assert len(by_name()) == len(methods.load()) >= 30
  assert all(method.protocols for method in methods.load())


def test_methods_for_episodes_alone_do_not_count():
  sca, ncm = by_name()["sca"], by_name()["ncm"]
  assert methods.filled([sca, ncm]) == (3, 3)


def test_case_punctuation_and_aliases_of_names():
  for name, written in {
      "er": ("ER", "experience_replay", "Experience-Replay"), "agem": ("A-GEM", "a_gem"),
      "der": ("DER",), "der_plus_plus": ("DER++", "der++", "derpp", "DERPP", "der-plus-plus"),
      "er_ace": ("ER-ACE", "erace"), "cwr_star": ("CWR*",), "icarl": ("iCaRL",),
      "simple_cil": ("SimpleCIL",), "maml_plus_plus": ("MAML++",)}.items():
    assert {methods.find(one).name for one in written} == {name}
    assert [one.name for one in methods.named(written[:1])] == [name]
  assert methods.find("no such method") is None and methods.find("") is None
  with pytest.raises(gin_files.ConfigError, match="method 'er' is given twice"):
    methods.named(["er", "ER"])
  with pytest.raises(gin_files.ConfigError, match="no method 'derrr'. Nearest: der"):
    methods.named(["derrr"])
  # No two methods share a name, and each title that is a name alone finds its method.
  plain = [methods._plain(name) for one in methods.load() for name in (one.name, *one.aliases)]
  assert len(plain) == len(set(plain)) and all(plain)


def test_lr_is_the_learning_rate():
  er = methods.find("er")
  found = methods._scanned(tuple(methods.shelves([er])), "")
  assert methods.resolved(found, [er], ["lr=0.3"]) == methods.resolved(
      found, [er], ["learning_rate=0.3"])

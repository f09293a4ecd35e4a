# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
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

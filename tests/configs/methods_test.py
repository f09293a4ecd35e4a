# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from suite.configs import methods


def by_name():
  return {method.name: method for method in methods.load()}


def test_a_cell_is_the_rows_or_another_or_a_refusal():
  cells = by_name()["er"].cells
  assert cells["clear"] == methods.Cell("gradient", "ER")
  assert cells["cfsl"] == cells["clear"]
  assert cells["nevis"].refusal.startswith("head PerTask")
  assert by_name()["er"].protocols == ["clear", "fluid", "cfsl"]


def test_names_are_unique_and_every_method_runs_somewhere():
  assert len(by_name()) == len(methods.load()) >= 30
  assert all(method.protocols for method in methods.load())


def test_methods_for_episodes_alone_do_not_count():
  sca, ncm = by_name()["sca"], by_name()["ncm"]
  assert methods.filled([sca, ncm]) == (3, 3)

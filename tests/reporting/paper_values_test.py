# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The papers' values: as printed, with their source, and in agreement with themselves."""

from __future__ import annotations

import re

import numpy as np
import pytest

from suite.data.episodes import episode_conventions
from suite.data.episodes import task_types
from suite.metrics import matrix
from suite.reporting import paper_values

CLEAR = ("in_domain", "next_domain", "accuracy", "backward_transfer", "forward_transfer")


def test_files_are_found_by_name():
  assert paper_values.names() == ["cfsl_table2", "clear_figure6", "clear_table1", "clear_table2"]


@pytest.mark.parametrize("name", ["cfsl_table2", "clear_table1", "clear_table2"])
def test_scores_have_a_source_and_are_percent(name):
  scores = paper_values.scores(name)
  assert re.search(r"et al\. \(20\d\d\), Table \d", scores.notes[0])
  assert scores.values
  for value in scores.values.values():
    assert 0 < float(value.value) <= 100 and (not value.std or float(value.std) < 5)


def test_the_numbers_of_cfsl():
  values = paper_values.scores("cfsl_table2").values
  assert str(values["omniglot_protonet", "FSL", "accuracy"]) == "98.52 ±0.04"
  assert str(values["omniglot_protonet", "C 3", "accuracy"]) == "45.44 ±0.19"
  assert str(values["slimagenet_maml_high", "A 10", "accuracy"]) == "75.6 ±0.10"
  assert str(values["omniglot_sca", "D 8", "accuracy"]) == "49.51"
  assert ("omniglot_maml_low", "D 4", "accuracy") not in values  # Nobody has told us.
  conventions = {column[:1]: v.convention for (_, column, _), v in values.items()}
  assert conventions == {"F": "paper_feb", "A": "paper_feb", "B": "paper_feb", "C": "paper_feb",
                         "D": "paper_apr"}
  assert set(conventions.values()) <= set(episode_conventions.CONVENTIONS)
  for column in {column for _, column, _ in values}:
    task_type, *length = column.split()
    task_types.named(task_type, *map(int, length))


def test_the_numbers_of_clear():
  values = paper_values.scores("clear_table1").values
  assert [values["linear er", "iid", m].value for m in CLEAR] == [
      "91.7", "90.9", "92.2", "92.3", "88.9"]
  assert [values["resnet18 gdumb", "streaming", m].value for m in CLEAR if m in (
      "next_domain", "forward_transfer")] == ["67.4", "64.9"]
  assert len(values) == 2 * 9 * (5 + 2)
  # Table 2 has the biased reservoir of Table 1 as its last row.
  second = paper_values.scores("clear_table2").values
  assert len(second) == 8 * (5 + 2)
  assert all(second["dynamic 1", c, m] == value for (row, c, m), value in values.items()
             if row == "linear ft_biased")


def test_figure_6_is_the_row_of_table_1_over_five_seeds():
  notes, lines = paper_values.matrix("clear_figure6")
  scores = matrix.summary(np.array(lines, float))
  printed = paper_values.scores("clear_table1").values
  assert "Figure 6" in notes[0]
  # One matrix against the mean of five: a spread of up to 0.3 is printed, the rest is rounding.
  for measure in CLEAR:
    value = float(printed["linear ft_biased", "iid", measure].value)
    assert scores[measure] == pytest.approx(value, abs=0.4)

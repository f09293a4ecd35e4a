# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The papers' values: as printed, with their source, and in agreement with themselves."""

from __future__ import annotations

import pathlib
import re

import numpy as np
import pytest

from suite.data.episodes import episode_conventions
from suite.data.episodes import task_types
from suite.metrics import matrix
from suite.reporting import paper_values

CLEAR = ("in_domain", "next_domain", "accuracy", "backward_transfer", "forward_transfer")


def test_files_are_found_by_name():
  assert paper_values.names() == [
      "cfsl_table2", "clear_challenge_clear10", "clear_challenge_clear100", "clear_figure6",
      "clear_table1", "clear_table2", "fluid_table11", "fluid_table12", "fluid_table13",
      "fluid_table14", "fluid_table15", "fluid_table3_7", "fluid_table5", "fluid_table8",
      "fluid_table9", "lifelong_claims", "nevis_appendix_n", "nevis_forward_transfer",
      "nevis_landmarks", "nevis_orders", "nevis_table5"]


@pytest.mark.parametrize("name", ["cfsl_table2", "clear_table1", "clear_table2"])
def test_scores_have_a_source_and_are_percent(name):
  scores = paper_values.scores(name)
  assert re.search(r"et al\. \(20\d\d\), Table \d", scores.notes[0])
  assert scores.values
  for value in scores.values.values():
    assert 0 < float(value.value) <= 100 and (not value.std or float(value.std) < 5)


@pytest.mark.parametrize("name, rows, values", [
    ("fluid_table3_7", 16, 259), ("fluid_table5", 5, 30), ("fluid_table8", 8, 132),
    ("fluid_table9", 4, 24), ("fluid_table11", 5, 18), ("fluid_table12", 5, 30),
    ("fluid_table13", 7, 42), ("fluid_table14", 10, 60), ("fluid_table15", 7, 49)])
def test_fluids_tables_are_whole_percent_and_agree_with_their_sections(name, rows, values):
  scores = paper_values.scores(name)
  assert re.search(r"Wallingford et al\. \(2023\), Table", scores.notes[0])
  assert len({row for row, *_ in scores.values}) == rows and len(scores.values) == values
  for (*_, measure), value in scores.values.items():
    if measure != "gmacs_x1e6":
      assert 0 < float(value.value) <= 100


def test_fluids_sections_of_sequence_5_average_to_the_mean_per_class():
  # 357 and 393 novel classes, 108 and 142 of the pretraining's: facts of the published labels.
  counts = {"novel_head": 357, "novel_tail": 393, "pretrain_head": 108, "pretrain_tail": 142}
  scores = paper_values.scores("fluid_table3_7").values
  for row in ("ncm", "head_only", "finetune", "imprinting", "ewc", "der"):
    parts = sum(num * float(scores[row, "resnet18 supervised", f"closed.{name}"].value)
                for name, num in counts.items())
    printed = float(scores[row, "resnet18 supervised", "closed.mean_per_class"].value)
    assert abs(parts / 1000 - printed) < 0.5, row


# Table 2 in the paper's own layout: a second copy of its numbers.
TABLE_2_COLUMNS = (
    "FSL", "B 3", "C 3", "A 3", "D 4", "B 5", "C 5", "A 5", "D 8", "B 10", "C 10", "A 10")
TABLE_2 = {
    "omniglot_init_tune": """
        43.05±0.01 10.87±0.01 27.51±0.01 44.76±0.01 8.74±0.01 6.15±0.01 24.52±0.01 45.30±0.01
        3.93±0.01 3.12±0.01 22.16±0.01 45.64±0.01""",
    "omniglot_pretrain_tune": """
        33.07±2.04 9.97±0.14 26.75±0.27 32.44±0.29 7.91±0.15 6.02±0.02 24.51±0.06 31.89±1.10
        3.86±0.06 3.13±0.03 22.30±0.06 33.17±0.39""",
    "omniglot_protonet": """
        98.52±0.04 95.30±0.12 45.44±0.19 98.73±0.02 48.98±0.03 91.52±0.20 35.10±0.09 98.73±0.12
        48.44±0.03 83.72±0.19 27.39±0.17 98.65±0.14""",
    "omniglot_maml_low": """
        99.46±0.03 38.18±0.14 46.12±0.15 99.38±0.07 28.87±0.07 22.69±0.07 35.76±0.14 99.41±0.04
        14.29±0.05 11.30±0.02 27.82±0.03 99.44±0.01""",
    "omniglot_maml_high": """
        99.54±0.03 96.14±0.02 96.77±0.08 99.73±0.04 49.44±0.02 92.70±0.03 93.47±0.05 99.80±0.01
        49.00±0.04 85.56±0.10 86.38±0.14 99.86±0.01""",
    "omniglot_sca": """
        99.78±0.01 96.84±0.04 97.38±0.02 99.82±0.01 49.71±0.01 93.81±0.02 94.08±0.45 99.88±0.03
        49.51±0.01 86.07±0.03 87.29±0.19 99.88±0.01""",
    "slimagenet_init_tune": """
        25.1±0.01 8.4±0.01 21.3±0.01 24.4±0.01 6.1±0.01 4.5±0.01 20.8±0.01 24.7±0.01
        3.0±0.01 2.4±0.01 20.5±0.01 24.9±0.01""",
    "slimagenet_pretrain_tune": """
        24.5±0.60 8.7±0.03 21.9±0.11 24.2±0.17 6.4±0.01 4.9±0.02 21.2±0.05 24.5±0.23
        3.3±0.03 2.7±0.03 20.7±0.10 24.4±0.20""",
    "slimagenet_protonet": """
        41.8±0.16 24.1±0.05 25.9±0.23 43.1±0.24 15.1±0.03 18.2±0.14 22.7±0.09 43.3±0.03
        10.4±0.12 12.3±0.09 21.0±0.06 43.7±0.15""",
    "slimagenet_maml_low": """
        42.0±0.48 13.6±0.04 25.5±0.23 42.7±0.10 10.2±0.11 7.9±0.13 22.6±0.03 43.0±0.12
        5.0±0.08 3.6±0.14 20.8±0.09 43.0±0.42""",
    "slimagenet_maml_high": """
        45.3±0.14 27.2±0.25 33.8±0.16 61.2±0.36 16.8±0.18 21.0±0.21 30.4±0.51 68.6±0.47
        12.3±0.11 14.4±0.12 25.7±0.10 75.6±0.10""",
    "slimagenet_sca": """
        46.6±0.16 27.9±0.16 34.0±0.23 65.3±0.15 17.3±0.07 22.0±0.18 30.1±0.36 72.0±0.36
        12.7±0.08 14.6±0.07 26.3±0.13 77.4±0.06""",
}


def test_all_144_cells_of_cfsl_are_as_printed():
  values = paper_values.scores("cfsl_table2").values
  printed = {(row, column, "accuracy"): cell for row, cells in TABLE_2.items()
             for column, cell in zip(TABLE_2_COLUMNS, cells.split())}
  assert len(printed) == 2 * 6 * 12
  assert {key: f"{value.value}±{value.std}" for key, value in values.items()} == printed


def test_the_best_of_each_cfsl_column_is_as_the_paper_says():
  # Section 5: high-end MAML++ and SCA "produce the best performance across all settings".
  values = paper_values.scores("cfsl_table2").values
  for data in ("omniglot", "slimagenet"):
    for column in TABLE_2_COLUMNS:
      ours = {row: float(v.value) for (row, c, _), v in values.items()
              if c == column and row.startswith(data)}
      assert max(ours, key=ours.get) in (f"{data}_maml_high", f"{data}_sca")
      if column.startswith("D") and data == "omniglot":
        assert max(ours.values()) <= 50


def test_the_columns_of_cfsl_are_settings_under_known_conventions():
  values = paper_values.scores("cfsl_table2").values
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
  assert [values["resnet18 online_ewc", "iid", m].std for m in CLEAR] == [
      "0.2", "0.6", "0.3", "0.4", "0.6"]
  assert str(values["linear er", "iid", "forward_transfer"]) == "88.9 ±0.2"
  # Table 2 has the biased reservoir of Table 1 as its last row.
  second = paper_values.scores("clear_table2").values
  assert len(second) == 8 * (5 + 2)
  assert all(second["dynamic 1", c, m] == value for (row, c, m), value in values.items()
             if row == "linear biased_reservoir")
  assert str(second["fixed 2", "iid", "forward_transfer"]) == "89.1 ±0.2"


def test_every_value_of_clear_has_its_deviation():
  # The sums of the columns "±" of the paper's tables, added up from its text.
  sums = {}
  for name in ("clear_table1", "clear_table2"):
    for (row, _, _), value in paper_values.scores(name).values.items():
      key = name if name.endswith("2") else row.split()[0]
      sums[key] = sums.get(key, 0) + round(10 * float(value.std))
  assert sums == {"linear": 32, "resnet18": 179, "clear_table2": 12}


def test_figure_6_is_the_row_of_table_1_over_five_seeds():
  notes, lines = paper_values.matrix("clear_figure6")
  scores = matrix.summary(np.array(lines, float))
  printed = paper_values.scores("clear_table1").values
  assert "Figure 6" in notes[0]
  # One matrix against the mean of five: a spread of up to 0.3 is printed, the rest is rounding.
  for measure in CLEAR:
    value = float(printed["linear biased_reservoir", "iid", measure].value)
    assert scores[measure] == pytest.approx(value, abs=0.4)


def test_result_pages_show_the_papers_lines_of_cfsl():
  values = paper_values.scores("cfsl_table2").values
  pages = list((pathlib.Path(__file__).parents[2] / "docs" / "results" / "cfsl").glob("*.md"))
  seen = 0
  for page in pages:
    lines = [[cell.strip() for cell in line.strip("|").split("|")]
             for line in page.read_text(encoding="utf-8").splitlines() if line.startswith("|")]
    header: list[str] = []
    for above, line in zip(lines, lines[1:]):
      if line[0].startswith("---"):
        header = above
      elif line[0] == "paper":
        seen += 1
        known = (values.get((above[0], column, "accuracy")) for column in header[1:])
        assert line[1:] == [str(value or "-") for value in known], f"{page}: {above[0]}"
  assert seen

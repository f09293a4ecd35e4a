# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Figures: what is drawn, and that the same numbers give the same bytes."""

from __future__ import annotations

import pathlib
import subprocess
import sys

import matplotlib
from matplotlib import figure as figure_lib
import numpy as np
import pytest

from suite.reporting import figures

ROOT = pathlib.Path(__file__).parents[2]
UPDATES = [figures.UpdateCosts("every", "ft", 1e10, 0.5),
           figures.UpdateCosts("half", "ft", 5e9, 0.25),
           figures.UpdateCosts("none", "ncm", 0.0, 0.375)]


def _drawn():
  return (figures.accuracy_against_updates(UPDATES, title="FLUID"),
          figures.accuracy_matrix(np.array([[0.5, np.nan], [0.75, 1.0]])))


def _texts(figure):
  return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_cells_of_the_matrix_are_percent_and_missing_ones_empty():
  figure = figures.accuracy_matrix(np.array([[0.5, np.nan], [0.75, 1.0]]), names=["old", "new"])
  texts = [text.get_text() for text in figure.axes[0].texts]
  assert texts == ["50", "75", "100"]
  assert {"old", "new", "Trained up to bucket", "Tested on bucket", "Accuracy, %"} <= _texts(figure)


def test_a_matrix_of_nothing_evaluated_draws_too(tmp_path):
  figures.save(figures.accuracy_matrix(np.full([2, 2], np.nan)), tmp_path / "a.png")


def test_wrong_shapes_are_named():
  with pytest.raises(ValueError, match=r"shape \[3\]"):
    figures.accuracy_matrix(np.zeros(3))
  with pytest.raises(ValueError, match="1 names for 2 buckets"):
    figures.accuracy_matrix(np.zeros([2, 2]), names=["a"])


@pytest.mark.parametrize("ending, number", [("png", 1), ("svg", 0), ("svg", 1)])
def test_the_same_numbers_give_the_same_bytes_and_nothing_global_is_left_changed(
    tmp_path, ending, number):
  with matplotlib.rc_context({"font.size": 17.0}):
    before = dict(matplotlib.rcParams)
    for name in ("a", "b"):
      figures.save(_drawn()[number], tmp_path / f"{name}.{ending}")
    assert dict(matplotlib.rcParams) == before
  first = (tmp_path / f"a.{ending}").read_bytes()
  assert first == (tmp_path / f"b.{ending}").read_bytes()
  assert b"Matplotlib v" not in first and b"dc:date" not in first


def test_a_figure_is_high_enough_for_its_legend():
  figure, _ = figures.new_axes("", width=4, height=2, legend=20)
  assert list(figure.get_size_inches()) == pytest.approx([4, 5.7])
  figure, _ = figures.new_axes("", width=4, height=2, legend=3)
  assert list(figure.get_size_inches()) == [4, 2]


def test_another_ending_is_refused(tmp_path):
  with pytest.raises(ValueError, match=r"a\.pdf: allowed endings are \.png, \.svg"):
    figures.save(figure_lib.Figure(), tmp_path / "a.pdf")


def test_pyplot_is_not_imported():
  code = "import sys, suite.reporting.figures; sys.exit('matplotlib.pyplot' in sys.modules)"
  subprocess.run([sys.executable, "-c", code], check=True, cwd=ROOT)


def test_costs_are_lines_of_colour_and_marker_on_two_axes():
  lines = [figures.TaskCosts("proto", "B", [(1, 1e6, 0.08), (640, 6e8, 0.08)]),
           figures.TaskCosts("maml", "B", [(1, 2e6, 16.0), (640, None, 0.1)])]
  left, right = figures.costs_against_support_sets(lines, title="Figure 3").axes
  assert [list(line.get_ydata()) for line in left.get_lines()] == [[1e6, 6e8], [2e6]]
  assert [list(line.get_ydata()) for line in right.get_lines()] == [[0.08, 0.08], [16.0, 0.1]]
  assert [tick.get_text() for tick in left.get_xticklabels()] == ["1", "640"]
  assert [t.get_text() for t in right.get_legend().get_texts()] == ["proto, B", "maml, B"]
  assert left.get_lines()[0].get_color() != left.get_lines()[1].get_color()
  assert left.get_lines()[0].get_marker() == left.get_lines()[1].get_marker()


def test_no_costs_draw_too(tmp_path):
  figures.save(figures.costs_against_support_sets([]), tmp_path / "a.svg")


def test_updates_that_cost_nothing_are_lines_and_the_others_points(tmp_path):
  figure = figures.accuracy_against_updates([
      figures.UpdateCosts("never", "ft", 0.0, 0.25),
      figures.UpdateCosts("every 100", "ft", 2e9, 0.5),
      figures.UpdateCosts("every 100", "et", 4e9, 0.75),
      figures.UpdateCosts("odd", "et", None, 0.9)],
      title="Strategies")
  points, never, other = figure.axes[0].get_lines()
  assert (list(points.get_xdata()), list(points.get_ydata())) == ([2e9], [50.0])
  assert list(never.get_ydata()) == [25.0, 25.0] and never.get_label() == "ft, never"
  assert (list(other.get_xdata()), list(other.get_ydata())) == ([4e9], [75.0])
  assert {"Strategies", "MACs of all updates", "Accuracy, %", "every 100", "ft", "et"} <= _texts(
      figure) and "odd" not in _texts(figure)
  figures.save(figure, tmp_path / "a.svg")
  figures.save(figures.accuracy_against_updates([]), tmp_path / "b.svg")


def test_names_of_points_cover_neither_each_other_nor_a_point():
  names = [figures.UpdateCosts(f"strategy {i}", "ft", 1e9 * (1 + i % 3 / 50), 0.5 + i / 300)
           for i in range(9)]
  figure = figures.accuracy_against_updates(names)
  figure.canvas.draw()
  boxes = [text.get_tightbbox(figure.canvas.get_renderer()) for text in figure.axes[0].texts]
  assert len(boxes) == 9
  for i, box in enumerate(boxes):
    assert not any(box.overlaps(other) for other in boxes[:i])


def test_rates_are_on_the_axis_of_a_sweep():
  figure = figures.accuracy_against_rates(
      [figures.RateLine("er", [(0.003, 0.5), (0.1, 0.25)]), figures.RateLine("ft", [(0.01, 0.5)])])
  axes, = figure.axes
  assert [tick.get_text() for tick in axes.get_xticklabels()] == ["0.003", "0.01", "0.1"]
  assert [list(line.get_ydata()) for line in axes.get_lines()] == [[50, 25], [50]]
  assert {"Learning rate", "Accuracy, %", "er", "ft"} <= _texts(figure)


def test_at_most_eight_colors_before_line_styles_differ():
  looks = [figures.look(i) for i in range(24)]
  assert len({look["color"] for look in looks if look["linestyle"] == "-"}) <= 8
  assert len({(look["color"], look["linestyle"]) for look in looks}) == 24


def test_a_long_legend_leaves_room_for_the_axes():
  lines = [figures.TaskCosts(f"row {i}", task, [(1, 1e6, 0.08), (3, 3e6, 0.08)])
           for i in range(6) for task in "ABCD"]
  figure = figures.costs_against_support_sets(lines)
  figure.canvas.draw()  # Lays it out.
  renderer = figure.canvas.get_renderer()
  left, right = figure.axes
  assert left.get_tightbbox(renderer).x1 < right.get_tightbbox(renderer).x0
  assert right.get_legend().get_window_extent(renderer).y0 >= 0

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
from suite.reporting import panels

ROOT = pathlib.Path(__file__).parents[2]
POINTS = panels.Plot("MACs", "Accuracy", [
    panels.PlotSeries("ft", [1e10, 5e9], [50.0, 25.0], shape=panels.POINTS, labels=["all", "half"]),
    panels.PlotSeries("ncm", [5e9, 1e10], [37.5, 37.5])], log_x=True, y_unit="%")
MATRIX = panels.accuracy_matrix({"": np.array([[0.5, np.nan], [0.75, 1.0]])}, "bucket")


def _drawn():
  return figures.draw(POINTS, title="FLUID"), figures.draw(MATRIX)


def _texts(figure):
  return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_cells_of_the_matrix_are_percent_and_missing_ones_empty():
  figure = figures.draw(MATRIX)
  texts = [text.get_text() for text in figure.axes[0].texts]
  assert texts == ["50", "75", "100"]
  assert {"1", "2", "Trained up to bucket", "Tested on bucket", "Accuracy, %"} <= _texts(figure)


def test_a_matrix_of_nothing_evaluated_draws_too(tmp_path):
  chart = panels.accuracy_matrix({"": np.full([2, 2], np.nan)}, "bucket")
  figures.save(figures.draw(chart), tmp_path / "a.png")


def test_wrong_shapes_are_named():
  with pytest.raises(ValueError, match=r"matrix of shape \[0\]; expected rows and columns"):
    figures.draw(panels.Matrices({"": []}, {"": []}, {"": []}, "x", "y", "z"))


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


def _costs(rows):
  return panels.Plots({name: panels.Plot("Support sets", name, [
      panels.PlotSeries(row, [1, 640], y) for row, y in rows.items()], log_x=True, x_unit="sets",
      log_y=True, ticks={1: "1", 640: "640"}) for name in ("MACs", "ATM")}, columns=2)


def test_plots_have_axes_each_their_ticks_and_one_legend():
  figure = figures.draw(_costs({"proto": [1e6, 6e8], "maml": [2e6, None]}), title="Figure 3")
  left, right = figure.axes
  assert [line.get_ydata().tolist()[0] for line in left.get_lines()] == [1e6, 2e6]
  assert [tick.get_text() for tick in left.get_xticklabels()] == ["1", "640"]
  assert [axes.get_ylabel() for axes in (left, right)] == ["MACs", "ATM"]
  assert [t.get_text() for t in figure.legends[0].get_texts()] == ["proto", "maml"]
  assert left.get_lines()[0].get_color() != left.get_lines()[1].get_color()
  assert "Figure 3" in _texts(figure)


def test_points_have_their_deviations_and_labels_and_lines_for_reference_no_legend(tmp_path):
  figure = figures.draw(panels.Plot("x", "y", [
      panels.PlotSeries("ft", ["a", "b"], [1.0, None], (), [0.5, None], panels.POINTS, ["one", ""]),
      panels.PlotSeries("et", ["a", "b"], [2.0, 3.0], shape=panels.POINTS),
      panels.PlotSeries("zero", ["a", "b"], [0, 0], shape=panels.REFERENCE)],
      marks={"b": "here"}, y_unit="%"))
  assert {"one", " here", "y, %"} <= _texts(figure)
  assert [t.get_text() for t in figure.legends[0].get_texts()] == ["ft", "et"]
  bars = figure.axes[0].containers[0].lines[2][0].get_segments()
  assert bars[0].tolist() == [[0, 0.5], [0, 1.5]]
  figures.save(figure, tmp_path / "a.svg")


def test_names_of_points_cover_neither_each_other_nor_a_point():
  figure = figures.draw(panels.Plot("MACs", "Accuracy", [panels.PlotSeries(
      "ft", [1e9 * (1 + i % 3 / 50) for i in range(9)], [50 + i / 3 for i in range(9)],
      shape=panels.POINTS, labels=[f"strategy {i}" for i in range(9)])], log_x=True))
  figure.canvas.draw()
  boxes = [text.get_tightbbox(figure.canvas.get_renderer()) for text in figure.axes[0].texts]
  assert len(boxes) == 9
  for i, box in enumerate(boxes):
    assert not any(box.overlaps(other) for other in boxes[:i])


def test_bars_are_stacked_and_a_graph_has_a_box_for_each_node():
  bars = figures.draw(panels.Bars(["a"], {"train": [2e9], "predict": [None]}, "FLOPs", "FLOP"))
  assert [bar.get_width() for bar in bars.axes[0].patches] == [2e9, 0]
  graph = figures.draw(panels.Graph({"a": (0, 0.0), "b": (1, 0.0)}, {"a": "x", "b": "y"},
                                    [("a", "b")]))
  assert {"a", "b", "x", "y"} <= _texts(graph)


def test_at_most_eight_colors_before_line_styles_differ():
  looks = [figures.look(i) for i in range(24)]
  assert len({look["color"] for look in looks if look["linestyle"] == "-"}) <= 8
  assert len({(look["color"], look["linestyle"]) for look in looks}) == 24


def test_a_long_legend_leaves_room_for_the_axes():
  figure = figures.draw(_costs(
      {f"row {i}, {task}": [1e6, 3e6] for i in range(6) for task in "ABCD"}))
  figure.canvas.draw()  # Lays it out.
  renderer = figure.canvas.get_renderer()
  left, right = figure.axes
  assert left.get_tightbbox(renderer).x1 < right.get_tightbbox(renderer).x0
  legend = figure.legends[0].get_window_extent(renderer)
  assert legend.y0 >= 0 and legend.x0 > right.get_window_extent(renderer).x1

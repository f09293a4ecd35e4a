# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The figure of mean error against FLOPs."""

import math

import matplotlib
import pytest

from suite.metrics import stream_groups
from suite.reporting import figures
from suite.reporting.nevis_panels import error_panels


def _point(label, flops, error, pretraining=0.0):
  return error_panels.LearnerPoint(
      label, label.rpartition("/")[2], stream_groups.Spread(error, math.nan, 1), flops,
      None if flops is None else flops - pretraining)


POINTS = [_point("indep", 1e10, 0.5), _point("ft", 2e10, 0.25), _point("slow", 4e10, 0.375),
          _point("odd", None, 0.125)]


def _drawn(points):
  return figures.draw(error_panels.pareto_chart(points), title="NEVIS'22")


def _texts(figure):
  return {text.get_text() for text in figure.findobj(matplotlib.text.Text)}


def test_the_front_joins_the_runs_that_none_beats():
  axes = _drawn(POINTS).axes[0]
  front, *markers = axes.get_lines()
  assert front.get_label() == "Pareto front"
  assert list(front.get_xdata()) == [1e10, 2e10] and list(front.get_ydata()) == [50, 25]
  assert [(m.get_xdata()[0], m.get_ydata()[0]) for m in markers if len(m.get_xdata())] == [
      (1e10, 50), (2e10, 25), (4e10, 37.5)]


def test_axes_have_names_and_runs_a_legend():
  figure = _drawn(POINTS)
  assert {"NEVIS'22", "Cumulative FLOPs", "Mean error, meta-test tasks, %", "indep", "ft", "slow",
          "Pareto front", "odd: FLOPs not counted"} <= _texts(figure)
  assert "odd" not in _texts(figure)
  assert len(figure.axes) == 1 and figure.axes[0].get_xscale() == "log"


def test_pretraining_has_axes_of_its_own():
  figure = _drawn([*POINTS[:2], _point("pt", 9e10, 0.1, pretraining=8.5e10)])
  whole, without = ([list(axes.get_lines()[0].get_xdata())] for axes in figure.axes)
  assert without == [[5e9]] and whole == [[1e10, 2e10, 9e10]]


def test_budgets_of_one_method_are_joined_and_named():
  figure = _drawn([_point("cheap/ft", 1e9, 0.5), _point("paper/ft", 1e11, 0.25)])
  assert {"cheap", "paper", "ft"} <= _texts(figure)
  assert [1e9, 1e11] in [list(line.get_xdata()) for line in figure.axes[0].get_lines()[1:]]


@pytest.mark.parametrize("points", [POINTS[3:], POINTS[:1], [_point("free", 0.0, 0.5)]])
def test_few_points_draw_too(points, tmp_path):
  figures.save(_drawn(points), tmp_path / "a.png")
  assert (tmp_path / "a.png").stat().st_size > 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Charts as Plotly draws them: values, tooltips, and series that differ beyond their color."""

import pytest

from suite.reporting import panels
from suite.reporting.formats import renderers

pytest.importorskip("plotly")


def test_a_plot_has_tooltips_deviations_and_ticks_with_prefixes():
  figure = renderers.draw_chart(panels.Plot(
      "FLOPs", "Error",
      [panels.PlotSeries("a<b", [2e9], [40.0], ["2 seeds"], [1.5], panels.POINTS)],
      log_x=True, y_unit="%")).to_plotly_json()
  series, = figure["data"]
  assert series["text"][0] == "a&lt;b<br>2.00 GFLOP<br>Error: 40.00% ±1.50<br>2 seeds"
  assert list(series["error_y"]["array"]) == [1.5]
  ticks = dict(zip(figure["layout"]["xaxis"]["tickvals"], figure["layout"]["xaxis"]["ticktext"]))
  assert ticks[2e9] == "2 G"


def test_a_series_may_keep_the_look_that_it_has_in_another_plot():
  figure = renderers.draw_chart(panels.Plot("x", "y", [
      panels.PlotSeries("er", [1], [2.0], place=3), panels.PlotSeries("lwf", [1], [3.0])]))
  assert [one.marker.symbol for one in figure.data] == [
      renderers.look(i)["symbol"] for i in (3, 1)]


def test_twenty_series_differ_and_more_than_by_color():
  looks = [renderers.look(i) for i in range(20)]
  assert len({tuple(look.values()) for look in looks}) == 20
  for color in {look["color"] for look in looks}:
    alike = [(look["symbol"], look["dash"]) for look in looks if look["color"] == color]
    assert len(set(alike)) == len(alike)


def test_matrices_are_chosen_by_a_menu_and_unknown_values_are_gaps():
  figure = renderers.draw_chart(panels.Matrices(
      {"er": [[10.0, None]], "lwf": [[20.0, 30.0]]}, {"er": ["1", "2"], "lwf": ["1", "2"]},
      {"er": ["1"], "lwf": ["1"]}, "Tested on", "Trained on", "Accuracy, %")).to_plotly_json()
  assert [list(map(list, one["z"])) for one in figure["data"]] == [[[10.0, None]], [[20.0, 30.0]]]
  assert [one["visible"] for one in figure["data"]] == [True, False]
  assert figure["layout"]["updatemenus"][0]["buttons"][1]["args"][0] == {"visible": [False, True]}


def test_bars_and_graphs():
  bars = renderers.draw_chart(panels.Bars(["a"], {"train": [2e9], "predict": [None]}, "FLOPs",
                                        "FLOP"))
  assert [one.hovertext[0] for one in bars.data] == ["a<br>train: 2.00 GFLOP",
                                                     "a<br>predict: not counted"]
  graph = renderers.draw_chart(panels.Graph({"a": (0, 0.0), "b": (1, 0.0)}, {"a": "x", "b": "y"},
                                          [("a", "b")], {"b": "started from a"}))
  assert list(graph.data[0].x) == [0, 1, None] and graph.data[2].hovertext[0].endswith("from a")

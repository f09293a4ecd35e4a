# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The page in a real browser without a window: sorts, filters, tooltips, keys, two widths."""

import browsers
import pytest

from suite.reporting import panels
from suite.reporting.formats import renderers

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
wait = pytest.importorskip("selenium.webdriver.support.wait")

pytestmark = browsers.needed
WIDTHS = (400, 1600)


def _section():
  names = [f"learner_{i}" for i in range(12)]
  rows = [[name, 0.1 * ((7 * i) % 12), None if i == 3 else 10**9 * 2**i, "partial" if i else "done"]
          for i, name in enumerate(names)]
  series = [panels.PlotSeries(name, [1, 2], [10.0 + i, 20.0 + i]) for i, name in enumerate(names)]
  front = panels.PlotSeries("Pareto front", [1e9, 1e11], [1.0, 2.0], shape=panels.STEP,
                            is_front=True)
  made = [
      panels.Panel("scores", "toy: scores", [
          panels.Column("learner"), panels.Column("error", panels.PERCENT),
          panels.Column("FLOPs", panels.FLOPS), panels.Column("state")], rows,
          chart=panels.Plot("Task", "Error", series, y_unit="%")),
      panels.Panel("front", "toy: front", [panels.Column("learner")], [["a"]], chart=(
          panels.Plot("FLOPs", "Error", [front, panels.PlotSeries(
              "a", [1e10], [5.0], shape=panels.POINTS)], log_x=True))),
      panels.Panel("m", "toy: matrix", [panels.Column("learner")], [["a"]], chart=(
          panels.Matrices({"a": [[1.0, None]], "b": [[2.0, 3.0]]}, {"a": "12", "b": "12"},
                          {"a": "1", "b": "1"}, "x", "y", "Accuracy, %"))),
      panels.Panel("b", "toy: bars", [panels.Column("learner")], [["a"]], chart=panels.Bars(
          ["a"], {"train": [2e9], "predict": [1e9]}, "FLOPs", "FLOP")),
      panels.Panel("g", "toy: graph", [panels.Column("learner")], [["a"]], chart=(
          panels.Graph({"a": (0, 0.0), "b": (1, 0.0)}, {"a": "x", "b": "y"}, [("a", "b")])))]
  return panels.Section("toy", made)


@pytest.fixture(name="page", scope="module", params=WIDTHS)
def _page(request, tmp_path_factory):
  """The opened page at a width in pixels, with all figures drawn."""
  path = tmp_path_factory.mktemp("page") / "report.html"
  path.write_text(renderers.render([_section()], "html", path), encoding="utf-8")
  with browsers.opened(path, request.param) as driver:
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    yield driver


def _texts(page, column, shown_only=True):
  return page.execute_script(
      "return [...document.querySelector('table').tBodies[0].rows].filter(r => !r.hidden || "
      "!arguments[1]).map(r => r.cells[arguments[0]].textContent)", column, shown_only)


def _focus(page, selector):
  page.execute_script("document.querySelector(arguments[0]).focus()", selector)
  return page.switch_to.active_element


def test_tables_sort_by_click_and_by_key(page):
  buttons = page.find_elements("css selector", "table:first-of-type thead button")
  page.execute_script("arguments[0].click()", buttons[1])
  values = [float(text) for text in _texts(page, 1)]
  assert values == sorted(values) and len(values) == 12
  _focus(page, "thead th:nth-child(3) button").send_keys("\n")
  costs = _texts(page, 2)  # Numbers with prefixes, the unknown one last.
  assert costs[0] == "1.00 GFLOP" and costs[-2:] == ["2.05 TFLOP", "unknown"]
  _focus(page, "thead th:nth-child(3) button").send_keys(" ")
  assert [_texts(page, 2)[i] for i in (0, -1)] == ["2.05 TFLOP", "unknown"]
  headings = page.find_elements("css selector", "th[aria-sort]")
  assert [one.get_attribute("aria-sort") for one in headings] == ["descending"]


def test_rows_are_filtered_by_all_words(page):
  box = page.find_element("css selector", ".filter input")
  box.send_keys("learner_1 partial")
  assert sorted(_texts(page, 0)) == ["learner_1", "learner_10", "learner_11"]
  assert page.find_element("css selector", ".filter output").text == "3 of 12 rows"
  box.clear()
  box.send_keys("x\b")
  assert len(_texts(page, 0)) == 12


def test_figures_have_tooltips_by_key(page):
  charts_drawn = page.execute_script(
      "return [...document.querySelectorAll('.chart')].map(c => !!c.querySelector('svg.main-svg'))")
  assert charts_drawn == [True] * 5
  _focus(page, ".chart").send_keys("\ue014\ue014")  # The arrow to the right, twice.
  # Plotly waits a little between two tooltips.
  wait.WebDriverWait(page, 10).until(lambda page: page.execute_script(
      "return [...document.querySelectorAll('.hoverlayer text tspan')].map(t => t.textContent)"
  ) == ["learner_0", "Task 2", "Error: 20.00%"])


def test_a_tooltip_follows_the_mouse(page):
  chart = page.find_elements("css selector", ".chart")[3]
  page.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
  bar = chart.find_element("css selector", ".trace.bars .point path")
  browsers.webdriver.ActionChains(page).move_to_element(bar).pause(0.3).perform()
  assert "train: 2.00 GFLOP" in chart.find_element("css selector", ".hoverlayer").text


def test_the_page_fits_its_width_and_the_console_is_silent(page):
  assert browsers.fits(page)
  assert not browsers.complaints(page)

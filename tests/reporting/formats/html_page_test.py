# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The page in a real browser without a window: sorts, filters, tooltips, keys, three widths."""

import io

import browsers
from PIL import Image
import pytest

from suite.reporting import panels
from suite.reporting import quantities
from suite.reporting.formats import renderers

pytest.importorskip("jinja2")
pytest.importorskip("plotly")
wait = pytest.importorskip("selenium.webdriver.support.wait")

pytestmark = browsers.needed
WIDTHS = (400, 1300, 1600)


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
              "a", [1e10, 1e11], [5.0, 6.0], shape=panels.POINTS)], log_x=True))),
      panels.Panel("m", "toy: matrix", [panels.Column("learner")], [["a"]], chart=(
          panels.Matrices({"a": [[1.0, None]], "b": [[2.0, 3.0]]}, {"a": "12", "b": "12"},
                          {"a": "1", "b": "1"}, "x", "y", "Accuracy, %"))),
      panels.Panel("b", "toy: bars", [panels.Column("learner")], [["a"]], chart=panels.Bars(
          ["a"], {"train": [2e9], "predict": [1e9]}, "FLOPs", "FLOP")),
      panels.Panel("g", "toy: graph", [panels.Column("learner")], [["a"]], chart=(
          panels.Graph({"a": (0, 0.0), "b": (1, 0.0)}, {"a": "x", "b": "y"}, [("a", "b")])))]
  Image.new("RGB", (64, 64), "green").save(png := io.BytesIO(), format="png")
  measures = [f"measure {i}, %" for i in range(12)]
  made = [
      panels.Panel(
          "headline", "toy", [panels.Column(""), *(
              panels.Column(name, panels.PERCENT) for name in names)],
          [[measure, *(0.01 * i for i in range(12))] for measure in measures],
          best=frozenset([(0, 12)])), *made,
      panels.Panel("samples", "toy: test images", [panels.Column("learner")], [["a"]], chart=(
          panels.Gallery({"a": [panels.Picture(png.getvalue(), "4, not 9", False)]}))),
      panels.Panel("one", "toy: one point", [panels.Column("learner")], [["a"]], chart=(
          panels.Plot("FLOPs", "Error", [panels.PlotSeries("a", [1], [2.0])])))]
  return panels.Section("toy", made, 7, [("run", "w"), ("date", "2026-11-26 10:00 UTC"),
                                         ("command", "suite run x"), ("versions", "suite 1")])


@pytest.fixture(name="page", scope="module", params=WIDTHS)
def _page(request, tmp_path_factory):
  """The opened page at a width in pixels, with all figures drawn."""
  path = tmp_path_factory.mktemp("page") / "report.html"
  path.write_text(renderers.render([_section()], "html", path), encoding="utf-8")
  with browsers.opened(path, request.param) as driver:
    wait.WebDriverWait(driver, 10).until(lambda driver: driver.execute_script(
        "return document.body.dataset.ready"))  # The program is unpacked.
    driver.execute_script("window.dispatchEvent(new Event('beforeprint'))")
    yield driver


def _texts(page, column, shown_only=True):
  return page.execute_script(
      "return [...document.querySelector('[data-panel=scores] table').tBodies[0].rows]"
      ".filter(r => !r.hidden || !arguments[1]).map(r => r.cells[arguments[0]].textContent)",
      column, shown_only)


def _focus(page, selector):
  page.execute_script("document.querySelector(arguments[0]).focus()", selector)
  return page.switch_to.active_element


def test_tables_sort_by_click_and_by_key(page):
  buttons = page.find_elements("css selector", "[data-panel=scores] thead button")
  page.execute_script("arguments[0].click()", buttons[1])
  values = [float(text) for text in _texts(page, 1)]
  assert values == sorted(values) and len(values) == 12
  _focus(page, "[data-panel=scores] thead th:nth-child(3) button").send_keys("\n")
  costs = _texts(page, 2)  # Numbers with prefixes, the unknown one last.
  assert costs[0] == "1.00 GFLOP" and costs[-2:] == ["2.05 TFLOP", "unknown"]
  _focus(page, "[data-panel=scores] thead th:nth-child(3) button").send_keys(" ")
  assert [_texts(page, 2)[i] for i in (0, -1)] == ["2.05 TFLOP", "unknown"]
  headings = page.find_elements("css selector", "th[aria-sort]")
  assert [one.get_attribute("aria-sort") for one in headings] == ["descending"]


def test_rows_are_filtered_by_all_words(page):
  box = page.find_element("css selector", "[data-panel=scores] .filter input")
  box.send_keys("learner_1 partial")
  assert sorted(_texts(page, 0)) == ["learner_1", "learner_10", "learner_11"]
  shown = page.find_element("css selector", "[data-panel=scores] .filter output")
  assert shown.text == "3 of 12 rows"
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


def test_the_title_says_what_was_run_and_methods_come_first(page):
  assert page.title == "w, 2026-11-26"
  about = page.find_element("css selector", ".about").text
  assert all(words in about for words in ("suite run x", "suite 1", "2026-11-26 10:00"))
  first = page.find_element("css selector", "article")
  assert first.find_element("css selector", "h3").text == "Methods"
  assert len(first.find_elements("css selector", "tbody tr")) == 12  # A row for each method.
  assert first.find_element("css selector", ".best").text == "11.00"
  assert not page.find_elements("css selector", "article:not([data-panel=samples]) details:not("
                                ".all):not([open]) [data-panel=headline]")


def test_no_column_is_clipped_and_no_figure_lies_on_what_follows(page):
  width = page.execute_script("return window.innerWidth")
  clipped = page.execute_script(
      "return [...document.querySelectorAll('main > section > article .scroll')]"
      ".filter(one => one.scrollWidth > one.clientWidth + 1).length")
  assert clipped == 0 or width < 600  # There the table of 13 columns scrolls in its box.
  assert page.execute_script(
      "return [...document.querySelectorAll('.chart')].filter(one => one.offsetParent && "
      "one.querySelector('.svg-container').offsetHeight > one.offsetHeight + 1).length") == 0
  # The legend is clear of the toolbar.
  assert page.execute_script("""
      return [...document.querySelectorAll('.chart')].filter(one => {
        const [a, b] = ['.legend', '.modebar'].map(name => one.querySelector(name));
        if (!a || !b || !b.childElementCount) return false;
        const [p, q] = [a.getBoundingClientRect(), b.getBoundingClientRect()];
        return p.right > q.left && q.right > p.left && p.bottom > q.top && q.bottom > p.top;
      }).length""") == 0


def test_the_table_of_methods_fits_900_pixels(tmp_path):
  measures = ["final average accuracy, %", "average incremental accuracy, %", "forgetting, %",
              "backward transfer, %", "forward transfer, %", "FLOPs without answers",
              "FLOPs in all", "MACs in all", "time", "state", "memory of examples",
              "stored on disk"]
  value = quantities.Quantity(-0.12, quantities.PERCENT, deviation=0.02)
  panel = panels.Panel("headline", "toy", [panels.Column(""), *(
      panels.Column(f"learner_{i}", panels.MIXED) for i in range(6))],
                       [[measure, *[value] * 6] for measure in measures])
  path = tmp_path / "report.html"
  path.write_text(renderers.render([panels.Section("toy", [panel])], "html", path),
                  encoding="utf-8")
  with browsers.opened(path, 900) as page:
    assert page.execute_script(
        "const one = document.querySelector('[data-panel=headline] .scroll');"
        "return one.scrollWidth <= one.clientWidth + 1")


def test_pictures_have_answers_and_a_single_point_has_no_figure(page):
  picture = page.find_element("css selector", ".gallery .bad")
  assert picture.text == "4, not 9"
  assert page.execute_script("return arguments[0].naturalWidth",
                             picture.find_element("css selector", "img")) == 64
  assert not page.find_elements("css selector", "[data-panel=one] .chart")
  everything = page.find_element("css selector", "details.all")
  assert everything.get_attribute("open") is None
  assert len(everything.find_elements("css selector", "article")) == 1

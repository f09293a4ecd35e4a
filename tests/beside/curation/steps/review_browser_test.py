# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The review page in a real browser without a window, at two widths."""

import csv
import io
import json
import time

import browsers
from PIL import Image
import pytest

from suite.beside.curation import pictures
from suite.beside.curation.steps import reviewing

pytestmark = browsers.needed
SHEETS = [
    reviewing.Sheet(1, "bus", "images e0", "2004 to 2005", ["a", "b", "c"], examples=["e0"]),
    reviewing.Sheet(2, "tram", "a tram", "2006", ["d<b>", "e"])]
NAMES = ["a", "b", "c", "d<b>", "e", "e0"]


@pytest.fixture(name="folder", scope="module")
def _folder(tmp_path_factory):
  folder = tmp_path_factory.mktemp("review")
  for i in range(len(NAMES)):
    Image.new("RGB", (40, 20 + 10 * i), (40 * i, 90, 120)).save(folder / f"{i}.png")
  addresses = {name: pictures.data_uri(folder / f"{i}.png", 32) for i, name in enumerate(NAMES)}
  addresses["b"] = "1.png"  # As --links does.
  (folder / "index.html").write_text(reviewing.sheet_page(SHEETS, addresses), encoding="utf-8")
  return folder


@pytest.fixture(name="page", params=[400, 1600])
def _page(request, folder):
  """A review at a width in pixels in a browser of its own, which has no stored vote."""
  with browsers.opened(folder / "index.html", request.param, downloads=folder) as driver:
    yield driver


def _press(page, keys):
  for key in keys:
    page.switch_to.active_element.send_keys(key)


def _votes(page):
  return page.execute_script("return [...document.querySelectorAll('.card')].map("
                             "one => one.querySelector('.vote').textContent)")


def _at(page, name):
  return page.find_element("id", name)


def test_a_review_by_keys(page, folder):
  _press(page, "a")
  assert "Write your name first" in _at(page, "warning").text and _votes(page) == [""] * 3
  _at(page, "reviewer").send_keys("ann\n")
  assert _at(page, "title").text == "bus, bucket 1" and len(
      page.find_elements("css selector", "#example-list img")) == 1
  _press(page, "ar")
  assert _votes(page) == ["Accepted", "Rejected", ""]
  _press(page, "u")
  assert _votes(page) == ["Accepted", "", ""]
  _press(page, "fan")  # The last of the sheet is followed by the next sheet.
  assert _at(page, "title").text == "tram, bucket 2" and not _at(page, "examples").is_displayed()
  assert "3 of 5 voted: 2 accepted, 0 rejected, 1 flagged" in _at(page, "status").text
  _press(page, "p,")
  assert _at(page, "title").text == "bus, bucket 1"
  assert _votes(page) == ["Accepted", "Flagged", "Accepted"]
  _press(page, "oar")
  assert "Finished: download the votes" in _at(page, "status").text
  browsers.visit(page, folder / "index.html", "document.getElementById('reviewer').value === 'ann'")
  assert _votes(page) == ["Accepted", "Rejected"]
  page.execute_script("document.querySelector('[aria-current=true]').focus()")
  _press(page, "u")
  assert _votes(page) == ["Accepted", ""]
  _press(page, "rd")
  rows = list(csv.reader(io.StringIO(_downloaded(folder, "votes_ann*.csv"))))
  assert [(row[0], row[3], row[4], row[5]) for row in rows[1:]] == [
      (SHEETS[0].key, "bus", "a", "accept"), (SHEETS[0].key, "bus", "b", "flag"),
      (SHEETS[0].key, "bus", "c", "accept"), (SHEETS[1].key, "tram", "d<b>", "accept"),
      (SHEETS[1].key, "tram", "e", "reject")]
  assert browsers.fits(page)
  assert all(one.endswith("/1.png") for one in browsers.complaints(page))  # The linked picture.


def _downloaded(folder, pattern):
  """Waits for a downloaded file, reads and removes it."""
  for _ in range(100):
    found = list(folder.glob(pattern))
    if found and found[0].stat().st_size:
      text = found[0].read_text(encoding="utf-8")
      found[0].unlink()
      return text
    time.sleep(0.1)
  raise AssertionError(f"no {pattern} was downloaded")


def test_a_review_by_clicks(page):
  _at(page, "reviewer").send_keys("bob\n")
  page.find_elements("css selector", ".card")[1].click()
  _at(page, "enlarge").click()
  assert _at(page, "large").is_displayed()
  size = page.execute_script("const one = document.getElementById('large-image');"
                             "return [one.complete, one.naturalWidth, one.clientWidth]")
  assert size[:2] == [True, 40] and size[2] > 300
  buttons = {one.text: one for one in page.find_elements("css selector", "#large button")}
  buttons["Reject"].click()
  assert _at(page, "large-text").text == "bus, bucket 1: c"  # The next image is shown.
  _press(page, "f")
  assert _at(page, "large-text").text == "tram, bucket 2: d<b>"
  buttons["Close"].click()
  assert not _at(page, "large").is_displayed()
  _at(page, "previous-sheet").click()
  assert _votes(page) == ["", "Rejected", "Flagged"]
  _at(page, "undo").click()
  _at(page, "open").click()
  stored = page.execute_script("return localStorage.getItem(arguments[0])",
                               f"curation/{SHEETS[0].key}/bob")
  assert json.loads(stored) == {"b": "reject"}
  _at(page, "reviewer").clear()
  _at(page, "reviewer").send_keys("cid\n")
  assert _votes(page) == [""] * 3  # Another reviewer.
  assert browsers.fits(page) and not [
      one for one in browsers.complaints(page) if not one.endswith("/1.png")]

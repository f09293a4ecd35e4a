# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What is recorded of links, and what a server says of them."""

import contextlib
import datetime
import http.server
import re
import threading

import pytest
import tensorflow_datasets as tfds

from tfds_builders import catalog
from tfds_builders import links
from tfds_builders.rows.nevis.object import pacs

_ROWS = [row for rows in catalog.FAMILIES.values() for row in rows]
_LINKS = {link.url: link for row in _ROWS for layout in row.layouts
          for link in links.of_layout(layout)}
_LINKS.update({link.url: link for row in _ROWS if row.tfds for link in links.of_tfds(row.tfds)})


def test_every_record_is_a_fact_about_a_link_of_a_row():
  for one in links.records():
    assert re.fullmatch(r"20\d\d-\d\d-\d\d", one.date) and datetime.date.fromisoformat(one.date)
    assert one.state in links.STATES and one.evidence
    assert any(url.startswith(one.url) for url in _LINKS), one.url
  assert len(set(links.records())) == len(links.records())


def test_every_link_of_the_reference_has_a_record():
  nevis = [link for row in catalog.FAMILIES["nevis"] for link in links.of(row)]
  known = {url for url, link in _LINKS.items() if link.state != links.UNKNOWN}
  assert {link.url for link in nevis if link.url not in known} == {
      "https://www.cl.cam.ac.uk/Research/DTG/attarchive/pub/data/att_faces.zip",
      "https://commondatastorage.googleapis.com/books1000/notMNIST_small.tar.gz",
      "http://groups.csail.mit.edu/vision/LabelMe/NewImages/indoorCVPR_09.tar",
      "http://web.mit.edu/torralba/www/TrainImages.txt",
      "http://web.mit.edu/torralba/www/TestImages.txt"}  # Not the reference's.


def test_links_that_were_reported_dead():
  dead = {row.name for row in catalog.FAMILIES["nevis"]
          if any(link.state == links.DEAD for link in links.of(row))}
  assert dead == {"domainnet", "stanford_cars", "tiny_imagenet", "wiki_paintings_style"}


def test_a_repositorys_last_change_is_no_download():
  assert not [one for one in links.records() if one.state == links.GOOD and "@" in one.evidence]


def test_sizes_name_rows_whose_size_nobody_else_has():
  rows = {row.name: row for row in catalog.FAMILIES["nevis"]}
  for name, size in links.published_sizes().items():
    assert links.download_size(rows[name]) == size and size.num_bytes > 0 and size.evidence, name


def test_pacs_has_twelve_links():
  assert len({link.url for link in links.of(pacs.ROW)}) == 12
  assert pacs.ROW.layouts[0].links[0].startswith("https://drive.google.com/uc?id=1e2WfiUmpv25")


@pytest.fixture(name="recorded")
def _recorded(monkeypatch):
  made = tuple(links._Record(*line) for line in (  # pylint: disable=protected-access
      ("http://a/", "2020-01-01", "good", "old"), ("http://a/", "2022-01-01", "dead", "new"),
      ("http://a/", "2023-01-01", "listed", "package"),
      ("http://a/b/", "2019-01-01", "good", "longer"), ("http://c/", "2024-01-01", "listed", "p")))
  monkeypatch.setattr(links, "records", lambda: made)


@pytest.mark.parametrize("url, text, last_good", [
    ("http://a/x.zip", "dead 2022-01-01 (new; good 2020-01-01)", "2020-01-01"),
    ("http://a/b/x.zip", "good 2019-01-01 (longer)", "2019-01-01"),
    ("http://c/x.zip", "listed 2024-01-01 (p)", ""),
    ("http://d/x.zip", "unknown", "")])
def test_the_newest_record_of_the_longest_beginning_counts(recorded, url, text, last_good):
  found = links.find(url, size=3)
  assert (found.describe(), found.last_good, found.size) == (text, last_good, 3)


def test_sizes_are_those_of_tfds():
  wrong = []
  for name, downloads in sorted(links.tfds_downloads().items()):
    infos = tfds.builder_cls(name.split("/")[0]).url_infos or {}
    for url, size in downloads.items():
      if (size is None) != (name == "domainnet/real"):  # TFDS has no sums of it.
        wrong.append(f"{name}: {url} has size {size}")
      if url in infos and int(infos[url].size) != size:  # Other releases of TFDS may have moved.
        wrong.append(f"{name}: {url} has {infos[url].size} bytes, not {size}")
  assert not wrong, "\n".join(wrong)


def test_tfds_moved_no_link():
  known = {url: name for name, urls in links.tfds_downloads().items() for url in urls}
  moved = [url for url, name in known.items() if name != "domainnet/real"
           and url not in (tfds.builder_cls(name.split("/")[0]).url_infos or {})]
  if tfds.__version__.startswith("4.9.10"):
    assert not moved


class _Handler(http.server.BaseHTTPRequestHandler):
  """/file is a file, /page a page, /partial answers ranges, and nothing else is there."""

  asked: list[str] = []

  def do_GET(self):
    type(self).asked.append(self.headers["Range"])
    known = {"/file": (200, "application/zip"), "/partial": (206, "application/octet-stream"),
             "/page": (200, "text/html")}
    status, kind = known.get(self.path, (404, "text/html"))
    self.send_response(status)
    self.send_header("Content-Type", kind)
    self.send_header("Content-Length", "1")
    self.end_headers()
    self.wfile.write(b"x")

  def log_message(self, *_):
    pass


@pytest.fixture(name="server", scope="module")
def _server():
  with http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler) as server:
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    with contextlib.ExitStack() as stack:
      stack.callback(thread.join)
      stack.callback(server.shutdown)
      yield f"http://127.0.0.1:{server.server_port}"


@pytest.mark.parametrize("path, state, evidence", [
    ("/file", links.GOOD, "HTTP 200, application/zip"),
    ("/partial", links.GOOD, "HTTP 206, application/octet-stream"),
    ("/page", links.DEAD, "HTTP 200, text/html"), ("/gone", links.DEAD, "HTTP 404")])
def test_a_server_is_asked_for_one_byte(server, path, state, evidence):
  before = links.Link(server + path, links.DEAD, "2020-01-01", "x#1", "2019-01-01", 7)
  found, today = links.check(before), datetime.date.today().isoformat()
  assert (found.state, found.date, found.evidence, found.size) == (state, today, evidence, 7)
  assert found.last_good == (today if state == links.GOOD else "2019-01-01")
  assert _Handler.asked[-1] == "bytes=0-0"


def test_a_server_that_does_not_answer_is_dead():
  found = links.check(links.Link("http://127.0.0.1:9/x.zip", links.GOOD, "2020-01-01", "x", "2020"),
                      timeout=2)
  assert found.state == links.DEAD and "Error" in found.evidence and found.last_good == "2020"


@pytest.mark.parametrize("url", ["kaggle:a/b", "https://drive.google.com/uc?id=1"])
def test_what_needs_an_account_or_a_browser_is_not_asked(url):
  before = links.Link(url, links.GOOD, "2022-12-13", "x")
  assert links.check(before) is before

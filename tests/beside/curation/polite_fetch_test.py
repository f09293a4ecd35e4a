# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Fetching from a local server that has all the faults of real ones."""

import collections
import contextlib
import dataclasses
import email.utils
import gzip
import http.server
import io
import json
import socket
import threading
import time
import urllib.parse

import numpy as np
from PIL import Image
import pytest

from suite import cli
from suite.beside.curation import errors
from suite.beside.curation import polite_fetch
from suite.system import sealed_json

LARGEST = 5000


def _image(kind="PNG", seed=0):
  pixels = np.random.default_rng(seed).integers(0, 256, [8, 8, 3], np.uint8)
  out = io.BytesIO()
  Image.fromarray(pixels).save(out, kind)
  return out.getvalue()


class _Handler(http.server.BaseHTTPRequestHandler):
  """Answers by the path; /once/... answers well from the second time on."""

  def do_GET(self):
    asked = self.server.asked
    asked.append(self.path)
    self.server.agents.add(self.headers["User-Agent"])
    times, ok = asked.count(self.path), _image("JPEG")
    if self.path == "/robots.txt":
      self._say(200, b"User-agent: *\nDisallow: /private\n", {})
    elif self.path.startswith("/once/"):
      name = self.path.rpartition("/")[2]
      headers = {"seconds": {"Retry-After": "7"}, "later": {"Retry-After": "100000"}, "date": {
          "Retry-After": email.utils.formatdate(time.time() + 90, usegmt=True)}}.get(name, {})
      self._say(429 if headers else 500, b"", headers) if times == 1 else self._say(200, ok, {})
    elif self.path == "/cut":
      self._say(200, ok[:100], {"Content-Length": str(len(ok))})
    elif self.path == "/gzip":
      self._say(200, gzip.compress(ok), {"Content-Encoding": "gzip"})
    elif self.path == "/bomb":
      self._say(200, gzip.compress(bytes(LARGEST + 1)), {"Content-Encoding": "gzip"})
    elif self.path in ("/slow", "/slow_headers"):
      self.wfile.write(b"HTTP/1.0 200 OK\r\n" + b"\r\n" * (self.path == "/slow"))
      with contextlib.suppress(OSError):
        for _ in range(200):
          self.wfile.write(b"x" if self.path == "/slow" else b"X: y\r\n")
          self.wfile.flush()
          time.sleep(0.05)
    elif self.path.startswith("/to/"):
      self._say(302, b"", {"Location": urllib.parse.unquote(self.path[4:])})
    elif self.path == "/moved":
      self._say(302, b"", {"Location": "/photo_unavailable.png"})
    else:
      status, body = {"/a.png": (200, _image()), "/b.jpg": (200, ok), "/page": (200, b"<html>"),
                      "/photo_unavailable.png": (200, _image()), "/half": (200, ok[:-200]),
                      "/large": (200, b"x" * (LARGEST + 1)), "/broken": (500, b""),
                      "/tiff": (200, _image("TIFF")), "/icon": (200, _image("ICO")),
                      "/a%20b%C3%A9.png?c=%20d": (200, ok)}.get(self.path, (404, b""))
      self._say(status, body, {})

  def _say(self, status, body, headers):
    self.send_response(status)
    for name, value in {"Content-Length": str(len(body)), **headers}.items():
      self.send_header(name, value)
    self.end_headers()
    self.wfile.write(body)

  def log_message(self, *args):
    pass


@pytest.fixture
def server():
  found = http.server.ThreadingHTTPServer(("127.0.0.1", 0), _Handler)
  found.asked, found.agents = [], set()
  found.root = f"http://127.0.0.1:{found.server_port}"
  threading.Thread(target=found.serve_forever, args=(0.01,), daemon=True).start()
  yield found
  found.shutdown()
  found.server_close()


MANNERS = polite_fetch.Manners(rate=1000.0, tries=3, timeout=5.0, largest=LARGEST, contact="me@x",
                               allow_private=True)


def _fetch(server, folder, *paths, **arguments):
  waits = []
  found = polite_fetch.fetch([server.root + path for path in paths], folder, MANNERS,
                             sleep=waits.append, **arguments)
  return {url.removeprefix(server.root): one for url, one in found.items()}, waits


def test_images_are_kept_and_what_is_none_is_listed(server, tmp_path):
  wrong = {"/page": "no image that can be read", "/missing": "HTTP 404", "/icon": "no image that",
           "/large": "larger than 5,000 bytes", "/private/x.jpg": "robots.txt", "/half": "decoded",
           "/moved": "the photo is unavailable"}
  found, _ = _fetch(server, tmp_path, "/a.png", "/b.jpg", "/tiff", *wrong)
  assert {path: one.state for path, one in found.items()} == {
      **dict.fromkeys(["/a.png", "/b.jpg", "/tiff"], "done"), **dict.fromkeys(wrong, "gone")}
  assert all(text in found[path].reason for path, text in wrong.items())
  assert (tmp_path / found["/a.png"].file).read_bytes() == _image()
  assert found["/a.png"].file.endswith(".png") and found["/b.jpg"].file.endswith(".jpg")
  assert found["/tiff"].file.endswith(".tif")
  assert len(list((tmp_path / "images").rglob("*.*"))) == 3
  assert "/private/x.jpg" not in server.asked and server.asked[0] == "/robots.txt"
  assert server.agents == {"lifelong-suite (me@x)"}
  # Again: nothing is asked for but the rules, which nothing needs.
  asked = len(server.asked)
  assert _fetch(server, tmp_path, "/a.png", *wrong)[0]["/missing"] == found["/missing"]
  assert len(server.asked) == asked
  _fetch(server, tmp_path, "/a.png", "/missing", again=True)
  assert server.asked[asked:] == ["/robots.txt", "/missing"]


def test_a_server_that_fails_is_asked_again_after_the_time_it_says(server, tmp_path):
  found, waits = _fetch(server, tmp_path, "/once/seconds")
  assert found["/once/seconds"].state == "done" and 6 < max(waits) <= 7
  found, waits = _fetch(server, tmp_path, "/once/date")
  assert found["/once/date"].state == "done" and 60 < max(waits) <= 90
  found, waits = _fetch(server, tmp_path, "/once/500", "/broken", "/cut")
  states = {path: one.state for path, one in found.items()}
  assert states == {"/once/500": "done", "/broken": "later", "/cut": "later"}
  assert "HTTP 500, 3 times" in found["/broken"].reason
  assert "IncompleteRead" in found["/cut"].reason
  counts = collections.Counter(server.asked)
  assert (counts["/broken"], counts["/cut"], counts["/once/500"]) == (3, 3, 2)
  assert [round(w) for w in waits if w > 0.5][:4] == [1, 1, 2, 4]  # Growing, for each image anew.


def test_a_host_that_asks_for_hours_is_left_to_the_next_call(server, tmp_path):
  found, waits = _fetch(server, tmp_path, "/a.png", "/once/later", "/b.jpg")
  assert [one.state for one in found.values()] == ["done", "later", "later"]
  assert "asks to wait 100,000 s" in found["/once/later"].reason and max(waits, default=0) < 10
  assert "/b.jpg" not in server.asked
  found, _ = _fetch(server, tmp_path, "/a.png", "/once/later", "/b.jpg")
  assert {one.state for one in found.values()} == {"done"}
  assert server.asked.count("/a.png") == 1


def test_a_killed_fetch_resumes(server, tmp_path):
  whole, _ = _fetch(server, tmp_path / "whole", "/a.png", "/b.jpg")

  class KilledError(Exception):
    pass

  def kill(one):
    raise KilledError

  with pytest.raises(KilledError):
    _fetch(server, tmp_path / "killed", "/a.png", "/b.jpg", report=kill)
  log = tmp_path / "killed" / polite_fetch.OUTCOMES
  log.write_text(log.read_text() + '{"url": "torn')
  found, _ = _fetch(server, tmp_path / "killed", "/a.png", "/b.jpg")
  assert found == whole and server.asked.count("/a.png") == 2  # Once for each folder.
  # A file that was lost or cut is fetched again.
  (tmp_path / "killed" / whole["/b.jpg"].file).write_bytes(b"")
  assert _fetch(server, tmp_path / "killed", "/b.jpg")[0]["/b.jpg"] == whole["/b.jpg"]
  assert server.asked.count("/b.jpg") == 3


def test_the_command_makes_a_table_of_which_a_timeline_can_be_made(server, tmp_path, capsys):
  urls = tmp_path / "urls.csv"
  urls.write_text("url,time,label,bucket\n" + "".join(
      f"{server.root}/{path},{year},{label},{bucket}\n" for path, year, label, bucket in (
          ("a.png", 2011, "tram", 2), ("b.jpg", 2012, "", 1), ("missing", 2012, "bus", 1))))
  command = ["data", "fetch_urls", str(urls), "--out", str(tmp_path / "out"), "--rate", "1000",
             "--allow_private"]
  assert cli.main(command) == 0
  said = capsys.readouterr().out.split()
  assert [said[said.index(state) + 1] for state in ("done", "gone", "later")] == ["2", "1", "0"]
  lines = (tmp_path / "out" / "images.csv").read_text().splitlines()
  assert lines[0] == "path,url,time,label,bucket" and len(lines) == 3
  assert lines[1].endswith("2011,tram,2") and lines[2].endswith("2012,,1")
  assert cli.main(["data", "timeline", str(tmp_path / "out" / "images.csv"), "--by", "bucket",
                   "--name", "fetched", "--data_dir", str(tmp_path / "data")]) == 0
  assert "bucket 2" in capsys.readouterr().out
  outcomes = [json.loads(line) for line in
              (tmp_path / "out" / "outcomes.jsonl").read_text().splitlines() if line]
  assert collections.Counter(one["state"] for one in outcomes) == {"done": 2, "gone": 1}
  assert cli.main(["data", "fetch_urls", "no.txt", "--out", str(tmp_path / "out")]) == 2
  assert "There is no file no.txt" in capsys.readouterr().err


def test_no_address_of_this_machine_or_its_networks_is_asked(server, tmp_path, monkeypatch):
  """Whatever it is written as: the address that was connected counts, not its name."""
  public = dataclasses.replace(MANNERS, allow_private=False)
  port = server.server_port
  monkeypatch.setattr(socket, "getaddrinfo", lambda *unused, **_: [
      (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))])
  urls = [f"http://{name}:{port}/a.png" for name in (
      "127.0.0.1", "localhost", "rebound.example.org", "2130706433", "0x7f.1", "[::ffff:7f00:1]")]
  found = polite_fetch.fetch(urls, tmp_path, public, sleep=lambda _: None)
  assert {one.state for one in found.values()} == {"gone"} and not server.asked
  assert all("not of the public internet" in one.reason for one in found.values())


@pytest.mark.parametrize("address, is_public", [
    ("8.8.8.8", True), ("10.0.0.1", False), ("172.16.3.4", False), ("192.168.1.1", False),
    ("169.254.169.254", False), ("100.64.0.1", False), ("0.0.0.0", False), ("224.0.0.1", False),
    ("::1", False), ("fe80::1", False), ("fd00::1", False), ("::ffff:127.0.0.1", False),
    ("2002:7f00:1::", False), ("2001:4860:4860::8888", True), ("64:ff9b::7f00:1", False),
    ("64:ff9b::a00:1", False), ("64:ff9b::808:808", True), ("64:ff9b:1::808:808", False),
    ("::ffff:0:7f00:1", False), ("fec0::1", False), ("::ffff:8.8.8.8", True)])
def test_public_addresses(address, is_public):
  assert polite_fetch._is_public(address) == is_public


def test_no_greeting_of_tls_reaches_a_private_address(tmp_path):
  got = []
  with socket.socket() as listening:
    listening.bind(("127.0.0.1", 0))
    listening.listen(1)

    def accept():
      taken, _ = listening.accept()
      taken.settimeout(5)
      with taken:
        got.append(taken.recv(100))

    thread = threading.Thread(target=accept)
    thread.start()
    url = f"https://127.0.0.1:{listening.getsockname()[1]}/a.png"
    found = polite_fetch.fetch(
        [url], tmp_path, dataclasses.replace(MANNERS, allow_private=False), sleep=lambda _: None)
    thread.join()
  assert got == [b""] and "not of the public internet" in found[url].reason


@pytest.mark.parametrize("delay, state, said", [
    ("999999999", "later", "asks for 999999999 s or more between images, and at most 60"),
    ("9" * 400, "later", "asks for 999999999999 s or more"),
    ("9" * 5000, "later", "robots.txt cannot be read"), ("3", "done", "")])
def test_what_a_host_asks_for_is_bounded(server, tmp_path, monkeypatch, delay, state, said):
  answer = _Handler.do_GET

  def do_GET(self):
    if self.path == "/robots.txt":
      self._say(200, f"User-agent: *\nCrawl-delay: {delay}\n".encode(), {})
    else:
      answer(self)

  monkeypatch.setattr(_Handler, "do_GET", do_GET)
  slept, urls = [], [f"{server.root}/a.png", f"{server.root}/b.jpg"]
  found = polite_fetch.fetch(urls, tmp_path, dataclasses.replace(MANNERS, largest=10 ** 6),
                             sleep=slept.append)
  assert {one.state for one in found.values()} == {state} and said in found[urls[0]].reason
  assert max(slept, default=0.0) <= 3.0


def test_redirections_follow_the_rules_of_where_they_lead(server, tmp_path):
  other = server.root.replace("127.0.0.1", "localhost")
  targets = {"/a.png": "done", f"{other}/a.png": "done", f"{other}/private/x.png": "gone",
             "file:///etc/passwd": "gone", "ftp://localhost/x": "gone", "data:image/png,x": "gone"}
  paths = {"/to/" + urllib.parse.quote(target, ""): state for target, state in targets.items()}
  found, _ = _fetch(server, tmp_path, *paths)
  assert {path: one.state for path, one in found.items()} == paths
  assert "/private/x.png" not in server.asked


def test_answers_that_trickle_are_given_up(server, tmp_path):
  hasty = dataclasses.replace(MANNERS, deadline=0.4, tries=1)
  began = time.monotonic()
  for path in ("/slow", "/slow_headers"):
    found = polite_fetch.fetch([server.root + path], tmp_path / path[1:], hasty)
    assert [(one.state, "not whole after 0.4 s" in one.reason) for one in found.values()] == [
        ("later", True)]
  slow = dataclasses.replace(MANNERS, timeout=0.2, tries=1)
  found = polite_fetch.fetch([server.root + "/slow"], tmp_path / "rate", slow)
  assert "too slow" in found[server.root + "/slow"].reason and time.monotonic() - began < 9


def test_packed_answers_and_odd_addresses(server, tmp_path):
  paths = ("/gzip", "/a b\u00e9.png?c= d#part")
  found, _ = _fetch(server, tmp_path, *paths, "/bomb")
  assert [found[path].state for path in paths] == ["done", "done"]
  assert "larger than 5,000 bytes, unpacked" in found["/bomb"].reason


def test_outcomes_of_strangers_are_believed_only_in_their_folder(server, tmp_path):
  _fetch(server, tmp_path, "/a.png")
  (line,) = (tmp_path / "outcomes.jsonl").read_text().splitlines()
  one, secret = sealed_json.parsed(line), tmp_path.parent / "secret.png"
  secret.write_bytes(_image())
  name = one["file"].rpartition("/")[2]
  for file in (str(secret), "../secret.png", "images/../../secret.png", "outcomes.jsonl", 7,
               f"images/{name}", f"images/{name[:2]}/../{name}"):
    (tmp_path / "outcomes.jsonl").write_text(sealed_json.line({**one, "file": file}))
    assert not polite_fetch.known(tmp_path), file
  (tmp_path / "outcomes.jsonl").write_text(line + "\n[1]\nnull\n")
  assert list(polite_fetch.known(tmp_path)) == [one["url"]]
  image = tmp_path / one["file"]
  for lost in (bytes(one["bytes"]), _image(seed=1)[:one["bytes"]].ljust(one["bytes"], b"x")):
    image.write_bytes(lost)  # Of the right size, as a file system may leave it.
    for fields in (one, {key: value for key, value in one.items() if key != "sha256"}):
      (tmp_path / "outcomes.jsonl").write_text(json.dumps(fields) + "\n")  # Of an earlier version.
      assert not polite_fetch.known(tmp_path) or (lost[:4] == b"\x89PNG" and fields is not one)
  image.unlink()
  image.symlink_to(secret)
  assert not polite_fetch.known(tmp_path)


def test_a_changed_line_of_the_outcomes_is_named_and_its_image_asked_for_again(
    server, tmp_path, caplog):
  before = _fetch(server, tmp_path, "/a.png", "/b.png")
  path = tmp_path / "outcomes.jsonl"
  path.write_text(path.read_text().replace('"state": "done"', '"state": "gone"', 1))
  assert len(polite_fetch.known(tmp_path)) == 1
  assert " is not an outcome as it was written (its digest differs" in caplog.text
  assert _fetch(server, tmp_path, "/a.png", "/b.png") == before


def test_numbers_that_make_no_sense_are_refused():
  with pytest.raises(errors.CurationError, match=r"must be above 0, got \{'rate': 0\}"):
    polite_fetch.Manners(rate=0)

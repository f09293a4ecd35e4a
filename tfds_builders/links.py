# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The links of a data set, and when each was last known to be good or dead.

Recorded in links.csv: the beginning of a URL, a date, a state, and the evidence. Of the records
with the longest beginning of a URL the newest counts. The state is "good" if files were downloaded
on that date, "dead" if users reported so, and "listed" if other code has the link, which need not
mean that it works: the date is then that of a release, or of a repository's last change. `check`
asks the server instead.

Sizes that neither a row nor TFDS has are in sizes.csv, each with its evidence; "about" if it is
rounded, or that of another archive of the same images.
"""

from __future__ import annotations

import csv
import dataclasses
import datetime
import functools
import http.client
import pathlib
import urllib.error
import urllib.request

from tfds_builders import access
from tfds_builders.rows import row as row_lib

GOOD = "good"
DEAD = "dead"
LISTED = "listed"
UNKNOWN = "unknown"
STATES = (GOOD, DEAD, LISTED)

_FOLDER = pathlib.Path(__file__).parent
_NEEDS_BROWSER = ("Kaggle", "Google Drive", "SharePoint")


@dataclasses.dataclass(frozen=True)
class Link:
  """What is known of a link.

  Attributes:
    url: "https://..." or "kaggle:owner/name".
    state: one of `STATES`, or UNKNOWN: there is no record.
    date: of the record, YYYY-MM-DD; "" for UNKNOWN.
    evidence: the issue, the release or the answer of the server that says so.
    last_good: date of the newest record of GOOD; "" if there is none.
    size: bytes, as published; None: unknown.
  """

  url: str
  state: str
  date: str = ""
  evidence: str = ""
  last_good: str = ""
  size: int | None = None

  def describe(self) -> str:
    """Returns one line: "dead 2023-04-29 (owner/name#1; good 2022-12-13)"."""
    if self.state == UNKNOWN:
      return UNKNOWN
    before = f"; good {self.last_good}" if self.last_good and self.state != GOOD else ""
    return f"{self.state} {self.date} ({self.evidence}{before})"


@dataclasses.dataclass(frozen=True)
class _Record:
  """A line of links.csv."""

  url: str
  date: str
  state: str
  evidence: str


@functools.cache
def records() -> tuple[_Record, ...]:
  """Returns the lines of links.csv."""
  with open(_FOLDER / "links.csv", newline="", encoding="utf-8") as stream:
    return tuple(_Record(**line) for line in csv.DictReader(stream))


@functools.cache
def tfds_downloads() -> dict[str, dict[str, int | None]]:
  """Returns {TFDS name: {URL: size}} of what TFDS's own data sets download, as TFDS lists it."""
  found: dict[str, dict[str, int | None]] = {}
  with open(_FOLDER / "tfds_downloads.csv", newline="", encoding="utf-8") as stream:
    for line in csv.DictReader(stream):
      size = int(line["size"]) if line["size"] else None
      found.setdefault(line["name"], {})[line["url"]] = size
  return found


def find(url: str, size: int | None = None) -> Link:
  """Returns what is recorded of a URL."""
  matching = [one for one in records() if url.startswith(one.url)]
  if not matching:
    return Link(url, UNKNOWN, size=size)
  longest = max(len(one.url) for one in matching)
  own = sorted((one for one in matching if len(one.url) == longest), key=lambda one: one.date)
  known = [one for one in own if one.state != LISTED] or own
  good = [one.date for one in own if one.state == GOOD]
  return Link(url, known[-1].state, known[-1].date, known[-1].evidence, good[-1] if good else "",
              size)


def of_layout(layout: row_lib.Layout) -> tuple[Link, ...]:
  """Returns the links of a layout, each once, in the order of its files."""
  urls = {file.url: file.size for file in layout.files if file.url}
  return tuple(find(url, size) for url, size in {**urls, **dict.fromkeys(layout.links)}.items())


def of_tfds(wanted: row_lib.TfdsSet) -> tuple[Link, ...]:
  """Returns the links from which TFDS downloads its data sets."""
  found: dict[str, int | None] = {}
  for name in wanted.names:
    found.update(tfds_downloads().get(name.split(":")[0], {}))
  return tuple(find(url, size) for url, size in found.items())


def of(row: row_lib.Row) -> tuple[Link, ...]:
  """Returns the links of the source that a build takes: TFDS's, or those of a layout.

  The layout is the first that can be downloaded without credentials, else the first. A union has
  no links.
  """
  if row.union:
    return ()
  return of_tfds(row.tfds) if row.tfds else of_layout(_layout(row))


@dataclasses.dataclass(frozen=True)
class Size:
  """Bytes of a download; `is_about`: rounded, or of another archive of the same images."""

  num_bytes: int
  is_about: bool
  evidence: str


@functools.cache
def published_sizes() -> dict[str, Size]:
  """Returns the lines of sizes.csv by the names of rows of NEVIS'22."""
  with open(_FOLDER / "sizes.csv", newline="", encoding="utf-8") as stream:
    return {line["name"]: Size(int(line["bytes"]), line["is"] == "about", line["evidence"])
            for line in csv.DictReader(stream)}


def download_size(row: row_lib.Row) -> Size | None:
  """Returns the size of the source whose links `of` returns; None if a part is unknown."""
  if row.union:
    return None
  if row.tfds:
    sizes = [link.size for link in of_tfds(row.tfds)]
    found = sum(size or 0 for size in sizes) if sizes and None not in sizes else None
  else:
    found = _layout(row).size_bytes
  if found is not None:
    return Size(found, False, "as published")
  return published_sizes().get(row.base_name)


def _layout(row: row_lib.Row) -> row_lib.Layout:
  return row.public_layout or row.layouts[0]


def check(link: Link, timeout: float = 20.0) -> Link:
  """Asks the server for the first byte; returns the link with today's state.

  A page instead of a file is dead: servers answer so for what has moved. Links that need an account
  or a browser are returned as they are.

  Args:
    link: what is recorded.
    timeout: seconds.
  """
  if access.url_kind(link.url) in _NEEDS_BROWSER:
    return link
  today = datetime.date.today().isoformat()
  request = urllib.request.Request(
      link.url, headers={"Range": "bytes=0-0", "User-Agent": "lifelong-suite"})
  try:
    with urllib.request.urlopen(request, timeout=timeout) as answer:
      kind = answer.headers.get_content_type()
      says, is_file = f"HTTP {answer.status}, {kind}", kind != "text/html"
  except urllib.error.HTTPError as error:
    says, is_file = f"HTTP {error.code}", False
  except (OSError, http.client.HTTPException, ValueError) as error:
    says, is_file = f"{type(error).__name__}: {error}", False
  if is_file:
    return dataclasses.replace(link, state=GOOD, date=today, evidence=says, last_good=today)
  return dataclasses.replace(link, state=DEAD, date=today, evidence=says)

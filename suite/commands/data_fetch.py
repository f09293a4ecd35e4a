# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data fetch_urls`: fetches the images of a list of URLs."""

from __future__ import annotations

import argparse
import collections
import csv
import io
import pathlib
import time
from typing import Any, Callable

from absl import logging

from suite.configs import gin_files
from suite.system import atomic_files
from suite.system import file_lock

_LOCK, _TABLE = ".lock", "images.csv"
_EVERY_SECONDS = 30.0


def add(actions: Any, parents: list[argparse.ArgumentParser], positive: Callable[[str], int],
        do: Callable[[argparse.Namespace], int]) -> None:
  """Adds the action to the parser of `suite data`."""
  action = actions.add_parser(
      "fetch_urls", parents=parents, help="fetch (or resume) the images of a list of URLs")
  action.set_defaults(do=do)
  action.add_argument("lists", nargs="+", type=pathlib.Path, metavar="LIST",
                      help=".txt with a URL a line; .csv or .parquet with the column url; or .json "
                      "as CLEAR's all_metadata/3.json")
  action.add_argument("--out", required=True, type=pathlib.Path, metavar="DIR",
                      help="directory for the images and their table")
  action.add_argument("--rate", type=float, default=2.0, metavar="R",
                      help="requests a second to one host (2)")
  action.add_argument("--hosts", type=positive, default=4, metavar="N",
                      help="hosts that are asked at the same time (4)")
  action.add_argument("--tries", type=positive, default=4, metavar="N",
                      help="tries of an image whose server fails (4)")
  action.add_argument("--timeout", type=float, default=30.0, metavar="S",
                      help="seconds without an answer (30)")
  action.add_argument("--largest", type=float, default=20.0, metavar="MB",
                      help="megabytes of an image (20)")
  action.add_argument("--most", type=positive, metavar="N",
                      help="fetch the first N of the list only")
  action.add_argument("--contact", default="", metavar="TEXT",
                      help="an address for the servers' administrators, sent along")
  action.add_argument("--again", action="store_true",
                      help="also ask again for what has failed for good")


def fetch(args: argparse.Namespace) -> tuple[list[tuple[str, ...]], list[str]]:
  """Fetches; returns a table of the outcomes, the header first, and further lines."""
  from suite.curation import polite_fetch as polite_fetch_lib
  for path in args.lists:
    if not path.is_file():
      raise gin_files.ConfigError(f"There is no file {path}; give a list of URLs: .txt, .csv, "
                                  ".parquet, or CLEAR's all_metadata/*.json.")
  manners = polite_fetch_lib.Manners(
      rate=args.rate, hosts=args.hosts, tries=args.tries, timeout=args.timeout,
      largest=int(args.largest * 1e6), contact=args.contact)
  listed = polite_fetch_lib.read(args.lists)[:args.most]
  args.out.mkdir(parents=True, exist_ok=True)
  with file_lock.held(args.out / _LOCK, wait=False):
    found = polite_fetch_lib.fetch([one.url for one in listed], args.out, manners, again=args.again,
                               report=_progress(len(listed)))
    _write_table(args.out / _TABLE, [
        ({"path": found[one.url].file, "url": one.url, **one.facts}) for one in listed
        if found[one.url].state == polite_fetch_lib.DONE])
  counts = collections.Counter(one.state for one in found.values())
  sizes = sum(one.bytes for one in found.values())
  reasons = collections.Counter(
      one.reason for one in found.values() if one.state != polite_fetch_lib.DONE)
  rows: list[tuple[str, ...]] = [
      ("state", "images"), *((state, f"{counts[state]:,}") for state in polite_fetch_lib.STATES)]
  lines = [f"{sizes / 1e6:,.1f} MB in {args.out}; the table is {args.out / _TABLE}.",
           *(f"{count:,} x {reason}" for reason, count in reasons.most_common(5))]
  if counts[polite_fetch_lib.LATER]:
    lines.append("The same command asks again for those that may come later.")
  if "time" in listed[0].facts:
    by = "bucket" if "bucket" in listed[0].facts else "year"
    lines.append(f"A timeline of them: suite data timeline {args.out / _TABLE} --by {by} --name "
                 "NAME")
  return rows, lines


def _progress(num: int) -> Callable[[Any], None]:
  """Logs the counts now and then."""
  counts: collections.Counter[str] = collections.Counter()
  last = [time.monotonic()]

  def report(one: Any) -> None:
    counts[one.state] += 1
    if time.monotonic() - last[0] > _EVERY_SECONDS:
      last[0] = time.monotonic()
      logging.info("%d of at most %d: %s", sum(counts.values()), num, dict(counts))

  return report


def _write_table(path: pathlib.Path, rows: list[dict[str, str]]) -> None:
  names = list(dict.fromkeys(name for row in rows for name in row)) or ["path", "url"]
  text = io.StringIO(newline="")
  writer = csv.DictWriter(text, names, restval="")
  writer.writeheader()
  writer.writerows(rows)
  atomic_files.write(path, text.getvalue().encode("utf-8"))

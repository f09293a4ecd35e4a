# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite data fetch_urls`: fetches the images of lists of URLs."""

from __future__ import annotations

import argparse
import collections
import csv
import io
import pathlib
import time
from typing import Any

from absl import logging

from suite.commands import parsing
from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import run_settings
from suite.system import atomic_files
from suite.system import file_lock

_FETCHED_TABLE = "images.csv"
_LOG_EVERY_SECONDS = 30.0


def _add(action: argparse.ArgumentParser) -> None:
  action.set_defaults(do=_fetch)
  run_settings.add_flags(action, "debug", *run_settings.DATA_FLAGS)
  action.add_argument("lists", nargs="+", type=pathlib.Path, metavar="LIST",
                      help=".txt with a URL a line; .csv or .parquet with the column url; or .json "
                      "as CLEAR's all_metadata/3.json")
  action.add_argument("--out", required=True, type=pathlib.Path, metavar="DIR",
                      help="directory for the images and their table")
  action.add_argument("--rate", type=float, default=2.0, metavar="R",
                      help="requests a second to one host (2)")
  action.add_argument("--hosts", type=run_settings.positive, default=4, metavar="N",
                      help="hosts that are asked at the same time (4)")
  action.add_argument("--tries", type=run_settings.positive, default=4, metavar="N",
                      help="tries of an image whose server fails (4)")
  action.add_argument("--timeout", type=float, default=30.0, metavar="S",
                      help="seconds without an answer (30)")
  action.add_argument("--largest", type=float, default=20.0, metavar="MB",
                      help="megabytes of an image (20)")
  action.add_argument("--most", type=run_settings.positive, metavar="N",
                      help="fetch the first N of the list only")
  action.add_argument("--deadline", type=float, default=300.0, metavar="S",
                      help="seconds for an image, redirections included")
  action.add_argument("--allow_private", action="store_true",
                      help="also ask addresses of this machine and its networks, and use the "
                      "proxy of the environment; not for lists of strangers")
  action.add_argument("--contact", default="", metavar="TEXT",
                      help="an address for the servers' administrators, sent along")
  action.add_argument("--again", action="store_true",
                      help="also ask again for what has failed for good")


def _fetch(args: argparse.Namespace) -> int:
  from suite.beside.curation import polite_fetch
  for path in args.lists:
    if not path.is_file():
      raise gin_files.ConfigError(f"There is no file {path}; give a list of URLs: .txt, .csv, "
                                  ".parquet, or CLEAR's all_metadata/*.json.")
  manners = polite_fetch.Manners(
      rate=args.rate, hosts=args.hosts, tries=args.tries, timeout=args.timeout,
      largest=int(args.largest * 1e6), contact=args.contact, deadline=args.deadline,
      allow_private=args.allow_private)
  listed = polite_fetch.read(args.lists)[:args.most]
  atomic_files.make_folder(args.out)
  reported: collections.Counter[str] = collections.Counter()
  logged = time.monotonic()

  def report(one: Any) -> None:
    nonlocal logged
    reported[one.state] += 1
    if time.monotonic() - logged > _LOG_EVERY_SECONDS:
      logged = time.monotonic()
      logging.info("%d of at most %d: %s", sum(reported.values()), len(listed), dict(reported))

  with file_lock.held(args.out / ".lock", wait=False):
    found = polite_fetch.fetch(
        [one.url for one in listed], args.out, manners, again=args.again, report=report)
    rows = [{"path": found[one.url].file, "url": one.url, **one.facts} for one in listed
            if found[one.url].state == polite_fetch.DONE]
    text = io.StringIO(newline="")
    writer = csv.DictWriter(
        text, list(dict.fromkeys(name for row in rows for name in row)) or ["path", "url"],
        restval="")
    writer.writeheader()
    writer.writerows(rows)
    atomic_files.write(args.out / _FETCHED_TABLE, text.getvalue().encode("utf-8"))
  counts = collections.Counter(one.state for one in found.values())
  sizes = sum(one.bytes for one in found.values())
  reasons = collections.Counter(
      one.reason for one in found.values() if one.state != polite_fetch.DONE)
  print(parsing.table_text(("state", "images"), [
      (state, f"{counts[state]:,}") for state in polite_fetch.STATES]))
  print(f"{sizes / 1e6:,.1f} MB in {args.out}; the table is {args.out / _FETCHED_TABLE}.",
        *(f"{count:,} x {reason}" for reason, count in reasons.most_common(5)), sep="\n")
  if counts[polite_fetch.LATER]:
    print("The same command asks again for those that may come later.")
  if "time" in listed[0].facts:
    by = "bucket" if "bucket" in listed[0].facts else "year"
    print(f"A timeline of them: suite data timeline {args.out / _FETCHED_TABLE} --by {by} "
          "--name NAME")
  return 0


COMMAND = entry_points.Command("fetch (or resume) the images of a list of URLs", _add)

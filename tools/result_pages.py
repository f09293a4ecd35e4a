# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which methods have numbers on which page of docs/results, and pages made before values changed.

    python tools/result_pages.py             marks the pages
    python tools/result_pages.py --check     fails if a mark is missing or out of date

docs/results/value_changes.csv has the changes of methods' values and of what they train on:
`methods`, `protocols` (empty: all), `except`, pages that were made after it or that it does not
touch, and `reason`. Every other page with a row or column of such a method says so in one line.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Sequence
import csv
import functools
import pathlib
import re
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page

from suite.configs import methods

DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
RESULTS = DOCS / "results"
CHANGES = RESULTS / "value_changes.csv"
_MARK = "*Made before "
# The protocols of a page, by the begin of its path; of others any.
_PROTOCOLS = {
    "clear/": "clear", "fluid/": "fluid", "cfsl/": "cfsl", "nevis": "nevis", "quickstart": "nevis",
    "leaderboard/cpu": "nevis clear fluid cfsl", "leaderboard/frozen.": "incremental",
    "leaderboard/budgets": "incremental"}
# Pages of times, FLOPs and rounding, of lifelong evaluation, and overviews: no scores of methods.
_OTHERS = r"README|.*bench|.*precision|.*_costs|lifelong.*|.*figure3"


def pages() -> list[pathlib.Path]:
  """The pages with scores of methods."""
  return [path for path in sorted(RESULTS.rglob("*.md")) if not re.fullmatch(_OTHERS, path.stem)]


def protocols(place: str) -> list[str]:
  """The protocols of the runs of a page, by its path below docs/results; none: any."""
  return next((names.split() for begin, names in _PROTOCOLS.items() if place.startswith(begin)), [])


def methods_on(text: str) -> set[str]:
  """The methods that name a row or a column of a page's tables."""
  lines = text.splitlines()
  found: set[str] = set()
  for line, following in zip(lines, [*lines[1:], ""]):
    if not line.startswith("|"):
      continue
    cells = [cell.strip(" *") for cell in line.replace("\\", "").strip("|").split("|")]
    for cell in cells if re.match(r"\| ?:?---", following) else cells[:1]:
      found |= set(_named(cell))
  return found


@functools.cache
def _named(cell: str) -> frozenset[str]:
  """The methods that a cell names: it is a name, an alias or a title, or has names in it."""
  if re.search("FLOPs|MACs", cell):
    return frozenset()
  label = re.sub(r"^omniglot_|, %$| \(.*\)$", "", cell)
  whole = next((one for one in methods.load() if label in (one.name, one.title)), None)
  whole = whole or methods.find(label)
  if whole is not None:
    return frozenset([whole.name])
  return frozenset(one.name for one in methods.load()
                   if re.search(rf"(?<![\w-]){re.escape(one.name)}(?![\w-])", label))


def numbers() -> dict[str, list[str]]:
  """The pages that have a number of a method, below docs/, by its name; none: it is left out."""
  found: dict[str, list[str]] = {}
  for name in _proven():
    found[name] = ["proofs.md"]
  for page in pages():
    for name in methods_on(page.read_text(encoding="utf-8")):
      found.setdefault(name, []).append(page.relative_to(DOCS).as_posix())
  return found


def _proven() -> Iterator[str]:
  """The methods with a result among the proofs."""
  stored = {(row["benchmark"], row["method"]) for row in _rows(RESULTS / "proofs.csv")
            if row["accuracy"]}
  for row in _rows(RESULTS / "published.csv"):
    if (row["benchmark"], row["method"]) in stored:
      names = (row["method"], re.sub(r" \(.*", "", row["title"]), row["benchmark"])
      method = next(filter(None, map(methods.find, names)), None)
      if method is not None:
        yield method.name


def _rows(path: pathlib.Path) -> list[dict[str, str]]:
  with open(path, newline="", encoding="utf-8") as file:
    return list(csv.DictReader(file))


def marked(page: pathlib.Path, text: str) -> str:
  """The text of a page with the line that says what has changed since, if something has."""
  plain = re.sub(rf"^{re.escape(_MARK)}.*\n\n", "", text, flags=re.MULTILINE)
  has, place = methods_on(plain), page.relative_to(RESULTS).as_posix()
  reasons = []
  for row in _rows(CHANGES):
    hit = [f"`{name}`" for name in row["methods"].split()
           if name in has and _concerns(name, row["protocols"].split(), protocols(place))]
    if hit and place not in row["except"].split():
      reasons.append(f"{', '.join(hit)}: {row['reason']}")
  if not reasons:
    return plain
  up = "../" * len(pathlib.PurePosixPath(place).parts)
  line = f"{_MARK}[values changed]({up}records_changed.md).* {'; '.join(reasons)}.\n\n"
  # After the title and the comment that says what made the page.
  head = re.match(r"# [^\n]*\n\n(?:<!--.*?-->\n\n)?", plain, re.DOTALL)
  return plain[:head.end()] + line + plain[head.end():] if head else line + plain


def _concerns(name: str, changed: Sequence[str], of_page: Sequence[str]) -> bool:
  """Whether a change under these protocols is one of a method on a page of those; none: any."""
  method = methods.find(name)
  common = [one for one in changed or of_page if one in (of_page or changed)]
  return not (changed and of_page) or method is not None and any(
      methods.column(one) in method.protocols for one in common)


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  args = parser.parse_args(arguments)
  codes = [made_page.finish(page, marked(page, page.read_text(encoding="utf-8")), args.check,
                            "without the line of today. Run: python tools/result_pages.py")
           for page in pages()]
  return max(codes)


if __name__ == "__main__":
  sys.exit(main())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/papers.md from docs/papers.csv: each table and figure of a paper, and its state here.

    python tools/make_papers_page.py             writes the page
    python tools/make_papers_page.py --check     fails if it is out of date

The revision, and of Sort & Search the digest of the answers, are read from the page of results, if
it was made from a run's records; the digests of data sets are those that a build verifies (the
first file's, of the layout that was built from the real archive). Runs with a line in docs/costs.md
have a link to their plan; `python tools/plans.py --papers` plans all of them. To add a paper, add
its lines: paper, item, shows, run (a shipped run's short name), parameters (NAME=VALUE, separated
by spaces), needs (what data the paper used), page (of docs), panel, sets (data sets here, separated
by spaces), date (when the page was made), state and note.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Mapping, Sequence
import csv
import gzip
import hashlib
import importlib.util
import pathlib
import re
import sys

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page

from tfds_builders import catalog

_DOCS = pathlib.Path(__file__).resolve().parents[1] / "docs"
PAGE, TABLE = _DOCS / "papers.md", _DOCS / "papers.csv"
STATES = {
    "reproduced": "on the paper's data; the page has the numbers and the difference",
    "smaller": "on the paper's data with less compute; the page and the note say how much",
    "other data": "the paper's experiment on data that are at hand; the page says which, and which "
                  "of the paper's statements hold there",
    "planned": "the command is complete and has not been run on the paper's data",
    "not done": "no command; the note says why",
    "no result": "nothing to reproduce",
}
RUN = ("reproduced", "smaller", "other data")  # States of what was run.
_HEAD = """# The papers' tables and figures

Made by `tools/make_papers_page.py` from `docs/papers.csv`; do not edit.

"""


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="only compare")
  args = parser.parse_args(arguments)
  return made_page.finish(PAGE, page(read()), args.check,
                          "stale. Run: python tools/make_papers_page.py")


def read() -> list[dict[str, str]]:
  """The lines of the table."""
  with open(TABLE, encoding="utf-8", newline="") as file:
    lines = list(csv.DictReader(file))
  for line in lines:
    if line["state"] not in STATES:
      raise ValueError(f"{TABLE}: {line['item']} has the state {line['state']!r}; allowed are "
                       f"{', '.join(STATES)}.")
    if bool(line["page"]) != bool(line["date"]):
      raise ValueError(f"{TABLE}: {line['item']} has the page {line['page']!r} and the date "
                       f"{line['date']!r}; a page has the date on which it was made.")
    if bool(line["page"]) != (line["state"] in RUN):
      raise ValueError(f"{TABLE}: {line['item']} is {line['state']!r} and has the page "
                       f"{line['page']!r}; a page belongs to what was run.")
  return lines


def command(line: Mapping[str, str]) -> str:
  """The command of a line; "" if it has none."""
  parameters = "".join(
      f" --gin_param {one}" if re.fullmatch(r"[\w.=/%-]+", one) else f' --gin_param "{one}"'
      for one in line["parameters"].split())
  return f"suite run {line['run']}{parameters}" if line["run"] else ""


def page(lines: Sequence[Mapping[str, str]]) -> str:
  """Renders the page."""
  plans = (_DOCS / "costs.md").read_text(encoding="utf-8")
  counts = collections.Counter(line["state"] for line in lines)
  total = ", ".join(f"{counts[name]} {name}" for name in STATES)
  text = [_HEAD, f"Of {len(lines)} tables, figures and sections: {total}.\n\n", *(
      f"- **{name}**: {meaning}.\n" for name, meaning in STATES.items())]
  for paper in dict.fromkeys(line["paper"] for line in lines):
    text.append(f"\n## {paper}\n\n| item | shows | command | data of the paper | state | result | "
                "date | revision | data here | plan | note |\n"
                "|---|---|---|---|---|---|---|---|---|---|---|\n")
    for line in (one for one in lines if one["paper"] == paper):
      made = facts(line["page"])
      result = f"[{line['panel']}]({line['page']})" if line["page"] else ""
      is_planned = line["run"] and f"`{line['run']}`" in plans
      cells = [line["item"], line["shows"], f"`{command(line)}`" if line["run"] else "",
               line["needs"], line["state"], result, line["date"], made.get("revision", ""),
               ", ".join([*map(digest, line["sets"].split()), *filter(None, [made.get("cache")])]),
               "[cost](costs.md)" if is_planned else "", line["note"]]
      text.append("| " + " | ".join(cells) + " |\n")
  return "".join(text)


def facts(name: str) -> dict[str, str]:
  """Revision and digest of the data, from a page of results that `tools/make_tables.py` made."""
  if not name:
    return {}
  text = (_DOCS / name).read_text(encoding="utf-8")
  patterns = {"revision": r"^- git revision[^:]*: (`[^`]+`)", "cache": r"^- data: (`[^`]+`)"}
  return {key: match[1] for key, pattern in patterns.items()
          if (match := re.search(pattern, text, re.MULTILINE))}


def digest(name: str) -> str:
  """A data set and what identifies its archive; "digits" are those within scikit-learn."""
  if name == "digits":
    package, = importlib.util.find_spec("sklearn").submodule_search_locations  # Not imported.
    text = gzip.decompress((pathlib.Path(package) / "datasets/data/digits.csv.gz").read_bytes())
    return f"{name} `{hashlib.sha256(text).hexdigest()[:8]}`"
  _, row = catalog.find(name)
  sums = [file.checksums[0].partition(":")[2][:8] for layout in row.layouts
          if layout.built_from_real for file in layout.files[:1] if file.checksums]
  return f"{name} `{sums[0]}`" if sums else f"{name} (no sum is published)"


if __name__ == "__main__":
  sys.exit(main())

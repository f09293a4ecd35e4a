# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/data.md from the rows: facts, sources and test state of every data set.

    python tools/make_data_table.py             writes docs/data.md
    python tools/make_data_table.py --check     fails if docs/data.md is out of date
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import sys
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

import made_page

from suite.commands import data_commands
from suite.data.streams import nevis_table
from tfds_builders import access
from tfds_builders import catalog
from tfds_builders import links
from tfds_builders import splits
from tfds_builders.rows import row as row_lib

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "data.md"

_HEAD = """# Data sets

<!-- Made by `tools/make_data_table.py` from the rows in `tfds_builders/rows`; do not edit. -->

`tfds.load(NAME)` after `import tfds_builders`, or `suite data build NAME`. `suite data doctor NAME`
says what is prepared, what can be downloaded and what needs credentials or a manual step on this
machine.

**Tried on**: *real* means that the published archive (or a copy of it with the same content) was
built; *small* means that only a small archive of the documented layout was, with its names,
folders, tables and formats and a few small pictures. A *small* row may not fit the real archive in
some detail; the build then stops with a message that names the file.

**Links**: the state of the row's links as recorded (`good`: downloaded on that date, `dead`, or
`listed` by TFDS or the reference code, without a word on whether it works); `suite data doctor NAME
--links` shows each with the evidence, `--check_links` asks the servers. **Download**: what is
downloaded, as published; ~: rounded, or of another archive of the same images.

**Train + dev**: expected size of our splits `train` and `dev` together, which a learner gets (the
published count times their shares by the rule of splits); **paper**: "Size" in appendix L of the
NEVIS'22 paper, which counts both, too. A dash: unknown before the archive is read.

Data sets of NEVIS'22 have the splits `train`, `dev`, `validation` and `test` of section 4.1 of the
paper. A learner gets `train` and `dev`; runs predict `validation` during development, `test` at the
end. `tfds_builders/splits.py` has their shares; NAME_paper (variant *paper*) has the reference's
own draw.

**Croissant**: `suite data croissant NAME --out FILE.json` describes any data set of this page, a
variant or a prepared timeline in MLCommons' format
[Croissant 1.1](https://docs.mlcommons.org/croissant/docs/croissant-spec-1.1.html). The document has
a field for each feature of the records and one for the split, the names of the classes where the
row has them, and the files of the source with URLs, sizes and checksums. Creators and
`datePublished`, a year, are those of the cited publication. The responsible-AI fields say what a
build does with the source, its known defects and what the data set is for. What no row knows is
left out: a license, a size, who collected the images or whom they show. A file without a recorded
checksum makes the document declare `isLiveDataset`, without which Croissant demands one; the
contentUrl of a file without a link is its name: put it beside the document. Where the extra
`croissant` is installed (Python 3.10 or newer), mlcroissant validates the document before it is
written. mlcroissant reads no TFRecord files: read the records with `tfds.load`.
"""

_COLUMNS = ("name", "years", "classes", "train + dev", "paper", "source", "links", "download",
            "credentials", "license", "variants", "tried on")


def page() -> str:
  """Renders the page in Markdown."""
  parts = [_HEAD]
  for family in catalog.FAMILIES:
    rows = catalog.FAMILIES[family]
    parts.append(f"## {family}: {len(rows)} data sets\n")
    parts.append(_table([_cells(family, row) for row in rows]))
    notes = [f"- **{row.name}**: {row.notes}" for row in rows if row.notes]
    if notes:
      parts.append("Differences and defects:\n\n" + "\n".join(notes) + "\n")
    kept = [f"- **{row.name}_paper_compat**: {row.compat.notes}" for row in rows if row.compat]
    if kept:
      parts.append("Defects of the reference that can be restored:\n\n" + "\n".join(kept) + "\n")
  return "\n".join(parts)


def _table(rows: Sequence[dict[str, str]]) -> str:
  shown = [c for c in _COLUMNS if c in ("name", "tried on") or any(row[c] != "-" for row in rows)]
  lines = ["| " + " | ".join(shown) + " |", "|" + "---|" * len(shown)]
  lines += ["| " + " | ".join(row[column].replace("|", "\\|") for column in shown) + " |"
            for row in rows]
  return "\n".join(lines) + "\n"


def _cells(family: str, row: row_lib.Row) -> dict[str, str]:
  variants = [one.name[len(row.name) + 1:] for one in row_lib.variants(row)[1:]]
  train, size = _promised(row, (splits.TRAIN, splits.DEV)), links.download_size(row)
  return {
      "name": row.name,
      "years": ", ".join(_years(row.name)) if family == "nevis" else "-",
      "classes": f"{row.num_classes}{' (multi-label)' if row.kind == row_lib.MULTI_LABEL else ''}",
      "train + dev": f"{train:,}" if train else "-",
      "paper": f"{row.paper_size:,}" if row.paper_size else "-",
      "source": access.kind(row),
      "links": _links(row),
      "download": "-" if size is None else f"{'~' * size.is_about}"
                  f"{data_commands.size(size.num_bytes)}",
      "credentials": access.credentials(row) or "-",
      "license": row.license or "-",
      "variants": ", ".join(variants) or "-",
      "tried on": "real" if any(layout.built_from_real for layout in row.layouts) else "small"}


def _links(row: row_lib.Row) -> str:
  """The worst state of the row's links, with the oldest date of that state; "-" if unknown."""
  found = {link.state: "" for link in links.of(row)}
  for state in (links.DEAD, links.UNKNOWN, links.LISTED, links.GOOD):
    if state in found:
      dates = [link.date for link in links.of(row) if link.state == state]
      return "-" if state == links.UNKNOWN else f"{state} {min(dates)}"
  return "-"


def _years(name: str) -> list[str]:
  return [str(line.year) for line in nevis_table.full() if line.name == name]


def _promised(row: row_lib.Row, names: Sequence[str]) -> int | None:
  """Expected number of examples of some splits: published counts times shares."""
  counts: Any = next((layout.num_examples for layout in row.layouts if layout.num_examples), None)
  if not counts:
    return None
  return round(sum(count * row.splits[source].get(split, 0.0) for source, count in counts.items()
                   for split in names))


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  args = parser.parse_args(arguments)
  return made_page.finish(
      PAGE, page(), args.check, "stale. Run: python tools/make_data_table.py")


if __name__ == "__main__":
  sys.exit(main())

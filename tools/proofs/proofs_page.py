# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/proofs.md of docs/results/published.csv and docs/results/proofs.csv."""

from __future__ import annotations

import csv
import pathlib
import statistics
from typing import Any, Mapping, Sequence

import made_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "proofs.md"
STORED = ROOT / "docs" / "results" / "proofs.csv"
PUBLISHED = ROOT / "docs" / "results" / "published.csv"
CLOSE = 2.0  # Points beyond which a number that has no deviation, or is outside it, is explained.
VERDICTS = WITHIN, NEAR, EXPLAINED, OPEN = (
    "within the deviation", "within 2 points", "explained", "not explained")

Rows = Sequence[Mapping[str, str]]

HEAD = """# Proofs

<!-- Made by `tools/proofs` from docs/results/published.csv and proofs.csv; do not edit. -->

Published numbers of methods, made again by the suite's protocol `incremental` and its learners, in
the settings of their authors, which `tools/proofs` has. Each is a final average accuracy in percent
and one command on two CPU cores.

<!-- not run: needs MNIST -->
```sh
python tools/proofs                                   # lists the published numbers
python tools/proofs BENCHMARK --data DIR --methods er --seeds 0   # DIR/mnist: the four idx files
```

{summary}

The deviation is the published one between seeds, or what the line below a table says; a number that
is neither within it nor within {close:g} points has a remark. Numbers of
the papers whose protocols the suite has, such as ProtoNets on Omniglot, are in
[results](results/README.md).
"""


def read(path: pathlib.Path) -> list[dict[str, str]]:
  """The rows of a file."""
  with open(path, newline="", encoding="utf-8") as file:
    return list(csv.DictReader(file))


def make(benchmarks: Mapping[str, Any], stored: Rows, published: Rows, check: bool) -> int:
  """Writes the page, or compares it; returns the exit status."""
  return made_page.finish(PAGE, page(benchmarks, stored, published), check,
                          "not what its rows give; run python tools/proofs page.")


def verdict(published: Mapping[str, str], ours: float) -> str:
  """How a result compares with the published number."""
  difference = abs(ours - float(published["published"]))
  if published["deviation"] and difference <= float(published["deviation"]):
    return WITHIN
  if difference <= CLOSE:
    return NEAR
  return EXPLAINED if published["remark"] else OPEN


def results(stored: Rows) -> dict[tuple[str, str], list[float]]:
  """The accuracies of all seeds by benchmark and method."""
  found: dict[tuple[str, str], list[float]] = {}
  for row in stored:
    found.setdefault((row["benchmark"], row["method"]), []).append(float(row["accuracy"]))
  return found


def page(benchmarks: Mapping[str, Any], stored: Rows, published: Rows) -> str:
  """docs/proofs.md; published numbers without a result of ours are left out."""
  found, parts, verdicts = results(stored), [], []
  for name, benchmark in benchmarks.items():
    shown = [row for row in published
             if row["benchmark"] == name and (name, row["method"]) in found]
    if not shown:
      continue
    lines = [f"## {benchmark.title}", "", benchmark.about, "",
             f"`python tools/proofs {name} --data DIR`", "",
             "| method | published | suite | seeds | difference | |",
             "|---|---:|---:|---:|---:|---|"]
    for row in shown:
      ours = found[name, row["method"]]
      mean = statistics.fmean(ours)
      verdicts.append(verdict(row, mean))
      spread = f" ± {statistics.stdev(ours):.1f}" if len(ours) > 1 else ""
      deviation = f" ± {row['deviation']}" if row["deviation"] else ""
      lines.append(f"| {row['title']} | {row['published']}{deviation} | {mean:.2f}{spread} | "
                   f"{len(ours)} | {mean - float(row['published']):+.2f} | {verdicts[-1]} |")
    lines += ["", *(f"* {row['title']}: {row['remark']}" for row in shown if row["remark"])]
    parts.append("\n".join(lines).rstrip("\n") + "\n")
  counts = ", ".join(f"{verdicts.count(one)} {one}" for one in VERDICTS)
  return "\n".join([HEAD.format(summary=f"**{len(verdicts)} numbers: {counts}.**", close=CLOSE),
                    *parts])

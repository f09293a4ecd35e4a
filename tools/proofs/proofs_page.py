# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/proofs.md of docs/results/published.csv and docs/results/proofs.csv."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
import csv
import math
import pathlib
import statistics
from typing import Any

import made_page

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "proofs.md"
STORED = ROOT / "docs" / "results" / "proofs.csv"
PUBLISHED = ROOT / "docs" / "results" / "published.csv"
CLOSE = 2.0  # Points, and standard errors.
VERDICTS = WITHIN, NEAR, NEITHER, NOT_RUN = (
    "within 2 standard errors", "within 2 points", "neither", "not run")

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

A number is right if it is within two standard errors of its difference from the published one,
which are sqrt(s1²/n1 + s2²/n2) with the deviation between seeds and the number of seeds of both
sides. Where the suite has one seed, the published deviation stands for both sides. Else it is right
within {close:g} points; that alone counts where the source gives no deviation between seeds, or not
of how many, and the ± of such a source is what the text above its table says. The last column says
which of the two holds. A number that is neither has a remark. With one seed and a large deviation
two standard errors are wide, and the column shows how wide: being within them says little then.
Numbers of the papers whose protocols the suite has, such as ProtoNets on Omniglot, are in
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


def allowed(published: Mapping[str, str], ours: Sequence[float]) -> float | None:
  """Two standard errors of the difference of both means; None where the published one has none."""
  if not published["deviation"] or not published["seeds"]:
    return None
  theirs = float(published["deviation"])
  own = statistics.stdev(ours) if len(ours) > 1 else theirs
  return CLOSE * math.sqrt(theirs ** 2 / int(published["seeds"]) + own ** 2 / len(ours))


def verdict(published: Mapping[str, str], ours: Sequence[float]) -> str:
  """How the results of all seeds compare with the published number."""
  if not ours:
    return NOT_RUN
  difference = abs(statistics.fmean(ours) - float(published["published"]))
  errors = allowed(published, ours)
  if errors is not None and difference <= errors:
    return WITHIN
  return NEAR if difference <= CLOSE else NEITHER


def results(stored: Rows) -> dict[tuple[str, str], list[float]]:
  """The accuracies of all seeds by benchmark and method."""
  found: dict[tuple[str, str], list[float]] = {}
  for row in stored:
    if row["accuracy"]:
      found.setdefault((row["benchmark"], row["method"]), []).append(float(row["accuracy"]))
  return found


def times(stored: Rows) -> dict[tuple[str, str], str]:
  """What one task takes and all would, of methods whose first tasks alone were run."""
  found = {}
  for row in stored:
    if row["tasks"]:
      one = float(row["cpu_seconds"]) / int(row["tasks"])
      found[row["benchmark"], row["method"]] = (
          f"one task takes {one:,.0f} CPU s, the run {one * int(row['of']) / 3600:.1f} h")
  return found


def page(benchmarks: Mapping[str, Any], stored: Rows, published: Rows) -> str:
  """docs/proofs.md: every published number, with a result of ours or the reason why not."""
  found, known, parts, verdicts = results(stored), times(stored), [], []
  _check_rows(benchmarks, found, published)
  for name, benchmark in benchmarks.items():
    shown = [row for row in published if row["benchmark"] == name]
    if not shown:
      continue
    lines = [f"## {benchmark.title}", "", benchmark.about, "",
             f"`python tools/proofs {name} --data DIR`", "",
             "| method | published | suite | seeds | difference | 2 standard errors | |",
             "|---|---:|---:|---:|---:|---:|---|"]
    for row in shown:
      ours = found.get((name, row["method"]), [])
      verdicts.append(verdict(row, ours))
      lines.append(_line(row, ours, verdicts[-1], known.get((name, row["method"]), "")))
    lines += ["", *(f"* {row['title']}: {row['remark']}" for row in shown if row["remark"])]
    parts.append("\n".join(lines).rstrip("\n") + "\n")
  counts = ", ".join(f"{verdicts.count(one)} {one}" for one in VERDICTS)
  return "\n".join([HEAD.format(summary=f"**{len(verdicts)} numbers: {counts}.**", close=CLOSE),
                    *parts])


def _check_rows(benchmarks: Mapping[str, Any],
                found: Mapping[tuple[str, str], Sequence[float]],
                published: Rows) -> None:
  """Refuses rows that the page could not show: every number was run, or says why not."""
  for row in published:
    where = f"{row['benchmark']} {row['method']}"
    if row["benchmark"] not in benchmarks:
      raise ValueError(f"published.csv has {where}; benchmarks are {', '.join(benchmarks)}.")
    if bool(row["not_run"]) == ((row["benchmark"], row["method"]) in found):
      raise ValueError(
          f"published.csv, {where}: not_run is {row['not_run']!r}. Give the reason there if "
          "proofs.csv has no result, and leave it empty if it has one.")


def _line(row: Mapping[str, str], ours: Sequence[float], judged: str, time: str) -> str:
  """A line of a table; time: what a number that was not run would take, if it was measured."""
  deviation = f" ± {row['deviation']}" if row["deviation"] else ""
  begun = f"| {row['title']} | {row['published']}{deviation} |"
  if not ours:
    return f"{begun} | | | | {NOT_RUN}: {'; '.join(filter(None, [time, row['not_run']]))} |"
  mean, errors = statistics.fmean(ours), allowed(row, ours)
  spread = f" ± {statistics.stdev(ours):.1f}" if len(ours) > 1 else ""
  width = "" if errors is None else f" {errors:.2f}"
  return (f"{begun} {mean:.2f}{spread} | {len(ours)} | {mean - float(row['published']):+.2f} |"
          f"{width} | {judged} |")

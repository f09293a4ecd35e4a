# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes docs/parity.md from the results that `tools/parity --store` keeps in docs/results/parity.

    python tools/make_parity_page.py             writes docs/parity.md
    python tools/make_parity_page.py --check     fails if docs/parity.md is out of date
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "parity" / "methods"))
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent / "parity"))

import made_page
import method_cases
import parity_benchmarks
import parity_rows

from suite.configs import methods

PAGE = pathlib.Path(__file__).resolve().parents[1] / "docs" / "parity.md"

_HEAD = """# Parity with the authors' code

<!-- Made by `tools/make_parity_page.py` from the files of `docs/results/parity`; do not edit. -->

The code that the authors of a benchmark published runs unmodified beside the suite on the same
inputs. It is not a part of the suite: clone the repository that a section names, at its commit, and
give its folder as CODE, and as PYTHON an environment with its packages, which the section lists.
`python tools/parity --help` says more; `--store` replaces the file of a section.

| verdict | meaning |
| --- | --- |
| equal | the difference is 0 |
| agrees | it is at most what is allowed: rounding, or three standard errors over seeds or models |
| differs, explained | it is larger, for the reason in the note |

A note names a defect of the published code, or a choice of the suite.

{summary}
"""


def page(results: dict[str, parity_rows.Result]) -> str:
  """Renders the page in Markdown; results by the names of `parity_benchmarks`."""
  verdicts = (parity_rows.EQUAL, parity_rows.AGREES, parity_rows.KNOWN, parity_rows.DIFFERS)
  lines = [_row(["benchmark", "rows", *verdicts]), _row(["---"] + ["---:"] * (len(verdicts) + 1))]
  for result in results.values():
    counts = [sum(row.verdict == verdict for row in result.rows) for verdict in verdicts]
    lines.append(_row([result.title, *(str(count) for count in (len(result.rows), *counts))]))
  sections = [_section(result, parity_benchmarks.BENCHMARKS[name].about)
              for name, result in results.items()]
  if "methods" in results:
    sections.append(_verdicts(results["methods"]))
  return "\n".join([_HEAD.format(summary="\n".join(lines)), *sections])


def _section(result: parity_rows.Result, about: str) -> str:
  notes = list(dict.fromkeys(row.reason for row in result.rows if row.reason))
  lines = [f"## {result.title}\n", f"{about}\n", f"- code: {result.code}",
           f"- command: `{result.command}`",
           f"- date: {result.date}"]
  lines += [f"- versions {side}: {', '.join(f'{n} {v}' for n, v in packages.items())}"
            for side, packages in result.versions.items()]
  lines += ["", _row(["what", "inputs", "theirs", "ours", "difference", "allowed", "verdict"]),
            _row(["---"] * 4 + ["---:"] * 2 + ["---"])]
  for row in result.rows:
    verdict = f"{row.verdict} [{notes.index(row.reason) + 1}]" if row.reason else row.verdict
    lines.append(_row([row.what, row.inputs, row.theirs, row.ours,
                       f"{_number(row.difference)} {row.measure}", _number(row.allowed), verdict]))
  lines += [""] + [f"{number}. {note}" for number, note in enumerate(notes, 1)]
  return "\n".join(lines) + "\n" * bool(notes)


def _verdicts(result: parity_rows.Result) -> str:
  """The table of every method of methods.csv, in its order."""
  order = [method.name for method in methods.load()]
  found = sorted(method_cases.verdicts(result.rows), key=lambda one: order.index(one.method))
  counts = ", ".join(f"{sum(one.verdict == verdict for one in found)} {verdict}"
                     for verdict in method_cases.VERDICTS)
  return "\n".join([
      f"### Every method\n\nOf {len(found)} methods: {counts}. A method has the verdict of all its "
      "rows above, or one of `tools/parity/methods/verdicts.csv`.\n",
      _row(["method", "verdict", "public code, or why"]), _row(["---"] * 3),
      *(_row([f"`{one.method}`", one.verdict, one.why]) for one in found)]) + "\n"


def _number(value: float) -> str:
  return f"{value:,.0f}" if value == int(value) else f"{value:.2g}"


def _row(cells: Sequence[str]) -> str:
  return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def results() -> dict[str, parity_rows.Result]:
  """The stored results by name, in the order of the page."""
  paths = {name: parity_rows.FOLDER / f"{name}.json" for name in parity_benchmarks.BENCHMARKS}
  return {name: parity_rows.load(path) for name, path in paths.items() if path.exists()}


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("--check", action="store_true", help="write nothing; fail if out of date")
  args = parser.parse_args(arguments)
  return made_page.finish(
      PAGE, page(results()), args.check, "stale. Run: python tools/make_parity_page.py")


if __name__ == "__main__":
  sys.exit(main())

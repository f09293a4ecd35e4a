# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs every method under every protocol, small, and compares its costs with what dry runs name.

    python tools/planned.py                    all cells that tests run
    python tools/planned.py er/clear joint/clear
    python tools/planned.py --missing          those without a line: goes on where it was stopped

The runs are those of tests/contracts/method_matrix_test.py, on digits of 8 x 8 pixels. Each is
planned twice, as `suite run --dry_run` does it with `--rate`, where nothing is measured, and
without. All FLOPs, MACs, steps and examples of all phases are compared, and the numbers of events.
The lines go to docs/planned.md; the exit status is 1 if a cell is not equal.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import json
import pathlib
import sys
import tempfile
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.configs import gin_parse
from suite.running import this_process

ROOT = pathlib.Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "planned.md"
HEAD = ("| method | protocol | FLOPs of the run | with `--rate` | measured |",
        "|---|---|---:|---:|---:|")


def line(name: str, protocol: str) -> tuple[str, bool]:
  """The line of a cell, and whether both plans are equal to the run."""
  import matrix_runs
  import method_matrix_test as matrix

  gin_parse.clear()
  with tempfile.TemporaryDirectory(prefix="lifelong-planned-") as folder:
    cell = matrix_runs.CellRun(pathlib.Path(folder), matrix.METHODS[name], protocol,
                               matrix.extra(name, protocol))
    cell.whole(0)
    records = cell.records("whole")
    charged = matrix_runs.costs(records[-1])
    plans = [cell.planned(rate=rate) for rate in (1e12, None)]
  cells = [_shown(events == len(records) and matrix_runs.costs(planned) == charged, planned)
           for events, planned in plans]
  shown = f"| {name} | {protocol} | {charged['flops']:,} | {' | '.join(cells)} |"
  return shown, cells == ["equal"] * 2


def _shown(is_equal: bool, planned: dict[str, Any]) -> str:
  return "equal" if is_equal else f"{planned['flops']}: {json.dumps(planned)}"


def merged(text: str, found: dict[tuple[str, str], str]) -> str:
  """The page with these lines in its table, sorted; other lines stay."""
  lines = text.splitlines()
  first = lines.index(HEAD[1]) + 1
  end = next((i for i in range(first, len(lines)) if not lines[i].startswith("| ")), len(lines))
  rows = {tuple(one.split(" | ")[:2]): one for one in lines[first:end]}
  rows.update({(f"| {name}", protocol): one for (name, protocol), one in found.items()})
  return "\n".join([*lines[:first], *(rows[key] for key in sorted(rows)), *lines[end:]]) + "\n"


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("cells", nargs="*", metavar="METHOD/PROTOCOL", help="cells (all)")
  parser.add_argument("--missing", action="store_true", help="only those without a line")
  args = parser.parse_args(arguments)
  this_process.import_tensorflow()
  sys.path += [str(ROOT / "tests" / folder) for folder in ("shared", "contracts")]
  import method_matrix_test as matrix

  chosen = [tuple(one.split("/")) for one in args.cells] or matrix.RUNS
  unequal = 0
  for name, protocol in chosen:
    text = PAGE.read_text(encoding="utf-8")
    if args.missing and f"| {name} | {protocol} |" in text:
      continue
    shown, is_equal = line(name, protocol)
    unequal += not is_equal
    print(shown, flush=True)
    PAGE.write_text(merged(text, {(name, protocol): shown}), encoding="utf-8")
  return 1 if unequal else 0


if __name__ == "__main__":
  sys.exit(main())

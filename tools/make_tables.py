# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes a page of docs/results from run directories: tables, figure, and how the runs were made.

    python tools/make_tables.py runs/nevis_short --output docs/results/nevis_short.md

writes docs/results/nevis_short.md and, where there is something to draw, nevis_short.svg beside it.
Without --output the page goes to the terminal and no figure is drawn.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import sys
from typing import Any, Sequence

import numpy as np

# Runs from a checkout too, installed or not.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.reporting import figures
from suite.reporting import runs as runs_lib
from suite.reporting import tables

_ENVIRONMENT = ("command", "device", "seed", "python", "platform", "git_revision")


def main(arguments: Sequence[str] | None = None) -> int:
  args = _parser().parse_args(arguments)
  try:
    runs = runs_lib.load(args.dirs)
  except (OSError, ValueError) as error:
    print(f"make_tables: {error}", file=sys.stderr)
    return 1
  drawn = [] if args.output is None else _draw(runs, args.output)
  text = page(runs, title=args.title, figure_names=[path.name for path in drawn])
  if args.output is None:
    print(text, end="")
  else:
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text, encoding="utf-8")
  return 0


def page(runs: Sequence[runs_lib.Run], *, title: str, figure_names: Sequence[str] = ()) -> str:
  """The whole page in Markdown."""
  head = [f"# {title}\n", "Made by `tools/make_tables.py` from the runs' records; do not edit.\n"]
  shown = [f"![{pathlib.Path(name).stem}]({name})\n" for name in figure_names]
  made = ["## How the runs were made\n", *(_provenance(group) for group in _by_environment(runs))]
  return "\n".join([*head, *(table.markdown() for table in tables.build(runs)), *shown, *made])


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("dirs", nargs="+", type=pathlib.Path, metavar="DIR",
                      help="a run, or a --workdir that holds runs")
  parser.add_argument("--output", type=pathlib.Path, metavar="FILE.md")
  parser.add_argument("--title", default="Results")
  return parser


def _draw(runs: Sequence[runs_lib.Run], output: pathlib.Path) -> list[pathlib.Path]:
  """Error against FLOPs of the runs with a headline score, and every accuracy matrix."""
  drawn: dict[pathlib.Path, Any] = {}
  for stream in sorted({_stream(run) for run in runs if _has_headline(run)}):
    points = [figures.Point(run.label, run.last("flops"), run.summary["mean_error"])
              for run in runs if _has_headline(run) and _stream(run) == stream]
    name = output.stem if not drawn else f"{output.stem}_{len(drawn) + 1}"
    drawn[output.with_name(f"{name}.svg")] = figures.error_against_flops(points, title=stream)
  for run in runs:
    if "accuracy_matrix" in run.summary:
      acc = np.array(run.summary["accuracy_matrix"], dtype=float)  # None becomes NaN.
      name = f"{output.stem}_{run.label.replace('/', '_')}_matrix.svg"
      drawn[output.with_name(name)] = figures.accuracy_matrix(acc, title=run.label)
  for path, figure in drawn.items():
    figures.save(figure, path)
  return list(drawn)


def _has_headline(run: runs_lib.Run) -> bool:
  return run.protocol == "nevis" and run.summary.get("mean_error") is not None


def _stream(run: runs_lib.Run) -> str:
  return f"{run.protocol} ({run.summary.get('stream', 'unnamed')})"


def _by_environment(runs: Sequence[runs_lib.Run]) -> list[list[runs_lib.Run]]:
  groups: dict[str, list[runs_lib.Run]] = {}
  for run in runs:
    groups.setdefault(json.dumps(run.environment, sort_keys=True), []).append(run)
  return list(groups.values())


def _provenance(runs: Sequence[runs_lib.Run]) -> str:
  """What one command made, on which device, with which seed and versions."""
  environment = runs[0].environment
  lines = [f"**{', '.join(run.label for run in runs)}**\n"]
  if not environment:
    lines.append(f"- not stored: there was no {runs_lib.ENVIRONMENT}")
  lines += [f"- {name.replace('_', ' ')}: `{_shown(environment[name])}`"
            for name in _ENVIRONMENT if name in environment]
  packages = environment.get("packages") or {}
  if packages:
    versions = ", ".join(f"{name} {version or 'absent'}" for name, version in packages.items())
    lines.append(f"- versions: {versions}")
  return "\n".join(lines) + "\n"


def _shown(value: Any) -> str:
  return "unknown" if value in (None, "") else str(value)


if __name__ == "__main__":
  sys.exit(main())

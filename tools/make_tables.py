# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes a page of docs/results from run directories: tables, figures and provenance.

    python tools/make_tables.py runs/nevis_short --output docs/results/nevis_short.md

writes docs/results/nevis_short.md and its figures, nevis_short.svg, ..., beside it. Without
--output the page is printed and no figure is drawn. With --panel NAME, or --panel all, the page has
the analyses of NEVIS'22 (docs/nevis.md) or of Sort & Search (docs/lifelong.md) in place of the
tables of runs; --panel detection and --panel thresholds are FLUID's figures 3b and 5, --panel
curves the score along any stream (figures 2a and 3a of FLUID), --panel scores that at its end.
"""

from __future__ import annotations

import argparse
from collections.abc import Mapping, Sequence
import json
import pathlib
import sys
from typing import Any

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.reporting import figures
from suite.reporting import panels
from suite.reporting import paper_table
from suite.reporting import quantities
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.reporting import tables
from suite.reporting.run_panels import report_sections

_DRAWN = ("pareto", "matrix", "table")  # Panels whose figures a page has that names none.
_ENVIRONMENT = ("command", "device", "seed", "python", "platform", "git_revision")


def main(arguments: Sequence[str] | None = None) -> int:
  args = _parser().parse_args(arguments)
  try:
    whole, single = table_dir.split(args.dirs)
    shown = report_sections.named(report_sections.chosen(
        report_sections.load(args.dirs), args.panel or _DRAWN))
    if args.panel and not shown:
      raise ValueError(f"No run has what --panel {', '.join(args.panel)} shows.")
    runs = run_dir.load(single) if single else []
    made = [panel.text_table() for panel in shown.values()] if args.panel else [
        *(t for d in whole for t in paper_table.build(d)), *tables.build(runs)]
  except (OSError, ValueError) as error:
    print(f"make_tables: {error}", file=sys.stderr)
    return 1
  drawn = [] if args.output is None else _draw(args.output, shown)
  ways = [*(_provenance_of_table(d) for d in whole), *map(_provenance, _by_environment(runs))]
  text = page(made, ways, title=args.title, figure_names=[path.name for path in drawn])
  if args.output is None:
    print(text, end="")
  else:
    args.output.parent.mkdir(parents=True, exist_ok=True)
    args.output.write_text(text, encoding="utf-8")
  return 0


def page(made: Sequence[quantities.TextTable], ways: Sequence[str], *, title: str,
         figure_names: Sequence[str] = ()) -> str:
  """Renders the page in Markdown; `ways` are the provenance sections."""
  head = [f"# {title}\n",
          "<!-- Made by `tools/make_tables.py` from the runs' records; do not edit. -->\n"]
  shown = [f"![{pathlib.Path(name).stem}]({name})\n" for name in figure_names]
  return "\n".join([*head, *(table.markdown() for table in made), *shown,
                    "## How the runs were made\n", *ways])


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
  parser.add_argument("dirs", nargs="+", type=pathlib.Path, metavar="DIR",
                      help="a run, a --workdir that holds runs, or one of a whole table")
  parser.add_argument("--output", type=pathlib.Path, metavar="FILE.md")
  parser.add_argument("--title", default="Results")
  parser.add_argument("--panel", action="append", default=[], metavar="NAME",
                      help="as in `suite report`; may be repeated")
  return parser


def _draw(output: pathlib.Path, shown: Mapping[str, panels.Panel]) -> list[pathlib.Path]:
  """Writes the figures of panels beside the page; returns their paths."""
  drawn = {output.with_name(f"{output.stem}_{name}.svg"): panel for name, panel in shown.items()
           if figures.can_draw(panel.chart)}
  for path, panel in drawn.items():
    figures.save(figures.draw(panel.chart, title=panel.title), path)
  return list(drawn)


def _by_environment(runs: Sequence[run_dir.Run]) -> list[list[run_dir.Run]]:
  groups: dict[str, list[run_dir.Run]] = {}
  for run in runs:
    groups.setdefault(json.dumps(run.environment, sort_keys=True), []).append(run)
  return list(groups.values())


def _provenance(runs: Sequence[run_dir.Run]) -> str:
  """Renders command, device, seed and versions of the runs of one command."""
  environment = runs[0].environment
  lines = [f"**{', '.join(run.label for run in runs)}**\n"]
  if not environment:
    lines.append(f"- not stored: there was no {run_dir.ENVIRONMENT}")
  lines += [f"- {name.replace('_', ' ')}: `{_shown(environment[name])}`"
            for name in _ENVIRONMENT if name in environment]
  packages = environment.get("packages") or {}
  if packages:
    lines.append(f"- versions: {_versions(packages)}")
  caches = dict.fromkeys(f"- data: `{run.records[0]['cache']}` ({run.records[0]['table']})"
                         for run in runs if run.records and "cache" in run.records[0])
  lines += caches
  # In full, unlike the table's totals: a page that is older than what it shows is found by them.
  spent = [f"{run.label} {run.records[0]['flops']:,}" for run in runs
           if run.records and isinstance(run.records[0].get("flops"), int)]
  if spent:
    lines.append(f"- FLOPs of the first event: {', '.join(spent)}")
  return "\n".join(lines) + "\n"


def _provenance_of_table(directory: pathlib.Path) -> str:
  """Renders the command of a table and the environments of its cells, equal values once."""
  table = table_dir.read(directory)
  lines = [f"**{table.title}**\n", f"- command: `{_shown(table.command)}`",
           f"- seeds: `{', '.join(map(str, table.seeds))}`"]
  environments = table.environments()
  for name in _ENVIRONMENT[1:-1]:
    values = dict.fromkeys(_shown(e.get(name)) for e in environments)
    if name != "seed" and values:
      lines.append(f"- {name.replace('_', ' ')}: {', '.join(f'`{value}`' for value in values)}")
  by_revision = _rows_by_revision(table)
  for revisions, rows in by_revision.items():
    shown = ", ".join(f"`{one}`" for one in revisions)
    of_rows = f" of {', '.join(rows)}" if len(by_revision) > 1 else ""
    lines.append(f"- git revision{of_rows}: {shown}")
  lines += [f"- versions: {versions}" for versions in dict.fromkeys(
      _versions(e.get("packages") or {}) for e in environments)]
  return "\n".join(lines) + "\n"


def _rows_by_revision(table: table_dir.TableDir) -> dict[tuple[str, ...], list[str]]:
  """Lists the rows of a table by the revisions of the code that made their cells."""
  found: dict[tuple[str, ...], list[str]] = {}
  for row in table.rows:
    revisions = {_shown(e.get("git_revision")) for e in table.environments([row])}
    if revisions:
      found.setdefault(tuple(sorted(revisions)), []).append(row)
  return found


def _versions(packages: Mapping[str, Any]) -> str:
  return ", ".join(f"{name} {version or 'absent'}" for name, version in packages.items())


def _shown(value: Any) -> str:
  return "unknown" if value in (None, "") else str(value)


if __name__ == "__main__":
  sys.exit(main())

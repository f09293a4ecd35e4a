# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite report`: tables of runs, and the analyses of NEVIS'22 as panels, from records alone."""

from __future__ import annotations

import pathlib
from typing import TYPE_CHECKING

from suite.configs import gin_files
from suite.reporting import tables
from suite.reporting.nevis_panels import task_facts

if TYPE_CHECKING:
  from suite.reporting import panel as panel_lib

FORMATS = ("text", "html", "markdown", "csv", "latex")  # renderers.FORMATS
_FIGURES = (".png", ".svg")  # figures.FORMATS


def add(commands, parents) -> None:
  """Adds the command to the subparsers of the command line."""
  report = commands.add_parser("report", parents=parents,
                               help="print the tables of runs, and NEVIS'22's analyses")
  report.add_argument("dirs", nargs="+", metavar="DIR", help="a run's work directory")
  report.add_argument("--format", choices=FORMATS, metavar="FORMAT",
                      help=f"render every panel of every protocol: {', '.join(FORMATS)}; html is a "
                      "page with interactive figures (docs/reports.md)")
  report.add_argument("--out", type=pathlib.Path, metavar="FILE",
                      help="write the report there; text where no --format is given")
  report.add_argument("--panel", action="append", default=[], metavar="NAME",
                      help="print an analysis of NEVIS'22 in place of the tables, or all: "
                      "docs/nevis.md lists them; may be repeated")
  report.add_argument("--figures", type=pathlib.Path, metavar="DIR",
                      help="with --panel: folder for the figures")
  report.add_argument("--figure_format", default="png", choices=[f[1:] for f in _FIGURES],
                      help="of the figures (png)")
  report.add_argument("--task_facts", type=pathlib.Path, metavar="FILE.csv",
                      help="with --panel: domain, size, height and width of tasks that are not "
                      "NEVIS'22's, by the column task")
  report.set_defaults(do=_report)


def _report(args) -> int:
  missing = [d for d in args.dirs if not pathlib.Path(d).is_dir()]
  if missing:
    raise gin_files.ConfigError(f"No such directory: {', '.join(missing)}. "
                                "Give the --workdir of a run (./runs/RUN when none was given).")
  if args.panel and (args.format or args.out):
    raise gin_files.ConfigError("--panel prints some analyses, --format and --out write all of "
                                "them: leave one out.")
  if args.panel:
    return _report_panels(args)
  if args.figures or args.task_facts:
    raise gin_files.ConfigError("--figures and --task_facts belong to --panel: add --panel all, or "
                                "leave them out.")
  if not args.format and not args.out:
    print(tables.report(args.dirs))
    return 0
  return _report_all(args)


def _report_all(args) -> int:
  from suite.reporting.formats import renderers
  from suite.reporting.run_panels import report_sections

  form = args.format or "text"
  if form == "html" and not args.out:
    raise gin_files.ConfigError("--format html is a page of 5 MB: add --out FILE.html.")
  text = renderers.render(report_sections.load(args.dirs), form, args.out)
  if not args.out:
    print(text, end="")
    return 0
  args.out.parent.mkdir(parents=True, exist_ok=True)
  args.out.write_text(text, encoding="utf-8")
  print(f"Report: {args.out}")
  return 0


def _report_panels(args) -> int:
  from suite.reporting.nevis_panels import panel_list

  unknown = sorted(set(args.panel) - {panel_list.ALL, *panel_list.NAMES})
  if unknown:
    raise gin_files.ConfigError(f"Unknown panel {', '.join(map(repr, unknown))}; allowed are "
                                f"{panel_list.ALL}, {', '.join(panel_list.NAMES)}.")
  if args.task_facts and not args.task_facts.is_file():
    raise gin_files.ConfigError(f"No such file: {args.task_facts}. A file of facts is a CSV with "
                                f"the columns {', '.join(task_facts.COLUMNS)}.")
  facts = task_facts.read(args.task_facts) if args.task_facts else None
  panels = panel_list.load(args.dirs, args.panel, facts)
  if not panels:
    raise gin_files.ConfigError(
        f"No run of NEVIS'22 in {', '.join(args.dirs)} has what {', '.join(args.panel)} shows. "
        "Leave --panel out for the tables of all protocols.")
  for panel in panels:
    print(panel.text_table().text())
    _save(panel, args)
  return 0


def _save(panel: panel_lib.Panel, args) -> None:
  from suite.reporting import figures

  if args.figures and panel.figure:
    path = args.figures / f"{panel.name}.{args.figure_format}"
    figures.save(panel.figure(), path)
    print(f"Figure: {path}\n")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite list` and `suite report`: the shipped runs, and what runs have recorded."""

from __future__ import annotations

import argparse
import itertools
import pathlib
from typing import Any

from suite.commands import parsing
from suite.commands import show_commands
from suite.configs import gin_files
from suite.configs import method_settings
from suite.configs import methods
from suite.configs import run_headers
from suite.configs import run_settings
from suite.system import atomic_files
from suite.system import processes

FORMATS = ("text", "html", "markdown", "csv", "latex")  # renderers.FORMATS
_CARD = "card"
_FIGURES = (".png", ".svg")  # figures.FORMATS


def add_list(listing: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite list`."""
  run_settings.add_flags(listing, "debug")
  listing.add_argument("words", nargs="*", metavar="WORD",
                       help="show runs whose name or description has every word")
  listing.add_argument("--benchmark", choices=run_headers.BENCHMARKS, metavar="NAME",
                       help=f"of one benchmark: {', '.join(run_headers.BENCHMARKS)}")
  listing.add_argument("--hardware", choices=run_headers.HARDWARE,
                       help="what a run is meant for")
  parsing.by(listing.add_argument(
      "--data", metavar="NAME", help="runs that read this data: digits, cifar10, tiny_imagenet, "
      "omniglot, clear10, slimagenet64, nevis, ..."), parsing.data_of_runs)
  listing.add_argument("--methods", nargs="?", const="", metavar="PROTOCOL",
                       help="the methods instead: papers, protocols and settings; of one protocol: "
                       f" {', '.join(methods.NAMED)}")
  listing.add_argument("--long", action="store_true",
                       help="also what a run gave; of methods a line for each setting")
  listing.add_argument("--names", action="store_true", help="names alone, for a shell")
  listing.set_defaults(do=_list)


def _list(args: argparse.Namespace) -> int:
  if args.methods is not None:
    return _list_methods(args)
  chosen = [
      header for header in run_headers.shipped()
      if all(word.lower() in f"{header.name} {header.benchmark} {header.what}".lower()
             for word in args.words)
      and args.benchmark in (None, header.benchmark) and args.hardware in (None, header.hardware)
      and (args.data is None or args.data in header.data.replace(",", " ").split())]
  if not chosen:
    known = parsing.data_of_runs()
    near = ("words, --benchmark, --hardware and --data must all fit. Leave one out."
            if args.data in (None, *known) else
            f"no run reads {args.data!r}. {gin_files.nearest(args.data, known)}")
    raise gin_files.ConfigError(f"No shipped run is like that: {near} suite list without arguments "
                                "shows all of them.")
  if args.names:
    print("\n".join(header.name for header in chosen))
    return 0
  columns = ["run", "hardware", "data", "cost", *(["gave"] if args.long else []), "what"]
  for benchmark, group in itertools.groupby(chosen, key=lambda header: header.benchmark):
    print(f"# {benchmark}")
    print(parsing.table_text(columns, [
        [header.name, header.hardware, header.data, header.cost,
         *([header.gave] if args.long else []), header.what] for header in group]))
    print()
  print("Before a run: suite run RUN --dry_run says what it will cost here.")
  return 0


def _list_methods(args: argparse.Namespace) -> int:
  protocol = args.methods
  if protocol and protocol not in methods.NAMED:
    # `suite list --methods er`: the word is a method's.
    args.words, protocol = [*args.words, protocol], ""
  known = {one.name for one in methods.load()}
  column = methods.column(protocol)
  chosen = [one for one in methods.load() if (not protocol or column in one.protocols)
            and (one.name in args.words or not known & set(args.words))
            and all(word.lower() in f"{one.name} {one.title} {one.paper}".lower()
                    for word in args.words)]
  if not chosen:
    near = gin_files.nearest(args.words[-1], [*known, *methods.NAMED])
    raise gin_files.ConfigError(f"No method{f' of {protocol}' if protocol else ''} has "
                                f"{' and '.join(map(repr, args.words))}. {near}")
  if args.names:
    print("\n".join(one.name for one in chosen))
    return 0
  is_long = args.long or len(chosen) == 1
  rows = []
  for one in chosen:
    settings = list(method_settings.of(one, protocol).values())
    units = ["" if setting.value is None or setting.unit in setting.name or "epochs" in setting.name
             else f" {setting.unit}" for setting in settings]  # Unless the name says it.
    rows.append([one.name, f"{one.title} ({one.paper})" if one.paper else one.title,
                 " ".join(one.protocols), ", ".join(
                     f"{setting.name}={setting.value}{unit}"
                     for setting, unit in zip(settings, units))])
    if is_long:
      show_commands.show_method(one, protocol)
      print()
  if not is_long:
    print(parsing.table_text(["method", "what", "protocols", "settings"], rows))
    print()
  print("What a setting is: suite show NAME. To run: suite run RUN --methods NAME,NAME\n"
        "--set SETTING=VALUE, or in Python suite.learner(model, NAME, SETTING=VALUE).")
  return 0


def add_report(report: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite report`."""
  run_settings.add_flags(report, "debug")
  report.add_argument("dirs", nargs="+", metavar="DIR", help="a run's work directory")
  report.add_argument("--format", choices=(*FORMATS, _CARD), metavar="FORMAT",
                      help=f"render every panel of every protocol: {', '.join(FORMATS)}; html is a "
                      "page with interactive figures; card is the card of one method, Markdown "
                      "with YAML front matter (docs/reports.md)")
  report.add_argument("--out", type=pathlib.Path, metavar="FILE",
                      help="write the report there; text where no --format is given")
  report.add_argument("--all", action="store_true",
                      help="every value of the summaries, in place of the named ones")
  report.add_argument("--panel", action="append", default=[], metavar="NAME",
                      help="one analysis in place of all: docs/reports.md and, of NEVIS'22, "
                      "docs/nevis.md list them; may be repeated")
  report.add_argument("--figures", type=pathlib.Path, metavar="DIR",
                      help="with --panel of NEVIS'22, CLEAR or Sort & Search: folder of "
                      "the figures")
  report.add_argument("--figure_format", default="png", choices=[f[1:] for f in _FIGURES],
                      help="of the figures (png)")
  report.add_argument("--task_facts", type=pathlib.Path, metavar="FILE.csv",
                      help="domain, size, height and width of tasks that are not "
                      "NEVIS'22's, by the column task")
  report.set_defaults(do=_report)


def _report(args: argparse.Namespace) -> int:
  missing = [d for d in args.dirs if not pathlib.Path(d).is_dir()]
  if missing:
    raise gin_files.ConfigError(f"No such directory: {', '.join(missing)}. "
                                "Give the --workdir of a run (./runs/RUN when none was given).")
  if args.figures and not args.panel:
    raise gin_files.ConfigError("--figures draws what --panel names: add --panel all, or leave it "
                                "out. The figures of a page: --format html.")
  if args.figures and args.format:
    raise gin_files.ConfigError("--figures writes files beside text, and --format html has its "
                                "own figures: leave one out.")
  if args.format == _CARD:
    return _report_card(args)
  facts = None
  if args.task_facts:
    from suite.reporting.nevis_panels import stream_results
    if not args.task_facts.is_file():
      raise gin_files.ConfigError(f"No such file: {args.task_facts}. A file of facts is a CSV with "
                                  f"the columns {', '.join(stream_results.FACTS_COLUMNS)}.")
    facts = stream_results.read_facts(args.task_facts)
  if args.figures:
    return _report_panels(args, facts)
  if not (args.panel or args.format or args.out or facts):
    from suite.reporting import tables
    print(tables.report(args.dirs, every=args.all, most=processes.terminal_width()))
    return 0
  from suite.reporting.formats import renderers
  from suite.reporting.run_panels import report_sections
  form = args.format or "text"
  if form == "html" and not args.out:
    raise gin_files.ConfigError("--format html is a page of 5 MB: add --out FILE.html.")
  sections = report_sections.load(args.dirs, facts)
  if args.panel:
    try:
      sections = report_sections.chosen(sections, args.panel)
    except ValueError as error:
      raise gin_files.ConfigError(str(error)) from error
  if not sections:
    raise gin_files.ConfigError(f"Nothing in {', '.join(args.dirs)} has what "
                                f"{', '.join(args.panel)} shows. Leave --panel out for all.")
  return give(renderers.render(sections, form, args.out), args.out, "Report")


def give(text: str, out: pathlib.Path | None, what: str) -> int:
  """Writes a report to its file, or prints it."""
  if not out:
    print(text, end="")
    return 0
  if out.is_dir():
    raise gin_files.ConfigError(f"--out {out} is a folder; give a file in it.")
  out.parent.mkdir(parents=True, exist_ok=True)
  atomic_files.write(out, text.encode("utf-8"))
  print(f"{what}: {out}")
  return 0


def _report_card(args: argparse.Namespace) -> int:
  given = [flag for flag in ("all", "panel", "figures", "task_facts") if getattr(args, flag)]
  if given:
    raise gin_files.ConfigError(f"--{given[0]} chooses what a report shows, and a card has one "
                                "form. Leave it out.")
  from suite.reporting.formats import model_card
  papers = {one.name: (one.title, one.paper) for one in methods.load()}
  return give(model_card.render(args.dirs, papers), args.out, "Card")


def _report_panels(args: argparse.Namespace, facts: Any) -> int:
  from suite.reporting import figures
  from suite.reporting.nevis_panels import panel_list
  from suite.reporting.run_panels import bucket_panels
  from suite.reporting.run_panels import budget_panels

  names = [panel_list.ALL, *panel_list.NAMES, *bucket_panels.NAMES, *budget_panels.NAMES]
  if unknown := sorted(set(args.panel) - set(names)):
    raise gin_files.ConfigError(f"Unknown panel {', '.join(map(repr, unknown))}; with --figures "
                                f"allowed are {', '.join(names)}.")
  of_tasks = [name for name in args.panel
              if name not in (*bucket_panels.NAMES, *budget_panels.NAMES)]
  of_buckets, of_budgets = (
      [name for name in known if name in args.panel or panel_list.ALL in args.panel]
      for known in (bucket_panels.NAMES, budget_panels.NAMES))
  panels = [*(panel_list.load(args.dirs, of_tasks, facts) if of_tasks else []),
            *(bucket_panels.load(args.dirs, of_buckets) if of_buckets else []),
            *(budget_panels.load(args.dirs, of_budgets) if of_budgets else [])]
  if not panels:
    kinds = (["NEVIS'22"] * bool(of_tasks) + ["CLEAR"] * bool(of_buckets)
             + ["lifelong_figures"] * bool(of_budgets))
    raise gin_files.ConfigError(
        f"No run of {' or '.join(kinds)} in {', '.join(args.dirs)} has what "
        f"{', '.join(args.panel)} shows. "
        "Leave --panel out for the tables of all protocols.")
  for panel in panels:
    print(panel.text_table().text())
    if panel.figure:
      path = args.figures / f"{panel.name}.{args.figure_format}"
      figures.save(panel.figure(), path)
      print(f"Figure: {path}\n")
  return 0

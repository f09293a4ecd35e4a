# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite report`, `suite atlas` and `suite export`: what finished runs have left.

A report is what runs have recorded, an atlas which failures of their methods come together under
all protocols, and an export is what a run has trained, as a model that stands alone.
"""

from __future__ import annotations

import argparse
import pathlib

from suite.commands import parsing
from suite.commands import run_commands
from suite.configs import gin_files
from suite.configs import methods
from suite.configs import run_settings
from suite.running import this_process
from suite.system import atomic_files
from suite.system import processes

FORMATS = ("text", "html", "markdown", "csv", "latex")  # renderers.FORMATS
_CARD = "card"
_ENDINGS = {".txt": "text", ".html": "html", ".htm": "html", ".md": "markdown", ".csv": "csv",
            ".tex": "latex"}
_LISTED = ", ".join(ending for ending in _ENDINGS if ending != ".htm")
_FIGURES = (".png", ".svg")  # figures.FORMATS
_TABLE = "leaderboard/smoke"


def add_report(report: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite report`."""
  run_settings.add_flags(report, "debug")
  report.add_argument("dirs", nargs="+", metavar="DIR", help="a run's work directory")
  report.add_argument("--format", choices=(*FORMATS, _CARD), metavar="FORMAT",
                      help=f"render every panel of every protocol: {', '.join(FORMATS)}; html is a "
                      "page with interactive figures; card is the card of one method, Markdown "
                      "with YAML front matter (docs/reports.md)")
  report.add_argument("--out", type=pathlib.Path, metavar="FILE",
                      help=f"write the report there; its ending says the format: {_LISTED}")
  report.add_argument("--all", action="store_true",
                      help="every value of the summaries, in place of the named ones, and every "
                      "run of a learner, in place of the latest one")
  report.add_argument("--panel", action="append", default=[], metavar="NAME",
                      help="one analysis in place of all: docs/reports.md and, of NEVIS'22, "
                      "docs/nevis.md list them; may be repeated")
  report.add_argument("--figures", type=pathlib.Path, metavar="DIR",
                      help="with --panel: folder of their figures")
  report.add_argument("--figure_format", default="png", choices=[f[1:] for f in _FIGURES],
                      help="of the figures (png)")
  report.add_argument("--task_facts", type=pathlib.Path, metavar="FILE.csv",
                      help="domain, size, height and width of tasks that are not "
                      "NEVIS'22's, by the column task")
  report.set_defaults(do=_report)


def _format(given: str | None, out: pathlib.Path | None) -> str | None:
  """The format of a report: --format, or what the ending of --out says; the two must agree."""
  if out is None or not out.suffix:
    return given
  said = _ENDINGS.get(out.suffix.lower())
  if given is None and said is None:
    raise gin_files.ConfigError(f"--out {out}: its ending says the format, and {out.suffix!r} is "
                                f"none of {_LISTED}. Rename it, or add --format.")
  if given is not None and said not in (None, "markdown" if given == _CARD else given):
    raise gin_files.ConfigError(f"--out {out} is {said} by its ending, and --format {given} is "
                                "another format. Leave --format out, or rename the file.")
  return given or said


def _report(args: argparse.Namespace) -> int:
  args.format = _format(args.format, args.out)
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
    given = [flag for flag in ("all", "panel", "figures", "task_facts") if getattr(args, flag)]
    if given:
      raise gin_files.ConfigError(f"--{given[0]} chooses what a report shows, and a card has one "
                                  "form. Leave it out.")
    from suite.reporting.formats import model_card
    papers = {one.name: (one.title, one.paper) for one in methods.load()}
    return _give(model_card.render(args.dirs, papers), args.out, "Card")
  facts = None
  if args.task_facts:
    from suite.reporting.nevis_panels import stream_results
    if not args.task_facts.is_file():
      raise gin_files.ConfigError(f"No such file: {args.task_facts}. A file of facts is a CSV with "
                                  f"the columns {', '.join(stream_results.FACTS_COLUMNS)}.")
    facts = stream_results.read_facts(args.task_facts)
  if not (args.panel or args.format or args.out or facts):
    from suite.reporting import tables
    print(tables.report(args.dirs, every=args.all, most=processes.terminal_width()))
    return 0
  from suite.reporting.formats import renderers
  from suite.reporting.run_panels import report_sections
  form = args.format or "text"
  if form == "html" and not args.out:
    raise gin_files.ConfigError("--format html is a page of 2 MB: add --out FILE.html.")
  sections = report_sections.load(args.dirs, facts)
  if args.panel:
    try:
      sections = report_sections.chosen(sections, args.panel)
    except ValueError as error:
      raise gin_files.ConfigError(str(error)) from error
  if not sections:
    raise gin_files.ConfigError(f"Nothing in {', '.join(args.dirs)} has what "
                                f"{', '.join(args.panel)} shows. Leave --panel out for all.")
  if args.figures:
    from suite.reporting import figures
    for name, panel in report_sections.named(sections).items():
      print(panel.text_table().text())
      if panel.chart and figures.can_draw(panel.chart):
        path = args.figures / f"{name}.{args.figure_format}"
        figures.save(figures.draw(panel.chart, title=panel.title), path)
        print(f"Figure: {path}\n")
    return 0
  return _give(renderers.render(sections, form, args.out), args.out, "Report")


def _give(text: str, out: pathlib.Path | None, what: str) -> int:
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


def add_atlas(atlas: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite atlas`."""
  atlas.add_argument("dirs", nargs="*", metavar="DIR",
                     help="directories of finished runs, whole tables too, at any depth")
  atlas.add_argument("--methods", default="", metavar="NAME,NAME",
                     help="run these rows of --table first, each under all protocols")
  parsing.by(atlas.add_argument(
      "--table", default=_TABLE, metavar="RUN",
      help=f"a leaderboard, such as leaderboard/cpu on real data ({_TABLE})"), parsing.runs)
  atlas.add_argument("--workdir", metavar="DIR", help="of the table (runs/TABLE)")
  atlas.add_argument("--data_dir", metavar="DIR", help="of the table's data")
  atlas.add_argument("--jobs", type=int, default=1, metavar="N", help="cells at once (1)")
  atlas.add_argument("--format", choices=FORMATS,
                     help="of what is printed or written (text)")
  atlas.add_argument("--out", type=pathlib.Path, metavar="FILE",
                     help=f"write it there; its ending says the format: {_LISTED}")
  atlas.set_defaults(do=_atlas)


def _atlas(args: argparse.Namespace) -> int:
  args.format = _format(args.format, args.out)
  if args.format == "html" and not args.out:
    raise gin_files.ConfigError("--format html is a page of 2 MB: add --out FILE.html.")
  dirs = list(args.dirs)
  if args.methods:
    workdir = args.workdir or f"runs/{args.table}"
    run = parsing.Parser(prog="suite run")
    run_commands.add(run)
    words = [args.table, "--workdir", workdir, "--jobs", str(args.jobs)]
    words += ["--data_dir", args.data_dir] if args.data_dir else []
    for name in args.methods.split(","):
      words += ["--only", f"{name.strip()}/*"]
    asked = run.parse_args(words)
    asked.command = " ".join(["suite run", *words])
    code = int(asked.do(asked))
    if code:
      return code
    dirs.append(workdir)
  if not dirs:
    raise gin_files.ConfigError("Give directories of finished runs, or --methods NAME,NAME to run "
                                f"them under all protocols of --table ({_TABLE}).")
  from suite.reporting import panels
  from suite.reporting.formats import renderers
  from suite.reporting.run_panels import failure_panels
  stored = failure_panels.load(dirs)
  if not stored:
    raise gin_files.ConfigError(f"No finished run in {', '.join(map(str, dirs))} has saved answers "
                                "outside of episodes.")
  sections = []
  for one in stored:
    made = failure_panels.build(one)
    sections.append(panels.Section(one.title, made, len(made)))
  return _give(renderers.render(sections, args.format or "text", args.out), args.out, "Atlas")


def add_export(export: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite export`."""
  run_settings.add_flags(export, "debug", *run_settings.DATA_FLAGS)
  parsing.by(export.add_argument(
      "run", metavar="RUN|DIR", help="the work directory of a finished run, or the run's name "
      "(runs/RUN)"), parsing.runs)
  export.add_argument("--learner", metavar="NAME", help="of the run; not needed if it has one")
  export.add_argument("--out", required=True, metavar="DIR|FILE.keras",
                      help="a new folder for a SavedModel, of raw images to scores; or a .keras "
                      "file of the net")
  export.add_argument("--task", default="", metavar="NAME",
                      help="of NEVIS'22: the task to answer (the last one)")
  export.set_defaults(do=_export)


def _export(args: argparse.Namespace) -> int:
  folder = pathlib.Path(args.run)
  if not folder.is_dir():
    folder = pathlib.Path("runs", args.run)
  if not folder.is_dir():
    raise gin_files.ConfigError(f"There is no directory {args.run!r}, and no {folder}. Give the "
                                "--workdir of a finished run, or the name of one in ./runs.")
  run_settings.from_flags(args).set_data_dirs()
  this_process.import_tensorflow()
  from suite.running import trained_model
  print(trained_model.of_workdir(folder, args.learner, task=args.task).save(args.out))
  return 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite atlas`: what methods fail on under all protocols, and which failures come together."""

from __future__ import annotations

import argparse
import pathlib

from suite.commands import parsing
from suite.commands import report_commands
from suite.commands import run_commands
from suite.configs import gin_files

_TABLE = "leaderboard/smoke"


def add(atlas: argparse.ArgumentParser) -> None:
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
  atlas.add_argument("--format", choices=report_commands.FORMATS,
                     help="of what is printed or written (text)")
  atlas.add_argument("--out", type=pathlib.Path, metavar="FILE", help="write it there")
  atlas.set_defaults(do=_atlas)


def _atlas(args: argparse.Namespace) -> int:
  if args.format == "html" and not args.out:
    raise gin_files.ConfigError("--format html is a page of 5 MB: add --out FILE.html.")
  dirs = list(args.dirs)
  if args.methods:
    workdir = args.workdir or f"runs/{args.table}"
    code = _run(args, workdir)
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
  return report_commands.give(
      renderers.render(sections, args.format or "text", args.out), args.out, "Atlas")


def _run(args: argparse.Namespace, workdir: str) -> int:
  """Runs the rows of the table, or resumes them."""
  run = argparse.ArgumentParser(prog="suite run")
  run_commands.add(run)
  words = [args.table, "--workdir", workdir, "--jobs", str(args.jobs)]
  words += ["--data_dir", args.data_dir] if args.data_dir else []
  for name in args.methods.split(","):
    words += ["--only", f"{name.strip()}/*"]
  asked = run.parse_args(words)
  asked.command = " ".join(["suite run", *words])
  return int(asked.do(asked))

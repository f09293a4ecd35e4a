# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite submit` and `suite leaderboard`: runs are handed in, and become a site."""

from __future__ import annotations

import argparse
import pathlib
from typing import Any

from suite.commands import parsing
from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import run_settings
from suite.system import sealed_json

_FIELDS = ("license", "contact", "title")


def _add_submit(submit: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite submit`."""
  submit.description = (
      "Packs finished runs of registered methods, made with suite run --keep states=N, for a "
      "leaderboard: records, configurations, answers by image id, digests of data and of the state "
      "before every event (docs/submissions.md).")
  run_settings.add_flags(submit, "debug")
  submit.add_argument("dir", metavar="DIR", type=pathlib.Path,
                      help="the work directory of a run or table; all runs in it are handed in")
  submit.add_argument("--out", type=parsing.file_named(".zip"), required=True, metavar="FILE.zip",
                      help="the bundle")
  submit.add_argument("--license", metavar="NAME", help="of records and answers, such as CC-BY-4.0")
  submit.add_argument("--contact", metavar="TEXT", help="whom to ask for states")
  submit.add_argument("--title", metavar="TEXT", help="in a few words (none)")
  submit.add_argument("--about", type=pathlib.Path, metavar="FILE.json",
                      help=f"a file with {', '.join(_FIELDS)} in place of the flags")
  submit.add_argument("--board", type=pathlib.Path, metavar="FILE.json",
                      help="what the leaderboard prescribes: other runs are refused")
  submit.set_defaults(do=_submit)


def _submit(args: argparse.Namespace) -> int:
  from suite.beside.submissions import board
  from suite.beside.submissions import bundle
  given: dict[str, Any] = {}
  if args.about:
    given = sealed_json.load(args.about, f"JSON object with {', '.join(_FIELDS)}", "",
                             error=gin_files.ConfigError)
    unknown = sorted(set(given) - set(_FIELDS))
    if unknown:
      raise gin_files.ConfigError(f"--about {args.about} has {', '.join(unknown)}; allowed are "
                                  f"{', '.join(_FIELDS)}.")
  given.update({name: getattr(args, name) for name in _FIELDS if getattr(args, name) is not None})
  further = {} if args.board is None else {"problems_of": board.read(args.board).problems}
  try:
    about = bundle.About(**{"license": "", "contact": "", **{
        name: str(value) for name, value in given.items()}})
    content = bundle.pack(args.dir, args.out, about, **further)
  except (bundle.SubmitError, FileNotFoundError) as error:
    raise gin_files.ConfigError(str(error)) from error
  print(f"{args.out}: {len(content['runs'])} runs, {args.out.stat().st_size:,} bytes")
  print("Keep the work directory: whoever verifies may ask for states in LEARNER/state/kept.")
  return 0


def _add_leaderboard(leaderboard: argparse.ArgumentParser) -> None:
  """Adds the commands of `suite leaderboard`."""
  commands = leaderboard.add_subparsers(title="commands", metavar="COMMAND", required=True)
  build = commands.add_parser("build", help="make a static site from a folder of bundles")
  build.description = (
      "Makes a site of static pages from FOLDER/*.zip: tables by protocol and stream, a page for "
      "each method, and what suite verify --json found (FOLDER/NAME.json beside NAME.zip).")
  run_settings.add_flags(build, "debug")
  build.add_argument("folder", metavar="FOLDER", type=pathlib.Path, help="of bundles")
  build.add_argument("--out", type=pathlib.Path, required=True, metavar="DIR",
                     help="the site, a folder")
  build.add_argument("--tables", action="store_true",
                     help="tables alone: pages of some kB, without figures")
  build.add_argument("--no_bundles", action="store_true",
                     help="name the bundles with their digests, without copies of them")
  build.add_argument("--title", default="Leaderboard", metavar="TEXT", help="(%(default)s)")
  build.add_argument("--board", type=pathlib.Path, metavar="FILE.json",
                     help="what is prescribed: bundles with other runs are left out")
  build.set_defaults(do=_build)


def _build(args: argparse.Namespace) -> int:
  from suite.beside.submissions import board
  from suite.beside.submissions import site
  if not args.folder.is_dir() or not any(args.folder.glob("*.zip")):
    raise gin_files.ConfigError(f"{args.folder} has no bundles, *.zip. suite submit makes them.")
  for line in site.build(args.folder, args.out, args.title, figures=not args.tables,
                         copies=not args.no_bundles,
                         board=None if args.board is None else board.read(args.board)):
    print(line)
  return 0


SUBMIT = entry_points.Command("pack finished runs for a leaderboard", _add_submit)
LEADERBOARD = entry_points.Command("make a site from bundles", _add_leaderboard)

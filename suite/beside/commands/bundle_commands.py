# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite verify BUNDLE.zip`: verifies what was handed in to a leaderboard."""

from __future__ import annotations

import argparse
from collections.abc import Callable
import functools
import pathlib
import re

from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import run_settings
from suite.running import this_process
from suite.system import sealed_json


def _add(verify: argparse.ArgumentParser) -> None:
  """Adds the flags of bundles to `suite verify`, and takes bundles from its function."""
  group = verify.add_argument_group(
      "bundles", "DIR may be one bundle of suite submit: scores and FLOPs are computed again, and "
      "events executed again (docs/submissions.md).")
  run_settings.add_flags(verify, "data_dir")
  group.add_argument("--replay", type=run_settings.positive, metavar="K",
                     help="execute K of its events again, drawn from all")
  group.add_argument("--states", type=pathlib.Path, metavar="DIR",
                     help="with --replay: the submitter's kept states, as they lie in the work "
                     "directory")
  group.add_argument("--draw", type=int, metavar="N",
                     help="with --replay: what events are drawn with, chosen after the bundle was "
                     "handed in (a random number, which is said)")
  group.add_argument("--seeds", type=_seeds, default=(), metavar="N,N",
                     help="the seeds that each method must have, and no others")
  group.add_argument("--board", type=pathlib.Path, metavar="FILE.json",
                     help="what the leaderboard prescribes, in place of --seeds")
  group.add_argument("--quick", action="store_true",
                     help="compare records with answers alone; compute nothing again")
  group.add_argument("--json", action="store_true", help="what was found, as JSON")
  verify.set_defaults(do=functools.partial(_verify, verify.get_default("do")))


def _seeds(text: str) -> tuple[int, ...]:
  if not re.fullmatch(r"[0-9]{1,9}(,[0-9]{1,9})*", text):
    raise argparse.ArgumentTypeError(f"got {text!r:.60}, allowed are whole numbers from 0, as "
                                     "0,1,2")
  return tuple(map(int, text.split(",")))


def _verify_bundle(args: argparse.Namespace) -> int:
  """Prints what was found out about a bundle; returns the exit code."""
  if args.repair:
    raise gin_files.ConfigError("--repair is for directories; a bundle is packed again by suite "
                                "submit.")
  if args.replay is None and (args.states or args.draw is not None):
    raise gin_files.ConfigError("--states and --draw are flags of --replay K: add that.")
  if args.states and not args.states.is_dir():
    raise gin_files.ConfigError(f"--states {args.states} is no folder.")
  if args.board and args.seeds:
    raise gin_files.ConfigError("--board has the seeds: leave --seeds out.")
  from suite.beside.submissions import board as board_lib
  board = None if args.board is None else board_lib.read(args.board)
  run_settings.from_flags(args).set_data_dirs()
  if args.replay or not args.quick:
    this_process.import_tensorflow()
  from suite.beside.submissions import bundle
  from suite.beside.submissions import verification
  try:
    report = verification.verify(
        args.dirs[0], replay=args.replay or 0, states=args.states, draw=args.draw, seeds=args.seeds,
        recompute=not args.quick, board=board)
  except bundle.BundleError as error:
    print(sealed_json.text({"badge": "refused", "problem": str(error)}) if args.json else
          f"{error}\n\nverdict: refused")
    return 1
  print(sealed_json.text(report.values()) if args.json else verification.text(report))
  return 1 if report.failed or report.waits else 0


def _verify(directories: Callable[[argparse.Namespace], int], args: argparse.Namespace) -> int:
  if any(path.suffix == ".zip" and path.is_file() for path in args.dirs):
    if len(args.dirs) > 1:
      raise gin_files.ConfigError("Give one bundle at a time.")
    return _verify_bundle(args)
  for name in ("replay", "states", "draw", "seeds", "board", "quick", "json"):
    if getattr(args, name) not in (None, False, ()):
      raise gin_files.ConfigError(f"--{name} is a flag of bundles, FILE.zip, and "
                                  f"{args.dirs[0]} is none.")
  return directories(args)


COMMAND = entry_points.Command("verify a bundle", _add)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite run`: one experiment, or a table of them; `--dry_run` says what either will cost."""

from __future__ import annotations

import argparse
import shlex
import sys
from typing import Any

from suite.commands import parsing
from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import method_values
from suite.configs import run_settings
from suite.running import this_process

PROCESSES = "processes"  # The engine of the core.
_MOST_SEEDS = 20  # That a message lists.


def add(run: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite run`."""
  run_settings.add_flags(run, "debug", *run_settings.DATA_FLAGS)
  parsing.by(run.add_argument(
      "run", metavar="RUN", help="a name from `suite list`, or a gin file"), parsing.runs)
  run.add_argument("--gin_file", action="append", default=[], metavar="FILE",
                   help="gin file that goes before RUN (gin/debug.gin makes any run small)")
  parsing.by(run.add_argument(
      "--gin_param", action="append", default=[], metavar="X=Y",
      help="gin binding that goes before all files; may be repeated"), parsing.bindings)
  parsing.by(run.add_argument(
      "--set", action="append", dest="gin_param", metavar="NAME=VALUE",
      help="the same: --set EPOCHS=3; `suite show RUN` has the names. With --methods also a "
      "setting of a method: --set memory_size=200"), parsing.bindings)
  parsing.by(run.add_argument(
      "--methods", type=parsing.listed, default=[], metavar="NAME,NAME",
      help="these methods in place of the run's learners; `suite list --methods` has them"),
      parsing.methods)
  run.add_argument("--settings", default="", dest="method_settings", metavar="NAME",
                   help="named values of methods in place of the published ones: "
                   f"{', '.join(method_values.names())} (docs/methods.md)")
  run.add_argument("--seed", type=seed, metavar="N", dest="one_seed",
                   help="all randomness derives from it (that of the run file, or 0)")
  run.add_argument("--seeds", type=_seeds, metavar="N,N",
                   help="a run for each seed; the report has means and standard deviations")
  run.add_argument("--budget", default="", metavar="TEXT",
                   help="limits of each learner, '1 TFLOP, 20 MB': learning stops at the last step "
                   "that fits (none)")
  run_settings.add_flags(run, "gin_names", "workdir", "strategy", "devices", "precision",
                         "xla", "deterministic", "share", "profile", "tracker", "keep", "codes",
                         "codes_gb")
  run.add_argument("--trusted_modules", type=_moved, help=argparse.SUPPRESS)
  run.add_argument("--only", action="append", default=[], metavar="ROW[/COLUMN[/SEED]]",
                   help="tables: the part to run, with * and ?; may be repeated")
  add_engine(run, "cells")
  run.add_argument("--dry_run", action="store_true",
                   help="say what the run or table will cost and what data is missing; run nothing")
  run.add_argument("--rate", type=_rate, metavar="FLOPS",
                   help="--dry_run: FLOPs a second of the machine that the run is for, such as "
                   "2e13 (measured here)")
  run.set_defaults(do=_run)


def add_engine(parser: argparse.ArgumentParser, what: str) -> None:
  """Adds the flags that say where the runs of a table run, which are its `what`."""
  parser.add_argument("--jobs", type=run_settings.positive, metavar="N",
                      help=f"number of {what} to run at the same time (1; with --engine ray as "
                      "many as it has room for)")
  parser.add_argument("--engine", default=PROCESSES, metavar="NAME",
                      help=f"what starts the {what}, or the processes of --share: this one, "
                      "or a cluster of ray (%(default)s)")
  parser.add_argument("--address", metavar="HOST:PORT",
                      help="--engine ray: a cluster that runs; auto: this machine's (a new one "
                      "here)")
  parser.add_argument("--gpus_per_task", type=_gpus, metavar="G",
                      help="--engine ray: GPUs of a run, a part of one or a whole number (1 if the "
                      "cluster has any)")
  parser.add_argument("--cpus_per_task", type=run_settings.positive, metavar="N",
                      help="--engine ray: CPU cores of a run (1)")
  parser.add_argument("--copies", metavar="URL",
                      help="--engine ray: a path of fsspec, such as s3://bucket/table2, through "
                      "which work directories go where the nodes have no folder in common")


def engine(args: argparse.Namespace) -> Any:
  """The engine that the flags ask for, with `run_all`; None: processes of this machine."""
  if args.engine != PROCESSES:
    return entry_points.load(entry_points.ENGINES, args.engine)(
        args.address, args.gpus_per_task, args.cpus_per_task or 1, args.jobs, args.copies)
  if given := [name for name in ("address", "gpus_per_task", "cpus_per_task", "copies")
               if getattr(args, name) is not None]:
    raise gin_files.ConfigError(
        f"--{given[0]} is a flag of --engine ray: add that, or leave it out.")
  return None


def _moved(_: str) -> None:
  raise argparse.ArgumentTypeError(run_settings.MOVED["trusted_modules"])


def seed(text: str) -> int:
  if not text.isdigit():
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a whole number from 0; for several "
                                     "--seeds 0,1,2")
  return int(text)


def _seeds(text: str) -> list[int]:
  found = [seed(one) for one in parsing.listed(text)]
  if len(found) == 1:  # Their number, or one of them?
    several = f"; {found[0]} seeds are --seeds {','.join(map(str, range(found[0])))}"
    raise argparse.ArgumentTypeError(
        f"got {text!r}: the seed {found[0]} is --seed {found[0]}"
        f"{several * (1 < found[0] <= _MOST_SEEDS)}")
  return found


def _rate(text: str) -> float:
  try:
    value = float(text)
  except ValueError:
    value = 0.0
  if not 0 < value < float("inf"):
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a number above 0, such as 2e13")
  return value


def _gpus(text: str) -> float:
  try:
    value = float(text)
  except ValueError:
    value = -1.0
  if not 0 <= value < 1 and not (value >= 1 and value.is_integer()):
    raise argparse.ArgumentTypeError(
        f"got {text!r}, allowed are a part of a GPU such as 0.5, or a whole number")
  return value


def _run(args: argparse.Namespace) -> int:
  # A name that no run has is refused before anything is imported.
  file = run_settings.find(args.run, extra_files=args.gin_file, params=args.gin_param,
                           methods=args.methods, method_settings=args.method_settings)
  budget = vars(args).pop("budget")  # What runs, so that the work directory belongs to it.
  settings = run_settings.from_flags(args)
  from suite.running import launch
  from suite.tables import table
  order: dict[str, Any] = {"jobs": args.jobs or table.TableOrder.jobs, "only": args.only}
  file = launch.seeded(file, args.one_seed, args.seeds, budget)
  is_table = table.is_table(file.path)
  if args.seeds and not is_table:
    is_table, order["seeds"] = True, args.seeds
  if args.rate is not None and not args.dry_run:
    raise gin_files.ConfigError("--rate is a flag of --dry_run: add that, or leave it out.")
  chosen = engine(args)
  if not is_table and (args.only or args.jobs and not (chosen and settings.share)):
    raise gin_files.ConfigError(f"--jobs and --only are flags of tables, and {file.name} is one "
                                "run. Leave them out.")
  if args.dry_run:
    this_process.import_tensorflow()
    from suite.running import dry_run
    print(dry_run.of_table(file, settings, rate=args.rate, **order) if is_table
          else dry_run.of_run(file, settings, rate=args.rate))
    return 0
  if is_table or chosen:
    if chosen and not is_table:
      result = launch.engine_run(file, settings, chosen.run_all, args.jobs or 1)
    else:
      result = launch.table_run(file, settings, run_all=chosen and chosen.run_all, **order)()
    print(result.report)
    if result.failed:
      print("", *(f"suite: failed: {line}" for line in result.failed), sep="\n", file=sys.stderr)
    if result.elsewhere:
      print("", *(f"suite: runs elsewhere: {line}" for line in result.elsewhere),
            "suite: The report is without them. Give the same command when they have ended.",
            sep="\n", file=sys.stderr)
    return 1 if result.failed or result.elsewhere else 0
  report = launch.experiment_run(file, settings, own_process=True)()
  if report:  # Only the chief of several workers has one.
    folder = shlex.quote(settings.for_run(file.folder).workdir)
    print(report)
    print(f"suite: Every value: suite report {folder} --all", file=sys.stderr)
  return 0

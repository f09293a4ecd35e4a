# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite search`: selects settings of a method on development data, for `suite run --settings`."""

from __future__ import annotations

import argparse
import sys

from suite.commands import parsing
from suite.commands import run_commands
from suite.configs import gin_files
from suite.configs import run_settings

_ORACLES = ("random", "grid", "bayesian")  # search.ORACLES, which imports TensorFlow.


def add(search: argparse.ArgumentParser) -> None:
  """Adds the flags of `suite search`."""
  run_settings.add_flags(search, "debug", *run_settings.DATA_FLAGS)
  parsing.by(search.add_argument(
      "run", metavar="RUN", help="a name from `suite list`, or a gin file"), parsing.runs)
  parsing.by(search.add_argument(
      "--methods", type=parsing.listed, default=[], metavar="NAME",
      help="the method whose settings are searched; `suite list --methods` has them"),
      parsing.methods)
  search.add_argument("--over", nargs="+", action="extend", default=[], metavar="NAME=SPACE",
                      help="settings and their spaces: 'learning_rate=0.01..0.3 log', "
                      "'memory_size=50..500', 'alpha=0.1,0.5'; `suite show NAME` has the settings")
  search.add_argument("--trials", type=run_settings.positive, default=20, metavar="N",
                      help="number of settings that are tried (%(default)s)")
  search.add_argument("--tasks", type=run_settings.positive, metavar="N",
                      help="select on the first N tasks (all)")
  search.add_argument("--on", default="", metavar="DATA",
                      help="select on other data: a run of the same protocol, or the name of a "
                      "prepared data set")
  search.add_argument("--oracle", choices=_ORACLES, default=_ORACLES[0],
                      help="what proposes settings (%(default)s); bayesian: a Gaussian process, "
                      "which reads the scores of trials before")
  search.add_argument("--at_once", type=run_settings.positive, default=1, metavar="N",
                      help="--oracle bayesian: trials that are proposed together, as many as run "
                      "at the same time (%(default)s)")
  search.add_argument("--seed", type=run_commands.seed, default=0, metavar="N", dest="one_seed",
                      help="of the proposals, the development data and the runs (%(default)s)")
  search.add_argument("--settings", default="", dest="method_settings", metavar="NAME",
                      help="as of `suite run`, for settings that are not searched")
  search.add_argument("--gin_file", action="append", default=[], metavar="FILE",
                      help="as of `suite run`")
  parsing.by(search.add_argument(
      "--set", "--gin_param", action="append", dest="gin_param", default=[], metavar="NAME=VALUE",
      help="as of `suite run`: a setting that is not searched"), parsing.bindings)
  run_settings.add_flags(search, "gin_names", "workdir", "strategy", "devices", "precision", "xla",
                         "deterministic")
  run_commands.add_engine(search, "trials")
  search.set_defaults(do=_search)


def _search(args: argparse.Namespace) -> int:
  if len(args.methods) != 1:
    raise gin_files.ConfigError(
        f"--methods has {', '.join(args.methods) or 'no name'}: a search is of one method, "
        "--methods er. Give a command for each, with its own --over.")
  if args.at_once > 1 and args.oracle != "bayesian":
    raise gin_files.ConfigError("--at_once is a flag of --oracle bayesian: the other oracles "
                                "propose all trials at once. Leave it out; --jobs N runs N at a "
                                "time.")
  from suite.running import method_search
  from suite.tables import table
  engine = run_commands.engine(args)
  found = method_search.run(method_search.SearchOrder(
      args.run, args.methods[0], args.over, run_settings.from_flags(args), args.trials, args.tasks,
      args.on, args.oracle, args.at_once, args.one_seed, args.gin_param, args.method_settings,
      args.gin_file, args.jobs or table.TableOrder.jobs, engine and engine.run_all))
  print(found.report)
  for title, lines in (("failed", found.failed), ("runs elsewhere", found.elsewhere)):
    if lines:
      print("", *(f"suite: {title}: {line}" for line in lines), sep="\n", file=sys.stderr)
  if found.best is None:
    print("suite: No best.json yet: " + (
        "give the same command when the trials have ended." if found.elsewhere else
        "no trial has a score. Correct what failed, and give the same command."), file=sys.stderr)
  return 1 if found.best is None else 0

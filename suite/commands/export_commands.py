# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""`suite export`: what a finished run has trained, as a model that stands alone."""

from __future__ import annotations

import argparse
import pathlib

from suite.commands import parsing
from suite.configs import gin_files
from suite.configs import run_settings
from suite.running import this_process


def add(export: argparse.ArgumentParser) -> None:
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

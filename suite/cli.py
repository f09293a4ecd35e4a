# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The command `suite`: flags say where to run, gin says what to run.

Exit codes: 0 success; 1 failure, or cells of a table that run elsewhere; 2 bad usage or config; 130
interrupted, by SIGTERM too (run again to resume).
TensorFlow is imported inside the commands that need it, so help, lists and errors are fast.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import logging as python_logging
import os
import pathlib
import re
import shlex
import sys
import traceback
import warnings

from absl import flags
from absl import logging

import suite
from suite.commands import completion
from suite.commands import curate_commands
from suite.commands import data_commands
from suite.commands import lifelong_commands
from suite.commands import list_commands
from suite.commands import report_commands
from suite.commands import verify_commands
from suite.commands import weights_commands
from suite.configs import gin_files
from suite.running import dry_table
from suite.running import launch
from suite.running import logs
from suite.system import folders
from suite.system import processes

# compute.distribution.NAMES
STRATEGIES = ("one_device", "mirrored", "multi_worker", "slurm", "tpu")
PRECISIONS = ("float32", "bfloat16", "mixed_bfloat16", "mixed_float16", "tf32")  # precision.NAMES
_HOME = pathlib.Path(suite.__file__).resolve().parent.parent
OUR_FOLDERS = tuple(f"{_HOME / name}{os.sep}" for name in ("suite", "tfds_builders"))


def main(argv: Sequence[str] | None = None) -> int:
  """Runs one command and returns the exit code."""
  argv = list(sys.argv[1:] if argv is None else argv)
  try:
    parser = _parser()
    completion.serve(parser)
    args = parser.parse_args(argv)
  except SystemExit as stop:  # Argparse has printed the reason.
    return int(stop.code or 0)
  args.command = shlex.join(["suite", *argv])
  _configure_logging()
  # Read when TensorFlow is imported, which leaves it off on CPUs without AVX-512 although
  # convolutions are twice to four times as fast with it there: tools/bench onednn.
  os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
  try:
    with processes.ended_like_interrupted():
      return args.do(args)
  except (gin_files.ConfigError, folders.FolderError) as error:
    return _fail(error, args, code=2)
  except BrokenPipeError:  # The reader has closed the pipe: `suite list | head`.
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    return 1
  except KeyboardInterrupt as error:
    return _fail(error, args, code=130)
  except Exception as error:
    return _fail(error, args, code=1)


def _parser() -> argparse.ArgumentParser:
  parser = argparse.ArgumentParser(prog="suite", description=suite.__doc__)
  parser.add_argument("--version", action="version", version=f"suite {suite.__version__}")
  parser.set_defaults(do=lambda args: _show_help(parser))
  every = argparse.ArgumentParser(add_help=False)
  every.add_argument("--debug", action="store_true", help="show the traceback of every error")
  where = argparse.ArgumentParser(add_help=False)
  where.add_argument("--data_dir", default=os.environ.get("LIFELONG_DATA_DIR"), metavar="DIR",
                     help="prepared data sets ($LIFELONG_DATA_DIR, else TFDS's default)")
  where.add_argument("--mirror", default=os.environ.get("LIFELONG_MIRROR"), metavar="DIR",
                     help="folder of archives, searched before any download ($LIFELONG_MIRROR)")
  commands = parser.add_subparsers(title="commands", metavar="COMMAND")
  _add_run(commands, [every, where])
  list_commands.add(commands, [every], data_commands.print_table)
  report_commands.add(commands, [every])
  data_commands.add(commands, [every, where], _positive, _fail)
  lifelong_commands.add(commands, [every])
  curate_commands.add(commands, [every])
  verify_commands.add(commands, [every])
  weights_commands.add(commands, [every], _positive)
  return parser


def _add_run(commands, parents: list[argparse.ArgumentParser]) -> None:
  run = commands.add_parser("run", parents=parents, help="run one experiment, or resume it")
  completion.by(run.add_argument(
      "run", metavar="RUN", help="a name from `suite list`, or a gin file"), completion.runs)
  run.add_argument("--gin_file", action="append", default=[], metavar="FILE",
                   help="gin file that goes before RUN (gin/debug.gin makes any run small)")
  completion.by(run.add_argument(
      "--gin_param", action="append", default=[], metavar="X=Y",
      help="gin binding that goes before all files; may be repeated"), completion.bindings)
  run.add_argument("--trusted_modules", type=_names, default=[], metavar="A,B",
                   help="for gin files of somebody else: refuse them if they import, or name parts "
                   "of, other modules than these; suite,tensorflow suffices for shipped runs (any)")
  run.add_argument("--workdir", type=_named, metavar="DIR", help="results and state (./runs/RUN)")
  run.add_argument("--strategy", choices=STRATEGIES, default="one_device",
                   help="tf.distribute strategy (one_device)")
  run.add_argument("--devices", type=_positive, metavar="N",
                   help="number of GPUs, or of logical CPU devices without a GPU (all)")
  run.add_argument("--precision", choices=PRECISIONS, default=PRECISIONS[0],
                   help="of nets; variables, norms and losses stay float32 (float32)")
  run.add_argument("--xla", action="store_true", help="let XLA compile clusters of ops")
  run.add_argument("--deterministic", action=argparse.BooleanOptionalAction,
                   help="refuse ops without a deterministic kernel (on a CPU yes, on a GPU no)")
  run.add_argument("--share", action="store_true",
                   help="given to several processes with one --workdir: they share the trials of "
                   "the run's searches")
  run.add_argument("--profile", action="store_true", help="write a profiler trace for TensorBoard")
  run.add_argument("--jobs", type=_positive, metavar="N",
                   help="tables: number of cells to run at the same time (1)")
  run.add_argument("--only", action="append", default=[], metavar="ROW[/COLUMN[/SEED]]",
                   help="tables: the part to run, with * and ?; may be repeated")
  run.add_argument("--dry_run", action="store_true",
                   help="say what the run or table will cost and what data is missing; run nothing")
  run.add_argument("--rate", type=_rate, metavar="FLOPS",
                   help="--dry_run: FLOPs a second of the machine that the run is for, such as "
                   "2e13 (measured here)")
  run.set_defaults(do=_run)


def _show_help(parser: argparse.ArgumentParser) -> int:
  parser.print_help(sys.stderr)
  return 2


def _named(text: str) -> str:
  if not text:  # Of a shell variable that is not set.
    raise argparse.ArgumentTypeError("it is empty; give a folder, or leave it out")
  return text


def _positive(text: str) -> int:
  if not text.isdigit() or int(text) < 1:
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a whole number from 1")
  return int(text)


def _rate(text: str) -> float:
  try:
    value = float(text)
  except ValueError:
    value = 0.0
  if not 0 < value < float("inf"):
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed is a number above 0, such as 2e13")
  return value


def _names(text: str) -> list[str]:
  names = text.split(",")
  if not all(re.fullmatch(r"\w+(\.\w+)*", name) for name in names):
    raise argparse.ArgumentTypeError(f"got {text!r}, allowed are modules such as suite,tensorflow")
  return names


# Commands. Each takes the parsed arguments and returns the exit code.


def _run(args) -> int:
  asked = launch.find(args.run, extra_files=args.gin_file, params=args.gin_param,
                      workdir=args.workdir or "", command=args.command,
                      trusted_modules=args.trusted_modules, own_process=True, debug=args.debug)
  given = {name: getattr(args, name) for name in launch.defaults()}
  if args.rate is not None and not args.dry_run:
    raise gin_files.ConfigError("--rate is a flag of --dry_run: add that, or leave it out.")
  if args.dry_run:
    return _dry_run(args, asked, given)
  if asked.is_table:
    if args.share:
      raise gin_files.ConfigError(
          f"--share is a flag of one run, and {asked.name} is a table. Leave it out: the same "
          "command, given several times, shares the table's cells.")
    return _run_table(args, asked, given)
  if args.share:
    given["share"] = True
  _check_no_table_flags(args, asked)
  report = launch.run_one(asked, given)
  if report:  # Only the chief of several workers has one.
    print(report)
  return 0


def _dry_run(args, asked: launch.RunFile, given: dict) -> int:
  if asked.is_table:
    print(dry_table.dry_run(asked, given, rate=args.rate, jobs=args.jobs or 1, only=args.only))
  else:
    _check_no_table_flags(args, asked)
    print(launch.dry_run(asked, given, rate=args.rate))
  return 0


def _check_no_table_flags(args, asked: launch.RunFile) -> None:
  if args.jobs or args.only:
    raise gin_files.ConfigError(f"--jobs and --only are flags of tables, and {asked.name} is one "
                                "run. Leave them out.")


def _run_table(args, asked: launch.RunFile, given: dict) -> int:
  result = launch.run_table(asked, given, jobs=args.jobs or 1, only=args.only)
  print(result.report)
  if result.failed:
    print("", *(f"suite: failed: {line}" for line in result.failed), sep="\n", file=sys.stderr)
  if result.elsewhere:
    print("", *(f"suite: runs elsewhere: {line}" for line in result.elsewhere),
          "suite: The report is without them. Give the same command when they have ended.",
          sep="\n", file=sys.stderr)
  return 1 if result.failed or result.elsewhere else 0


# Helpers.


def _configure_logging() -> None:
  """Shows the suite's INFO lines and all warnings, without TensorFlow's C++ messages."""
  # Read when TensorFlow is imported. Level 2 would report missing CUDA plug-ins on machines without
  # a GPU; relevant errors are raised as exceptions.
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  # Its end of life is documented in docs/dependencies.md.
  warnings.filterwarnings("ignore", module="tensorflow_addons")
  flags.FLAGS.mark_as_parsed()  # There are no flags, but absl warns about logging before that.
  logging.use_absl_handler()
  logging.set_verbosity(logging.INFO)
  handler = logging.get_absl_handler()
  handler.setFormatter(python_logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
  handler.addFilter(_is_shown)


def _is_shown(record: python_logging.LogRecord) -> bool:
  if logs.is_noise(record):
    return False
  return record.levelno > python_logging.INFO or record.pathname.startswith(OUR_FOLDERS)


def _fail(error: BaseException, args, *, code: int, label: str = "suite") -> int:
  """Prints an error: the suite's messages alone, any other error with its traceback."""
  expected = True
  if isinstance(error, KeyboardInterrupt):
    how = "ended by SIGTERM" if isinstance(error, processes.Terminated) else "interrupted"
    text = f"{how}; run the same command again to resume from the last saved state"
  elif _graph_message(error):
    text = _graph_message(error)
  elif isinstance(error, gin_files.ConfigError) or _is_our_message(error):
    text = re.sub(r"\n  In call to configurable .*", "", str(error))  # Gin adds these lines.
  else:
    expected, text = False, f"unexpected {type(error).__name__}, see above"
  if args.debug or not expected:
    traceback.print_exception(type(error), error, error.__traceback__)
  print(f"{label}: {text}", file=sys.stderr)
  return code


def _graph_message(error: BaseException) -> str:
  """Message of a check inside an input pipeline (`data.images.decoding`), unwrapped; else ""."""
  found = re.search(r"assertion failed: \[(An image of data set [^\]]+)\] \[([^\]]*)\]", str(error))
  return (f"{found[1]} {found[2]!r}. Build the data set again from a good copy of its source."
          if found else "")


def _is_our_message(error: BaseException) -> bool:
  """True for the suite's error classes, and for a ValueError or OSError raised by its code.

  A ValueError raised by numpy or TensorFlow does not say what to do: it needs its traceback.
  """
  if type(error).__module__.split(".")[0] in ("suite", "tfds_builders"):
    return True
  if not isinstance(error, (ValueError, OSError)) or error.__traceback__ is None:
    return False
  frame = traceback.extract_tb(error.__traceback__)[-1]
  return frame.filename.startswith(OUR_FOLDERS) and str(frame.line).startswith("raise")

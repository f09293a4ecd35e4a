# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What concerns the process of a run: the import of TensorFlow, log lines, errors, memory."""

from __future__ import annotations

import argparse
import gc
import logging as python_logging
import os
import pathlib
import platform
import re
import sys
import tempfile
import traceback
import warnings

from absl import flags
from absl import logging

import suite
from suite.configs import gin_files
from suite.system import io_errors
from suite.system import processes

_HOME = pathlib.Path(suite.__file__).resolve().parent.parent
_OUR_FOLDERS = tuple(f"{_HOME / name}{os.sep}" for name in ("suite", "tfds_builders"))
# New objects between collections. Graphs are many objects that stay: with Python's 700 they would
# be looked at again and again, a twentieth of the time of a run of short tasks.
_COLLECT_AFTER = 20_000


def import_tensorflow() -> None:
  """Imports TensorFlow without its messages about CUDA, TensorRT and CPU instructions.

  Newer releases print some before they read TF_CPP_MIN_LOG_LEVEL, so all that the import writes to
  stderr is held back, and shown only if it fails.
  """
  if "tensorflow" in sys.modules:
    _warn_without_onednn()
    return
  sys.stderr.flush()
  stderr = os.dup(2)
  with tempfile.TemporaryFile() as held:
    try:
      os.dup2(held.fileno(), 2)
      import tensorflow  # noqa: F401
    except ModuleNotFoundError as error:
      if error.name != "tensorflow":
        raise
      raise gin_files.ConfigError(
          "TensorFlow is not installed here, so this installation has the commands of `suite "
          "lifelong`, `suite verify` and `suite report` alone. For all of them: pip "
          "install . in a checkout, without LIFELONG_PART.") from error
    except BaseException:
      held.seek(0)
      os.write(stderr, held.read())
      raise
    finally:
      os.dup2(stderr, 2)
      os.close(stderr)


def _warn_without_onednn() -> None:
  """Warns once if TensorFlow was imported before the suite and computes without oneDNN."""
  from suite.compute import arithmetic
  from suite.compute import private_tensorflow
  has_onednn = sys.platform == "linux" and platform.machine() == "x86_64"
  if (has_onednn and os.environ.get(arithmetic.ONEDNN) not in ("0", "false")
      and not private_tensorflow.uses_onednn()):
    logging.log_first_n(
        logging.WARNING, "TensorFlow was imported before suite and computes without oneDNN: a "
        "training step of ResNet-18 takes about 1.75 times as long on this kind of CPU. Put "
        "`import suite` first, or set %s=1 in the environment; %s=0 hides this warning.", 1,
        arithmetic.ONEDNN, arithmetic.ONEDNN)


def settle(*, debug: bool = False) -> None:
  """Settings for a process that does nothing but a run: short tasks are mostly tracing of graphs.

  Garbage collection is made rarer, and operations keep no Python stack unless `debug` is set.
  """
  from suite.compute import private_tensorflow
  gc.collect()
  if not gc.get_freeze_count():  # What was imported stays; nets of runs before this one must not.
    gc.freeze()
  gc.set_threshold(_COLLECT_AFTER, 10, 10)
  private_tensorflow.keep_stacks(debug)


def configure_python_logging() -> None:
  """For runs in Python: hides messages that are noise; may be called again."""
  flags.FLAGS.mark_as_parsed()  # There are no flags, but absl warns about logging before that.
  # Its end of life is documented in docs/dependencies.md.
  warnings.filterwarnings("ignore", module="tensorflow_addons")
  for logger in (logging.get_absl_logger(), python_logging.getLogger("tensorflow")):
    if _is_news not in logger.filters:
      logger.addFilter(_is_news)


def configure_command_logging() -> None:
  """For the command: shows the suite's INFO lines and all warnings on stderr."""
  flags.FLAGS.mark_as_parsed()
  warnings.filterwarnings("ignore", module="tensorflow_addons")
  logging.use_absl_handler()
  logging.set_verbosity(logging.INFO)
  handler = logging.get_absl_handler()
  handler.setFormatter(python_logging.Formatter("%(asctime)s %(message)s", "%H:%M:%S"))
  handler.addFilter(lambda record: _is_news(record) and (
      record.levelno > python_logging.INFO or record.pathname.startswith(_OUR_FOLDERS)))


def _is_news(record: python_logging.LogRecord) -> bool:
  """Whether a message is not one of every run: one graph for each task is intended."""
  return "triggered tf.function retracing" not in str(record.msg)


def report_error(error: BaseException, args: argparse.Namespace, *, code: int,
                 label: str = "suite") -> int:
  """Writes an error to stderr and returns `code`.

  Errors of the suite are one message, any other error has its traceback; with --debug all have.
  """
  expected = True
  # TensorFlow wraps the message of a check inside an input pipeline (`data.images.decoding`).
  found = re.search(r"assertion failed: \[(An image of data set [^\]]+)\] \[([^\]]*)\]", str(error))
  if isinstance(error, KeyboardInterrupt):
    how = "ended by SIGTERM" if isinstance(error, processes.Terminated) else "interrupted"
    text = f"{how}; run the same command again to resume from the last saved state"
  elif disk_error := io_errors.of(error):
    text = io_errors.message(disk_error)
  elif found:
    text = f"{found[1]} {found[2]!r}. Build the data set again from a good copy of its source."
  elif isinstance(error, gin_files.ConfigError) or is_our_message(error):
    text = re.sub(r"\n  In call to configurable .*", "", str(error))  # Gin adds these lines.
  else:
    expected, text = False, f"unexpected {type(error).__name__}, see above"
  if args.debug or not expected:
    traceback.print_exception(type(error), error, error.__traceback__)
  sys.stderr.write(f"{label}: {text}\n")
  return code


def exit_code(error: BaseException) -> int:
  """The exit code for an error: 2 if it is of usage, see `refusals.usage_errors`, else 1."""
  return getattr(error, "exit_code", 1) if is_our_message(error) else 1


def is_our_message(error: BaseException) -> bool:
  """True for the suite's error classes, and for errors of values and disks raised by its code.

  A ValueError raised by numpy or TensorFlow does not say what to do: it needs its traceback.
  """
  if type(error).__module__.split(".")[0] in ("suite", "tfds_builders"):
    return True
  if not isinstance(error, (ValueError, OSError, ArithmeticError)) or error.__traceback__ is None:
    return False
  frame = traceback.extract_tb(error.__traceback__)[-1]
  return frame.filename.startswith(_OUR_FOLDERS) and str(frame.line).startswith("raise")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Log messages of a run in Python: warnings only, without those that say nothing to users."""

from __future__ import annotations

import logging as python_logging
import os
import sys
import tempfile
import warnings

from absl import flags
from absl import logging


def is_noise(record: python_logging.LogRecord) -> bool:
  """Whether a message is expected in every run: one graph per task is intended."""
  return "triggered tf.function retracing" in str(record.msg)


def configure() -> None:
  """Hides messages that are noise from the log of the current process; may be called again."""
  flags.FLAGS.mark_as_parsed()  # There are no flags, but absl warns about logging before that.
  warnings.filterwarnings("ignore", module="tensorflow_addons")
  for logger in (logging.get_absl_logger(), python_logging.getLogger("tensorflow")):
    if _is_wanted not in logger.filters:
      logger.addFilter(_is_wanted)


def import_tensorflow() -> None:
  """Imports TensorFlow without its messages about CUDA, TensorRT and CPU instructions.

  Newer releases print some before they read TF_CPP_MIN_LOG_LEVEL, so all that the import writes to
  stderr is held back, and shown only if it fails.
  """
  if "tensorflow" in sys.modules:
    return
  os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
  # Off by default on CPUs without AVX-512, although convolutions are twice as fast with it there.
  os.environ.setdefault("TF_ENABLE_ONEDNN_OPTS", "1")
  sys.stderr.flush()
  stderr = os.dup(2)
  with tempfile.TemporaryFile() as held:
    try:
      os.dup2(held.fileno(), 2)
      import tensorflow  # noqa: F401
    except BaseException:
      held.seek(0)
      os.write(stderr, held.read())
      raise
    finally:
      os.dup2(stderr, 2)
      os.close(stderr)


def _is_wanted(record: python_logging.LogRecord) -> bool:
  return not is_noise(record)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Log messages of a run in Python: warnings only, without those that say nothing to users."""

from __future__ import annotations

import logging as python_logging
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


def _is_wanted(record: python_logging.LogRecord) -> bool:
  return not is_noise(record)

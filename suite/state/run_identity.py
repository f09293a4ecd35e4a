# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which run a file belongs to: a digest of its configuration and of its learner's name.

The identity is the first link of a run's chain of digests. The first record and the predictions
have it, each later record the digest of the one before, the saved states and the summary that of
the last record at that time. So a file of another seed, configuration or learner is found, although
it is intact. Files of suite 0.1 have no identity and are read as what they are.
"""

from __future__ import annotations

import hashlib
import pathlib

CONFIG = "config.gin"  # As it was written before the first event; a resumed run leaves it.


def of(folder: pathlib.Path) -> str:
  """The identity of a learner's run, hexadecimal digits; "" if there is no configuration.

  Args:
    folder: WORKDIR/LEARNER, where WORKDIR has the configuration.
  """
  folder = pathlib.Path(folder).absolute()
  config = folder.parent / CONFIG
  if not config.is_file():
    return ""
  return hashlib.sha256(config.read_bytes() + b"\0" + folder.name.encode()).hexdigest()


def problem(found: str, folder: pathlib.Path) -> str:
  """Says that a file with the identity `found` is of another run than its folder; "" if not."""
  expected = of(folder)
  if not found or not expected or found == expected:
    return ""
  return (f"belongs to another run: another configuration than {folder.parent / CONFIG}, or a "
          f"learner of another name than {folder.name!r}")

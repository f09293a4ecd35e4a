# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Asks the authors' code: a program of this folder in their environment, arrays in, arrays out."""

from __future__ import annotations

import json
import pathlib
import subprocess
import tempfile
from typing import Any

import numpy as np

_HERE = pathlib.Path(__file__).resolve().parent


class Authors:
  """A checkout of the authors' code and the Python that runs it.

  Args:
    code: the checkout.
    python: an interpreter with the authors' dependencies.

  Attributes:
    versions: by package, those that answered so far.
  """

  def __init__(self, code: pathlib.Path, python: str):
    self.code, self.python = code, python
    self.versions: dict[str, str] = {}

  def ask(self, program: str, arrays: dict[str, np.ndarray], **settings: Any
          ) -> dict[str, np.ndarray]:
    """Returns the arrays that a `public_code.serve` program makes of these arrays and settings."""
    with tempfile.TemporaryDirectory() as folder:
      given, found = pathlib.Path(folder) / "given.npz", pathlib.Path(folder) / "found.npz"
      np.savez(given, **arrays)
      command = [self.python, str(_HERE / f"{program}.py"), "--checkout", str(self.code),
                 "--input", str(given), "--output", str(found), "--settings", json.dumps(settings)]
      done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)
      if done.returncode:
        raise SystemExit(f"{program}.py failed in {self.python} on {self.code}:\n{done.stderr}\n"
                         "Give --python an environment with the packages that it imports, and "
                         "--code a checkout of the repository that docs/parity.md names.")
      self.versions.update(json.loads(done.stdout.splitlines()[-1]))
      with np.load(found) as stored:
        return dict(stored)

  def revision(self) -> str:
    """The commit of the checkout, shortened; "unknown" if it is not a git work tree."""
    done = subprocess.run(["git", "-C", str(self.code), "rev-parse", "--short=10", "HEAD"],
                          capture_output=True, text=True, check=False)
    return done.stdout.strip() if not done.returncode else "unknown"

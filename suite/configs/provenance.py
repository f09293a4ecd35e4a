# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""What numbers depend on besides the configuration: versions, device, arithmetic, revision."""

from __future__ import annotations

import dataclasses
from importlib import metadata
import pathlib
import platform
import subprocess
import sys
from typing import Any, Dict, Optional

import suite
from suite.compute import arithmetic
from suite.compute import distribution as distribution_lib

_PACKAGES = ("tensorflow", "keras", "tensorflow-addons", "keras-cv", "tensorflow-datasets",
             "tensorboard", "gin-config", "numpy", "scikit-learn", "keras-tuner", "pyarrow")


def environment(seed: int, distribution: distribution_lib.Distribution, command: str,
                own: arithmetic.Arithmetic) -> Dict[str, Any]:
  """What is stored beside the records of a run; plain values."""
  packages: Dict[str, Optional[str]] = {}
  for name in _PACKAGES:
    try:
      packages[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
      packages[name] = None
  return {
      "command": command, "seed": seed, "suite": suite.__version__,
      "python": sys.version.split()[0], "platform": platform.platform(),
      "device": distribution.describe(),
      "arithmetic": dataclasses.asdict(own),
      "packages": packages, "git_revision": _git_revision()}


def _git_revision() -> Optional[str]:
  root = pathlib.Path(suite.__file__).resolve().parent.parent
  if not (root / ".git").exists():
    return None
  result = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"],
                          capture_output=True, text=True, check=False)
  return result.stdout.strip() or None

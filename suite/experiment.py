# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Builds what a gin file describes, runs it, reports. The roof: it sees everything, nothing sees it."""

from __future__ import annotations

import difflib
import json
import os
import pathlib
import platform
import subprocess
import sys
from typing import Any, Callable, Dict, Mapping, Optional

from absl import logging
import tensorflow as tf

import suite
from suite import gin_files
from suite.compute import distribution as distribution_lib
from suite.protocols import run_state
from suite.reporting import progress as progress_lib
from suite.reporting import records as records_lib
from suite.reporting import run_writer
from suite.reporting import tables
from suite.reporting import tensorboard

_PACKAGES = ("tensorflow", "keras", "tensorflow-addons", "keras-cv", "tensorflow-datasets", "tensorboard",
             "gin-config", "numpy", "scikit-learn", "keras-tuner", "pyarrow")


def run(
    *,
    protocol: Callable[..., Dict[str, Any]],
    learners: Mapping[str, Callable[[], Any]],
    seed: int = 0,
    workdir: str,
    data_dir: Optional[str] = None,
    mirror: Optional[str] = None,
    strategy: str = "one_device",
    devices: Optional[int] = None,
    profile: bool = False,
    config_text: str = "",
    command: str = "",
) -> str:
  """Runs one protocol with each learner, or goes on with what is there; returns the report.

  Args:
    protocol: protocol(learner, state=...) returns a summary of plain values.
    learners: makes each learner, by its name in the report.
    seed: all randomness derives from it.
    workdir: where results go; a directory of another configuration is refused.
    data_dir: prepared data sets. mirror: searched for archives before any download.
    strategy, devices: see `distribution.build`.
    profile: also write a runtime trace for TensorBoard's profiler.
    config_text: the configuration, stored beside the results. command: what the user typed.
  """
  for variable, value in (("TFDS_DATA_DIR", data_dir), ("LIFELONG_MIRROR", mirror)):
    if value:
      os.environ[variable] = str(value)
  distribution = distribution_lib.build(strategy, devices)
  # One CPU device repeats a run bit for bit; ops without a deterministic kernel fail instead of drifting.
  tf.random.set_seed(seed)
  tf.config.experimental.enable_op_determinism()
  folder = pathlib.Path(workdir)
  if distribution.is_chief:
    _claim(folder, config_text, seed, distribution, command)
  for name, make_learner in learners.items():
    _run_one(name, make_learner, protocol, folder, seed, distribution, profile, config_text)
  if not distribution.is_chief:
    return ""
  report = tables.report([folder / name for name in learners])
  (folder / "report.txt").write_text(report)
  return report


def _run_one(name: str, make_learner: Callable[[], Any], protocol: Callable[..., Dict[str, Any]],
             workdir: pathlib.Path, seed: int, distribution: distribution_lib.Distribution, profile: bool,
             config_text: str) -> None:
  folder, summary_path = workdir / name, workdir / name / "summary.json"
  if summary_path.exists():
    logging.info("%s: finished before; nothing to do.", name)
    return
  writer = _writer(name, workdir, distribution, config_text)
  log_dir = workdir / "tensorboard" / name
  if profile:
    tf.profiler.experimental.start(str(log_dir))
  try:
    state = run_state.RunState(folder, writer, name=name, seed=seed, distribution=distribution)
    summary = {**protocol(make_learner(), state=state), "run": name}
  finally:
    writer.close()
    if profile:
      tf.profiler.experimental.stop()
  if distribution.is_chief:
    temporary = summary_path.with_suffix(".tmp")
    temporary.write_text(json.dumps(records_lib.to_plain(summary), indent=1))
    os.replace(temporary, summary_path)


def _writer(name: str, workdir: pathlib.Path, distribution: distribution_lib.Distribution, config_text: str):
  if not distribution.is_chief:
    return run_writer.Follower(workdir / name)
  view = tensorboard.TensorBoardView(workdir / "tensorboard" / name, config_text=config_text)
  return run_writer.RunWriter(workdir / name, view, progress_lib.Progress(name))


def _claim(folder: pathlib.Path, config_text: str, seed: int, distribution: distribution_lib.Distribution,
           command: str) -> None:
  """Makes the work directory ours: a new one, or one of the very same configuration."""
  folder.mkdir(parents=True, exist_ok=True)
  config_path, environment_path = folder / "config.gin", folder / "environment.json"
  if config_path.exists():
    before = config_path.read_text()
    if before != config_text:
      changes = "\n".join(difflib.unified_diff(
          before.splitlines(), config_text.splitlines(), "in the directory", "asked for", lineterm="", n=0))
      raise gin_files.ConfigError(
          f"{folder} holds a run of another configuration; the differences:\n{changes}\n"
          "Give another --workdir, or the same configuration to go on with it.")
  elif any(p.name != "config.gin" for p in folder.iterdir()):
    raise gin_files.ConfigError(f"{folder} is not empty and holds no run; give another --workdir.")
  if not environment_path.exists():
    environment_path.write_text(json.dumps(_environment(seed, distribution, command), indent=1))
  config_path.write_text(config_text)


def _environment(seed: int, distribution: distribution_lib.Distribution, command: str) -> Dict[str, Any]:
  """What else a number depends on: versions, device, revision."""
  from importlib import metadata

  packages = {}
  for name in _PACKAGES:
    try:
      packages[name] = metadata.version(name)
    except metadata.PackageNotFoundError:
      packages[name] = None
  return {
      "command": command, "seed": seed, "suite": suite.__version__, "python": sys.version.split()[0],
      "platform": platform.platform(), "device": distribution.describe(), "packages": packages,
      "git_revision": _git_revision()}


def _git_revision() -> Optional[str]:
  root = pathlib.Path(suite.__file__).resolve().parent.parent
  if not (root / ".git").exists():
    return None
  result = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"], capture_output=True,
                          text=True, check=False)
  return result.stdout.strip() or None

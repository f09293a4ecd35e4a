# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs a protocol with each learner of a gin file and writes the report."""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import json
import os
import pathlib
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Union

from absl import logging
import tensorflow as tf

from suite.compute import arithmetic
from suite.compute import distribution as distribution_lib
from suite.compute import private_tensorflow
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import provenance
from suite.configs import unchanged
from suite.contracts import descriptions
from suite.metrics import own_metrics
from suite.models import precision as precision_lib
from suite.protocols import run_state
from suite.protocols import trial_helper
from suite.reporting import progress as progress_lib
from suite.reporting import records as records_lib
from suite.reporting import run_writer
from suite.reporting import runs as runs_lib
from suite.reporting import tables
from suite.reporting.board import board_directory
from suite.state import snapshots
from suite.state import trial_queue
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import folders

_LOCK = ".lock"


def run(
    *,
    protocol: Callable[..., Dict[str, Any]],
    learners: Mapping[str, Callable[[], Any]],
    only: Sequence[str] = (),
    seed: int = 0,
    workdir: str,
    data_dir: Optional[str] = None,
    mirror: Optional[str] = None,
    strategy: str = "one_device",
    devices: Optional[int] = None,
    profile: bool = False,
    op_threads: Optional[int] = None,
    metrics: Optional[Mapping[str, Callable[..., Any]]] = None,
    precision: str = precision_lib.FLOAT32,
    xla: bool = False,
    deterministic: Optional[bool] = None,
    config_text: str = "",
    command: str = "",
    find_unused: Optional[Callable[[str, Sequence[str]], List[str]]] = None,
    share: bool = False,
    instead: Optional[Callable[..., str]] = None,
) -> str:
  """Runs one protocol with each learner, resuming what was interrupted; returns the report.

  Args:
    protocol: protocol(learner, state=...) returns a summary of plain values.
    learners: makes each learner, by its name in the report.
    only: names of the learners to run, or one name; (): all of them.
    seed: all randomness derives from it.
    workdir: directory of the results; one of another configuration is refused.
    data_dir: directory of the prepared data sets.
    mirror: searched for archives before any download.
    strategy, devices: see `distribution.build`.
    profile: also write a runtime trace of each learner's first event for TensorBoard's profiler.
    op_threads: CPU threads of one op, and of a matrix product of NumPy; None: all cores. 1 is
      faster where many small graphs run side by side, as episodes do. $TF_NUM_INTRAOP_THREADS
      takes precedence.
    metrics: further metrics by name, functions of labels and logits or of records, see
      `own_metrics`.
    precision: of all nets, see `models.precision`.
    xla: let XLA compile clusters of ops.
    deterministic: refuse ops without a deterministic kernel; None: on a CPU, but not on a GPU,
      where it takes slower kernels.
    config_text: the configuration, stored beside the results as config.gin; the part that was used,
      defaults included, is stored as operative_config.gin.
    command: the user's command line.
    find_unused: (operative config, only) -> bindings that the finished run did not use.
    share: if another process runs in the work directory, train trials of its searches; when it has
      ended, continue the run. One device each.
    instead: instead(protocol, learners, seed, distribution) is called once all is set up, and its
      text returned: nothing runs and nothing is written (`suite run --dry_run`).
  """
  learners, further = _chosen(learners, only), own_metrics.OwnMetrics(metrics)
  _check_numbers(seed, op_threads)
  for name, folder_given in (("--workdir", workdir), ("--data_dir", data_dir)):
    if folder_given is not None:
      folders.check(folder_given, name)
  for variable, value in (("TFDS_DATA_DIR", data_dir), ("LIFELONG_MIRROR", mirror)):
    if value:
      os.environ[variable] = str(value)
  folder = pathlib.Path(workdir)
  _set_op_threads(op_threads, _stored_environment(folder))
  arithmetic.compile_clusters(xla)  # Its flag is read when devices are listed.
  distribution = distribution_lib.build(strategy, devices)
  tf.random.set_seed(seed)
  own = _set_arithmetic(precision, xla, deterministic, distribution)
  private_tensorflow.without_temporary_variables()
  if instead is not None:
    return instead(protocol, learners, seed, distribution)
  meanwhile = None
  if share:
    _check_share(distribution)
    meanwhile = functools.partial(
        trial_helper.help_until_free, folder / _LOCK, learners, protocol,
        functools.partial(_following, seed, distribution),
        functools.partial(_check_alike, folder, config_text, own))
  with _alone(folder, distribution, meanwhile), distribution.lost_processes():
    if distribution.is_chief:
      environment = provenance.environment(seed, distribution, command, own)
      _claim(folder, config_text, own, {**environment, "learners": list(learners)})
    _compute_as_the_chief(distribution, own)
    board = board_directory.BoardDirectory(
        folder, config_text, _stored_environment(folder) if distribution.is_chief else {})
    for number, (name, make_learner) in enumerate(learners.items(), 1):
      progress = functools.partial(
          progress_lib.of_process, name, number, len(learners), descriptions.of(protocol))
      trials: Any = (trial_queue.TrialQueue(trial_helper.queue_folder(folder / name)) if share
                     else trial_queue.InTurn())
      _run_one(name, make_learner, protocol, folder, seed, distribution, profile, board, further,
               trials, progress)
      if distribution.is_chief:
        _keep_operative_config(folder / "operative_config.gin")
    if distribution.is_chief:
      board.complete()
  if not distribution.is_chief:
    return ""
  if find_unused is not None:
    _report_unused(folder, find_unused, [only] if isinstance(only, str) else only)
  report = tables.report([folder])
  snapshots.save_text(folder / "report.txt", report)
  return report


def _report_unused(folder: pathlib.Path, find_unused: Callable[[str, Sequence[str]], List[str]],
                   only: Sequence[str]) -> None:
  """An ERROR line, and unused_bindings.txt, if the run did not use all that the user bound."""
  path, operative = folder / "unused_bindings.txt", folder / "operative_config.gin"
  unused = find_unused(operative.read_text(), only) if operative.exists() else []
  path.unlink(missing_ok=True)
  if unused:
    snapshots.save_text(path, "\n".join(unused) + "\n")
    logging.error(
        "The run did not use %d bindings: its code passes these arguments by itself, or never "
        "called what they belong to. Its results are those without them. %s has this list:\n  %s",
        len(unused), path, "\n  ".join(unused))


def _chosen(learners: Mapping[str, Callable[[], Any]], only: Sequence[str]
            ) -> Mapping[str, Callable[[], Any]]:
  """The learners that `only` names, in the order of `learners`."""
  only = [only] if isinstance(only, str) else list(only)
  unknown = sorted(set(only) - set(learners))
  if unknown:
    raise ValueError(f"experiment.run.only has {', '.join(map(repr, unknown))}; the learners of "
                     f"this run are {', '.join(learners)}.")
  return {name: make for name, make in learners.items() if not only or name in only}


def _check_numbers(seed: int, op_threads: Optional[int]) -> None:
  if not isinstance(seed, int):
    raise gin_files.ConfigError(f"experiment.run.seed is {seed!r}; it must be a whole number.")
  if op_threads is not None and (not isinstance(op_threads, int) or op_threads < 1):
    raise gin_files.ConfigError(f"experiment.run.op_threads is {op_threads!r}; it must be at least "
                                "1, or None for all cores.")


def _set_op_threads(asked: Optional[int], stored: Mapping[str, Any]) -> None:
  """The threads of an op: those the run began with, else those asked for."""
  number = stored.get("arithmetic", {}).get("op_threads", asked)
  if asked is None and number == arithmetic.of_this_process().op_threads:
    return  # Nothing was limited when it began: NumPy's threads stay as the environment has them.
  if number is not None and not arithmetic.limit_op_threads(number):
    logging.info("TensorFlow has already started in this process: op_threads=%d has no effect.",
                 number)


def _set_arithmetic(precision: str, xla: bool, deterministic: Optional[bool],
                    distribution: distribution_lib.Distribution) -> arithmetic.Arithmetic:
  """Sets how this process computes; returns it, to be recorded."""
  if deterministic is None:
    deterministic = not tf.config.list_physical_devices("GPU")
  precision_lib.use(precision)
  if precision_lib.needs_loss_scale() and not distribution.is_single:
    raise gin_files.ConfigError(
        f"--precision {precision} scales losses, which the replicas of --strategy "
        f"{distribution.name} do not agree on. Take mixed_bfloat16, or --strategy one_device.")
  if deterministic:
    # One CPU device repeats a run bit for bit; an op without a deterministic kernel fails instead
    # of drifting.
    tf.config.experimental.enable_op_determinism()
  return arithmetic.of_this_process(precision=precision, xla=xla, deterministic=deterministic)


def _stored_environment(folder: pathlib.Path) -> Mapping[str, Any]:
  path = folder / "environment.json"
  with snapshots.reading("the environment", path):
    return json.loads(path.read_text()) if path.exists() else {}


def _run_one(name: str, make_learner: Callable[[], Any], protocol: Callable[..., Dict[str, Any]],
             workdir: pathlib.Path, seed: int, distribution: distribution_lib.Distribution,
             profile: bool, board: board_directory.BoardDirectory,
             metrics: own_metrics.OwnMetrics, trials: Any,
             progress: Callable[[], progress_lib.Progress]) -> None:
  folder, summary_path = workdir / name, _summary(workdir, name)
  description = descriptions.of(protocol)
  if distribution.is_chief and description is not None:
    snapshots.save_text(folder / descriptions.FILE, runs_lib.sealed(description.values()))
  if distribution.agreed(_has_summary(summary_path)):
    logging.info("%s: finished before; nothing to do.", name)
    return
  trace = _Trace(board.log_dir(name) if profile else None)
  writer = _writer(name, workdir, distribution, board, trace.stop, progress)
  try:
    state = run_state.RunState(folder, writer, name=name, seed=seed, distribution=distribution,
                               metrics=metrics, trials=trials)
    summary = {**protocol(make_learner(), state=state), "run": name}
    if metrics.names:
      summary[runs_lib.OWN_METRICS] = metrics.summary(state.records)
    state.flush()
    writer.finish(summary)
  finally:
    writer.close()
    trace.stop()
  if distribution.is_chief:
    snapshots.save_text(summary_path, runs_lib.sealed(
        records_lib.to_plain(summary), num_records=len(state.records)))


def _summary(workdir: pathlib.Path, name: str) -> pathlib.Path:
  """The file whose presence says that the learner has finished."""
  return workdir / name / "summary.json"


def _has_summary(path: pathlib.Path) -> bool:
  try:
    return bool(runs_lib.read_json(path))
  except ValueError as error:
    logging.warning("%s Until then: it is made again from the records.", error)
    return False


def _keep_operative_config(path: pathlib.Path) -> None:
  """Adds to the file: the values of learners that finished in an earlier process stay."""
  text = gin_parse.operative_text(path.read_text() if path.exists() else "")
  if text:  # Without gin there is none.
    snapshots.save_text(path, text)


class _Trace:
  """The profiler's trace of one event; that of a whole run would be too large to be viewed."""

  def __init__(self, log_dir: Optional[pathlib.Path]):
    self._runs = log_dir is not None
    if self._runs:
      tf.profiler.experimental.start(str(log_dir))

  def stop(self) -> None:
    if self._runs:
      tf.profiler.experimental.stop()
    self._runs = False


def _writer(name: str, workdir: pathlib.Path, distribution: distribution_lib.Distribution,
            board: board_directory.BoardDirectory, after_event: Callable[[], None],
            progress: Callable[[], progress_lib.Progress]
            ) -> Union[run_writer.RunWriter, run_writer.Follower]:
  if not distribution.is_chief:
    return run_writer.Follower(workdir / name)
  return run_writer.RunWriter(
      workdir / name, board.view(name), progress(), after_event)


def _check_share(distribution: distribution_lib.Distribution) -> None:
  if not distribution.is_single:
    raise gin_files.ConfigError(
        f"--share trains a trial on one device, and --strategy is {distribution.name}. Leave "
        "--strategy out and start a process for each device.")


def _following(seed: int, distribution: distribution_lib.Distribution, folder: pathlib.Path, *,
               name: str, trials: trial_queue.TrialQueue) -> run_state.RunState:
  """The state of a run whose trials this process trains."""
  return run_state.RunState(folder, run_writer.Follower(folder), name=name, seed=seed,
                            distribution=distribution, trials=trials, follows=True)


def _check_alike(folder: pathlib.Path, config_text: str, own: arithmetic.Arithmetic) -> None:
  """Refuses to help a run that was configured otherwise, or computes otherwise."""
  unchanged.check(folder / "config.gin", config_text, "a run")
  try:
    own.check(_stored_environment(folder).get("arithmetic", {}))
  except ValueError as error:
    raise gin_files.ConfigError(f"This process computes otherwise than the run in {folder}: "
                                f"{error}") from error


@contextlib.contextmanager
def _alone(folder: pathlib.Path, distribution: distribution_lib.Distribution,
           meanwhile: Optional[Callable[[], None]] = None) -> Iterator[None]:
  """Makes the work directory and keeps other runs out of it; only the chief writes there.

  `meanwhile` is called while another process runs there, and returns when it has ended.
  """
  if not distribution.is_chief:
    yield
    return
  folders.make(folder, "--workdir")
  others = (p.name for p in folder.iterdir() if not p.name.startswith(atomic_files.TEMPORARY))
  if not (folder / "config.gin").exists() and any(name != _LOCK for name in others):
    raise gin_files.ConfigError(f"{folder} is not empty and holds no run; give another --workdir.")
  with contextlib.ExitStack() as stack:
    while not _entered(stack, folder, meanwhile is not None):
      assert meanwhile is not None
      meanwhile()
    atomic_files.sweep(folder)
    yield


def _entered(stack: contextlib.ExitStack, folder: pathlib.Path, waits: bool) -> bool:
  """Takes the lock of a work directory; whether nobody else holds it, if `waits`."""
  try:
    with snapshots.disk_errors("anything", folder):
      stack.enter_context(file_lock.held(folder / _LOCK, wait=False))
    return True
  except file_lock.LockedError as error:
    if waits:
      return False
    raise gin_files.ConfigError(
        f"Another process runs in {folder}: {file_lock.owner(folder / _LOCK)}. Wait until it has "
        "ended, or end it, then repeat the command; or give another --workdir.") from error


def _claim(folder: pathlib.Path, config_text: str, own: arithmetic.Arithmetic,
           environment: Mapping[str, Any]) -> None:
  """Claims the work directory: a new one, or one of the same configuration.

  What was refused before its first event, such as a model that does not fit, has left nothing: it
  is replaced.
  """
  config_path, environment_path = folder / "config.gin", folder / "environment.json"
  if config_path.exists() and not _has_begun(folder):
    for path in (environment_path, config_path):
      path.unlink(missing_ok=True)
  if config_path.exists():
    unchanged.check(config_path, config_text, "a run")
  else:  # First, so that a process killed right after it leaves a directory that can be resumed.
    snapshots.save_text(config_path, config_text)
  if not environment_path.exists():
    snapshots.save_text(environment_path, json.dumps(environment, indent=1))
    return
  if all(_summary(folder, name).exists() for name in environment["learners"]):
    return  # Nothing is left to compute; the run is only reported.
  try:
    own.check(_stored_environment(folder).get("arithmetic", {}))
  except ValueError as error:
    raise gin_files.ConfigError(f"{folder} holds a run that computed otherwise: {error} Or give "
                                "another --workdir.") from error


def _has_begun(folder: pathlib.Path) -> bool:
  """Whether a learner's directory holds anything, a record or a part of its first event."""
  of_learners = (p for p in folder.glob("*/**/*") if "tensorboard" not in p.parts)
  return any(p.is_file() and p.stat().st_size for p in of_learners)


def _compute_as_the_chief(distribution: distribution_lib.Distribution,
                          own: arithmetic.Arithmetic) -> None:
  """Refuses a process that computes otherwise than the chief, whose settings are stored."""
  try:
    own.check(distribution.agreed(dataclasses.asdict(own)))
  except ValueError as error:
    raise gin_files.ConfigError(
        f"This process computes otherwise than the chief: {error}") from error

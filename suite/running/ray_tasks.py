# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The engine `ray`: the runs of a table, or processes that share a run's trials, as Ray's tasks.

A task starts the process that `--jobs` would start, on the node that Ray chooses, and waits for its
end. All that a run keeps lies in its work directory, which every node must see, so the run of a
node that is lost resumes on another one from its last saved state. Ray keeps no results.

Without an address Ray is started on this machine, where it listens on the loopback interface alone
and has no dashboard.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import contextlib
import dataclasses
import os
import platform
import sys
import time
from typing import Any

from absl import logging

from suite.configs import gin_files
from suite.system import processes

RETRIES = 3  # Of a task whose node, or whose process, was lost.
_LOCK_SECONDS = 150.0  # For a lost node's locks; NFS keeps them for 90.
_POLL_SECONDS, _NEWS_SECONDS, _PATIENCE_SECONDS = 1.0, 30.0, 30.0
# Variables that a task takes from the process that asks for it, by their beginnings; all others are
# those of its node, and CUDA_VISIBLE_DEVICES is Ray's.
_OF_DRIVER = ("LIFELONG_", "TFDS_", "TF_", "XLA_", "OMP_", "MKL_", "OPENBLAS_", "PYTHONPATH")
_LOCAL = "local"


@dataclasses.dataclass(frozen=True)
class RayEngine:
  """Runs jobs as tasks of Ray.

  Attributes:
    address: of a cluster that runs, "auto": the one that this machine is part of; None:
      $RAY_ADDRESS, or a new one on this machine.
    gpus_per_task: number of GPUs that Ray reserves for a task, a whole one or a part of one; None:
      what the job needs if the cluster has GPUs, else 0.
    cpus_per_task: number of CPU cores that Ray reserves for a task.
    at_once: number of tasks at the same time; None: those for which the cluster has room.
  """

  address: str | None = None
  gpus_per_task: float | None = None
  cpus_per_task: float = 1
  at_once: int | None = None

  def run_all(self, jobs: Sequence[processes.Job], at_once: int = 0) -> list[processes.Outcome]:
    """As `processes.run_all`; `at_once` is not used, since Ray starts what there is room for.

    Raises:
      ConfigError: Ray is not installed, does not answer, or has no node for such tasks.
    """
    del at_once
    if not jobs:
      return []
    with _connected(self.address) as ray, processes.ended_like_interrupted():
      gpus = self._gpus(ray, jobs)
      _check_room(ray, gpus, self.cpus_per_task, may_grow=self.address is not None)
      given = {name: value for name, value in os.environ.items() if name.startswith(_OF_DRIVER)}
      # Retries are ours: a second attempt waits for the lock of the first.
      task = ray.remote(num_gpus=gpus, num_cpus=self.cpus_per_task, max_retries=0)(run_on_node)
      return _Tasks(ray, lambda job, patience: task.remote(job, os.getcwd(), given, patience),
                    jobs).run(self.at_once or len(jobs))

  def _gpus(self, ray: Any, jobs: Sequence[processes.Job]) -> float:
    """Number of GPUs of a task."""
    if self.gpus_per_task is not None:
      return self.gpus_per_task
    if not ray.cluster_resources().get("GPU", 0):
      return 0
    if not all(job.gpus for job in jobs):
      raise gin_files.ConfigError(
          "--engine ray with several devices a run has to know how many: give --devices N.")
    return max(job.gpus for job in jobs)


def run_on_node(job: processes.Job, folder: str, given: Mapping[str, str], patience: float
                ) -> tuple[str, str, float]:
  """The task: runs a job on this node; returns state, reason and seconds of its outcome.

  Args:
    job: paths in it may be relative.
    folder: where the command was given.
    given: variables that replace those of this node.
    patience: see `processes.run_one`.
  """
  try:
    os.chdir(folder)
  except OSError as error:
    return processes.FAILED, (
        f"node {platform.node()} cannot open {folder} ({error.strerror}). Give the command in a "
        "folder that all nodes mount, such as one on NFS"), 0.0
  # Ray limits OpenMP to the cores that it reserves; other threads are other rounding.
  environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
  environment.setdefault(processes.GROWTH, "true")  # Tasks may have parts of one GPU.
  environment.update(given)
  command = list(job.command)
  if command[1:2] == ["-m"]:  # This node's Python.
    command[0] = sys.executable
  outcome = processes.run_one(job._replace(command=command), environment, patience)
  return outcome.state, outcome.reason, outcome.seconds


class _Tasks:
  """The tasks of one call: begins them, begins lost ones again, and says how many have ended."""

  def __init__(self, ray: Any, begin: Any, jobs: Sequence[processes.Job]):
    self._ray, self._begin, self._jobs = ray, begin, jobs
    self._waiting = collections.deque(jobs)
    self._running: dict[Any, processes.Job] = {}
    self._lost: collections.Counter[str] = collections.Counter()
    self._outcomes: dict[str, processes.Outcome] = {}
    self._said = time.monotonic()

  def run(self, at_once: int) -> list[processes.Outcome]:
    """Outcomes in the order of the jobs. If it is interrupted, it ends what it has begun."""
    try:
      while self._waiting or self._running:
        while self._waiting and len(self._running) < at_once:
          job = self._waiting.popleft()
          patience = _LOCK_SECONDS if self._lost[job.name] else 0.0
          self._running[self._begin(job, patience)] = job
        done, _ = self._ray.wait(list(self._running), timeout=_POLL_SECONDS)
        for task in done:
          self._take(self._running.pop(task), task)
        if done or time.monotonic() - self._said > _NEWS_SECONDS:
          self._say()
    finally:
      for task in self._running:
        self._ray.cancel(task)
      if self._running:
        self._ray.wait(list(self._running), num_returns=len(self._running),
                       timeout=_PATIENCE_SECONDS)
    return [self._outcomes[job.name] for job in self._jobs]

  def _take(self, job: processes.Job, task: Any) -> None:
    """Takes the outcome of a task that has ended, or lets a lost one begin again."""
    errors = self._ray.exceptions
    lost, outcome = "", processes.Outcome(job, processes.FAILED)
    try:
      state, reason, seconds = self._ray.get(task)
      outcome = processes.Outcome(job, state, reason, seconds)
      if state == processes.FAILED and reason.startswith("ended by signal"):
        lost = reason  # Such as that of the system where memory is not enough.
    except errors.RayTaskError as error:  # Of this module's function: another attempt fails, too.
      outcome = outcome._replace(reason=str(error).strip().splitlines()[-1])
    except errors.RayError as error:
      lost = (str(error).strip().splitlines() or [""])[0] or type(error).__name__
      outcome = outcome._replace(reason=lost)
    if lost and self._lost[job.name] < RETRIES:
      self._lost[job.name] += 1
      logging.info("%s: lost (%s); resumes from its last saved state, attempt %d of %d.", job.name,
                   lost, self._lost[job.name] + 1, RETRIES + 1)
      self._waiting.appendleft(job)
    else:
      logging.info("%s: %s%s.", job.name, outcome.state, f" ({lost})" if lost else "")
      self._outcomes[job.name] = outcome

  def _say(self) -> None:
    self._said = time.monotonic()
    states = collections.Counter(outcome.state for outcome in self._outcomes.values())
    total, free = self._ray.cluster_resources(), self._ray.available_resources()
    used = ", ".join(f"{total[name] - free.get(name, 0):g} of {total[name]:g} {name}s"
                     for name in ("GPU", "CPU") if total.get(name))
    logging.info("Ray: %d of %d runs have ended, %d of them failed; %d lost and begun again. In "
                 "use: %s.", len(self._outcomes), len(self._jobs), states[processes.FAILED],
                 sum(self._lost.values()), used or "nothing")


@contextlib.contextmanager
def _connected(address: str | None) -> Iterator[Any]:
  """Ray's module, connected to a cluster; a new one ends with the block."""
  address = address or os.environ.get("RAY_ADDRESS") or _LOCAL
  os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
  if address == _LOCAL:  # Read at import: else ports are open on every interface.
    os.environ.setdefault("RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER", "0")
  try:
    import ray
  except ImportError as error:
    raise gin_files.ConfigError(
        f"--engine ray needs Ray, which is not installed here ({error}). Install it with pip "
        'install ".[cluster]", or leave --engine out.') from error
  if ray.is_initialized():  # By the caller's program, which also ends it.
    yield ray
    return
  try:
    local = {"include_dashboard": False} if address == _LOCAL else {}
    ray.init(address=address, log_to_driver=False, logging_level="error", **local)
  except (ConnectionError, ValueError, RuntimeError, OSError, TimeoutError) as error:
    reason = (str(error).strip().splitlines() or [type(error).__name__])[0]
    raise gin_files.ConfigError(
        f"No Ray at {address!r}: {reason} Start one with ray start --head, or leave --address out "
        "to start one on this machine.") from error
  try:
    yield ray
  finally:
    ray.shutdown()


def _check_room(ray: Any, gpus: float, cpus: float, *, may_grow: bool) -> None:
  """Refuses tasks that no node has room for, for which Ray would wait for ever."""
  nodes = [node["Resources"] for node in ray.nodes() if node["Alive"]]
  if any(one.get("GPU", 0) >= gpus and one.get("CPU", 0) >= cpus for one in nodes):
    return
  most = {name: max((one.get(name, 0) for one in nodes), default=0) for name in ("GPU", "CPU")}
  text = (f"No node of Ray has {gpus:g} GPUs and {cpus:g} CPUs, which a task needs: the most are "
          f"{most['GPU']:g} and {most['CPU']:g}. Give less to --gpus_per_task or --cpus_per_task")
  if not may_grow:
    raise gin_files.ConfigError(f"{text}.")
  logging.warning("%s, or add a node; the tasks wait for one.", text)

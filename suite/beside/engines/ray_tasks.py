# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The engine `ray`: the runs of a table, or processes that share a run's trials, as Ray's tasks.

A task starts the process that `--jobs` would start, on the node that Ray chooses, and waits for its
end. All that a run keeps lies in its work directory, which every node must see, so the run of a
node that is lost resumes on another one from its last saved state. Ray keeps no results. Nodes that
have no folder in common copy work directories to a path of fsspec, and from there (`Copies`).

Without an address Ray is started on this machine, where it listens on the loopback interface alone
and has no dashboard.
"""

from __future__ import annotations

import collections
from collections.abc import Iterator, Mapping, Sequence
import contextlib
import dataclasses
import os
import pathlib
import platform
import shutil
import stat
import sys
import tarfile
import tempfile
import threading
import time
from typing import Any

from absl import logging

from suite.configs import gin_files
from suite.system import atomic_files
from suite.system import processes

RETRIES = 3  # Of a task whose node, or whose process, was lost.
_LOCK_SECONDS = 150.0  # For a lost node's locks; NFS keeps them for 90.
_POLL_SECONDS, _NEWS_SECONDS, _PATIENCE_SECONDS = 1.0, 30.0, 30.0
# Variables that a task takes from the process that asks for it, by their beginnings; all others are
# those of its node, and CUDA_VISIBLE_DEVICES is Ray's.
_OF_DRIVER = ("LIFELONG_", "TFDS_", "TF_", "XLA_", "OMP_", "MKL_", "OPENBLAS_", "PYTHONPATH")
_LOCAL = "local"
_COPY_SECONDS, _COPY_TRIES = 60.0, 5
_SAVED, _END = "state", "end"  # The folder with the state of a run; the last entry of a copy.


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
    copies: a path of fsspec through which work directories go; None: all nodes see the same ones.
  """

  address: str | None = None
  gpus_per_task: float | None = None
  cpus_per_task: float = 1
  at_once: int | None = None
  copies: str | None = None

  def run_all(self, jobs: Sequence[processes.Job], at_once: int = 0) -> list[processes.Outcome]:
    """As `processes.run_all`; `at_once` is not used, since Ray starts what there is room for.

    Raises:
      ConfigError: Ray is not installed, does not answer, or has no node for such tasks.
    """
    del at_once
    if not jobs:
      return []
    copies = None if self.copies is None else Copies(self.copies)
    if copies and not all(job.folder for job in jobs):
      raise gin_files.ConfigError("--copies is for runs each of which has a folder, and those of "
                                  "--share have one in common. Leave it out.")
    with _connected(self.address) as ray, processes.ended_like_interrupted():
      gpus = self._gpus(ray, jobs)
      _check_room(ray, gpus, self.cpus_per_task, may_grow=self.address is not None)
      given = {name: value for name, value in os.environ.items() if name.startswith(_OF_DRIVER)}
      # Retries are ours: a second attempt waits for the lock of the first.
      task = ray.remote(num_gpus=gpus, num_cpus=self.cpus_per_task, max_retries=0)(run_on_node)
      return _Tasks(
          ray, lambda job, patience: task.remote(job, os.getcwd(), given, patience, self.copies),
          jobs, copies).run(self.at_once or len(jobs))

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


class Copies:
  """Copies of what jobs write, at a path of fsspec: NAME/00000007.tar, the last two of each job.

  A copy that a node has not put whole, since it was lost, is passed over.
  """

  def __init__(self, url: str):
    try:
      import fsspec
      self._files, self._root = fsspec.core.url_to_fs(url)
    except (ImportError, ValueError) as error:
      raise gin_files.ConfigError(
          f"--copies {url} cannot be opened: {error}. Give a path of fsspec, such as "
          "s3://bucket/table2 with s3fs installed on every node.") from error

  def _of(self, job: processes.Job) -> tuple[str, list[str]]:
    """The folder of a job's copies, and their names, oldest first."""
    folder = f"{self._root.rstrip('/')}/{job.name}"
    self._files.invalidate_cache()
    found = self._files.ls(folder, detail=False) if self._files.exists(folder) else []
    return folder, sorted(path.rsplit("/", 1)[-1] for path in found if path.endswith(".tar"))

  def fetch(self, job: processes.Job) -> None:
    """Puts the newest whole copy in the place of a job's folder and log; none: they stay."""
    folder, names = self._of(job)
    assert job.folder is not None
    job.folder.parent.mkdir(parents=True, exist_ok=True)
    for name in reversed(names):
      with tempfile.TemporaryDirectory(
          prefix=atomic_files.TEMPORARY, dir=job.folder.parent) as temporary:
        if not self._extracted(f"{folder}/{name}", pathlib.Path(temporary)):
          continue
        shutil.rmtree(job.folder, ignore_errors=True)
        for path in pathlib.Path(temporary).iterdir():
          path.replace(job.folder.parent / path.name)
        return

  def _extracted(self, copy: str, folder: pathlib.Path) -> bool:
    """Whether a copy is whole; its files are then in the folder."""
    try:
      with self._files.open(copy, "rb") as file, tarfile.open(fileobj=file, mode="r|") as archive:
        for member in archive:
          if member.name == _END:
            return True
          path = folder / member.name
          if not member.isfile() or folder.resolve() not in path.resolve().parents:
            return False
          path.parent.mkdir(parents=True, exist_ok=True)
          content = archive.extractfile(member)
          assert content is not None
          with open(path, "wb") as target:
            shutil.copyfileobj(content, target)
    except (tarfile.TarError, EOFError):
      pass
    return False

  def put(self, job: processes.Job) -> None:
    """Copies a job's folder and log as of its last saved state, unless it saves all the time."""
    for _ in range(_COPY_TRIES):
      with tempfile.TemporaryFile() as whole:
        if self._packed(job, whole):
          folder, names = self._of(job)
          number = 1 + int(names[-1].partition(".")[0]) if names else 0
          self._files.makedirs(folder, exist_ok=True)
          with self._files.open(f"{folder}/{number:08d}.tar", "wb") as file:
            shutil.copyfileobj(whole, file)
          for name in names[:-1]:
            self._files.rm_file(f"{folder}/{name}")
          return

  def _packed(self, job: processes.Job, whole: Any) -> bool:
    """Writes a copy; False if the state of a learner was saved meanwhile, or is not there yet.

    States go first: records and predictions that are newer than these are cut back on resume.
    """
    from suite.reporting import run_dir
    assert job.folder is not None
    folder = job.folder

    def files(saved: bool) -> dict[pathlib.Path, tuple[int, int]]:
      found = {}
      for path in sorted(folder.rglob("*")):
        if saved != (_SAVED in path.relative_to(folder).parts[:-1]) or path.name.startswith(
            atomic_files.TEMPORARY):
          continue
        with contextlib.suppress(FileNotFoundError):
          facts = path.stat()
          if stat.S_ISREG(facts.st_mode):
            found[path] = facts.st_size, facts.st_mtime_ns
      return found

    state, others = files(True), files(False)
    for learner in (path.parent for path in others if path.name == run_dir.RECORDS):
      if learner / run_dir.SUMMARY not in others and not any(
          learner in path.parents for path in state):
        return False
    with tarfile.open(fileobj=whole, mode="w") as archive:
      for path in [*state, *others, job.log]:
        with contextlib.suppress(FileNotFoundError):
          archive.add(path, path.relative_to(folder.parent), recursive=False)
      archive.addfile(tarfile.TarInfo(_END))
    whole.seek(0)
    return files(True) == state

  @contextlib.contextmanager
  def kept(self, job: processes.Job) -> Iterator[None]:
    """Fetches what a job wrote elsewhere, and copies what it writes: now and then, and at its end.
    """
    self.fetch(job)
    ended = threading.Event()

    def put() -> None:
      while not ended.wait(_COPY_SECONDS):
        try:
          self.put(job)
        except OSError as error:
          logging.warning("%s: not copied now (%s).", job.name, error)

    worker = threading.Thread(target=put, daemon=True)
    worker.start()
    try:
      yield
    finally:
      ended.set()
      worker.join()
      self.put(job)


def run_on_node(job: processes.Job, folder: str, given: Mapping[str, str], patience: float,
                copies: str | None = None) -> tuple[str, str, float]:
  """The task: runs a job on this node; returns state, reason and seconds of its outcome.

  Args:
    job: paths in it may be relative.
    folder: where the command was given.
    given: variables that replace those of this node.
    patience: see `processes.run_one`.
    copies: see `RayEngine`.
  """
  try:
    if copies is not None:
      os.makedirs(folder, exist_ok=True)
    os.chdir(folder)
  except OSError as error:
    return processes.FAILED, (
        f"node {platform.node()} cannot open {folder} ({error.strerror}). Give the command in a "
        "folder that all nodes mount, such as one on NFS, or a path of fsspec as --copies"), 0.0
  # Ray limits OpenMP to the cores that it reserves; other threads are other rounding.
  environment = {name: value for name, value in os.environ.items() if name != "OMP_NUM_THREADS"}
  environment.setdefault(processes.GROWTH, "true")  # Tasks may have parts of one GPU.
  environment.update(given)
  command = list(job.command)
  if command[1:2] == ["-m"]:  # This node's Python.
    command[0] = sys.executable
  with Copies(copies).kept(job) if copies is not None else contextlib.nullcontext():
    outcome = processes.run_one(job._replace(command=command), environment, patience)
  return outcome.state, outcome.reason, outcome.seconds


class _Tasks:
  """The tasks of one call: begins them, begins lost ones again, and says how many have ended."""

  def __init__(self, ray: Any, begin: Any, jobs: Sequence[processes.Job],
               copies: Copies | None = None):
    self._ray, self._begin, self._jobs, self._copies = ray, begin, jobs, copies
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
          self._said = time.monotonic()
          states = collections.Counter(outcome.state for outcome in self._outcomes.values())
          total, free = self._ray.cluster_resources(), self._ray.available_resources()
          used = ", ".join(f"{total[name] - free.get(name, 0):g} of {total[name]:g} {name}s"
                           for name in ("GPU", "CPU") if total.get(name))
          logging.info("Ray: %d of %d runs have ended, %d of them failed; %d lost and begun again. "
                       "In use: %s.", len(self._outcomes), len(self._jobs),
                       states[processes.FAILED], sum(self._lost.values()), used or "nothing")
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
      if self._copies is not None:
        try:
          self._copies.fetch(job)
        except OSError as error:
          outcome = outcome._replace(state=processes.FAILED, reason=(
              f"its copy cannot be fetched ({error}); the same command resumes"))
      logging.info("%s: %s%s.", job.name, outcome.state, f" ({lost})" if lost else "")
      self._outcomes[job.name] = outcome


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

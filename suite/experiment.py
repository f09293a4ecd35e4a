# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs a protocol with each learner of a gin file and writes the report."""

from __future__ import annotations

import base64
from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
import functools
from importlib import metadata
import os
import pathlib
import platform
import subprocess
import sys
import time
from typing import (
  Any,
  NamedTuple,
)

from absl import logging
import numpy as np
import tensorflow as tf

import suite
from suite.compute import arithmetic
from suite.compute import distribution as distribution_lib
from suite.compute import ledger
from suite.compute import private_tensorflow
from suite.configs import entry_points
from suite.configs import gin_files
from suite.configs import gin_parse
from suite.configs import run_settings
from suite.contracts import descriptions
from suite.contracts import refusals
from suite.metrics import own_metrics
from suite.models import precision
from suite.protocols import development as development_lib
from suite.protocols import run_state
from suite.reporting import progress as progress_lib
from suite.reporting import records
from suite.reporting import run_dir
from suite.reporting import run_writer
from suite.reporting import tables
from suite.reporting.board import tensorboard
from suite.state import code_store
from suite.state import run_identity
from suite.state import snapshots
from suite.state import trial_queue
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import folders
from suite.system import host_memory
from suite.system import processes
from suite.training.scoring import frozen_codes

_LOCK = ".lock"
_POLL_SECONDS = 0.5
_ATTEMPTS = 3  # To read the state of a run that is being written.
_NO_ORIGIN = run_settings.RunOrigin()
_PACKAGES = ("tensorflow", "keras", "tensorflow-addons", "keras-cv", "tensorflow-datasets",
             "tensorboard", "gin-config", "numpy", "scikit-learn", "keras-tuner", "pyarrow")


def run(
    *,
    protocol: Callable[..., dict[str, Any]],
    learners: Mapping[str, Callable[[], Any]],
    only: Sequence[str] = (),
    seed: int = run_settings.RunSettings.seed,
    op_threads: int | None = run_settings.RunSettings.op_threads,
    budget: str = run_settings.RunSettings.budget,
    metrics: Mapping[str, Callable[..., Any]] | None = None,
    method_settings: str = "",
    development: Mapping[str, Any] | None = None,
    selected: Mapping[str, Any] | None = None,
    settings: run_settings.RunSettings,
    origin: run_settings.RunOrigin = _NO_ORIGIN,
    instead: Callable[..., str] | None = None,
) -> str:
  """Runs one protocol with each learner, resuming what was interrupted; returns the report.

  Args:
    protocol: protocol(learner, state=...) returns a summary of plain values.
    learners: makes each learner, by its name in the report.
    only: names of the learners to run, or one name; (): all of them.
    seed, op_threads, budget: see `RunSettings`, whose values these replace.
    metrics: further metrics by name, functions of labels and logits or of records, see
      `own_metrics`.
    method_settings: the named settings that methods have, for the record; "": published values.
    development: the part of the data that the trials of a search see, such as {"tasks": 2}, see
      `development.Development`; None: all of it.
    selected: how a search selected the methods' settings, see `development.Selection`.
    settings: where and how it computes. In its work directory a run of the same identity is resumed
      or read, and one of another identity has a folder beside it, see `run_identity`. With `share`,
      if another process runs there, this one trains trials of its searches; when the other has
      ended, it continues the run. One device each.
    origin: what the configuration was made from, for the record.
    instead: instead(protocol, learners, seed, distribution), with `budget` if there is one, is
      called once all is set up, and its text returned: nothing runs and nothing is written (`suite
      run --dry_run`).
  """
  del method_settings  # The configuration has them, and `origin.changes` says what they changed.
  only = [only] if isinstance(only, str) else list(only)
  folders.check_names(learners, "learner")
  if unknown := sorted(set(only) - set(learners)):
    raise ValueError(f"experiment.run.only has {', '.join(map(repr, unknown))}; the learners of "
                     f"this run are {', '.join(learners)}.")
  learners = {name: make for name, make in learners.items() if not only or name in only}
  settings = settings.replaced(seed=seed, op_threads=op_threads, budget=budget)
  limits = settings.limits()
  if limits is not None and settings.share:
    raise gin_files.ConfigError(
        "--share trains trials of a search in several processes, of which none knows what the "
        "others leave of --budget. Leave one of the two out.")
  further = own_metrics.OwnMetrics(metrics)
  folders.check(folder := pathlib.Path(settings.workdir), "--workdir")
  if settings.tracker:
    entry_points.load(entry_points.TRACKERS, settings.tracker).check()
  distribution, own = _set_up(settings, folder)
  if development is not None:
    protocol, _ = development_lib.given(development_lib.Development, development).of(protocol)
  if selected is not None:
    protocol = development_lib.given(development_lib.Selection, selected).of(protocol)
  if instead is not None:
    return instead(protocol, learners, seed, distribution,
                   **({} if limits is None else {"budget": limits}))
  identities = {name: _identity(origin, name, settings, own) for name in learners}
  known = {name: run_identity.place(folder, name, one.texts, origin.config_text)
           for name, one in identities.items()}
  for name, one in identities.items():
    _take_first_weights(known[name], one.models, distribution)
  protocol, checked = refusals.before_first_event(
      protocol, {name: make for name, make in learners.items()
                 if not (known[name].is_known and (known[name].folder / run_dir.SUMMARY).exists())},
      seed=seed, distribution=distribution, metrics=further, budget=limits,
      configuration=gin_parse.num_parsed)
  learners = {**learners, **checked}
  meanwhile = functools.partial(_help_until_free, folder, learners, protocol, seed, distribution,
                                identities, own) if settings.share else None
  codes = settings.codes_folder()
  kept = None if codes is None else code_store.CodeStore(codes, int(settings.codes_gb * 1e9))
  with _alone(folder, distribution, meanwhile), distribution.lost_processes(), (
      frozen_codes.keep_in(kept)):
    try:  # The chief's settings are stored.
      own.check(distribution.agreed(dataclasses.asdict(own)))
    except ValueError as error:
      raise gin_files.ConfigError(
          f"This process computes otherwise than the chief: {error}") from error
    places = _claim(settings, origin, identities, distribution, own)
    board = tensorboard.BoardDirectory(
        folder, origin.config_text, _stored_environment(folder) if distribution.is_chief else {})
    description = descriptions.of(protocol)
    for number, (name, make_learner) in enumerate(learners.items(), 1):
      place = places[name]
      progress = functools.partial(
          progress_lib.of_process, name, number, len(learners), description
          ) if settings.progress else progress_lib.Silent
      if distribution.is_chief and description is not None:
        snapshots.save_text(
            place.folder / descriptions.FILE, run_dir.sealed(description.values()))
      with _learner_run(place, settings, distribution, board, further, progress) as learner_run:
        if learner_run is not None:  # It has not finished before.
          if description is not None:
            learner_run.state.keepers = description.keepers
          learner_run.finish(protocol(make_learner(), state=learner_run.state))
      run_identity.remember(identities[name].texts, identities[name].after())
      if distribution.is_chief:
        # What was used so far; what learners used that finished in an earlier process stays.
        path = run_identity.home(place.folder) / "operative_config.gin"
        if text := gin_parse.operative_text(path.read_text() if path.exists() else ""):
          snapshots.save_text(path, text)  # Without gin there is none.
    if distribution.is_chief:
      board.complete()
  return _report(folder, origin, only, places) if distribution.is_chief else ""


def _identity(origin: run_settings.RunOrigin, name: str, settings: run_settings.RunSettings,
              own: arithmetic.Arithmetic) -> run_settings.RunIdentity:
  """The identity of a learner's run: its objects or bindings, and the settings of the run."""
  found = run_settings.RunIdentity({"configuration": origin.config_text})
  if origin.identity is not None:
    found = origin.identity(name)
  of_run = {"seed": repr(settings.seed), "budget": repr(settings.budget or None),
            "precision": repr(own.precision), "xla": repr(own.xla),
            "deterministic": repr(own.deterministic)}
  return found._replace(texts=run_identity.at_first({
      **{f"settings.{key}": text for key, text in of_run.items()}, **found.texts}))


def _set_up(settings: run_settings.RunSettings, folder: pathlib.Path
            ) -> tuple[distribution_lib.Distribution, arithmetic.Arithmetic]:
  """Sets how this process computes; returns its devices, and what is to be recorded."""
  # The threads of an op: those the run began with, else those asked for.
  asked = settings.op_threads
  number = _stored_environment(folder).get("arithmetic", {}).get("op_threads", asked)
  # If nothing was limited when it began, NumPy's threads stay as the environment has them.
  is_asked = asked is not None or number != arithmetic.of_this_process().op_threads
  if is_asked and number is not None and not arithmetic.limit_op_threads(number):
    logging.info("TensorFlow has already started in this process: op_threads=%d has no effect.",
                 number)
  arithmetic.compile_clusters(settings.xla)  # Its flag is read when devices are listed.
  if settings.share:  # Several processes may have one GPU; read when devices are listed, too.
    os.environ.setdefault(processes.GROWTH, "true")
  named = [] if tf.config.list_physical_devices("GPU") else processes.visible_gpus()
  if named:
    logging.warning("TensorFlow sees no GPU here, although there is %s: this process computes on "
                    "the CPU. Install the extra gpu, or ask nvidia-smi.", ", ".join(named))
  distribution = distribution_lib.build(settings.strategy, settings.devices)
  if tf.config.list_physical_devices("GPU"):
    distribution.memory_bytes = processes.gpu_memory()
  private_tensorflow.set_seed(settings.seed)
  deterministic = settings.deterministic
  if deterministic is None:
    deterministic = not tf.config.list_physical_devices("GPU")
  precision.use(settings.precision)
  if precision.needs_loss_scale() and not distribution.is_single:
    raise gin_files.ConfigError(
        f"--precision {settings.precision} scales losses, which the replicas of --strategy "
        f"{distribution.name} do not agree on. Take mixed_bfloat16, or --strategy one_device.")
  if settings.share and not distribution.is_single:
    raise gin_files.ConfigError(
        f"--share trains a trial on one device, and --strategy is {distribution.name}. Leave "
        "--strategy out and start a process for each device.")
  if deterministic:
    # One CPU device repeats a run bit for bit; an op without a deterministic kernel fails instead
    # of drifting.
    tf.config.experimental.enable_op_determinism()
  private_tensorflow.without_temporary_variables()
  return distribution, arithmetic.of_this_process(
      precision=settings.precision, xla=settings.xla, deterministic=deterministic)


def _report(folder: pathlib.Path, origin: run_settings.RunOrigin, only: Sequence[str],
            places: Mapping[str, run_identity.Place]) -> str:
  """Makes and saves the report.

  If the run did not use all that the user bound, there are an ERROR line and unused_bindings.txt.
  """
  path = folder / "unused_bindings.txt"
  homes = dict.fromkeys(run_identity.home(place.folder) for place in places.values())
  operative = [text.read_text() for home in homes if (
      text := home / "operative_config.gin").exists()]
  unused: list[str] = []
  if origin.find_unused is not None:
    unused = origin.find_unused("\n".join(operative), only) if operative else []
    path.unlink(missing_ok=True)
  if unused:
    snapshots.save_text(path, "\n".join(unused) + "\n")
    logging.error(
        "The run did not use %d bindings: its code passes these arguments by itself, or never "
        "called what they belong to. Its results are those without them. %s has this list:\n  %s",
        len(unused), path, "\n  ".join(unused))
  snapshots.save_text(folder / "report.txt", tables.report([folder], every=True))
  for home in dict.fromkeys([folder, *homes]):
    run_dir.save_sums(home)
  return tables.report([folder], most=processes.terminal_width())


def _stored_environment(folder: pathlib.Path) -> Mapping[str, Any]:
  path = folder / "environment.json"
  with snapshots.reading("the environment", path):
    return run_dir.read_json(path)


class _LearnerRun(NamedTuple):
  """One learner's run of the protocol: its state, and what is called with its summary."""

  state: run_state.RunState
  finish: Callable[[Mapping[str, Any]], None]


@contextlib.contextmanager
def _learner_run(
    place: run_identity.Place, settings: run_settings.RunSettings,
    distribution: distribution_lib.Distribution, board: tensorboard.BoardDirectory,
    metrics: own_metrics.OwnMetrics, progress: Callable[[], progress_lib.Progress]
    ) -> Iterator[_LearnerRun | None]:
  """Opens the run of a learner, and closes its files; None if it has finished before."""
  folder, name = place.folder, run_identity.label(place.folder)
  summary_path = folder / run_dir.SUMMARY
  try:
    is_finished = bool(run_dir.read_json(summary_path))
  except ValueError as error:
    logging.warning("%s Until then: it is made again from the records.", error)
    is_finished = False
  if distribution.agreed(is_finished):
    _say(distribution, f"{name}: finished earlier; read from {folder}.")
    yield None
    return
  trace = _Trace(board.log_dir(folder.name) if settings.profile else None)
  writer: run_writer.RunWriter | run_writer.Follower = (
      run_writer.RunWriter(folder, board.view(folder.name), progress(), trace.stop,
                           _tracked(settings, folder))
      if distribution.is_chief else run_writer.Follower(folder))

  def finish(summary: Mapping[str, Any]) -> None:
    summary = {**summary, "run": name}
    if metrics.names:
      summary[run_dir.OWN_METRICS] = metrics.summary(state.records)
    state.flush()
    writer.finish(summary)
    finished.append(summary)

  finished: list[Mapping[str, Any]] = []
  try:
    state = run_state.RunState(
        folder, writer, name=name, seed=settings.seed, distribution=distribution, metrics=metrics,
        trials=(trial_queue.TrialQueue(_queue_folder(folder)) if settings.share
                else trial_queue.InTurn()), budget=settings.limits(),
        keep_every=settings.keep_every())
    if place.is_known:
      _say(distribution, f"{name}: resumed at event {state.done} in {folder}.")
    elif place.difference:
      _say(distribution, f"{name}: computed in {folder}, beside {place.difference}.")
    else:
      _say(distribution, f"{name}: computed in {folder}.")
    yield _LearnerRun(state, finish)
  except ledger.BudgetError as error:  # An outcome, which leaderboards have.
    if distribution.is_chief:
      snapshots.save_text(folder / run_dir.REFUSED, run_dir.sealed({
          "reason": gin_files.first_line(error)}))  # Without gin's lines of calls.
    raise
  finally:
    writer.close()
    trace.stop()
  if distribution.is_chief:
    snapshots.save_text(summary_path, run_dir.sealed(
        records.to_plain(finished[0]), num_records=len(state.records),
        last_digest=state.last_digest))
    (folder / run_dir.REFUSED).unlink(missing_ok=True)


def _say(distribution: distribution_lib.Distribution, line: str) -> None:
  """Says what happens with a run; of several workers, those whose log is shown, and the chief."""
  if distribution.is_chief or logging.level_info():
    processes.say(line)


def _tracked(settings: run_settings.RunSettings, folder: pathlib.Path
             ) -> list[run_writer.View]:
  """A learner's run in the tracker that is asked for; [] without one."""
  if not settings.tracker:
    return []
  home = run_identity.home(folder)
  stored = _stored_environment(home)
  view = entry_points.load(entry_points.TRACKERS, settings.tracker)
  return [view(folder.parent, folder.name, {
      "config": (home / run_dir.CONFIG).read_text(),
      **{key: stored.get(key) for key in ("command", "seed", "suite", "device")}})]


class _Trace:
  """The profiler's trace of one event; that of a whole run would be too large to be viewed."""

  def __init__(self, log_dir: pathlib.Path | None):
    self._runs = log_dir is not None
    if self._runs:
      tf.profiler.experimental.start(str(log_dir))

  def stop(self) -> None:
    if self._runs:
      tf.profiler.experimental.stop()
    self._runs = False


def _help_until_free(
    folder: pathlib.Path, learners: Mapping[str, Callable[[], Any]], protocol: Callable[..., Any],
    seed: int, distribution: distribution_lib.Distribution,
    identities: Mapping[str, run_settings.RunIdentity], own: arithmetic.Arithmetic) -> None:
  """Trains trials of the run in a folder until no process, the chief, holds its lock.

  This process runs the protocol from the chief's last saved state, in a temporary folder, as far as
  the search that is open, so it has the same learner, data and weights. There the search's queue
  gives it trials until the search is over; nothing else of the run is computed twice.
  """
  def is_free() -> bool:
    return file_lock.is_free(folder / _LOCK)

  logging.info("%s runs here; this process trains trials of its searches.", folder)
  while not is_free():
    for name, make in learners.items():
      place = run_identity.latest(folder, name)
      queue = trial_queue.TrialQueue(_queue_folder(place), chief_has_ended=is_free)
      if queue.opened() is None:
        continue
      _check_alike(place, identities[name].texts, own)
      for left in reversed(range(_ATTEMPTS)):
        opened = queue.opened()
        try:
          protocol(make(), state=run_state.RunState(
              place, run_writer.Follower(place), name=name, seed=seed,
              distribution=distribution, trials=queue, follows=True))
          break
        except trial_queue.Released:
          break
        except Exception as error:  # A file of the state may have been replaced while it was read.
          if queue.opened() != opened or opened is None:
            logging.info("The search has ended meanwhile (%s).", type(error).__name__)
            break
          if not left:
            raise
      host_memory.collect()  # The learner's graphs: the next search makes a new one.
    time.sleep(_POLL_SECONDS)


def _queue_folder(folder: pathlib.Path) -> pathlib.Path:
  """The folder of the trials of a learner's run."""
  return folder / "state" / "search"


def _check_alike(folder: pathlib.Path, texts: Mapping[str, str], own: arithmetic.Arithmetic
                 ) -> None:
  """Refuses to help a run of another identity, or one that computes otherwise."""
  if (known := run_identity.read(folder)) != texts:
    raise gin_files.ConfigError(
        f"Another process runs in {folder}, with another identity: "
        f"{run_identity.difference(known, texts)}. Repeat its command, or give another --workdir.")
  _check_arithmetic(folder, own)


def _check_arithmetic(folder: pathlib.Path, own: arithmetic.Arithmetic) -> None:
  """Refuses to resume a run that computed otherwise."""
  try:
    own.check(_stored_environment(run_identity.home(folder)).get("arithmetic", {}))
  except ValueError as error:
    raise gin_files.ConfigError(f"{folder} holds a run that computed otherwise: {error} Or give "
                                "another --workdir.") from error


@contextlib.contextmanager
def _alone(folder: pathlib.Path, distribution: distribution_lib.Distribution,
           meanwhile: Callable[[], None] | None = None) -> Iterator[None]:
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
    while True:
      try:
        with snapshots.disk_errors("anything", folder):
          stack.enter_context(file_lock.held(folder / _LOCK, wait=False))
        break
      except file_lock.LockedError as error:
        if meanwhile is None:
          raise gin_files.ConfigError(
              f"Another process runs in {folder}: {file_lock.owner(folder / _LOCK)}. Wait until it "
              "has ended, or end it, then repeat the command; or give another --workdir."
          ) from error
      meanwhile()
    atomic_files.sweep(folder)
    yield


def _claim(settings: run_settings.RunSettings, origin: run_settings.RunOrigin,
           identities: Mapping[str, run_settings.RunIdentity],
           distribution: distribution_lib.Distribution, own: arithmetic.Arithmetic
           ) -> dict[str, run_identity.Place]:
  """Finds the folder of each learner's run, and writes the texts of those that are new.

  The configuration and the environment stand in the work directory for the runs that its first
  command began, and in the folder of each later run of another configuration. What was refused
  before its first event, such as a model that does not fit, has left nothing: it is replaced.
  """
  workdir = pathlib.Path(settings.workdir)
  places: dict[str, run_identity.Place] = {}
  if distribution.is_chief:
    places = {name: run_identity.place(workdir, name, one.texts, origin.config_text)
              for name, one in identities.items()}
    (workdir / run_dir.SUMS).unlink(missing_ok=True)  # Until the texts are written again.
    for place in places.values():
      if place.is_known and not (place.folder / run_dir.SUMMARY).exists():
        _check_arithmetic(place.folder, own)
    _write_texts(workdir, origin.config_text, [
        place.folder for place in places.values() if not place.is_known],
        functools.partial(_environment, settings, origin.changes, distribution, own))
    for name, place in places.items():
      if run_identity.read(place.folder) != identities[name].texts:
        run_identity.save(place.folder, identities[name].texts)
      if not place.is_known:
        arrays = {f"{model}/{number}": weight  # Of models whose weights chance gave.
                  for model, made in identities[name].models.items()
                  for number, weight in enumerate(made.get_weights())}
        path = place.folder / run_dir.FIRST_WEIGHTS
        path.unlink(missing_ok=True)
        if arrays:
          with snapshots.saving("the first weights", path) as temporary, open(
              temporary, "wb") as file:
            np.savez(file, **arrays)
    run_identity.save_latest(workdir, {name: place.folder for name, place in places.items()})
  found = distribution.agreed({
      name: [place.folder.name, place.is_known] for name, place in places.items()})
  return {name: places.get(name, run_identity.Place(workdir / folder, is_known))
          for name, (folder, is_known) in found.items()}


def _write_texts(workdir: pathlib.Path, config_text: str, new: Sequence[pathlib.Path],
                 environment: Callable[[pathlib.Path, Sequence[str]], str]) -> None:
  """Writes the configuration and the environment of new runs, where they do not stand yet."""
  for folder in new:
    for name in (run_dir.CONFIG, run_dir.ENVIRONMENT, run_dir.SUMS, "operative_config.gin"):
      (folder / name).unlink(missing_ok=True)
  config = workdir / run_dir.CONFIG
  is_needed = any(path.is_dir() and run_identity.has_begun(path)
                  and run_identity.home(path) == workdir.absolute() for path in workdir.iterdir())
  if is_needed and config.exists() and config.read_text() == config_text:
    return
  for home, folders_of in ([(folder, [folder]) for folder in new] if is_needed else
                           [(workdir, new)] if new else []):
    # The configuration first: a process that is killed right after it can resume.
    folders.make(home, "--workdir")
    snapshots.save_text(home / run_dir.CONFIG, config_text)
    snapshots.save_text(home / run_dir.ENVIRONMENT, environment(
        home, [run_identity.label(folder) for folder in folders_of]))


def _environment(settings: run_settings.RunSettings, changes: Mapping[str, str],
                 distribution: distribution_lib.Distribution, own: arithmetic.Arithmetic,
                 home: pathlib.Path, learners: Sequence[str]) -> str:
  """The text of an environment: what numbers depend on besides the configuration in `home`."""
  packages: dict[str, str | None] = {}
  for package in _PACKAGES:
    try:
      packages[package] = metadata.version(package)
    except metadata.PackageNotFoundError:
      packages[package] = None
  root, revision = pathlib.Path(suite.__file__).resolve().parent.parent, None
  if (root / ".git").exists():
    described = subprocess.run(["git", "-C", str(root), "describe", "--always", "--dirty"],
                               capture_output=True, text=True, check=False)
    revision = described.stdout.strip() or None
  return run_dir.sealed({
      run_dir.CONFIG_DIGEST: atomic_files.sha256(home / run_dir.CONFIG),
      "command": settings.command, "seed": settings.seed, "suite": suite.__version__,
      "python": sys.version.split()[0], "platform": platform.platform(),
      "device": distribution.describe(), "instruction_set": arithmetic.instruction_set(),
      "arithmetic": dataclasses.asdict(own),
      "packages": packages, "git_revision": revision, "learners": list(learners),
      **({run_dir.CHANGES: dict(changes)} if changes else {})})


def _take_first_weights(place: run_identity.Place, models: Mapping[str, Any],
                        distribution: distribution_lib.Distribution) -> None:
  """Gives model instances whose weights chance gave those that the run began with.

  A restart takes them from the run's folder, processes besides the chief from the chief.
  """
  path = place.folder / run_dir.FIRST_WEIGHTS
  if distribution.is_chief and models and place.is_known and path.exists():
    with snapshots.reading("the first weights", path), np.load(path, allow_pickle=False) as stored:
      for name, model in models.items():
        model.set_weights([
            stored[f"{name}/{number}"] for number in range(len(model.get_weights()))])
    _say(distribution, f"{run_identity.label(place.folder)}: takes the first weights of its model "
         "from the first start: they were drawn without a seed.")
  if distribution.num_processes > 1:
    for name in distribution.agreed(list(models)):
      weights = models[name].get_weights() if name in models else []
      chiefs = distribution.agreed([base64.b64encode(one.tobytes()).decode() for one in weights])
      if weights:
        models[name].set_weights([
            np.frombuffer(base64.b64decode(text), one.dtype).reshape(one.shape)
            for text, one in zip(chiefs, weights)])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Steps of a curation: each has a folder with a manifest of its inputs and outputs.

    WORK/buckets/{buckets.npy, ranges.csv, manifest.json}
    WORK/queries/{candidates.csv, ambiguous.csv, manifest.json}       and so on

A manifest holds the step's parameters, counts, package versions, and the digests of its inputs and
outputs; the manifest of the previous step is an input, so digests form a chain. Its content does
not depend on the time or the user. Folders are written atomically: a killed step leaves none and is
run again; a finished step with equal inputs is not repeated.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
import contextlib
import dataclasses
from importlib import metadata
import json
import os
import pathlib
import platform
import shutil
from typing import Any

from absl import logging

from suite.beside.curation import errors
from suite.beside.curation import storage
from suite.system import atomic_files
from suite.system import file_lock
from suite.system import sealed_json

NAME = "manifest.json"
FORMAT = 1
_TOOL = "suite curate"

Counts = dict[str, Any]
Inputs = Mapping[str, Sequence[pathlib.Path]]


@dataclasses.dataclass(frozen=True)
class Manifest:
  """One finished step.

  Attributes:
    folder: folder of the step.
    step: name of the step.
    parameters, counts, versions: plain values.
    inputs: role -> files, each {"path" (from the folder above), "bytes", "blake2b"}.
    outputs: file name -> {"bytes", "blake2b"}.
  """

  folder: pathlib.Path
  step: str
  parameters: Mapping[str, Any]
  inputs: Mapping[str, list[Mapping[str, Any]]]
  outputs: Mapping[str, Mapping[str, Any]]
  counts: Mapping[str, Any]
  versions: Mapping[str, str]

  @property
  def path(self) -> pathlib.Path:
    return self.folder / NAME

  def sources(self, role: str) -> list[pathlib.Path]:
    """Paths of the input files of a role; raises an error if one has changed since."""
    found = []
    for entry in self.inputs.get(role, ()):
      path = pathlib.Path(os.path.normpath(self.folder.parent / entry["path"]))
      if storage.digest(path) != entry["blake2b"]:
        raise errors.CurationError(
            f"{path} is not what step {self.step!r} was made from: its digest is "
            f"{storage.digest(path)[:12]}..., not {entry['blake2b'][:12]}... Put the file back, or "
            f"do the step again: {_TOOL} {self.step} {self.folder.parent} --again ...")
      found.append(path)
    return found


def run(work: pathlib.Path, step: str, *, parameters: Mapping[str, Any], inputs: Inputs,
        write: Callable[[pathlib.Path], Counts], again: bool = False) -> Manifest:
  """Runs a step unless it is finished.

  Args:
    work: folder of the curation.
    step: name of the step and of its folder.
    parameters: plain values that affect the outputs.
    inputs: role -> the files that are read.
    write: called with a temporary folder; writes the outputs into it and returns counts.
    again: whether to replace a finished step that was made from other inputs or parameters.
  """
  atomic_files.make_folder(work)
  with _alone(work):
    wanted = {"parameters": json.loads(json.dumps(parameters)), "inputs": {
        role: [{"path": pathlib.PurePath(os.path.relpath(path, work)).as_posix(), **_entry(path)}
               for path in paths] for role, paths in inputs.items()}}
    if (work / step / NAME).exists():
      differences = _differences(_read(work / step), wanted)
      if not differences:
        logging.info("%s is done", work / step)
        return verified(work, step)
      if not again:
        raise errors.CurationError(
            f"{work / step} was made with other {' and '.join(differences)}. Use another folder, or"
            " say --again to replace it; steps after it must then be done again, too.")
    new = work / f".{step}.new"
    if new.exists():
      shutil.rmtree(new)
    new.mkdir()
    versions = {"python": platform.python_version()}
    for name in ("lifelong-suite", "jinja2", "numpy", "pillow", "pyarrow"):
      try:
        versions[name] = metadata.version(name)
      except metadata.PackageNotFoundError:  # Of this suite: in a checkout.
        versions[name] = "not installed"
    try:
      counts = write(new)
      names = sorted(str(path.relative_to(new).as_posix()) for path in new.rglob("*")
                     if path.is_file())
      content = {
          "format": FORMAT, "step": step, **wanted,
          "outputs": {name: _entry(new / name) for name in names}, "counts": counts,
          "versions": versions}
      atomic_files.write(new / NAME, (sealed_json.text(content) + "\n").encode())
      atomic_files.replace_folder(new, work / step)
    finally:
      shutil.rmtree(new, ignore_errors=True)
    return _read(work / step)


def verified(work: pathlib.Path, step: str) -> Manifest:
  """Reads a finished step; raises an error if outputs of it or of an earlier step have changed."""
  found = _read(work / step)
  for name, entry in found.outputs.items():
    if storage.digest(found.folder / name) != entry["blake2b"]:
      raise errors.CurationError(f"{found.folder / name} was changed since it was made. Do the "
                                 f"step again: {_TOOL} {step} {work} --again ...")
  for role, entries in found.inputs.items():
    if entries and pathlib.PurePath(entries[0]["path"]) == pathlib.PurePath(role, NAME):
      if storage.digest(work / role / NAME) != entries[0]["blake2b"]:
        raise errors.CurationError(
            f"Step {role!r} was done again since {step!r} was made from it. Do {step!r} again, too:"
            f" {_TOOL} {step} {work} --again ...")
      verified(work, role)
  return found


def _read(folder: pathlib.Path) -> Manifest:
  path = folder / NAME
  if not path.exists():
    raise errors.CurationError(f"Step {folder.name!r} is not done: there is no {path}. Do it first:"
                               f" {_TOOL} {folder.name} {folder.parent} ...")
  names = [field.name for field in dataclasses.fields(Manifest)[1:]]
  found = sealed_json.load(path, "list of a step's files", f"Delete {folder}, and do the step "
                           "again.", [*names, "format"], errors.CurationError)
  if found["format"] != FORMAT:
    raise errors.CurationError(f"{path} is of another format; this version reads {FORMAT}.")
  return Manifest(folder, **{name: found[name] for name in names})


def _entry(path: pathlib.Path) -> dict[str, Any]:
  found = storage.digest(path)  # First: it names a file that is not there.
  return {"bytes": path.stat().st_size, "blake2b": found}


def _differences(found: Manifest, wanted: Mapping[str, Any]) -> list[str]:
  """Lists differences in parameters and inputs from a finished step; file paths do not matter."""
  def digests(inputs: Mapping[str, Any]) -> dict[str, list[Any]]:
    return {role: [entry["blake2b"] for entry in entries] for role, entries in inputs.items()}

  differences = [f"{key}={found.parameters.get(key)!r} (now {wanted['parameters'].get(key)!r})"
                 for key in sorted({*found.parameters, *wanted["parameters"]})
                 if found.parameters.get(key) != wanted["parameters"].get(key)]
  before, now = digests(found.inputs), digests(wanted["inputs"])
  return differences + [f"{role} (its files have changed)" for role in sorted({*before, *now})
                        if before.get(role) != now.get(role)]


@contextlib.contextmanager
def _alone(work: pathlib.Path) -> Iterator[None]:
  """A lock of the folder; the system frees it when its process dies."""
  with contextlib.ExitStack() as stack:
    try:
      stack.enter_context(file_lock.held(work / ".lock", wait=False))
    except file_lock.LockedError as error:
      raise errors.CurationError(
          f"Another process works in {work}: {file_lock.owner(work / '.lock')}. Wait until it has "
          "ended, or end it.") from error
    yield

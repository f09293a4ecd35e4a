# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Run directories on disk, read for the views made from them."""

from __future__ import annotations

import collections
from collections.abc import Iterable, Mapping
import dataclasses
import functools
import os
import pathlib
import re
import reprlib
from typing import Any

import suite
from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import records as records_lib
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.system import atomic_files
from suite.system import io_errors
from suite.system import sealed_json

RECORDS = run_identity.RECORDS
SUMMARY = "summary.json"
REFUSED = "refused.json"  # Of a learner that does not fit its budget: {"reason": "..."}.
_NUM_RECORDS, _LAST_DIGEST = "num_records", "last_record_digest"  # Of a summary.
ENVIRONMENT = "environment.json"
CONFIG = run_identity.CONFIG
FIRST_WEIGHTS = "first_weights.npz"  # Of model instances, where chance gave them.
CONFIG_DIGEST = "config_digest"  # Of an environment.
CHANGES = "changes"  # Of an environment: by learner, what its label does not say (`RunOrigin`).
SUMS = "SHA256SUMS"  # Of a work directory's texts, in the form of sha256sum.
_TEXTS = (CONFIG, ENVIRONMENT, "operative_config.gin", "report.txt")
_ALIKE = ("0.1", "0.2")  # Versions of the suite in whose records a name has the same meaning.
UNKNOWN = "unknown protocol"
_RESTORE = "Restore it from a copy, or run the same command in a new work directory."
OWN_METRICS = "own_metrics"  # Of a summary: the values of the user's metrics by name.


@dataclasses.dataclass(frozen=True)
class Run:
  """One learner's run.

  Attributes:
    label: name, with as many parts of the path as needed to be unique.
    folder: directory of the run.
    records: records of the events so far.
    summary: return value of the protocol, {} while the run is not finished.
    environment: command, device, seed, versions; {} if not stored.
  """

  label: str
  folder: pathlib.Path
  records: list[dict[str, Any]]
  summary: Mapping[str, Any]
  environment: Mapping[str, Any]

  def __repr__(self) -> str:
    state = "finished" if self.is_finished else "not finished"
    return f"Run({reprlib.repr(self.label)}, {len(self.records):,} records, {state})"

  @property
  def learner(self) -> str:
    """The learner's name, "er" of WORKDIR/er and of WORKDIR/er~3f2a91c0."""
    return run_identity.label(self.folder)

  @property
  def home(self) -> pathlib.Path:
    """The folder of its configuration and environment."""
    return run_identity.home(self.folder)

  @property
  def is_finished(self) -> bool:
    return bool(self.summary)

  def named(self, label: str) -> str:
    """A label, with what it does not say: "er (memory_size=200)", "bhpo (indep)"."""
    return f"{label} ({self.changes})" if self.changes else label

  @property
  def changes(self) -> str:
    """See `changes`."""
    return changes(self.environment, self.learner)

  @property
  def protocol(self) -> str:
    """As the summary or the records say, or else, before the first event, the configuration."""
    first = self.records[0] if self.records else {}
    configured = ""
    if not self.records and not self.summary:
      # "clear" of "@clear.run", in the first configuration that is there.
      path = self.home / CONFIG
      found = path.exists() and re.search(
          r"^experiment\.run\.protocol\s*=\s*\\?\s*@(?:\w+[./])*?(\w+)\.run\b",
          path.read_text(encoding="utf-8"), re.MULTILINE)
      configured = found[1] if found else ""
    return str(self.summary.get("protocol") or first.get(schema.PROTOCOL) or configured or UNKNOWN)

  @functools.cached_property
  def description(self) -> descriptions.ProtocolDescription:
    """The protocol's description, read from the run, else looked up by name."""
    return description(self.folder) or descriptions.named(self.protocol)

  @property
  def totals(self) -> Mapping[str, Any]:
    """The summary, or the last record of an unfinished run."""
    return self.summary or (self.records[-1] if self.records else {})

  def last(self, name: str) -> Any:
    """Returns a total: from the summary, or from the last record of an unfinished run."""
    if name in self.summary:
      return self.summary[name]
    return self.records[-1].get(name) if self.records else None


def changes(environment: Mapping[str, Any], learner: str) -> str:
  """Changes beside a learner's label: "memory_size=200", "indep"; "" also without the fact."""
  known = environment.get(CHANGES)
  said = known.get(learner) if isinstance(known, dict) else None
  return said if isinstance(said, str) else ""


def load(dirs: Iterable[str | os.PathLike], *, every: bool = False) -> list[Run]:
  """Loads the runs in directories, at any depth, each once, in the order of the directories.

  Within a work directory runs are in the order of the configured learners, otherwise by name.

  Args:
    dirs: directories.
    every: whether earlier runs of a learner, which have another identity, are loaded, too.

  Raises:
    FileNotFoundError: a directory holds no run.
    ValueError: a file is damaged, or another version of the suite wrote it.
  """
  folders = list(dict.fromkeys(f for directory in dirs
                               for f in find(directory, every=every)))
  found = []
  for folder, label in zip(folders, labels(folders)):
    records, digests = records_lib.read_chain(folder / RECORDS, tolerate_torn_tail=True)
    summary, home = read_json(folder / SUMMARY), run_identity.home(folder)
    problems = (unfit_summary(folder, len(records), digests[-1]), unfit_environment(home),
                *changed_texts(home).values(),
                _unfit_last(folder, records, digests) if summary else "")
    if any(problems):
      raise ValueError(next(filter(None, problems)))
    environment = read_json(folder / ENVIRONMENT) or read_json(home / ENVIRONMENT)
    theirs = str(environment.get("suite") or suite.__version__)
    if ".".join(theirs.split(".")[:2]) not in _ALIKE:
      raise ValueError(
          f"{folder / RECORDS} was written by suite {environment['suite']}, and this is suite "
          f"{suite.__version__}: values of one name may differ. Report it with that version, or "
          "run its command again in a new work directory: "
          f"{environment.get('command') or 'not stored'}")
    found.append(Run(label, folder, records, summary, environment))
  return found


def description(folder: pathlib.Path) -> descriptions.ProtocolDescription | None:
  """Reads the description of the protocol; None if the run has none.

  Raises:
    ValueError: the file is damaged.
  """
  values = read_json(folder / descriptions.FILE)
  try:
    return descriptions.from_values(values) if values else None
  except (KeyError, TypeError) as error:
    raise ValueError(f"{folder / descriptions.FILE} is no description of a protocol ({error}). "
                     "Run the same command again, which writes it again.") from error


def find(directory: str | os.PathLike, *, every: bool = False) -> list[pathlib.Path]:
  """Folders of the runs in a directory at any depth, work directory by work directory.

  Of several runs of a learner, `every` or the latest one; a run's own folder is that run.
  """
  directory = pathlib.Path(directory).resolve()
  found = [path.parent for path in directory.rglob(RECORDS)]
  if not every:
    found = [folder for folder in found
             if folder == directory or run_identity.is_latest(folder)]
  if not found:
    raise FileNotFoundError(
        f"There is no run in {directory}: neither it nor a folder in it has {RECORDS}. Give the "
        "--workdir of a run, or start one with `suite run`.")
  learners = {parent: learner_names(read_json(parent / ENVIRONMENT), parent)  # As configured.
              for parent in {folder.parent for folder in found}}

  def place(folder: pathlib.Path) -> tuple[pathlib.Path, int, str]:
    names, name = learners[folder.parent], run_identity.label(folder)
    return folder.parent, names.index(name) if name in names else len(names), folder.name

  return sorted(found, key=place)


def learner_names(environment: Mapping[str, Any], workdir: pathlib.Path) -> list[str]:
  """Names of the configured learners, which are folders of the work directory; [] if not stored.

  Raises:
    ValueError: the environment has something else in their place, such as a path.
  """
  names = environment.get("learners", [])
  wrong = [names] if not isinstance(names, list) else [
      name for name in names if not isinstance(name, str) or not name.strip(".")
      or any(letter in "/\\" or not letter.isprintable() for letter in name)]
  if wrong:
    raise ValueError(f"{workdir / ENVIRONMENT} has {wrong[0]!r:.60} in place of a learner's name. "
                     f"{_RESTORE}")
  return names


def labels(folders: list[pathlib.Path]) -> list[str]:
  """Shortest suffix of each path that no other path has; the whole path if there is none.

  The digest of a run's identity is left out where its learner has one run here.
  """
  runs = collections.Counter((folder.parent, run_identity.label(folder)) for folder in folders)
  folders = [folder if runs[folder.parent, run_identity.label(folder)] > 1 else
             folder.with_name(run_identity.label(folder)) for folder in folders]
  tails = [["/".join(folder.parts[-n:]) for n in range(1, len(folder.parts) + 1)]
           for folder in folders]
  counts = collections.Counter(tail for of_folder in tails for tail in of_folder)
  repeated = collections.Counter(folder.as_posix() for folder in folders)
  return [next((tail for tail in of_folder if counts[tail] == repeated[folder.as_posix()]),
               folder.as_posix()) for of_folder, folder in zip(tails, folders)]


def sealed(values: Mapping[str, Any], *, num_records: int | None = None, last_digest: str = ""
           ) -> str:
  """The values as JSON with a digest, which `read_json` verifies and leaves out.

  Args:
    values: plain values.
    num_records, last_digest: of a finished run, for `unfit_summary`.
  """
  if num_records is not None:
    values = {**values, _NUM_RECORDS: num_records}
  if last_digest:
    values = {**values, _LAST_DIGEST: last_digest}
  return sealed_json.text(values)


def unfit_summary(folder: pathlib.Path, num_records: int | None, last_digest: str) -> str:
  """Says that a summary is not of the records beside it; "" if it is, or if nothing says so.

  Args:
    folder: of the learner.
    num_records: that there are; None: not known.
    last_digest: of the last of them.
  """
  path = folder / SUMMARY
  values = sealed_json.read(path)
  if num_records is not None and values.get(_NUM_RECORDS, num_records) != num_records:
    return (f"{folder / RECORDS} has {num_records} records, and the finished run had "
            f"{values[_NUM_RECORDS]}. {_RESTORE}")
  if values.get(_LAST_DIGEST, last_digest) != last_digest:
    return f"{path} is of another run than {RECORDS} beside it. {_RESTORE}"
  return ""


def _unfit_last(folder: pathlib.Path, records: list[dict[str, Any]], digests: list[str]) -> str:
  """Says that the last state or the last predictions of a finished run are of another run.

  `verify` reads all of them; these two are read in milliseconds.
  """
  states = snapshots.Snapshots(folder / "state" / "events")
  for number in states.numbers()[-1:]:
    try:
      position = states.values(number)["position"]
    except Exception:  # It is damaged: a finished run does not need it, and `verify` says so.
      continue
    if isinstance(position, list) and position[1] not in digests:
      return f"{states.path(number)} is the state of another run. {_RESTORE}"
  for record in reversed(records):
    if name := record.get(schema.PREDICTIONS):
      return predictions.misplaced(folder / name, run=digests[0], event=record.get(schema.EVENT))
  return ""


def unfit_environment(workdir: pathlib.Path) -> str:
  """Says that an environment is not of the configuration beside it; "" if it is, as above."""
  config = workdir / CONFIG
  found = read_json(workdir / ENVIRONMENT).get(CONFIG_DIGEST)
  if found is None or not config.is_file() or found == atomic_files.sha256(config):
    return ""
  return (f"{workdir / ENVIRONMENT} is of another configuration than {CONFIG} beside it: one of "
          f"them was changed or belongs to another run. {_RESTORE}")


def save_sums(workdir: pathlib.Path, names: Iterable[str] = _TEXTS) -> None:
  """Writes the sums of the texts that are there, for `changed_texts`."""
  lines = [f"{atomic_files.sha256(workdir / name)}  {name}\n"
           for name in names if (workdir / name).is_file()]
  snapshots.save_text(workdir / SUMS, "".join(lines))


def changed_texts(workdir: pathlib.Path) -> dict[str, str]:
  """What is wrong with the texts of a work directory, by name; none if it has no sums."""
  path = workdir / SUMS
  if not os.path.lexists(path):
    return {}
  try:
    lines = path.read_text(encoding="utf-8").splitlines()
  except (OSError, ValueError) as error:
    if io_errors.of(error):
      raise
    lines = []
  sums = {line[66:]: line[:64] for line in lines if re.fullmatch(r"[0-9a-f]{64}  [\w.]+", line)}
  if CONFIG not in sums or len(sums) < len(lines):
    return {SUMS: f"{path} is damaged. {_RESTORE}"}
  return {name: f"{workdir / name} is not what the run wrote (its digest is not that in {SUMS}). "
                f"{_RESTORE}" for name, expected in sums.items()
          if not (workdir / name).is_file() or atomic_files.sha256(workdir / name) != expected}


def read_json(path: pathlib.Path) -> dict[str, Any]:
  """Reads a JSON object; {} if the file does not exist."""
  try:
    values = sealed_json.read(path)
    for name in (_NUM_RECORDS, _LAST_DIGEST):
      values.pop(name, None)
    return values
  except ValueError as error:
    raise ValueError(f"{path} is not JSON as it was written ({error!s:.200}). It was damaged; "
                     "delete it and run the same command again, which writes it again.") from error

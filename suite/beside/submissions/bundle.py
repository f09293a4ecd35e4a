# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A bundle: a zip of finished runs, as they are handed in to a leaderboard.

    submission.json                    format, title, license, contact; each run with its method,
                                       and runs that do not fit their budget
    MANIFEST.sha256                    the SHA-256 of every other member (`sha256sum -c`)
    runs/000/                          a work directory: config.gin, environment.json, ...
             LEARNER/                  records.jsonl, summary.json, protocol.json
                     predictions/      answers by image id; no images
                     state_digests.jsonl, data_digests.json

The layout under runs/ is that of work directories, so that whatever reads a run reads a bundle. The
same runs give the same bytes: members are sorted and have one date.

A bundle is somebody else's: `unpack` takes only members of these names, of bounded sizes, and only
if the manifest has their digests. Nothing in it is ever executed; it holds JSON, gin and Parquet.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping
import dataclasses
import hashlib
import json
import pathlib
import re
import stat
from typing import Any
import zipfile

from pyarrow import parquet

import suite
from suite.configs import gin_bindings
from suite.configs import gin_files
from suite.configs import gin_names
from suite.configs import methods
from suite.contracts import deliveries
from suite.contracts import descriptions
from suite.metrics import schema
from suite.reporting import records
from suite.reporting import run_check
from suite.reporting import run_dir
from suite.reporting import table_dir
from suite.state import run_identity
from suite.state import snapshots
from suite.state import state_log
from suite.system import atomic_files
from suite.system import sealed_json

FORMAT = 1
OK, FAILED, SKIPPED = "ok", "failed", "not done"  # States of a verifier's check.
TRAININGS, ANSWERS = "trainings", "answers"  # Kinds of events.
ABOUT, MANIFEST = "submission.json", "MANIFEST.sha256"
_TEXTS = (run_dir.CONFIG, run_dir.ENVIRONMENT, "operative_config.gin", "report.txt", run_dir.SUMS)
_OF_LEARNER = (run_dir.RECORDS, run_dir.SUMMARY, descriptions.FILE, state_log.FILE,
               state_log.DATA_FILE)
_NAME = r"[A-Za-z0-9_+@-][A-Za-z0-9_.+@~ -]{0,119}"
_MEMBER = re.compile(
    rf"runs/\d{{3}}/(?:{'|'.join(map(re.escape, _TEXTS))}|{_NAME}/(?:"
    rf"{'|'.join(map(re.escape, _OF_LEARNER))}|predictions/\d{{4,8}}\.parquet))", re.ASCII)
_EPOCH = (1980, 1, 1, 0, 0, 0)  # The first that a zip can have.
MAX_MEMBERS, MAX_BYTES, MAX_MEMBER_BYTES = 200_000, 8 << 30, 1 << 30
_MAX_RATIO, _FREE_BYTES = 200, 4 << 20  # Unpacked to packed bytes, beyond the first ones.
_MAX_ABOUT_BYTES, _MAX_ROWS = 1 << 20, 20_000_000
NUM_SEEDS = 2**31
_SEEDS = f"seeds are whole numbers from 0 to {NUM_SEEDS - 1}"
_FIELDS = {"format": int, "title": str, "license": str, "contact": str, "suite": str, "runs": list}
_RUN_FIELDS = {"folder": str, "learner": str, "method": str, "protocol": str, "seed": int}
REFUSED = "refused"  # A field of submission.json, if there are runs that do not fit.
_REFUSED_FIELDS = {"learner": str, "method": str, "protocol": str, "seed": int, "budget": str,
                   "reason": str}


class SubmitError(ValueError):
  """Runs that cannot be handed in; the message names them."""


class BundleError(ValueError):
  """A file that is no bundle, or a damaged or dangerous one; the message says why."""


@dataclasses.dataclass(frozen=True)
class About:
  """What whoever hands in says.

  Attributes:
    license: of the records and answers, such as "CC-BY-4.0".
    contact: an address.
    title: of the submission, in a few words.
  """

  license: str
  contact: str
  title: str = ""

  def __post_init__(self) -> None:
    for name, value in dataclasses.asdict(self).items():
      if name != "title" and not value.strip():
        raise SubmitError(f"A submission needs a {name}: give --{name}, or the field in --about.")
      if len(value) > 500 or not value.isprintable():
        raise SubmitError(f"The {name} is {value!r:.60}; it is printable text of at most 500 "
                          "letters.")


def of_method(config: pathlib.Path, learner: str) -> str:
  """The name of the registered method that a configuration makes a learner.

  It follows from what is made, whatever the learner and its macro are called: of FINETUNE=%ER it is
  "er", and "er+Gss~Reservoir" of a method with another memory rule, objective or head. Registered
  is a method of `suite list --methods`, with any settings, in a configuration that names nothing
  but what the suite ships (`gin_names`).

  Raises:
    SubmitError: it is another learner, or code of somebody else.
  """
  text = config.read_text(encoding="utf-8")
  if text.startswith("# Python objects"):
    raise SubmitError(f"{learner} is a Python object. Registered methods are those of suite list "
                      "--methods, run by suite run RUN --methods NAME.")
  if re.search(r"^\s*include\b", text, re.MULTILINE):
    raise SubmitError(f"{config} includes another file, which no configuration of a run does.")
  found = gin_files.scan_text(text)
  try:
    gin_names.check(gin_files.scan([config], checks=False), (gin_names.SHIPPED,))
  except gin_files.ConfigError as error:
    raise SubmitError(f"{learner} is not registered: {gin_files.first_line(error)}") from error

  bound = found.history.get(("", gin_bindings.ROOTS[0], gin_bindings.LEARNERS), [])
  made, _ = gin_bindings.followed(found.history, bound[-1].value if bound else None)
  of_learner = made.get(learner) if isinstance(made, dict) else None
  _, macros = gin_bindings.followed(found.history, of_learner)
  if not any(one.macro in macros[:1] for one in methods.load()):
    known = [one.name for one in methods.load()]
    raise SubmitError(
        f"{learner} is no registered method: its configuration makes it from "
        f"{str(of_learner)!r:.60}. {gin_files.nearest(learner, known)} All of them: suite list "
        "--methods.")
  start, parts = methods.makes(found.history, of_learner)
  protocol = gin_files.protocol_in(found.history)
  fitting = {one.name: one for one in methods.load() if one.macro in macros and
             methods.makes_by_itself(one.name, protocol)[0] == start}
  if not fitting:
    raise SubmitError(f"{learner} is no registered method: {macros[0]} stands for {start}, which "
                      "the suite does not call so.")
  name = learner if learner in fitting else next(iter(fitting))
  own = methods.makes_by_itself(name, protocol)[1]
  return name + "".join([*(f"+{one}" for one in sorted(parts - own)),
                         *(f"~{one}" for one in sorted(own - parts))])


def bound_value(config: pathlib.Path, name: str) -> Any:
  """The value that a configuration binds to a parameter of `experiment.run`; None if it is unbound.
  """
  found = gin_files.scan_text(config.read_text(encoding="utf-8"))
  bound = found.history.get(("", gin_bindings.ROOTS[0], name), [])
  return gin_bindings.followed(found.history, bound[-1].value)[0] if bound else None


def pack(folder: pathlib.Path, out: pathlib.Path, about: About,
         problems_of: Callable[[run_dir.Run, str], list[str]] = lambda run, method: []
         ) -> dict[str, Any]:
  """Writes the bundle of all runs in a folder; returns the content of its submission.json.

  Args:
    folder: the work directory of a run or table.
    out: the zip.
    about: what whoever hands in says.
    problems_of: what a run, called a method, does not have as a leaderboard prescribes.

  Raises:
    SubmitError: names every run that has not finished, is no registered method, has no digests of
      states, or lacks answers.
  """
  homes = _finished(folder)
  members: dict[str, pathlib.Path] = {}
  runs, refused, problems = [], [], []
  for number, (home, folders) in enumerate(sorted(homes.items())):
    prefix = f"runs/{number:03d}"
    without = [{  # Learners that do not fit the work directory's budget.
        "learner": run.learner, "method": of_method(home / run_dir.CONFIG, run.learner),
        "protocol": run.protocol, "seed": int(run.environment.get("seed", 0)),
        "budget": str(bound_value(home / run_dir.CONFIG, "budget")),
        "reason": run_dir.read_json(run.folder / run_dir.REFUSED)["reason"].partition("\n")[0]}
               for run in run_dir.load(folders)
               if not run.is_finished and (run.folder / run_dir.REFUSED).is_file()]
    refused += without
    if without and not any((one / run_dir.SUMMARY).is_file() for one in folders):
      continue
    members.update({f"{prefix}/{name}": home / name
                    for name in _TEXTS if (home / name).is_file()})
    damaged = [one for one in run_check.check(home) if one.state != run_check.WHOLE]
    problems += [f"{one.path}: {one.text}" for one in damaged[:3]]
    if damaged:
      continue
    for run in run_dir.load(folders):
      if run.learner in [one["learner"] for one in without]:
        continue
      try:
        runs.append(_about_run(run, prefix))
        problems += [f"{run.folder}: {line}" for line in problems_of(run, runs[-1]["method"])]
      except SubmitError as error:
        problems.append(f"{run.folder}: {error}")
      members.update({f"{prefix}/{run.folder.name}/{name}": run.folder / name for name in (
          *(one for one in _OF_LEARNER if (run.folder / one).is_file()),
          *filter(None, (record.get(schema.PREDICTIONS) for record in run.records)))})
  if not runs and not problems:
    raise SubmitError(f"No run in {folder} fits its budget: {refused[0]['reason']}")
  if problems:
    raise SubmitError("\n  ".join([f"Nothing of {folder} can be handed in:", *problems]))
  wrong = [name for name in members if not _MEMBER.fullmatch(name)]
  if wrong:
    raise SubmitError(f"{members[wrong[0]]} has a name that a bundle cannot have: letters, digits "
                      "and _.+@- are allowed. Run it again under another name.")
  content = {"format": FORMAT, **dataclasses.asdict(about), "suite": suite.__version__,
             "runs": runs, **({REFUSED: refused} if refused else {})}
  write(out, content, members)
  return content


def write(out: pathlib.Path, content: Mapping[str, Any], members: Mapping[str, pathlib.Path]
          ) -> None:
  """Writes a bundle, whose bytes depend on the names and contents of its members alone.

  Args:
    out: the file.
    content: of submission.json.
    members: the files by their names in the bundle.
  """
  text = json.dumps(content, indent=1, sort_keys=True) + "\n"
  sums = {ABOUT: hashlib.sha256(text.encode()).hexdigest(),
          **{name: atomic_files.sha256(path) for name, path in members.items()}}
  manifest = "".join(f"{sums[name]}  {name}\n" for name in sorted(sums))
  texts = {ABOUT: text.encode(), MANIFEST: manifest.encode()}
  with atomic_files.opening(out) as file, zipfile.ZipFile(file, "w") as archive:
    for name in sorted([*members, *texts]):
      info = zipfile.ZipInfo(name, _EPOCH)
      info.create_system, info.external_attr = 3, (stat.S_IFREG | 0o644) << 16
      info.compress_type = (zipfile.ZIP_STORED if name.endswith(".parquet") else
                            zipfile.ZIP_DEFLATED)
      archive.writestr(info, texts.get(name) or members[name].read_bytes(), compresslevel=6)


def _finished(folder: pathlib.Path) -> dict[pathlib.Path, list[pathlib.Path]]:
  """The latest runs in a folder, by the folder of their configuration.

  Raises:
    SubmitError: names what has not finished.
  """
  if not folder.is_dir():
    raise SubmitError(f"No such directory: {folder}. Give the --workdir of a run or table.")
  missing = []
  for table in (path.parent for path in sorted(folder.rglob(table_dir.FILE))):
    read = table_dir.read(table)
    missing += [f"{row}/{column}, seed {seed}" for row, column in read.pairs()
                for seed in read.seeds
                if not any(any(read.cell(row, column, seed).glob(f"*/{name}"))
                           for name in (run_dir.SUMMARY, run_dir.REFUSED))]
  homes: dict[pathlib.Path, list[pathlib.Path]] = {}
  for path in run_dir.find(folder):
    homes.setdefault(run_identity.home(path), []).append(path)
  for workdir in sorted({path.parent for folders in homes.values() for path in folders}):
    environment = run_dir.read_json(workdir / run_dir.ENVIRONMENT)
    begun = [run_identity.label(path) for path in sorted(workdir.iterdir())
             if (path / run_dir.RECORDS).is_file()]
    config = workdir / run_dir.CONFIG
    only = bound_value(config, gin_bindings.ONLY) if config.is_file() else None
    chosen = [only] if isinstance(only, str) else list(only or ())
    names = dict.fromkeys([*begun, *(
        name for name in run_dir.learner_names(environment, workdir)
        if not chosen or name in chosen)])
    missing += [str(latest) for latest in (
        run_identity.latest(workdir, name) for name in names)
                if not any((latest / done).is_file()
                           for done in (run_dir.SUMMARY, run_dir.REFUSED))]
  if missing:
    raise SubmitError("\n  ".join([
        "These runs have not finished; the same command finishes them. All that was begun is "
        "handed in, failures too:", *dict.fromkeys(missing)]))
  return homes


def _about_run(run: run_dir.Run, prefix: str) -> dict[str, Any]:
  """What the bundle says about a learner's run; a SubmitError if it cannot be handed in."""
  method = of_method(run.home / run_dir.CONFIG, run.learner)
  if run.summary.get(run_dir.OWN_METRICS):
    raise SubmitError("it has metrics of your own, which nobody else can compute again. Run it "
                      "without them.")
  if not (run.folder / state_log.FILE).is_file():
    raise SubmitError(f"it has no {state_log.FILE}, the commitment to its states. Run it again "
                      "with --keep states=N.")
  if not 0 <= (seed := int(run.environment.get("seed", 0))) < NUM_SEEDS:
    raise SubmitError(f"it has the seed {seed}; {_SEEDS}.")
  if any(schema.KNOWN_ANSWERS in record for record in run.records):
    raise SubmitError("its estimates rest on answers of other runs (known_runs of test_answers), "
                      "which no bundle has. Run it without them.")
  lacking = [record[schema.EVENT] for record in schema.of_tests(run.records)
             if record.get(schema.SEEN) and not record.get(schema.PREDICTIONS)]
  if lacking:
    raise SubmitError(f"it has no answers for {', '.join(f'event {one}' for one in lacking[:10])}.")
  return {"folder": f"{prefix}/{run.folder.name}", "learner": run.learner, "method": method,
          "protocol": run.protocol, "seed": seed}


def unpack(path: pathlib.Path, target: pathlib.Path) -> dict[str, Any]:
  """Checks a bundle and unpacks it into a new folder; returns the content of submission.json.

  Raises:
    BundleError: it is no bundle, or one that is not as this module writes them.
  """
  try:
    with zipfile.ZipFile(path) as archive:
      members = archive.infolist()
      _check_members(members, path)
      for member in members:
        if member.filename not in (ABOUT, MANIFEST):
          (target / member.filename).parent.mkdir(parents=True, exist_ok=True)
      about = _checked_about(archive.read(ABOUT))
      listed = archive.read(MANIFEST).decode("ascii").splitlines()
      if any(not re.fullmatch(r"[0-9a-f]{64}  [ -~]+", line) for line in listed):
        raise BundleError(f"{MANIFEST} is no list of digests")
      sums = {line[66:]: line[:64] for line in listed}
      names = {member.filename for member in members} - {MANIFEST}
      if set(sums) != names:
        other = sorted(set(sums) ^ names)
        raise BundleError(f"{MANIFEST} and the members differ: {', '.join(other[:5])}")
      for member in members:
        if member.filename != MANIFEST:
          _extract(archive, member, target / member.filename, sums[member.filename])
  except BundleError as error:
    raise BundleError(f"{path} is no bundle that can be verified: {error}.") from error
  except Exception as error:  # On damaged files zipfile and zlib raise errors of many kinds.
    raise BundleError(f"{path} is no bundle that can be verified: {snapshots.reason(error):.200}."
                      ) from error
  there = {name.rsplit("/", 1)[0] for name in names if name.endswith(f"/{run_dir.RECORDS}")}
  said = [run["folder"] for run in about["runs"]]
  if there != set(said) or len(set(said)) < len(said):
    raise BundleError(f"{ABOUT} describes the runs {', '.join(sorted(said))}, and the bundle has "
                      f"{', '.join(sorted(there))}.")
  return about


def _check_members(members: Iterable[zipfile.ZipInfo], path: pathlib.Path) -> None:
  members = list(members)
  names = [member.filename for member in members]
  if len(members) > MAX_MEMBERS:
    raise BundleError(f"it has {len(members):,} members; allowed are {MAX_MEMBERS:,}")
  if sum(member.file_size for member in members) > MAX_BYTES:
    raise BundleError(f"it unpacks to more than {MAX_BYTES:,} bytes")
  if missing := {ABOUT, MANIFEST} - set(names):
    raise BundleError(f"it has no {' and no '.join(sorted(missing))}")
  if len({name.casefold() for name in names}) < len(names):
    raise BundleError("it has two members of one name")
  for member in members:
    name = member.filename
    kind = stat.S_IFMT(member.external_attr >> 16)
    if name not in (ABOUT, MANIFEST) and not _MEMBER.fullmatch(name):
      raise BundleError(f"it has a member {name!r:.80}, and none of a bundle is called so")
    if kind not in (0, stat.S_IFREG) or member.flag_bits & 1:
      raise BundleError(f"{name} is no plain file")
    if member.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
      raise BundleError(f"{name} is compressed by method {member.compress_type}")
    most = _MAX_ABOUT_BYTES if name == ABOUT else MAX_MEMBER_BYTES
    if member.file_size > min(most, _FREE_BYTES + _MAX_RATIO * member.compress_size):
      raise BundleError(f"{name} unpacks to {member.file_size:,} bytes of {member.compress_size:,}")


def _extract(archive: zipfile.ZipFile, member: zipfile.ZipInfo, final: pathlib.Path, digest: str
             ) -> None:
  found, left = hashlib.sha256(), member.file_size
  with archive.open(member) as source, open(final, "xb") as file:
    while block := source.read(1 << 20):
      left -= len(block)
      if left < 0:
        raise BundleError(f"{member.filename} is larger than it says")
      found.update(block)
      file.write(block)
  if found.hexdigest() != digest:
    raise BundleError(f"{member.filename} is not what {MANIFEST} says")
  if final.suffix != ".parquet":
    return
  # A file of answers may be small on the disk and large in memory.
  about = parquet.read_metadata(final)
  groups = [about.row_group(i) for i in range(about.num_row_groups)]
  encodings = {one for group in groups for i in range(group.num_columns)
               for one in group.column(i).encodings}
  if about.num_rows > _MAX_ROWS or sum(group.total_byte_size for group in groups) > (
      _FREE_BYTES + _MAX_RATIO * final.stat().st_size) or not encodings <= {"PLAIN", "RLE"}:
    raise BundleError(f"{member.filename} has {about.num_rows:,} answers, encoded as "
                      f"{', '.join(sorted(encodings))}: predictions are not like that")


def _checked_about(content: bytes) -> dict[str, Any]:
  about = sealed_json.parsed(content.decode("utf-8"))
  refused = about.pop(REFUSED, [])
  _check_fields(about, _FIELDS, ABOUT)
  if not isinstance(refused, list) or len(refused) > 10_000:
    raise BundleError(f"{REFUSED} of {ABOUT} is {refused!r:.60}")
  if about["format"] != FORMAT:
    raise BundleError(f"{ABOUT} has format {about['format']}; this suite reads {FORMAT}")
  About(about["license"], about["contact"], about["title"])
  if not about["runs"] or len(about["runs"]) > 10_000:
    raise BundleError(f"{ABOUT} has {len(about['runs'])} runs")
  for number, run in enumerate(about["runs"]):
    _check_fields(run, _RUN_FIELDS, f"run {number} of {ABOUT}")
    if not re.fullmatch(rf"runs/\d{{3}}/{_NAME}", run["folder"], re.ASCII):
      raise BundleError(f"run {number} of {ABOUT} lies in {run['folder']!r:.60}")
    if not 0 <= run["seed"] < NUM_SEEDS:
      raise BundleError(f"run {number} of {ABOUT} has the seed {run['seed']!r:.20}; {_SEEDS}")
    for name in ("learner", "method", "protocol"):  # Pages are called so.
      if not re.fullmatch(_NAME, run[name], re.ASCII):
        raise BundleError(f"run {number} of {ABOUT} has the {name} {run[name]!r:.60}")
  for run in refused:
    _check_fields(run, _REFUSED_FIELDS, f"{REFUSED} of {ABOUT}")
    if any(not re.fullmatch(_NAME, run[name], re.ASCII)
           for name in ("learner", "method", "protocol")):
      raise BundleError(f"{REFUSED} of {ABOUT} has the run {run!r:.60}")
  return {**about, REFUSED: refused} if refused else about


def _check_fields(values: Any, fields: Mapping[str, type], where: str) -> None:
  if not isinstance(values, dict) or set(values) != set(fields):
    raise BundleError(f"{where} has not the fields {', '.join(fields)}")
  for name, kind in fields.items():
    if type(values[name]) is not kind:
      raise BundleError(f"{name} of {where} is {values[name]!r:.60}")


def badge(checks: Iterable[Mapping[str, Any]], events: Mapping[str, int]) -> str:
  """What was found out about a bundle, or about some of its runs, in words.

  "refused", "recomputed, replayed 3 of 40 events (1 of 10 trainings, 2 of 30 answers; same bytes)",
  "recomputed", "answers agree".

  Args:
    checks: their values, see `verification.Check`.
    events: the number of events by kind, see `num_events`: all can be drawn.
  """
  checks = list(checks)
  if any(check["state"] == FAILED for check in checks):
    return "refused"
  done = {check["kind"] for check in checks if check["state"] == OK}
  skipped = {check["kind"] for check in checks if check["state"] == SKIPPED}
  replayed = [check for check in checks if check["kind"] == "replay" and check["state"] == OK]
  far = [check["distance"] for check in replayed if check.get("distance") is not None]
  shares = ", ".join(f"{sum(check.get('what') == what for check in replayed)} of {num} {what}"
                     for what, num in events.items())
  parts = [*(["recomputed"] if {"scores", "costs"} <= done - skipped else []),
           *([f"replayed {len(replayed)} of {sum(events.values())} events ({shares}; "
              f"{f'within {max(far):.2g}' if far else 'same bytes'})"] if replayed else [])]
  return ", ".join(parts) or "answers agree"


def kind_of(record: Mapping[str, Any]) -> str:
  """What an event is to whoever draws some: a training, or answers."""
  return TRAININGS if record.get(schema.KIND) == deliveries.TRAIN else ANSWERS


def num_events(runs: Iterable[run_dir.Run]) -> dict[str, int]:
  """The number of events of runs by `kind_of`, of the kinds that they have."""
  found = collections.Counter(kind_of(record) for run in runs for record in run.records)
  return {kind: found[kind] for kind in (TRAININGS, ANSWERS) if found[kind]}


def other_description(run: run_dir.Run) -> list[str]:
  """What a run's own description of its protocol says otherwise than the suite's, by name.

  Nothing else reads a bundle's own: which number leads a table, and whether more is better, is what
  the code says.
  """
  path = run.folder / descriptions.FILE
  if not path.is_file():
    return []
  said = run_dir.read_json(path)
  known = json.loads(json.dumps(descriptions.named(run.protocol).values()))
  return [f"{descriptions.FILE} says another {name} of protocol {run.protocol!r} than this suite"
          for name in sorted({*said, *known})
          if name not in said or name not in known or said[name] != known[name]]


def strip(record: Mapping[str, Any]) -> dict[str, Any]:
  """A record or summary without what differs from machine to machine: times, peaks of memory."""
  return {name: value for name, value in records.strip_times(record).items()
          if name != "peak_bytes"}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Changes bundles on purpose, and counts what `suite verify` finds.

    python tools/tampering.py --bundles 200 --replay 4 --out docs/results/tampering.md

A tamperer is assumed who has this code: whatever can be made consistent is. Chains of digests,
summaries, sums and the manifest are written again, later scores follow from earlier ones, digests
of states are computed from the kept states, all of which the tamperer has, and the states that are
handed over point into the changed records.

    score          a better score in the summary; or in a record, with all that follows from it
    answer         wrong answers of one event become right, with records and summary
    seed           another seed in the configuration than the one that ran, with all identities
    data           the digest of a test set
    FLOPs          fewer FLOPs in an event, and in all later ones
    missing run    the run of a seed is left out, as one that failed
    chosen seeds   three of six seeds, the best, are handed in
    words          protocol.json says that less is better, for the whole table
    interval       all answers become right, and state_digests.jsonl says that only states before
                   trainings were kept
    machine        states and answers of a run with fifteen times as many epochs, with the costs of
                   the prescribed one; environment.json names an instruction set that is not here
    stream         an honest run on other data of the same name, where a board prescribes some
    name           a run with FINETUNE=%ER, which submission.json calls finetune

Each change is a function of its number: --from N --bundles 1 repeats it.
"""

from __future__ import annotations

import argparse
import collections
from collections.abc import Callable, Mapping, Sequence
import dataclasses
import hashlib
import json
import math
import pathlib
import re
import resource
import shutil
import sys
import tempfile
import time
from typing import Any, NamedTuple

import numpy as np

from suite.beside.submissions import board as board_lib
from suite.beside.submissions import bundle
from suite.beside.submissions import verification
from suite.contracts import descriptions
from suite.metrics import matrix
from suite.reporting import records as records_lib
from suite.reporting import run_dir
from suite.running import python_run
from suite.state import predictions
from suite.state import run_identity
from suite.state import snapshots
from suite.state import state_log
from suite.system import sealed_json

RUN, METHOD, SEEDS = "digits/clear", "er", (0, 1, 2)
FURTHER = (3, 4, 5)  # Of whoever chooses.
PARAMS = ("EPOCHS=2", "digits.buckets.num_buckets=3")
ABOUT = bundle.About(license="CC0-1.0", contact="nobody@example.org", title="tampered")
_EXPECTED = {
    "score": "all: computed again from the answers", "data": "all: read again",
    "answer": "K / N: only where the event is executed again",
    "seed": "1 - C(N - T, K) / C(N, K): where one of the T events that train is executed again",
    "FLOPs": "all: counted again from graphs",
    "missing run": "all, where seeds are prescribed; else none",
    "chosen seeds": "all, where seeds are prescribed; else none",
    "words": "all: the code says them",
    "stream": "all, where a board prescribes it; else none",
    "name": "all: the name follows from what is made",
    "interval": "1 - C(T, K) / C(N, K): where one of the N - T events that answer is executed",
    "machine": "1 - C(N - T, K) / C(N, K): where one of the T events that train is executed"}


@dataclasses.dataclass
class Copy:
  """An unpacked bundle that is changed.

  Attributes:
    root: where it lies.
    about: the content of its submission.json.
    sources: the runs that it was made from, by seed.
    longer: a run with more epochs than the prescribed one.
    losses: of trainings by event, what a replay computes from that run's states.
    states: where a change writes kept states, if they are not those of the source.
  """

  root: pathlib.Path
  about: dict[str, Any]
  sources: Mapping[int, pathlib.Path]
  longer: pathlib.Path | None = None
  losses: Mapping[int, float] = dataclasses.field(default_factory=dict)
  states: pathlib.Path | None = None

  def folder(self, number: int = 0) -> pathlib.Path:
    return self.root / self.about["runs"][number]["folder"]

  def seal(self, folder: pathlib.Path, records: list[dict[str, Any]], summary: dict[str, Any]
           ) -> None:
    """Writes records and summary with new digests, and whatever belongs to them."""
    (folder / run_dir.RECORDS).unlink()
    with records_lib.RecordWriter(folder / run_dir.RECORDS, sync=False) as writer:
      for record in records:
        writer.write(record)
      digest = writer.digest
    (folder / run_dir.SUMMARY).write_text(
        run_dir.sealed(summary, num_records=len(records), last_digest=digest))
    run_dir.save_sums(folder.parent)

  def write_states(self, source: pathlib.Path, out: pathlib.Path,
                   values: Mapping[int, Mapping[str, Any]] | None = None) -> None:
    """Writes the kept states of a run as those of the changed one: after its records.

    Args:
      source: a work directory.
      out: a folder for the states.
      values: further values of states, by event.
    """
    folder = self.folder()
    lines = (folder / run_dir.RECORDS).read_bytes().splitlines(keepends=True)
    heads = records_lib.read_chain(folder / run_dir.RECORDS)[1]
    for event, kept in state_log.kept_states(source / folder.name).items():
      saved = snapshots.Snapshots(kept).read()
      assert saved is not None
      position = [sum(map(len, lines[:event])), heads[event]]
      snapshots.Snapshots(state_log.kept_folder(out / folder.name) / f"{event:08d}").write(
          {**saved.values, **(values or {}).get(event, {}), "position": position}, saved.arrays)

  def write(self, out: pathlib.Path) -> None:
    bundle.write(out, self.about, {
        path.relative_to(self.root).as_posix(): path for path in self.root.rglob("*")
        if path.is_file() and path.name not in (bundle.ABOUT, bundle.MANIFEST)})


def _read(folder: pathlib.Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
  return records_lib.read(folder / run_dir.RECORDS), run_dir.read_json(folder / run_dir.SUMMARY)


def rescore(records: list[dict[str, Any]], summary: dict[str, Any]) -> None:
  """Lets all scores of CLEAR follow from the accuracies of the records."""
  num = 1 + max(record["bucket"] for record in records)
  acc = np.full([num, num], np.nan)
  for record in records:
    if record["kind"] == "predict":
      acc[record["trained_bucket"], record["bucket"]] = record["accuracy"]
      row = acc[record["trained_bucket"]].tolist()
      record["row"] = [None if np.isnan(one) else one for one in row]
      if record["bucket"] == num - 1:
        record.update(records_lib.to_plain(matrix.row(acc, record["trained_bucket"])))
  summary.update(records_lib.to_plain(matrix.summary(acc)), matrix=records_lib.to_plain(acc))


def change_score(copy: Copy, rng: np.random.Generator) -> str:
  folder = copy.folder()
  records, summary = _read(folder)
  if rng.random() < 0.5:
    summary["accuracy"] = min(1.0, summary["accuracy"] + float(rng.uniform(0.001, 0.1)))
    copy.seal(folder, records, summary)
    return "in the summary"
  record = _some(records, rng)
  record["correct"] += int(rng.integers(1, record["seen"] - record["correct"] + 1))
  record["error"] = (record["seen"] - record["correct"]) / record["seen"]
  record["accuracy"] = record["correct"] / record["seen"]
  rescore(records, summary)
  copy.seal(folder, records, summary)
  return f"in event {record['event']}"


def _some(records: list[dict[str, Any]], rng: np.random.Generator) -> dict[str, Any]:
  """A Predict event with wrong answers."""
  fitting = [record for record in records if record.get("seen", 0) > record.get("correct", 0)]
  return fitting[rng.integers(len(fitting))]


def change_answer(copy: Copy, rng: np.random.Generator) -> str:
  folder = copy.folder()
  records, summary = _read(folder)
  record = _some(records, rng)
  path = folder / record["predictions"]
  saved = predictions.load(path)
  wrong = np.flatnonzero(~saved.correct)
  chosen = rng.permutation(wrong)[:rng.integers(1, len(wrong) + 1)]
  top1, correct = saved.top1.copy(), saved.correct.copy()
  chances = np.array(saved.true_class_probability)
  top1[chosen], correct[chosen] = np.asarray(saved.label)[chosen], True
  chances[chosen] = rng.uniform(0.5, 1.0, len(chosen))
  _save(path, saved, top1, correct, chances, run_identity.of(folder), record["event"])
  record["correct"] = int(correct.sum())
  record["error"] = (record["seen"] - record["correct"]) / record["seen"]
  record["accuracy"] = record["correct"] / record["seen"]
  rescore(records, summary)
  copy.seal(folder, records, summary)
  return f"{len(chosen)} answers of event {record['event']}"


def _save(path: pathlib.Path, saved: predictions.Predictions, top1: np.ndarray,
          correct: np.ndarray, chances: Any, identity: str, event: int) -> None:
  predictions.save(path, ids=saved.id, labels=np.asarray(saved.label), top1=top1, correct=correct,
                   true_class_probability=chances, class_names=saved.class_names, sync=False,
                   run=identity, event=event)


def change_seed(copy: Copy, rng: np.random.Generator) -> str:
  """The run of another seed is handed in as the prescribed one; also its states are relabeled."""
  folder = copy.folder()
  claimed = copy.about["runs"][0]["seed"]
  ran = int(rng.choice([seed for seed in copy.sources if seed != claimed]))
  config = (folder.parent / run_dir.CONFIG).read_bytes()
  shutil.rmtree(folder.parent)
  source = copy.sources[ran]
  shutil.copytree(source, folder.parent, ignore=shutil.ignore_patterns(
      "state", "tensorboard*", "samples", ".lock", "weights", "examples", "identity.json"))
  (folder.parent / run_dir.CONFIG).write_bytes(config)
  environment = run_dir.read_json(folder.parent / run_dir.ENVIRONMENT)
  environment.update(seed=claimed, config_digest=hashlib.sha256(config).hexdigest())
  (folder.parent / run_dir.ENVIRONMENT).write_text(run_dir.sealed(environment))
  operative = folder.parent / "operative_config.gin"
  operative.write_text(operative.read_text().replace(
      f"run.seed = {ran}\n", f"run.seed = {claimed}\n"))
  identity, old = run_identity.of(folder), run_identity.of(source / folder.name)
  records, summary = _read_any(folder)
  for record in records:
    if record.get("predictions"):
      saved = predictions.load(folder / record["predictions"])
      _save(folder / record["predictions"], saved, saved.top1, saved.correct,
            saved.true_class_probability, identity, record["event"])
  header, digests = state_log.read(folder / state_log.FILE)
  digests[0] = state_log.digest(identity, 0, {}, {}, {})
  for event, kept in state_log.kept_states(source / folder.name).items():
    assert state_log.load_kept(kept, old)[1] == digests[event]
    digests[event] = state_log.load_kept(kept, identity)[1]
  _save_digests(folder, {**header, state_log.RUN: identity}, digests)
  copy.seal(folder, records, summary)
  return f"seed {ran} as {claimed}"


def _read_any(folder: pathlib.Path) -> tuple[list[dict[str, Any]], dict[str, Any]]:
  """Records and summary whose identity is another one."""
  records = [json.loads(line) for line in (folder / run_dir.RECORDS).read_text().splitlines()]
  for record in records:
    record.pop(records_lib.DIGEST_KEY)
    record.pop(records_lib.RUN_KEY, None)
  return records, run_dir.read_json(folder / run_dir.SUMMARY)


def change_data(copy: Copy, rng: np.random.Generator) -> str:
  path = copy.folder() / state_log.DATA_FILE
  digests = state_log.read_data(path.parent)
  name = sorted(digests)[rng.integers(len(digests))]
  digests[name] = {part: rng.bytes(32).hex() for part in digests[name]}
  path.write_text(sealed_json.text({state_log.DATA: digests}))
  return name


def change_flops(copy: Copy, rng: np.random.Generator) -> str:
  folder = copy.folder()
  records, summary = _read(folder)
  first = int(rng.integers(len(records)))
  phase = next(name for name in ("flops_train", "flops_predict") if name in records[first])
  less = int(records[first][phase] * rng.uniform(0.01, 0.5))
  for values in (*records[first:], summary):
    for name in ("flops", phase):
      if name in values:
        values[name] -= less
  copy.seal(folder, records, summary)
  return f"{less:,} fewer from event {first} on"


def leave_out(copy: Copy, rng: np.random.Generator) -> str:
  number = int(rng.integers(len(copy.about["runs"])))
  gone = copy.about["runs"].pop(number)
  shutil.rmtree((copy.root / gone["folder"]).parent)
  return f"seed {gone['seed']}"


def change_words(copy: Copy, rng: np.random.Generator) -> str:
  del rng
  path = copy.folder() / descriptions.FILE
  values = run_dir.read_json(path)
  for measure in values["measures"]:
    measure["better"] = (descriptions.LOWER if measure["better"] == descriptions.HIGHER else
                         descriptions.HIGHER)
  path.write_text(run_dir.sealed(values))
  return "less is better"


def change_name(copy: Copy, rng: np.random.Generator) -> str:
  del rng
  copy.about["runs"][0]["method"] = copy.about["runs"][0]["learner"]
  return "er as finetune"


def change_interval(copy: Copy, rng: np.random.Generator) -> str:
  del rng
  folder = copy.folder()
  records, summary = _read(folder)
  every = next(record["event"] for record in records[1:] if record["kind"] == "train")
  for record in records:
    if record["kind"] != "predict":
      continue
    path = folder / record["predictions"]
    saved = predictions.load(path)
    _save(path, saved, np.asarray(saved.label).copy(), np.ones(len(saved), bool),
          np.full(len(saved), 0.97), run_identity.of(folder), record["event"])
    record.update(correct=record["seen"], error=0.0, accuracy=1.0)
  rescore(records, summary)
  copy.seal(folder, records, summary)
  header, digests = state_log.read(folder / state_log.FILE)
  _save_digests(folder, {**header, state_log.EVERY: every}, digests)
  return f"every {every}th state"


def change_machine(copy: Copy, rng: np.random.Generator) -> str:
  """Whatever is learned and answered is that of the longer run, and costs are as prescribed."""
  del rng
  assert copy.longer is not None and copy.states is not None
  folder = copy.folder()
  records, summary = _read(folder)
  longer = copy.longer / folder.name
  environment = run_dir.read_json(folder.parent / run_dir.ENVIRONMENT)
  environment["instruction_set"] = "x86_64 avx avx2 avx512f f16c fma"
  (folder.parent / run_dir.ENVIRONMENT).write_text(run_dir.sealed(environment))
  identity = run_identity.of(folder)
  for record, other in zip(records, records_lib.read(longer / run_dir.RECORDS)):
    if record["kind"] == "train":
      record["train_loss"] = copy.losses.get(record["event"], record.get("train_loss"))
      continue
    saved = predictions.load(longer / other["predictions"])
    _save(folder / record["predictions"], saved, saved.top1, saved.correct,
          saved.true_class_probability, identity, record["event"])
    record.update({name: other[name] for name in ("correct", "error", "accuracy")})
  rescore(records, summary)
  copy.seal(folder, records, summary)
  header, digests = state_log.read(folder / state_log.FILE)
  source = copy.sources[copy.about["runs"][0]["seed"]]
  costs = {event: snapshots.Snapshots(kept).read()
           for event, kept in state_log.kept_states(source / folder.name).items()}
  copy.write_states(copy.longer, copy.states, {
      event: {"ledger": saved.values["ledger"]} for event, saved in costs.items() if saved})
  for event, kept in state_log.kept_states(copy.states / folder.name).items():
    digests[event] = state_log.load_kept(kept, identity)[1]
  _save_digests(folder, header, digests)
  return "more epochs"


def _save_digests(folder: pathlib.Path, header: Mapping[str, Any], digests: Sequence[str]) -> None:
  lines = [header, *({state_log.EVENT: i, state_log.STATE: one} for i, one in enumerate(digests))]
  (folder / state_log.FILE).write_text("".join(json.dumps(line) + "\n" for line in lines))


class Kind(NamedTuple):
  """A kind of tampering.

  Attributes:
    change: a copy of an honest bundle; None: another bundle is handed in.
    num_seeds: of the bundle.
    checks: whether scores and costs are computed again, and whether events are executed again.
  """

  change: Callable[[Copy, np.random.Generator], str] | None
  num_seeds: int
  checks: tuple[bool, bool]


KINDS = {
    "score": Kind(change_score, 1, (True, False)), "answer": Kind(change_answer, 1, (True, True)),
    "seed": Kind(change_seed, 1, (True, True)), "data": Kind(change_data, 1, (True, False)),
    "FLOPs": Kind(change_flops, 1, (True, False)),
    "missing run": Kind(leave_out, 3, (False, False)),
    "chosen seeds": Kind(None, 3, (False, False)),
    "words": Kind(change_words, 1, (False, False)),
    "stream": Kind(None, 1, (False, False)), "name": Kind(change_name, 1, (False, False)),
    "interval": Kind(change_interval, 1, (True, True)),
    "machine": Kind(change_machine, 1, (True, True))}


class Campaign:
  """Runs, and the bundles made from them."""

  def __init__(self, folder: pathlib.Path):
    self.folder = folder
    self.runs: dict[int, pathlib.Path] = {}
    began = _cpu()
    for seed in (*SEEDS, *FURTHER):
      self.runs[seed] = self._run(folder / "runs" / str(seed), seed)
    self.run_seconds = (_cpu() - began) / len(self.runs)
    self.longer = self._run(folder / "longer", SEEDS[0], "EPOCHS=30")
    self.board = board_lib.Board(
        RUN, PARAMS, SEEDS[:1], "", 1, state_log.read_data(self.runs[SEEDS[0]] / METHOD), (), ())
    # Kind -> the bundle of an honest run that is not what it is taken for.
    self.others = {
        "stream": self._packed(self._run(folder / "stream", SEEDS[0],
                                         "digits.buckets.labelled_share=0.9")),
        "name": self._packed(self._run(folder / "name", SEEDS[0], "FINETUNE=%ER",
                                       method="finetune"))}
    self.losses: dict[int, float] = {}
    self._made: dict[tuple[int, ...], pathlib.Path] = {}

  @staticmethod
  def _run(workdir: pathlib.Path, seed: int, *params: str, method: str = METHOD) -> pathlib.Path:
    python_run.run(RUN, learners=[method], workdir=workdir, keep="states=1",
                   params=[*PARAMS, *params, f"experiment.run.seed={seed}"])
    return workdir

  @staticmethod
  def _packed(workdir: pathlib.Path) -> pathlib.Path:
    out = workdir.with_suffix(".zip")
    bundle.pack(workdir, out, ABOUT)
    return out

  def bundle(self, seeds: tuple[int, ...]) -> pathlib.Path:
    """The honest bundle of some seeds."""
    if seeds not in self._made:
      place = self.folder / "of" / "-".join(map(str, seeds))
      for seed in seeds:
        shutil.copytree(self.runs[seed], place / str(seed))
      out = place.with_suffix(".zip")
      bundle.pack(place, out, ABOUT)
      self._made[seeds] = out
    return self._made[seeds]

  def verify(self, path: pathlib.Path, num_seeds: int, *, replay: int, draw: int,
             recompute: bool = True, states: pathlib.Path | None = None,
             board: board_lib.Board | None = None) -> tuple[verification.Report, float]:
    """Verifies with the states of the submitter; returns the report and CPU seconds."""
    began = _cpu()
    found = verification.verify(
        path, replay=replay, states=states or self.folder / "runs", draw=draw,
        seeds=SEEDS[:num_seeds], recompute=recompute, board=board)
    return found, _cpu() - began

  def tampered(self, kind: str, rng: np.random.Generator, out: pathlib.Path,
               states: pathlib.Path) -> str:
    """Writes a changed bundle and the states that go with it; says what was changed."""
    change, num, _ = KINDS[kind]
    if kind == "stream":
      shutil.copyfile(self.others[kind], out)
      return "0.9 of the labels"
    if change is None:
      chosen = tuple(sorted(rng.permutation((*SEEDS, *FURTHER))[:3].tolist()))
      if chosen == SEEDS:
        chosen = (SEEDS[0], *FURTHER[:2])
      shutil.copyfile(self.bundle(chosen), out)
      return f"seeds {chosen}"
    if kind == "machine" and not self.losses:  # Whoever has the states can compute them.
      self.losses[-1] = math.nan
      self.tampered(kind, rng, out, states)
      found, _ = self.verify(out, 1, replay=10_000, draw=0, states=states, recompute=False)
      self.losses = {int(event): float(loss) for check in found.failed for event, loss in
                     re.findall(r"event (\d+): train_loss: \S+ there, (\S+) here", check.text)}
      shutil.rmtree(states)
    with tempfile.TemporaryDirectory() as root:
      copy = Copy(pathlib.Path(root), {}, self.runs, self.longer, self.losses, states)
      copy.about = bundle.unpack(self.others.get(kind) or self.bundle(SEEDS[:num]), copy.root)
      said = change(copy, rng)
      copy.write(out)
      if KINDS[kind].checks[1] and kind != "machine":
        ran = int(said.split()[1]) if kind == "seed" else SEEDS[0]
        copy.write_states(self.runs[ran], states)
    return said


def _cpu() -> float:
  spent = resource.getrusage(resource.RUSAGE_SELF)
  return spent.ru_utime + spent.ru_stime


def campaign(folder: pathlib.Path, first: int, num: int, replay: int, only: Sequence[str] = ()
             ) -> dict[str, Any]:
  """Makes and verifies changed bundles; returns what the page says."""
  made, rows = Campaign(folder), collections.defaultdict(list)
  honest: list[tuple[verification.Report, float]] = []
  for seeds in ((0,), SEEDS):
    honest.append(made.verify(made.bundle(seeds), len(seeds), replay=replay, draw=first))
  wrong = [check for found, _ in honest for check in found.failed]
  if wrong:
    raise SystemExit(f"An honest bundle is refused: {wrong}")
  kept = sum(honest[0][0].num_events.values())
  for number in range(first, first + num):
    kind = list(KINDS)[number % len(KINDS)]
    if only and kind not in only:
      continue
    rng = np.random.default_rng([7, number])
    path, states = folder / "changed.zip", folder / "states"
    shutil.rmtree(states, ignore_errors=True)
    said = made.tampered(kind, rng, path, states)
    recompute, replays = KINDS[kind].checks
    found, seconds = made.verify(path, KINDS[kind].num_seeds, draw=number, recompute=recompute,
                                 states=states if replays else None,
                                 replay=replay if replays else 0,
                                 board=made.board if kind == "stream" else None)
    kinds = sorted({check.kind for check in found.failed})
    rows[kind].append((kinds, seconds))
    print(f"{number:4} {kind}: {said}: {', '.join(kinds) or 'not found'} ({seconds:.1f} s)",
          flush=True)
  spent = [made.verify(made.bundle((0,)), 1, replay=k, draw=1)[1] for k in (0, 0, replay)]
  records, _ = _read(made.runs[SEEDS[0]] / METHOD)
  trained = sum(record["kind"] == "train" for record in records)
  return {"rows": rows, "kept": kept, "trained": trained, "replay": replay,
          "run": made.run_seconds,
          "recomputed": min(spent[:2]), "replayed": spent[2]}


def page(found: Mapping[str, Any], command: str) -> str:
  """The page of results."""
  kept, replay = found["kept"], found["replay"]
  lines = [
      "# Tampering with bundles", "",
      f"`{command}`: {sum(map(len, found['rows'].values()))} bundles of `suite run {RUN} --methods "
      f"{METHOD} --keep states=1` ({', '.join(f'`{one}`' for one in PARAMS)}), each changed in one "
      "way and then made consistent again, as somebody would who has this code: chains of digests, "
      "manifest, summaries, and digests of states. `suite verify` compared answers and prescribed "
      "seeds (0, 1, 2; 0 of bundles of one run), computed scores and FLOPs again except of "
      "seeds, words, streams and names, and of *answer*, *seed*, *interval* and *machine* executed "
      f"K = {replay} of N = {kept} events, drawn anew for each bundle: that alone can find "
      "these. What is claimed is under "
      "[submissions](../submissions.md).", "",
      "| changed | bundles | found | by | expected |", "|---|---:|---:|---|---|"]
  for kind, rows in found["rows"].items():
    by = collections.Counter(", ".join(kinds) for kinds, _ in rows if kinds)
    lines.append(
        f"| {kind} | {len(rows)} | {sum(bool(kinds) for kinds, _ in rows)} | "
        f"{'; '.join(f'{name} ({n})' for name, n in by.most_common()) or '-'} | "
        f"{_EXPECTED[kind]} |")
  alone = found["rows"].get("answer", [])
  if alone:
    caught = sum(bool(kinds) for kinds, _ in alone)
    lines += ["", f"Of altered answers {caught} of {len(alone)} were found, and K / N is "
              f"{replay / kept:.2f}: {replay / kept * len(alone):.1f} were expected. Whoever "
              "alters m of N events is missed with a chance of about (1 - m / N) ** K."]
  if others := found["rows"].get("seed", []):
    caught, trained = sum(bool(kinds) for kinds, _ in others), found["trained"]
    chance = 1 - math.comb(kept - trained, replay) / math.comb(kept, replay)
    lines += ["", f"Of other seeds {caught} of {len(others)} were found: with T = {trained} of "
              f"{kept} events that train, {chance * len(others):.1f} were expected."]
  lines += [
      "", "What is not found: an altered answer of an event that was not drawn; seeds that were "
      "chosen, where none are prescribed; what was spent before the run that is handed in, such as "
      "a search of settings.", "",
      f"**Cost** on one machine, CPU seconds, where a run of {kept} events takes "
      f"{found['run']:.1f} (tracing included, most of a run this small): scores and FLOPs "
      f"of all events {found['recomputed']:.1f} ({found['recomputed'] / found['run']:.0%} of the "
      f"run), with {replay} events executed again {found['replayed']:.1f} "
      f"({found['replayed'] / found['run']:.0%}). Of a run whose training is long, a replay costs "
      "the share K / N of it and the rest stays as it is: no step is taken for scores and FLOPs."]
  return "\n".join(lines) + "\n"


def main() -> int:
  parser = argparse.ArgumentParser(description=__doc__,
                                   formatter_class=argparse.RawDescriptionHelpFormatter)
  parser.add_argument("--bundles", type=int, default=200)
  parser.add_argument("--from", type=int, default=0, dest="first")
  parser.add_argument("--replay", type=int, default=4)
  parser.add_argument("--kind", action="append", default=[], choices=KINDS,
                      help="of the bundles, those that are changed so; may be repeated (all)")
  parser.add_argument("--out", type=pathlib.Path, help="the page; printed without it")
  args = parser.parse_args()
  with tempfile.TemporaryDirectory() as folder:
    began = time.monotonic()
    found = campaign(pathlib.Path(folder), args.first, args.bundles, args.replay, args.kind)
  text = page(found, " ".join([
      f"python tools/tampering.py --bundles {args.bundles} --replay {args.replay}",
      *(f"--kind {kind}" for kind in args.kind)]))
  print(text if args.out is None else f"{args.out}, after {time.monotonic() - began:.0f} s")
  if args.out is not None:
    args.out.write_text(text, encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())

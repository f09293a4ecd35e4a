# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""All that the suite writes, as small workloads: runs, tables, curation, caches, fetched images.

A workload does its work in a folder, or what is left of it, and prints what it has come to.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
import contextlib
import hashlib
import http.server
import io
import json
import os
import pathlib
import shutil
import sys
import tempfile
import threading

import forked
import numpy as np
import outcomes
from PIL import Image
from pyarrow import parquet
import run_faults

from suite import cli
from suite.beside.curation import manifest
from suite.beside.curation import polite_fetch
from suite.beside.submissions import bundle
from suite.lifelong import adaptive_session
from suite.lifelong import watching
from suite.lifelong.cache import accuracy_cache
from suite.running import this_process
from suite.state import state_log
from suite.system import atomic_files
from suite.tables import table
import tfds_builders
from tfds_builders import testing
from tfds_builders.rows.nevis.ocr import semeion

Workload = Callable[[pathlib.Path], None]

_TOY = '''"""Four events, each with a step done once, training in parts, predictions."""
import numpy as np
import tensorflow as tf

class Learner(tf.Module):
  def __init__(self):
    super().__init__()
    self.weights = tf.Variable(tf.zeros([30000]))
  def learn(self, *unused):
    pass
  def predict(self, *unused):
    pass

def run(learner, *, state):
  state.resume(learner)
  while state.done < 4:
    context = state.context()
    draw = context.journal.once("draw", lambda: context.seeds.integer("draw"))
    found = context.journal.partial("train")
    step = found.values["step"] if found else 0
    weights = found.arrays["weights"] if found else learner.weights.numpy()
    for step in range(step, 3):
      weights = weights + draw % 7 * (step + 1)
      context.journal.save_partial("train", {"step": step + 1}, {"weights": weights})
    learner.weights.assign(weights)
    context.store.save("past", [weights[:100]])
    context.ledger.charge("train", flops=draw, macs=1)
    state.commit({"protocol": "toy", "draw": draw, "sum": float(weights.sum())}, dict(
        ids=["a"], labels=[0], top1=[draw % 2], true_class_probability=[1.0], correct=[True]))
    state.flush()
  return {"protocol": "toy", "sum": state.records[-1]["sum"]}
'''
_TOY_GIN = """from __gin__ import dynamic_registration
from suite import experiment
import power_toy
experiment.run.protocol = @power_toy.run
experiment.run.learners = {'ada': @power_toy.Learner, 'bob': @power_toy.Learner}
"""
_TABLE_GIN = """from __gin__ import dynamic_registration
from suite.tables import table
import tfds_builders
from tfds_builders import testing
from tfds_builders.rows.nevis.ocr import semeion
table.run.runs = {'low': 'power_toy.gin', 'high': 'power_toy.gin'}
table.run.columns = {'A': {}}
table.run.seeds = (0, 1)
table.Report.measures = {'sum': 'sum'}
"""
ACKNOWLEDGED = "ACKNOWLEDGED"
_RUNS = {**run_faults.RUNS, "cfsl": ["digits/cfsl", "--gin_file", "gin/debug.gin"],
         "share": [*run_faults.RUNS["nevis"], "--share"]}
WITHOUT_RUNS = ("cache", "curation", "fetch", "session", "values", "watch", "subset", "bundle",
                "export", "digests")


def _suite(*arguments: str) -> Workload:
  """A command of `suite`, and the digest of all that it must leave."""
  def work(folder: pathlib.Path) -> None:
    code = cli.main([*arguments, "--workdir", str(folder / "w")])
    if code:
      sys.stdout.flush()
      os._exit(code)
    print(f"RESULT {_digest(folder / 'w')}", flush=True)
  return work


def _digest(workdir: pathlib.Path) -> str:
  """Of records without times, summaries without digests, and predictions."""
  from suite.reporting import records
  from suite.reporting import run_dir
  found = hashlib.sha256()
  for path in sorted(workdir.rglob("records.jsonl")):
    found.update(json.dumps(records.strip_times(records.read(path))).encode())
    found.update(json.dumps(run_dir.read_json(path.with_name("summary.json"))).encode())
    for saved in sorted(path.parent.glob("predictions/*")):
      found.update(saved.name.encode() + saved.read_bytes())
  return found.hexdigest()[:16]


def _toy(name: str) -> Workload:
  def work(folder: pathlib.Path) -> None:
    scratch = folder.parent / "gin"
    scratch.mkdir(exist_ok=True)
    for file, text in (("power_toy.py", _TOY), ("power_toy.gin", _TOY_GIN),
                       ("power_table.gin", _TABLE_GIN)):
      (scratch / file).write_text(text)
    os.chdir(scratch)
    sys.path.insert(0, str(scratch))

    def cells_here(jobs: Sequence, count: int) -> list:
      """Runs the cells of a table in children of this process, which TensorFlow is loaded in."""
      from suite.system import processes
      found = []
      for job in jobs:
        done = forked.run(job.command[list(job.command).index("run"):])
        found.append(processes.Outcome(
            job, processes.FINISHED if done.code == 0 else processes.FAILED,
            outcomes.last_line(done.output)))
      return found

    table.check_parameters = lambda *unused: None
    table.processes.run_all = cells_here
    _suite("run", f"{name}.gin")(folder)
  return work


def acknowledge(folder: pathlib.Path, number: int) -> None:
  """Tells a workload in `folder` that so many additions were acknowledged before."""
  (folder.parent / "acknowledged").write_text(str(number))


def _cache(folder: pathlib.Path) -> None:
  """Additions to a cache, which joins them; each is acknowledged by a folder in the log."""
  rng, ids = np.random.default_rng(0), [f"s{i}" for i in range(2000)]
  cache = accuracy_cache.AccuracyCache(folder / "w", create=True)
  told = folder.parent / "acknowledged"
  num_acknowledged = int(told.read_text()) if told.exists() else 0
  wanted = np.zeros([0, 0], np.int8)
  for number in range(26):
    # The first addition is one of samples, then one of models.
    is_missing = (cache.num_models, cache.num_samples if number else 0) == wanted.shape
    if number % 4 == 3:
      more = rng.integers(-1, 2, (len(wanted), 37)).astype(np.int8)
      names = [f"t{number}_{i}" for i in range(37)]
      wanted, ids = np.concatenate([wanted, more], 1), ids + names
    else:
      more = rng.integers(0, 2, (2, len(ids))).astype(np.int8)
      names = [f"m{number}a", f"m{number}b"]
      wanted = np.concatenate([wanted, more]) if number else more
    if not is_missing:
      continue
    if number < num_acknowledged:
      print(f"LOST addition {number}, which was acknowledged", flush=True)
    if number % 4 == 3:
      cache.add_samples(names, more)
    else:
      cache.add_models(names, more, ids if number == 0 else None)
    print(ACKNOWLEDGED, flush=True)
    if os.environ.get("CALLS_ROOT"):
      os.mkdir(folder / f"acknowledged_{number:03d}")
  same = np.array_equal(cache.matrix(), wanted) and list(cache.ids) == ids
  print(f"RESULT {'whole' if same else 'other answers'}", flush=True)


class _Steps:
  """Steps of a workload, each acknowledged when it is done and looked for where it was before."""

  def __init__(self, folder: pathlib.Path):
    told = folder.parent / "acknowledged"
    self._folder, self._before = folder, int(told.read_text()) if told.exists() else 0

  def done(self, number: int, is_there: bool) -> bool:
    """Whether step `number` is there already; says so if it was acknowledged and is not."""
    if not is_there and number < self._before:
      print(f"LOST step {number}, which was acknowledged", flush=True)
    return is_there

  def acknowledge(self, number: int) -> None:
    """Says that a step is done."""
    print(ACKNOWLEDGED, flush=True)
    if os.environ.get("CALLS_ROOT"):
      os.mkdir(self._folder / f"acknowledged_{number:03d}")


def _answers(num_models: int, num_samples: int) -> np.ndarray:
  """Answers 0 and 1 of models, the better the later."""
  rng = np.random.default_rng(1)
  ease, skill = rng.random(num_samples), np.linspace(-0.3, 0.3, num_models)[:, None]
  return (rng.random((num_models, num_samples)) < ease + skill).astype(np.int8)


def _known(folder: pathlib.Path, num_models: int, num_samples: int
           ) -> accuracy_cache.AccuracyCache:
  """A cache beside the folder of a workload, which no cut meets."""
  cache = accuracy_cache.AccuracyCache(folder.parent / f"known_{num_models}", create=True)
  if not cache.num_models:
    cache.add_models([f"m{i}" for i in range(num_models)], _answers(num_models, num_samples),
                     [f"s{i}" for i in range(num_samples)])
  return cache


def _session(folder: pathlib.Path) -> None:
  """A session with a new model, whose rounds are acknowledged when they are answered."""
  steps, truth = _Steps(folder), _answers(9, 100)[4]
  session = adaptive_session.Session(
      _known(folder, 8, 100), 0.005, 70, state=folder / "w", seed=3)
  number = len(list((folder / "w").glob("answers_*.json")))
  for earlier in range(9):
    steps.done(earlier, earlier < number)
  while not session.is_done:
    session.answer({name: int(truth[int(name[1:])]) for name in session.questions().tolist()})
    steps.acknowledge(number)
    number += 1
  found = session.estimate()
  print(f"RESULT {found.accuracy!r} {found.interval!r} {session.num_answers}", flush=True)


def _values(folder: pathlib.Path) -> None:
  """Additions to a cache that keeps scores as values."""
  cache, steps = accuracy_cache.AccuracyCache(folder / "w", create=True), _Steps(folder)
  wanted = 40 * _answers(8, 200) + np.random.default_rng(2).random((8, 200)).round(3)
  for number in range(8):
    if not steps.done(number, f"m{number}" in cache.models):
      cache.add_models([f"m{number}"], wanted[number:number + 1], [f"s{i}" for i in range(200)],
                       values=True)
      steps.acknowledge(number)
  found = cache.values(np.arange(200))
  print(f"RESULT {hashlib.sha256(np.ascontiguousarray(found).tobytes()).hexdigest()[:16]}",
        flush=True)


def _watch(folder: pathlib.Path) -> None:
  """A cache that follows a folder into which files come, four at a time."""
  logs, steps = folder.parent / "logs", _Steps(folder)
  shutil.rmtree(logs, ignore_errors=True)
  logs.mkdir()
  for number, row in enumerate(_answers(12, 60)):
    log = logs / f"m{number:02d}.csv"
    log.write_text(f"id,{log.stem}\n" + "".join(
        f"s{i},{one}\n" for i, one in enumerate(row.tolist())))
    os.utime(log, (1e9, 1e9))
    if number % 4 < 3:
      continue
    is_there = accuracy_cache.is_cache(folder / "w") and (
        log.stem in accuracy_cache.AccuracyCache(folder / "w").models)
    steps.done(number // 4, is_there)
    watching.update(folder / "w", logs, now=lambda: 2e9)
    if not is_there:
      steps.acknowledge(number // 4)
  cache, history = accuracy_cache.AccuracyCache(folder / "w"), watching.history(folder / "w")
  order = np.argsort(cache.models)
  print(f"RESULT {hashlib.sha256(cache.matrix()[order].tobytes()).hexdigest()[:16]} "
        f"{sorted(watching.files(history))}", flush=True)


def _subset(folder: pathlib.Path) -> None:
  """A subset of a cache and its error bars, then a score by them; another subset lies there."""
  known, out = _known(folder, 12, 300), folder / "w" / "subset.csv"
  out.parent.mkdir(exist_ok=True)
  answers = folder.parent / "answers.csv"
  answers.write_text("id,new\n" + "".join(
      f"s{i},{one}\n" for i, one in enumerate(_answers(13, 300)[6].tolist())))
  place = ["lifelong", "subset", "--cache", str(known.folder), "--out", str(out), "--json"]

  def do(*more: str) -> str:
    said = io.StringIO()
    with contextlib.redirect_stdout(said):
      code = cli.main([*place, *more])
    if code:
      sys.stdout.flush()
      os._exit(code)
    return said.getvalue()

  score = ("--answers", str(answers))
  scores = [do(*score)] if out.exists() else []  # Of what a cut has left.
  for size in ("20", "30"):
    do("--size", size, "--draws", "4")
    scores.append(do(*score))
  is_whole = scores[0] in scores[-2:]
  print(f"RESULT {scores[-1] if is_whole else 'the score of a mixture'}", flush=True)


def _bundle(folder: pathlib.Path) -> None:
  """A bundle, which is handed in again three times, each time with one more record."""
  steps, out, source = _Steps(folder), folder / "w" / "mine.zip", folder.parent / "records.jsonl"
  atomic_files.make_folder(out.parent)
  member = "runs/000/er/records.jsonl"

  def num_records() -> int:
    with tempfile.TemporaryDirectory() as target:
      bundle.unpack(out, pathlib.Path(target))
      return len((pathlib.Path(target) / member).read_text().splitlines())

  there = num_records() if out.exists() else 0
  for number in range(4):
    if steps.done(number, number < there):
      continue
    source.write_text("".join(json.dumps({"event": i}) + "\n" for i in range(number + 1)))
    run = {"folder": "runs/000/er", "learner": "er", "method": "er", "protocol": "clear", "seed": 0}
    bundle.write(out, {"format": bundle.FORMAT, "title": "t", "license": "x", "contact": "y",
                       "suite": "1", "runs": [run]}, {member: source})
    steps.acknowledge(number)
  print(f"RESULT {num_records()} {hashlib.sha256(out.read_bytes()).hexdigest()[:16]}", flush=True)


def _export(folder: pathlib.Path) -> None:
  """Caches of three sizes, exported to one Parquet file, the larger the later."""
  steps, out = _Steps(folder), folder / "w" / "answers.parquet"
  atomic_files.make_folder(out.parent)
  there = parquet.read_table(out).num_rows if out.exists() else 0
  for number, num_models in enumerate((3, 4, 5)):
    known = _known(folder, num_models, 40)
    if steps.done(number, there >= 40 * num_models):
      continue
    with contextlib.redirect_stdout(io.StringIO()):
      if cli.main(["lifelong", "export", "--cache", str(known.folder), "--parquet", str(out)]):
        raise ValueError(f"{out} is not written")
    steps.acknowledge(number)
  found = parquet.read_table(out).to_pydict()
  print(f"RESULT {hashlib.sha256(repr(found).encode()).hexdigest()[:16]}", flush=True)


def _digests(folder: pathlib.Path) -> None:
  """Digests of the sets that a run is tested on, noted one after the other."""
  steps, place = _Steps(folder), folder / "w"
  atomic_files.make_folder(place)
  there = state_log.read_data(place)
  log = state_log.StateLog(place, "toy", 1)
  for number in range(6):
    name = f"bucket_{number:02d}"
    steps.done(number, name in there)
    log.add_data(name, {"examples": f"{number:064x}", "content": f"{number + 9:064x}"})
    if name not in there:
      steps.acknowledge(number)
  print(f"RESULT {json.dumps(state_log.read_data(place), sort_keys=True)}", flush=True)


def _curation(folder: pathlib.Path) -> None:
  """Two steps, the second of which reads the first one's."""
  def write(text: str) -> Callable[[pathlib.Path], dict]:
    def outputs(new: pathlib.Path) -> dict:
      for name in ("a.csv", "part/b.npy"):
        (new / name).parent.mkdir(exist_ok=True)
        (new / name).write_bytes(text.encode() * 3000)
      return {"rows": 3000}
    return outputs

  work = folder / "w"
  manifest.run(work, "encode", parameters={"k": 1}, inputs={}, write=write("one"))
  found = manifest.run(work, "buckets", parameters={"k": 2}, inputs={
      "encode": [work / "encode" / manifest.NAME]}, write=write("two"))
  print(f"RESULT {json.dumps(found.outputs, sort_keys=True)}", flush=True)


def _fetch(folder: pathlib.Path) -> None:
  """Eight images of a server in this process."""
  class Handler(http.server.BaseHTTPRequestHandler):
    """Answers with an image of its address."""

    def do_GET(self) -> None:
      out = io.BytesIO()
      Image.new("RGB", (64, 64), (len(self.path) * 9 % 256, 3, 7)).save(out, "PNG")
      body = b"" if "robots" in self.path else out.getvalue()
      self.send_response(200)
      self.send_header("Content-Length", str(len(body)))
      self.end_headers()
      self.wfile.write(body)

    def log_message(self, *unused: object) -> None:
      pass

  server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
  threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
  urls = [f"http://images.example/{'x' * i}.png" for i in range(8)]
  os.environ["http_proxy"] = f"http://127.0.0.1:{server.server_port}"  # Names stay the same.
  manners = polite_fetch.Manners(rate=1000.0, allow_private=True)
  found = polite_fetch.fetch(urls, folder / "w", manners)
  bodies = [hashlib.sha256((folder / "w" / one.file).read_bytes()).hexdigest()[:8]
            for one in found.values()]
  print(f"RESULT {bodies}", flush=True)


def _build(folder: pathlib.Path) -> None:
  """Prepares a small data set, then reads it."""
  mirror, found = folder.parent / "mirror", hashlib.sha256()
  row = testing.write(semeion.ROW, semeion.ROW.layouts[0], mirror)[0]
  with testing.installed(row, mirror):
    builder = tfds_builders.build("nevis/semeion", folder / "w")
    for split in sorted(builder.info.splits):
      for one in builder.as_dataset(split).as_numpy_iterator():
        found.update(repr(sorted((name, np.asarray(value).tobytes()) for name, value in one.items()
                                 )).encode())
  print(f"RESULT {found.hexdigest()[:16]}", flush=True)


def _lifelong(folder: pathlib.Path) -> None:
  """Reads the predictions of a run that stands beside."""
  made = folder.parent / "predictions"
  if not (made / "report.txt").exists():
    forked.run(["run", *run_faults.RUNS["clear"], "--workdir", str(made)])
  _suite("run", "digits/lifelong", "--gin_param", f"lifelong.run.predictions={str(made)!r}",
         "--gin_param", "lifelong.run.min_models=3")(folder)


# Name -> (workload, how often beside the others; cheap ones are often).
WORKLOADS: dict[str, tuple[Workload, int]] = {
    "events": (_toy("power_toy"), 37), "cache": (_cache, 36), "table": (_toy("power_table"), 4),
    "curation": (_curation, 16), "fetch": (_fetch, 7), "lifelong": (_lifelong, 1),
    "builder": (_build, 2), "session": (_session, 4), "values": (_values, 16),
    "watch": (_watch, 4), "subset": (_subset, 1), "bundle": (_bundle, 20),
    "export": (_export, 2), "digests": (_digests, 20),
    **{name: (_suite("run", *arguments), 1) for name, arguments in _RUNS.items()}}


def prepare(name: str) -> None:
  """Imports what a workload needs, so that its children need not."""
  if name not in WITHOUT_RUNS:
    forked.import_runs()


def do(work: Workload, folder: pathlib.Path) -> None:
  """Does a workload in place of a command, and ends the process."""
  code = 1
  try:
    work(folder)
    code = 0
  except Exception as error:
    this_process.report_error(error, argparse.Namespace(debug=False), code=1)
  finally:
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def result(output: str) -> str:
  """What a workload says that it has come to."""
  return next((line for line in output.splitlines() if line.startswith("RESULT ")), "none")


def main(name: str, folder: str) -> None:
  """Does one workload; called in the process that is recorded."""
  with contextlib.suppress(FileExistsError):
    os.mkdir(folder)
  prepare(name)
  done = forked.run([], before=lambda: do(WORKLOADS[name][0], pathlib.Path(folder)))
  print(done.output, end="")
  sys.exit(done.code or 0)

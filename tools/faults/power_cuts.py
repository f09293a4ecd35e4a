# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Power cuts: what a disk may hold after one, for all that the suite writes, and what comes of it.

The operations of a workload on the files of its folder are recorded (record_writes.c). A state is
what a disk may hold if the power goes at one of them, by one of three models:

  flushed   what was flushed, and nothing else: names up to the last flush, as a journal has them
  ordered   names in order up to any moment after the last flush; of data that was not flushed
            nothing, all, a beginning, zeros, or all but some sectors
  posix     the same data; names of each folder up to a moment of its own, at least up to its flush

In each state the workload is done again to its end. It must end as without the cut, or refuse in
one line; what was acknowledged must be there. C's compiler and LD_PRELOAD are needed: Linux.
"""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Sequence
import contextlib
import hashlib
import http.server
import io
import json
import os
import pathlib
import random
import shutil
import subprocess
import sys
import threading
from typing import NamedTuple

import forked
import numpy as np
import outcomes
from PIL import Image
import run_faults

from suite.curation import manifest
from suite.curation import polite_fetch
from suite.lifelong.cache import accuracy_cache
from suite.tables import table

MODELS = ("flushed", "ordered", "posix")
_NAMES = ("create", "mkdir", "rename", "unlink", "rmdir")
_SECTOR = 512
_HERE = pathlib.Path(__file__).resolve().parent


class Operation(NamedTuple):
  """One recorded operation.

  Attributes:
    kind: "create", "write", "trunc", "flush" (begins), "flushed" (has ended), "mkdir", "rename",
      "unlink", "rmdir".
    file: (inode, which of the files that had this number); None of operations on names alone.
    offset: of "write", the size of "trunc".
    data: that was written.
    path, second: relative to the folder; "" is the folder itself.
  """

  kind: str
  file: tuple[int, int] | None
  offset: int
  data: bytes
  path: str
  second: str


def read(log: pathlib.Path, root: pathlib.Path) -> list[Operation]:
  """Reads a log of record_writes.c."""
  data, place, found = log.read_bytes(), 0, []
  made: collections.Counter[int] = collections.Counter()
  while place < len(data):
    end = data.index(b"\n", place)
    kind, inode, offset, size, *paths = os.fsdecode(data[place:end]).split("\t")
    place = end + 1
    content = data[place:place + int(size)]
    place += int(size)
    made[int(inode)] += kind == "create"
    path, second = ("" if not p or p == str(root) else os.path.relpath(p, root) for p in paths)
    file = (int(inode), made[int(inode)]) if int(inode) else None
    found.append(Operation(kind, file, int(offset), content, path, second))
  return found


def build(operations: Sequence[Operation], target: pathlib.Path, model: str, draw: random.Random
          ) -> None:
  """Makes the folder that a disk may hold after these operations, by one of `MODELS`."""
  begun: dict[str, int] = {}
  flushed: dict[str, int] = {}  # By path: what was done to it before this place is on the disk.
  data_flushed: dict[tuple[int, int] | None, int] = {}
  for place, one in enumerate(operations):
    if one.kind == "flush":
      begun[one.path] = place
    elif one.kind == "flushed":
      flushed[one.path] = data_flushed[one.file] = begun[one.path]
  kept = _kept_names(operations, flushed, model, draw)
  writes: dict[tuple[int, int] | None, list[int]] = collections.defaultdict(list)
  for place, one in enumerate(operations):
    if one.kind in ("write", "trunc"):
      writes[one.file].append(place)
  tree: dict[str, tuple[int, int] | None] = {}  # Path -> its file; None: a folder.
  for place in kept:
    one = operations[place]
    if one.kind in ("create", "mkdir"):
      tree[one.path] = one.file if one.kind == "create" else None
    elif one.kind == "rename":
      moved = {path: file for path, file in tree.items()
               if path == one.path or path.startswith(f"{one.path}/")}
      for path, file in moved.items():
        del tree[path]
        tree[one.second + path[len(one.path):]] = file
    else:
      tree.pop(one.path, None)
  shutil.rmtree(target, ignore_errors=True)
  target.mkdir(parents=True)
  for path in sorted(tree, key=lambda path: path.count("/")):
    file, final = tree[path], target / path
    if not final.parent.is_dir():
      continue  # Its folder is lost.
    if file is None:
      final.mkdir(exist_ok=True)
    else:
      final.write_bytes(_content([operations[place] for place in writes[file]], sum(
          place <= data_flushed.get(file, -1) for place in writes[file]), model, draw))


def _kept_names(operations: Sequence[Operation], flushed: dict[str, int], model: str,
                draw: random.Random) -> list[int]:
  """The operations on names that are on the disk."""
  places = [place for place, one in enumerate(operations) if one.kind in _NAMES]
  last = max(flushed.values(), default=-1)
  if model != "posix":
    end = last if model == "flushed" else draw.choice(
        [last, len(operations), draw.randint(max(last, 0), len(operations))])
    return [place for place in places if place <= end]

  def folders(one: Operation) -> set[str]:
    paths = (one.path, one.second) if one.kind == "rename" else (one.path,)
    return {os.path.dirname(path) for path in paths}

  by_folder: dict[str, list[int]] = collections.defaultdict(list)
  for place in places:
    for folder in sorted(folders(operations[place])):
      by_folder[folder].append(place)
  ends = {folder: max(flushed.get(folder, -1), draw.choice([-1, draw.choice(own), own[-1]]))
          for folder, own in by_folder.items()}
  return [place for place in places
          if all(place <= ends[folder] for folder in folders(operations[place]))]


def _content(operations: Sequence[Operation], num_flushed: int, model: str, draw: random.Random
             ) -> bytes:
  """The content of a file of which some of the writes were flushed."""
  how = "none" if model == "flushed" else draw.choice(["none", "all", "part", "zeros", "torn"])
  left = len(operations) - num_flushed
  end = num_flushed + {"none": 0, "part": draw.randint(0, left)}.get(how, left)
  out = bytearray()
  for number, one in enumerate(operations[:end]):
    if one.kind == "trunc":
      out = out[:one.offset].ljust(one.offset, b"\0")
      continue
    data = bytearray(one.data)
    if number >= num_flushed and how == "zeros":
      data = bytearray(len(data))
    elif number >= num_flushed and how == "torn":
      for start in range(0, len(data), _SECTOR):
        if draw.random() < 0.4:
          data[start:start + _SECTOR] = bytes(len(data[start:start + _SECTOR]))
    out = out.ljust(one.offset, b"\0")
    out[one.offset:one.offset + len(data)] = data
  return bytes(out)


# A workload does its work in a folder, or what is left of it, and prints what it has come to.
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
table.run.runs = {'low': 'power_toy.gin', 'high': 'power_toy.gin'}
table.run.columns = {'A': {}}
table.run.seeds = (0, 1)
table.Report.measures = {'sum': 'sum'}
"""


def _suite(*arguments: str) -> Workload:
  """A command of `suite`, and the digest of all that it must leave."""
  def work(folder: pathlib.Path) -> None:
    from suite import cli
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


def _cache(folder: pathlib.Path) -> None:
  """Additions to a cache, which joins them; each is acknowledged by a folder in the log."""
  rng, ids = np.random.default_rng(0), [f"s{i}" for i in range(2000)]
  cache = accuracy_cache.AccuracyCache(folder / "w", create=True)
  told = folder.parent / "acknowledged"
  num_acknowledged = int(told.read_text()) if told.exists() else 0
  wanted = np.zeros([0, 0], np.int8)
  for number in range(26):
    is_missing = (cache.num_models, cache.num_samples) == wanted.shape
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
    if os.environ.get("POWER_ROOT"):
      os.mkdir(folder / f"acknowledged_{number:03d}")
  same = np.array_equal(cache.matrix(), wanted) and list(cache.ids) == ids
  print(f"RESULT {'whole' if same else 'other answers'}", flush=True)


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


def _lifelong(folder: pathlib.Path) -> None:
  """Reads the predictions of a run that stands beside."""
  made = folder.parent / "predictions"
  if not (made / "report.txt").exists():
    forked.run(["run", *run_faults.RUNS["clear"], "--workdir", str(made)])
  _suite("run", "digits/lifelong", "--gin_param", f"lifelong.run.predictions={str(made)!r}",
         "--gin_param", "lifelong.run.min_models=3")(folder)


_RUNS = {**run_faults.RUNS, "cfsl": ["digits/cfsl", "--gin_file", "gin/debug.gin"],
         "share": [*run_faults.RUNS["nevis"], "--share"]}
# Name -> (workload, how often of 100 states).
WORKLOADS: dict[str, tuple[Workload, int]] = {
    "events": (_toy("power_toy"), 37), "cache": (_cache, 36), "table": (_toy("power_table"), 4),
    "curation": (_curation, 10), "fetch": (_fetch, 7), "lifelong": (_lifelong, 1),
    **{name: (_suite("run", *arguments), 1) for name, arguments in _RUNS.items()}}


class Recorded(NamedTuple):
  """A workload that was done once: its operations, and what it came to."""

  name: str
  folder: pathlib.Path
  operations: list[Operation]
  result: str


def record(name: str, folder: pathlib.Path) -> Recorded:
  """Does a workload in a process of its own, whose operations are recorded."""
  library, log, root = folder / "record.so", folder / "log", folder / "root"
  root.mkdir(parents=True)
  subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", str(library),
                  str(_HERE / "record_writes.c"), "-lpthread"], check=True)
  done = subprocess.run(
      [sys.executable, str(_HERE), "--record", name, str(root)], text=True, capture_output=True,
      check=False, env={**os.environ, "LD_PRELOAD": str(library), "POWER_ROOT": str(root),
                        "POWER_LOG": str(log)})
  if done.returncode:
    raise RuntimeError(f"{name} fails without a cut:\n{(done.stdout + done.stderr)[-2000:]}")
  operations = read(log, root)
  everything = [*operations, *(
      Operation(kind, one.file, 0, b"", one.path, "") for one in operations
      if one.kind == "create" for kind in ("flush", "flushed"))]
  build(everything, folder / "replayed", "flushed", random.Random(0))
  differ = [path for path in sorted(root.rglob("*")) if path.is_file() and "tensorboard" not in
            path.parts and not _is_equal(path, folder / "replayed" / path.relative_to(root))]
  if differ:
    raise RuntimeError(f"{name}: operations on {differ[:3]} were not recorded")
  return Recorded(name, folder, operations, _result(done.stdout))


def _is_equal(path: pathlib.Path, other: pathlib.Path) -> bool:
  return other.is_file() and path.read_bytes() == other.read_bytes()


def _result(output: str) -> str:
  return next((line for line in output.splitlines() if line.startswith("RESULT ")), "none")


def cut(recorded: Recorded, draw: random.Random) -> outcomes.Fault:
  """One state, and what comes of it."""
  place, model = draw.randint(1, len(recorded.operations)), draw.choice(MODELS)
  before = recorded.operations[:place]
  state = recorded.folder / "state"
  (recorded.folder / "acknowledged").write_text(str(sum(
      one.kind == "mkdir" and "acknowledged_" in one.path for one in before)))
  build([one for one in before if "acknowledged_" not in one.path], state, model, draw)
  (state / "w").parent.mkdir(exist_ok=True)
  work = WORKLOADS[recorded.name][0]
  done = forked.run([], before=lambda: _only(work, state))
  what = f"{recorded.name}: {model}, cut at operation {place} of {len(recorded.operations)}"
  kind, said = f"power cut: {recorded.name}", outcomes.last_line(done.output)
  if done.code == 0:
    result = _result(done.output)
    lost = "LOST" in done.output
    return outcomes.Fault(kind, what, outcomes.LOST if lost else outcomes.SURVIVED
                          if result == recorded.result else outcomes.SILENT, result)
  good = done.code in (1, 2) and outcomes.is_one_line(done.output)
  return outcomes.Fault(kind, what, outcomes.REFUSED if good else outcomes.LOST,
                        said or done.output[-300:])


def _only(work: Workload, folder: pathlib.Path) -> None:
  """Does a workload in place of a command, and ends the process."""
  code = 1
  try:
    work(folder)
    code = 0
  except Exception as error:  # As the command line says it.
    message = " ".join(str(error).split())
    expected = isinstance(error, (ValueError, OSError, RuntimeError))
    print(f"suite: {message}" if expected else f"{type(error).__name__}: {message}", flush=True)
  finally:
    sys.stdout.flush()
    os._exit(code)


def campaign(folder: pathlib.Path, *, states: int, seed: int, first: int = 0,
             names: Sequence[str] = ()) -> Iterator[outcomes.Fault]:
  """Yields the outcomes of states, drawn from the seed.

  Args:
    folder: for scratch files.
    states: their number.
    seed: state n is a function of (seed, n).
    first: number of the first state.
    names: of workloads; (): all.
  """
  chosen = {name: often for name, (_, often) in WORKLOADS.items() if not names or name in names}
  recorded: dict[str, Recorded] = {}
  for number in range(first, first + states):
    draw = random.Random(f"power/{seed}/{number}")
    name = draw.choices(list(chosen), list(chosen.values()))[0]
    if name not in recorded:
      recorded[name] = record(name, folder / name)
    found = cut(recorded[name], draw)
    yield found._replace(what=f"state {number}, {found.what}")


def main(name: str, folder: str) -> None:
  """Does one workload; called in the process that is recorded."""
  with contextlib.suppress(FileExistsError):
    os.mkdir(folder)
  done = forked.run([], before=lambda: _only(WORKLOADS[name][0], pathlib.Path(folder)))
  print(done.output, end="")
  sys.exit(done.code or 0)

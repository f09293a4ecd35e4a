# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The accuracy cache at scale: what each operation takes, and what forms of ids take.

`--other FOLDER` is a checkout of another revision, which is measured in turns with this one, each
time in a process of its own. Caches are complete, or sparse: of every second model half of the
answers are missing. Rows of a model are drawn for 131,072 samples and repeated.

`--ids`: as an index of hashes (`sample_ids`), as tables of SQLite and as columns of Arrow.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
import json
import os
import pathlib
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time
from typing import Any

import numpy as np
import pyarrow as pa

_PATTERN = 1 << 17
_ASKED = 1024
_MORE = 100_000  # Number of samples that are added.


def add_flags(parser: Any) -> None:
  """Adds the flags of the case, beside --rounds and --other."""
  parser.add_argument("--samples", type=int, default=10**6)
  parser.add_argument("--models", type=int, default=100)
  parser.add_argument("--kinds", nargs="+", default=["complete", "sparse", "values"])
  parser.add_argument("--folder", type=pathlib.Path, help="where to make the caches")
  parser.add_argument("--ids", action="store_true", help="forms of ids alone")
  parser.add_argument("--measure", metavar="KIND", help=argparse.SUPPRESS)


def run(args: argparse.Namespace) -> None:
  """Prints the tables."""
  if args.ids:
    for line in forms_of_ids(args.samples, args.folder):
      print(line, flush=True)
    return
  root = pathlib.Path(__file__).resolve().parents[2]
  sides = {"this": root, **({"other": pathlib.Path(args.other).resolve()} if args.other else {})}
  print(f"{args.samples:,} samples x {args.models:,} models; seconds, and in brackets those of the "
        f"processor; medians of {args.rounds}")
  print("| | " + " | ".join(sides) + " | other / this |")
  for kind in args.kinds:
    found: dict[str, dict[str, list[list[float]]]] = {}
    for number in range(args.rounds):
      for side in list(sides)[::1 if number % 2 == 0 else -1]:
        for name, value in _measured(args, kind, sides[side]).items():
          found.setdefault(name, {}).setdefault(side, []).append(value)
    for name, values in found.items():
      row = [[statistics.median(part) for part in zip(*values[side])] for side in sides]
      cells = [f"{one:,.0f}" if name == "bytes" else f"{one:.2f} ({busy:.2f})" for one, busy in row]
      ratios = [f"{other / max(one, 1e-9):.2f}" for one, other in zip(row[0], row[-1])]
      print(f"| {kind}: {name} | " + " | ".join(cells) + f" | {ratios[0]} ({ratios[1]}) |",
            flush=True)


def _measured(args: argparse.Namespace, kind: str, side: pathlib.Path) -> dict[str, list[float]]:
  done = subprocess.run(
      [sys.executable, __file__, "--measure", kind, "--samples", str(args.samples), "--models",
       str(args.models), *(["--folder", str(args.folder)] if args.folder else [])],
      env={**os.environ, "PYTHONPATH": str(side)}, stdout=subprocess.PIPE, text=True, check=True)
  return json.loads(done.stdout.splitlines()[-1])


def rows(size: int, num: int, kind: str, seed: int = 0) -> Iterator[np.ndarray]:
  """Answers of models: int8 [size], -1 for missing ones, or scores float32 of kind "values"."""
  rng, pattern = np.random.default_rng(seed), min(size, _PATTERN)
  difficulty = np.random.default_rng(1000).normal(0, 1.5, pattern)
  for number in range(num):
    row = rng.normal(0.5, 1.0) - difficulty + rng.logistic(size=pattern)
    found = ((1 / (1 + np.exp(-row))).astype(np.float32) if kind == "values" else
             (row > 0).astype(np.int8))
    if kind == "sparse" and number % 2:
      found[rng.random(pattern) < 0.5] = -1
    yield np.resize(found, size)


def operations(args: argparse.Namespace) -> Iterator[tuple[str, tuple[float, float]]]:
  """(name, seconds) of what is done with one cache."""
  from suite import lifelong  # pylint: disable=import-outside-toplevel
  from suite.lifelong import standings  # pylint: disable=import-outside-toplevel
  from suite.lifelong.cache import accuracy_cache  # pylint: disable=import-outside-toplevel
  kind, size, num = args.measure, args.samples, args.models
  facts = {"values": True} if kind == "values" else {}
  ids = [f"image-{index:010d}" for index in range(size)]
  with tempfile.TemporaryDirectory(prefix="answers-", dir=args.folder) as folder:
    path = pathlib.Path(folder) / "cache"
    cache = accuracy_cache.AccuracyCache(path, create=True)
    yield "made", _both(lambda: cache.add_models(
        [f"m{index}" for index in range(num)], rows(size, num, kind), ids, **facts))
    yield "bytes", (sum(one.stat().st_size for one in path.iterdir()), 1)
    yield "open", _both(lambda: accuracy_cache.AccuracyCache(path))
    cache = accuracy_cache.AccuracyCache(path)
    asked = [ids[place] for place in np.random.default_rng(2).integers(0, size, 10**5)]
    yield "find 100,000 ids", _both(lambda: cache.sample_ids.find(asked))
    yield "estimate, first read", _both(lambda: lifelong.Reference(path))
    yield "estimate, second read", _both(lambda: lifelong.Reference(path))
    row, = rows(size, 1, kind, seed=10**6)
    yield "add a model", _both(lambda: cache.add_models(["new"], [row], **facts))
    yield "estimate, after a model", _both(lambda: lifelong.Reference(path))
    yield "rank", _both(lambda: standings.rank(path))
    few = row.copy()
    missing = np.arange(0, size, 100)
    few[missing] = np.nan if kind == "values" else -1
    cache.add_models(["few"], [few], **facts)
    if kind != "values":  # Some revisions do not fill them.
      chosen = [ids[place] for place in missing.tolist()]
      yield "fill 1% of a model", _both(lambda: cache.add_answers(
          ["few"], row[None, missing], chosen))
    more = [f"more-{index:010d}" for index in range(_MORE)]
    given = np.stack([*rows(_MORE, cache.num_models, kind)])
    yield f"add {_MORE:,} samples", _both(lambda: cache.add_samples(more, given, **facts))
    yield "counts after both", _both(lambda: standings.rank(path))


def forms_of_ids(size: int, place: pathlib.Path | None) -> Iterator[str]:
  """Lines of a table: write, bytes, find 100,000, all of them."""
  sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2]))
  from suite.lifelong.cache import piece_files  # pylint: disable=import-outside-toplevel
  from suite.lifelong.cache import sample_ids  # pylint: disable=import-outside-toplevel
  ids = [f"task{i % 57}/doc-{i * 7919 % size:010d}" for i in range(size)]
  some = np.random.default_rng(0).integers(0, size, min(size, 10**5))
  asked = [ids[one] for one in some.tolist()]
  yield f"{size:,} ids | write, s | bytes | find {len(asked):,}, s | read all, s"
  with tempfile.TemporaryDirectory(prefix="answers-", dir=place) as name:
    folder = pathlib.Path(name)

    def line(what: str, path: pathlib.Path, write: Callable[[], Any], find: Callable[[], Any],
             read: Callable[[], Any]) -> str:
      times = [_seconds(write), _seconds(find), _seconds(read)]
      if not np.array_equal(find(), some):
        raise AssertionError(what)
      return (f"{what} | {times[0]:.2f} | {path.stat().st_size:,} | {times[1]:.2f} | "
              f"{times[2]:.2f}")

    found: dict[str, Any] = {}

    def index() -> None:
      batch, facts = sample_ids.write(folder, 1, [ids])
      found["index"] = sample_ids.SampleIds([batch.opened({
          one.name: piece_files.Checked(folder, one) for one in facts})])

    yield line("index of hashes", folder / "0001.ids.bin", index,
               lambda: found["index"].find(asked), lambda: sum(map(len, found["index"].chunks())))
    for what, schema, key in (("SQLite, unique text", "id TEXT UNIQUE", "id"),
                              ("SQLite, indexed hash", "id TEXT, hash INTEGER", "hash")):
      path = folder / f"{key}.db"
      db = sqlite3.connect(path)
      db.execute("PRAGMA synchronous=EXTRA")

      def keys(texts: list[str], key: str = key) -> list[Any]:
        return texts if key == "id" else sample_ids.hashes(texts).view(np.int64).tolist()

      def table(schema: str = schema, key: str = key, db: sqlite3.Connection = db) -> None:
        db.execute(f"CREATE TABLE samples (number INTEGER PRIMARY KEY, {schema})")
        rows_of = zip(range(size), ids, keys(ids)) if key == "hash" else zip(range(size), ids)
        db.executemany("INSERT INTO samples VALUES (?, ?" + ", ?" * (key == "hash") + ")", rows_of)
        if key == "hash":
          db.execute("CREATE INDEX of_hash ON samples (hash)")
        db.commit()

      def find(key: str = key, db: sqlite3.Connection = db) -> np.ndarray:
        db.execute("CREATE TEMP TABLE IF NOT EXISTS wanted (place INTEGER PRIMARY KEY, one)")
        db.execute("DELETE FROM wanted")
        db.executemany("INSERT INTO wanted VALUES (?, ?)", enumerate(keys(asked)))
        return np.array([one for one, in db.execute(
            f"SELECT number FROM wanted JOIN samples ON {key} = one ORDER BY place")])

      yield line(what, path, table, find, lambda db=db: sum(
          1 for _ in db.execute("SELECT id FROM samples ORDER BY number")))
      db.close()

    def arrow() -> None:
      hashed = sample_ids.hashes(ids)
      order = np.argsort(hashed, kind="stable")
      table = pa.table({"id": pa.array(ids, pa.large_string()), "hash": hashed[order],
                        "place": order.astype(np.uint32)})
      with pa.OSFile(str(folder / "ids.arrow"), "wb") as file, pa.ipc.new_file(
          file, table.schema) as writer:
        writer.write_table(table)
      found["arrow"] = pa.ipc.open_file(pa.memory_map(str(folder / "ids.arrow"))).get_batch(0)

    def find_arrow() -> np.ndarray:
      texts, hashed, places = found["arrow"].columns
      at = np.searchsorted(hashed.to_numpy(), sample_ids.hashes(asked))
      known = places.to_numpy()[np.minimum(at, size - 1)]
      return np.where([one == other for one, other in zip(
          texts.take(pa.array(known)).to_pylist(), asked)], known, -1)

    yield line("Arrow, memory-mapped", folder / "ids.arrow", arrow, find_arrow,
               lambda: len(found["arrow"].column(0).to_pylist()))


def _both(work: Callable[[], Any]) -> tuple[float, float]:
  """Seconds that passed, and those of the processor."""
  busy = time.process_time()
  passed = _seconds(work)
  return passed, time.process_time() - busy


def _seconds(work: Callable[[], Any]) -> float:
  began = time.perf_counter()
  work()
  return time.perf_counter() - began


if __name__ == "__main__":
  _parser = argparse.ArgumentParser()
  add_flags(_parser)
  _args = _parser.parse_args()
  print(json.dumps(dict(operations(_args))))

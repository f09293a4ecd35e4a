# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs all tasks of NEVIS'22 with all learners on small generated archives of the real layouts.

    python tools/nevis_smoke.py DIR [--jobs 2]

Writes an archive of about 80 images for each of the 97 data sets (DIR/archives), builds them with
the builders that read the published archives (DIR/data), and runs nevis/pretrain_smoke, then
nevis/smoke_table (DIR/run). What is there already is kept, so that a command
that was stopped goes on. The images are noise: errors mean nothing, but every archive layout,
builder, task and learner is used. Archives of different data sets hold the same noise, so images
shared by tasks are kept (streams.nevis.shared_images).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
import concurrent.futures
import multiprocessing
import pathlib
import subprocess
import sys
import time

from absl import logging

NUM_EXAMPLES = 80


def build(name: str, folder: pathlib.Path) -> str:
  """Writes and builds one data set; returns its name."""
  import tfds_builders
  from tfds_builders import catalog
  from tfds_builders import testing
  from tfds_builders.parsers import tfds_copy
  data_dir, row = folder / "data", catalog.find(name)[1]
  if tfds_builders.status.inspect(name, data_dir).state == tfds_builders.status.PREPARED:
    return name
  archives = folder / "archives"
  if row.layouts:
    small, _ = testing.write(row, row.layouts[0], archives / row.name, NUM_EXAMPLES)
  else:  # TFDS has its own; it is written as TFDS's classes prepare it.
    assert row.tfds is not None
    tfds_copy.write_fixture(data_dir, row.tfds, num_classes=row.num_classes,
                            per_class=max(2, NUM_EXAMPLES // row.num_classes))
    small = row
  with testing.installed(small, archives):
    tfds_builders.build(name, data_dir)
  return name


def data_sets(variant: str = "full") -> list[str]:
  """The data sets of a NEVIS'22 stream, each once."""
  from suite.data.streams import nevis_table
  return list(dict.fromkeys(f"nevis/{line.name}" for line in nevis_table.select(variant)))


def build_all(names: list[str], folder: pathlib.Path, jobs: int) -> None:
  """Builds the data sets in `jobs` processes."""
  began = time.monotonic()
  for part in ("archives", "data"):
    (folder / part).mkdir(parents=True, exist_ok=True)
  spawn = multiprocessing.get_context("spawn")
  with concurrent.futures.ProcessPoolExecutor(jobs, mp_context=spawn) as pool:
    waiting = [pool.submit(build, name, folder) for name in names]
    for number, done in enumerate(concurrent.futures.as_completed(waiting), 1):
      logging.info("%d/%d: %s", number, len(names), done.result())
  logging.info("%d data sets are built after %.0f s", len(names), time.monotonic() - began)


def runs(folder: pathlib.Path, jobs: int, params: list[str]) -> Iterator[list[str]]:
  """The commands that run all learners, in order; `params` are for each."""
  suite = [sys.executable, "-m", "suite", "run"]
  where = ["--data_dir", str(folder / "data")]
  for param in ("streams.nevis.shared_images='keep'", *params):
    where += ["--gin_param", param]
  encoder = folder / "run" / "pretrain"
  yield [*suite, "nevis/pretrain_smoke", *where, "--workdir", str(encoder)]
  yield [*suite, "nevis/smoke_table", *where, "--workdir", str(folder / "run" / "table"), "--jobs",
         str(jobs), "--gin_param", f"ENCODER={str(encoder / 'encoder')!r}"]


def main(argv: list[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
  parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
  parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
  parser.add_argument("--gin_param", action="append", default=[], metavar="X=Y")
  args = parser.parse_args(argv)
  logging.set_verbosity(logging.INFO)
  began = time.monotonic()
  build_all(data_sets(), args.folder, args.jobs)
  codes = []
  for command in runs(args.folder, args.jobs, args.gin_param):
    codes.append(subprocess.run(command, check=False).returncode)
    logging.info("%s: exit code %d, %.0f s after the start", command[4], codes[-1],
                 time.monotonic() - began)
  return max(codes)


if __name__ == "__main__":
  sys.exit(main())

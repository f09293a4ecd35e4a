# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs all tasks of NEVIS'22 with all learners on small generated archives of the real layouts.

    python tools/nevis_smoke.py DIR [--jobs 2] [--run nevis/table --only "* smoke/full"]

Writes an archive of about 80 images for each of the 97 data sets (DIR/archives), builds them with
the builders that read the published archives (DIR/data), and runs the cells of a table, or a run
(DIR/run). What is there already is kept, so that a command that was stopped goes on. The images are
noise: errors mean nothing, but every archive layout, builder, task and learner is used. Archives of
different data sets hold the same noise, so images shared by tasks are kept
(streams.nevis.shared_images).
"""

from __future__ import annotations

import argparse
import concurrent.futures
import multiprocessing
import pathlib
import subprocess
import sys
import time

from absl import logging

from suite.configs import gin_files
from suite.tables import table

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


def main(argv: list[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
  parser.add_argument("folder", metavar="DIR", type=pathlib.Path)
  parser.add_argument("--run", default="nevis/table", help="a table or a run (nevis/table)")
  parser.add_argument("--only", default="* smoke/full", help="cells of a table (* smoke/full)")
  parser.add_argument("--variant", default="full", help="the stream whose data is built (full)")
  parser.add_argument("--jobs", type=int, default=2, help="processes (2)")
  parser.add_argument("--gin_param", action="append", default=[], metavar="X=Y")
  args = parser.parse_args(argv)
  logging.set_verbosity(logging.INFO)
  began = time.monotonic()
  build_all(data_sets(args.variant), args.folder, args.jobs)
  command = [sys.executable, "-m", "suite", "run", args.run, "--data_dir",
             str(args.folder / "data"), "--workdir", str(args.folder / "run")]
  if table.is_table(gin_files.find(args.run)[1]):
    command += ["--jobs", str(args.jobs), "--only", args.only]
  for param in ("streams.nevis.shared_images='keep'", *args.gin_param):
    command += ["--gin_param", param]
  code = subprocess.run(command, check=False).returncode
  logging.info("%s: exit code %d after %.0f s, data included", args.run, code,
               time.monotonic() - began)
  return code


if __name__ == "__main__":
  sys.exit(main())

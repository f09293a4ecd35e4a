# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Runs CLEAR-10's Table 1, or another run, on small generated archives of the real layouts.

    python tools/clear_smoke.py DIR [--run clear/table1] [--gin_param X=Y ...]

Writes archives with an image of each class and bucket (DIR/archives_*), builds clear10/images and
clear10/moco_b0 of them with the builders that read the published archives (DIR/data), and runs the
run (DIR/run), by default all rows of Table 1 in both protocols, beside the paper's values. What is
there already is kept, so that a command that was stopped goes on. Numbers mean nothing (a class
of an iid split is either trained on or tested), but every archive layout, builder and row is used.
With two rows it took 5 minutes on 4 cores that 20 other processes used.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import subprocess
import sys

# Of a run on buckets of 11 images.
SMALL = ("EPOCHS=2", "RATE_FALLS_EVERY=1", "BATCH_SIZE=4")
TABLE = ("table.run.seeds=(0,)",
         "table.run.columns={'iid': {'MODE': 'iid', 'MEMORY': 8}, "
         "'streaming': {'MODE': 'streaming', 'MEMORY': 11}}")


def build(name: str, folder: pathlib.Path) -> None:
  """Writes the archives of a data set of CLEAR, such as "clear10/images", and builds it."""
  import tfds_builders
  from tfds_builders import catalog
  from tfds_builders import testing
  if tfds_builders.status.inspect(
      name, folder / "data").state == tfds_builders.status.PREPARED:
    return
  family, short = name.split("/")
  row = catalog.find(name)[1]
  layout = next((one for one in row.layouts if "tests" in one.args), row.layouts[0])
  archives = folder / f"archives_{short}"
  small, _ = testing.write(row, layout, archives, num_examples=row.num_classes)
  with testing.installed(small, archives, family=family):
    tfds_builders.build(name, folder / "data")


def command(run: str, folder: pathlib.Path, params: Sequence[str]) -> list[str]:
  """The command of the run."""
  found = [sys.executable, "-m", "suite", "run", run, "--workdir", str(folder / "run"),
           "--data_dir", str(folder / "data")]
  for param in (*SMALL, *(TABLE if "table" in run and "_linear" not in run else ()), *params):
    found += ["--gin_param", param]
  return found


def main() -> int:
  """Builds and runs; returns the run's exit code."""
  parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
  parser.add_argument("folder", type=pathlib.Path, metavar="DIR")
  parser.add_argument("--run", default="clear/table1", metavar="RUN")
  parser.add_argument("--gin_param", action="append", default=[], metavar="X=Y")
  args = parser.parse_args()
  for name in ("clear10/images", "clear10/moco_b0"):
    build(name, args.folder)
  return subprocess.run(command(args.run, args.folder, args.gin_param), check=False).returncode


if __name__ == "__main__":
  sys.exit(main())

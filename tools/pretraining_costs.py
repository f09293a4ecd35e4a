# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Makes the page of what a leaderboard on features cost with its encoder's pretraining.

    python tools/pretraining_costs.py runs/leaderboard/frozen --encoder encoders/lite0 \
        --column INCREMENTAL 5 features/lite0/cifar10 --output frozen_costs.md

Each --column names a column of the table, the tasks that its stream has, and the folders of
features that its runs read. Learning and answers are those of the records; encoding is counted from
the encoder's graph, times the images of the folders; the pretraining is what encoder.json says.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
import pathlib
import sys
from typing import NamedTuple

# Lets the tool run from a checkout without an installation.
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))

from suite.data.images import feature_set
from suite.reporting import leaderboard
from suite.reporting import quantities
from suite.reporting import table_dir


class Column(NamedTuple):
  """A column: its name, the tasks served, the images encoded for it."""

  name: str
  tasks: int
  images: int


def column(words: Sequence[str]) -> Column:
  """A column of the words NAME TASKS FOLDER ..."""
  manifests = [feature_set.read_manifest(pathlib.Path(folder)) for folder in words[2:]]
  return Column(words[0], int(words[1]), sum(
      split["num_examples"] for one in manifests for split in one["splits"].values()))


def rows(runs: dict[str, float | None], encoding: float, pretraining: float, tasks: int
         ) -> list[tuple[str, ...]]:
  """A row of each method: without, with encoding, with pretraining, and that by task served.

  Args:
    runs: FLOPs of learning and answers by method; None: unknown.
  """
  found = []
  for name, cost in runs.items():
    costs = [None] * 4 if cost is None else [
        cost, cost + encoding, cost + encoding + pretraining,
        (cost + encoding + pretraining) / tasks]
    found.append((name, *("-" if one is None else quantities.si(one, "FLOP") for one in costs)))
  return found


def main(arguments: Sequence[str] | None = None) -> int:
  parser = argparse.ArgumentParser(description=__doc__)
  parser.add_argument("table", type=pathlib.Path)
  parser.add_argument("--encoder", required=True)
  parser.add_argument("--column", action="append", nargs="+", required=True)
  parser.add_argument("--output", type=pathlib.Path)
  args = parser.parse_args(arguments)
  import tensorflow as tf

  from suite.commands import data_features
  from suite.compute import flops
  encoder = data_features.encoder(args.encoder)
  shape = [1, encoder.image_size, encoder.image_size, 3]
  graph = tf.function(lambda images: encoder.model(images, training=False)).get_concrete_function(
      tf.TensorSpec(shape, tf.float32))
  forward, pretraining = flops.count(graph).flops, encoder.about["cost"]["flops"]
  if forward is None:
    raise ValueError(f"The FLOPs of {encoder.about['name']} cannot be counted; give an encoder of "
                     "layers that the suite counts.")
  loaded = {one.name: one for one in leaderboard.load(table_dir.read(args.table))}
  lines = [
      "# What the leaderboard cost with its pretraining", "",
      "<!-- Made by `tools/pretraining_costs.py`; do not edit. -->", "",
      f"Encoder: {encoder.about['name']}, {encoder.about.get('license', 'license unknown')}, "
      f"{encoder.about.get('year', 'year unknown')}; {quantities.si(forward, 'FLOP')} an image; "
      f"pretraining {quantities.si(pretraining, 'FLOP')}, {encoder.about.get('cost_is', '')}.", ""]
  for words in args.column:
    name, tasks, images = column(words)
    costs = {row: cell.total("flops") for row, cell in loaded[name].cells.items()}
    lines += [f"**{name}: {images:,} images encoded for {quantities.si(images * forward, 'FLOP')},"
              f" {tasks} tasks served**", "",
              "| method | learning and answers | with encoding | with pretraining | by task |",
              "|---|---:|---:|---:|---:|",
              *(f"| {' | '.join(row)} |" for row in rows(costs, images * forward, pretraining,
                                                          tasks)), ""]
  text = "\n".join(lines)
  if args.output is None:
    print(text)
  else:
    args.output.write_text(text, encoding="utf-8")
  return 0


if __name__ == "__main__":
  sys.exit(main())

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Reads rows in a process that sees every folder and every archive in another order.

As a script: cases as JSON from stdin, {case: digest} to stdout. TensorFlow is not imported.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
import hashlib
import json
import os
import pathlib
import random
import sys
import tempfile
from typing import Any

from tfds_builders import catalog
from tfds_builders import spool
from tfds_builders.parsers import archives
from tfds_builders.parsers import coco_boxes
from tfds_builders.parsers import images
from tfds_builders.rows import row as row_lib


def lines(examples: Iterable[tuple[str, str, Sequence[int]]]) -> list[Any]:
  """The number of examples (split, key, labels), and the digest of them in any order."""
  found = sorted(f"{split} {key} {sorted(labels)}" for split, key, labels in examples)
  return [len(found), hashlib.sha256("\n".join(found).encode()).hexdigest()]


def _shuffle_folders_and_archives() -> None:
  """For the rest of the process."""
  rng, listdir = random.Random(7), os.listdir

  def shuffled(fn: Callable[..., Any]) -> Callable[..., Iterator[Any]]:
    def call(*args: Any, **kwargs: Any) -> Iterator[Any]:
      found = list(fn(*args, **kwargs))
      rng.shuffle(found)
      return iter(found)
    return call

  os.listdir = lambda *args: rng.sample(listdir(*args), len(listdir(*args)))
  pathlib.Path.iterdir = shuffled(pathlib.Path.iterdir)
  pathlib.Path.glob = shuffled(pathlib.Path.glob)
  archives.members = shuffled(archives.members)


def _read(case: Mapping[str, Any]) -> list[Any]:
  _, row = catalog.find(case["name"])
  layout = row.layouts[case["layout"]]
  paths = {file.name: pathlib.Path(case["folder"]) / file.name for file in layout.files}
  with tempfile.TemporaryDirectory() as folder:
    one = spool.Spool(row, folder)
    one.fill(layout.parser.parse(paths, **layout.args), {})
    return lines((split, record.key, record.label if row.kind == row_lib.MULTI_LABEL else
                  [record.label]) for split in one.split_names for record in one.read(split))


if __name__ == "__main__":
  _shuffle_folders_and_archives()
  # Neither what decodes nor what a box cuts out depends on the order; both need TensorFlow.
  images.unreadable = lambda *args: {}
  coco_boxes._crops = lambda data, boxes, where: (data + repr(box.sides).encode() for box in boxes)
  sys.stdout.write(json.dumps({f"{case['name']}-{case['layout']}": _read(case)
                               for case in json.load(sys.stdin)}))

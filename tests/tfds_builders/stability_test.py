# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keys, labels and splits depend only on the content of the files.

Every row is read in this process, and by this file as a script in one of another PYTHONHASHSEED,
which sees every folder and every archive in another order.
"""

from __future__ import annotations

import hashlib
import json
import os
import pathlib
import random
import subprocess
import sys
from typing import Any, Callable, Iterator

import pytest

from tfds_builders import catalog
from tfds_builders import spool
from tfds_builders import testing
from tfds_builders.parsers import archives


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


def _read(root: pathlib.Path) -> dict[str, list[Any]]:
  """The number of examples of each case, and the digest of their splits, keys and labels."""
  found = {}
  for folder in sorted(path.name for path in root.iterdir()):
    facts = json.loads((root / folder / "case.json").read_text())
    _, row = catalog.find(facts["name"])
    layout = row.layouts[facts["layout"]]
    paths = {name: root / folder / name for name in facts["files"]}
    one = spool.Spool(row, root)
    one.fill(layout.parser.parse(paths, **layout.args), {})
    lines = sorted(f"{split} {record.key} {record.label}" for split in one.split_names
                   for record in one.read(split))
    found[folder] = [len(lines), hashlib.sha256("\n".join(lines).encode()).hexdigest()]
  return found


_ROWS = [row for row in catalog.FAMILIES["nevis"] if row.layouts]


@pytest.fixture(scope="module", name="digests")
def _digests(tmp_path_factory):
  """{"plain": {case: digest}, "shuffled": {...}}."""
  root = tmp_path_factory.mktemp("cases")
  for row in _ROWS:
    for index, layout in enumerate(row.layouts):
      folder = root / f"{row.name}-{index}"
      small, _ = testing.write(row, layout, folder, num_examples=20)
      (folder / "case.json").write_text(json.dumps({
          "name": f"nevis/{row.name}", "layout": index,
          "files": [file.name for file in small.layouts[0].files]}))
  folder = pathlib.Path(__file__).parents[2]
  done = subprocess.run(
      [sys.executable, __file__, str(root)], check=True, stdout=subprocess.PIPE, text=True,
      cwd=folder, env={**os.environ, "PYTHONPATH": str(folder), "PYTHONHASHSEED": (
          "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2")})
  line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
  return {"plain": _read(root), "shuffled": json.loads(line[len("RESULT"):])}


def test_order_and_hash_seed_change_nothing(digests):
  cases = {f"{row.name}-{index}" for row in _ROWS for index in range(len(row.layouts))}
  assert cases == set(digests["plain"]) == set(digests["shuffled"])
  assert not [case for case in cases if digests["plain"][case] != digests["shuffled"][case]]
  assert not [case for case, (num_examples, _) in digests["plain"].items() if not num_examples]


if __name__ == "__main__":
  _shuffle_folders_and_archives()
  sys.stdout.write("RESULT" + json.dumps(_read(pathlib.Path(sys.argv[1]))) + "\n")

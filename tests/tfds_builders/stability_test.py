# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Keys, labels and splits depend only on the content of the files.

Every row is read in two processes of different PYTHONHASHSEED, one of which sees every folder and
every archive in another order.
"""

import json
import os
import pathlib
import subprocess
import sys

import pytest

from tfds_builders import catalog
from tfds_builders import testing

_READ = """
import hashlib, json, os, pathlib, random, sys
from tfds_builders import catalog, spool, testing
from tfds_builders.parsers import archives

root, shuffle = pathlib.Path(sys.argv[1]), sys.argv[2] == "shuffled"
rng = random.Random(7)

def shuffled(fn):
  def call(*args, **kwargs):
    found = list(fn(*args, **kwargs))
    rng.shuffle(found)
    return iter(found)
  return call

if shuffle:
  listdir = os.listdir
  os.listdir = lambda *args: rng.sample(listdir(*args), len(listdir(*args)))
  pathlib.Path.iterdir = shuffled(pathlib.Path.iterdir)
  pathlib.Path.glob = shuffled(pathlib.Path.glob)
  archives.members = shuffled(archives.members)

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
  found[folder] = [len(lines), hashlib.sha256("\\n".join(lines).encode()).hexdigest()]
print("RESULT" + json.dumps(found))
"""

_ROWS = [row for row in catalog.FAMILIES["nevis"] if row.layouts]


@pytest.fixture(scope="module", name="digests")
def _digests(tmp_path_factory):
  """{"plain": {case: digest}, "shuffled": {...}}."""
  root = tmp_path_factory.mktemp("cases")
  for row in _ROWS:
    for index, layout in enumerate(row.layouts):
      folder = root / f"{row.name}-{index}"
      small, _ = testing.write(row, layout, folder)
      (folder / "case.json").write_text(json.dumps({
          "name": f"nevis/{row.name}", "layout": index,
          "files": [file.name for file in small.layouts[0].files]}))
  found = {}
  for order, seed in (("plain", "1"), ("shuffled", "2")):
    done = subprocess.run(
        [sys.executable, "-c", _READ, str(root), order], check=True, stdout=subprocess.PIPE,
        text=True, env={**os.environ, "PYTHONHASHSEED": seed},
        cwd=pathlib.Path(__file__).parents[2])
    line = next(line for line in done.stdout.splitlines() if line.startswith("RESULT"))
    found[order] = json.loads(line[len("RESULT"):])
  return found


def test_order_and_hash_seed_change_nothing(digests):
  cases = {f"{row.name}-{index}" for row in _ROWS for index in range(len(row.layouts))}
  assert cases == set(digests["plain"]) == set(digests["shuffled"])
  assert not [case for case in cases if digests["plain"][case] != digests["shuffled"][case]]
  assert not [case for case, (num_examples, _) in digests["plain"].items() if not num_examples]

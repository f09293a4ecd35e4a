# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Names of data sets, and the facts that every row must have."""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

from suite.data.streams import nevis_table
import tfds_builders
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.rows import nevis
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.object import cifar10
from tfds_builders.rows.nevis.ocr import mnist

NEVIS = pathlib.Path(nevis.__file__).parent
NEVIS_FILES = [path for path in sorted(NEVIS.rglob("*.py"))
               if path.stem != "__init__" and path.parent.name != "shared"]


def test_names_are_sorted_and_found():
  assert tfds_builders.names() == sorted(tfds_builders.names())
  assert "nevis/olivetti_face" in tfds_builders.names()
  assert catalog.find("nevis/mnist") == ("nevis", mnist.ROW)


@pytest.mark.parametrize("name, message", [
    ("nevis/cifar01", r"Unknown data set 'nevis/cifar01'; the nearest: nevis/cifar10[,.]"),
    ("mnist", r"Unknown data set 'mnist'; the nearest: nevis/mnist[,.]"),
    ("nevis/", r"Unknown data set 'nevis/'\. tfds_builders\.names\(\) lists all"),
])
def test_unknown_names_say_the_nearest(name, message):
  with pytest.raises(errors.DataError, match=message):
    catalog.find(name)


def _incomplete(row: row_lib.Row) -> list[str]:
  """What is missing or malformed in a row."""
  splits.check(row.splits)
  facts = {
      "kind": row.kind in (row_lib.SINGLE_LABEL, row_lib.MULTI_LABEL),
      "channels": row.channels in (1, 3),
      "citation": row.citation.startswith("@"),
      "homepage": row.homepage.startswith("http"),
      "title": bool(row.title),
      "class_names": row.class_names is None or len(set(row.class_names)) == row.num_classes}
  for layout in row.layouts:
    facts["parser"] = callable(layout.parser.parse) and callable(layout.parser.write_fixture)
    facts["num_examples"] = set(layout.num_examples) <= set(row.splits)
    for file in layout.files:
      for checksum in file.checksums + file.content_checksums:
        algorithm, value = checksum.split(":")
        facts[checksum] = (len(value) == {"sha256": 64, "md5": 32}[algorithm]
                           and set(value) <= set("0123456789abcdefABCDEF"))
  return [f"{row.name}: {fact}" for fact, holds in facts.items() if not holds]


def test_every_row_is_complete():
  incomplete = sum(map(_incomplete, nevis.ROWS), [])
  assert not incomplete, "\n".join(incomplete)


def test_row_names_are_unique():
  assert len({row.name for row in nevis.ROWS}) == len(nevis.ROWS)


def test_cifar10_has_the_order_of_tfds():
  assert cifar10.ROW.class_names == tuple(sorted(cifar10.ROW.class_names))
  assert cifar10.ROW.class_names[:2] == ("airplane", "automobile")


def test_every_file_has_the_name_of_its_row_and_is_in_the_folder_of_its_domain():
  wrong, domains = [], {line.name: line.domain for line in nevis_table.full()}
  for path in NEVIS_FILES:
    folder = path.parent.name
    name = importlib.import_module(f"{nevis.__name__}.{folder}.{path.stem}").ROW.name
    stem = name if name.isidentifier() else "_" + re.sub(r"\W", "_", name)
    if (path.stem, folder) != (stem, domains[name]):
      wrong.append(f"{folder}/{path.name} holds {name}, of the domain {domains[name]}")
  assert not wrong, "\n".join(wrong)


def test_every_row_of_nevis_is_collected():
  assert len(nevis.ROWS) == len(NEVIS_FILES)
  assert [row.name for row in nevis.ROWS] == sorted(row.name for row in nevis.ROWS)

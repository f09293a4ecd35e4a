# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Names of data sets, and the facts that every row must have."""

from __future__ import annotations

import importlib
import pathlib
import re

import pytest

import tfds_builders
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import splits
from tfds_builders.rows import nevis
from tfds_builders.rows import row as row_lib
from tfds_builders.rows.nevis.c import cifar10
from tfds_builders.rows.nevis.m import mnist

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


@pytest.mark.parametrize("row", nevis.ROWS, ids=lambda row: row.name)
def test_row_is_complete(row):
  splits.check(row.splits)
  assert row.kind in (row_lib.SINGLE_LABEL, row_lib.MULTI_LABEL)
  assert row.channels in (1, 3)
  assert row.citation.startswith("@") and row.homepage.startswith("http") and row.title
  if row.class_names is not None:
    assert len(set(row.class_names)) == row.num_classes
  for layout in row.layouts:
    assert callable(layout.parser.parse) and callable(layout.parser.write_fixture)
    assert set(layout.num_examples) <= set(row.splits)
    for file in layout.files:
      for checksum in file.checksums + file.content_checksums:
        algorithm, value = checksum.split(":")
        assert len(value) == {"sha256": 64, "md5": 32}[algorithm], checksum
        assert int(value, 16) >= 0


def test_row_names_are_unique():
  assert len({row.name for row in nevis.ROWS}) == len(nevis.ROWS)


def test_cifar10_has_the_order_of_tfds():
  assert cifar10.ROW.class_names == tuple(sorted(cifar10.ROW.class_names))
  assert cifar10.ROW.class_names[:2] == ("airplane", "automobile")


@pytest.mark.parametrize("path", NEVIS_FILES, ids=lambda path: path.stem)
def test_a_file_has_the_name_of_its_row(path):
  letter = path.parent.name
  name = importlib.import_module(f"{nevis.__name__}.{letter}.{path.stem}").ROW.name
  assert path.stem == (name if name.isidentifier() else "_" + re.sub(r"\W", "_", name))
  assert letter == re.search("[a-z]", name.lower()).group()


def test_every_row_of_nevis_is_collected():
  assert len(nevis.ROWS) == len(NEVIS_FILES)
  assert [row.name for row in nevis.ROWS] == sorted(row.name for row in nevis.ROWS)

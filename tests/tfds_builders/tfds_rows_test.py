# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Rows that wrap TFDS's own data sets, on tiny copies that TFDS's own classes prepare."""

import dataclasses

import pytest
import tensorflow_datasets as tfds

from suite.data import nevis_table
import tfds_builders
from tfds_builders import catalog
from tfds_builders import testing
from tfds_builders.parsers import tfds_copy
from tfds_builders.rows import row as row_lib

_ROWS = [row for row in catalog.FAMILIES["nevis"] if row.tfds]


@pytest.fixture(scope="module", name="built", params=_ROWS, ids=lambda row: row.name)
def _built(request, tmp_path_factory):
  """(row, examples by source split, builder, records by split)."""
  row = request.param
  data_dir = tmp_path_factory.mktemp("data")
  counts = tfds_copy.write_fixture(data_dir, row.tfds, num_classes=row.num_classes,
                                   per_class=max(1, 80 // row.num_classes))
  small = dataclasses.replace(row, layouts=tuple(
      dataclasses.replace(layout, num_examples={}) for layout in row.layouts))
  with testing.installed(small):
    builder = tfds_builders.build(f"nevis/{row.name}", data_dir)
  decoders = {"image": tfds.decode.SkipDecoding()}
  return row, counts, builder, {
      split: list(tfds.as_numpy(builder.as_dataset(split=split, decoders=decoders)))
      for split in builder.info.splits}


def test_every_example_is_in_one_split(built):
  row, counts, builder, records = built
  assert set(records) == set(row.split_names) == {"train", "validation", "test"}
  assert all(records.values())
  ids = [record["id"] for part in records.values() for record in part]
  assert len(set(ids)) == len(ids)
  assert len(ids) + sum(builder.info.metadata["duplicates_removed"].values()) == sum(
      counts.values())
  assert builder.info.metadata["source_examples"] == counts
  assert builder.info.metadata["origin"] == "tfds"


def test_every_class_occurs_and_has_the_name_that_tfds_gives_it(built):
  row, _, builder, records = built
  everything = sum(records.values(), [])
  if row.kind == row_lib.MULTI_LABEL:
    assert {int(k) for r in everything for k in r["labels"].nonzero()[0]} == set(
        range(row.num_classes))
    return
  assert {int(r["label"]) for r in everything} == set(range(row.num_classes))
  original = tfds.builder(row.tfds.names[0], data_dir="/nowhere").info.features[row.tfds.label]
  if not row.class_names:
    assert builder.info.features["label"].names == original.names
  assert original.num_classes == row.num_classes


def test_images_are_stored_as_jpeg_or_png(built):
  for part in built[3].values():
    assert all(r["image"].startswith((b"\xff\xd8\xff", b"\x89PNG")) for r in part)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.name)
def test_the_stream_and_the_row_agree_and_the_doctor_knows_the_way(row, tmp_path):
  assert {line.kind for line in nevis_table.full() if line.name == row.name} == {row.kind}
  with testing.installed(row):
    found = tfds_builders.status.inspect(f"nevis/{row.name}", tmp_path)
  assert found.state == ("manual" if row.tfds.manual else "downloadable")
  assert not row.tfds.manual or "ILSVRC2012_img_train.tar" in found.reason

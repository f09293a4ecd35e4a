# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of every layout of every row and variant, on tiny archives of the real shape."""

from __future__ import annotations

import dataclasses
import json
from typing import Any, Mapping

import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import division
from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.rows import row as row_lib

_ROWS = [row for row in catalog.rows("nevis") if row.layouts]
# Class ids that the published data leave empty.
_WITHOUT_IMAGES: dict[str, Any] = {"landsat": (5,)}


def _signature(row: row_lib.Row):
  """What `tf.data` sees of a row."""
  return row.kind, row.channels, tuple(sorted(row.features))


# One row of each signature is read through `tf.data` too.
_READ_BY_TF_DATA = {_signature(row): row.name for row in reversed(_ROWS)}.values()


@dataclasses.dataclass
class Built:
  row: row_lib.Row
  layout: row_lib.Layout
  paths: Mapping[str, Any]
  counts: Mapping[str, int]
  data_dir: Any
  builder: Any
  records: dict[str, list[dict[str, Any]]]  # Encoded, by split.

  @property
  def name(self) -> str:
    return f"nevis/{self.row.name}"


def _build(row: row_lib.Row, layout: row_lib.Layout, folder, read_splits) -> Built:
  small, counts = testing.write(row, layout, folder / "mirror" / row.name)
  with testing.installed(small, folder / "mirror"):
    tfds_builders.build(f"nevis/{row.name}", folder / "data")
  builder = tfds.builder(f"nevis/{row.name}", data_dir=folder / "data")
  paths = {file.name: folder / "mirror" / row.name / file.name for file in layout.files}
  return Built(row, layout, paths, counts, folder / "data", builder, read_splits(builder))


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.name)
def test_a_row_keeps_the_contract(row, tmp_path, read_splits):
  """Every layout of the rows; of their variants the first layout, for they read the same files."""
  for number, layout in enumerate(row.layouts[:1 if row.base else None]):
    built = _build(row, layout, tmp_path / str(number), read_splits)
    _check_that_splits_share_no_example_and_lose_none(built)
    _check_that_labels_are_in_range_and_every_class_occurs(built)
    _check_that_images_are_jpeg_or_png_and_decode(built)
    _check_that_splits_are_those_of_the_division(built)
    _check_that_provenance_is_stored(built)
    _check_that_status_is_prepared_and_building_again_changes_nothing(built)
    if row.name in _READ_BY_TF_DATA:
      _check_that_tf_data_reads_the_same(built)


def _check_that_splits_share_no_example_and_lose_none(built: Built):
  assert set(built.records) == set(built.row.split_names)
  assert all(built.records.values())
  everything = [record["id"] for records in built.records.values() for record in records]
  assert len(set(everything)) == len(everything)
  removed = sum(built.builder.info.metadata["duplicates_removed"].values())
  assert len(everything) + removed == sum(built.counts.values())


def _check_that_labels_are_in_range_and_every_class_occurs(built: Built):
  labels = set()
  for record in sum(built.records.values(), []):
    assert set(record) == {"image", "label" if built.row.kind == row_lib.SINGLE_LABEL else "labels",
                           "id", *built.row.features}
    labels |= ({int(record["label"])} if built.row.kind == row_lib.SINGLE_LABEL else
               set(record["labels"].nonzero()[0].tolist()))
  assert labels <= set(range(built.row.num_classes))
  if not set(range(built.row.num_classes)) - labels <= set(_WITHOUT_IMAGES.get(built.row.name, ())):
    pytest.fail(f"classes without an example: {set(range(built.row.num_classes)) - labels}")


def _check_that_images_are_jpeg_or_png_and_decode(built: Built):
  for records in built.records.values():
    for record in records:
      assert record["image"].startswith((b"\xff\xd8\xff", b"\x89PNG"))
    image = tf.io.decode_image(records[0]["image"], channels=built.row.channels)
    assert 0 not in image.shape


def _check_that_splits_are_those_of_the_division(built: Built):
  assert set(built.builder.info.splits) == set(splits.NAMES)
  found = list(built.layout.parser.parse(built.paths, **built.layout.args))
  split_of = division.divide(built.row, [
      division.Member(one.split, one.key, one.group or one.key, tuple(
          one.label if isinstance(one.label, tuple) else [one.label])) for one in found])
  for split, records in built.records.items():
    assert {split_of[record["id"].decode()] for record in records} == {split}
  if not built.row.drawn_as_in_paper:
    groups = {(one.split, one.group, split_of[one.key]) for one in found if one.group}
    assert len({group[:2] for group in groups}) == len(groups)


def _check_that_provenance_is_stored(built: Built):
  metadata = json.loads((built.builder.data_path / "metadata.json").read_text())
  assert metadata["origin"] == "mirror" and metadata["kind"] == built.row.kind
  assert sorted(metadata["files"]) == sorted(file.name for file in built.layout.files)
  assert metadata["source_examples"] == dict(built.counts)
  assert metadata["unreadable"] == []
  assert str(built.builder.info.version) == built.row.version
  if built.row.kind == row_lib.SINGLE_LABEL:
    names = built.builder.info.features["label"].names
    assert len(names) == built.row.num_classes
    assert not built.row.class_names or tuple(names) == built.row.class_names


def _check_that_status_is_prepared_and_building_again_changes_nothing(built: Built):
  status = tfds_builders.status.inspect(built.name, built.data_dir)
  assert status.state == "prepared" and status.size_bytes > 1000 and status.command == ""
  tfds_builders.build(built.name, built.data_dir)  # No mirror is set: it must not look for one.


def _check_that_tf_data_reads_the_same(built: Built):
  decoders = {"image": tfds.decode.SkipDecoding()}
  for split, records in built.records.items():
    found = tfds.as_numpy(built.builder.as_dataset(split=split, decoders=decoders))
    assert sorted((one["id"], one["image"]) for one in found) == sorted(
        (one["id"], one["image"]) for one in records)
  image, label = next(iter(built.builder.as_dataset(split=split, as_supervised=True)))
  assert image.dtype == tf.uint8 and label.dtype in (tf.int64, tf.uint8)


def test_every_source_split_has_a_draw_of_known_parts():
  drawn = [row for row in catalog.FAMILIES["nevis"] if row.paper]
  assert not [row.name for row in drawn if set(row.paper) != set(row.splits) or not all(
      set(draw.parts) <= set(paper_draws.NAMES) for draw in row.paper.values())]

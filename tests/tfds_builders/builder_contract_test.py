# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of every layout of every row and variant, on tiny archives of the real shape.

Every row reads its files by its own builder; the files of a layout are written and parsed once for
a row and its variants. What TFDS does with the records depends on few fields of a row: one row of
each combination is built whole.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
import dataclasses
import itertools
import json
import os
import pathlib
import subprocess
import sys
from typing import Any

import pytest
import reordered_rows
import tensorflow as tf
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import division
from tfds_builders import paper_draws
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.parsers import example
from tfds_builders.rows import row as row_lib

_ROWS = [row for row in catalog.rows("nevis") if row.layouts]
# Class ids that the published data leave empty.
_WITHOUT_IMAGES: dict[str, Any] = {"landsat": (5,)}
# Its patients have several images each; fewer of them do not fall into all splits.
_EXAMPLES = {"nih_chest_xray": 80}


def _signature(row: row_lib.Row):
  """What the code asks that makes TFDS's records and facts of what was read."""
  return (row.kind, row.channels, tuple(sorted(row.features)), row.class_names is None, row.unique,
          row.split_names)


# The row with the fewest classes of each signature is built whole.
_BUILT_WHOLE = set({_signature(row): row.name for row in sorted(
    _ROWS, key=lambda row: -row.num_classes)}.values())

# Of these one of each kind and number of channels is read by TFDS's own pipeline as well.
_READ_BY_TFDS = {(row.kind, row.channels): row.name for row in _ROWS
                 if row.name in _BUILT_WHOLE}.values()


def _reading(row: row_lib.Row, number: int):
  """Returns what selects the code that reads a layout; layouts with equal values share it."""
  layout = row.layouts[number]
  return layout.parser, tuple(sorted(layout.args)), len(layout.files), row.kind


# The row with the fewest classes of each way to read is read by another process, too.
_REORDERED = {_reading(row, number): (row.name, number) for row in sorted(
    _ROWS, key=lambda row: -row.num_classes) if not row.base
              for number in range(len(row.layouts))}.values()


class _Once:
  """A parser that reads files once and keeps what it found."""

  def __init__(self, parser: Any):
    self._parser = parser
    self._found: dict[tuple[str, ...], list[example.Example]] = {}

  def parse(self, paths: Mapping[str, Any], **args: Any) -> Iterator[example.Example]:
    names = tuple(paths)
    if names not in self._found:
      self._found[names] = list(self._parser.parse(paths, **args))
    return iter(self._found[names])

  def found(self) -> list[example.Example]:
    return list(itertools.chain.from_iterable(self._found.values()))


@dataclasses.dataclass
class Read:
  """What a row reads of a layout; `records` are encoded by its features, by split."""

  row: row_lib.Row  # With this layout only, and a parser that keeps what it found.
  layout: row_lib.Layout
  folder: pathlib.Path
  counts: Mapping[str, int]
  builder: Any
  records: dict[str, list[dict[str, Any]]]

  def labels(self, record: Mapping[str, Any]) -> list[int]:
    return ([int(record["label"])] if self.row.kind == row_lib.SINGLE_LABEL else
            record["labels"].nonzero()[0].tolist())


@pytest.fixture(scope="module", name="files")
def _files(tmp_path_factory):
  """A function: a row and the number of its layout to the row of testing.write and its counts."""
  root, written = tmp_path_factory.mktemp("files"), {}

  def files(row: row_lib.Row, number: int):
    base = row.base or row
    same = row.layouts[number].args == base.layouts[number].args and (
        row.num_classes, row.class_names) == (base.num_classes, base.class_names)
    folder = root / f"{(base if same else row).name}-{number}"
    if folder not in written:
      small, counts = testing.write(row, row.layouts[number], folder, _EXAMPLES.get(base.name, 45))
      layout = dataclasses.replace(small.layouts[0], parser=_Once(small.layouts[0].parser))
      written[folder] = layout, counts
    layout, counts = written[folder]
    return folder, dataclasses.replace(row, layouts=(layout,), tfds=None), counts

  return files


@pytest.fixture(scope="module", name="reordered")
def _reordered(request, files):
  """What a process of another PYTHONHASHSEED reads, which sees folders and archives reordered."""
  rows = [item.callspec.params["row"] for item in request.session.items
          if item.path == request.path and hasattr(item, "callspec")]
  cases = [{"folder": str(files(row, number)[0]), "name": f"nevis/{row.name}", "layout": number}
           for row in rows for number in range(len(row.layouts))
           if (row.name, number) in _REORDERED]
  seed = "1" if os.environ.get("PYTHONHASHSEED") == "2" else "2"
  done = subprocess.run(
      [sys.executable, reordered_rows.__file__], input=json.dumps(cases), check=True, text=True,
      stdout=subprocess.PIPE, env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(
          pathlib.Path(tfds_builders.__file__).parents[1])})
  return json.loads(done.stdout)


@pytest.mark.parametrize("row", _ROWS, ids=lambda row: row.name)
def test_a_row_keeps_the_contract(row, files, reordered, tmp_path, read_splits):
  """Every layout of the rows; of their variants the first layout, for they read the same files."""
  for number, layout in enumerate(row.layouts[:1 if row.base else None]):
    read = _read(layout, *files(row, number), tmp_path / str(number))
    _check_that_splits_share_no_example_and_lose_none(read)
    _check_that_labels_are_in_range_and_every_class_occurs(read)
    _check_that_images_are_jpeg_or_png_and_decode(read)
    _check_that_splits_are_those_of_the_division(read)
    _check_that_facts_are_stored(read)
    if (row.name, number) in _REORDERED:
      lines = reordered_rows.lines((split, record["id"].decode(), read.labels(record))
                                   for split, records in read.records.items()
                                   for record in records)
      assert reordered[f"nevis/{row.name}-{number}"] == lines
    if row.name in _BUILT_WHOLE and not number:
      _check_that_tfds_writes_what_was_read(read, tmp_path / "whole", read_splits)


def _read(layout, folder, row: row_lib.Row, counts, data_dir) -> Read:
  """Does what `download_and_prepare` of the row's builder does before TFDS writes its records."""
  with testing.installed(row, folder):
    builder = tfds.builder(f"nevis/{row.name}", data_dir=data_dir)
    pathlib.Path(builder.data_dir).mkdir(parents=True)
    builder._on_beam = False
    generators = builder._split_generators(None)  # It needs no download manager.
  encode = builder.info.features.encode_example
  records = {split: [{**encode(record), "id": record["id"].encode()} for _, record in generator]
             for split, generator in generators.items()}
  return Read(row, layout, folder, counts, builder, records)


def _check_that_splits_share_no_example_and_lose_none(read: Read):
  assert set(read.records) == set(read.row.split_names) == set(splits.NAMES)
  assert all(read.records.values())
  everything = [record["id"] for records in read.records.values() for record in records]
  assert len(set(everything)) == len(everything)
  removed = sum(read.builder.info.metadata["duplicates_removed"].values())
  assert len(everything) + removed == sum(read.counts.values())


def _check_that_labels_are_in_range_and_every_class_occurs(read: Read):
  labels = set()
  for record in sum(read.records.values(), []):
    assert set(record) == {"image", "label" if read.row.kind == row_lib.SINGLE_LABEL else "labels",
                           "id", *read.row.features}
    labels.update(read.labels(record))
  assert labels <= set(range(read.row.num_classes))
  if not set(range(read.row.num_classes)) - labels <= set(_WITHOUT_IMAGES.get(read.row.name, ())):
    pytest.fail(f"classes without an example: {set(range(read.row.num_classes)) - labels}")


def _check_that_images_are_jpeg_or_png_and_decode(read: Read):
  for records in read.records.values():
    for record in records:
      assert record["image"].startswith((b"\xff\xd8\xff", b"\x89PNG"))
    image = tf.io.decode_image(records[0]["image"], channels=read.row.channels)
    assert 0 not in image.shape


def _check_that_splits_are_those_of_the_division(read: Read):
  found = read.row.layouts[0].parser.found()
  split_of = division.divide(read.row, [
      division.Member(one.split, one.key, one.group or one.key, tuple(
          one.label if isinstance(one.label, tuple) else [one.label])) for one in found])
  for split, records in read.records.items():
    assert {split_of[record["id"].decode()] for record in records} == {split}
  if not read.row.drawn_as_in_paper:
    groups = {(one.split, one.group, split_of[one.key]) for one in found if one.group}
    assert len({group[:2] for group in groups}) == len(groups)
  if read.layout.separate_files:  # Read file by file here.
    paths = {file.name: read.folder / file.name for file in read.layout.files}
    assert [one.key for one in read.layout.parser.parse(paths, **read.layout.args)] == [
        one.key for one in found]


def _check_that_facts_are_stored(read: Read):
  info = read.builder.info
  assert info.metadata["origin"] == "mirror" and info.metadata["kind"] == read.row.kind
  assert sorted(info.metadata["files"]) == sorted(file.name for file in read.layout.files)
  assert info.metadata["source_examples"] == dict(read.counts)
  assert info.metadata["unreadable"] == []
  assert str(info.version) == read.row.version
  if read.row.kind == row_lib.SINGLE_LABEL:
    names = info.features["label"].names
    assert len(names) == read.row.num_classes
    assert not read.row.class_names or tuple(names) == read.row.class_names
    assert read.row.class_names or names == list(info.metadata["class_names"] or names)


def _check_that_tfds_writes_what_was_read(read: Read, data_dir, read_splits):
  name = f"nevis/{read.row.name}"
  with testing.installed(read.row, read.folder):
    tfds_builders.build(name, data_dir)
    builder = tfds.builder(name, data_dir=data_dir)
  metadata = json.loads((builder.data_path / "metadata.json").read_text())
  assert metadata == json.loads(json.dumps(read.builder.info.metadata))
  assert str(builder.info.version) == read.row.version
  if read.row.kind == row_lib.SINGLE_LABEL:
    assert builder.info.features["label"].names == read.builder.info.features["label"].names
  records = read_splits(builder)
  assert set(records) == set(read.records)
  for split, found in records.items():
    assert sorted((one["id"], one["image"], read.labels(one)) for one in found) == sorted(
        (one["id"], one["image"], read.labels(one)) for one in read.records[split])
  status = tfds_builders.status.inspect(name, data_dir)
  assert status.state == "prepared" and status.size_bytes > 1000 and status.command == ""
  tfds_builders.build(name, data_dir)  # No mirror is set: it must not look for one.
  if read.row.name not in _READ_BY_TFDS:
    return
  decoders = {"image": tfds.decode.SkipDecoding()}
  by_tf_data = tfds.as_numpy(builder.as_dataset(split="train", decoders=decoders))
  assert sorted((one["id"], one["image"]) for one in by_tf_data) == sorted(
      (one["id"], one["image"]) for one in records["train"])
  image, label = next(iter(builder.as_dataset(split="test", as_supervised=True)))
  assert image.dtype == tf.uint8 and label.dtype in (tf.int64, tf.uint8)


def test_every_source_split_has_a_draw_of_known_parts():
  drawn = [row for row in catalog.FAMILIES["nevis"] if row.paper]
  assert not [row.name for row in drawn if set(row.paper) != set(row.splits) or not all(
      set(draw.parts) <= set(paper_draws.NAMES) for draw in row.paper.values())]

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The contract of every layout of every row, on tiny archives of the real shape."""

import json

import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import splits
from tfds_builders import testing
from tfds_builders.rows import nevis

_CASES = [(row, layout) for row in nevis.ROWS for layout in row.layouts]


@pytest.fixture(scope="module", name="built", params=_CASES,
                ids=[f"{row.name}-{layout.files[0].name}" for row, layout in _CASES])
def _built(request, tmp_path_factory):
  """(row, layout, examples by source split, data_dir), built from a fixture."""
  row, layout = request.param
  data_dir = tmp_path_factory.mktemp("data")
  mirror_dir = tmp_path_factory.mktemp("mirror")
  small, counts = testing.write(row, layout, mirror_dir / row.name)
  with testing.installed(small, mirror_dir):
    tfds_builders.build(f"nevis/{row.name}", data_dir)
  return row, layout, counts, data_dir


def _load(built, split):
  row, _, _, data_dir = built
  return list(tfds.as_numpy(tfds.load(f"nevis/{row.name}", split=split, data_dir=data_dir,
                                      download=False)))


def test_three_splits_that_share_no_example_and_lose_none(built):
  _, _, counts, _ = built
  ids = {split: [record["id"] for record in _load(built, split)] for split in splits.NAMES}
  assert all(ids.values())
  everything = sum(ids.values(), [])
  assert len(set(everything)) == len(everything) == sum(counts.values())
  if "test" in counts:  # The source's own test split is kept whole.
    assert len(ids["test"]) == counts["test"]


def test_records_decode_and_labels_are_in_range(built):
  row, _, _, _ = built
  labels = set()
  for split in splits.NAMES:
    for record in _load(built, split):
      assert set(record) == {"image", "label", "id"}
      assert record["image"].ndim == 3 and record["image"].shape[-1] == row.channels
      assert record["image"].dtype == "uint8" and 0 not in record["image"].shape
      labels.add(int(record["label"]))
  assert labels == set(range(row.num_classes))


def test_split_of_each_id_is_that_of_its_hash(built):
  row, _, counts, _ = built
  if set(counts) == {splits.POOL}:
    for split in splits.NAMES:
      for record in _load(built, split):
        assert splits.draw(row.name, record["id"].decode(), row.splits[splits.POOL]) == split


def test_class_names_and_provenance_are_stored(built):
  row, layout, counts, data_dir = built
  builder = tfds.builder(f"nevis/{row.name}", data_dir=data_dir)
  names = builder.info.features["label"].names
  assert len(names) == row.num_classes
  if row.class_names:
    assert tuple(names) == row.class_names
  else:
    assert names == sorted(names) and not names[0].isdigit()
  metadata = json.loads((builder.data_path / "metadata.json").read_text())
  assert metadata["origin"] == "mirror" and metadata["kind"] == row.kind
  assert sorted(metadata["files"]) == sorted(file.name for file in layout.files)
  assert metadata["source_examples"] == dict(counts)
  assert str(builder.info.version) == row.version


def test_image_bytes_are_jpeg_or_png(built):
  row, _, _, data_dir = built
  dataset = tfds.load(f"nevis/{row.name}", split="test", data_dir=data_dir, download=False,
                      decoders={"image": tfds.decode.SkipDecoding()})
  for record in dataset.take(5):
    assert record["image"].numpy().startswith((b"\xff\xd8\xff", b"\x89PNG"))


def test_status_is_prepared_and_building_again_changes_nothing(built):
  row, _, _, data_dir = built
  status = tfds_builders.status.inspect(f"nevis/{row.name}", data_dir)
  assert status.state == "prepared" and status.size_bytes > 1000 and status.command == ""
  tfds_builders.build(f"nevis/{row.name}", data_dir)  # No mirror is set: it must not look for one.


def test_supervised_pairs_work_in_tf_data(built):
  row, _, _, data_dir = built
  image, label = next(iter(tfds.load(f"nevis/{row.name}", split="train", data_dir=data_dir,
                                     as_supervised=True, download=False)))
  assert image.dtype == tf.uint8 and label.dtype == tf.int64

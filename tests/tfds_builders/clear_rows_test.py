# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CLEAR-10 and CLEAR-100: every layout, built from a tiny archive of its edition."""

import dataclasses
import functools
import json
import zipfile

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import clear_splits
from tfds_builders import errors
from tfds_builders import testing
from tfds_builders.parsers import clear_features
from tfds_builders.parsers import clear_images
from tfds_builders.parsers import clear_listing
from tfds_builders.parsers import fixtures

# The layouts of both are the same but for their names.
_CASES = [(family, row, layout) for family in ("clear10", "clear100")
          for row in catalog.rows(family)
          for layout in row.layouts[:None if family == "clear10" else 1]]
_TRAIN = [f"bucket_{number:02d}" for number in range(1, 11)]


@pytest.fixture(name="built")
def _built(read_splits, tmp_path):
  """A function: a layout of a row to its builder, its counts and its examples by split."""
  return functools.partial(_build, read_splits, tmp_path)


def _build(read_splits, tmp_path, family, row, layout):
  row = dataclasses.replace(row, num_classes=3)
  small, counts = testing.write(row, layout, tmp_path / "mirror")
  with testing.installed(small, tmp_path / "mirror", family=family):
    tfds_builders.build(f"{family}/{row.name}", tmp_path / "data")
    builder = tfds.builder(f"{family}/{row.name}", data_dir=tmp_path / "data")
    return builder, counts, read_splits(builder)


@pytest.mark.parametrize("family, row, layout", _CASES, ids=[
    f"{family}-{row.name}-{layout.files[-1].name}" for family, row, layout in _CASES])
def test_every_layout_builds(family, row, layout, built):
  builder, counts, records = built(family, row, layout)
  assert {split: len(found) for split, found in records.items()} == counts
  assert set(_TRAIN) <= set(records)
  assert ("test_bucket_01" in records) == ("tests" in layout.args)
  ids = [record["id"] for found in records.values() for record in found]
  assert len(set(ids)) == len(ids)
  for split in _TRAIN:
    assert sorted(int(record["label"]) for record in records[split]) == [0, 1, 2]
    assert sorted(int(record["place"]) for record in records[split]) == [0, 1, 2]
  names = builder.info.features["label"].names
  assert names == sorted(names)
  first = records["bucket_02"][0]
  if row.holds_images:
    assert tf.io.decode_image(first["image"]).shape == (4, 4, 3)
  elif row.feature_size > 0:
    assert first["feature"].shape == (2048,) and first["feature"].dtype == np.float32
    assert int(first["feature"][0]) == 2048 * int(first["label"])
  else:
    assert int(first["uploaded"]) == 1_200_000_002
    assert first["title"].decode("utf-8").endswith(", é")
    assert "image" not in first


def test_unlabeled_images_of_bucket_0_have_no_label(built):
  row = catalog.find("clear10/images")[1]
  _, _, records = built("clear10", row, row.layouts[0])
  assert [int(record["label"]) for record in records["bucket_00"]] == [-1] * 3
  assert not any(record["iid_test_0"] for record in records["bucket_00"])


def test_the_released_iid_splits_are_reproduced():
  firsts = [clear_splits.shuffled(3300, seed)[:3] for seed in clear_splits.SEEDS]
  assert firsts == [[2818, 1404, 2264], [1469, 979, 2752], [513, 901, 2346], [473, 3198, 101],
                    [730, 39, 497]]
  train, test = clear_splits.iid(3300, 0)
  assert (len(train), len(test)) == (2310, 990) and not set(train) & set(test)
  assert train[:3] == [2818, 1404, 2264]
  features = clear_splits.features(3300)
  assert [one["place"] for one in features] == list(range(3300))
  assert {one["place"] for one in features if one["iid_test_4"]} == set(
      clear_splits.iid(3300, 4)[1])


def _archive(path, members):
  fixtures.write_archive(path, {f"train/{name}": data for name, data in members.items()})
  return path


def _image(bucket, label, item):
  return {f"labeled_images/{bucket}/{label}/{item}.jpg": fixtures.jpeg((4, 4, 3), seed=item)}


def _metadata(bucket, label, items):
  return {f"labeled_metadata/{bucket}/{label}.json": json.dumps(
      {str(item): {} for item in items}).encode()}


def test_places_follow_the_metadata_and_buckets_the_folder_names(tmp_path):
  path = _archive(tmp_path / "a.zip", {
      "class_names.txt": b"BACKGROUND\nbus\n",
      **_metadata(10, "bus", [5, 3]), **_metadata(10, "BACKGROUND", [9]),
      **_metadata(2, "bus", [4]),
      **_image(10, "bus", 3), **_image(10, "bus", 5), **_image(10, "BACKGROUND", 9),
      **_image(2, "bus", 4)})
  found = {one.key: one for one in clear_images.parse({"a.zip": path}, edition="present")}
  places = {key: one.extra["place"] for key, one in found.items()}
  assert places == {"10/BACKGROUND/9": 0, "10/bus/5": 1, "10/bus/3": 2, "02/bus/4": 0}
  assert found["02/bus/4"].split == "bucket_02" and found["10/bus/3"].split == "bucket_10"


def test_a_released_list_of_places_wins_over_our_draw(tmp_path):
  members = {**_image(1, "bus", 1), **_image(1, "bus", 2),
             "training_folder/filelists/1/all.txt":
                 b"labeled_images/1/bus/2.jpg 0\nlabeled_images/1/bus/1.jpg 0\n",
             "training_folder/testset_ratio_0.3/split_3/1/test_indices.json": b"[1]"}
  path = _archive(tmp_path / "a.zip", members)
  found = {one.key: one.extra for one in clear_images.parse({"a": path}, edition="first")}
  assert found["01/bus/2"]["place"] == 0 and found["01/bus/1"]["place"] == 1
  assert found["01/bus/1"]["iid_test_3"] and not found["01/bus/2"]["iid_test_3"]


@pytest.mark.parametrize("members, message", [
    ({**_metadata(1, "bus", [1, 2]), **_image(1, "bus", 1)}, "is missing 1 images of its tables"),
    ({**_metadata(1, "bus", [1]), **_image(1, "bus", 1), **_image(1, "bus", 2)}, "not in the arch"),
    ({**_metadata(11, "bus", [1]), **_image(11, "bus", 1)}, "CLEAR has 0 to 10"),
    ({"class_names.txt": b"car", **_metadata(1, "bus", [1]), **_image(1, "bus", 1)}, "'bus'"),
    ({"class_names.txt": b"car\nbus", **_metadata(1, "bus", [1])}, "not sorted"),
    ({"labeled_metadata/1/bus.json": b"{"}, "not JSON"),
    ({"labeled_metadata/1/bus.json": b"[1]"}, "facts by Flickr id"),
    ({"README": b""}, "holds no buckets"),
])
def test_damaged_archives_are_refused(members, message, tmp_path):
  path = _archive(tmp_path / "a.zip", members)
  with pytest.raises(errors.DataError, match=message):
    list(clear_images.parse({"a.zip": path}, edition="present"))


def test_an_archive_without_a_bucket_is_refused(tmp_path):
  row = dataclasses.replace(catalog.find("clear10/moco_b0")[1], num_classes=3)
  small, _ = testing.write(row, row.layouts[0], tmp_path)
  path = tmp_path / small.layouts[0].files[0].name
  with zipfile.ZipFile(path) as archive:
    members = {name: archive.read(name) for name in archive.namelist() if "/4/" not in name}
  fixtures.write_archive(path, members)
  small = dataclasses.replace(small, layouts=(dataclasses.replace(
      small.layouts[0], num_examples={}),))
  with testing.installed(small, tmp_path, family="clear10"), \
      pytest.raises(errors.DataError, match="has no examples in bucket_04"):
    tfds_builders.build("clear10/moco_b0", tmp_path / "data")


def test_features_of_other_images_or_of_another_width_are_refused(tmp_path):
  row = dataclasses.replace(catalog.find("clear10/moco_b0")[1], num_classes=3)
  small, _ = testing.write(row, row.layouts[1], tmp_path)
  path = tmp_path / small.layouts[0].files[0].name
  with pytest.raises(errors.DataError, match="has 0 vectors of byol for 30 images"):
    list(clear_features.parse({"a": path}, edition=clear_listing.FIRST, kind="byol"))
  wide = dataclasses.replace(small, feature_size=2049)
  with testing.installed(wide, tmp_path, family="clear10"), \
      pytest.raises(errors.DataError, match="has 2048 values; 2049 were expected"):
    tfds_builders.build("clear10/moco_b0", tmp_path / "data")

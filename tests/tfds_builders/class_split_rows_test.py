# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Omniglot and SlimageNet64 of continual few-shot learning, built from tiny archives."""

import collections
import dataclasses
import os
import pathlib
import zipfile

import numpy as np
import pytest
import tensorflow as tf
import tensorflow_datasets as tfds

import tfds_builders
from tfds_builders import catalog
from tfds_builders import errors
from tfds_builders import mirror
from tfds_builders import sources
from tfds_builders import testing
from tfds_builders.parsers import omniglot

_SMALL = {"train": 7, "validation": 1, "test": 2}
_DATA = pathlib.Path(os.environ.get("LIFELONG_DATA", "../shared/data"))


def _row(name, num_classes=None, **args):
  row = catalog.find(name)[1]
  args = {**row.layouts[0].args, **args}
  layout = dataclasses.replace(row.layouts[0], args=args)
  return dataclasses.replace(row, layouts=(layout,), num_classes=num_classes or row.num_classes)


def _built(name, row, tmp_path, read_splits, num_examples=80):
  family = name.split("/")[0]
  small, counts = testing.write(row, row.layouts[0], tmp_path / "mirror", num_examples)
  with testing.installed(small, tmp_path / "mirror", family=family):
    tfds_builders.build(name, tmp_path / "data")
    builder = tfds.builder(name, data_dir=tmp_path / "data")
    return builder, counts, read_splits(builder)


def test_every_character_of_omniglot_is_in_one_split(tmp_path, read_splits):
  builder, counts, records = _built("cfsl_omniglot/images", _row("cfsl_omniglot/images"), tmp_path,
                                    read_splits, num_examples=2 * 1623)
  assert counts == {"train": 2400, "validation": 422, "test": 424}
  labels = {split: {int(record["label"]) for record in found} for split, found in records.items()}
  assert [len(labels[split]) for split in ("train", "validation", "test")] == [1200, 211, 212]
  assert set.union(*labels.values()) == set(range(1623))
  names = builder.info.features["label"].names
  assert names == sorted(names)
  # The benchmark's own shuffle of the sorted characters.
  order = np.arange(1623)
  np.random.RandomState(100).shuffle(order)
  assert labels["train"] == set(order[:1200].tolist())
  for record in records["test"]:
    assert names[int(record["label"])] == record["id"].decode().rsplit("/", 1)[0]


@pytest.mark.parametrize("name", ["slimagenet64/images", "slimagenet64/from_imagenet64",
                                  "mini_imagenet/images"])
def test_slimagenet_has_whole_classes_in_each_split(name, tmp_path, read_splits):
  row = _row(name, 10, images_per_class=3, classes=_SMALL)
  builder, counts, records = _built(name, row, tmp_path, read_splits)
  assert counts == {split: 3 * count for split, count in _SMALL.items()}
  for split, classes in (("train", range(7)), ("validation", [7]), ("test", [8, 9])):
    found = collections.Counter(int(record["label"]) for record in records[split])
    assert found == dict.fromkeys(classes, 3)
  assert builder.info.as_proto.redistribution_info.license.startswith("ImageNet: non-")
  shapes = {tuple(tf.io.decode_image(record["image"]).shape)
            for found in records.values() for record in found}
  assert len(shapes) == 1


def test_a_cut_dataset_info_is_named_with_the_folder_to_delete(tmp_path, read_splits):
  row = _row("slimagenet64/images", 10, images_per_class=3, classes=_SMALL)
  builder, _, _ = _built("slimagenet64/images", row, tmp_path, read_splits)
  path = pathlib.Path(builder.data_dir) / "dataset_info.json"
  path.write_text(path.read_text()[:100])
  with pytest.raises(errors.DataError, match="dataset_info.json cannot be read.*Delete .*images"):
    tfds_builders.build("slimagenet64/images", tmp_path / "data")


def test_downsampled_images_have_their_channels_last(tmp_path):
  row = _row("slimagenet64/from_imagenet64", 2, images_per_class=1, side=2,
             classes={"train": 1, "validation": 0, "test": 1})
  layout = dataclasses.replace(row.layouts[0], files=row.layouts[0].files[:1])
  pixels = np.arange(24, dtype=np.uint8).reshape(2, 12)
  np.savez(tmp_path / layout.files[0].name, data=pixels, labels=np.array([2, 1]))
  found = list(layout.parser.parse({layout.files[0].name: tmp_path / layout.files[0].name},
                                   **layout.args))
  assert [(one.split, one.label, one.key) for one in found] == [
      ("test", 1, "n0002/n00020001"), ("train", 0, "n0001/n00010001")]
  # Stored are 4 reds, then 4 greens, then 4 blues.
  np.testing.assert_array_equal(tf.io.decode_png(found[0].image)[0, 1], [1, 5, 9])


@pytest.mark.parametrize("change, message", [
    (lambda a: a.pop("labels"), "no array 'labels'"),
    (lambda a: a.pop("data"), "no array 'data'"),
    (lambda a: a.update(labels=np.array([1, 3])), "1 to 2 were expected"),
    (lambda a: a.update(labels=np.array([1, 1])), "fewer than 1 images, such as label 2"),
    (lambda a: a.update(data=np.zeros((2, 11), np.uint8)), r"uint8 \(2, 12\) was expected"),
    (lambda a: a.update(data=np.zeros((2, 12), np.float32)), "'data' is float32"),
    (lambda a: a.update(data=np.array([{}, {}])), "'data' is object"),
])
def test_arrays_that_are_something_else_are_refused(change, message, tmp_path):
  row = _row("slimagenet64/from_imagenet64", 2, images_per_class=1, side=2,
             classes={"train": 1, "validation": 0, "test": 1})
  arrays = {"data": np.zeros((2, 12), np.uint8), "labels": np.array([1, 2])}
  change(arrays)
  np.savez(tmp_path / "a.npz", **arrays)
  with pytest.raises(errors.DataError, match=message):
    list(row.layouts[0].parser.parse({"a.npz": tmp_path / "a.npz"}, **row.layouts[0].args))


def test_a_class_in_two_splits_or_with_too_few_images_is_refused(tmp_path):
  row = _row("slimagenet64/images", 10, images_per_class=3, classes=_SMALL)
  small, _ = testing.write(row, row.layouts[0], tmp_path)
  path = tmp_path / small.layouts[0].files[0].name
  args = small.layouts[0].args
  with pytest.raises(errors.DataError, match="10 classes do not have 4 images, such as n0001"):
    list(small.layouts[0].parser.parse({"a": path}, **{**args, "images_per_class": 4}))
  with pytest.raises(errors.DataError, match="7.* classes by split, expected .*'train': 6"):
    list(small.layouts[0].parser.parse({"a": path}, **{**args, "classes": {**_SMALL, "train": 6}}))
  with zipfile.ZipFile(tmp_path / "b.zip", "w") as archive:
    for folder in ("train", "val"):
      archive.writestr(f"top/{folder}/n0001/a.png", b"\x89PNG")
  with pytest.raises(errors.DataError, match="n0001 is in train and in validation"):
    list(small.layouts[0].parser.parse({"b": tmp_path / "b.zip"}, **args))


def test_incomplete_omniglot_is_refused(tmp_path):
  omniglot.write_fixture(tmp_path, ["images_background.zip", "images_evaluation.zip"],
                         [str(i) for i in range(10)], per_class=1, num_classes=_SMALL, seed=1)
  paths = {name: tmp_path / name for name in ("images_background.zip", "images_evaluation.zip")}
  args = {"num_classes": _SMALL, "seed": 1}
  assert len(list(omniglot.parse(paths, **args))) == 10
  with pytest.raises(errors.DataError, match="hold 10 characters, expected 11"):
    list(omniglot.parse(paths, num_classes={**_SMALL, "test": 3}, seed=1))
  with pytest.raises(errors.DataError, match="both hold"):
    list(omniglot.parse({"a": paths["images_background.zip"],
                         "b": paths["images_background.zip"]}, **args))
  with zipfile.ZipFile(tmp_path / "strokes.zip", "w") as archive:
    archive.writestr("strokes_background/Greek/character01/0001_01.txt", b"1,2,3")
  with pytest.raises(errors.DataError, match="images \\(not of strokes\\)"):
    list(omniglot.parse({"a": tmp_path / "strokes.zip"}, **args))


def test_the_real_omniglot_has_its_sums_and_all_images_of_every_character(tmp_path):
  if not (_DATA / "omniglot").is_dir():
    pytest.skip(f"no real data: {_DATA} has no folder omniglot")
  before = mirror.state()
  mirror.use(_DATA)
  try:
    found = sources.locate("cfsl_omniglot/images", catalog.find("cfsl_omniglot/images")[1], None,
                           tmp_path)
  finally:
    mirror.restore(before)
  assert found.origin == "mirror"
  assert found.num_examples == {"train": 24000, "validation": 4220, "test": 4240}
  counts, images = {}, {}
  for one in found.examples:
    counts.setdefault(one.split, collections.Counter())[one.label] += 1
    images[one.split] = one.image
  assert {split: (len(labels), set(labels.values())) for split, labels in counts.items()} == {
      "train": (1200, {20}), "validation": (211, {20}), "test": (212, {20})}
  for image in map(tf.io.decode_png, images.values()):
    assert image.shape == (105, 105, 1) and set(np.unique(image)) == {0, 255}

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import dataclasses
import json

import numpy as np
import pytest

from suite.data.episodes import cfsl_data
from suite.data.images import feature_set
from suite.data.images import prepared_features
import tfds_builders
from tfds_builders import catalog
from tfds_builders import testing


def _build(name, row, folder, num_examples):
  small, _ = testing.write(row, row.layouts[0], folder / "mirror", num_examples)
  with testing.installed(small, folder / "mirror", family=name.split("/")[0]):
    tfds_builders.build(name, folder / "data")
  return str(folder / "data")


@pytest.fixture(scope="module")
def omniglot(tmp_path_factory):
  name = "cfsl_omniglot/images"
  return _build(name, catalog.find(name)[1], tmp_path_factory.mktemp("omniglot"), 2 * 1623)


def test_omniglot_is_small_and_gray(omniglot):
  data = cfsl_data.load("cfsl_omniglot/images", "test", data_dir=omniglot)
  assert data.images.shape == (424, 28, 28, 1) and data.images.dtype == np.uint8
  assert len(np.unique(data.labels)) == 212 and len(set(data.ids)) == 424
  assert data.data == "cfsl_omniglot/images:1.0.0" and data.split == "test"
  other = cfsl_data.load("cfsl_omniglot/images", "validation", data_dir=omniglot)
  assert not set(data.labels) & set(other.labels)


def test_an_encoder_is_pretrained_on_the_classes_of_training_episodes_alone(omniglot):
  found = cfsl_data.pretraining("cfsl_omniglot/images", data_dir=omniglot)
  train = cfsl_data.load("cfsl_omniglot/images", "train", data_dir=omniglot)
  assert found.num_classes == 1200 and found.size == len(train.labels)
  np.testing.assert_array_equal(np.unique(train.labels)[found.labels], train.labels)
  np.testing.assert_array_equal(found.pixels(), train.images)
  np.testing.assert_array_equal(found.ids, train.ids)


def test_episodes_of_a_task_type(omniglot):
  made = cfsl_data.episodes("cfsl_omniglot/images", "test", task_type="C", num_support_sets=2,
                            targets=1, data_dir=omniglot)
  assert made.episode(0).support_images.shape == (2, 5, 28, 28, 1) and made.num_labels == 5


@pytest.mark.parametrize("counts", [None, {"train": 1000, "test": 600}])
def test_features_are_found_by_split_and_id(omniglot, tmp_path, counts):
  splits = {}
  for split in cfsl_data.SPLITS:  # A feature is the label of its image.
    data = cfsl_data.load("cfsl_omniglot/images", split, data_dir=omniglot)
    shard = feature_set.shard_folder(tmp_path, split, 0)
    shard.mkdir(parents=True)
    feature_set.write_shard(shard, data.labels[::-1, None].astype(np.float32), data.ids[::-1])
    splits[split] = {"num_examples": len(data.ids)}
  (tmp_path / feature_set.MANIFEST).write_text(json.dumps({
      "data_set": "x", "feature_size": 1, "shard_size": 9999, "splits": splits}))
  folder = prepared_features.Folder(str(tmp_path))
  images, found = (
      cfsl_data.load("cfsl_omniglot/images", "test", data_dir=omniglot, features=one)
      if counts is None else cfsl_data.divided(
          "cfsl_omniglot/images", "test", counts=counts, data_dir=omniglot, features=one)
      for one in (None, folder))
  np.testing.assert_array_equal(found.labels, images.labels)
  np.testing.assert_array_equal(found.images[:, 0], images.labels)
  assert found.ids.tolist() == images.ids.tolist()


@pytest.mark.parametrize("size, side", [(105, 28), (64, 64), (10, 3), (7, 4)])
def test_nearest_is_pillows(size, side):
  image_lib = pytest.importorskip("PIL.Image")
  image = np.random.default_rng(0).integers(0, 256, [size, size]).astype(np.uint8)
  expected = np.asarray(image_lib.fromarray(image).resize((side, side), image_lib.NEAREST))
  made = cfsl_data.nearest(image[None, ..., None], side)
  np.testing.assert_array_equal(made[0, ..., 0], expected)


def test_slimagenet(tmp_path):
  name = "slimagenet64/images"
  row = catalog.find(name)[1]
  layout = dataclasses.replace(row.layouts[0], args={
      **row.layouts[0].args, "images_per_class": 3,
      "classes": {"train": 7, "validation": 1, "test": 2}})
  row = dataclasses.replace(row, layouts=(layout,), num_classes=10)
  small, _ = testing.write(row, layout, tmp_path / "mirror", 80)
  with testing.installed(small, tmp_path / "mirror", family="slimagenet64"):
    tfds_builders.build(name, tmp_path / "data")
    data = cfsl_data.load(name, "test", data_dir=str(tmp_path / "data"))
  assert data.images.shape == (6, 64, 64, 3) and sorted(set(data.labels)) == [8, 9]


def test_classes_are_divided_once():
  counts = {"train": 140, "validation": 20, "test": 40}
  parts = [cfsl_data.classes_of(split, counts, 200, seed=3) for split in counts]
  assert [len(part) for part in parts] == [140, 20, 40]
  assert sorted(np.concatenate(parts)) == list(range(200))
  assert parts[2].tolist() != cfsl_data.classes_of("test", counts, 200, seed=4).tolist()
  with pytest.raises(ValueError, match="has 199 classes.*at most 199"):
    cfsl_data.classes_of("test", counts, 199)


def test_any_labelled_data_set_can_be_divided(omniglot):
  # It has splits by class already; here they are pooled and divided anew.
  counts = {"train": 3, "test": 2}
  made = {split: cfsl_data.divided("cfsl_omniglot/images", split, counts=counts,
                                   side=9, channels=1, data_dir=omniglot) for split in counts}
  assert [len(made[split].labels) for split in counts] == [6, 4]
  assert not set(made["train"].labels) & set(made["test"].labels)
  assert made["test"].images.shape == (4, 9, 9, 1)
  assert {one.split("/")[0] for one in made["train"].ids} <= set(cfsl_data.SPLITS)


@pytest.mark.parametrize("arguments, message", [
    (("nevis/mnist", "train"), "'nevis/mnist' is not divided by class.*cfsl_data.divided"),
    (("cfsl_omniglot/images", "dev"), "Unknown split 'dev'; allowed are train, validation, test"),
])
def test_what_is_not_there_is_refused(arguments, message):
  with pytest.raises(ValueError, match=message):
    cfsl_data.load(*arguments)


def test_episodes_over_a_share_of_the_classes(omniglot):
  made = cfsl_data.episodes("cfsl_omniglot/images", "test", way=2, targets=1, side=9,
                            counts={"train": 3, "test": 2}, data_dir=omniglot)
  assert made.episode(0).support_images.shape == (1, 2, 9, 9, 3)
  assert "divided {'train': 3, 'test': 2} by seed 0" in made.describe()["data"]


@pytest.mark.parametrize("task_type, sets, convention", [
    ("FSL", 1, "spec"), ("A", 3, "spec"), ("B", 7, "spec"), ("D", 4, "spec"),
    ("B", 7, "paper_feb"), ("D", 4, "paper_apr")])
def test_black_images_of_any_shape_suffice_for_a_task(task_type, sets, convention):
  made = cfsl_data.episodes("blank", "test", task_type=task_type, num_support_sets=sets, side=6,
                            channels=1, convention=convention)
  assert made.episode(0).support_images.shape == (sets, 5, 6, 6, 1) and not made.fallback
  assert made.describe()["data"] == "blank 6 x 6 x 1"


def _split(side=3):
  """Two classes, 4 and 7, of two images each; no image is another one turned."""
  images = np.random.default_rng(0).integers(0, 256, [4, side, side, 1]).astype(np.uint8)
  labels, ids = np.array([4, 4, 7, 7]), np.array(list("abcd"))
  return cfsl_data.ClassSplit(images, labels, ids, "x:1", "train")


def test_a_class_and_its_three_turns_are_four_classes():
  plain, turned = _split(), cfsl_data.with_turns(_split())
  assert turned.images.shape == (16, 3, 3, 1) and len(set(turned.ids)) == 16
  # A turn has its own label, and a label the same turn of all images of one class.
  assert turned.labels.tolist() == [4, 4, 7, 7, 12, 12, 15, 15, 20, 20, 23, 23, 28, 28, 31, 31]
  np.testing.assert_array_equal(turned.images[:4], plain.images)
  for turn, label in enumerate((7, 15, 23, 31)):
    for image, found in zip(plain.images[2:], turned.images[turned.labels == label]):
      # A quarter turn against the clock takes the last column to the first row.
      expected = image[..., 0]
      for _ in range(turn):
        expected = np.array([expected[:, 2 - i] for i in range(3)])
      np.testing.assert_array_equal(found[..., 0], expected)
  assert turned.data == "x:1 in four turns" and turned.split == "train"
  with pytest.raises(ValueError, match="3x4 pixels cannot be turned"):
    cfsl_data.with_turns(plain._replace(images=np.zeros([4, 3, 4, 1], np.uint8)))


def test_turned_classes_are_drawn_in_episodes(omniglot):
  made = cfsl_data.episodes("cfsl_omniglot/images", "test", targets=1, turns=True, side=28,
                            counts={"train": 3, "test": 2}, channels=1, data_dir=omniglot)
  # Two characters have two images each; a task of five classes needs their turns.
  ids = np.array(made._ids)[made.indices(0, 40)]
  assert {one.rsplit(" ", 1)[1] for one in ids.ravel()} == {"0", "90", "180", "270"}
  for row in ids:  # A target is of the same character and turn as the support image of its label.
    support, target = ([one.rsplit(" ", 1)[1] for one in part] for part in (row[:5], row[5:]))
    assert support == target

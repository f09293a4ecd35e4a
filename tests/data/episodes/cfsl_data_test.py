# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from suite.data.episodes import cfsl_data
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


def test_episodes_of_a_task_type(omniglot):
  made = cfsl_data.episodes("cfsl_omniglot/images", "test", task_type="C", num_support_sets=2,
                            targets=1, data_dir=omniglot)
  assert made.episode(0).support_images.shape == (2, 5, 28, 28, 1) and made.num_labels == 5


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

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Tiny archives of CLEAR-10, built and read as buckets."""

import json
import types

import numpy as np
import pytest

from suite import experiment
from suite.configs import gin_parse
from suite.configs import run_files
from suite.configs import run_settings
from suite.data.images import feature_set
from suite.data.images import image_ops
from suite.data.streams import clear_buckets
from tfds_builders import building
from tfds_builders import catalog
from tfds_builders import clear_splits
from tfds_builders import testing

CLASSES = 11


def _build(name, folder):
  family, short = name.split("/")
  row = catalog.find(name)[1]
  layout = next((one for one in row.layouts if "tests" in one.args), row.layouts[0])
  small, _ = testing.write(row, layout, folder / f"mirror_{short}")
  with testing.installed(small, folder / f"mirror_{short}", family=family):
    building.build(name, folder / "data")


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  folder = tmp_path_factory.mktemp("clear")
  for name in ("clear10/images", "clear10/moco_b0"):
    _build(name, folder)
  return str(folder / "data")


@pytest.fixture(params=["clear10/images", "clear10/moco_b0"])
def name(request):
  return request.param


def test_iid_is_the_released_split_of_its_seed(name, data):
  test_ids = []
  for seed in (0, 4):
    buckets = clear_buckets.load(name, protocol="iid", seed=seed, data_dir=data)
    assert [b.name for b in buckets] == [f"bucket_{i:02d}" for i in range(1, 11)]
    assert (buckets.task.key, buckets.task.num_classes) == (name, CLASSES)
    for bucket in buckets:
      assert {i.split("/")[0] for i in [*bucket.train.ids, *bucket.test.ids]} == {bucket.name[-2:]}
      assert (bucket.train.size, bucket.test.size) == (8, 3)
      assert not set(bucket.train.ids) & set(bucket.test.ids)
      # One image a class, in the order of the classes: its label is its place.
      assert sorted(bucket.test.labels) == sorted(clear_splits.iid(CLASSES, seed)[1])
    test_ids.append([b.test.ids.tolist() for b in buckets])
  assert test_ids[0] != test_ids[1]


def test_streaming_trains_and_tests_on_all_of_a_bucket(name, data, monkeypatch):
  monkeypatch.setattr(clear_buckets, "_BATCH", 7)  # Read together, they begin and end in buckets.
  for bucket in clear_buckets.load(name, protocol="streaming", data_dir=data):
    assert bucket.train.size == bucket.test.size == CLASSES
    assert sorted(bucket.train.labels) == list(range(CLASSES))


def test_challenge_tests_on_the_archive_of_test_images(data):
  buckets = clear_buckets.load("clear10/images", protocol="challenge", data_dir=data)
  for bucket in buckets:
    assert bucket.train.size == bucket.test.size == CLASSES
    assert not set(bucket.train.ids) & set(bucket.test.ids)


def test_one_name_makes_a_challenge_run_of_a_run_file(data, tmp_path):
  gin_parse.parse([run_files.shipped()["clear/table1_resnet18"]], [
      "MODE='challenge'", "EPOCHS=1", "experiment.run.only=('finetune',)",
      "clear_transform.Clear.size=8", "resnet.resnet18.width=0.0625", "resnet.resnet18.blocks=(1,)",
      "clear_buckets.load.first=9",
      f"clear_buckets.load.data_dir={data!r}"])
  gin_parse.configured(experiment.run, {
      "settings": run_settings.RunSettings(workdir=str(tmp_path))})()
  summary = json.loads((tmp_path / "finetune" / "summary.json").read_text())
  matrix = np.array(summary["matrix"], float)
  assert summary["mode"] == "challenge" and summary["examples_predict"] == 2 * 2 * CLASSES
  assert matrix.shape == (2, 2) and not np.isnan(matrix).any()
  parts = ("in_domain", "next_domain", "backward_transfer", "forward_transfer")
  assert summary["challenge_score"] == pytest.approx(np.mean([summary[p] for p in parts]))


def test_images_and_features_are_what_the_archive_holds(data):
  image, = clear_buckets.load("clear10/images", data_dir=data)[3].test.take(
      1, seed=0).eval_batches(1, transform=image_ops.Plain(4))
  assert image["image"].shape == (1, 4, 4, 3)
  train = clear_buckets.load("clear10/moco_b0", data_dir=data)[3].train
  assert isinstance(train, feature_set.FeatureSet) and train.features.shape == (8, 2048)
  np.testing.assert_array_equal(train.features[:, 0], 2048 * train.labels)


def test_features_of_test_images_are_not_there(data):
  with pytest.raises(ValueError, match="has nothing of test_bucket_01, .*give test_name"):
    clear_buckets.load("clear10/moco_b0", protocol="challenge", data_dir=data)


@pytest.mark.parametrize("arguments, message", [
    ({"protocol": "offline"}, "Unknown protocol 'offline'; allowed are iid, streaming, challenge"),
    ({"seed": 5}, "seed=5; the released iid splits have the seeds 0, 1, 2, 3, 4"),
    ({"name": "clear10/images", "first": 0}, "bucket_00 holds images without a label.* first=1"),
    ({"first": 0}, "has nothing of bucket_00; .* Build it again: suite data build"),
])
def test_wrong_arguments_are_refused(arguments, message, data):
  with pytest.raises(ValueError, match=message):
    clear_buckets.load(**{"name": "clear10/moco_b0", "data_dir": data, **arguments})


def test_data_that_is_not_prepared_says_how_to_prepare_it(tmp_path):
  with pytest.raises(FileNotFoundError, match="suite data build clear10/images"):
    clear_buckets.load("clear10/images", data_dir=str(tmp_path))


def test_class_lists_that_differ_are_refused():
  lists = [types.SimpleNamespace(name=n, class_names=c) for n, c in (
      ("a", ["bus", "car"]), ("b", ["bus", "tram"]), ("c", ["car", "bus"]))]
  clear_buckets._check_classes(lists[0], lists[0])
  with pytest.raises(ValueError, match="of 'a' and 'b' differ: only one of them has car, tram"):
    clear_buckets._check_classes(lists[0], lists[1])
  with pytest.raises(ValueError, match="they stand in other orders"):
    clear_buckets._check_classes(lists[0], lists[2])


def test_a_part_without_images_is_refused(data):
  splits = clear_buckets._Splits("clear10/moco_b0", ["bucket_01"], data)
  records, = splits.read(["bucket_01"], "iid_test_0")
  with pytest.raises(ValueError, match="'clear10/moco_b0 bucket_01 test' is empty"):
    splits.make("bucket_01", "test", records, np.zeros([CLASSES], bool))

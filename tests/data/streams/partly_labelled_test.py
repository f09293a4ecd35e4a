# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
import dataclasses

import numpy as np
import pytest

from suite import cli
from suite.contracts import tasks
from suite.data.digits import digits
from suite.data.images import feature_set
from suite.data.images import image_set
from suite.data.images import image_store
from suite.data.streams import buckets
from suite.data.streams import partly_labelled
from suite.data.streams import timeline_buckets
from tests.shared import dated_images


def test_withheld_labels_leave_a_share_of_each_class_and_every_image():
  whole = digits.buckets(2)
  found = partly_labelled.withheld(whole, 0.2, seed=1)
  for before, after in zip(whole, found):
    assert after.train.size == round(0.2 * before.train.size)
    assert after.train.size + after.unlabelled.size == before.train.size
    assert set(after.train.labels) == set(range(10)) and after.test is before.test
    assert after.unlabelled.num_classes == 1 and not after.unlabelled.labels.any()
    # No image is lost or doubled, and ids of unlabelled ones are their places.
    pixels = np.concatenate([after.train.pixels(), after.unlabelled.pixels()])
    assert sorted(map(bytes, pixels)) == sorted(map(bytes, before.train.pixels()))
    assert after.unlabelled.ids.tolist() == [str(i) for i in range(after.unlabelled.size)]
  again = partly_labelled.withheld(whole, 0.2, seed=1)
  assert again[1].train.ids.tolist() == found[1].train.ids.tolist()
  other = partly_labelled.withheld(whole, 0.2, seed=2)
  assert other[1].train.ids.tolist() != found[1].train.ids.tolist()
  with pytest.raises(ValueError, match="labelled_share=1.0; it must be between 0 and 1"):
    partly_labelled.withheld(whole, 1.0)
  with pytest.raises(ValueError, match="bucket_01 of 'digits.*' has unlabelled images already"):
    partly_labelled.withheld(found, 0.2)


def test_features_stay_features():
  found = partly_labelled.withheld(digits.buckets(1, as_features=True), 0.3)[0]
  assert isinstance(found.unlabelled, feature_set.FeatureSet)
  joined = partly_labelled.with_guesses(
      found.train, found.unlabelled, np.array([4, 2]), np.array([7, 8]))
  np.testing.assert_array_equal(joined.features[-2:], found.unlabelled.features[[4, 2]])


def _images(name, pixels, **facts):
  return image_set.ImageSet.from_arrays(
      name, pixels, np.zeros(len(pixels), np.int64), kind=tasks.SINGLE_LABEL,
      **{"num_classes": 1, **facts})


def test_guessed_labels_follow_the_given_ones_in_one_set():
  rng = np.random.default_rng(0)
  train = _images("a", rng.integers(0, 256, [3, 4, 4, 3], np.uint8), num_classes=5)
  few = _images("b", rng.integers(0, 256, [4, 4, 4, 3], np.uint8))
  joined = partly_labelled.with_guesses(train, few, np.array([3, 0]), np.array([4, 1]))
  assert isinstance(joined.store, image_store.RawStore) and joined.num_classes == 5
  assert joined.labels.tolist() == [0, 0, 0, 4, 1]
  assert joined.ids.tolist() == ["0", "1", "2", "unlabelled/3", "unlabelled/0"]
  np.testing.assert_array_equal(joined.pixels()[3:], few.pixels()[[3, 0]])
  # Of another shape: encoded without loss.
  larger = _images("c", rng.integers(0, 256, [2, 6, 5, 3], np.uint8))
  mixed = partly_labelled.with_guesses(train, larger, np.array([1]), np.array([2]))
  assert isinstance(mixed.store, image_store.EncodedStore) and mixed.size == 4


@pytest.fixture(scope="module")
def data(tmp_path_factory):
  """Prepared: timeline/both, of whose images every third has no label, and timeline/none."""
  folder = tmp_path_factory.mktemp("partly")
  table, rows = dated_images.write(folder / "images")
  rows = [[path, time, "" if i % 3 == 0 else label] for i, (path, time, label) in enumerate(rows)]
  bare = [[path, time, ""] for path, time, _ in rows]
  for name, lines in (("both", rows), ("none", bare)):
    path = dated_images.write_table(table.with_name(f"{name}.csv"), lines)
    assert cli.main(["data", "timeline", str(path), "--by", "year", "--name", name, "--data_dir",
                     str(folder / "data")]) == 0
  return str(folder / "data")


def test_unlabelled_images_of_a_timeline_come_beside_the_labeled_ones(data):
  whole = timeline_buckets.load("timeline/both", data_dir=data)
  own = partly_labelled.beside(whole, data_dir=data)
  assert [b.train.size + b.test.size + b.unlabelled.size for b in own] == [30, 30, 42]
  assert all(b.unlabelled.num_classes == 1 and b.train is w.train for b, w in zip(own, whole))
  other = partly_labelled.beside(whole, "timeline/none", most=7, data_dir=data)
  assert [b.unlabelled.size for b in other] == [7, 7, 7]
  labeled = timeline_buckets.load("timeline/both", data_dir=data, protocol="streaming")
  bare = buckets.Buckets(labeled.task, (dataclasses.replace(labeled[0], name="bucket_09"),))
  with pytest.raises(ValueError, match="has no unlabelled images in unlabelled_bucket_09"):
    partly_labelled.beside(bare, data_dir=data)
  with pytest.raises(ValueError, match="timeline/no is not prepared in"):
    partly_labelled.beside(whole, "timeline/no", data_dir=data)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The embedded benchmarks: sizes, splits without overlap, and labels that are right."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data.digits import digits
from suite.data.images import image_ops

RAW = image_ops.Plain(8)


def _images(part, size=8):
  batch = next(iter(part.eval_batches(part.size, transform=image_ops.Plain(size))))
  return batch["image"].numpy()


def _sources(part):
  """Numbers of the digits that an image set is made of."""
  return {int(n) for i in part.ids for n in i.split(":")[-1].split("+")}


@pytest.fixture(scope="module")
def stream():
  return digits.nevis_stream()


def test_the_stream_has_8_chronological_tasks(stream):
  keys = [entry.key for entry in stream.entries]
  assert keys == ["digits_0_4", "digits_rotated", "digits", "digits_mosaic", "digits@2",
                  "digits_5_9", "digits_noisy", "digits_rotated@2"]
  assert [e.role for e in stream.entries] == ["meta_train"] * 5 + ["meta_test"] * 3
  assert [e.year for e in stream.entries] == list(range(2001, 2009))
  assert not stream.missing()


def test_no_image_is_trained_on_in_one_task_and_tested_on_in_another(stream):
  parts = {"train": set(), "dev": set(), "validation": set(), "test": set()}
  for entry in stream.entries:
    splits = entry.load()
    for name, numbers in parts.items():
      part = getattr(splits, name)
      assert part.num_classes == entry.task.num_classes and part.kind == entry.task.kind
      numbers |= _sources(part)
    assert 350 <= splits.train.size <= 1000
  assert sum(map(len, parts.values())) == len(set.union(*parts.values())) == 1797


def test_split_sizes_are_fixed(stream):
  splits = stream.entries[2].load()
  assert [part.size for part in (splits.train, splits.dev, splits.validation, splits.test)] == [
      784, 200, 275, 538]


def test_a_repeated_task_has_the_same_images_and_labels(stream):
  first, second = (stream.entries[i].load().train for i in (2, 4))
  np.testing.assert_array_equal(first.ids, second.ids)
  np.testing.assert_array_equal(first.labels, second.labels)
  np.testing.assert_array_equal(_images(first), _images(second))


def test_labels_of_parts_start_at_0(stream):
  _, labels = digits.load()
  for place, first in ((0, 0), (5, 5)):
    part = stream.entries[place].load().test
    np.testing.assert_array_equal(part.labels + first, labels[part.ids.astype(int)])


def test_changed_tasks_are_changes_of_the_plain_one(stream):
  plain, turned = (_images(stream.entries[i].load().test) for i in (2, 1))
  np.testing.assert_array_equal(np.rot90(plain, axes=(1, 2)), turned)
  noisy = _images(stream.entries[6].load().test).astype(float)
  assert np.corrcoef(noisy.ravel(), plain.ravel())[0, 1] < -0.8


def test_mosaics_show_the_digits_of_their_labels(stream):
  part = stream.entries[3].load().validation
  images, labels = digits.load()
  shown = _images(part, 16)
  for row in (0, 7):
    numbers = [int(n) for n in part.ids[row].split(":")[1].split("+")]
    assert set(np.flatnonzero(part.labels[row])) == set(labels[numbers])
    np.testing.assert_array_equal(shown[row, :8, 8:, 0], images[numbers[1], :, :, 0])
    np.testing.assert_array_equal(shown[row, 8:, :8, 0], images[numbers[2], :, :, 0])


def test_training_sets_can_be_made_smaller():
  small = digits.nevis_stream(max_train_images=40).entries
  assert [entry.load().train.size for entry in small] == [40] * 8
  assert small[0].load().test.size == 277


def test_buckets_drift_and_share_no_image():
  series = digits.buckets(4)
  assert [bucket.name for bucket in series] == ["bucket_01", "bucket_02", "bucket_03", "bucket_04"]
  numbers = [_sources(part) for bucket in series for part in (bucket.train, bucket.test)]
  assert sum(map(len, numbers)) == len(set.union(*numbers)) == 1797
  assert all(bucket.train.size > 200 and bucket.test.size > 90 for bucket in series)
  images, _ = digits.load()
  first = series[0].train
  np.testing.assert_array_equal(_images(first)[..., :1], images[first.ids.astype(int)])
  brightness = [_images(bucket.train).mean() for bucket in series]
  assert all(a > b for a, b in zip(brightness, brightness[1:]))
  with pytest.raises(ValueError, match="num_buckets=11"):
    digits.buckets(11)


def test_episode_sources_of_different_splits_share_no_image():
  made = digits.episodes("test", way=2, shot=1, targets=1).episode(0)
  assert made.support_images.shape == (1, 2, 8, 8, 3)
  with pytest.raises(ValueError, match="Unknown split 'dev' of the digits; allowed are train"):
    digits.episodes("dev")


def test_episodes_of_chosen_classes_show_no_other_digit():
  made = digits.episodes("test", classes=(6, 7, 8, 9), way=2, shot=1, targets=1,
                         num_support_sets=2)
  images, labels = digits.load()
  of_digit = {image.tobytes(): label for image, label in zip(images, labels)}
  shown = set()
  for i in range(10):
    episode = made.episode(i)
    for image in episode.support_images.reshape(-1, 8, 8, 3):
      shown.add(of_digit[image[..., :1].tobytes()])
  assert made.num_labels == 4 and shown == {6, 7, 8, 9}
  with pytest.raises(ValueError, match="has 4 classes, but 5-way episodes .* need 5 different"):
    digits.episodes("test", classes=(6, 7, 8, 9), way=5)


def test_episodes_of_any_task_type():
  made = digits.episodes(way=2, num_support_sets=4, class_change_interval=2, overwrite=True)
  said = made.describe()
  assert (made.num_labels, said["task_type"], said["data"]) == (2, "other", "embedded/digits")
  assert digits.episodes(way=2, convention="paper_apr").convention == "paper_apr"


def test_the_sequence_is_long_tailed_and_apart_from_its_base():
  made = digits.sequence()
  counts = made.class_counts()
  assert len(made) == 300 and counts.sum() == 300 and len(counts) == 10
  assert counts.max() >= 3 * counts.min()
  base = digits.sequence_base()
  assert set(base.labels) == {0, 1, 2, 3} and not set(base.ids) & set(made.ids)
  _, labels = digits.load()
  for t in range(20):
    made.deliver(t)
    assert made.reveal(t) == labels[int(made.ids[t])]


def test_digits_come_in_the_order_that_is_given():
  labels = np.concatenate([part.labels for part in digits.train_and_test()])
  found = digits.class_buckets(class_order=[4, 0, 7, 1, 9, 2, 3, 8, 5, 6])
  assert [bucket.train.size + bucket.test.size for bucket in found] == [
      int(np.isin(labels, own).sum()) for own in ((4, 0), (7, 1), (9, 2), (3, 8), (5, 6))]

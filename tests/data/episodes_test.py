# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Episodes: shapes, labels, no image twice, a pure function of (seed, index)."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data import episodes

# 7 classes of 12 to 18 images; pixel values are (class, number within the class).
COUNTS = np.arange(12, 19)
LABELS = np.repeat(np.arange(7), COUNTS)
IMAGES = np.zeros([len(LABELS), 2, 2, 3], np.uint8)
IMAGES[..., 0] = LABELS[:, None, None]
IMAGES[..., 1] = np.concatenate([np.arange(n) for n in COUNTS])[:, None, None]
MIX = np.random.default_rng(0).permutation(len(LABELS))


def _source(**values):
  arguments = dict(way=3, shot=2, targets=1, num_support_sets=2, seed=5)
  return episodes.Episodes(IMAGES[MIX], LABELS[MIX], **{**arguments, **values})


def test_shapes_and_types():
  made = _source().episode(0)
  assert made.support_images.shape == (2, 6, 2, 2, 3) and made.support_images.dtype == np.uint8
  assert made.support_labels.shape == (2, 6) and made.support_labels.dtype == np.int64
  assert made.target_images.shape == (6, 2, 2, 3) and made.target_labels.shape == (6,)


@pytest.mark.parametrize("sets, num_labels", [(1, 3), (2, 6), (4, 6)])
def test_a_label_is_one_class_and_no_image_comes_twice(sets, num_labels):
  source = _source(num_support_sets=sets)
  assert source.num_labels == num_labels
  for index in range(20):
    made = source.episode(index)
    images = np.concatenate([made.support_images.reshape(-1, 2, 2, 3), made.target_images])[:, 0, 0]
    labels = np.concatenate([made.support_labels.ravel(), made.target_labels])
    assert len(np.unique(images, axis=0)) == len(images)
    pairs = {(label, image[0]) for label, image in zip(labels, images)}
    assert len(pairs) == num_labels == len({c for _, c in pairs})
    assert (images[:, 1] < COUNTS[images[:, 0]]).all()


def test_sets_have_new_classes_while_they_last():
  made = _source(num_support_sets=3).episode(0)
  labels = [sorted(set(row)) for row in made.support_labels.tolist()]
  assert labels == [[0, 1, 2], [3, 4, 5], [0, 1, 2]]
  assert np.bincount(made.target_labels).tolist() == [2, 2, 2, 1, 1, 1]


def test_an_episode_depends_on_seed_and_index_only():
  first = _source().episode(3)
  for a, b in zip(first, _source().episode(3)):
    np.testing.assert_array_equal(a, b)
  for other in (_source().episode(4), _source(seed=6).episode(3)):
    assert (first.support_images != other.support_images).any()


def test_all_classes_and_images_are_drawn_evenly():
  made = next(iter(_source(num_support_sets=1).batches(700)))
  drawn = made.support_images.numpy()[:, 0, :, 0, 0].reshape(-1, 3)
  classes = np.bincount(drawn[:, 0])
  assert (abs(classes - 600) < 5 * (600 * 6 / 7) ** 0.5).all()
  counts = np.bincount(drawn[drawn[:, 0] == 0, 1], minlength=12)
  assert (abs(counts - 50) < 5 * 50 ** 0.5).all()


def test_batches_are_the_episodes_in_order_with_static_shapes():
  batches = _source().batches(2, first_index=5)
  assert batches.element_spec.support_images.shape == (2, 2, 6, 2, 2, 3)
  assert batches.element_spec.target_labels.shape == (2, 6)
  for number, batch in enumerate(batches.take(3)):
    for row in range(2):
      for a, b in zip(batch, _source().episode(5 + 2 * number + row)):
        np.testing.assert_array_equal(a[row], b)


@pytest.mark.parametrize("values, message", [
    (dict(way=8), "8-way episodes need 8 classes; these images have 7"),
    (dict(shot=10, targets=3), "Class 0 has 12 images, but an episode may need 13"),
    (dict(num_support_sets=3, shot=4, targets=3), "has 12 images, but an episode may need 14"),
])
def test_too_few_classes_or_images_are_refused(values, message):
  with pytest.raises(ValueError, match=message):
    _source(**values)
  with pytest.raises(ValueError, match="must be uint8"):
    episodes.Episodes(IMAGES.astype(float), LABELS, way=2, shot=1, targets=1)

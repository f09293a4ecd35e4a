# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Episodes: shapes, labels, no image twice, a pure function of (data, split, seed, index)."""

from __future__ import annotations

import hashlib
import json

import numpy as np
import pytest
import tensorflow as tf

from suite.data.episodes import episodes
from suite.data.episodes import task_types

# 7 classes of 12 to 18 images; pixel values are (class, number within the class).
COUNTS = np.arange(12, 19)
LABELS = np.repeat(np.arange(7), COUNTS)
IMAGES = np.zeros([len(LABELS), 2, 2, 3], np.uint8)
IMAGES[..., 0] = LABELS[:, None, None]
IMAGES[..., 1] = np.concatenate([np.arange(n) for n in COUNTS])[:, None, None]
MIX = np.random.default_rng(0).permutation(len(LABELS))


def _source(way=3, shot=2, targets=1, sets=2, interval=1, overwrite=False, seed=5, **values):
  setting = task_types.Setting(way, shot, targets, sets, interval, overwrite)
  return episodes.Episodes(IMAGES[MIX], LABELS[MIX], setting, seed=seed, **values)


def test_shapes_and_types():
  made = _source().episode(0)
  assert made.support_images.shape == (2, 6, 2, 2, 3) and made.support_images.dtype == np.uint8
  assert made.support_labels.shape == (2, 6) and made.support_labels.dtype == np.int64
  assert made.target_images.shape == (6, 2, 2, 3) and made.target_labels.shape == (6,)


def test_one_channel_stays_one_channel():
  made = episodes.Episodes(IMAGES[..., :1], LABELS, task_types.Setting(3, 1, 1)).episode(0)
  assert made.target_images.shape == (3, 2, 2, 1) and made.target_images.dtype == np.uint8


@pytest.mark.parametrize("values", [
    dict(sets=1), dict(sets=2), dict(sets=2, interval=2), dict(sets=2, overwrite=True),
    dict(sets=4, interval=4, overwrite=True), dict(sets=4, interval=2, way=2),
    dict(sets=5, interval=5, overwrite=True),  # 10 + 1 images: targets are shared.
])
def test_no_image_comes_twice_and_a_class_has_one_label(values):
  source = _source(**values)
  blocks = source.setting.num_blocks
  for index in range(20):
    made = source.episode(index)
    images = np.concatenate([made.support_images.reshape(-1, 2, 2, 3), made.target_images])[:, 0, 0]
    labels = np.concatenate([made.support_labels.ravel(), made.target_labels])
    assert len(np.unique(images, axis=0)) == len(images)
    pairs = {(label, image[0]) for label, image in zip(labels, images)}
    assert len(pairs) == len({c for _, c in pairs}) == source.setting.way * blocks
    assert {label for label, _ in pairs} == set(range(source.num_labels))
    assert (images[:, 1] < COUNTS[images[:, 0]]).all()
    assert {label for label, _ in pairs} == set(made.target_labels)
  assert bool(source.fallback) == (values["sets"] == 5)
  np.testing.assert_array_equal(source.labels, labels)


def test_a_block_keeps_its_classes_and_the_next_has_others():
  made = _source(way=2, shot=1, sets=4, interval=2).episode(7)
  classes = made.support_images[:, :, 0, 0, 0].tolist()
  assert classes[0] == classes[1] and classes[2] == classes[3]
  assert not set(classes[0]) & set(classes[2])
  assert made.support_labels.tolist() == [[0, 1], [0, 1], [2, 3], [2, 3]]
  assert made.target_images[:, 0, 0, 0].tolist() == classes[0] * 2 + classes[2] * 2


def test_an_episode_depends_on_data_split_seed_and_index_only():
  def first(**values):
    return _source(**{"data": "digits:1.0.0", "split": "test", **values})

  expected = first().indices(3, 1)
  np.testing.assert_array_equal(first().indices(3, 1), expected)
  np.testing.assert_array_equal(first().indices(0, 5)[3:4], expected)
  for other in (first(seed=6), first(data="digits:1.0.1"), first(split="validation")):
    assert (other.indices(3, 1) != expected).any()


def test_with_ids_the_order_of_the_images_does_not_matter():
  ids, setting = np.array([f"image {n}" for n in range(len(LABELS))]), task_types.Setting(3, 1, 1)
  sorted_, mixed = (episodes.Episodes(IMAGES[o], LABELS[o], setting, ids=ids[o])
                    for o in (np.arange(len(LABELS)), MIX))
  for a, b in zip(sorted_.episode(2), mixed.episode(2)):
    np.testing.assert_array_equal(a, b)
  assert sorted_.digest(50) == mixed.digest(50)


def test_the_digest_is_sha_256_of_ids_and_labels():
  source = _source(sets=1, way=2, shot=1)
  sha = hashlib.sha256()
  for row in source.indices(0, 2).tolist():
    sha.update(json.dumps([[str(i) for i in row], [0, 1, 0, 1]]).encode() + b"\n")
  assert source.digest(2) == sha.hexdigest()
  assert source.digest(2) != source.digest(3)


def test_the_first_600_tasks_are_the_same_for_ever():
  labels = np.repeat(np.arange(212), 20)
  source = episodes.Episodes(np.zeros([len(labels), 1, 1, 1], np.uint8), labels,
                             task_types.named("B", 3), data="omniglot-like", split="test")
  assert source.digest(600) == "c2c86263db71b7daba9db1ff401bb1564e0b6216e1811a6ea3e04f81dc6a69d7"


def test_all_classes_and_images_are_drawn_evenly():
  made = next(iter(_source(sets=1).batches(700)))
  drawn = made.support_images.numpy()[:, 0, :, 0, 0].reshape(-1, 3)
  classes = np.bincount(drawn[:, 0])
  assert (abs(classes - 600) < 5 * (600 * 6 / 7) ** 0.5).all()
  counts = np.bincount(drawn[drawn[:, 0] == 0, 1], minlength=12)
  assert (abs(counts - 50) < 5 * 50 ** 0.5).all()


@pytest.mark.parametrize("places_at_once", [1, 60, 1 << 17])
def test_batches_are_the_episodes_in_order_with_static_shapes(monkeypatch, places_at_once):
  # One draw makes 1, 1 and many batches.
  monkeypatch.setattr(episodes, "_PLACES_AT_ONCE", places_at_once)
  batches = _source().batches(2, first_index=5)
  assert batches.element_spec.support_images.shape == (2, 2, 6, 2, 2, 3)
  assert batches.element_spec.target_labels.shape == (2, 6)
  for number, batch in enumerate(batches.take(4)):
    for row in range(2):
      for a, b in zip(batch, _source().episode(5 + 2 * number + row)):
        np.testing.assert_array_equal(a[row], b)


@pytest.mark.parametrize("convention", ["spec", "paper_feb", "paper_apr"])
def test_indices_are_those_of_the_batches(convention):
  source = _source(way=2, sets=4, interval=2, convention=convention)
  batch = next(iter(source.batches(6, first_index=1 << 40)))
  chosen = source.indices(1 << 40, 6)
  images, mixed = chosen.reshape(6, -1), IMAGES[MIX]
  np.testing.assert_array_equal(
      batch.support_images, mixed[images[:, :source.num_support]].reshape(6, 4, 4, 2, 2, 3))
  np.testing.assert_array_equal(batch.target_images, mixed[images[:, source.num_support:]])
  assert chosen.dtype == np.int64


def test_examples_are_a_support_image_of_each_label_and_targets_of_these():
  source = _source(targets=2)  # 6 labels, 12 targets.
  ids, pixels, given = source.examples(4)
  episode = source.episode(0)
  assert list(given.values()) == [0, 1, 2, 3] and ids[:4] == list(given)
  for name, image in zip(ids, pixels):
    what, number = name.removeprefix("episode 0, ").split()
    images, labels = (episode.support_images.reshape(-1, 2, 2, 3), episode.support_labels.ravel()
                      ) if what == "support" else (episode.target_images, episode.target_labels)
    assert np.array_equal(image, images[int(number)]) and labels[int(number)] < 4
  assert len(ids) == 8 and len(set(ids)) == 8


def test_images_in_a_tensor_are_shared():
  images = tf.constant(IMAGES)
  assert episodes.Episodes(images, LABELS, task_types.Setting(3, 1, 1)).images is images


def test_what_a_record_says():
  made = _source(sets=5, interval=5, overwrite=True, data="x:1", split="test").describe()
  assert made.pop("fallback").startswith("shared targets: a class has 12 images and 15 would")
  assert made == {
      "task_type": "A", "way": 3, "shot": 2, "targets": 1, "num_support_sets": 5,
      "class_change_interval": 5, "overwrite": True, "num_classes": 3, "convention": "spec",
      "data": "x:1", "split": "test", "episode_seed": 5}


@pytest.mark.parametrize("values, message", [
    (dict(way=8), "Split 'test' of x has 7 classes, but 8-way episodes .* need 16 .* way <= 3"),
    (dict(shot=10, targets=3, split="test"), "Split 'test' of x has only 12 images"),
    (dict(convention="paper"), "Unknown convention 'paper'"),
    (dict(ids=["a"]), r"Got ids \(1,\) for 105 images"),
    (dict(ids=["a", "a"] + [str(n) for n in range(103)]), "Id 'a' stands for 2 images"),
])
def test_what_does_not_fit_is_refused(values, message):
  with pytest.raises(ValueError, match=message):
    _source(**{"data": "x", "split": "test", **values})


@pytest.mark.parametrize("images, labels", [
    (IMAGES.astype(float), LABELS), (IMAGES[..., 0], LABELS), (IMAGES, LABELS[1:]),
    (IMAGES[..., :2], LABELS),
])
def test_only_images_in_bytes_are_taken(images, labels):
  with pytest.raises(ValueError, match="must be uint8"):
    episodes.Episodes(images, labels, task_types.Setting(2, 1, 1))


@pytest.mark.parametrize("values", [dict(batch_size=0), dict(batch_size=1, first_index=-1)])
def test_bad_batches_are_refused(values):
  with pytest.raises(ValueError, match="a batch has at least one episode"):
    _source().batches(**values)


def test_shards_take_turns_batch_by_batch():
  source = _source()
  whole = source.batches(2, first_index=4)
  expected = [next(it).target_images.numpy() for it in [iter(whole)] for _ in range(8)]
  for shard in range(3):
    mine = iter(source.batches(2, first_index=4, shard_index=shard, num_shards=3))
    for turn in range(2):
      np.testing.assert_array_equal(next(mine).target_images, expected[3 * turn + shard])
  two = iter(source.batches(2, first_index=4, shard_index=1, num_shards=4, shards_here=2))
  for k in (1, 2, 5, 6):
    np.testing.assert_array_equal(next(two).target_images, expected[k])


def test_classes_of_the_split_come_along_where_they_are_asked_for():
  plain, source = _source(interval=2, sets=4), _source(interval=2, sets=4, with_classes=True)
  made = source.episode(3)
  for name, part in plain.episode(3)._asdict().items():
    np.testing.assert_array_equal(getattr(made, name), part)
  # A pixel tells its class.
  np.testing.assert_array_equal(made.support_classes, made.support_images[..., 0, 0, 0])
  np.testing.assert_array_equal(made.target_classes, made.target_images[:, 0, 0, 0])
  batch = next(iter(source.batches(2, first_index=2)))
  assert isinstance(batch, episodes.EpisodeWithClasses)
  np.testing.assert_array_equal(batch.target_classes[1], made.target_classes)

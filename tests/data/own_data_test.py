# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A stream, buckets, episodes and a sequence of image sets of the user."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data.episodes import episodes
from suite.data.own import image_sources
from suite.data.sequences import sequences
from suite.data.streams import buckets
from suite.data.streams import streams


def _set(num=40, classes=4, name="mine", seed=0):
  images = np.random.default_rng(seed).integers(0, 256, [num, 4, 4, 1]).astype(np.uint8)
  return image_sources.from_arrays(images, np.arange(num) % classes, name=name)


def test_a_stream_divides_each_set_by_class_and_numbers_what_comes_again():
  stream = streams.of([_set(), _set(20, 2, "other"), _set()], years=[1990, 1990, 2000],
                      roles=["meta_train", "meta_test", "meta_test"])
  assert [entry.key for entry in stream.entries] == ["mine", "other", "mine@2"]
  splits = stream.entries[0].load()
  parts = [splits.train, splits.dev, splits.validation, splits.test]
  assert [part.size for part in parts] == [18, 4, 6, 12]
  assert len(set().union(*(part.ids for part in parts))) == 40
  assert np.bincount(splits.test.labels).tolist() == [3, 3, 3, 3]
  assert len(stream.events()) == 6


def test_a_stream_takes_given_splits():
  given = dict(zip(streams.SPLITS, (_set(8, seed=i) for i in range(4))))
  assert streams.of([given], names=["x"]).entries[0].load().dev is given["dev"]


def test_buckets_of_pairs_and_of_single_sets():
  made = buckets.of([(_set(12), _set(8)), _set(20)], names=["old", "new"])
  assert [(b.name, b.train.size, b.test.size) for b in made] == [("old", 12, 8), ("new", 14, 6)]
  assert made.task.num_classes == 4


def test_episodes_of_some_classes():
  made = episodes.of(_set(), classes=[1, 3], way=2, shot=2, targets=3)
  episode = made.episode(0)
  assert episode.support_images.shape == (1, 4, 4, 4, 1) and episode.target_images.shape[0] == 6
  drawn = _set().labels[[i for i in range(40) if i % 4 in (1, 3)]][made.indices(0, 5)]
  assert set(np.unique(drawn)) == {1, 3}


def test_a_sequence_has_each_image_once():
  images = _set()
  made = sequences.of(images, num_base_classes=2)
  assert len(made) == 40 and sorted(made.ids) == sorted(images.ids) and made.num_classes == 4
  assert made.ids.tolist() != images.ids.tolist()
  plain = sequences.of(images, shuffle=False)
  assert plain.ids.tolist() == images.ids.tolist()
  assert len(sequences.of(images, num_samples=12)) == 12


@pytest.mark.parametrize("make, message", [
    (lambda: streams.of([]), "was given no task"),
    (lambda: streams.of([_set()], years=[1, 2]), "1 tasks and 2 years; give one for each task"),
    (lambda: streams.of([{"train": _set()}]), r"has the splits \['train'\]; give train, dev, vali"),
    (lambda: streams.of([np.zeros(3)]), "is ndarray; give an image set"),
    (lambda: buckets.of([]), "was given no bucket"),
    (lambda: buckets.of([(_set(), _set(), _set())]), "Bucket 1 has 3 sets"),
    (lambda: buckets.of([(_set(), 3)]), "Bucket 1 holds int; give image sets"),
    (lambda: buckets.of([_set(), _set(20, 2)]), "all buckets of a series share one head"),
    (lambda: episodes.of(_set(), classes=[1, 9]), r"no image of the classes \[9\]; it has"),
])
def test_mistakes_are_said(make, message):
  with pytest.raises(ValueError, match=message):
    make()

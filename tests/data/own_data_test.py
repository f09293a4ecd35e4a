# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A stream, buckets, episodes and a sequence of image sets of the user."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import ndimage

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


def test_a_stream_draws_the_splits_that_are_not_given_from_the_training_set():
  train, test = _set(40, name="train"), _set(8, seed=1, name="test")
  splits = streams.of([{"train": train, "test": test}]).entries[0].load()
  assert splits.test is test
  assert [part.size for part in (splits.train, splits.dev, splits.validation)] == [28, 6, 6]
  drawn = [*splits.train.ids, *splits.dev.ids, *splits.validation.ids]
  assert sorted(drawn) == sorted(train.ids)
  given = streams.of([{"train": train, "test": test, "validation": test}]).entries[0].load()
  assert (given.train.size, given.dev.size, given.validation) == (34, 6, test)
  assert [e.key for e in streams.of({"old": _set(), "new": _set()}).entries] == ["old", "new"]


def test_buckets_may_have_their_names_as_keys():
  made = buckets.of({"old": _set(20), "new": {"train": _set(12), "test": _set(8)}})
  assert [(b.name, b.train.size, b.test.size) for b in made] == [("old", 14, 6), ("new", 12, 8)]


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
  named = _set().with_class_names(list("abcd"))
  assert episodes.of(named, classes=["d", "b"], way=2, shot=2, targets=3).digest(
      5) == made.digest(5)


def test_a_sequence_has_each_image_once():
  images = _set()
  made = sequences.of(images, num_base_classes=2)
  assert len(made) == 40 and sorted(made.ids) == sorted(images.ids) and made.num_classes == 4
  assert made.ids.tolist() != images.ids.tolist()
  plain = sequences.of(images, shuffle=False)
  assert plain.ids.tolist() == images.ids.tolist()
  assert len(sequences.of(images, num_samples=12)) == 12


def _named(names, labels=None, name="mine", num=12):
  """Gray images whose pixel is the place of the class in "abcdef"."""
  labels = np.arange(num) % len(names) if labels is None else np.asarray(labels)
  pixels = np.array(["abcdef".index(names[label]) for label in labels], np.uint8)
  return image_sources.from_arrays(
      np.broadcast_to(pixels[:, None, None], [len(labels), 2, 2]), labels, name=name,
      class_names=list(names))


def _pixel_by_name(images):
  """{name of a class: the pixel of its images}; an error if there are several."""
  pixels = images.pixels()[:, 0, 0, 0]
  return {images.class_names[label]: int(np.unique(pixels[images.labels == label]).item())
          for label in np.unique(images.labels)}


def test_buckets_are_joined_by_name():
  parts = [_named("bd"), (_named("dab"), _named("ab")), _named("ad")]
  for names, given in ((None, "bda"), (list("adbx"), "adbx")):
    made = buckets.of(parts, class_names=names)
    assert made.class_names == tuple(given) and made.task.num_classes == len(given)
    for bucket in made:
      for part in (bucket.train, bucket.test):
        found = _pixel_by_name(part)
        assert found and found == {name: "abcdef".index(name) for name in found}
  tasks = buckets.of([_named("ab"), _named("cd"), _named("d")])
  assert [set(_pixel_by_name(bucket.train)) for bucket in tasks] == [{"a", "b"}, {"c", "d"}, {"d"}]
  assert buckets.of([_set(12, 2)], class_names=["a", "b"])[0].test.class_names == ("a", "b")


def test_the_splits_of_a_task_are_joined_by_name_and_a_task_keeps_its_classes():
  given = dict(train=_named("bd"), dev=_named("db"), validation=_named("b"), test=_named("db"))
  entry = streams.of([given], names=["x"]).entries[0]
  splits = entry.load()
  assert entry.task.num_classes == 2
  for part in (splits.train, splits.dev, splits.validation, splits.test):
    assert part.class_names == ("b", "d") and _pixel_by_name(part).get("b", 1) == 1
  again = streams.of([_named("bd", num=40), _named("db", num=40)]).entries[1]
  assert again.key == "mine@2" and again.load().test.class_names == ("b", "d")
  assert _pixel_by_name(again.load().train) == {"b": 1, "d": 3}


def test_the_classes_of_base_come_first_in_a_sequence():
  base = _named("ce", name="base")
  made = sequences.of(_named("abcde"), base=base)
  assert made.class_names == ("c", "e", "a", "b", "d") and made.num_base_classes == 2
  made.deliver(11)
  pixels = made.images(0, 12)[:, 0, 0, 0]
  assert [made.class_names[label] for label in made.truth(0, 12)] == [
      "abcdef"[pixel] for pixel in pixels]


def test_a_bucket_without_a_class_is_reported_before_a_run(caplog):
  buckets.of([_named("abc"), _named("ab"), _named("ab")], names=["May", "June", "July"])
  assert "no image to train on of class 'c' in June, July" in caplog.text
  caplog.clear()
  buckets.of([_named("abc", [0] * 20 + [1] * 20 + [2]), _named("abc")])
  assert "no image to test on of class 'c' in bucket_01" in caplog.text
  assert "to train on" not in caplog.text


@pytest.mark.parametrize("make, message", [
    (lambda: buckets.of([_named("ab"), _set(12, 2)]),
     "is to join 'mine', whose classes are 'a', 'b', with 'mine', whose 2 classes have no names"),
    (lambda: buckets.of([_named("ab"), _named("bc", name="next")]),
     "of 'mine' are 'a', 'b', and those of 'next' are 'b', 'c': each has some .* misspelled name"),
    (lambda: buckets.of([_named("ab"), _named("ab", name="next").with_class_names(["A", "c"])]),
     "of 'mine' are 'a', 'b', and those of 'next' are 'A', 'c': each has some .* misspelled name"),
    (lambda: buckets.of([_named("ab"), _named("bc")], class_names=["a", "b"]),
     "has the classes 'b', 'c'; 'c' are not among the classes wanted, 'a', 'b'"),
    (lambda: buckets.Buckets(buckets.of([_named("ab")]).task, (
        *buckets.of([_named("ab")]), *buckets.of([_named("bc")]))),
     "classes of 'mine' are 'a', 'b', but those of 'mine' are 'b', 'c'. All buckets"),
    (lambda: buckets.of([(_named("ab"), _named("abc", name="t"))]),
     "^buckets.of: 't' tests class 'c', of which there is no training image"),
    (lambda: buckets.of([_named("abc", [0, 1, 2])]), "a single image cannot be divided"),
    (lambda: buckets.of([_named("ab"), _named("ab", [0])], names=["May", "June"]),
     r"Bucket 'June' \('mine'\) has 1 image\(s\), too few to test on 0.3 of them. Join it"),
    (lambda: buckets.of([_named("ab")], names=["May", "June"]), "1 buckets and 2 names"),
    (lambda: streams.of([_named("abc", [0, 1, 2])]),
     r"Task 0 of streams.of, 'mine', has 3 image\(s\), too few to make train, dev"),
    (lambda: streams.of([_named("ab", num=40), _named("bc", num=40)]),
     "task 'mine' of streams.of has the classes 'a', 'b' .* at first, and 'b', 'c' .* later"),
    (lambda: streams.of([dict(zip(streams.SPLITS, map(_named, ["ab", "ab", "ab", "abc"])))]),
     "Task 0 of streams.of: 'mine' tests class 'c', of which there is no training image"),
    (lambda: streams.of([dict(zip(streams.SPLITS, (_set(8, 2), _set(9, 3), _set(8), _set(8))))]),
     r"'mine' \(single_label, 2 classes\), .*; the splits of a task share one head"),
    (lambda: sequences.of(_set(), base=_set()), "no names of classes by which the base classes"),
    (lambda: sequences.of(_named("ab"), base=_named("a"), num_base_classes=2),
     "num_base_classes=2, but base 'mine' has 1 classes"),
])
def test_sets_that_cannot_be_joined_are_refused(make, message):
  with pytest.raises(ValueError, match=message):
    make()


@pytest.mark.parametrize("make, message", [
    (lambda: streams.of([]), "was given no task"),
    (lambda: streams.of([_set()], years=[1, 2]), "1 tasks and 2 years; give one for each task"),
    (lambda: streams.of([{"train": _set()}]), r"has the splits \['train'\]; give train, dev, vali"),
    (lambda: streams.of([np.zeros(3)]), "is ndarray; give an image set"),
    (lambda: streams.of([{"train": _set(), "validation": _set()}]), r"'validation'\]; give train"),
    (lambda: streams.of([{"train": [1], "test": [2]}]), "has splits that are list of 1; give"),
    (lambda: streams.of({"train": _set(), "test": _set()}), "splits train, test; they are of one"),
    (lambda: streams.of(_set()), "streams.of was given one image set, .*; give a list"),
    (lambda: buckets.of([]), "was given no bucket"),
    (lambda: buckets.of(_set()), "was given one image set, .*; give a list"),
    (lambda: buckets.of({"train": _set(), "test": _set()}), "splits train, test; they are of one"),
    (lambda: buckets.of([{"train": _set(), "dev": _set()}]), "Bucket 'bucket_01' holds dict of t"),
    (lambda: buckets.of([(_set(), _set(), _set())]), "Bucket 'bucket_01' has 3 sets"),
    (lambda: buckets.of([(_set(), 3)]), "Bucket 'bucket_01' holds int; give image sets"),
    (lambda: buckets.of([_set(), _set(20, 2)]), "all buckets of a series share one head"),
    (lambda: episodes.of(_set(37), way=2, shot=5), "leave out the 3 of 4 classes that have few"),
    (lambda: episodes.of({"train": 1}), "episodes.of was given dict of train; give one image set"),
    (lambda: sequences.of([_set()]), "sequences.of was given list of 1; give one image set"),
    (lambda: episodes.of(_set(), classes=[1, 9]), r"no image of the classes \[9\]; it has"),
    (lambda: episodes.of(_named("ab"), classes=["c"]), r"classes \['c'\]; it has \['a', 'b'"),
    (lambda: streams.of([_named("ab", [1] * 40)]), "training images of 'mine' are of class 'b'"),
    (lambda: image_sources.from_arrays(np.zeros([2, 4, 4], np.uint8), [-1, -1]), "label"),
])
def test_mistakes_are_said(make, message):
  with pytest.raises(ValueError, match=message):
    make()


def test_classes_are_dealt_to_buckets_and_numbered_as_they_come():
  images = _set(60, 6)
  found = buckets.of_classes(images, num_tasks=3, seed=None)
  assert [bucket.name for bucket in found] == ["task_01", "task_02", "task_03"]
  assert [sorted(set(bucket.test.labels.tolist())) for bucket in found] == [[0, 1], [2, 3], [4, 5]]
  assert [(bucket.train.size, bucket.test.size) for bucket in found] == [(14, 6)] * 3
  drawn, again = (buckets.of_classes(images, num_tasks=3, seed=4) for _ in range(2))
  for one, other in zip(drawn, again):  # A pure function of the seed.
    assert one.train.ids.tolist() == other.train.ids.tolist()
  # A label is the place of a class in the order; its images stay together.
  homes = [int(i) % 6 for i in drawn[0].train.ids]
  places = dict(zip(homes, drawn[0].train.labels.tolist()))
  assert sorted(places.values()) == [0, 1] and set(homes) != {0, 1}
  assert [len(set(bucket.train.labels.tolist())) for bucket in buckets.of_classes(
      images, num_tasks=4, first=3)] == [3, 1, 1, 1]
  assert [len(set(bucket.train.labels.tolist())) for bucket in buckets.of_classes(
      images, num_tasks=4)] == [2, 2, 1, 1]


def test_classes_come_in_the_order_that_is_given():
  images = _set(60, 6)  # Image i is of class i % 6.

  def order(**settings):
    found = buckets.of_classes(images, num_tasks=3, **settings)
    homes = {int(label): int(i) % 6 for bucket in found
             for label, i in zip(bucket.train.labels, bucket.train.ids)}
    return [homes[label] for label in range(6)]

  assert order(class_order=[4, 0, 5, 1, 3, 2]) == [4, 0, 5, 1, 3, 2]
  # numpy.random.seed(1993); numpy.random.permutation(6); the global generator is left alone.
  before = np.random.get_state()[1].tolist()  # noqa: NPY002 - it is the one that must not move.
  assert order(class_order="numpy_1993", seed=7) == [0, 2, 3, 4, 5, 1]
  assert np.random.get_state()[1].tolist() == before  # noqa: NPY002
  # Of 100 classes, the first ten of CIFAR-100's order in the code of iCaRL's successors.
  assert buckets._ordered(np.arange(100), None, "numpy_1993", "x")[:10].tolist() == [
      68, 56, 78, 8, 23, 84, 90, 65, 74, 76]


@pytest.mark.parametrize("class_order, message", [
    ("pycil", "class_order is 'pycil'; give 'numpy_1993', or all labels"),
    ([0, 1, 2, 3, 4], r"has 5 labels, and 'mine' has 6 classes; unknown are \[\], missing \[5\]"),
    ([0, 1, 2, 3, 4, 6], r"unknown are \[6\], missing \[5\]"),
    ([0, 1, 2, 3, 4, 5, 5], "has 7 labels, .* Give each label of the data once")])
def test_an_order_that_is_not_one_of_all_classes_is_refused(class_order, message):
  with pytest.raises(ValueError, match=message):
    buckets.of_classes(_set(60, 6), num_tasks=3, class_order=class_order)


@pytest.mark.parametrize("settings", [
    {"num_tasks": 7}, {"num_tasks": 1}, {"num_tasks": 4, "first": 4}, {"num_tasks": 2, "first": 0}])
def test_a_task_without_a_class_is_refused(settings):
  with pytest.raises(ValueError, match="a task without a class has nothing to learn"):
    buckets.of_classes(_set(60, 6), **settings)


def test_permuted_and_rotated_buckets_have_the_same_images_changed():
  images = _set(20, 2)
  found = buckets.permuted(images, num_tasks=3, seed=1)
  first, second, _ = (bucket.train.pixels().reshape(14, -1) for bucket in found)
  assert not np.array_equal(first, second)
  np.testing.assert_array_equal(np.sort(first), np.sort(second))
  # One permutation for all images of a task, of training and of testing.
  rows = np.concatenate([found[0].train.pixels(), found[0].test.pixels()]).reshape(20, -1)
  other = np.concatenate([found[1].train.pixels(), found[1].test.pixels()]).reshape(20, -1)
  columns = {tuple(column) for column in rows.T}
  assert columns == {tuple(column) for column in other.T}
  turned = buckets.rotated(images, num_tasks=2, seed=0, degrees=0.0)
  np.testing.assert_array_equal(turned[1].train.pixels(), turned[0].train.pixels())
  assert turned[0].train.ids.tolist() == found[0].train.ids.tolist()
  turned = buckets.rotated(images, num_tasks=2, seed=0)
  assert not np.array_equal(turned[1].train.pixels(), turned[0].train.pixels())


@pytest.mark.parametrize("shape", [(70, 28, 28, 1), (3, 9, 12, 3), (2, 1, 5, 1)])
def test_rotated_pixels_are_those_of_scipy_an_image_at_a_time(shape):
  images = np.random.default_rng(0).integers(0, 256, shape).astype(np.uint8)
  for angle in (0.0, 30.0, 45.0, 60.0, 90.0, 127.3, 180.0, 359.9):  # 60 degrees: many halves.
    np.testing.assert_array_equal(
        buckets._turned(images, angle),
        ndimage.rotate(images, angle, axes=(1, 2), reshape=False, order=1), err_msg=str(angle))

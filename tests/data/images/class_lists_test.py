# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Names of classes: kept by every cut of a set, and sets that are joined by them."""

from __future__ import annotations

import numpy as np
import pytest

from suite.data.images import class_lists
from suite.data.images import image_ops
from suite.data.images import image_set
from suite.data.images import prepared_sets

PIXELS = np.arange(4, dtype=np.uint8).reshape([4, 1, 1, 1])


def _set(names, labels=(0, 1, 0, 1), kind="single_label"):
  width = len(names) if names else 1 + max(labels)
  return image_set.ImageSet.from_arrays("mine", PIXELS, labels, kind=kind, num_classes=width,
                                        class_names=names)


def test_every_cut_keeps_the_names():
  images = _set(["ant", "bee", "cat"], [0, 1, 2, 1])
  assert images.class_names == ("ant", "bee", "cat")
  parts = [images.subset([2]), images.take(2, seed=0), *images.split(0.5, seed=0),
           images.within(2, seed=0)]
  assert all(one.class_names == images.class_names for one in parts)
  assert images.of_classes([2, 0]).class_names == ("cat", "ant")
  assert images.with_class_names(None).class_names is None


def test_joined_sets_have_the_first_list_then_what_each_adds():
  first, second = _set(["dog", "cat"]), _set(["ant", "dog"])
  found = class_lists.aligned([first, second], "here")
  assert found[0].class_names == found[1].class_names == ("dog", "cat", "ant")
  assert found[0].labels.tolist() == [0, 1, 0, 1]
  assert found[1].labels.tolist() == [2, 0, 2, 0]  # ant dog ant dog
  assert found[1].pixels().ravel().tolist() == [0, 1, 2, 3]
  rows = _set(["ant", "dog"], np.array([[1, 0], [0, 1], [1, 1], [0, 0]]), "multi_label")
  assert class_lists.aligned([first, rows], "here")[1].labels.tolist() == [
      [0, 0, 1], [1, 0, 0], [1, 0, 1], [0, 0, 0]]
  same = [first, _set(["dog", "cat"])]
  assert class_lists.aligned(same, "here")[1] is same[1]


def test_sets_without_names_are_joined_by_number_only_among_themselves():
  bare = [_set(None), _set(None)]
  assert class_lists.aligned(bare, "here") == bare
  with pytest.raises(ValueError, match="^here is to join 'mine', whose classes are 'cat', 'dog', "
                                       "with 'mine', whose 2 classes have no names"):
    class_lists.aligned([bare[0], _set(["cat", "dog"])], "here")


def test_names_that_are_other_numbers_are_not_taken_away():
  with pytest.raises(ValueError, match="'5', '6', and without names they would be 0..1. Keep the"):
    _set(["5", "6"]).with_class_names(None)
  assert _set(["0", "1"]).with_class_names(None).class_names is None


@pytest.mark.parametrize("names, message", [
    (["cat"], "has 2 classes and 1 names of classes"),
    (["cat", "cat"], "has the class names 'cat' more than once"),
    ("ab", "is the text 'ab'; give a list of names")])
def test_lists_that_are_none(names, message):
  with pytest.raises(ValueError, match=message):
    _set(None).with_class_names(names)


def test_numbers_are_no_names():
  assert class_lists.known(["0", "1", "2"]) is None and class_lists.known(None) is None
  assert class_lists.known(["0", "2"]) == ("0", "2")


@pytest.mark.parametrize("config", ["same_shape", "multi_hot"])
def test_a_set_on_disk_is_renumbered_as_one_in_memory(pictures_dir, config):
  streamed, held = (
      prepared_sets.read(f"suite_test_pictures/{config}", "train", data_dir=pictures_dir,
                         memory_limit_bytes=limit) for limit in (0, 2**20))
  own = [f"class {i}" for i in range(held.num_classes)]
  wanted = ["other", *reversed(own)]
  held, streamed = (
      one.with_class_names(own).with_classes(wanted).with_classes(["more", *wanted])
      for one in (held, streamed))
  for part in (streamed, streamed.split(0.2, seed=0)[0]):
    assert part.class_names == held.class_names == ("more", *wanted)
    assert part.num_classes == held.num_classes == len(own) + 2
    np.testing.assert_array_equal(part.labels, held.labels[:part.size])
  batch = next(iter(streamed.train_batches(4, seed=(1, 2), transform=image_ops.Nevis(5))))
  of_id = dict(zip(held.ids, held.labels))
  np.testing.assert_array_equal(batch["label"], [of_id[i.decode()] for i in batch["id"].numpy()])

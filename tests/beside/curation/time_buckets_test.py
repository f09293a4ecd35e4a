# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets of equal size in the order of time."""

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation import time_buckets


def test_buckets_are_equal_in_size_and_the_first_have_the_rest():
  times = np.array([50, 10, 40, 20, 30, 60, 70.0])
  ids = np.array(list("abcdefg"))
  found = time_buckets.split(times, ids, 3)
  assert found.tolist() == [1, 0, 1, 0, 0, 2, 2]  # 10 20 30 | 40 50 | 60 70


def test_images_of_one_time_go_by_id_whatever_their_order():
  times, ids = np.array([5, 5, 5, 5.0]), np.array(["10", "9", "b", "a"])
  found = time_buckets.split(times, ids, 2)
  assert dict(zip(ids.tolist(), found.tolist())) == {"10": 0, "9": 0, "a": 1, "b": 1}
  shuffled = [2, 0, 3, 1]
  assert time_buckets.split(times, ids[shuffled], 2).tolist() == found[shuffled].tolist()


def test_ranges_tell_what_a_bucket_spans():
  times = np.array([1176002837, 1176089237, 0.0])
  ids = np.array(["x", "y", "z"])
  found = time_buckets.ranges(np.array([0, 1, 0]), times, ids)
  assert found[0] == (0, 2, "1970-01-01T00:00:00Z", "2007-04-08T03:27:17Z", "z", "x")
  assert found[1] == (1, 1, "2007-04-09T03:27:17Z", "2007-04-09T03:27:17Z", "y", "y")


def test_the_ends_of_the_published_buckets_are_kept_when_they_are_equal():
  times, ids = np.arange(110.0), np.array([f"{i:03d}" for i in range(110)])
  assert np.bincount(time_buckets.split(times, ids)).tolist() == [10] * 11


@pytest.mark.parametrize("num, message", [
    (0, "Got 0 buckets; CLEAR's layout has at most 11"), (12, "Got 12 buckets"),
    (4, "3 images cannot fill 4 buckets: some would be empty. Ask for at most 3.")])
def test_numbers_of_buckets_that_cannot_be(num, message):
  with pytest.raises(errors.CurationError, match=message):
    time_buckets.split(np.arange(3.0), np.array(["a", "b", "c"]), num)

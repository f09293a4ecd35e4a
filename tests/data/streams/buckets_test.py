# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""A series of buckets."""

from __future__ import annotations

import numpy as np
import pytest

from suite.contracts import tasks
from suite.data.images import image_set
from suite.data.streams import buckets


def _bucket(name, num_classes=2):
  part = image_set.ImageSet.from_arrays(name, np.zeros([2, 1, 1, 1], np.uint8), [0, 1],
                                        kind="single_label", num_classes=num_classes)
  return buckets.Bucket(name, part, part)


def test_buckets_are_indexed_in_order():
  series = buckets.Buckets(tasks.Task("a", "single_label", 2), (_bucket("x"), _bucket("y")))
  assert len(series) == 2 and series[1].name == "y" and [b.name for b in series] == ["x", "y"]


def test_buckets_share_one_head():
  with pytest.raises(ValueError, match="'y' is single_label with 3 classes, but task .* with 2"):
    buckets.Buckets(tasks.Task("a", "single_label", 2), (_bucket("x"), _bucket("y", 3)))

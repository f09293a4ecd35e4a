# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.

import numpy as np
import pytest

from tfds_builders import content
from tfds_builders import splits


def test_digest_is_the_head_of_sha256():
  assert content.digest(b"") == 0xe3b0c44298fc1c14  # The sha256 of no bytes.


@pytest.mark.parametrize("order", [(0, 1, 2, 3, 4, 5, 6), (6, 5, 4, 3, 2, 1, 0),
                                   (3, 0, 6, 2, 5, 1, 4)])
def test_the_latest_split_keeps_an_image_whatever_came_first(order):
  met = [(b"a", "train"), (b"a", "train"), (b"a", "test"), (b"b", "validation"), (b"b", "train"),
         (b"c", "train"), (b"c", "train")]
  digests = content.Digests(splits.NAMES)
  for index in order:
    image, split = met[index]
    digests.add(content.digest(image), split)
  assert digests.removed == {"train": 3, "dev": 0, "validation": 0, "test": 0}
  held = {(image, split) for image in (b"a", b"b", b"c", b"unknown") for split in splits.NAMES
          if digests.held_by_later(content.digest(image), split)}
  assert held == {(b"a", "train"), (b"a", "dev"), (b"a", "validation"), (b"b", "train"),
                  (b"b", "dev")}


def test_saved_digests_are_sorted_and_each_image_stands_in_one_split(tmp_path):
  digests = content.Digests(splits.NAMES)
  for image, split in ((b"x", "train"), (b"y", "train"), (b"x", "test")):
    digests.add(content.digest(image), split)
  digests.save(tmp_path, splits.NAMES)
  with np.load(tmp_path / content.FILE, allow_pickle=False) as saved:
    assert saved["train"].tolist() == [content.digest(b"y")]
    assert saved["test"].tolist() == [content.digest(b"x")]
    assert saved["validation"].size == 0

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""An image that cannot be decoded stops the run by name, wherever it stands."""

from __future__ import annotations

import numpy as np
import pytest
import tensorflow as tf

from suite.data.images import image_ops
from suite.data.images import image_set

GOOD = tf.io.encode_png(np.zeros((6, 6, 3), np.uint8)).numpy()
OTHER = tf.io.encode_png(np.zeros((7, 6, 3), np.uint8)).numpy()


def _set(broken, num=9):
  encoded = [GOOD if i % 2 else OTHER for i in range(num)]
  for i in broken:
    # Its parts have their lengths, so it is found when it is decoded, not when the set is made.
    start = encoded[i].index(b"IDAT") + 4
    encoded[i] = encoded[i][:start] + b"xxxx" + encoded[i][start + 4:]
  return image_set.ImageSet.from_encoded("pets", encoded, np.zeros(num), kind="single_label",
                                         num_classes=1, ids=[f"cat_{i}" for i in range(num)])


@pytest.mark.parametrize("broken", [[0], [5], [8], list(range(9))])
def test_a_broken_image_is_named_in_evaluation(broken):
  with pytest.raises(tf.errors.InvalidArgumentError) as error:
    list(_set(broken).eval_batches(4, transform=image_ops.Plain(4)))
  assert "pets cannot be decoded" in str(error.value) and f"cat_{broken[0]}" in str(error.value)


@pytest.mark.parametrize("broken", [[3], list(range(9))])
def test_a_broken_image_is_named_in_training(broken):
  with pytest.raises(tf.errors.InvalidArgumentError, match="cannot be decoded"):
    list(_set(broken).train_batches(4, seed=(0, 0), transform=image_ops.Nevis(4)).take(3))


def test_sound_images_pass():
  assert len(list(_set([]).eval_batches(4, transform=image_ops.Plain(4)))) == 3


def test_a_broken_image_is_named_when_a_set_is_decoded_at_once():
  encoded = [GOOD] * 600
  encoded[555] = GOOD[:40]
  with pytest.raises(ValueError, match="Image 'cat_555' of data set 'pets' cannot be decoded"):
    image_set.ImageSet.from_encoded("pets", encoded, np.zeros(600), kind="single_label",
                                    num_classes=1, ids=[f"cat_{i}" for i in range(600)])

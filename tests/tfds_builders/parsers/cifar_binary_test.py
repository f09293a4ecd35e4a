# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The binary version of CIFAR."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import cifar_binary
from tfds_builders.parsers import fixtures

_BATCHES = {"data_batch_1.bin": "train", "test_batch.bin": "test"}


def _parse(path, members, **args):
  fixtures.write_archive(path, members)
  return list(cifar_binary.parse({path.name: path}, batches=_BATCHES, **args))


def test_planes_become_channels(tmp_path):
  # One red image of class 3: the red plane comes first, then green, then blue.
  record = bytes([3]) + bytes([200]) * 1024 + bytes([10]) * 1024 + bytes([20]) * 1024
  examples = _parse(tmp_path / "a.tar.gz",
                    {"c/data_batch_1.bin": record, "c/test_batch.bin": record, "c/x.html": b""})
  assert [(e.split, e.label) for e in examples] == [("train", 3), ("test", 3)]
  assert examples[0].key != examples[1].key
  np.testing.assert_array_equal(tf.io.decode_png(examples[0].image),
                                np.full((32, 32, 3), (200, 10, 20)))


def test_two_label_bytes(tmp_path):
  record = bytes([7, 42]) + bytes(3072)
  examples = _parse(tmp_path / "a.tar", {"data_batch_1.bin": record, "test_batch.bin": record},
                    label_bytes=2, label_index=1)
  assert examples[0].label == 42


def test_half_a_record_is_an_error(tmp_path):
  with pytest.raises(errors.DataError, match="a.tar, member 'data_batch_1.bin' has 3000 bytes, not "
                     "a multiple of 3073"):
    _parse(tmp_path / "a.tar", {"data_batch_1.bin": bytes(3000)})


def test_a_missing_batch_is_an_error(tmp_path):
  with pytest.raises(errors.DataError, match=r"a.tar has no \['test_batch.bin'\]"):
    _parse(tmp_path / "a.tar", {"data_batch_1.bin": bytes(3073)})

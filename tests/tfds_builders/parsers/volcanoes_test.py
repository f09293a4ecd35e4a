# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The Magellan images of Venus."""

import numpy as np
import pytest
import tensorflow as tf

from tfds_builders import errors
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import volcanoes

_MEMBERS = {
    "package/Images/img2.sdt": bytes(range(4)), "package/Images/img10.sdt": bytes(4),
    "package/Images/img2.spr": b"2", "package/Chips/img3.sdt": b"?",
    "package/GroundTruths/img2.lxyr": b"4 1.0 2.0 3.0\r\n1 1.5 2.5 3.5\r\n",
    "package/GroundTruths/img10.lxyr": b"2 11.0 1.0 1.0\n"}


def _parse(tmp_path, members):
  fixtures.write_archive(tmp_path / "a.tgz", members)
  return list(volcanoes.parse({"a.tgz": tmp_path / "a.tgz"}, side=2))


def test_a_volcano_that_is_sure_makes_the_label(tmp_path):
  examples = _parse(tmp_path, _MEMBERS)
  assert [(e.split, e.key, e.label) for e in examples] == [("all", "img2", 1), ("all", "img10", 0)]
  np.testing.assert_array_equal(tf.io.decode_png(examples[0].image)[..., 0], [[0, 1], [2, 3]])


def test_an_empty_list_is_no_volcano(tmp_path):
  members = {**_MEMBERS, "package/GroundTruths/img2.lxyr": b""}
  assert [e.label for e in _parse(tmp_path, members)] == [0, 0]


@pytest.mark.parametrize("change, message", [
    ({"package/Images/img3.sdt": bytes(4)}, "img3.sdt' has no list of volcanoes"),
    ({"package/Images/img2.sdt": bytes(3)}, "img2.sdt' has 3 bytes; 2 x 2 were expected"),
    ({"package/GroundTruths/img4.lxyr": b""}, r"no images of 1, such as \['img4'\]"),
    ({"package/GroundTruths/img2.lxyr": b"1 2 3\n"}, "img2.lxyr' has the line '1 2 3'"),
    ({"package/GroundTruths/img2.lxyr": b"sure 2 3 4\n"}, "has the line 'sure 2 3 4'"),
])
def test_lists_and_images_must_agree(tmp_path, change, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, {**_MEMBERS, **change})


def test_an_archive_of_something_else(tmp_path):
  with pytest.raises(errors.DataError, match="has 0 lists of volcanoes"):
    _parse(tmp_path, {"readme.txt": b""})

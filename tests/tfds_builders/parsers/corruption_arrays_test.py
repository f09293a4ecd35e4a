# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""CIFAR-10-C: five severities in one array."""

from __future__ import annotations

import io

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import corruption_arrays
from tfds_builders.parsers import fixtures
from tfds_builders.parsers import images

PIXELS = fixtures.pixels((10, 2, 2, 3), seed=0)


def _parse(tmp_path, kinds=("fog",), **arrays):
  arrays = {"labels": np.array([3, 1] * 5, np.uint8), "fog": PIXELS, **arrays}
  members = {}
  for name in sorted(name for name in arrays if arrays[name] is not None):  # Labels between.
    stream = io.BytesIO()
    np.save(stream, arrays[name])
    members[f"CIFAR-10-C/{name}.npy"] = stream.getvalue()
  fixtures.write_archive(tmp_path / "c.tar", members)
  return list(corruption_arrays.parse({"c.tar": tmp_path / "c.tar"}, kinds=kinds,
                                      domain="cifar10_c/{kind}"))


def test_severity_is_the_fifth_of_the_array(tmp_path):
  found = _parse(tmp_path)
  assert [one.key for one in found[:3]] == ["fog/1/00000", "fog/1/00001", "fog/2/00000"]
  assert [one.extra["severity"] for one in found] == [1, 1, 2, 2, 3, 3, 4, 4, 5, 5]
  assert {one.extra["domain"] for one in found} == {"cifar10_c/fog"}
  assert [one.label for one in found[:3]] == [3, 1, 3]
  assert [one.image for one in found] == [images.png(one) for one in PIXELS]


@pytest.mark.parametrize("values, message", [
    (dict(labels=None), "has 0 files labels.npy"),
    (dict(kinds=("fog", "snow")), "has no .'snow'."),
    (dict(fog=PIXELS[:9]), "whole numbers for 9 images"),
    (dict(fog=PIXELS[:7], labels=np.zeros(7, np.uint8)), "not a multiple of 5 severities"),
])
def test_bad_input(tmp_path, values, message):
  with pytest.raises(errors.DataError, match=message):
    _parse(tmp_path, **values)

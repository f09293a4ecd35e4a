# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""MATLAB files from bytes."""

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import mat_files


def test_variables_come_back_as_they_are_or_without_axes_of_length_1():
  data = mat_files.packed({"a": [[1, 2]], "b": np.array([["x"]], object), "c": 3})
  found = mat_files.read(data, "t", ["a", "b"])
  assert sorted(found) == ["a", "b"] and found["a"].shape == (1, 2)
  assert mat_files.read(data, "t", ["a"], squeeze=True)["a"].tolist() == [1, 2]


@pytest.mark.parametrize("data, message", [
    (b"", "t cannot be read as a MATLAB file"),
    (b"no table at all", "t cannot be read as a MATLAB file"),
    (b"MATLAB 7.3 MAT-file, Platform: ...", "t is a MATLAB 7.3 file, an older one was expected"),
    (b"\x89HDF\r\n", "t is a MATLAB 7.3 file"),
    (mat_files.packed({"other": 1}), r"t is missing the variables \['a'\]: it is damaged"),
    (mat_files.packed({"a": np.arange(999)})[:400], "t cannot be read as a MATLAB file"),
])
def test_damaged_files_are_named(data, message):
  with pytest.raises(errors.DataError, match=message):
    mat_files.read(data, "t", ["a"])

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Native decoders run in a child process: its crashes, hangs and bombs are data errors here."""

from __future__ import annotations

import io
import os
import signal

import numpy as np
import pytest
import scipy.io

from tfds_builders import errors
from tfds_builders.parsers import child
from tfds_builders.parsers import child_decoders
from tfds_builders.parsers import mat_files


def _same(a, b):
  assert type(a) is type(b)
  if isinstance(a, np.ndarray) and a.dtype == object:
    assert a.shape == b.shape
    for x, y in zip(a.ravel(), b.ravel()):
      _same(x, y)
  elif isinstance(a, (np.ndarray, np.void)) and a.dtype.names:
    assert a.dtype.names == b.dtype.names and a.shape == b.shape
    for name in a.dtype.names:
      _same(np.asarray(a[name]), np.asarray(b[name]))
  else:
    np.testing.assert_array_equal(a, b)
    assert np.asarray(a).dtype == np.asarray(b).dtype


@pytest.mark.parametrize("squeeze", [False, True])
def test_values_come_back_as_scipy_reads_them(squeeze):
  cell = np.empty(3, object)
  cell[:] = ["text", np.arange(6).reshape(2, 3), np.array([[1.5]])]
  record = np.array([(1, "a"), (2, "bc")], [("n", object), ("s", object)])
  content = {"x": np.arange(4, dtype=np.uint8), "c": cell, "r": record, "t": "word", "z": 3.5,
             "e": np.zeros((0, 2)), "d": {"inner": {"k": [1, 2]}}}
  buffer = io.BytesIO()
  scipy.io.savemat(buffer, content)
  expected = scipy.io.loadmat(io.BytesIO(buffer.getvalue()), squeeze_me=squeeze)
  found = mat_files.read(buffer.getvalue(), "x.mat", list(content), squeeze=squeeze)
  for name in content:
    _same(found[name], expected[name])


def test_a_crash_is_an_error_and_the_next_file_is_read():
  data = mat_files.packed({"x": np.arange(3)})
  assert mat_files.read(data, "x.mat", ["x"])["x"].tolist() == [[0, 1, 2]]
  process, _ = child._child()
  os.kill(process.pid, signal.SIGSEGV)
  process.wait()
  with pytest.raises(errors.DataError, match=r"x.mat crashes the decoder .*\(exit code -11\)"):
    mat_files.read(data, "x.mat", ["x"])
  assert mat_files.read(data, "x.mat", ["x"])["x"].tolist() == [[0, 1, 2]]


def test_a_hang_ends(monkeypatch):
  monkeypatch.setattr(child, "PATIENCE", 0.05)
  child._child()  # Its program has not yet begun to read.
  process, _ = child._child()
  os.kill(process.pid, signal.SIGSTOP)
  with pytest.raises(errors.DataError, match="was not read as a MATLAB file within"):
    mat_files.read(mat_files.packed({"x": 1}), "x.mat", ["x"])
  assert process.poll() is not None


def test_a_header_that_asks_for_much_memory_is_refused():
  data = bytearray(mat_files.packed({"x": np.zeros((3, 1 << 10))}))
  at = data.index(np.array([3, 1 << 10], np.int32).tobytes())
  data[at:at + 8] = np.array([1 << 15, 1 << 16], np.int32).tobytes()
  with pytest.raises(errors.DataError, match="x.mat c"):  # "cannot be read" or "crashes".
    mat_files.read(bytes(data), "x.mat", ["x"])


def test_damaged_bytes_anywhere_are_data_errors_or_values():
  cell = np.empty(2, object)
  cell[:] = ["text", np.arange(3)]
  whole = mat_files.packed({"x": cell, "s": {"a": 1, "b": "two"}})
  rng = np.random.default_rng(0)
  for _ in range(60):
    data = np.frombuffer(whole, np.uint8).copy()
    data[rng.integers(128, len(data), 3)] = rng.integers(0, 256, 3)
    try:
      mat_files.read(data.tobytes(), "x.mat", ["x", "s"])
    except errors.DataError as error:
      assert "x.mat" in str(error)


def test_what_no_parser_reads_is_not_passed_on():
  with pytest.raises(TypeError, match="it holds a set"):
    child_decoders.pack(np.array([{1}], object))

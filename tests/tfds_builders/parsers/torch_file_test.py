# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Files of torch.save, read without torch and without unpickling anything."""

import base64
import collections
import io
import pickle
import random
import zipfile

import numpy as np
import pytest

from tfds_builders import errors
from tfds_builders.parsers import clear_fixture
from tfds_builders.parsers import torch_file

# torch.save({"a": torch.arange(6.)[1:5].reshape(2, 2).t(), "n": 3}, path,
#            _use_new_zipfile_serialization=False), written by torch itself.
_OLD_FORMAT = base64.b64decode(
    "gAKKCmz8nEb5IGqoUBkugAJN6QMugAJ9cQAoWBAAAABwcm90b2NvbF92ZXJzaW9ucQFN6QNYDQAAAGxpdHRsZV9l"
    "bmRpYW5xAohYCgAAAHR5cGVfc2l6ZXNxA31xBChYBQAAAHNob3J0cQVLAlgDAAAAaW50cQZLBFgEAAAAbG9uZ3EH"
    "SwR1dS6AAn1xAChYAQAAAGFxAWN0b3JjaC5fdXRpbHMKX3JlYnVpbGRfdGVuc29yX3YyCnECKChYBwAAAHN0b3Jh"
    "Z2VxA2N0b3JjaApGbG9hdFN0b3JhZ2UKcQRYDgAAADk0MDE0MDY3MTA2MzUycQVYAwAAAGNwdXEGSwZOdHEHUUsB"
    "SwJLAoZxCEsBSwKGcQmJY2NvbGxlY3Rpb25zCk9yZGVyZWREaWN0CnEKKVJxC3RxDFJxDVgBAAAAbnEOSwN1LoAC"
    "XXEAWA4AAAA5NDAxNDA2NzEwNjM1MnEBYS4GAAAAAAAAAAAAAAAAAIA/AAAAQAAAQEAAAIBAAACgQA==")


def _zip(data):
  stream = io.BytesIO()
  with zipfile.ZipFile(stream, "w") as archive:
    archive.writestr("archive/data.pkl", data)
  return stream.getvalue()


def test_dictionaries_lists_and_tensors_come_back():
  vectors = np.arange(12, dtype=np.float32).reshape(3, 4)
  found = torch_file.load(clear_fixture.torch_zip({"7": vectors, "8": (vectors[0], [1, 2])}), "f")
  np.testing.assert_array_equal(found["7"], vectors)
  np.testing.assert_array_equal(found["8"][0], vectors[0])
  assert found["8"][1] == [1, 2] and found["7"].dtype == np.float32


def test_the_format_before_torch_1_6_is_read_with_offsets_and_strides():
  found = torch_file.load(_OLD_FORMAT, "f")
  assert found["n"] == 3
  np.testing.assert_array_equal(found["a"], [[1, 3], [2, 4]])


class _Evil:
  def __reduce__(self):
    return print, ("never",)


@pytest.mark.parametrize("value, message", [
    (_Evil(), "would call"), ({"a": np.arange(3)}, "would call|not supported"),
    (random.Random(0), "not supported|would call"), (b"bytes", "would call|not supported")])
@pytest.mark.parametrize("protocol", [0, 2, 4])
def test_what_would_run_code_is_refused(value, message, protocol, capsys):
  with pytest.raises(errors.DataError, match=message):
    torch_file.load(_zip(pickle.dumps(value, protocol)), "file.pth")
  assert not capsys.readouterr().out


class _State(dict):
  def __reduce__(self):
    return collections.OrderedDict, (), self.attributes, None, iter(self.items())


def test_versions_of_layers_are_dropped_and_other_attributes_refused():
  state = _State(a=1)
  state.attributes = {"_metadata": {"": {"version": 1}}}
  assert torch_file.load(_zip(pickle.dumps(state, 2)), "f") == {"a": 1}
  state.attributes = {"popitem": 3}
  with pytest.raises(errors.DataError, match="sets attributes"):
    torch_file.load(_zip(pickle.dumps(state, 2)), "f")


def test_shared_structure_is_not_multiplied():
  shared = []
  for _ in range(60):
    shared = [shared, shared]  # 2^60 leaves, if each were copied.
  assert len(torch_file.load(_zip(pickle.dumps(shared, 2)), "f")) == 2


def test_a_tensor_larger_than_its_storage_is_refused():
  good = clear_fixture.torch_zip({"a": np.zeros((2, 3), np.float32)})
  with zipfile.ZipFile(io.BytesIO(good)) as archive:
    body = archive.read("archive/data.pkl")
  shape, larger = (b"(J\x02\x00\x00\x00J%c\x00\x00\x00t" % size for size in (3, 4))
  assert shape in body
  stream = io.BytesIO()
  with zipfile.ZipFile(stream, "w") as archive:
    archive.writestr("archive/data.pkl", body.replace(shape, larger))
    archive.writestr("archive/data/0", bytes(24))
  with pytest.raises(errors.DataError, match="larger than its storage"):
    torch_file.load(stream.getvalue(), "file.pth")


def test_damaged_files_are_data_errors_whatever_the_damage():
  rng = random.Random(0)
  for good in (clear_fixture.torch_zip({"7": np.ones((2, 3), np.float32)}), _OLD_FORMAT):
    for _ in range(400):
      bad = bytearray(good)
      for _ in range(rng.randint(1, 4)):
        bad[rng.randrange(len(bad))] = rng.randrange(256)
      if rng.random() < 0.3:
        bad = bad[:rng.randrange(len(bad))]
      try:
        torch_file.load(bytes(bad), "f")
      except errors.DataError:
        pass
  with pytest.raises(errors.DataError, match="other.pth"):
    torch_file.load(b"no torch at all", "other.pth")

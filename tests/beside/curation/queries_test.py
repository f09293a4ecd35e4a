# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Queries by text features, by images, by an encoder of texts."""

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import queries

_ROWS = {"i0": 0, "i1": 1, "i2": 2}


def _read(tmp_path, text, vectors=None):
  np.save(tmp_path / "f.npy", np.array([[2, 0], [0, 3], [1, 1]], np.float32))
  (tmp_path / "q.csv").write_text(text)
  if vectors is not None:
    np.save(tmp_path / "q.npy", np.array(vectors, np.float32))
  return queries.read(tmp_path / "q.csv", None if vectors is None else tmp_path / "q.npy",
                          feature_files.FeatureFiles([tmp_path / "f.npy"]), _ROWS)


def test_texts_are_sorted_by_class_with_their_features(tmp_path):
  found = _read(tmp_path, 'class,prompt\nlaptop,"laptop, computer"\nbus,\n', [[0, 4], [3, 4]])
  assert found.names == ["bus", "laptop"] and found.prompts == ["bus", "laptop, computer"]
  np.testing.assert_allclose(found.vectors, [[0.6, 0.8], [0, 1]])


def test_images_of_a_class_give_their_mean_direction(tmp_path):
  found = _read(tmp_path, "class,id\nbus,i0\nart,i2\nbus,i1\n")
  assert found.names == ["art", "bus"] and found.prompts[1] == "images i0, i1"
  np.testing.assert_allclose(found.vectors, np.full((2, 2), 0.5 ** 0.5))  # Lengths do not weigh.


def test_an_encoder_of_texts_serves_where_there_is_one():
  class Encoder:
    def encode_text(self, texts):
      return np.array([[len(text), 0.0] for text in texts])

  found = queries.from_text(Encoder(), ["b", "a"], ["bb", "aaa"])
  assert found.names == ["a", "b"] and found.vectors.tolist() == [[1, 0], [1, 0]]
  with pytest.raises(errors.CurationError, match="object has no encode_text: it embeds images"):
    queries.from_text(object(), ["a"], ["a"])


@pytest.mark.parametrize("text, vectors, message", [
    ("class,prompt\nbus,bus\n", None, "no model of texts comes with this tool. .*'bus'"),
    ("class,id\nbus,i0\n", [[1, 1]], "leave out .*q.npy"),
    ("class,id\nbus,i9\n", None, "not in the collection: 'i9'"),
    ("class,prompt\na b,x\n", [[1, 1]], "'a b' cannot be class names"),
    ("class,prompt\n../x,x\n", [[1, 1]], "cannot be class names"),
    ("class,prompt\nBACKGROUND,x\n", [[1, 1]], "BACKGROUND is made from low scores"),
    ("class,prompt\na,x\na,y\n", [[1, 1], [1, 2]], "classes 'a' have several queries"),
    ("class,prompt\na,x\nb,y\n", [[1, 1]], r"2 queries, but features of shape \(1, 2\)"),
    ("class,prompt\na,x\n", [[0, 0]], "queries 'a' are NaN"),
    ("prompt\nx\n", [[1, 1]], r"not \['class'\]"), ("class,prompt\n", [[1, 1]], "has no queries")])
def test_queries_that_cannot_be_asked(tmp_path, text, vectors, message):
  with pytest.raises(errors.CurationError, match=message):
    _read(tmp_path, text, vectors)

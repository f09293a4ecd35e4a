# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Candidates, ambiguous images and background, worked by hand."""

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation import feature_files
from suite.beside.curation import queries as queries_lib
from suite.beside.curation import selection


def _select(tmp_path, angles, asked, **rule):
  """Features and queries are directions in the plane, in degrees; one bucket."""
  def plane(degrees):
    return np.stack([np.cos(np.radians(degrees)), np.sin(np.radians(degrees))], axis=1)

  np.save(tmp_path / "f.npy", plane(np.array(angles)))
  names = list(asked)
  queries = queries_lib.Queries(names, names, plane(np.array(list(asked.values()))))
  num = len(angles)
  return selection.select(
      feature_files.FeatureFiles([tmp_path / "f.npy"]), np.zeros(num, np.int16), np.arange(num),
      queries, selection.SelectionRule(**{"first": 0, **rule}))


def _rows(found, label):
  return [one.row for one in found.candidates if one.label == label]


def test_the_top_of_two_queries_is_ambiguous_and_goes_to_neither(tmp_path):
  found = _select(tmp_path, [0, 10, 45, 80, 90, 180, 200, 270], {"bus": 0, "car": 90}, share=3 / 8,
                  background=1)
  assert _rows(found, "bus") == [0, 1] and _rows(found, "car") == [4, 3]
  assert found.ambiguous == [(0, 2, ["bus", "car"])]
  # The lowest of bus is 180 degrees; of car 270, image 7.
  assert _rows(found, "BACKGROUND") == [5, 7]
  assert [one.score for one in found.candidates if one.label == "BACKGROUND"] == [-1.0, -1.0]
  assert found.counts == [{"bucket": 0, "images": 8, "top": 3, "ambiguous": 1,
                           "candidates": {"BACKGROUND": 2, "bus": 2, "car": 2}}]


def test_background_takes_the_next_where_another_query_was_first(tmp_path):
  found = _select(tmp_path, [0, 1, 180, 181, 182, 183], {"a": 0, "b": 1}, share=1 / 6,
                  background=1)
  # Both are least like 180 or 181 degrees: a takes 180 (image 2), b 181 (image 3).
  assert _rows(found, "BACKGROUND") == [2, 3]
  assert _rows(found, "a") == [0] and _rows(found, "b") == [1]


def test_keep_takes_the_best_after_ambiguous_ones_are_gone(tmp_path):
  angles = [0, 5, 10, 44, 46, 80, 85, 90]
  found = _select(tmp_path, angles, {"a": 0, "b": 90}, share=0.625, keep=2, background=0)
  assert _rows(found, "a") == [0, 1] and _rows(found, "b") == [7, 6]
  assert [one.row for one in found.ambiguous] == [3, 4]
  assert not _rows(found, "BACKGROUND")
  with pytest.raises(errors.CurationError, match="'a' has 3 unambiguous images .* keep=4"):
    _select(tmp_path, angles, {"a": 0, "b": 90}, share=0.625, keep=4, background=0)


def test_numbers_follow_the_share_without_rounding_errors():
  assert selection.SelectionRule().top(700_000) == 700 and selection.SelectionRule().top(999) == 0
  assert selection.SelectionRule(share=0.29).top(100) == 29  # int(0.29 * 100) is 28.
  assert selection.SelectionRule(keep=300).low(700) == 30 and selection.SelectionRule().low(5) == 1


@pytest.mark.parametrize("rule, message", [
    ({"share": 0.0}, "share=0.0; a share is above 0"), ({"share": 1.5}, "share=1.5"),
    ({"keep": 0}, "keep=0"), ({"background": -1}, "background=-1"), ({"first": 1}, "first=1, but"),
    ({"share": 0.1}, "A share of 0.1 of 4 images is not one image. Give a share of at least 0.25"),
    ({"share": 0.5, "keep": 3}, "keep=3, but the top 50.000% of a bucket is 2"),
    ({"share": 0.5, "background": 1}, "too few images outside the top of every query for 1")])
def test_numbers_that_cannot_be(tmp_path, rule, message):
  with pytest.raises(errors.CurationError, match=message):
    _select(tmp_path, [0, 1, 90, 91], {"a": 0, "b": 90}, **{"background": 0, **rule})


def test_a_class_without_candidates_is_an_error(tmp_path):
  with pytest.raises(errors.CurationError, match="'a', 'b' have no candidates: all of their top"):
    _select(tmp_path, [0, 90, 91], {"a": 0, "b": 1}, share=1 / 3, background=0)

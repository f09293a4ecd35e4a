# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Which split and which test draws an image has."""

import dataclasses
import pathlib

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation.timelines import dated_table
from suite.beside.curation.timelines import timeline_plan


def _table(rows, name="images.csv"):
  """rows: (id, year, label)."""
  ids, years, labels = map(list, zip(*rows))
  times = np.array([(int(year) - 1970) * 365.25 * 86400 + 86400 for year in years])
  return dated_table.DatedTable(
      pathlib.Path(name), np.array(ids), times, np.array(labels),
      [pathlib.Path("/photos", one) for one in ids], 0, lambda rows: f"rows {list(rows)}")


ROWS = [*((f"a{i}", 2001, "tram") for i in range(10)), *((f"b{i}", 2001, "bus") for i in range(9)),
        ("c", 2001, "ferry"), ("d", 2001, ""), ("e", 2002, ""), ("f", 2003, "bus")]


def test_images_without_a_label_have_splits_of_their_own_beside_labeled_ones():
  plan = timeline_plan.make(_table(ROWS), by="year")
  split = {one.id: one.split for one in plan.images}
  assert (split["a0"], split["d"], split["e"], split["f"]) == (
      "bucket_01", "unlabelled_bucket_01", "bucket_02", "bucket_03")
  assert {one.id: one.label for one in plan.images}["e"] is None
  assert plan.class_names == ["bus", "ferry", "tram"]
  assert plan.facts["unlabelled_buckets"] == [2]
  assert [(one["images"], one["unlabelled"], one["classes"]) for one in plan.facts["buckets"]] == [
      (20, 1, ["bus", "ferry", "tram"]), (0, 1, []), (1, 0, ["bus"])]


def test_each_draw_has_its_share_of_each_class_and_leaves_one_of_each():
  plan = timeline_plan.make(_table(ROWS), by="year", test_share=0.3)
  first = [one for one in plan.images if one.split == "bucket_01"]
  draws = []
  for seed in timeline_plan.SEEDS:
    chosen = [one for one in first if one.features[f"iid_test_{seed}"]]
    assert [sum(one.label == name for one in chosen) for name in ("tram", "bus", "ferry")] == [
        3, 3, 0]
    draws.append(tuple(one.id for one in chosen))
  assert len(set(draws)) > 1
  alone, = (one for one in plan.images if one.split == "bucket_03")
  assert not any(alone.features[f"iid_test_{seed}"] for seed in timeline_plan.SEEDS)


def test_the_order_of_the_lines_does_not_matter():
  assert timeline_plan.make(_table(ROWS), by="equal", num=4) == timeline_plan.make(
      _table(ROWS[::-1]), by="equal", num=4)


def test_a_test_table_is_divided_by_the_same_times():
  test = _table([("x", 2001, "bus"), ("y", 2003, "tram")], "test.csv")
  plan = timeline_plan.make(_table(ROWS), by="year", test=test)
  assert {one.id: one.split for one in plan.images if "test" in one.split} == {
      "test/x": "test_bucket_01", "test/y": "test_bucket_03"}
  assert [one["test_images"] for one in plan.facts["buckets"]] == [1, 0, 1]


@pytest.mark.parametrize("row, message", [
    (("x", 2001, "van"), "have a label that no image of images.csv has: rows .0.. Leave"),
    (("x", 2001, ""), "1 test images have no label"),
    (("x", 1999, "bus"), "are of a time that no bucket of images.csv has"),
    (("a3", 2001, "tram"), "are in images.csv, too")])
def test_test_images_that_do_not_fit_are_refused(row, message):
  with pytest.raises(errors.CurationError, match=message):
    timeline_plan.make(_table(ROWS), by="year", test=_table([row], "test.csv"))


def test_a_share_that_is_none_is_refused():
  with pytest.raises(errors.CurationError, match="test_share=1; allowed is a number between"):
    timeline_plan.make(_table(ROWS), by="year", test_share=1)


def test_buckets_that_a_table_gives_are_kept():
  table = dataclasses.replace(_table(ROWS[-4:]), buckets=np.array([2, 1, 3, 2]))
  test = dataclasses.replace(_table([("t", 2001, "ferry")], "test.csv"), buckets=np.array([3]))
  plan = timeline_plan.make(table, by="bucket", test=test)
  assert {one.id: one.split for one in plan.images} == {
      "c": "bucket_02", "d": "bucket_01", "e": "bucket_03", "f": "bucket_02",
      "test/t": "test_bucket_03"}
  gap = dataclasses.replace(table, buckets=np.array([2, 4, 1, 4]))
  with pytest.raises(errors.CurationError, match="has the buckets 1, 2, 4; they must count from 1"):
    timeline_plan.make(gap, by="bucket")
  with pytest.raises(errors.CurationError, match="Got --num 2 with --by bucket"):
    timeline_plan.make(table, by="bucket", num=2)
  late = dataclasses.replace(test, buckets=np.array([4]))
  with pytest.raises(errors.CurationError, match="1 test images are of a time that no bucket"):
    timeline_plan.make(table, by="bucket", test=late)

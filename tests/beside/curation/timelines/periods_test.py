# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Buckets by year, by month and of equal size."""

import numpy as np
import pytest

from suite.beside.curation import errors
from suite.beside.curation.timelines import timeline_plan
from suite.data.own import dates

TIMES = np.array([dates.seconds(day) for day in (
    "2011-12-31 23:59:59", "2012-01-01", "2012-03-01", "2014-02-01", "2012-03-31", "1969-12-31")])
IDS = np.array(list("abcdef"))


@pytest.mark.parametrize("by, num, names, found", [
    ("year", None, ["1969", "2011", "2012", "2014"], [2, 3, 3, 4, 3, 1]),
    ("year", 2, ["1969 to 2011", "2012 to 2014"], [1, 2, 2, 2, 2, 1]),
    ("month", None, ["1969-12", "2011-12", "2012-01", "2012-03", "2014-02"], [2, 3, 4, 5, 4, 1]),
    ("equal", 3, ["1969-12-31T00:00:00Z to 2011-12-31T23:59:59Z",
                  "2012-01-01T00:00:00Z to 2012-03-01T00:00:00Z",
                  "2012-03-31T00:00:00Z to 2014-02-01T00:00:00Z"], [1, 2, 2, 3, 3, 1])])
def test_buckets_count_from_one_in_the_order_of_time(by, num, names, found):
  buckets, rule = timeline_plan.divide(TIMES, IDS, by, num)
  assert buckets.tolist() == found and rule.names == names


def test_further_images_are_in_the_bucket_of_their_time():
  later = np.array(
    [dates.seconds(day) for day in ("2013-01-01", "2012-06-01", "2015", "1968")]
  )
  assert timeline_plan.divide(TIMES, IDS, "year")[1].of(later).tolist() == [0, 3, 0, 0]
  assert timeline_plan.divide(TIMES, IDS, "equal", 3)[1].of(later).tolist() == [3, 3, 3, 0]


@pytest.mark.parametrize("by, num, message", [
    ("year", 5, "The images are of 4 years, which cannot fill 5 buckets. Ask for at most 4, or"),
    ("equal", 7, "6 images cannot fill 7 buckets: some would be empty. Ask for at most 6"),
    ("equal", None, "Buckets of equal size need a number of them: --num N"),
    ("day", None, "Unknown by='day'; allowed are year, month, equal"),
    ("year", 0, "Got 0 buckets; at least 1 is needed")])
def test_buckets_that_cannot_be_are_refused(by, num, message):
  with pytest.raises(errors.CurationError, match=message):
    timeline_plan.divide(TIMES, IDS, by, num)


def test_there_may_be_more_buckets_than_clear_has():
  buckets, _ = timeline_plan.divide(np.arange(300.0), np.arange(300).astype(str), "equal", 150)
  assert np.bincount(buckets).tolist() == [0] + [2] * 150

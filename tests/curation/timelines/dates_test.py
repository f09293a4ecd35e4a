# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Times in the forms that tables have."""

import datetime

import numpy as np
import pytest

from suite.curation.timelines import dated_table

MAY_31 = 1338422400  # 2012-05-31T00:00:00Z: date -d 2012-05-31T00:00:00Z +%s.


@pytest.mark.parametrize("value, found", [
    ("2012-05-31", MAY_31), ("2012-05-31 01:02", MAY_31 + 3720),
    (" 2012-05-31T01:02:03Z ", MAY_31 + 3723),
    ("2012-05-31T02:00:00+02:00", MAY_31), ("2012-05-31 02:00:00 +0200", MAY_31),
    ("2012:05:31 00:00:05", MAY_31 + 5), ("2012/5/31", MAY_31), ("2012-05", MAY_31 - 30 * 86400),
    ("2012", 1325376000), (2012, 1325376000), (MAY_31, MAY_31), (f"{MAY_31}.5", MAY_31 + 0.5),
    (datetime.date(2012, 5, 31), MAY_31), (datetime.datetime(2012, 5, 31), MAY_31)])
def test_times_that_are_read(value, found):
  assert dated_table.seconds(value) == found


@pytest.mark.parametrize("value", [
    "yesterday", "31.05.2012", "05/31/2012", "2012-13-01", "2012-02-30", "2012-05-31 25:00", "",
    "1338422400000", "nan", "2012/05-31"])
def test_times_that_are_not(value):
  assert np.isnan(dated_table.seconds(value))

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Times in the forms that tables have: each is read right, or is no time."""

import datetime
import decimal

import numpy as np
import pandas as pd
import pytest

from suite.data.own import dates

MAY_31 = 1338422400  # 2012-05-31T00:00:00Z: date -d 2012-05-31T00:00:00Z +%s.
YEAR, MONTH = 1325376000, 1335830400  # 2012-01-01, 2012-05-01.
CLOCK = MAY_31 + 9 * 3600 + 56 * 60 + 37


@pytest.mark.parametrize("value, found", [
    ("2012", YEAR), (2012, YEAR), (2012.0, YEAR), ("2012.0", YEAR), ("2.012e3", YEAR),
    (decimal.Decimal("2012.00"), YEAR), (np.float32(2012), YEAR), (np.int64(2012), YEAR),
    ("2012-05", MONTH), ("2012/5", MONTH), ("201205", MONTH), (201205.0, MONTH),
    ("2012-05-31", MAY_31), ("2012/5/31", MAY_31), ("2012:05:31", MAY_31), ("2012.05.31", MAY_31),
    ("20120531", MAY_31), (20120531, MAY_31), ("20120531.0", MAY_31),
    ("2012-W22-4", MAY_31), ("2012W224", MAY_31), ("2012-W22", MAY_31 - 3 * 86400),
    ("2015-W53-7", 1451779200), ("2012-152", MAY_31), ("2012152", MAY_31), (2012152.0, MAY_31),
    ("2012-02-29", 1330473600), ("1969-12-31", -86400), ("1850", -3786825600),
    ("2012-05-31 09:56:37", CLOCK), ("2012-05-31 09:56:37.0", CLOCK),
    ("2012-05-31 9:56:37", CLOCK), ("2012-05-31_095637", CLOCK), ("20120531T095637Z", CLOCK),
    ("20120531095637", CLOCK), ("201205310956", CLOCK - 37), ("2012-05-31T09", CLOCK - 3397),
    ("2012-05-31 09:56:37.12", CLOCK + 0.12), ("2012-05-31T09:56:37,5", CLOCK + 0.5),
    ("2012-05-31T09:56:37.1234567Z", CLOCK + 0.1234567),
    ("2012-05-31T09:56:37.123456789+00:00", CLOCK + 0.123456789),
    ("2012:05:31 09:56:37.25", CLOCK + 0.25), (" 2012-05-31T09:56:37z ", CLOCK),
    ("2012-05-31 11:56:37+0200", CLOCK), ("2012-05-31 11:56:37 +02", CLOCK),
    ("2012-05-31 11:56:37 +02:00", CLOCK), ("2012-05-31 09:56:37 UTC", CLOCK),
    ("2012-05-31T04:26:37-05:30", CLOCK), ("2012-05-31T04:26:37\u22120530", CLOCK),
    ("2012-05-30T24:00", MAY_31), ("2012-05-30 23:59:60", MAY_31),
    (MAY_31, MAY_31), (f"{MAY_31}.5", MAY_31 + 0.5), ("1.3384224e9", MAY_31),
    (MAY_31 * 1000, MAY_31), (f"{MAY_31}250", MAY_31 + 0.25), (946684800000, 946684800),
    (MAY_31 * 10**6, MAY_31), (MAY_31 * 10**9, MAY_31),
    (datetime.date(2012, 5, 31), MAY_31), (datetime.datetime(2012, 5, 31), MAY_31),
    (pd.Timestamp("2012-05-31T02:00+02:00"), MAY_31), (np.datetime64("2012-05-31T00:00"), MAY_31),
    (b"2012-05-31", MAY_31), ("2012:05:31 09:56:37\0", CLOCK)])
def test_times_that_are_read(value, found):
  assert dates.seconds(value) == found and not dates.is_missing(value)


@pytest.mark.parametrize("value", [
    "yesterday", "31.05.2012", "05/31/2012", "2012-13-01", "2012-02-30", "2013-02-29",
    "2012-05-31 25:00", "2012-05-31 24:01", "2012-05-31 10:60", "2012-05-31T", "2012-05 10:00",
    "2012/05-31", "2012-W53-1", "2012-W22-8", "2013-366", "2012-000", "20120531T1", "12:05:31",
    "2012-05-31 105", "2012-05-31 10-05", "2012-05-31 10:00 +25", "2012-05-31 10:00 PM",
    "9999-12-31", "0999-01-01", "inf", True, "\u0662\u0660\u0661\u0662", "2012-05-31x", "x2012"])
def test_times_that_are_not(value):
  assert np.isnan(dates.seconds(value)) and not dates.is_missing(value)
  assert not dates.question(value)


@pytest.mark.parametrize("value, meaning", [
    ("86400", "1970-01-02 in seconds since 1970"), (0, "1970-01-01 in seconds since 1970"),
    ("-1", "1969-12-31 in seconds"), ("2012.5", "1970-01-01 in"), ("120531", "1970-01-02 in"),
    ("41060", "1970-01-01 in"), ("31052012", "1970-12-26 in"), ("20121331", "1970-08-21 in"),
    ("2012053110", "2012-05-31 by its digits, 2033-10-04 in seconds since 1970"),
    ("1e300", "no year that a date can have")])
def test_a_number_that_may_mean_several_things_is_a_question(value, meaning):
  assert np.isnan(dates.seconds(value)) and not dates.is_missing(value)
  assert dates.question(value).startswith(meaning)


@pytest.mark.parametrize("value, unit, found", [
    ("86400", "s", 86400), ("-86400", "s", -86400), (2012, "s", 2012), ("86400000", "ms", 86400),
    ("2012-05-31", "ms", MAY_31), (2012053110, "s", 2012053110), (5e9, "us", 5000)])
def test_a_unit_says_what_all_numbers_are(value, unit, found):
  assert dates.seconds(value, unit) == found


@pytest.mark.parametrize("value", [
    None, "", "  ", float("nan"), "nan", "NaN", "NaT", "null", "NULL", "None", "N/A", "<NA>", "\\N",
    "-", "unknown", "0000:00:00", "0000:00:00 00:00:00", "0000-00-00", "0000-00-00T00:00:00Z",
    "0000", "00000000", "    :  :     :  :  ", "0001-01-01T00:00:00", pd.NaT, pd.NA,
    np.datetime64("NaT"), np.float64("nan")])
def test_words_for_no_date(value):
  assert dates.is_missing(value) and np.isnan(dates.seconds(value))

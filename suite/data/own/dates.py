# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""The times of images, as tables write them: the one parser of timelines, curation and fetch lists.

The grammar stands here instead of in `datetime.fromisoformat`, which reads less before Python 3.11,
and in pandas or dateutil, which guess: 05/06/2012 is refused, not taken for May or June.

    2012, 2012.0                       a year
    2012-05, 201205                    a month; "/" and EXIF's ":" stand for "-", too
    2012-05-31, 2012.05.31, 20120531   a day
    2012-W22, 2012-W22-4, 2012W224     an ISO week (its Monday), a day of one
    2012-152, 2012152                  a day of the year
    201205311030, 20120531103000       a minute, a second
    2012-05-31 10:30[:00[.25]]         with T, _ or blanks between; or 10, 1030, 103000; then
                                       Z, UTC, GMT, +02, +0200 or +02:00; without a zone, UTC
    1338422400[.5]                     seconds since 1970, from 1973 to 2100
    1338422400000                      milliseconds since 1970, and micro- and nanoseconds

A number that fits none of them, or two, is no time: a user has to say what it means (`question`).
"""

from __future__ import annotations

import datetime
import decimal
import math
import re
from typing import Any

# Unit of numbers that are all times since 1970 -> units of a second.
UNITS = {"s": 1, "ms": 1_000, "us": 1_000_000, "ns": 1_000_000_000}
ALLOWED = ("2012, 2012-05, 2012-05-31, 2012-05-31 23:59[:59[.5]], with T for the blank and with Z, "
           "+02 or +02:00 at the end, 2012/05/31 or 2012:05:31 (EXIF), 20120531, 2012-W22-4, "
           "2012-152, or seconds or milliseconds since 1970; without a zone, UTC")
OLD_BEFORE = 631152000  # 1990-01-01: before digital cameras, and just after a wrong unit's 1970.

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MISSING = frozenset((
    "", "nat", "nan", "-nan", "null", "(null)", "none", "nil", "na", "n/a", "#n/a", "#na", "<na>",
    "n.a.", "\\n", "-", "--", "?", "unknown", "undated", "no date", "missing"))
# 0000:00:00 00:00:00, EXIF's blanks between colons, and the least time of .NET.
_ZERO = re.compile(r"0000|00000000|[0 ]*([-/:])[0 ]*\1[-/:0 .TZ+]*"
                   r"|0001[-/]01[-/]01([T ]00:00(:00(\.0+)?)?)?(Z|\+00:00)?")
_NUMBER = re.compile(r"[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]{1,3})?")
_TIME = re.compile(r"""
    (?P<year>[0-9]{4})
    (?: (?P<mark>[-/:.]) (?P<month>[0-9]{1,2}) (?: (?P=mark) (?P<day>[0-9]{1,2}) )?
      | (?P<dash>-?) W (?P<week>[0-9]{2}) (?: (?P=dash) (?P<weekday>[1-7]) )?
      | -? (?P<ordinal>[0-9]{3})
      | (?P<compact>[0-9]{4})
    )
    (?: (?:[Tt_]|\ +)
        (?P<hour>[0-9]{1,2})
        (?: (?P<colon>:?) (?P<minute>[0-9]{2})
            (?: (?P=colon) (?P<second>[0-9]{2}) (?: [.,] (?P<fraction>[0-9]+) )? )? )?
        \ * (?: (?P<utc>Z|z|UTC|GMT)
              | (?P<sign>[-+\u2212]) (?P<zone_hour>[0-9]{2}) (?: :? (?P<zone_minute>[0-9]{2}) )? )?
    )?""", re.VERBOSE)
# Digits of a whole number that may be a date -> the first year it is taken for.
_COMPACT = {4: 1000, 6: 1800, 7: 1800, 8: 1800, 10: 1990, 12: 1800, 14: 1800}
_LAST_YEAR = 2100
_UNIX = (100_000_000, 4_102_444_800)  # Seconds from 1973-03-03 to 2100.


def is_missing(value: Any) -> bool:
  """Whether a cell says that there is no date: empty, NaT, null, 0000:00:00 and the like."""
  if value is None or isinstance(value, float) and math.isnan(value):
    return True
  text = _text(value)
  return text.lower() in _MISSING or _ZERO.fullmatch(text) is not None


def seconds(value: Any, unit: str | None = None) -> float:
  """Converts a cell to seconds since 1970 (UTC).

  Args:
    value: text, a number, a date or a time.
    unit: one of `UNITS`, which numbers are in; None: see the head of this page.

  Returns:
    NaN if the cell is no time, or a number whose meaning is not clear.
  """
  if is_missing(value) or isinstance(value, bool):
    return math.nan
  if isinstance(value, datetime.datetime):
    aware = value if value.tzinfo else value.replace(tzinfo=datetime.timezone.utc)
    return (aware - _EPOCH).total_seconds()
  text = _text(value)
  if _NUMBER.fullmatch(text):
    found = _readings(text, unit)
    return found[0] if len(found) == 1 else math.nan
  return _written(text)


def question(value: Any) -> str:
  """What a number may mean that `seconds` does not read; "" for other cells."""
  text = "" if value is None or isinstance(value, (bool, datetime.date)) else _text(value)
  if not _NUMBER.fullmatch(text):
    return ""
  found = _readings(text, None) or _readings(text, "s")
  if not found:
    return "no year that a date can have, in seconds since 1970"
  days = [(_EPOCH + datetime.timedelta(seconds=one)).date().isoformat() for one in found]
  return (f"{days[0]} in seconds since 1970" if len(days) == 1 else
          f"{days[0]} by its digits, {days[1]} in seconds since 1970")


def _text(value: Any) -> str:
  text = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
  return text.strip(" \t\r\n\0")  # EXIF ends texts with a zero.


def _readings(text: str, unit: str | None) -> list[float]:
  """All that a number may mean, in seconds since 1970."""
  number = decimal.Decimal(text)
  if unit is not None:
    found = number / UNITS[unit]
    return [float(found)] if -62135596800 <= found < 253402300800 else []  # Years 1 to 9999.
  whole = text
  if not text.isdigit():  # 2012.0, 1.3384224e9; "" with a fraction.
    whole = format(number.to_integral_value(), "f") if number == number.to_integral_value() else ""
  readings = []
  if _COMPACT.get(len(whole), math.inf) <= int(whole[:4] or 0) <= _LAST_YEAR:
    date = {4: f"{whole}-01", 6: f"{whole[:4]}-{whole[4:]}"}.get(
        len(whole), f"{whole[:8]}T{whole[8:]}" if len(whole) > 8 else whole)
    readings = [one for one in (_written(date),) if not math.isnan(one)]
  # As milliseconds, a date of 12 digits would be of 1975 or 1976, one of 14 digits of 1970.
  if not readings or len(whole) == 10:
    readings += [float(number / per_second) for per_second in UNITS.values()
                 if _UNIX[0] <= number / per_second < _UNIX[1]]
  return readings


def _written(text: str) -> float:
  """Seconds since 1970 of a date that is more than a number; NaN if it is none."""
  match = _TIME.fullmatch(text)
  try:
    return math.nan if match is None else _of_parts(match.groupdict())
  except ValueError:  # There is no such day, or clock.
    return math.nan


def _of_parts(parts: dict[str, str | None]) -> float:
  """Seconds since 1970 of the named groups of `_TIME`; a ValueError if there is no such time."""
  def number(name: str, default: int = 0) -> int:
    return int(parts[name] or default)

  year = number("year")
  if not 1000 <= year <= _LAST_YEAR:
    raise ValueError("out of range")
  if parts["week"]:
    day = datetime.date.fromisocalendar(year, number("week"), number("weekday", 1))
    is_day = bool(parts["weekday"])
  elif parts["ordinal"]:
    day, is_day = datetime.date(year, 1, 1) + datetime.timedelta(number("ordinal") - 1), True
    if day.year != year:
      raise ValueError("no such day of the year")
  elif parts["compact"]:
    day, is_day = datetime.date(year, int(parts["compact"][:2]), int(parts["compact"][2:])), True
  else:
    day, is_day = datetime.date(year, number("month"), number("day", 1)), bool(parts["day"])
    if parts["mark"] == "." and not is_day:
      raise ValueError("a number with a fraction")
  found = float((day - datetime.date(1970, 1, 1)).days * 86400)
  if parts["hour"] is None:
    return found
  hour, minute, second = (number(name) for name in ("hour", "minute", "second"))
  fraction = float(f"0.{parts['fraction'] or 0}")
  zone = number("zone_hour") * 60 + number("zone_minute")
  if (not is_day or minute > 59 or second > 60 or (hour, minute, second, fraction) > (24, 0, 0, 0)
      or number("zone_minute") > 59 or zone >= 24 * 60
      or len(parts["hour"]) == 1 and not parts["colon"]
      or parts["minute"] is None and parts["sign"]):
    raise ValueError("no such clock")
  zone = -zone if parts["sign"] in ("-", "\u2212") else zone
  return found + hour * 3600 + minute * 60 + second - zone * 60 + fraction

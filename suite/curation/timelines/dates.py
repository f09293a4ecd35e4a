# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Times in the forms that tables of images have."""

from __future__ import annotations

import datetime
import math
import re
from typing import Any

from suite.curation import image_table

ALLOWED = ("2012, 2012-05, 2012-05-31, 2012-05-31 23:59[:59], with T for the blank and with Z or "
           "+02:00 at the end, 2012/05/31 or 2012:05:31 (EXIF) for 2012-05-31, or seconds since "
           "1970; without a zone, UTC")
_YEAR = re.compile(r"\d{4}")
_DATE = re.compile(r"(\d{4})([-/:])(\d{1,2})(?:\2(\d{1,2}))?(?:[T ]+(\d{1,2}:\d{2}.*))?")
_ZONE = re.compile(r"([+-]\d{2})(\d{2})$")


def seconds(value: Any) -> float:
  """Converts a cell to seconds since 1970 (UTC); NaN if it is not a time, see `ALLOWED`.

  A number of four digits is a year: image files are not from the first three hours of 1970.
  """
  if isinstance(value, datetime.datetime):
    return image_table.seconds(value)
  text = str(value).strip()
  if _YEAR.fullmatch(text):
    return image_table.seconds(f"{text}-01-01")
  match = _DATE.fullmatch(text)
  if match is None:
    found = image_table.seconds(value)
    return found if math.isfinite(found) else float("nan")
  year, _, month, day, clock = match.groups()
  clock = _ZONE.sub(r"\1:\2", clock.replace(" ", "")) if clock else ""
  hour, colon, rest = clock.partition(":")
  return image_table.seconds(f"{year}-{int(month):02d}-{int(day or 1):02d}"
                             + (f"T{int(hour):02d}{colon}{rest}" if clock else ""))

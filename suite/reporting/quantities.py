# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Formatting of numbers: 1.23e9 FLOPs as "1.23 GFLOP", None as "unknown"."""

from __future__ import annotations

import math
from typing import Any

UNKNOWN = "unknown"
NOTHING = "-"
_PREFIXES = ("", "k", "M", "G", "T", "P", "E", "Z", "Y")


def si(value: float | None, unit: str) -> str:
  """Formats three digits with an SI prefix; None is "unknown"."""
  if value is None or not math.isfinite(value):
    return UNKNOWN
  if abs(value) < 1000 and float(value).is_integer():
    return f"{int(value)} {unit}"
  # Rounded before choosing the prefix: 999,999 is 1.00 M, not 1000 k.
  rounded = float(f"{value:.2e}")
  power = min(max(math.floor(math.log10(abs(rounded))), 0) // 3, len(_PREFIXES) - 1)
  scaled = rounded / 1000 ** power
  digits = 2 - min(max(math.floor(math.log10(abs(scaled))), 0), 2)
  return f"{scaled:.{digits}f} {_PREFIXES[power]}{unit}"


def score(value: float | None) -> str:
  """Formats an error or an accuracy with four decimals; None is "-"."""
  return NOTHING if value is None or not math.isfinite(value) else f"{value:.4f}"


def duration(seconds: float | None) -> str:
  """Formats a duration: "42 s", "3 min 20 s", "5 h 07 min"."""
  if seconds is None or not math.isfinite(seconds):
    return UNKNOWN
  whole = round(seconds)
  if whole < 60:
    return f"{seconds:.1f} s" if seconds < 10 else f"{whole} s"
  if whole < 3600:
    return f"{whole // 60} min {whole % 60:02d} s"
  minutes = round(seconds / 60)
  return f"{minutes // 60} h {minutes % 60:02d} min"


def by_name(name: str, value: Any) -> str:
  """Formats a value of a summary according to its name."""
  first = name.split(".")[-1].split("_")[0]
  if first in ("flops", "macs", "cflop"):
    return si(value, "MAC" if first == "macs" else "FLOP")
  if first == "seconds":
    return duration(value)
  if value is None:
    return NOTHING
  if first == "peak":
    return si(value, "B")
  if isinstance(value, float):
    return score(value) if abs(value) < 1000 else f"{value:.4g}"
  if isinstance(value, int) and not isinstance(value, bool):
    return f"{value:,}"
  if isinstance(value, list):
    return ", ".join(str(item) for item in value) or NOTHING
  return str(value)

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Differences between the arrays of a weight file and those that an architecture has."""

from __future__ import annotations

from collections.abc import Collection, Mapping

Shape = tuple[int, ...]
_SHOWN = 12


def differences(wanted: Mapping[str, Shape], found: Mapping[str, Shape],
                more: Collection[str]) -> str:
  """Returns what differs, with names and shapes; "" if nothing does.

  Args:
    wanted, found: shapes by name.
    more: the names in `found` that are not expected.
  """
  other = [f"{key} is {list(found[key])}, expected {list(shape)}"
           for key, shape in wanted.items() if key in found and found[key] != shape]
  missing = [f"{key} {list(shape)} is missing" for key, shape in wanted.items()
             if key not in found]
  lines = [*other, *missing, *(f"{key} {list(found[key])} is not expected" for key in more)]
  if not lines:
    return ""
  rest = f"; and {len(lines) - _SHOWN} more" if len(lines) > _SHOWN else ""
  return (f"({len(other)} shapes differ, {len(missing)} arrays are missing, {len(more)} are "
          f"unexpected): {'; '.join(lines[:_SHOWN])}{rest}")

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Plain JSON values: what needs no conversion."""

from __future__ import annotations

from collections.abc import Sequence
import math
from typing import Any


def are_plain(values: Sequence[Any]) -> bool:
  """Whether all values are of one plain type; False if that is not determined quickly.

  Records of sequences have lists with one value per sample.
  """
  types = set(map(type, values))
  return (types <= {int, str, bool, type(None)}
          or types == {float} and math.isfinite(sum(values)))

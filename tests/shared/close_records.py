# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Records of one run on two kinds of devices: floats are close, all else is the same.

FLOPs are close, too: a graph for a GPU takes other operations, such as whole norms. Peak memory is
known on a GPU alone.
"""

from __future__ import annotations

from typing import Any

import pytest


def check(found: Any, wanted: Any, where: str = "", *, rel: float, images: int = 0) -> None:
  """Fails, naming the place, where two records or lists of them differ.

  Args:
    found, wanted: plain values as `records.read` returns them, without times.
    where: the place, for the message.
    rel: relative tolerance of floats.
    images: number of answers that may be others; then "correct" may differ by it, and scores by as
      much as it makes of 50 answers.
  """
  if isinstance(wanted, dict):
    assert list(found) == list(wanted), where
    for key in wanted:
      check(found[key], wanted[key], f"{where}.{key}", rel=rel, images=images)
  elif isinstance(wanted, list):
    assert len(found) == len(wanted), where
    for i, pair in enumerate(zip(found, wanted)):
      check(*pair, f"{where}[{i}]", rel=rel, images=images)
  elif where.endswith(".peak_bytes"):
    assert wanted is None or found == wanted, where
  elif isinstance(wanted, float) or ".flops" in where:
    assert found == pytest.approx(wanted, rel=rel, abs=images / 50), where
  elif where.endswith(".correct"):
    assert abs(found - wanted) <= images, where
  else:
    assert found == wanted, where

# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that answer in closed form, and of the rules of memories."""

from __future__ import annotations

from collections.abc import Sequence
import functools

import method_cases
import method_fixtures
import numpy as np

_ABOUT = "10 classes of 32 features in phases of 6, 2 and 2; 500 rows, 1,000 tests after each phase"


def _unit_length() -> method_fixtures.Arrays:
  found = method_fixtures.classes_in_turn()
  return {**found, **{name: found[name] / np.linalg.norm(found[name], axis=1, keepdims=True)
                      for name in ("train", "test")}}


def _lifted(method: str, size: int, rows: int = 50, **more: int) -> method_fixtures.Arrays:
  import ours_statistics
  found = ours_statistics.lifted(method_fixtures.classes_in_turn(rows=rows), method, size)
  return {**found, **{name: np.array(value) for name, value in more.items()}}


def _incremental(method: str, methods: Sequence[str], repository: str, **given: object
                 ) -> method_cases.Case:
  return method_cases.Case(**{
      "name": method, "methods": tuple(methods), "repository": repository,
      "program": "public_incremental", "inputs": method_fixtures.classes_in_turn,
      "ours": f"ours_statistics.{method}", "about": _ABOUT, "settings": {"method": method},
      **given})


_ACIL_ROWS = 180  # Of each class: 1,800 in all.

CASES = (
    _incremental("simple_cil", ["simple_cil", "ncm_cosine"], "sun-hailong/LAMDA-PILOT"),
    _incremental("ridge", ["ridge"], "RanPAC/RanPAC", inputs=_unit_length,
                 settings={"method": "ranpac"},
                 about=f"{_ABOUT}, of length 1; no random projection, strength 1"),
    _incremental("ranpac", ["ranpac"], "RanPAC/RanPAC",
                 inputs=functools.partial(_lifted, "ranpac", 300),
                 about=f"{_ABOUT}; the same 300 random features"),
    *(_incremental(
        "acil", ["acil"], "LAMDA-CL/PyCIL", name=f"acil_{size}",
        inputs=functools.partial(_lifted, "acil", size, _ACIL_ROWS),
        about="10 classes of 32 features in phases of 6, 2 and 2; 1,800 rows, 1,000 tests after "
        f"each phase; the same {size:,} random features") for size in (400, 1800, 3000)),
    _incremental("loranpac", ["loranpac"], "liangzu/loranpac",
                 inputs=functools.partial(_lifted, "loranpac", 1000, rank=300),
                 about=f"{_ABOUT}; the same 1,000 random features, at most 300 directions"),
    _incremental("fecam", ["fecam"], "dipamgoswami/FeCAM",
                 about="10 classes of 32 features in phases of 6, 2 and 2; 500 rows, 1,000 tests "
                 "after the second and third phase"),
)

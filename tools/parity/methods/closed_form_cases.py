# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that answer in closed form, and of the rules of memories."""

from __future__ import annotations

import method_cases
import method_fixtures

_ABOUT = "10 classes of 32 features in phases of 6, 2 and 2; 500 rows, 1,000 tests after each phase"

CASES = (
    method_cases.Case(
        "simple_cil", ("simple_cil", "ncm_cosine"), "sun-hailong/LAMDA-PILOT", "public_incremental",
        method_fixtures.classes_in_turn, "ours_statistics.simple_cil", _ABOUT,
        {"method": "simple_cil"}),
)

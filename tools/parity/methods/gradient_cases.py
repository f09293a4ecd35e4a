# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Cases of methods that are trained by gradient: losses, updates, penalties and short runs."""

from __future__ import annotations

import method_cases

CASES: tuple[method_cases.Case, ...] = ()

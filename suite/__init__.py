# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Lifelong Suite: five lifelong visual learning benchmarks as one stream of events."""

__version__ = "0.1.0"

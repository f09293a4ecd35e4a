# Copyright 2026 The Lifelong Suite Authors. Licensed under the Apache License, Version 2.0.
"""Streams of tasks (NEVIS'22) and buckets (CLEAR)."""
